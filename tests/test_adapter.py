"""What `typegate.contract.adapter` promises: a type reads JSON, writes JSON, and says so in a schema."""

import collections
import dataclasses
import datetime
import datetime as dt
import enum
import http
import json
import math
import pathlib
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, get_args

import pytest
from pydantic import AfterValidator, BaseModel, Field, Strict, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from typegate.contract.adapter import (
    Adapter,
    Fault,
    Unreadable,
    adapt,
    adapt_fields,
    adapt_values,
    described,
    faults,
    foreign,
    has_non_finite,
)
from typegate.errors import RegistrationError

NAN, INF = math.nan, math.inf
BASE64 = {"type": "string", "contentEncoding": "base64"}


class Foreign: ...


class Kind(enum.Enum):
    TEXT = "a"
    NUMBER = 7


class Mail(BaseModel):
    body: bytes = b""
    weight: float = 0.0
    more: Any = None


class Loose(BaseModel):
    more: Any = None


@dataclasses.dataclass
class Scale:
    weight: float


@dataclasses.dataclass
class Row:
    body: bytes = b""
    weight: float = 0.0


class Table(TypedDict):
    body: bytes


class Even(BaseModel):
    x: Annotated[int, Field(validation_alias="X", serialization_alias="Y")]

    @field_validator("x")
    @classmethod
    def check(cls, x: int) -> int:
        if x > 100:
            raise PydanticCustomError("too_much", "leave some for others")
        if x % 2:
            raise ValueError("it must be even")
        if x < 0:
            raise AssertionError("it must not be negative")
        return x


@dataclasses.dataclass
class ForeignRow:
    x: Foreign


@dataclasses.dataclass
class Span:
    low: int


class CheckedSpan(Span):
    def __post_init__(self) -> None:
        raise ValueError("never")


def cases(names: tuple[str, ...], table: list[Any]) -> pytest.MarkDecorator:
    """A table whose rows begin with their name."""
    return pytest.mark.parametrize(names, [pytest.param(*row[1:], id=row[0]) for row in table])


# --- reading and writing -------------------------------------------------------------------------

BOTH_WAYS: list[tuple[str, Any, str, Any]] = [  # a type; the JSON, and the instance
    ("bytes", bytes, '"//4="', b"\xff\xfe"),
    ("bytes inside", dict[str, list[bytes]], '{"a":["eA=="]}', {"a": [b"x"]}),
    ("model", Mail, '{"body":"eA==","weight":1.5,"more":null}', Mail(body=b"x", weight=1.5)),
    ("dataclass", Row, '{"body":"eA==","weight":1.5}', Row(b"x", 1.5)),
    ("typed dict", Table, '{"body":"eA=="}', {"body": b"x"}),
    ("models", list[Table | int], '[{"body":"eA=="},5]', [{"body": b"x"}, 5]),
    ("option keys", dict[Literal[1, "a"], int], '{"1":5,"a":6}', {1: 5, "a": 6}),
    ("enum keys", dict[Kind, int], '{"a":5,"7":6}', {Kind.TEXT: 5, Kind.NUMBER: 6}),
    ("date", datetime.date, '"2026-11-30"', datetime.date(2026, 11, 30)),
    ("strict date", Annotated[datetime.date, Strict()], '"2026-11-30"', datetime.date(2026, 11, 30)),
    ("set", frozenset[int], "[1]", frozenset({1})),
    ("unreadable", Foreign, '{"a":[1,null]}', {"a": [1, None]}),
    ("unreadable inside", list[Foreign | None], '["a",null]', ["a", None]),
]


def reads(hint: Any) -> Adapter:
    """The adapter that reads a type; that of `adapt` writes it."""
    return adapt_values(hint, "ignore")


@cases(("hint", "text", "value"), BOTH_WAYS)
def test_what_is_read_is_written_again(hint: Any, text: str, value: Any) -> None:
    """Bytes are base64 at every depth; what pydantic cannot read passes as it came."""
    found = reads(hint).read(text.encode())
    assert found == value
    assert type(found) is type(value)
    assert json.dumps(adapt(hint).dump(value), separators=(",", ":")) == text


@cases(("hint", "text", "value"), BOTH_WAYS)
def test_the_decoded_value_comes_to_the_same_where_that_is_said(hint: Any, text: str, value: Any) -> None:
    """And what is plain is written just as it stands."""
    reader, adapter = reads(hint), adapt(hint)
    if reader.from_tree:
        assert reader.read_tree(json.loads(text)) == value
    if adapter.plain:
        assert adapter.dump(value) == json.loads(text) == value
    assert adapt(list[hint]).plain is adapter.plain


def test_the_author_s_own_class_is_left_alone() -> None:
    """Our rules hold for what comes through here, and nowhere else."""
    assert reads(Mail).read(b'{"body":"eA=="}').body == b"x"
    assert Mail.model_validate_json('{"body":"eA=="}').body == b"eA=="
    assert Mail(body=b"x", weight=NAN).model_dump_json() == '{"body":"x","weight":null,"more":null}'


LOST = [NAN, [INF], Mail(weight=NAN), Scale(-INF), Loose(more={"a": [NAN]}), Loose(more=Scale(NAN))]


@pytest.mark.parametrize("value", LOST, ids=["number", "list", "model", "dataclass", "any", "inside"])
def test_NaN_stays_where_it_can_be_found(value: Any) -> None:
    """It never becomes a silent null."""
    assert has_non_finite(adapt(type(value)).dump(value))


def test_anything_is_written_by_what_it_is() -> None:
    """Bytes as base64 there too, inside of a model that has not declared them."""
    value = {"a": (b"x", Kind.TEXT), 1: datetime.date(2026, 11, 30)}
    wanted = {"a": ["eA==", "a"], "1": "2026-11-30"}
    assert adapt(Any).dump(value) == wanted
    assert adapt(Mail).dump(Mail(more=value))["more"] == wanted


@pytest.mark.parametrize("hint", [Mail, Row])
def test_what_is_no_instance_is_written_as_it_is(hint: Any) -> None:
    """It is not taken for one, and nobody is warned; its schema will say what is wrong."""
    for value in ("text", 5, None, ["a"], {"body": "a"}):
        assert adapt(hint).dump(value) == value
    assert adapt(list[int]).dump(["a"]) == ["a"]
    with pytest.raises((TypeError, ValueError), match="SimpleNamespace"):
        adapt(hint).dump(types.SimpleNamespace(body=b"", weight=0.0, more=None))


@pytest.mark.parametrize("hint", [Any, Foreign, list[int]], ids=["any", "unreadable", "list"])
def test_what_cannot_be_written_is_an_error(hint: Any) -> None:
    """Never a guess."""
    with pytest.raises(ValueError, match="Foreign"):
        adapt(hint).dump([Foreign()])


KINDS: list[tuple[str, Any, bool, bool]] = [  # a type; is it plain, is it described by its schema
    ("int", int, True, True),
    ("any", Any, True, True),
    ("nested", dict[str, list[float | None]], True, True),
    ("unreadable", Foreign, True, True),
    ("literal", Literal["a"], False, True),
    ("enum", Kind, False, True),
    ("model", list[Even], False, False),
    ("tuple", tuple[int, str], False, True),
    ("typed dict", TypedDict("Loose", {"x": NotRequired[int]}), False, True),  # type: ignore[operator]
    ("dataclass", Span, False, True),
    ("checked dataclass", CheckedSpan, False, False),
    ("bytes", bytes, False, False),
    ("validator", Annotated[int, AfterValidator(abs)], False, False),
]


@cases(("hint", "plain", "described"), KINDS)
def test_what_is_known_of_a_type(hint: Any, plain: bool, described: bool) -> None:
    """Nothing that only its author's code could decide is said to be in the schema."""
    assert (adapt(hint).plain, adapt(hint).described) == (plain, described)


STRINGS: list[tuple[str, Any, str, Any]] = [
    ("int", int, "5", 5),
    ("float", float, "1.5", 1.5),
    ("bool", bool, "true", True),
    ("text", str, "5", "5"),
    ("any", Any, "5", "5"),
    ("optional", int | None, "5", 5),
    ("date", datetime.date, "2026-11-30", datetime.date(2026, 11, 30)),
    ("bytes", bytes, "eA==", b"x"),
    ("option", Literal["a", "b"], "a", "a"),
    ("strict", Annotated[int, Strict()], "5", 5),
]


@cases(("hint", "text", "value"), STRINGS)
def test_strings_are_read_as_what_is_declared(hint: Any, text: str, value: Any) -> None:
    """Alone, or as the members of an object."""
    assert reads(hint).read_strings(text) == value
    assert adapt_fields("find", {"a": hint}).read_strings({"a": text}) == {"a": value}


# --- schemas -------------------------------------------------------------------------------------


def test_a_schema_describes_one_direction() -> None:
    """What is read, or what is written: under another name, and with other members that must be there."""
    read, written = adapt(Even).json_schema("validation"), adapt(Even).json_schema("serialization")
    assert (list(read["properties"]), list(written["properties"])) == (["X"], ["Y"])
    assert adapt(Even).dump(reads(Even).read(b'{"X":2}')) == {"Y": 2}
    assert adapt(Mail).json_schema("validation").get("required") is None
    assert adapt(list[bytes]).json_schema("serialization") == {"type": "array", "items": BASE64}


def test_a_schema_says_whether_unknown_keys_are_refused() -> None:
    """Only where that is asked for; one answer does not change the other."""
    for adapter in (adapt(Row), adapt_fields("find", {"x": int})):
        assert "additionalProperties" not in adapter.json_schema("validation")
        assert adapter.json_schema("validation", "forbid")["additionalProperties"] is False
        adapter.json_schema("validation", "forbid").clear()
        assert adapter.json_schema("validation", "forbid")["additionalProperties"] is False


def test_a_default_is_shown_as_it_is_written() -> None:
    """Bytes as base64; NaN not at all."""
    fields = {"a": Annotated[Mail, Field(default=Mail(body=b"x"))], "b": Annotated[float, Field(default=NAN)]}
    made = adapt_fields("find", fields).json_schema("validation")["properties"]
    assert made["a"]["default"] == {"body": "eA==", "weight": 0.0, "more": None}
    assert "default" not in made["b"]


# --- adapters ------------------------------------------------------------------------------------


def test_those_who_ask_for_the_same_type_share_its_adapter() -> None:
    """One that cannot be looked up is made anew."""
    assert adapt(list[int]) is adapt(list[int])
    unhashable = Annotated[int, ["text"]]
    assert isinstance(adapt(unhashable), Adapter)
    assert adapt(unhashable).dump(5) == 5


@pytest.mark.parametrize("hint", [ForeignRow, list[ForeignRow]], ids=["it", "list"])
def test_what_cannot_be_expressed_is_refused(hint: Any) -> None:
    """Alone, or as a member."""
    with pytest.raises(RegistrationError, match="'ForeignRow' has a field"):
        adapt(hint)
    with pytest.raises(RegistrationError, match="'ForeignRow' has a field"):
        adapt_fields("find", {"a": hint})


def test_members_make_an_object() -> None:
    """Each with its own rules; what pydantic cannot read is anything, and the others are as declared."""
    fields = {
        "a": bytes,
        "b": Annotated[int, Field(default=5, validation_alias="B")],
        "c": list[Callable[[], int]],
    }
    adapter = adapt_fields("find", fields)
    assert adapter.read(b'{"a":"eA==","B":6,"c":[1]}') == {"a": b"x", "b": 6, "c": [1]}
    assert adapter.read(b'{"a":"eA==","c":[]}') == {"a": b"x", "b": 5, "c": []}
    schema = adapter.json_schema("validation")
    assert (schema["title"], schema["required"]) == ("find", ["a", "c"])
    assert schema["properties"]["a"] == {**BASE64, "title": "A"}


def test_a_rule_that_cannot_be_compiled_is_refused() -> None:
    """The text names whose it is, and the reason in one line."""
    with pytest.raises(RegistrationError) as caught:
        adapt_fields("find", {"a": Annotated[str, Field(pattern="(")]})
    text = str(caught.value)
    assert text.startswith("a hint of 'find' cannot be compiled: ")
    assert len(text.splitlines()) == 1


DESCRIBED: list[tuple[tuple[Any, Any, Any], dict[str, Any]]] = [
    ((None, ..., None), {}),
    (("text", ..., None), {"description": "text"}),
    ((None, 5, None), {"default": 5}),
    ((None, None, None), {"default": None}),
    ((None, ..., "b"), {"validation_alias": "b"}),
    (("", 5, "b"), {"description": "", "default": 5, "validation_alias": "b"}),
]


@pytest.mark.parametrize(("facts", "known"), DESCRIBED)
def test_what_is_known_of_a_parameter_goes_with_its_hint(facts: Any, known: dict[str, Any]) -> None:
    """Nothing is added where nothing is known; a default may be `None`."""
    made = described(int, *facts)
    hint, field = get_args(made) or (made, Field())
    found = {"description": field.description, "validation_alias": field.validation_alias}
    found |= {} if field.is_required() else {"default": field.default}
    assert {name: value for name, value in found.items() if value is not None or name == "default"} == known
    assert hint is int


# --- what could not be read ----------------------------------------------------------------------

NUMBER = "must be a valid integer"
FAULTS: list[tuple[str, Any, str, list[Fault]]] = [
    ("known", str, "5", [Fault("string_type", (), "must be a valid string")]),
    ("several", list[int], "[1,null,[]]", [Fault("int_type", (1,), NUMBER), Fault("int_type", (2,), NUMBER)]),
    ("option", Literal["a", "b"], '"hunter2"', [Fault("literal_error", (), "must be 'a' or 'b'")]),
    ("value error", Even, '{"X":3}', [Fault("value_error", ("X",), "it must be even")]),
    ("assertion", Even, '{"X":-2}', [Fault("assertion_error", ("X",), "it must not be negative")]),
    ("own error", Even, '{"X":102}', [Fault("too_much", ("X",), "leave some for others")]),
    ("missing", Even, "{}", [Fault("missing", ("X",), None)]),
    ("class", Even, '"hunter2"', [Fault("model_type", (), None)]),
    ("no JSON", int, "hunter2", [Fault("json_invalid", (), None)]),
]


@cases(("hint", "text", "found"), FAULTS)
def test_all_that_is_wrong_is_said_without_what_was_sent(hint: Any, text: str, found: list[Fault]) -> None:
    """In the author's own words, or as what it should be; a Python class is not named."""
    with pytest.raises(Unreadable) as caught:
        reads(hint).read(text.encode())
    assert faults(caught.value) == found
    assert "hunter2" not in str(faults(caught.value))


# --- values --------------------------------------------------------------------------------------

NUMBERS: list[tuple[str, Any, bool]] = [
    ("number", 1.5, False),
    ("NaN", NAN, True),
    ("list", [1, [INF]], True),
    ("object", {"a": {"b": -INF}}, True),
    ("tuple", (1, NAN), True),
    ("dataclass", Row(weight=NAN), True),
    ("word", "NaN", False),
    ("key", {"Infinity": 1}, False),
    ("word in quotes", {"a": 'x"NaN"'}, False),
    ("word after a backslash", ["\\", "NaN", "\\"], False),
    ("word beside it", ["NaN", INF], True),
    ("foreign", [Foreign()], False),
]


@cases(("value", "found"), NUMBERS)
def test_whether_a_value_holds_what_JSON_cannot(value: Any, found: bool) -> None:
    """Anywhere; a text that only looks like it is none."""
    assert has_non_finite(value) is found


class Word(str): ...


class Pair(NamedTuple):
    x: int


KNOWN: list[tuple[str, Any, Any]] = [
    ("model", Mail(body=b"x"), {"body": "eA==", "weight": 0.0, "more": None}),
    ("path", pathlib.PurePosixPath("/a"), "/a"),
    ("user dict", collections.UserDict(a=1), {"a": 1}),
    ("proxy", types.MappingProxyType({"a": 1}), {"a": 1}),
    ("text", Word("a"), "a"),
    ("number", http.HTTPStatus.OK, 200),
    ("named tuple", Pair(1), (1,)),
]


@cases(("value", "known"), KNOWN)
def test_what_msgspec_does_not_know_becomes_what_it_does(value: Any, known: Any) -> None:
    """A subclass becomes the plain class, at least at its surface."""
    assert foreign(value) == known
    assert type(foreign(value)) is type(known)


@pytest.mark.parametrize("value", [Foreign(), iter([1]), int], ids=["class", "iterator", "type"])
def test_what_is_no_value_is_an_error(value: Any) -> None:
    """The text names its class, and holds nothing of it."""
    with pytest.raises(TypeError, match=f"^a value of type {type(value).__name__}$"):
        foreign(value)


# --- defaults ---


class Stamp(BaseModel):
    mark: bytes = b"\xfb\xff"


class Letter(TypedDict):
    stamp: Stamp


def published(hint: Any, default: Any = ..., name: str = "x") -> Any:
    """The schema of one member of an object."""
    fields = {name: described(hint, None, default, None)}
    return adapt_fields("tool", fields).json_schema("validation")["properties"][name]


@pytest.mark.parametrize(
    ("hint", "default", "written"),
    [
        (Stamp, Stamp(), {"mark": "+/8="}),
        (Letter, {"stamp": Stamp()}, {"stamp": {"mark": "+/8="}}),
        (list[Letter], [{"stamp": Stamp()}], [{"stamp": {"mark": "+/8="}}]),
        (tuple[bytes, ...], (b"\xfb",), ["+w=="]),
        (dict[dt.date, dt.timedelta], {dt.date(2026, 1, 3): dt.timedelta(minutes=5)}, {"2026-01-03": "PT5M"}),
    ],
    ids=repr,
)
def test_a_default_is_published_as_a_caller_would_send_it(hint: Any, default: Any, written: Any) -> None:
    """However deep a part of it lies, it is written by the rules of its type."""
    assert published(hint, default)["default"] == written
