"""The tools that are called wrongly: one set of functions for every framework that is measured.

The law of the file: it knows pydantic and no framework, so that all of them are given the same hints, the
same descriptions and the same words of refusal. What no schema can hold is refused through `Refuse`, which
each server makes of what its framework offers.
"""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum, IntEnum
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    Required,  # pydantic wants these before Python 3.12
)
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl, field_validator
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

__all__ = ["VALID", "Refuse", "Tool", "tools"]

Tool = Callable[..., str]
Refuse = Callable[[str, str], NoReturn]
"""Ends a call: what is wrong, and what to send instead."""


# --- what models send to calendars, shops and mailboxes -------------------------------------------


def _is_email(text: str) -> str:
    if re.fullmatch(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", text) is None:
        raise ValueError("value is not a valid email address")
    return text


Email = Annotated[str, AfterValidator(_is_email), Field(json_schema_extra={"format": "email"})]
Airport = Annotated[str, Field(pattern="^[A-Z]{3}$", description="IATA code", examples=["OSL"])]


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


Base64 = Annotated[str, AfterValidator(_decoded), Field(json_schema_extra={"contentEncoding": "base64"})]


class Person(BaseModel):
    """Somebody who is invited."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    email: Email
    optional: bool = False


def search_flights(
    origin: Airport,
    destination: Airport,
    departure: Annotated[date, Field(description="day of departure")],
    return_date: date | None = None,
    passengers: Annotated[int, Field(ge=1, le=9)] = 1,
    cabin: Literal["economy", "premium_economy", "business", "first"] = "economy",
) -> str:
    """Find flights between two airports."""
    return f"{origin}-{destination} {departure} {passengers} {cabin}"


def create_event(
    title: Annotated[str, Field(min_length=1, max_length=80)],
    start: datetime,
    end: datetime | None = None,
    attendees: Annotated[list[Person], Field(max_length=5)] = [],  # noqa: B006
    visibility: Literal["default", "public", "private"] = "default",
) -> str:
    """Put an event into the calendar."""
    return f"{title} {start.isoformat()} {len(attendees)}"


def send_message(
    to: Annotated[list[Email], Field(min_length=1, max_length=3)],
    body: Annotated[str, Field(min_length=1, max_length=120)],
    subject: Annotated[str, Field(max_length=40)] = "",
    urgent: bool = False,
) -> str:
    """Send a message by email."""
    return f"{len(to)} {subject} {urgent}"


class Weekday(Enum):
    """A day of the working week."""

    MONDAY = "mon"
    TUESDAY = "tue"
    WEDNESDAY = "wed"
    THURSDAY = "thu"
    FRIDAY = "fri"


def set_reminder(
    text: str,
    at: time,
    days: Annotated[set[Weekday], Field(min_length=1)],
    snooze: timedelta = timedelta(minutes=5),
) -> str:
    """Remind somebody on some days of the week."""
    return f"{text} {at} {len(days)} {snooze}"


def list_orders(
    status: Annotated[
        Literal["open", "in_progress", "shipped", "cancelled"] | None, Field(description="the state")
    ] = None,
    placed_from: date | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    sort: Literal["newest", "oldest"] = "newest",
) -> str:
    """List orders."""
    return f"{status} {placed_from} {limit} {sort}"


class Address(BaseModel):
    """Where somebody lives."""

    model_config = ConfigDict(alias_generator=to_camel)

    street: str
    city: str
    postal_code: Annotated[str, Field(pattern="^[0-9]{4,6}$")]
    country: Annotated[str, Field(pattern="^[A-Z]{2}$", examples=["NO"])] = "NO"


class Line(BaseModel):
    """One line of an order."""

    model_config = ConfigDict(alias_generator=to_camel)

    sku: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]{3}$")]
    quantity: Annotated[int, Field(ge=1, le=99)]
    unit_price: Annotated[float, Field(gt=0)]


def place_order(
    customer: UUID,
    lines: Annotated[list[Line], Field(min_length=1, max_length=4)],
    shipTo: Address,
    gift: bool = False,
    note: Annotated[str | None, Field(max_length=50)] = None,
) -> str:
    """Order something."""
    return f"{customer} {sum(line.quantity for line in lines)} {shipTo.city} {gift}"


class Card(BaseModel):
    """A payment by card."""

    kind: Literal["card"]
    number: Annotated[str, Field(pattern="^[0-9]{12,19}$")]
    expires: Annotated[str, Field(pattern="^(0[1-9]|1[0-2])/[0-9]{2}$", examples=["04/29"])]


class Transfer(BaseModel):
    """A payment by bank transfer."""

    kind: Literal["bank_transfer"]
    iban: Annotated[str, Field(min_length=15, max_length=34)]


class Voucher(BaseModel):
    """A payment by voucher."""

    kind: Literal["voucher"]
    code: str
    value: Annotated[int, Field(ge=5, le=500, multiple_of=5)]


def pay(
    amount: Annotated[float, Field(gt=0, le=10_000)],
    currency: Literal["EUR", "NOK", "USD"],
    method: Annotated[Card | Transfer | Voucher, Field(discriminator="kind")],
    receipt_to: Email | None = None,
) -> str:
    """Pay for something."""
    return f"{amount} {currency} {method.kind}"


# --- what models send to files, databases and the web ---------------------------------------------


def upload_file(
    path: Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)*$", max_length=60)],
    content: Base64,
    mode: Annotated[int, Field(ge=0, le=511)] = 420,
    overwrite: bool = False,
) -> str:
    """Store a file."""
    return f"{path} {len(content)} {mode} {overwrite}"


class Filter(BaseModel):
    """A condition on one field."""

    field: str
    op: Literal["eq", "ne", "lt", "gt", "in"] = "eq"
    value: int | str | list[str]


def query_table(
    table: Annotated[str, Field(pattern="^[a-z_]+$")],
    where: list[Filter] | None = None,
    columns: Annotated[list[str], Field(min_length=1)] = ["*"],  # noqa: B006
    orderBy: str | None = None,
    limit: Annotated[int, Field(ge=1, le=1000)] = 50,
) -> str:
    """Read rows of a table."""
    return f"{table} {len(where or ())} {columns} {orderBy} {limit}"


def fetch_url(
    url: HttpUrl,
    method: Literal["GET", "HEAD", "POST"] = "GET",
    headers: dict[str, str] | None = None,
    timeout: Annotated[float, Field(gt=0, le=60)] = 10.0,
    followRedirects: bool = True,
) -> str:
    """Read a page of the web."""
    return f"{method} {url} {timeout} {followRedirects}"


def lookup(guid: str, limit: Annotated[int, Field(ge=1)] = 10) -> str:
    """Look something up (O-ARG-3)."""
    return f"{guid}:{limit}"


def ping() -> str:
    """Say that the server is there (O-ARG-3)."""
    return "pong"


def page(offset: int, exact: bool = False, ratio: float = 1.0) -> str:
    """Read one page (O-ARG-6)."""
    return f"{offset!r} {exact!r} {ratio!r}"


class Where(BaseModel):
    """What to look for."""

    field: str
    value: int


def search(where: Where, ids: list[str], extra: dict[str, int] | None = None) -> str:
    """Search by one field (O-ARG-2)."""
    return f"{where.field}={where.value} {ids} {extra}"


class Unit(Enum):
    """A unit of temperature."""

    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Place(BaseModel):
    """A place on the map."""

    city: str
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None


def forecast(
    place: Annotated[Place, Field(description="where to look")],
    days: Annotated[int, Field(ge=1, le=14)] = 3,
    unit: Unit = Unit.CELSIUS,
    backup: Place | None = None,
) -> str:
    """Tell the weather (O-SCH-1)."""
    return f"{place.city}:{days}:{unit.value}"


class Folder(BaseModel):
    """A folder in a tree of folders."""

    name: Annotated[str, Field(min_length=1)]
    children: "list[Folder]" = []


def count_folders(folder: Folder, depth: Annotated[int, Field(ge=0)] = 9) -> str:
    """Count the folders of a tree (O-SCH-2)."""
    return str(1 + sum(int(count_folders(child)) for child in folder.children))


class Meta(TypedDict, total=False):
    """What is known of a note."""

    author: Required[str]
    stars: int


def save_note(
    title: str,
    type: Literal["memo", "todo", "journal"] = "memo",
    tags: Annotated[list[str], Field(max_length=3)] = [],  # noqa: B006
    properties: dict[str, str] | None = None,
    meta: Meta | None = None,
) -> str:
    """Save a note (O-SCH-3)."""
    return f"{title}/{type}/{len(tags)}"


# --- what models send to machines -----------------------------------------------------------------


def resize_image(
    source: str,
    width: Annotated[int, Field(ge=16, le=4096, multiple_of=16)],
    height: Annotated[int, Field(ge=16, le=4096, multiple_of=16)],
    rotate: Literal[0, 90, 180, 270] = 0,
    quality: Annotated[int, Field(ge=1, le=100)] = 80,
    crop: tuple[int, int] | None = None,
) -> str:
    """Change the size of an image."""
    return f"{source} {width}x{height} {rotate} {quality}"


class Circle(BaseModel):
    """A circle."""

    shape: Literal["circle"]
    x: float
    y: float
    radius: Annotated[float, Field(gt=0)]


class Rectangle(BaseModel):
    """A rectangle, by its corner and its size."""

    shape: Literal["rectangle"]
    x: float
    y: float
    width: Annotated[float, Field(gt=0)]
    height: Annotated[float, Field(gt=0)]


class Polygon(BaseModel):
    """A polygon, by its corners."""

    shape: Literal["polygon"]
    points: Annotated[list[tuple[float, float]], Field(min_length=3)]


def draw(
    shapes: Annotated[
        list[Annotated[Circle | Rectangle | Polygon, Field(discriminator="shape")]], Field(min_length=1)
    ],
    colour: Annotated[str, Field(pattern="^#[0-9a-f]{6}$", examples=["#1f6feb"])] = "#000000",
    opacity: Annotated[float, Field(ge=0, le=1)] = 1.0,
) -> str:
    """Draw shapes."""
    return f"{len(shapes)} {colour} {opacity}"


class Rule(BaseModel):
    """What to do with a failing service."""

    retries: Annotated[int, Field(ge=0, le=5)] = 2
    backoff: Literal["none", "linear", "exponential"] = "linear"
    codes: list[Annotated[int, Field(ge=400, le=599)]] = []


class Settings(BaseModel):
    """Settings of a deployment."""

    replicas: Annotated[int, Field(ge=1, le=20)]
    env: dict[str, str] = {}
    rules: dict[str, Rule] = {}

    @field_validator("replicas")
    @classmethod
    def is_odd(cls, replicas: int) -> int:
        """Refuse even numbers: no majority."""
        if replicas % 2 == 0:
            raise ValueError("must be odd, for example 3")
        return replicas


def deploy(
    service: Annotated[str, Field(pattern="^[a-z][a-z0-9-]{1,30}$")],
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$", examples=["1.4.0"])],
    settings: Settings,
    region: Literal["eu-north-1", "eu-west-1", "us-east-1"] = "eu-north-1",
    dry_run: bool = True,
) -> str:
    """Bring a version of a service into a region."""
    return f"{service} {version} {settings.replicas} {region} {dry_run}"


@dataclass
class Point:
    """A point in time and the value there."""

    at: datetime
    value: float


def plot(
    points: Annotated[list[Point], Field(min_length=2)],
    scale: Literal["linear", "log"] | None = None,
    size: Annotated[dict[Literal["width", "height"], int], Field(description="in pixels")] | None = None,
) -> str:
    """Plot values over time."""
    return f"{len(points)} {scale} {size}"


class Priority(IntEnum):
    """How soon."""

    LOW = 1
    NORMAL = 2
    HIGH = 3


# --- rules that no schema can hold ----------------------------------------------------------------

_ROOMS = {"single": 1, "double": 2, "family": 5}
_BALANCE = 250
_PEOPLE = ("ada", "grace", "linus")


def _hotel(refuse: Refuse) -> tuple[Tool, ...]:
    def book_room(
        arrival: date,
        departure: date,
        guests: Annotated[int, Field(ge=1, le=5)] = 1,
        room: Literal["single", "double", "family"] = "double",
    ) -> str:
        """Book a room of the hotel."""
        if departure <= arrival:
            refuse(
                "The departure is not after the arrival.",
                f"Call again with 'departure' as a later date, for example {arrival + timedelta(days=1)}.",
            )
        if guests > _ROOMS[room]:
            refuse(f"A {room} room is too small.", "Call again with 'room' as 'family'.")
        return f"{arrival} {departure} {guests} {room}"

    return (book_room,)


def _ruled(refuse: Refuse) -> tuple[Tool, ...]:
    def transfer_money(
        source: Annotated[str, Field(pattern="^[A-Z]{3}[0-9]{3}$")],
        target: Annotated[str, Field(pattern="^[A-Z]{3}[0-9]{3}$")],
        amount: Annotated[int, Field(gt=0)],
    ) -> str:
        """Move money between two accounts."""
        if source == target:
            refuse(
                "Both accounts are the same.",
                "Call again with 'target' as another account, for example ACC002.",
            )
        if amount > _BALANCE:
            refuse("The balance is too low.", f"Call again with 'amount' as integer from 1 to {_BALANCE}.")
        return f"{source} {target} {amount}"

    def assign_task(
        task: Annotated[int, Field(ge=1)], assignee: str, priority: Priority = Priority.NORMAL
    ) -> str:
        """Give a task to somebody."""
        if assignee not in _PEOPLE:
            refuse("Nobody has that name.", f"Call again with 'assignee' as one of {str(_PEOPLE)[1:-1]}.")
        return f"{task} {assignee} {priority.name}"

    def convert(
        value: float,
        fromUnit: Literal["km", "mi", "kg", "lb"],
        toUnit: Literal["km", "mi", "kg", "lb"],
        digits: Annotated[int, Field(ge=0, le=6)] = 2,
    ) -> str:
        """Convert a value between units."""
        like = "'km', 'mi'" if fromUnit in ("km", "mi") else "'kg', 'lb'"
        if toUnit not in like:
            refuse("A length is no weight.", f"Call again with 'toUnit' as one of {like}.")
        return f"{value:.{digits}f} {fromUnit} {toUnit}"

    return (transfer_money, assign_task, convert)


def tools(refuse: Refuse) -> tuple[Tool, ...]:
    """All the tools; *refuse* ends a call that breaks a rule which no schema can hold."""
    return (*_PLAIN, *_hotel(refuse), *_ruled(refuse))


_PLAIN: tuple[Tool, ...] = (
    search_flights,
    create_event,
    send_message,
    set_reminder,
    list_orders,
    place_order,
    pay,
    upload_file,
    query_table,
    fetch_url,
    lookup,
    ping,
    page,
    search,
    forecast,
    count_folders,
    save_note,
    resize_image,
    draw,
    deploy,
    plot,
)

VALID: dict[str, list[dict[str, Any]]] = {
    "search_flights": [
        {"origin": "OSL", "destination": "LHR", "departure": "2026-12-05"},
        {
            "origin": "OSL",
            "destination": "JFK",
            "departure": "2026-12-05",
            "return_date": "2026-12-19",
            "passengers": 2,
            "cabin": "business",
        },
    ],
    "create_event": [
        {
            "title": "Review",
            "start": "2026-12-01T09:00:00Z",
            "end": "2026-12-01T10:00:00Z",
            "attendees": [{"name": "Ada", "email": "ada@example.com"}],
            "visibility": "private",
        }
    ],
    "send_message": [
        {"to": ["ada@example.com"], "body": "The report is ready.", "subject": "Report", "urgent": True}
    ],
    "set_reminder": [{"text": "stand up", "at": "09:30:00", "days": ["mon", "fri"], "snooze": "PT10M"}],
    "list_orders": [{"status": "in_progress", "placed_from": "2026-11-01", "limit": 50, "sort": "oldest"}],
    "place_order": [
        {
            "customer": "6f1c9a52-7a0e-4a0b-9b60-0d3c2a4f9f10",
            "lines": [
                {"sku": "TE-001", "quantity": 2, "unitPrice": 4.5},
                {"sku": "CO-114", "quantity": 1, "unitPrice": 11},
            ],
            "shipTo": {"street": "Storgata 1", "city": "Oslo", "postalCode": "0155"},
            "gift": True,
            "note": "ring twice",
        }
    ],
    "pay": [
        {
            "amount": 12.5,
            "currency": "EUR",
            "method": {"kind": "card", "number": "4000000000000002", "expires": "09/28"},
        },
        {
            "amount": 80,
            "currency": "NOK",
            "method": {"kind": "voucher", "code": "SPRING", "value": 80},
            "receipt_to": "ada@example.com",
        },
    ],
    "upload_file": [{"path": "notes/today.txt", "content": "aGVsbG8=", "mode": 420, "overwrite": True}],
    "query_table": [
        {
            "table": "orders",
            "where": [{"field": "total", "op": "gt", "value": 100}],
            "columns": ["id", "total"],
            "orderBy": "total",
            "limit": 10,
        }
    ],
    "fetch_url": [
        {
            "url": "https://example.com/a",
            "method": "POST",
            "headers": {"Accept": "text/html"},
            "timeout": 5,
            "followRedirects": False,
        }
    ],
    "lookup": [{"guid": "g1", "limit": 3}],
    "ping": [{}],
    "page": [{"offset": 1, "exact": True, "ratio": 0.5}],
    "search": [{"where": {"field": "age", "value": 3}, "ids": ["a", "b"], "extra": {"n": 1}}],
    "forecast": [
        {
            "place": {"city": "Oslo", "lat": 59.9, "lon": 10.7},
            "days": 5,
            "unit": "fahrenheit",
            "backup": {"city": "Bergen"},
        }
    ],
    "count_folders": [
        {
            "folder": {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}, {"name": "d"}]},
            "depth": 4,
        }
    ],
    "save_note": [
        {
            "title": "hello",
            "type": "todo",
            "tags": ["home", "shop"],
            "properties": {"colour": "red"},
            "meta": {"author": "ada", "stars": 4},
        }
    ],
    "resize_image": [
        {"source": "a.png", "width": 640, "height": 480, "rotate": 90, "quality": 85, "crop": [10, 20]}
    ],
    "draw": [
        {
            "shapes": [
                {"shape": "circle", "x": 1, "y": 2, "radius": 3},
                {"shape": "rectangle", "x": 0, "y": 0, "width": 4, "height": 5},
                {"shape": "polygon", "points": [[0, 0], [4, 0], [0, 3]]},
            ],
            "colour": "#ff8800",
            "opacity": 0.5,
        }
    ],
    "deploy": [
        {
            "service": "checkout",
            "version": "2.0.1",
            "settings": {
                "replicas": 3,
                "env": {"LOG": "info"},
                "rules": {"db": {"retries": 3, "backoff": "exponential", "codes": [502, 503]}},
            },
            "region": "eu-west-1",
            "dry_run": False,
        }
    ],
    "plot": [
        {
            "points": [
                {"at": "2026-11-01T00:00:00Z", "value": 1.5},
                {"at": "2026-11-02T00:00:00Z", "value": 2},
            ],
            "scale": "log",
            "size": {"width": 640, "height": 480},
        }
    ],
    "book_room": [{"arrival": "2026-12-05", "departure": "2026-12-07", "guests": 2, "room": "family"}],
    "transfer_money": [{"source": "ACC001", "target": "ACC002", "amount": 100}],
    "assign_task": [{"task": 7, "assignee": "grace", "priority": 3}],
    "convert": [{"value": 5, "fromUnit": "km", "toUnit": "mi", "digits": 1}],
}
"""Calls that every framework takes: what the mechanical part of the corpus is made from."""
