"""One parameter for each kind of type: the table in docs/tools.md is made from this function."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

from pydantic import BaseModel, Field

from typegate import MCPServer

server = MCPServer("types")


class Unit(Enum):
    KG = "kg"
    LB = "lb"


@dataclass
class Size:
    width: int
    height: int = 1


class Address(BaseModel):
    city: str
    zip: str | None = None


class Person(TypedDict, total=False):
    name: str


class Point(NamedTuple):
    x: float
    y: float


class Ledger:
    """Nothing that JSON or pydantic knows."""


@server.tool
def every_type(  # noqa: PLR0913
    a: int,
    b: float,
    c: str,
    d: bool,
    e: Literal["low", "high"],
    f: Unit,
    g: date,
    h: datetime,
    i: time,
    j: timedelta,
    k: UUID,
    l: Decimal,  # noqa: E741
    m: bytes,
    n: PurePosixPath,
    o: list[int],
    p: set[str],
    q: tuple[int, str],
    r: Sequence[float],
    s: dict[str, int],
    t: dict[int, str],
    u: Size,
    v: Address,
    w: Person,
    x: Point,
    y: int | str,
    z: Annotated[int, Field(ge=1, le=100)],
    aa: Annotated[str, Field(min_length=2, pattern="^[a-z]+$")],
    ab: Any,
    ac: Ledger,
    ad,
    ae: int | None,
    af: str | None = None,
    ag: int = 5,
    ah: date = date(2026, 1, 1),
    ai: Unit = Unit.KG,
    aj: str = None,  # noqa: RUF013
) -> dict[str, str]:
    """Show what arrived."""
    return {name: repr(value) for name, value in locals().items()}


SENT = {
    "a": 3.0,
    "b": 1,
    "c": "null",
    "d": True,
    "e": "low",
    "f": "kg",
    "g": "2026-11-30",
    "h": "2026-11-30T14:05:00Z",
    "i": "14:05:00",
    "j": "PT5M",
    "k": "123e4567-e89b-12d3-a456-426614174000",
    "l": "1.10",
    "m": "aGk=",
    "n": "a/b.txt",
    "o": [1, 2],
    "p": ["x"],
    "q": [1, "x"],
    "r": [1, 2.5],
    "s": {"x": 1},
    "t": {"7": "x"},
    "u": {"width": 2},
    "v": {"city": "Oslo"},
    "w": {"name": "Ada"},
    "x": [1, 2],
    "y": "x",
    "z": 100,
    "aa": "abc",
    "ab": None,
    "ac": {"any": ["value"]},
    "ad": [1],
}

if __name__ == "__main__":
    server.run()
