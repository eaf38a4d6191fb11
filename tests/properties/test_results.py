"""What results promise: strict JSON that satisfies the published schema, or an error that tells nothing."""

import array
import asyncio
import collections
import collections.abc
import dataclasses
import datetime as dt
import enum
import functools
import json
import math
import pathlib
import re
import sys
import types
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pydantic
from hypothesis import note
from hypothesis import strategies as st

from typegate import MCPServer

from .forms import Form, forms, json_values, key_token, token
from .judges import errors
from .lengths import holds_for

PATIENCE = 20  # seconds until a call without an answer fails, which would wait for ever
MODERN, LEGACY = "2026-07-28", "2025-11-25"
Json = Any
NOTHING: Json = {}


def returned(function: Any, version: str, arguments: Json = NOTHING) -> tuple[Json, Json]:
    """The listing's entry and the result of one call, for a client of *version*."""
    server = MCPServer("properties")
    server.add_tool("tool", function, inline=True)

    async def call() -> tuple[Json, Json]:
        async with server.client(version) as client, asyncio.timeout(PATIENCE):
            entry = (await client.request("tools/list"))["tools"][0]
            return entry, await client.request("tools/call", {"name": "tool", "arguments": arguments})

    return asyncio.run(call())


def giving(value: Any, hint: Any = None, annotated: bool = True) -> Any:
    """A tool that gives this value."""

    def tool():
        return value

    if annotated:
        tool.__annotations__["return"] = hint
    return tool


def strict(text: str) -> Json:
    """Read JSON that any reader in the world can read."""
    text.encode()
    return json.loads(text, parse_constant=refuse)


def refuse(word: str) -> Json:
    """NaN and the infinities."""
    raise AssertionError(f"{word} is no JSON")


# --- declared types


@st.composite
def promises(draw: st.DrawFn) -> tuple[Form, Any]:
    """A return type and a value of it."""
    form = draw(forms())
    return form, draw(form.values)


@holds_for(promises())
def test_a_value_of_the_declared_type_satisfies_the_published_schema(promise: tuple[Form, Any]) -> None:
    """The newest clients get the value in its natural form; the text says the same."""
    form, value = promise
    entry, result = returned(giving(value, form.hint), MODERN)
    note(json.dumps([entry.get("outputSchema"), result]))
    assert not result["isError"], result["content"][0]["text"]
    assert ("outputSchema" in entry) == ("structuredContent" in result)
    if "outputSchema" in entry:
        found = errors(entry["outputSchema"], result["structuredContent"])
        assert not found, found
        assert_agree(result["content"], result["structuredContent"])


@holds_for(promises(), quick=30)
def test_handshake_clients_get_an_object(promise: tuple[Form, Any]) -> None:
    """Up to 2025-11-25 what is no object is wrapped as `result`, in the schema and in the value."""
    form, value = promise
    modern_entry, modern = returned(giving(value, form.hint), MODERN)
    entry, result = returned(giving(value, form.hint), LEGACY)
    note(json.dumps([entry.get("outputSchema"), result]))
    assert not result["isError"], result["content"][0]["text"]
    assert result["content"] == modern["content"]
    if "outputSchema" in modern_entry:
        natural, structured = modern["structuredContent"], result["structuredContent"]
        assert entry["outputSchema"]["type"] == "object"
        assert errors(entry["outputSchema"], structured) == []
        if modern_entry["outputSchema"].get("type") == "object":
            assert unordered(structured) == unordered(natural)
        elif not isinstance(natural, dict):
            assert unordered(structured) == unordered({"result": natural})
        else:
            assert unordered(structured) in (unordered(natural), unordered({"result": natural}))


@holds_for(promises())
def test_what_a_tool_gives_another_takes(promise: tuple[Form, Any]) -> None:
    """A result of a type, sent as an argument of the same type, is accepted and is the same value."""
    form, value = promise
    _, result = returned(giving(value, form.hint), MODERN)
    received: list[Any] = []

    def tool(x):
        received.append(x)

    tool.__annotations__["x"] = form.hint
    note(json.dumps(result))
    if "structuredContent" in result:
        entry, answer = returned(tool, MODERN, {"x": result["structuredContent"]})
        assert not answer["isError"], (answer["content"][0]["text"], entry["inputSchema"])
        assert form.holds(received[0]), received
        assert "ambiguous" in form.marks or received[0] == value, received


def assert_agree(content: Json, structured: Json) -> None:
    """One text block says what the structured content says: a string as itself, `None` as nothing."""
    [block] = content
    if structured is None or isinstance(structured, str):
        assert block["text"] == (structured or "")
    else:
        assert strict(block["text"]) == structured


def unordered(tree: Json) -> Json:
    """The same with the items of arrays in one order: a set has none."""
    if isinstance(tree, dict):
        return {key: unordered(item) for key, item in tree.items()}
    return sorted(map(unordered, tree), key=repr) if isinstance(tree, list) else tree


# --- anything at all


class Shown:
    """A repr that must not get out."""

    def __init__(self, *held: Any) -> None:
        self.held = held

    def __repr__(self) -> str:
        return "zqrepr"

    __str__ = __repr__


class Hostile:
    """Nothing can be asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("zqrepr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("zqattr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("zqeq")

    __hash__ = object.__hash__


class Slots:
    __slots__ = ("secret",)

    def __init__(self) -> None:
        self.secret = "zqslot"


class Kind(enum.Enum):
    PLAIN = "plain"
    DEEP = ("zqdeep", 1)
    ODD = object()


class Flags(enum.Flag):
    A = 1
    B = 2


class Count(enum.IntEnum):
    ONE = 1


class Word(str):
    __slots__ = ()


class Row(NamedTuple):
    held: Any


@dataclasses.dataclass
class Record:
    held: Any


class Model(pydantic.BaseModel):
    held: Any


class Struct(msgspec.Struct):
    held: Any


surrogates = st.sampled_from(["\ud800", "zq\udfff", "a\udc80b"])
scalars = st.one_of(
    json_values,
    token,
    surrogates,
    st.sampled_from([math.nan, math.inf, -math.inf, 2**63, 2**64, -(2**63) - 1, 10**400, 10**5000, 1j]),
    st.dates() | st.datetimes() | st.times() | st.timedeltas() | st.uuids() | st.decimals(),
    st.binary(max_size=4) | st.binary(max_size=4).map(bytearray) | st.binary(max_size=4).map(memoryview),
    st.sampled_from([*Kind, *Flags, Flags.A | Flags.B, *Count, Word("word"), True, dt.UTC]),
    st.sampled_from([Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+400")]),
    st.builds(Shown) | st.builds(Hostile) | st.builds(Slots) | st.builds(object),
    st.sampled_from(
        [..., NotImplemented, int, Shown, sys, len, lambda: 0, range(3), slice(1), re.compile("zq")]
    ),
    st.sampled_from([ValueError("zqerror"), pathlib.PurePosixPath("/zq"), array.array("i", [1]), uuid, type]),
    st.builds(lambda: (item for item in "ab"))
    | st.builds(lambda: iter([1]))
    | st.builds(lambda: map(str, [1])),
)
hashables = st.one_of(
    key_token,
    st.integers() | st.booleans() | st.none() | st.floats(),
    st.dates() | st.uuids() | st.binary(max_size=2) | st.just("kx\udfff"),
    st.sampled_from([*Kind, *Count, (1, "kx"), frozenset([1]), int]) | st.builds(Shown) | st.builds(Hostile),
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What Python holds values in."""
    lists = st.lists(inner, max_size=3)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(collections.deque),
        st.sets(hashables, max_size=3) | st.frozensets(hashables, max_size=3),
        st.dictionaries(hashables, inner, max_size=3),
        st.dictionaries(key_token, inner, max_size=3).map(types.MappingProxyType),
        st.dictionaries(key_token, inner, max_size=3).map(collections.UserDict),
        st.dictionaries(key_token, inner, max_size=3).map(collections.OrderedDict),
        st.dictionaries(key_token, inner, max_size=3).map(lambda made: types.SimpleNamespace(**made)),
        *(st.builds(kind, inner) for kind in (Row, Record, Struct, Shown)),
        inner.map(lambda held: Model.model_construct(held=held)),
    )


class Given:
    """A value of any shape, which may be too strange to be shown."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        try:
            return repr(self.value)[:400]
        except Exception as error:
            return f"{type(self.value).__name__}, whose repr raises {type(error).__name__}"


@st.composite
def anything(draw: st.DrawFn) -> Given:
    """A Python value of any shape: some contain themselves, some are very deep."""
    return Given(draw(shapes()))


@st.composite
def shapes(draw: st.DrawFn) -> Any:
    """A value, bare or in a shape that only Python has."""
    value = draw(scalars | containers(scalars) | containers(containers(scalars)))
    return draw(st.sampled_from([*[lambda bare: bare] * 6, *SHAPES]))(value)


def ring(value: Any) -> Any:
    """A list that contains itself."""
    made = [value]
    made.append(made)
    return made


def table(value: Any) -> Any:
    """A dict that contains itself."""
    made = {"kx": value}
    made["kxself"] = made
    return made


def record(value: Any) -> Any:
    """A dataclass instance that contains itself."""
    made = Record(None)
    made.held = [value, made]
    return made


def model(value: Any) -> Any:
    """A model that contains itself."""
    made = Model(held=None)
    made.held = {"kx": made, "kxvalue": value}
    return made


def nested(wrap: Callable[[Any], Any], levels: int) -> Callable[[Any], Any]:
    """A value that lies deep."""
    return lambda value: functools.reduce(lambda inner, _: wrap(inner), range(levels), value)


SHAPES = (
    *(ring, table, record, model),
    *(
        nested(wrap, levels)
        for wrap in (lambda inner: [inner], lambda inner: {"kx": inner})
        for levels in (70, 3000)
    ),
)
CONTAINERS = (list, tuple, set, frozenset, collections.abc.Mapping, Record, Model, Struct)
LEAKS = re.compile(
    r"zq|0x[0-9a-f]{4}|object at 0|<|Traceback|properties\.|test_results|builtins\.|collections\.|decimal\."
)


@holds_for(anything(), st.booleans(), quick=100)
def test_anything_comes_out_as_strict_json_or_as_a_silent_error(given: Given, as_any: bool) -> None:
    """A tool may give anything; what JSON cannot hold is a tool error that tells nothing of the value."""
    value = given.value
    _, result = returned(giving(value, Any, annotated=as_any), MODERN)
    note(json.dumps(result))
    if result["isError"]:
        leaks = LEAKS.findall(json.dumps([result["content"], result.get("structuredContent")]))
        assert not leaks, leaks
    elif isinstance(value, CONTAINERS) or result["content"][0]["text"][:1] in ("{", "["):
        strict(result["content"][0]["text"])  # else a string, which comes out as itself


@holds_for(hashables)
def test_the_place_of_a_fault_is_told_without_what_lies_there(key: Any) -> None:
    """Whatever the key of a dict is, the error that names the place shows neither repr nor address of it."""
    _, result = returned(giving({key: [object()]}, annotated=False), MODERN)
    assert result["isError"]
    assert not LEAKS.findall(result["content"][0]["text"]), result["content"][0]["text"]


@holds_for(json_values, st.booleans())
def test_json_comes_out_as_it_is(value: Json, subclassed: bool) -> None:
    """What is JSON already comes out unchanged, even from types that only derive from those of JSON."""
    _, result = returned(giving(derived(value) if subclassed else value, annotated=False), MODERN)
    assert not result["isError"], result["content"][0]["text"]
    assert_agree(result["content"], value)


class Whole(int):
    __slots__ = ()


class Real(float):
    __slots__ = ()


def derived(tree: Json) -> Any:
    """The same value, of types that derive from those of JSON, as libraries have them."""
    if isinstance(tree, dict):
        return collections.OrderedDict((Word(key), derived(item)) for key, item in tree.items())
    if isinstance(tree, list):
        return tuple(map(derived, tree))
    kinds = {str: Word, int: Whole, float: Real}
    return kinds[type(tree)](tree) if type(tree) in kinds else tree


@holds_for(st.lists(st.none() | st.floats() | json_values, max_size=4), st.booleans())
def test_nan_is_never_a_silent_null(values: list[Any], nested: bool) -> None:
    """A result that holds NaN or an infinity is an error that names the place; all others come out whole."""
    _, result = returned(giving({"kx": values} if nested else values, annotated=False), MODERN)
    finite = all(not isinstance(value, float) or math.isfinite(value) for value in values)
    assert result["isError"] != finite
    if finite:
        assert_agree(result["content"], {"kx": values} if nested else values)
    else:
        assert "$.kx[" in result["content"][0]["text"] if nested else "$[" in result["content"][0]["text"]
