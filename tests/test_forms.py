"""What `typegate.contract.forms` promises: published, read and written are one form."""

import dataclasses
import datetime as dt
import enum
import json
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Discriminator, Field, Tag

from typegate import Gate, InvalidArguments, RegistrationError
from typegate.contract.arguments import plan_arguments
from typegate.contract.gate import DEFAULT_GATE
from typegate.contract.results import plan_results
from typegate.contract.signature import read


def planned(hint: Any, default: Any = ..., style: Any = "compact", **gate: Any) -> Any:
    """The plan of a function with one parameter."""

    def tool(x):
        return x

    tool.__annotations__["x"] = hint
    if default is not ...:
        tool.__defaults__ = (default,)
    return plan_arguments("tool", read(tool), Gate(**gate).over(DEFAULT_GATE), style)


def taken(hint: Any, value: Any, **options: Any) -> Any:
    """What a function gets that is sent *value*."""
    values, _ = planned(hint, **options).bind({"x": value}, lambda: msgspec.json.encode({"x": value}))
    return values["x"]


def refused(hint: Any, value: Any, **options: Any) -> str:
    """Why a value is not taken."""
    with pytest.raises(InvalidArguments) as caught:
        taken(hint, value, **options)
    return str(caught.value)


def published(hint: Any, **options: Any) -> Any:
    """What is published for a parameter."""
    return planned(hint, **options).schema["properties"]["x"]


def output(hint: Any) -> Any:
    """What is published for a result."""
    return plan_results("tool", hint).schema


def given(hint: Any, value: Any) -> Any:
    """What a client gets of a result."""
    return json.loads(plan_results("tool", hint).shape(value).structured or b"")


# --- enums and literals


class Quarter(enum.Enum):
    FIRST = dt.date(2026, 1, 1)
    SECOND = dt.date(2026, 4, 1)


class Odd(enum.Enum):
    RATE = Decimal("1.50")
    MARK = b"\xff\xfb"
    PAIR = (1, "x")
    WAIT = dt.timedelta(minutes=5)
    PLAIN = 7


class Day(dt.date, enum.Enum):
    NEW_YEAR = (2026, 1, 1)


FORMS = [
    *((Quarter, each, each.value.isoformat()) for each in Quarter),
    *((Odd, each, form) for each, form in zip(Odd, ("1.50", "//s=", [1, "x"], "PT5M", 7), strict=True)),
    (Day, Day.NEW_YEAR, "2026-01-01"),
    (Literal[Odd.PLAIN, Odd.MARK], Odd.MARK, "//s="),
    (Literal[Odd.PLAIN, Odd.MARK], Odd.PLAIN, 7),
    (Literal[b"\xff", "x"], b"\xff", "/w=="),
    (list[Quarter], [Quarter.FIRST], ["2026-01-01"]),
    (Quarter | int, Quarter.FIRST, "2026-01-01"),
    (dict[Quarter, int], {Quarter.SECOND: 1}, {"2026-04-01": 1}),
    (dict[Odd, int], {Odd.PAIR: 1}, {'[1,"x"]': 1}),
    (dict[Odd, int], {Odd.WAIT: 1, Odd.PLAIN: 2}, {"PT5M": 1, "7": 2}),
]


@pytest.mark.parametrize(("hint", "value", "form"), FORMS, ids=repr)
def test_an_option_has_one_form(hint: Any, value: Any, form: Any) -> None:
    """The form of an option that JSON has no word for is published, read and written."""
    assert given(hint, value) == form
    assert taken(hint, form) == value
    if not isinstance(form, dict):
        assert published(hint, default=value)["default"] == form


def test_what_is_no_option_is_refused() -> None:
    """The forms are the enumeration."""
    assert published(Quarter) == {"type": "string", "enum": ["2026-01-01", "2026-04-01"]}
    assert published(Odd) == {"enum": ["1.50", "//s=", [1, "x"], "PT5M", 7]}
    assert refused(Quarter, "today") == "'x' must be one of '2026-01-01', '2026-04-01'"


# --- keys


@pytest.mark.parametrize(
    "hint",
    [tuple[int, int], frozenset[int], bool | int, float | None, type("Model", (BaseModel,), {})],
    ids=str,
)
def test_keys_that_no_text_can_be_are_refused_with_advice(hint: Any) -> None:
    """The keys of an object are text: neither argument nor result could ever fit."""
    for plan in (lambda: planned(dict[hint, int]), lambda: output(dict[hint, int])):
        with pytest.raises(RegistrationError, match="take a list of pairs"):
            plan()


# --- aliases


def test_a_field_inside_another_is_refused_with_advice() -> None:
    """No schema could say where it is read from."""

    class Deep(BaseModel):
        a: int = Field(validation_alias=AliasPath("data", 0))

    with pytest.raises(RegistrationError, match="the field 'a' is read from inside another"):
        planned(Deep)


def test_of_several_aliases_the_first_name_counts() -> None:
    """It is published, and the others are unknown."""

    class Known(BaseModel):
        a: int = Field(validation_alias=AliasChoices(AliasPath("data", 0), "first", "second"))

    assert list(published(Known)["properties"]) == ["first"]
    assert taken(Known, {"first": 1}) == Known(first=1)
    assert "unexpected field 'x.second'" in refused(Known, {"second": 1})


# --- encoded bytes


@pytest.mark.parametrize(
    ("hint", "value", "form"),
    [
        (pydantic.Base64Bytes, b"\xfb\xff", "+/8="),
        (pydantic.Base64UrlBytes, b"\xfb\xff", "-_8="),
        (pydantic.Base64Str, "hi", "aGk="),
        (bytearray, bytearray(b"\xfb\xff"), "+/8="),
        (memoryview, memoryview(b"\xfb\xff"), "+/8="),
        (list[bytearray], [bytearray(b"a")], ["YQ=="]),
    ],
    ids=["Base64Bytes", "Base64UrlBytes", "Base64Str", "bytearray", "memoryview", "list"],
)
def test_bytes_are_encoded_once(hint: Any, value: Any, form: Any) -> None:
    """Whatever they are called, they come back as they went."""
    assert given(hint, value) == form
    assert taken(hint, form) == value


def test_a_default_of_encoded_bytes_is_published_encoded() -> None:
    """On both sides."""

    class Stamp(BaseModel):
        mark: pydantic.Base64UrlBytes = b"\xfb\xff"

    for schema in (published(Stamp), output(Stamp)):
        assert schema["properties"]["mark"] == {"type": "string", "default": "-_8=", "format": "base64url"}


# --- tags


class Bug(BaseModel):
    type: Literal["bug"] = "bug"
    level: int = 0


class Wish(BaseModel):
    type: Literal["wish"] = "wish"
    level: int = 0


def kind(value: Any) -> Any:
    """The tag of a dict or an instance."""
    return value.get("type") if isinstance(value, dict) else value.type


BY_NAME = Annotated[Bug | Wish, Field(discriminator="type")]
BY_FUNCTION = Annotated[
    Annotated[Bug, Tag("bug")] | Annotated[Wish, Tag("wish")], Discriminator(kind)  # type: ignore[name-defined]
]


@pytest.mark.parametrize("style", ["compact", "inline", "pydantic"])
@pytest.mark.parametrize("hint", [BY_NAME, BY_FUNCTION], ids=["name", "function"])
def test_the_tag_of_a_union_must_be_given(hint: Any, style: Any) -> None:
    """A default of the tag says nothing where it is what tells the branches apart."""
    for branch in published(hint, style=style)["oneOf"]:
        assert branch["required"] == ["type"]
        assert "default" not in branch.get("properties", {}).get("type", {})
    assert taken(hint, {"type": "wish"}, style=style) == Wish()
    assert "missing required field 'x.type'" in refused(hint, {"level": 1}, style=style)
    assert "'x.type' must be one of 'bug', 'wish'" in refused(hint, {"type": "x"}, style=style)


def test_a_model_alone_can_do_without_its_tag() -> None:
    """Where there is nothing to choose, the default holds, also beside a union that needs the tag."""

    class Both(BaseModel):
        first: BY_NAME = Bug()
        second: Bug = Bug()

    assert taken(Bug, {}) == Bug()
    assert taken(Both, {"first": {"type": "wish"}, "second": {"level": 2}}).second == Bug(level=2)
    assert "missing required field 'x.first.type'" in refused(Both, {"first": {}})


# --- what functions write


def test_what_a_function_writes_is_not_known() -> None:
    """Where it does not say what it gives, anything is published, and nothing is refused."""

    class Shown(BaseModel):
        model_config = ConfigDict(ser_json_timedelta="float")
        number: Annotated[int, pydantic.PlainSerializer(lambda value: f"#{value}")] = 1
        wrapped: Annotated[int, pydantic.WrapSerializer(lambda value, inner: [inner(value)])]
        year: dt.date
        wait: dt.timedelta = dt.timedelta(seconds=5)

        @pydantic.field_serializer("year")
        def show(self, value):
            return value.year

    schema = output(Shown)["properties"]
    assert schema["number"] == {"default": "#1"}
    assert schema["wrapped"] == schema["year"] == {}
    assert schema["wait"] == {"type": "number"}
    assert given(Shown, Shown(wrapped=2, year=dt.date(2026, 1, 3))) == {
        "number": "#1",
        "wrapped": [2],
        "year": 2026,
        "wait": 5.0,
    }


# --- dataclasses


@dataclasses.dataclass
class Line:
    sku: str
    count: int = dataclasses.field(init=False, default=1)
    days: list[dt.date] = dataclasses.field(init=False)
    stamp: "Odd" = dataclasses.field(init=False)
    other: "Line | None" = dataclasses.field(init=False, default=None)

    def __post_init__(self) -> None:
        self.days = [dt.date(2026, 1, 3)]
        self.stamp = Odd.MARK


@pytest.mark.parametrize("unknown", ["forbid", "ignore"])
def test_what_only_post_init_sets_is_no_argument(unknown: str) -> None:
    """It is neither published nor taken."""
    assert list(published(Line, unknown=unknown)["properties"]) == ["sku"]
    assert taken(Line, {"sku": "tea"}, unknown=unknown) == Line("tea")
    if unknown == "forbid":
        assert "unexpected field 'x.count'" in refused(Line, {"sku": "tea", "count": 2})


@pytest.mark.parametrize(("hint", "wrap"), [(Line, lambda line: line), (list[Line], lambda line: [line])])
def test_what_only_post_init_sets_is_part_of_a_result(hint: Any, wrap: Any) -> None:
    """It is published and written, whether it has a default or not."""
    written = {"sku": "tea", "count": 1, "other": None, "days": ["2026-01-03"], "stamp": "//s="}
    assert given(hint, wrap(Line("tea"))) == wrap(written)


# --- null as a default


def test_a_null_default_admits_null() -> None:
    """`name: str = None` in a model or a dataclass takes null, as it does in a signature."""

    class Person(BaseModel):
        name: str = None  # type: ignore[assignment]
        age: Annotated[int, Field(ge=0)] = None  # type: ignore[assignment]

    assert published(Person)["properties"]["name"] == {"type": "string"}
    assert taken(Person, {"name": None, "age": None}) == Person()
    assert "'x.age' must be" in refused(Person, {"age": -1})
    assert given(Person, Person()) == {"name": None, "age": None}
