"""What `typegate.contract.reading` promises: a value is read as the schema that admitted it means it."""

import dataclasses
import datetime as dt
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from typegate import Gate, InvalidArguments
from typegate.contract.arguments import plan_arguments
from typegate.contract.gate import DEFAULT_GATE
from typegate.contract.signature import read
from typegate.wire.jsonrpc import decode

NOON = dt.datetime(2026, 1, 3, 12, tzinfo=dt.UTC)
T = TypeVar("T")
ID = "123e4567-e89b-12d3-a456-426614174000"


def reader(hint: Any, **gate: Any) -> Callable[[str], Any]:
    """What reads the JSON text of one argument of this type."""

    def tool(x):
        return x

    tool.__annotations__["x"] = hint
    plan = plan_arguments("tool", read(tool), Gate(**gate).over(DEFAULT_GATE))

    def value(text: str) -> Any:
        raw = f'{{"x":{text}}}'.encode()
        line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % raw
        values, _ = plan.bind(decode(line).params, lambda: raw)  # type: ignore[union-attr]
        return values["x"]

    return value


def assert_is(found: Any, expected: Any) -> None:
    """The same value, of the same type."""
    assert type(found) is type(expected)
    assert found == expected


# --- texts in unions


class Moment(BaseModel):
    at: dt.datetime


class Remark(BaseModel):
    at: str


TEXTS = [
    *((hint, '"20260103"', "20260103") for hint in (dt.datetime | str, str | dt.datetime)),
    *((hint, '"2026-01-03T12:00:00Z"', NOON) for hint in (dt.datetime | str, str | dt.datetime)),
    (dt.date | str, '"86400"', "86400"),
    (dt.date | str, '"2026-01-03"', dt.date(2026, 1, 3)),
    (dt.date | dt.datetime, '"2026-01-03"', dt.date(2026, 1, 3)),
    (dt.date | dt.datetime, '"2026-01-03T12:00:00Z"', NOON),
    (dt.datetime | dt.date, '"2026-01-03"', dt.date(2026, 1, 3)),
    (dt.time | str, '"36000"', "36000"),
    (dt.time | str, '"10:00:00"', dt.time(10)),
    (dt.timedelta | str, '"00:05:00"', "00:05:00"),
    (dt.timedelta | str, '"PT5M"', dt.timedelta(minutes=5)),
    (str | uuid.UUID, f'"{ID}"', uuid.UUID(ID)),
    (uuid.UUID | str, f'"{ID.replace("-", "")}"', ID.replace("-", "")),
    (str | Decimal, '"1.50"', Decimal("1.50")),
    (Decimal | str, '"1_000"', "1_000"),
    (AnyUrl | str, '"tea"', "tea"),
    (AnyUrl | str, '"https://example.com/"', AnyUrl("https://example.com/")),
    *((hint, '"data"', "data") for hint in (bytes | str, str | bytes)),
    *((hint, '"a/b"', "a/b") for hint in (Path | str, str | Path)),
    (Annotated[str, Field(max_length=3)] | bytes, '"data"', b"u\xabZ"),
    (int | dt.date | str, '"5"', "5"),
    (dict[str, int | dt.datetime | str], '{"a":"20260103"}', {"a": "20260103"}),
    (list[dt.date] | list[str], '["20260103"]', ["20260103"]),
    (dict[dt.date | str, int], '{"86400":1}', {"86400": 1}),
    (Moment | Remark, '{"at":"20260103"}', Remark(at="20260103")),
    (Moment | Remark, '{"at":"2026-01-03T12:00:00Z"}', Moment(at=NOON)),
    (Annotated[bytes | str, Field(union_mode="left_to_right")], '"data"', b"u\xabZ"),
]


@pytest.mark.parametrize(("hint", "text", "expected"), TEXTS, ids=repr)
def test_a_text_becomes_what_its_form_says(hint: Any, text: str, expected: Any) -> None:
    """In a union a text is of the type whose published form it has; bytes and paths leave it to `str`."""
    assert_is(reader(hint)(text), expected)


# --- values in unions


class Counted(BaseModel):
    model_config = ConfigDict(extra="ignore")
    a: int


class Other(BaseModel):
    model_config = ConfigDict(extra="ignore")
    b: int = 1


class Silent(BaseModel):
    a: int


class SilentOther(BaseModel):
    b: int = 1


class Short(BaseModel):
    a: int


class Long(BaseModel):
    a: int
    b: int = 0


Tree = TypeAliasType("Tree", "dict[str, Tree] | list[Tree] | bool | int | dt.date | str")

VALUES = [
    (Counted | Other, '{"a":true}', Other()),
    (Counted | Other, '{"a":"7"}', Other()),
    (Counted | Other, '{"a":7}', Counted(a=7)),
    (Counted | Other, '{"a":3.0}', Counted(a=3)),
    (Counted | Other, '{"a":1e19}', Counted(a=10**19)),
    (list[Counted | Other], '[{"a":"7"}]', [Other()]),
    (Short | Long, '{"a":1,"b":2}', Long(a=1, b=2)),
    (Short | Long, '{"a":1}', Short(a=1)),
    (bool | int, "1.0", 1),
    (int | bool, "true", True),
    (Literal[1] | bool, "true", True),
    (bool | Literal[1], "1", 1),
    (Literal["1"] | int, "1", 1),
    (set[int] | list[int], "[1,1]", [1, 1]),
    (list[int] | list[bool], "[true]", [True]),
    (tuple[int, int] | list[int], "[1,2,3]", [1, 2, 3]),
    (dict[int, int] | float, '{"1":2}', {1: 2}),
    (list[dict[int, dt.date]] | float, '[{"1":"2026-01-03"}]', [{1: dt.date(2026, 1, 3)}]),
    (dict[Literal[1, "a"], int] | float, '{"1":2}', {1: 2}),
    (int | float, "3", 3),
    (int | float, "3.5", 3.5),
    (float | str, '"1"', "1"),
    (Tree, '{"a":["2026-01-03",true,1.0,"86400"]}', {"a": [dt.date(2026, 1, 3), True, 1, "86400"]}),
]


@pytest.mark.parametrize(("hint", "text", "expected"), VALUES, ids=repr)
def test_a_union_is_entered_where_the_schema_admits(hint: Any, text: str, expected: Any) -> None:
    """Pydantic would make 1 of true, and 7 of "7", in branches that the schema refuses."""
    assert_is(reader(hint)(text), expected)


@pytest.mark.parametrize("text", ['{"a":true}', '{"a":"7"}'])
def test_unknown_keys_that_are_ignored_lead_to_no_other_reading(text: str) -> None:
    """Under `Gate(unknown="ignore")` models that say nothing of unknown keys are as open as those that do."""
    assert_is(reader(Silent | SilentOther, unknown="ignore")(text), SilentOther())


def test_unknown_keys_of_kwargs_follow_the_gate() -> None:
    """The values of `**kwargs` are read by the same rule."""

    def tool(**others: Silent | SilentOther):
        return others

    plan = plan_arguments("tool", read(tool), Gate(unknown="ignore").over(DEFAULT_GATE))
    values, _ = plan.bind({"x": {"a": "7"}}, lambda: b'{"x":{"a":"7"}}')
    assert_is(values["x"], SilentOther())


def test_a_branch_that_refuses_for_its_own_reasons_leaves_room_for_the_next() -> None:
    """A date that does not exist fits the form; where another branch takes the text, it does."""
    assert_is(reader(dt.datetime | str)('"2026-02-30T12:00:00Z"'), "2026-02-30T12:00:00Z")
    with pytest.raises(InvalidArguments) as caught:
        reader(dt.datetime | int)('"2026-02-30T12:00:00Z"')
    assert [issue.path for issue in caught.value.issues] == [("x",)]


# --- what is used twice


class Mark(NamedTuple):
    data: bytes | None
    size: float = 0


@dataclasses.dataclass
class Pair(Generic[T]):
    left: T
    right: T


def test_what_is_referred_to_is_read_by_the_same_rules() -> None:
    """No class lends a definition its configuration: bytes are base64, and numbers finite, there too."""
    assert_is(reader(Pair[Mark])('{"left":["aGk=",1],"right":[null]}'), Pair(Mark(b"hi", 1.0), Mark(None)))
    with pytest.raises(InvalidArguments):
        reader(Pair[Mark])(f'{{"left":["aGk=",{BIG}],"right":[null]}}')


# --- numbers


class Priced(BaseModel):
    count: int = 0
    price: float = 0


BIG = "1" + "0" * 400


@pytest.mark.parametrize(
    ("hint", "text", "expected"),
    [
        (int, "1e19", 10**19),
        (int, "1e30", int(1e30)),
        (int, "9.3e18", int(9.3e18)),
        (int, "-1e19", -(10**19)),
        (list[int], "[1,1e19]", [1, 10**19]),
        (int | None, "1e19", 10**19),
        (int | str, "1e19", 10**19),
        (dict[str, int], '{"a.b":1e19}', {"a.b": 10**19}),
        (Priced, '{"count":1e19}', Priced(count=10**19)),
        (int, BIG, 10**400),
        (float | int, BIG, 10**400),
    ],
    ids=str,
)
def test_an_integer_may_be_as_long_as_it_is(hint: Any, text: str, expected: Any) -> None:
    """What the schema calls an integer is one, however it is written."""
    assert_is(reader(hint)(text), expected)


@pytest.mark.parametrize("hint", [float, float | str, list[float] | float, Decimal | float, Priced])
@pytest.mark.parametrize("number", [BIG, "1" + "0" * 4000])
def test_infinity_never_arrives(hint: Any, number: str) -> None:
    """An integer that no float can hold is refused, and the refusal says where and why."""
    text = f'{{"price":{number}}}' if hint is Priced else number
    if hint == Decimal | float:
        assert_is(reader(hint)(text), Decimal(number))
        return
    with pytest.raises(InvalidArguments) as caught:
        reader(hint)(text)
    [issue] = caught.value.issues
    assert issue.code == "out_of_range"
    assert issue.message.endswith("must be a number that fits 64-bit floating point")


def test_a_float_beside_a_decimal_is_finite_too() -> None:
    """How the others are read makes no difference."""

    def tool(a: float = 0, d: Decimal = Decimal(0)):
        return a, d

    plan = plan_arguments("tool", read(tool), DEFAULT_GATE)
    with pytest.raises(InvalidArguments) as caught:
        plan.bind({"a": 10**400}, lambda: f'{{"a":{BIG}}}'.encode())
    assert [issue.path for issue in caught.value.issues] == [("a",)]


def test_a_refusal_always_says_something() -> None:
    """Where nothing can be found that is wrong, it speaks of the whole."""
    with pytest.raises(InvalidArguments) as caught:
        reader(Annotated[float, Field(allow_inf_nan=True)])(BIG)
    [issue] = caught.value.issues
    assert issue.message == "the arguments are not what this function takes"
