"""What `typegate.contract.hints` promises: what pydantic cannot read becomes `Any`, the rest stays."""

import collections.abc
import dataclasses
import datetime
import enum
import pathlib
import typing
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union, get_args

import pytest
import typing_extensions
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from typegate.contract.hints import readable, typed_dict, with_problem_details
from typegate.errors import RegistrationError
from typegate.types import Problem

T = TypeVar("T")
TEXT = Field(description="text")


class Foreign:
    """What JSON has no form for."""


class ForeignBox(Generic[T]):
    """The same, of something."""


class Kind(enum.Enum):
    """Options."""

    ONE = "one"


class Place(BaseModel):
    """What JSON has a form for."""

    city: str


class Box(BaseModel, Generic[T]):
    """The same, of something."""

    inner: T


class Holder(BaseModel):
    """A model that pydantic can check, and JSON cannot carry."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    inner: Foreign


class Strange(BaseModel):
    """A model with a default that cannot be shown, which is no reason to warn."""

    x: Any = object()


class Unfinished(BaseModel):
    """A model that names what is not there."""

    inner: "Missing"  # type: ignore[name-defined]  # noqa: F821


@dataclasses.dataclass
class Row:
    """What JSON has a form for, too."""

    x: int


@dataclasses.dataclass
class ForeignRow:
    """One that JSON cannot carry."""

    x: Foreign


class Pair(NamedTuple):
    """What JSON has a form for, too."""

    x: int


class ForeignPair(NamedTuple):
    """One that JSON cannot carry."""

    x: Foreign


class Modern(typing_extensions.TypedDict):
    """The way to write it below Python 3.12."""

    x: int


UserId = NewType("UserId", int)
Handle = NewType("Handle", Foreign)


# --- what stays, and what does not ---------------------------------------------------------------

STAYS: list[tuple[str, Any]] = [
    ("int", int),
    ("none", None),
    ("any", Any),
    ("object", object),
    ("bare list", list),
    ("literal", Literal["a", 1]),
    ("enum", Kind),
    ("date", datetime.date),
    ("path", pathlib.Path),
    ("new type", UserId),
    ("type variable", T),
    ("model", Place),
    ("generic model", Box[int]),
    ("strange default", Strange),
    ("dataclass", Row),
    ("named tuple", Pair),
    ("typed dict", Modern),
    ("generic", dict[str, list[tuple[int, ...]]]),
    ("empty tuple", tuple[()]),
    ("union", Union[int, str, None]),  # noqa: UP007
    ("annotated", Annotated[int, "text", 5, TEXT]),
    ("annotated any", Annotated[Any, 5]),
    ("abstract", collections.abc.Sequence[Place]),
]


@pytest.mark.parametrize("hint", [hint for _, hint in STAYS], ids=[name for name, _ in STAYS])
def test_what_can_be_read_stays_as_it_is(hint: Any) -> None:
    """With its metadata, at every depth."""
    assert readable(hint) == hint
    assert readable(list[hint]) == list[hint]


MENDED: list[tuple[str, Any, Any]] = [
    ("class", Foreign, Any),
    ("new type", Handle, Any),
    ("model", Holder, Any),
    ("named tuple", ForeignPair, Any),
    ("generic class", ForeignBox[int], Any),
    ("callable", Callable[[int], int], Any),
    ("class variable", typing.ClassVar[int], Any),
    ("value", 5, Any),
    ("list", list[Foreign], list[Any]),
    ("values", dict[str, Foreign], dict[str, Any]),
    ("keys", dict[Foreign, int], dict[Any, int]),
    ("items", tuple[int, Foreign], tuple[int, Any]),
    ("homogeneous tuple", tuple[Foreign, ...], tuple[Any, ...]),
    ("abstract", collections.abc.Sequence[Foreign], collections.abc.Sequence[Any]),
    ("old spelling", typing.List[Foreign], list[Any]),  # noqa: UP006
    ("deep", dict[str, list[Foreign | int]], dict[str, list[Union[Any, int]]]),  # noqa: UP007
    ("optional", Foreign | None, Optional[Any]),  # noqa: UP045
    ("old union", Union[Foreign, int], Union[Any, int]),  # noqa: UP007
    ("annotated inside", list[Annotated[Foreign, TEXT]], list[Annotated[Any, TEXT]]),
    ("annotated around", Annotated[list[Foreign], 5, TEXT], Annotated[list[Any], 5, TEXT]),
]


@pytest.mark.parametrize(("hint", "mended"), [case[1:] for case in MENDED], ids=[case[0] for case in MENDED])
def test_what_cannot_be_read_is_anything(hint: Any, mended: Any) -> None:
    """Only that part of it, in its place: a list of them is still a list."""
    assert readable(hint) == mended
    assert readable(mended) == mended


METADATA: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("text", Annotated[Foreign, "text"], ("text",)),
    ("field", Annotated[Foreign, TEXT], (TEXT,)),
    ("both", Annotated[Foreign, "text", 5, TEXT, AfterValidator(id)], ("text", TEXT)),
    ("nothing", Annotated[Foreign, 5, AfterValidator(id)], ()),
]


@pytest.mark.parametrize(
    ("hint", "kept"), [case[1:] for case in METADATA], ids=[case[0] for case in METADATA]
)
def test_what_was_said_of_an_unreadable_part_is_kept_as_far_as_it_describes(
    hint: Any, kept: tuple[Any, ...]
) -> None:
    """A text and a field stay; what would work on the value goes with its type."""
    found = readable(hint)
    assert get_args(found) == ((Any, *kept) if kept else ())
    assert kept or found is Any


# --- a refusal as a type -------------------------------------------------------------------------


def test_a_problem_has_a_shape_of_its_own() -> None:
    """It can be declared as a result, alone or inside something."""
    shape: Any = readable(Problem)
    assert readable(list[Problem]) == list[shape]
    assert readable(Problem | None) == Optional[shape]  # noqa: UP045
    adapter: TypeAdapter[Any] = TypeAdapter(shape)
    issue = {"path": ["a", 0], "code": "type", "message": "wrong", "expected": None}
    least: dict[str, Any] = {"code": "busy", "message": "later", "hint": None, "issues": []}
    full = {**least, "hint": "wait", "issues": [issue], "retry_after": 1.5, "reference": "r1"}
    assert adapter.validate_python(least) == least
    assert adapter.validate_python(full) == full


@pytest.mark.parametrize("key", ["code", "message", "hint", "issues"])
def test_every_problem_says_the_same_things(key: str) -> None:
    """Only what is known of some of them may be left out."""
    whole: dict[str, Any] = {"code": "busy", "message": "later", "hint": None, "issues": []}
    adapter: TypeAdapter[Any] = TypeAdapter(readable(Problem))
    with pytest.raises(ValidationError, match=f"{key}\n  Field required"):
        adapter.validate_python({name: value for name, value in whole.items() if name != key})


DETAILS: list[tuple[str, Any]] = [
    ("other", int),
    ("inside", list[Problem]),
    ("other union", Union[int, None]),  # noqa: UP007
]


def test_a_problem_may_have_the_shape_of_problem_details() -> None:
    """Alone or in a union, with all that RFC 9457 wants."""
    shape: Any = with_problem_details(Problem)
    assert with_problem_details(Problem | int) == Union[shape, int]  # noqa: UP007
    assert with_problem_details(Optional[Problem]) == Optional[shape]  # noqa: UP045
    least = {"type": "t", "title": "T", "status": 422, "detail": "d", "code": "c", "hint": None, "issues": []}
    adapter: TypeAdapter[Any] = TypeAdapter(readable(shape))
    for whole in (least, {**least, "retry_after": 1.5, "reference": "r1"}):
        assert adapter.validate_python(whole) == whole
    assert sorted(adapter.json_schema()["required"]) == sorted(least)


@pytest.mark.parametrize("hint", [hint for _, hint in DETAILS], ids=[name for name, _ in DETAILS])
def test_what_is_no_problem_has_no_details(hint: Any) -> None:
    """Nor has one that is inside something else."""
    assert with_problem_details(hint) == hint


# --- typed dicts ---------------------------------------------------------------------------------


class Inner(typing.TypedDict):
    """One inside another."""

    y: int


class Standard(typing.TypedDict):
    """A table as the standard library writes it."""

    x: int
    inner: Inner
    note: typing.NotRequired[Annotated[str, TEXT]]


class Loose(typing.TypedDict, total=False):
    """A table whose keys may be left out, but one."""

    x: typing.Required[int]
    y: str


@pytest.mark.parametrize("hint", [Standard, list[Standard]], ids=["itself", "inside"])
def test_a_typed_dict_of_the_standard_library_is_read_on_every_Python(hint: Any) -> None:
    """Below 3.12 pydantic does not take it; what is required stays so, and what is described too."""
    adapter: TypeAdapter[Any] = TypeAdapter(readable(hint))
    schema = adapter.json_schema()
    table = schema["$defs"].get("Standard", schema)
    assert (table["title"], table["required"]) == ("Standard", ["x", "inner"])
    assert table["properties"]["note"]["description"] == "text"
    assert schema["$defs"]["Inner"]["required"] == ["y"]


def test_keys_that_may_be_left_out_may_be_left_out() -> None:
    """All of them, or all but those that are marked."""
    adapter: TypeAdapter[Any] = TypeAdapter(readable(Loose))
    assert adapter.validate_python({"x": 1}) == {"x": 1}
    assert adapter.json_schema()["required"] == ["x"]
    assert set(adapter.json_schema()["properties"]) == {"x", "y"}


def test_a_table_can_be_made_of_its_fields() -> None:
    """One that pydantic takes on every Python."""
    table = typed_dict("Point", {"x": int, "note": typing_extensions.NotRequired[str]})
    schema = TypeAdapter(table).json_schema()
    assert (schema["title"], schema["required"], list(schema["properties"])) == (
        "Point",
        ["x"],
        ["x", "note"],
    )


# --- what cannot be used at all ------------------------------------------------------------------


def refusal(hint: Any) -> str:
    """What is said against a hint."""
    with pytest.raises(RegistrationError) as caught:
        readable(hint)
    return str(caught.value)


@pytest.mark.parametrize(
    "hint", [ForeignRow, list[ForeignRow], ForeignRow | None], ids=["it", "list", "union"]
)
def test_a_dataclass_that_JSON_cannot_carry_is_refused(hint: Any) -> None:
    """It would be read as anything, and the function would get no instance."""
    assert refusal(hint) == (
        "'ForeignRow' has a field of a type that JSON cannot carry; "
        "leave the field out or give it a JSON type"
    )


@pytest.mark.parametrize("hint", [Unfinished, list[Unfinished]], ids=["it", "list"])
def test_a_model_that_is_not_finished_is_refused(hint: Any) -> None:
    """The advice names it."""
    assert refusal(hint) == (
        "'Unfinished' names a type that is not defined yet; "
        "define it first, or call Unfinished.model_rebuild()"
    )


def test_any_other_mistake_is_told_in_the_words_of_pydantic() -> None:
    """With the name of the type in front."""

    @dataclasses.dataclass
    class Unclear:
        x: Annotated[Place | Row, Field(discriminator="kind")]

    assert refusal(Unclear) == (
        "'Unclear' cannot be described: Model 'Place' needs a discriminator field for key 'kind'"
    )
