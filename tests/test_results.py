"""What `typegate.contract.results` promises: strict JSON that keeps its word, or says where not."""

import collections.abc
import dataclasses
import datetime
import enum
import json
import math
import pathlib
import types
import typing
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import msgspec
import pytest
from pydantic import BaseModel, Field, field_serializer

from typegate import Text
from typegate.content import EmbeddedResource, Image, ToolResult
from typegate.contract.results import Results, as_problem, plan_results, to_json, to_text
from typegate.contract.signature import EMPTY
from typegate.contract.writing import encode
from typegate.errors import InvalidResult, RegistrationError
from typegate.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResourceContent,
    ImageContent,
    Issue,
    Problem,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

NAN, INF = math.nan, math.inf
PICTURE = ImageContent(data="eA==", mime_type="image/png")
ENDLESS = "returned a value that contains itself, or is nested too deeply"


class Foreign: ...


class Kind(enum.Enum):
    ONE = "one"


class Place(BaseModel):
    city: str
    data: bytes = b""
    size: float = 0.0


@dataclasses.dataclass
class Row:
    x: Any


class Raw(msgspec.Struct):
    x: Any


def cases(names: str | tuple[str, ...], table: list[Any]) -> pytest.MarkDecorator:
    """A table whose rows begin with their name."""
    return pytest.mark.parametrize(names, [pytest.param(*row[1:], id=row[0]) for row in table])


def planned(returns: Any, **options: Any) -> Results:
    """How the results of a function are shaped."""
    return plan_results("search", returns, **options)


def refusal(work: Callable[[], Any]) -> str:
    """What is said against a result."""
    with pytest.raises(InvalidResult) as caught:
        work()
    return str(caught.value)


# --- JSON ----------------------------------------------------------------------------------------

WRITTEN: list[tuple[str, Any, str]] = [
    ("null", None, "null"),
    ("text", 'a"é', '"a\\"é"'),
    ("object", {"b": [1, 2.5, True], "a": {}}, '{"b":[1,2.5,true],"a":{}}'),
    ("tuple", (1, "a"), '[1,"a"]'),
    ("set", frozenset([1]), "[1]"),
    ("bytes", b"\xff\xfe", '"//4="'),
    ("date", datetime.date(2026, 11, 30), '"2026-11-30"'),
    ("moment", datetime.datetime(2026, 11, 30, 14, 5, tzinfo=datetime.UTC), '"2026-11-30T14:05:00Z"'),
    ("uuid", UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    ("enum", Kind.ONE, '"one"'),
    ("path", pathlib.PurePosixPath("/a"), '"/a"'),
    ("mapping", types.MappingProxyType({"a": 1}), '{"a":1}'),
    ("dataclass", Row([Row(1)]), '{"x":[{"x":1}]}'),
    ("model", [Place(city="Oslo", data=b"x")], '[{"city":"Oslo","data":"eA==","size":0.0}]'),
    ("struct", Raw(1), '{"x":1}'),
    ("problem", Problem(code="c", message="m"), '{"code":"c","message":"m","hint":null,"issues":[]}'),
    ("number keys", {1: 2, 1.5: 3}, '{"1":2,"1.5":3}'),
    ("date keys", {datetime.date(2026, 11, 30): 1}, '{"2026-11-30":1}'),
    ("half a pair", {"a\ud800": ["\udfff"]}, '{"a\ufffd":["\ufffd"]}'),
    ("half a pair inside", Row("\ud800"), '{"x":"\ufffd"}'),
]


@cases(("value", "text"), WRITTEN)
def test_any_value_is_written_as_compact_JSON(value: Any, text: str) -> None:
    """In the order of its members; what has no UTF-8 form is replaced."""
    assert to_json(value).decode() == text


def endless() -> Any:
    """A list that contains itself."""
    made: list[Any] = []
    made.append(made)
    return made


def streamed() -> Iterator[int]:
    """One by one."""
    yield 1


def nested(depth: int, value: Any = 5) -> Any:
    """A value so many lists deep."""
    for _ in range(depth):
        value = [value]
    return value


NO_JSON = "returned what is no JSON: a value of type"
NO_NUMBER = "returned NaN or an infinity, which JSON cannot hold, at"
TWICE = "returned an object with two keys that are the same as text, such as 1 and '1'"
STREAM = "returned a generator or an iterator; collect it into a list"
REFUSED: list[tuple[str, Any, str]] = [
    ("class", Foreign(), f"{NO_JSON} Foreign at $"),
    ("inside", {"rows": [1, {"name": Foreign()}]}, f"{NO_JSON} Foreign at $.rows[1].name"),
    ("in a dataclass", Row([Foreign()]), f"{NO_JSON} Foreign at $.x[0]"),
    ("key", {5: Foreign()}, f"{NO_JSON} Foreign at $[int]"),
    ("odd key", {"a\n": Foreign()}, f"{NO_JSON} Foreign at $.a?"),
    ("NaN", NAN, f"{NO_NUMBER} $"),
    ("infinity", {"a": [1, -INF], "b": None}, f"{NO_NUMBER} $.a[1]"),
    ("NaN in a dataclass", [Row(NAN)], f"{NO_NUMBER} $[0].x"),
    ("NaN in a model", {"a": Place(city="", size=INF)}, f"{NO_NUMBER} $.a.size"),
    ("NaN in a mapping", types.MappingProxyType({"a": NAN}), f"{NO_NUMBER} $.a"),
    ("endless", endless(), ENDLESS),
    ("deep", nested(100_000), ENDLESS),
    ("deep and no JSON", nested(70, Foreign()), ENDLESS),
    ("two keys", {"a": {1: 1, "1": 2}}, TWICE),
    ("generator", streamed(), STREAM),
    ("map", [map(str, [])], STREAM),
    ("zip", {"a": zip()}, STREAM),
]


@cases(("value", "text"), REFUSED)
def test_what_cannot_be_written_is_refused_with_its_place(value: Any, text: str) -> None:
    """Never with the value itself."""
    assert refusal(lambda: to_json(value)) == text


def test_a_coroutine_that_was_not_awaited_is_closed() -> None:
    """So that nobody is warned of it."""

    async def work() -> None: ...

    assert refusal(lambda: to_json(work())) == STREAM


@pytest.mark.parametrize("value", [{"a": "1:2", "1": {"2": "3"}}, [{1: 1}, {"1": 1}], {1: "1"}])
def test_keys_that_stay_apart_are_no_trouble(value: Any) -> None:
    """Whatever texts stand beside them."""
    assert json.loads(to_json(value)) == json.loads(json.dumps(value))


TEXTS = [
    ('"a\\nb"', 2, "a\nb"),
    ("5", 2, "5"),
    ("null", 2, "null"),
    ('{"a":[1]}', 2, '{\n  "a": [\n    1\n  ]\n}'),
    ("[1]", 1, "[\n 1\n]"),
    ('{"a":[1]}', None, '{"a":[1]}'),
]


@pytest.mark.parametrize(("raw", "indent", "text"), TEXTS)
def test_a_value_is_read_as_text(raw: str, indent: int | None, text: str) -> None:
    """A string as itself, an object or array indented where that is wanted."""
    assert to_text(raw.encode(), indent) == text


# --- without a promise ---------------------------------------------------------------------------

LINK = ResourceLink(uri="a://b", name="b")
FILE = EmbeddedResourceContent(resource=TextResourceContents(uri="a://b", text="x"))
BLOB = EmbeddedResourceContent(resource=BlobResourceContents(uri="a://b", blob="eA=="))
CONTENT: list[tuple[str, Any, list[Any]]] = [
    ("text", "a", [TextContent("a")]),
    ("nothing", None, [TextContent("")]),
    ("half a pair", "a\ud800", [TextContent("a\ufffd")]),
    ("object", {"a": 1}, [TextContent('{\n  "a": 1\n}')]),
    ("empty list", [], [TextContent("[]")]),
    ("block", PICTURE, [PICTURE]),
    ("helper", Image(data=b"x"), [PICTURE]),
    ("mixed", ["a", Image(data=b"x"), {"b": 1}, 5], [
        TextContent("a"), PICTURE, TextContent('{\n  "b": 1\n}'), TextContent("5"),
    ]),
    ("tuple", (PICTURE, "a\ud800"), [PICTURE, TextContent("a\ufffd")]),
    ("text block", {"type": "text", "text": "a"}, [TextContent("a")]),
    ("image", {"type": "image", "data": "eA==", "mimeType": "image/png"}, [PICTURE]),
    ("audio", {"type": "audio", "data": "eA==", "mimeType": "audio/wav"}, [
        AudioContent(data="eA==", mime_type="audio/wav")]),
    ("link", {"type": "resource_link", "uri": "a://b", "name": "b"}, [LINK]),
    ("file", {"type": "resource", "resource": {"uri": "a://b", "text": "x"}}, [FILE]),
    ("blob", {"type": "resource", "resource": {"uri": "a://b", "blob": "eA=="}}, [BLOB]),
    ("meta", {"type": "text", "text": "a", "_meta": {"b": 1}}, [TextContent("a", meta={"b": 1})]),
]  # fmt: skip


@cases(("value", "content"), CONTENT)
def test_without_a_declared_type_a_value_is_content(value: Any, content: list[Any]) -> None:
    """Blocks, and what has their full shape, as blocks; strings as text; the rest as JSON."""
    assert planned(EMPTY).shape(value) == CallToolResult(content=tuple(content))


NO_BLOCKS: list[tuple[str, dict[str, Any]]] = [
    ("more keys", {"type": "text", "text": "a", "other": 1}),
    ("fewer keys", {"type": "image", "data": "eA=="}),
    ("other types", {"type": "text", "text": 5}),
    ("unknown", {"type": "video", "data": "eA=="}),
    ("no name", {"type": ["text"], "text": "a"}),
    ("no resource", {"type": "resource", "resource": "a"}),
]


@cases("value", NO_BLOCKS)
def test_what_only_resembles_a_block_is_a_value(value: dict[str, Any]) -> None:
    """A value of one's own may have a member that is called `type`."""
    (block,) = planned(EMPTY).shape(value).content
    assert isinstance(block, TextContent)
    assert json.loads(block.text) == value


def test_the_indent_can_be_chosen() -> None:
    """Of text blocks, with or without a promise."""
    compact = (TextContent('{"a":1}'),)
    assert planned(EMPTY, indent=None).shape({"a": 1}).content == compact
    assert planned(dict[str, int], indent=None).shape({"a": 1}).content == compact


# --- with a promise ------------------------------------------------------------------------------

SPECIFIC: list[tuple[str, Any, Any, str, bool]] = [  # a type, a value; the JSON, whether it is wrapped
    ("int", int, 5, "5", True),
    ("text", str, "a", '"a"', True),
    ("literal", Literal["a"], "a", '"a"', True),
    ("list", list[int], [1], "[1]", True),
    ("object", dict[str, int], {"a": 1}, '{"a":1}', False),
    ("optional", int | None, None, "null", True),
    ("annotated", Annotated[int, Field(ge=1)], 5, "5", True),
    ("model", Place, Place(city="a", data=b"x"), '{"city":"a","data":"eA==","size":0.0}', False),
    ("model of a dict", Place, {"city": "a", "size": 1}, '{"city":"a","size":1}', False),
    ("any inside", dict[str, Any], {"a": Row(1)}, '{"a":{"x":1}}', False),
    ("tuple", tuple[int, str], (1, "a"), '[1,"a"]', True),
    ("number", float, 3, "3", True),
]


@cases(("hint", "value", "raw", "wraps"), SPECIFIC)
def test_a_declared_type_is_a_promise(hint: Any, value: Any, raw: str, wraps: bool) -> None:
    """The value is there for programs, and the same bytes are the text; an object is not wrapped."""
    results = planned(hint)
    found = results.shape(value)
    assert (found.structured, found.wraps, results.wraps) == (raw.encode(), wraps, wraps)
    text = "" if value is None else to_text(raw.encode(), 2)
    assert found.content == (TextContent(text),)
    assert (results.schema is not None, results.object_schema == results.schema) == (True, not wraps)


UNSPECIFIC: list[Any] = [EMPTY, Any, object, None, type(None), dict, list, tuple, set, ToolResult]
UNSPECIFIC += [ImageContent, Image, list[Image], Image | None, list[str | Image], str | Image, dict | int]
UNSPECIFIC += [Annotated[dict, "text"], collections.abc.Mapping, TypeVar("T"), tuple[str, ImageContent]]


@pytest.mark.parametrize("index", range(len(UNSPECIFIC)))
def test_a_type_that_says_nothing_is_none(index: int) -> None:
    """Nor is content a value for programs."""
    assert planned(UNSPECIFIC[index]) == Results(encode=encode)


BROKEN: list[tuple[str, Any, Any, str]] = [
    ("type", int, "a", "returned what its output schema refuses: the result must be integer, got string"),
    ("nothing", int, None, "returned what its output schema refuses: the result must be integer, got null"),
    (
        "inside",
        list[int],
        [1, None],
        "returned what its output schema refuses: '[1]' must be integer, got null",
    ),
    ("missing", Place, {}, "returned what its output schema refuses: missing required field 'city'"),
    ("bound", Annotated[int, Field(ge=1)], 0, "the result must be greater than or equal to 1"),
    ("block", str, PICTURE, "returned a content block although its output schema promises a value"),
    ("NaN", float, NAN, f"{NO_NUMBER} $"),
    ("NaN in a model", Place, Place(city="", size=NAN), f"{NO_NUMBER} $.size"),
    ("no JSON", dict[str, Any], {"a": Foreign()}, f"{NO_JSON} Foreign at $.a"),
    ("no JSON in a tuple", tuple[Any, int], (Foreign(), 1), f"{NO_JSON} Foreign at $[0]"),
    ("endless", list[Any], endless(), ENDLESS),
    ("endless in a tuple", tuple[Any, ...], (endless(),), ENDLESS),
    ("two keys", dict[str, int], {"1": 1, 1: 2}, TWICE),
    ("generator", list[int], streamed(), STREAM),
    ("generator for a tuple", tuple[int, ...], streamed(), STREAM),
]


@cases(("hint", "value", "text"), BROKEN)
def test_a_broken_promise_does_not_leave(hint: Any, value: Any, text: str) -> None:
    """The text says what is wrong and where, without the value."""
    assert refusal(lambda: planned(hint).shape(value)).endswith(text)


def test_an_error_of_the_author_s_serializer_is_no_result() -> None:
    """It is told like any other value that cannot be written."""

    class Sulking(BaseModel):
        x: int = 1

        @field_serializer("x")
        def write(self, x: int) -> int:
            raise ValueError("hunter2")

    assert "hunter2" not in refusal(lambda: planned(Sulking).shape(Sulking()))


# --- a result made by hand -----------------------------------------------------------------------


def test_a_result_made_by_hand_is_taken_as_it_is() -> None:
    """Its parts in order, its value as JSON, its flag and its `_meta`."""
    result = ToolResult(["a\ud800", Image(data=b"x")], structured={"a": 1}, is_error=True, meta={"b": 2})
    assert planned(EMPTY).shape(result) == CallToolResult(
        content=(TextContent("a\ufffd"), PICTURE), structured=b'{"a":1}', is_error=True, meta={"b": 2}
    )


def test_a_value_made_by_hand_is_shown_as_text_where_nothing_else_is() -> None:
    """And it is wrapped for those who need an object, unless it is one."""
    found = planned(EMPTY).shape(ToolResult(structured=[1]))
    assert (found.content, found.structured, found.wraps) == ((TextContent("[\n  1\n]"),), b"[1]", True)
    assert planned(EMPTY).shape(ToolResult(structured={"a": 1})).wraps is False
    assert planned(EMPTY).shape(ToolResult(["a"])) == CallToolResult(content=(TextContent("a"),))


def test_a_promise_holds_for_results_made_by_hand() -> None:
    """But not for an error, which has no value to give."""
    results = planned(list[int])
    assert results.shape(ToolResult(structured=[1])).wraps is True
    assert planned(dict[str, int] | int).shape(ToolResult(structured={"a": 1})).wraps is True
    assert refusal(lambda: results.shape(ToolResult(["a"]))).startswith("returned no structured value")
    assert refusal(lambda: results.shape(ToolResult(structured=["a"]))).endswith(
        "'[0]' must be integer, got string"
    )
    assert results.shape(ToolResult(["a"], is_error=True)).structured is None


# --- refusals ------------------------------------------------------------------------------------

PROBLEM: dict[str, Any] = {"code": "busy", "message": "later", "hint": None, "issues": []}


def test_a_refusal_is_structured_where_the_schema_leaves_room() -> None:
    """As a member of an object, or as the value itself; nowhere else."""
    wrapped, plain = to_json({"error": PROBLEM}), to_json(PROBLEM)
    assert planned(EMPTY).refusal(PROBLEM) == wrapped
    assert planned(dict[str, dict[str, Any]]).refusal(PROBLEM) == wrapped
    assert planned(Problem | int).refusal(PROBLEM) == plain
    assert planned(int).refusal(PROBLEM) is None


WORDS: list[tuple[str, Any, Problem | None]] = [
    ("problem", Problem(code="c", message="m"), Problem(code="c", message="m")),
    ("dict", {"ok": False, "error": {"code": "c", "message": "m"}}, Problem(code="c", message="m")),
    (
        "hint",
        {"ok": False, "error": {"code": "c", "message": "m", "hint": "h"}},
        Problem(code="c", message="m", hint="h"),
    ),
    ("ok", {"ok": True, "error": {"code": "c", "message": "m"}}, None),
    ("more keys", {"ok": False, "error": {"code": "c", "message": "m"}, "a": 1}, None),
    ("more words", {"ok": False, "error": {"code": "c", "message": "m", "a": 1}}, None),
    ("fewer words", {"ok": False, "error": {"code": "c"}}, None),
    ("text", {"ok": False, "error": "c"}, None),
    ("issue", Issue(code="c", message="m"), None),
]


@cases(("value", "problem"), WORDS)
def test_a_refusal_may_be_returned(value: Any, problem: Problem | None) -> None:
    """As a `Problem`, or as the dict that says the same and nothing else."""
    assert as_problem(value) == problem


# --- registration --------------------------------------------------------------------------------


def test_the_style_is_that_of_the_listing() -> None:
    """The judge sees all that was generated."""
    assert "title" not in (planned(Place).schema or {})
    assert (planned(Place, style="pydantic").schema or {})["title"] == "Place"


def test_whether_a_value_is_promised_can_be_chosen() -> None:
    """Against the annotation, as far as there is one."""
    assert planned(int, wanted=False) == Results(encode=encode)
    assert (planned(Any, wanted=True).schema, planned(dict, wanted=True).wraps) == ({}, False)
    with pytest.raises(
        RegistrationError, match="'search' has structured_output=True and no return annotation"
    ):
        planned(EMPTY, wanted=True)


def test_a_schema_of_the_author_s_is_published_as_given() -> None:
    """And judges whatever is returned."""
    schema = {"title": "T", "type": "array", "items": {"type": "integer"}}
    results = planned(EMPTY, explicit=schema)
    assert (results.schema, results.wraps) == (schema, True)
    assert results.object_schema == {
        "type": "object",
        "properties": {"result": schema},
        "required": ["result"],
    }
    assert results.shape([1]).structured == b"[1]"
    assert "'[0]' must be integer" in refusal(lambda: results.shape(["a"]))
    with pytest.raises(RegistrationError, match=r"^output_schema= of 'search' is no JSON Schema"):
        planned(EMPTY, explicit={"type": "strin"})


STREAMS: list[Any] = [collections.abc.Iterator[int], collections.abc.AsyncIterator[int], typing.Iterator[int]]
STREAMS += [
    collections.abc.Generator[int, None, None],
    collections.abc.AsyncGenerator,
    collections.abc.Iterator,
]


@pytest.mark.parametrize("index", range(len(STREAMS)))
def test_a_stream_is_no_result(index: int) -> None:
    """The advice is a list."""
    with pytest.raises(RegistrationError, match=r"'search' returns an iterator.*Return a list"):
        planned(STREAMS[index])


def test_a_type_that_cannot_be_looked_up_is_planned_too() -> None:
    """Its metadata may be anything."""
    assert planned(Annotated[int, ["text"]]).shape(5).structured == b"5"


# --- what is judged is what is written ---


def shaped(value: Any, hint: Any = EMPTY, **options: Any) -> Any:
    """What a client decodes from the structured content of a value."""
    found = plan_results("tool", hint, **options).shape(value)
    return None if found.structured is None else json.loads(found.structured)


def declined(value: Any, hint: Any = EMPTY, **options: Any) -> str:
    """Why a value cannot leave."""
    with pytest.raises(InvalidResult) as caught:
        plan_results("tool", hint, **options).shape(value)
    return str(caught.value)


# --- decimals

PRICE = Decimal("42.50")
NUMBER = {"type": "object", "properties": {"t": {"type": "number"}}}


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (float, PRICE, 42.5),
        (float | None, PRICE, 42.5),
        (int, Decimal(42), 42),
        (int, Decimal("4E+1"), 40),
        (list[float], [1.5, PRICE], [1.5, 42.5]),
        (dict[str, float], {"a": PRICE}, {"a": 42.5}),
        (dict[str, list[int | None]], {"a": [Decimal(1), None]}, {"a": [1, None]}),
        (dict[int, float], {1: PRICE}, {"1": 42.5}),
        (Decimal, PRICE, "42.50"),
        (list[Decimal], [Decimal("1E+2")], ["1E+2"]),
        (str, PRICE, "42.50"),
        (float | str, PRICE, "42.50"),
        (dict[str, Any], {"a": PRICE}, {"a": "42.50"}),
        (dict[int, Any], {1: PRICE}, {"1": "42.50"}),
    ],
    ids=str,
)
def test_a_decimal_is_a_number_where_only_numbers_are_declared(hint: Any, value: Any, expected: Any) -> None:
    """Everywhere else it is written as a string, which keeps every digit for every reader."""
    assert shaped(value, hint) == expected


@dataclasses.dataclass
class Line:
    price: float


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, PRICE),
        (list[int], [PRICE]),
        (tuple[float, int], (PRICE, 1)),
        (Line, Line(price=PRICE)),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_a_decimal_that_would_break_the_schema_does_not_leave(hint: Any, value: Any) -> None:
    """What is judged is what is written."""
    assert "must be" in declined(value, hint)


def test_a_schema_by_hand_judges_what_is_written() -> None:
    """A `Decimal`, which is written as a string there, is no number."""
    assert shaped({"t": 1.5}, explicit=NUMBER) == {"t": 1.5}
    assert "'t' must be number, got string" in declined({"t": PRICE}, explicit=NUMBER)


@pytest.mark.parametrize("number", ["NaN", "sNaN", "-NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    ("hint", "wrap", "place"),
    [
        (EMPTY, lambda number: number, "$"),
        (EMPTY, lambda number: {"a": [number]}, "$.a[0]"),
        (Any, lambda number: (number,), "$[0]"),
        (Decimal, lambda number: number, "$"),
        (float, lambda number: number, "$"),
        (str, lambda number: number, "$"),
        (list[Decimal], lambda number: [number], "$[0]"),
        (dict[str, Any], lambda number: {"a": number}, "$.a"),
        (tuple[Any, int], lambda number: (number, 1), "$[0]"),
    ],
    ids=["bare", "inside", "any", "decimal", "float", "str", "list", "dict", "tuple"],
)
def test_no_decimal_without_end_leaves(number: str, hint: Any, wrap: Any, place: str) -> None:
    """NaN is refused whatever type it is of, since no input would take it back."""
    said = declined(wrap(Decimal(number)), hint)
    assert said == f"returned NaN or an infinity, which JSON cannot hold, at {place}"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_text_that_reads_like_one_leaves(text: str) -> None:
    """A string is a string."""
    assert to_json([text, None]) == json.dumps([text, None], separators=(",", ":")).encode()
    assert shaped({"a": text}, dict[str, Any]) == {"a": text}


# --- what is wrong, and where


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({(1, 2): 3}, "a key of type tuple at $"),
        ({"a": {(1, 2): [3]}}, "a key of type tuple at $.a"),
        ({None: 3}, "a key of type NoneType at $"),
        ([{"a": 1, frozenset(): 3}], "a key of type frozenset at $[0]"),
        (10**5000, "a number of too many digits at $"),
        ({"a": [1, 10**5000]}, "a number of too many digits at $.a[1]"),
        ({"a": object()}, "a value of type object at $.a"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("hint", [EMPTY, dict[str, Any]], ids=["undeclared", "declared"])
def test_the_place_and_the_cause_are_named(value: Any, said: str, hint: Any) -> None:
    """A key, or the length of a number, is told as what it is."""
    assert declined(value, hint) == f"returned what is no JSON: {said}"


def test_what_contains_itself_is_told_as_such() -> None:
    """No depth of it is a place where something is wrong."""
    ring: list[Any] = []
    ring += [ring, {"a": ring, "b": ring}]
    for value in (ring, {"a": ring}):
        assert declined(value) == "returned a value that contains itself, or is nested too deeply"


# --- _meta

DEEP: Any = {}
for _ in range(1000):
    DEEP = {"a": DEEP}

METAS = [
    ({"a": float("nan")}, "returned NaN or an infinity, which JSON cannot hold, at _meta.a"),
    ({"a": [object()]}, "returned what is no JSON: a value of type object at _meta.a[0]"),
    (DEEP, "returned a value that contains itself, or is nested too deeply, in _meta"),
    ([1], "returned what is no object at _meta"),
]


@pytest.mark.parametrize(("meta", "said"), METAS, ids=["nan", "object", "deep", "array"])
@pytest.mark.parametrize(
    "result",
    [
        lambda meta: ToolResult(["done"], meta=meta),
        lambda meta: ToolResult([Text("done", meta=meta)]),
        lambda meta: Text("done", meta=meta),
        lambda meta: [EmbeddedResource(uri="shop://terms", text="…", meta=meta)],
        lambda meta: EmbeddedResourceContent(
            resource=TextResourceContents(uri="shop://terms", text="…", meta=meta)
        ),
    ],
    ids=["result", "block in a result", "block", "resource", "contents"],
)
def test_meta_is_json_like_all_else(result: Any, meta: Any, said: str) -> None:
    """What an author hangs on a result or a block is held to the same rules, and the place is named."""
    assert declined(result(meta)) == said


def test_meta_may_hold_what_a_result_may() -> None:
    """A date is written as in a result."""
    found = plan_results("tool", EMPTY).shape(ToolResult(["done"], meta={"on": date(2026, 1, 3)}))
    assert found.meta == {"on": "2026-01-03"}
