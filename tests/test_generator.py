"""What `typegate.contract.generator` promises: pydantic's schema, saying what is really read and written."""

import dataclasses
import datetime
import enum
import re
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, get_args

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from typegate.contract.generator import Extra, Generator, as_key


class Foreign:
    """What JSON has no form for, although pydantic can check it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return core_schema.is_instance_schema(cls)


class Kind(enum.Enum):
    """Options that are not all text."""

    TEXT = "a"
    NUMBER = 7
    TRUTH = True


class Size(enum.IntEnum):
    """Options that are numbers."""

    SMALL = 1
    LARGE = 2


UserId = NewType("UserId", int)


def generated(hint: Any, mode: Any = "validation", extra: Extra = "ignore") -> dict[str, Any]:
    """The schema of a type."""
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    generator = Generator(by_alias=True)
    generator.extra = extra
    return generator.generate(adapter.core_schema, mode=mode)


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_bytes_are_base64(mode: str) -> None:
    """In both directions, at every depth."""
    wanted = {"type": "string", "contentEncoding": "base64"}
    assert generated(bytes, mode) == wanted
    assert generated(list[bytes], mode)["items"] == wanted


@pytest.mark.parametrize("hint", [Foreign, list[Foreign], dict[str, Foreign]])
def test_a_class_that_JSON_has_no_form_for_has_no_schema(hint: Any) -> None:
    """Whether or not pydantic can check it."""
    with pytest.raises(PydanticInvalidForJsonSchema, match="Foreign"):
        generated(hint)


def test_a_branch_without_a_schema_is_left_out() -> None:
    """Without a warning: nobody would read it."""
    assert generated(int | Foreign) == {"type": "integer"}


DECIMALS = [
    ("1", True),
    ("-1.5", True),
    ("+0.10", True),
    ("1E+2", True),
    ("1e-7", True),
    ("", False),
    ("a", False),
    ("1.", False),
    ("NaN", False),
    ("1 ", False),
]


@pytest.mark.parametrize(("text", "admitted"), DECIMALS)
def test_a_decimal_is_text_in_every_form_that_Python_writes(text: str, admitted: bool) -> None:
    """Also with an exponent, which pydantic's own pattern does not have."""
    number, words = generated(Decimal)["anyOf"]
    assert (number, words["type"]) == ({"type": "number"}, "string")
    assert (re.search(words["pattern"], text) is not None) is admitted


def test_a_bound_on_a_decimal_holds_for_numbers() -> None:
    """A pattern cannot say it; what is written has no pattern at all."""
    hint = Annotated[Decimal, Field(ge=1, max_digits=3)]
    number, words = generated(hint)["anyOf"]
    assert number == {"type": "number", "minimum": 1}
    assert words == generated(Decimal)["anyOf"][1]
    assert generated(hint, "serialization") == {"type": "string"}


# --- keys ----------------------------------------------------------------------------------------

AS_KEYS = [
    ("a", "a"),
    (7, "7"),
    (1.5, "1.5"),
    (True, "true"),
    (False, "false"),
    (Kind.TEXT, "a"),
    (Kind.NUMBER, "7"),
    (Kind.TRUTH, "true"),
    (Size.SMALL, "1"),
]


@pytest.mark.parametrize(("value", "text"), AS_KEYS, ids=[text for _, text in AS_KEYS])
def test_a_value_is_written_as_a_key(value: Any, text: str) -> None:
    """As JSON writes it, between quotes; a member of an enum by its value."""
    assert as_key(value, str) == text


KEYS: list[tuple[Any, Any]] = [  # the type of keys; what is said of their text
    (str, None),
    (Any, None),
    (bool, {"enum": ["true", "false"]}),
    (Literal[1, "a", True], {"enum": ["1", "a", "true"]}),
    (Kind, {"enum": ["a", "7", "true"]}),
    (Size, {"enum": ["1", "2"]}),
    (Annotated[str, Field(max_length=3)], {"maxLength": 3}),
    (datetime.date, {"type": "string", "format": "date"}),
    (uuid.UUID, {"type": "string", "format": "uuid"}),
]


@pytest.mark.parametrize(("hint", "names"), KEYS)
@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_what_is_said_of_keys_holds_for_text(hint: Any, names: Any, mode: str) -> None:
    """Options too are text there, whatever they are read as."""
    assert generated(dict[hint, int], mode).get("propertyNames") == names


NUMBERS: list[tuple[Any, list[str], list[str]]] = [
    (int, ["0", "7", "-12", "100"], ["", "01", "1.5", "a", "7a", "-", "true"]),
    (UserId, ["7"], ["a"]),
    (float, ["0", "-1.5", "1e20", "2.5E-7", "1e+20"], ["", "a", ".5", "1.", "1e"]),
]
TEXTS = [
    (hint, text, admitted)
    for hint, good, bad in NUMBERS
    for texts, admitted in ((good, True), (bad, False))
    for text in texts
]


@pytest.mark.parametrize(("hint", "text", "admitted"), TEXTS)
def test_keys_that_are_numbers_are_text_of_digits(hint: Any, text: str, admitted: bool) -> None:
    """No schema of a number would ever admit a key."""
    names = generated(dict[hint, str])["propertyNames"]
    assert list(names) == ["pattern"]
    assert (re.search(names["pattern"], text) is not None) is admitted


@pytest.mark.parametrize("hint", [str, int, bool, Kind, datetime.date])
def test_the_values_of_an_object_are_described_too(hint: Any) -> None:
    """Whatever its keys are, and in one place only."""
    made = generated(dict[hint, bytes])
    assert made["additionalProperties"] == {"type": "string", "contentEncoding": "base64"}
    assert "patternProperties" not in made


def test_keys_with_a_pattern_have_their_values_there() -> None:
    """As pydantic says it: what it says of text is kept."""
    made = generated(dict[Annotated[str, Field(pattern="^a")], int])
    assert made["patternProperties"] == {"^a": {"type": "integer"}}


def test_a_pattern_of_keys_that_are_more_than_text_is_said_of_their_names() -> None:
    """So that other keys are refused, and not left open."""
    made = generated(dict[Annotated[str, Field(pattern="^a"), AfterValidator(str.strip)], int])
    assert made == {
        "type": "object",
        "propertyNames": {"type": "string", "pattern": "^a"},
        "additionalProperties": {"type": "integer"},
    }


# --- unknown keys --------------------------------------------------------------------------------


class Silent(BaseModel):
    """Its author said nothing of unknown keys."""

    x: int = 1


class Titled(BaseModel):
    """Its author said something else."""

    model_config = ConfigDict(title="Other")
    x: int = 1


class Open(BaseModel):
    """It takes them."""

    model_config = ConfigDict(extra="allow")
    x: int = 1


class Lenient(BaseModel):
    """It drops them."""

    model_config = ConfigDict(extra="ignore")
    x: int = 1


class Shut(BaseModel):
    """It refuses them."""

    model_config = ConfigDict(extra="forbid")
    x: int = 1


@dataclasses.dataclass
class Row:
    """Silent as well."""

    x: int = 1


@dataclasses.dataclass
class LenientRow:
    """It drops them."""

    __pydantic_config__ = ConfigDict(extra="ignore")
    x: int = 1


class Table(TypedDict, total=False):
    """Silent as well."""

    x: int


class LenientTable(TypedDict, total=False):
    """It drops them."""

    __pydantic_config__ = ConfigDict(extra="ignore")  # type: ignore[misc]
    x: int


EXTRAS: list[
    tuple[Any, Any, Any]
] = [  # a type; its additionalProperties where unknown keys are dropped, refused
    (Silent, None, False),
    (Titled, None, False),
    (Row, None, False),
    (Table, None, False),
    (Open, True, True),
    (Lenient, None, None),
    (LenientRow, None, None),
    (LenientTable, None, None),
    (Shut, False, False),
]


@pytest.mark.parametrize(("hint", "ignored", "forbidden"), EXTRAS)
def test_unknown_keys_are_refused_where_the_author_said_nothing(
    hint: Any, ignored: Any, forbidden: Any
) -> None:
    """Where the gate refuses them; the author's own word goes before it, at every depth."""
    assert generated(hint).get("additionalProperties") == ignored
    assert generated(hint, extra="forbid").get("additionalProperties") == forbidden
    (inner,) = generated(list[hint], extra="forbid")["$defs"].values()
    assert inner.get("additionalProperties") == forbidden


def test_an_object_without_members_of_its_own_stays_open() -> None:
    """All its keys are unknown."""
    assert generated(dict[str, int], extra="forbid")["additionalProperties"] == {"type": "integer"}
    assert generated(dict, extra="forbid")["additionalProperties"] is True


# --- defaults ------------------------------------------------------------------------------------

DEFAULTS: list[tuple[str, Any, Any]] = [  # what it is, the default, how it is shown
    ("null", None, None),
    ("text", "a", "a"),
    ("number", 1.5, 1.5),
    ("boolean", True, True),
    ("member", Kind.TEXT, "a"),
    ("date", datetime.date(2026, 11, 30), "2026-11-30"),
    ("tuple", (1, 2), [1, 2]),
    ("model", Silent(x=5), {"x": 5}),
    ("nothing", object(), ...),
    ("NaN", float("nan"), ...),
    ("infinity", float("-inf"), ...),
    ("NaN inside", {"a": [1, float("nan")]}, ...),
    ("reference", {"$ref": "#/$defs/A"}, ...),
    ("reference inside", [{"a": {"$ref": "x"}}], ...),
]


@pytest.mark.parametrize(
    ("default", "shown"), [case[1:] for case in DEFAULTS], ids=[case[0] for case in DEFAULTS]
)
def test_a_default_is_shown_as_it_is_written(default: Any, shown: Any) -> None:
    """One that has no form in a JSON Schema is not shown, without a warning."""
    assert generated(Annotated[Any, Field(default=default)]) == ({} if shown is ... else {"default": shown})


def test_what_writes_a_default_can_be_chosen() -> None:
    """For all but the plain values, which are as they are; what it cannot write is not shown."""
    generator = Generator(by_alias=True)
    generator.write = lambda value: [type(value).__name__]
    assert generator.encode_default(Foreign()) == ["Foreign"]
    assert [generator.encode_default(plain) for plain in (None, "a", 1, 1.5, True)] == [
        None,
        "a",
        1,
        1.5,
        True,
    ]


@pytest.mark.parametrize("error", [TypeError, ValueError, RecursionError])
def test_a_default_that_cannot_be_written_is_not_shown(error: type[Exception]) -> None:
    """Whatever is wrong with it."""

    def refuse(value: Any) -> Any:
        raise error("no")

    generator = Generator(by_alias=True)
    generator.write = refuse
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[Any, Field(default=Foreign())])
    assert generator.generate(adapter.core_schema) == {}


def test_what_may_be_said_of_unknown_keys() -> None:
    """Two words; they are dropped unless it is said that they are refused."""
    assert get_args(Extra) == ("forbid", "ignore")
    assert Generator().extra == "ignore"
