"""Cases O-ARG: what arrives as arguments, and what the function gets."""

from collections.abc import Iterator
from typing import Annotated, Any, Optional

import pytest
from pydantic import BaseModel, Field

from typegate import Gate, MCPServer
from typegate.transports.memory import Client

from .inside import REVISIONS, STYLES, call, duration, judge, schemas, talk
from .process import Process, request, started, strict

styles = pytest.mark.parametrize("style", STYLES)
revisions = pytest.mark.parametrize("revision", REVISIONS)


# --- O-ARG-1: text that looks like JSON ----------------------------------------------------------


GATES = [
    Gate(repair=repair, nulls=nulls, unknown=unknown)
    for repair in ("containers", "all", "none")
    for nulls in ("refuse", "default")
    for unknown in ("forbid", "ignore")
]
gates = pytest.mark.parametrize("gate", GATES, ids=range(len(GATES)))


def texts(gate: Gate) -> MCPServer:
    """The server of O-ARG-1."""
    server = MCPServer("t", gate=gate)

    @server.tool
    def keep(a: str, b: Optional[str] = None, c: str | list[str] = "", d: str | int = "") -> list[str]:  # noqa: UP045
        return [f"{type(v).__name__}:{v}" for v in (a, b, c, d)]

    @server.tool
    def deep(rows: list[str | dict[str, int]], more: dict[str, Optional[str]]) -> list[str]:  # noqa: UP045
        return [f"{type(v).__name__}:{v}" for v in (*rows, *more.values())]

    return server


@pytest.mark.parametrize(
    "values",
    [
        ('{"k": 1}', '{"k": 1}', '["x"]', "00123"),
        ("null", "null", "true", "1e400"),
        ('"quoted"', "12345678901234567890", "NaN", " 7 "),
        ("\u2028\x00\\u0041", "", "\U0001f600", "1.0"),
    ],
)
@gates
def test_O_ARG_1_a_string_is_never_decoded(gate: Gate, values: tuple[str, ...]) -> None:
    """Wherever a string is allowed, it arrives as the very same string, also inside lists and dicts."""
    expected = [f"str:{value}" for value in values]
    assert call(texts(gate), "keep", dict(zip("abcd", values, strict=True))).structured == expected
    deep = {"rows": list(values[:2]), "more": {"x": values[2], "y": values[3]}}
    assert call(texts(gate), "deep", deep).structured == expected


# --- O-ARG-2: objects and arrays as JSON text ----------------------------------------------------


class Filter(BaseModel):
    field: str
    value: int


def searches(gate: Gate = Gate()) -> MCPServer:  # noqa: B008
    """The server of O-ARG-2."""
    server = MCPServer("t", gate=gate)

    @server.tool
    def search(where: Filter, ids: list[str], extra: Optional[dict[str, int]] = None) -> str:  # noqa: UP045
        return f"{where.field}={where.value} {ids} {extra}"

    @server.tool
    def either(x: list[int] | dict[str, int]) -> str:
        return repr(x)

    return server


AS_TEXT: list[tuple[str, Any, dict[str, str], str]] = [
    (
        "search",
        {"where": '{"field": "age", "value": 3}', "ids": '["a", "b"]', "extra": '{"n": 1}'},
        {"where": "object", "ids": "array", "extra": "object"},
        "age=3 ['a', 'b'] {'n': 1}",
    ),
    ("either", {"x": "[1]"}, {"x": "array or object"}, "[1]"),
    ("either", {"x": ' {"a": 1} '}, {"x": "array or object"}, "{'a': 1}"),
]


@pytest.mark.parametrize(("name", "arguments", "wanted", "told"), AS_TEXT)
@pytest.mark.parametrize("mode", ["containers", "all"])
def test_O_ARG_2_JSON_text_for_containers_is_read(
    mode: Any, name: str, arguments: Any, wanted: dict[str, str], told: str
) -> None:
    """By default, and each place where that was done is told."""
    result = call(searches(Gate(repair=mode)), name, arguments)
    assert (result.is_error, result.text) == (False, told)
    assert result.raw["_meta"]["dev.typegate/repaired"] == [[parameter] for parameter in wanted]


WRONG_TEXT: Any = ("search", {"where": '{"field": "age"}', "ids": "a,b"})


@pytest.mark.parametrize("mode", ["containers", "all"])
def test_O_ARG_2_what_cannot_be_read_is_refused(mode: Any) -> None:
    """A list without brackets is none; what is wrong inside what was read is named by its place."""
    result = call(searches(Gate(repair=mode)), *WRONG_TEXT)
    assert result.is_error
    assert "missing required field 'where.value'" in result.text
    assert "'ids' must be array, got string" in result.text


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        *((name, arguments, wanted) for name, arguments, wanted, _ in AS_TEXT),
        (*WRONG_TEXT, {"where": "object", "ids": "array"}),
    ],
)
def test_O_ARG_2_nothing_is_read_where_the_author_says_so(
    name: str, arguments: Any, wanted: dict[str, str]
) -> None:
    """Required, optional and union parameters are each named, with what was expected and what came."""
    result = call(searches(Gate(repair="none")), name, arguments)
    assert result.is_error
    for parameter, kind in wanted.items():
        assert f"'{parameter}' must be {kind}, got string" in result.text


def test_O_ARG_2_real_containers_pass_and_are_published_as_such() -> None:
    """The published types are object and array, and such values are taken."""
    properties = schemas(searches())["search"]["properties"]
    assert [properties[name]["type"] for name in ("where", "ids", "extra")] == ["object", "array", "object"]
    arguments = {"where": {"field": "age", "value": 3}, "ids": ["a", "b"], "extra": {"n": 1}}
    assert call(searches(), "search", arguments).text == "age=3 ['a', 'b'] {'n': 1}"


# --- O-ARG-3: the client adds a key --------------------------------------------------------------


class Nested(BaseModel):
    a: int = 0


def lookups(server_gate: Gate | None = None, tool_gate: Gate | None = None) -> MCPServer:
    """The server of O-ARG-3."""
    server = MCPServer("t", gate=server_gate or Gate())

    @server.tool(gate=tool_gate)
    def lookup(guid: str, limit: int = 10, nested: Nested = Nested()) -> str:  # noqa: B008
        return f"{guid}:{limit}:{nested.a}"

    @server.tool(gate=tool_gate)
    def ping() -> str:
        return "pong"

    return server


EXTRA = [
    ("lookup", {"guid": "g1", "toolCallId": "call_1"}, ["toolCallId"]),
    ("lookup", {"guid": "g1", "limits": 3}, ["limits"]),
    ("lookup", {"guid": "g1", "nested": {"b": 1}}, ["nested.b"]),
    (
        "ping",
        {"sessionId": "s", "action": "sendMessage", "chatInput": "hi"},
        ["sessionId", "action", "chatInput"],
    ),
]


@pytest.mark.parametrize(("name", "arguments", "unknown"), EXTRA)
def test_O_ARG_3_unknown_keys_are_refused_as_the_schema_says(
    name: str, arguments: dict[str, Any], unknown: list[str]
) -> None:
    """By default the schema admits no other key, and the refusal names each one."""
    server = lookups()
    schema = schemas(server)[name]
    assert schema["additionalProperties"] is False
    assert not judge(schema).is_valid(arguments)
    result = call(server, name, arguments)
    assert result.is_error
    assert all(f"'{key}'" in result.text for key in unknown)


@pytest.mark.parametrize("whose", ["server_gate", "tool_gate"])
@pytest.mark.parametrize(("name", "arguments", "unknown"), EXTRA)
def test_O_ARG_3_one_setting_ignores_them_and_the_schema_follows(
    whose: str, name: str, arguments: dict[str, Any], unknown: list[str]
) -> None:
    """The setting exists for the server and for one tool; the function never sees such a key."""
    server = lookups(**{whose: Gate(unknown="ignore")})
    assert judge(schemas(server)[name]).is_valid(arguments)
    result = call(server, name, arguments)
    assert not result.is_error
    assert result.text == ("pong" if name == "ping" else "g1:10:0")


def test_O_ARG_3_a_tool_may_be_stricter_than_its_server() -> None:
    """The tool's own gate is laid over the server's."""
    server = lookups(Gate(unknown="ignore"), Gate(unknown="forbid"))
    assert call(server, "ping", {"x": 1}).is_error


# --- O-ARG-4: no arguments member ----------------------------------------------------------------


class Page(BaseModel):
    size: int = 20


def pages() -> MCPServer:
    """The server of O-ARG-4, with a tool that changes its defaults."""
    server = MCPServer("t")

    @server.tool
    def fetch(limit: int = 5, page: Page = Page()) -> str:  # noqa: B008
        return f"{limit}/{page.size}"

    @server.tool
    def need(x: int) -> int:
        return x

    @server.tool
    def spoil(page: Page = Page(), tags: list[str] = [], table: dict[str, int] = {}) -> str:  # noqa: B006, B008
        found = f"{page.size}{tags}{table}"
        page.size += 1
        tags.append("x")
        table["y"] = 1
        return found

    return server


@revisions
@pytest.mark.parametrize("params", [{}, {"arguments": None}, {"arguments": {}}])
def test_O_ARG_4_arguments_may_be_left_out(revision: str, params: dict[str, Any]) -> None:
    """No member, null and an empty object all mean: the defaults."""
    params = {"name": "fetch", **params}
    result = talk(pages(), lambda client: client.request("tools/call", params), protocol_version=revision)
    assert result["content"] == [{"type": "text", "text": "5/20"}]


def test_O_ARG_4_a_required_argument_is_missed() -> None:
    """Where an argument is required, its absence is a tool error that names it."""
    result = talk(pages(), lambda client: client.request("tools/call", {"name": "need"}))
    assert result["isError"]
    assert "missing required argument 'x'" in result["content"][0]["text"]


def test_O_ARG_4_defaults_are_not_shared_between_calls() -> None:
    """What a function does to its default is gone in the next call."""
    server = pages()
    assert {call(server, "spoil").text for _ in range(3)} == {"20[]{}"}


# --- O-ARG-5: large integers and NaN -------------------------------------------------------------

NUMBERS = """
    seen = []

    @server.tool
    def same(i: int) -> dict[str, int]:
        seen.append(i)
        return {"i": i, "next": i + 1}

    @server.tool
    async def wait(seconds: float) -> str:
        seen.append(seconds)
        return repr(seconds)

    @server.tool
    async def nest(rows: list[dict[str, float]]) -> str:
        seen.append(rows)
        return "ran"

    @server.tool
    def ran() -> int:
        return len(seen)
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server process for all of O-ARG-5: no number may end its session."""
    with started(tmp_path_factory.mktemp("numbers"), NUMBERS) as server:
        yield server.handshake("2025-06-18")


def raw_call(name: str, arguments: str) -> bytes:
    """A call with arguments that no encoder would write."""
    text = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n'
    return (text % (name, arguments)).encode()


def runs(server: Process) -> int:
    """How many functions have run."""
    return int(server.ask(request(3, "tools/call", name="ran"))["result"]["content"][0]["text"])


@pytest.mark.parametrize(
    ("sent", "exact"),
    [
        ("9007199254740993", 9007199254740993),
        ("-9223372036854775809", -9223372036854775809),
        ("18446744073709551616", 18446744073709551616),
        ("1" * 100, int("1" * 100)),
        ("1e3", 1000),
        ("-0", 0),
    ],
)
def test_O_ARG_5_integers_are_exact_both_ways(numbers: Process, sent: str, exact: int) -> None:
    """An integer comes back to the last digit, in the structure and in the text."""
    numbers.send(raw_call("same", f'{{"i":{sent}}}'))
    result = numbers.answer(2)["result"]
    assert b'"i":%d,' % exact in numbers.received[-1]
    assert result["structuredContent"] == {"i": exact, "next": exact + 1}
    assert strict(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.parametrize(
    ("name", "arguments", "place"),
    [
        ("wait", '{"seconds":1e400}', "seconds"),
        ("wait", '{"seconds":-1e999}', "seconds"),
        ("same", '{"i":1e400}', "i"),
        ("same", f'{{"i":{"9" * 100_000}}}', "i"),
        ("wait", f'{{"seconds":{"9" * 5_000}}}', "seconds"),
        ("nest", '{"rows":[{"a":1.5},{"b":1e999}]}', "rows[1].b"),
    ],
    ids=range(6),
)
def test_O_ARG_5_numbers_beyond_range_are_tool_errors(
    numbers: Process, name: str, arguments: str, place: str
) -> None:
    """The error names the argument, the function does not run, and the session goes on."""
    before = runs(numbers)
    numbers.send(raw_call(name, arguments))
    result = numbers.answer(2)["result"]
    assert result["isError"]
    assert f"'{place}'" in result["content"][0]["text"]
    assert runs(numbers) == before


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10"])
def test_O_ARG_5_what_is_no_JSON_number_is_a_parse_error(numbers: Process, token: str) -> None:
    """The line is answered with -32700, the function does not run, and the session goes on."""
    before = runs(numbers)
    numbers.send(raw_call("wait", f'{{"seconds":{token}}}'))
    answer = numbers.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert runs(numbers) == before


def test_O_ARG_5_long_numbers_cost_no_more_than_their_length() -> None:
    """Sixteen times the digits take sixteen times as long, not 256."""
    lines = [raw_call("same", f'{{"i":{"9" * digits}}}') for digits in (100_000, 1_600_000)]

    async def times(client: Client) -> list[float]:
        return [duration(lambda line=line: client.send(line)) for line in lines]

    short, long = talk(MCPServer("t"), times)
    assert long < 100 * short


# --- O-ARG-6: true is no number, 1 is no boolean -------------------------------------------------


class Inner(BaseModel):
    n: int = 0
    f: float = 0.0
    b: bool = False


def offsets() -> MCPServer:
    """The server of O-ARG-6, with a tool that has the same types further down."""
    server = MCPServer("t")

    @server.tool
    def page(offset: int, exact: bool = False, ratio: float = 1.0) -> str:
        return f"{offset!r} {exact!r} {ratio!r}"

    @server.tool
    def deep(ints: list[int], floats: tuple[float, ...], flags: dict[str, bool], inner: Inner) -> str:
        return f"{ints!r} {floats!r} {flags!r} {inner!r}"

    return server


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"offset": 3.0}, "3 False 1.0"),
        ({"offset": 1, "ratio": 2}, "1 False 2.0"),
        ({"offset": -1, "exact": True, "ratio": 0.5}, "-1 True 0.5"),
        ({"offset": 1e15}, "1000000000000000 False 1.0"),
    ],
)
def test_O_ARG_6_equal_numbers_arrive_in_the_declared_type(arguments: dict[str, Any], answer: str) -> None:
    """3.0 is the integer 3 and 2 is the float 2.0, as JSON Schema has it."""
    assert call(offsets(), "page", arguments).text == answer


def test_O_ARG_6_equal_numbers_arrive_in_the_declared_type_at_depth() -> None:
    """The same inside lists, tuples and models."""
    arguments = {"ints": [3.0, 4], "floats": [2], "flags": {"x": True}, "inner": {"n": 5.0, "f": 6}}
    result = call(offsets(), "deep", arguments)
    assert result.text == "[3, 4] (2.0,) {'x': True} Inner(n=5, f=6.0, b=False)"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("page", {"offset": True}, "'offset' must be integer, got boolean"),
        ("page", {"offset": 1, "ratio": True}, "'ratio' must be number, got boolean"),
        ("page", {"offset": 1, "exact": 1}, "'exact' must be boolean, got integer"),
        ("page", {"offset": 1, "exact": "true"}, "'exact' must be boolean, got string"),
        ("page", {"offset": "1"}, "'offset' must be integer, got string"),
        ("page", {"offset": 3.5}, "'offset' must be integer, got number"),
        ("page", {"offset": 1, "ratio": "2"}, "'ratio' must be number, got string"),
        ("deep", {"ints": [1, True]}, "'ints[1]' must be integer, got boolean"),
        ("deep", {"ints": ["1"]}, "'ints[0]' must be integer, got string"),
        ("deep", {"ints": [3.5]}, "'ints[0]' must be integer, got number"),
        ("deep", {"floats": [True]}, "'floats[0]' must be number, got boolean"),
        ("deep", {"flags": {"x": 1}}, "'flags.x' must be boolean, got integer"),
        ("deep", {"flags": {"x": "true"}}, "'flags.x' must be boolean, got string"),
        ("deep", {"inner": {"n": True}}, "'inner.n' must be integer, got boolean"),
        ("deep", {"inner": {"n": "1"}}, "'inner.n' must be integer, got string"),
        ("deep", {"inner": {"f": True}}, "'inner.f' must be number, got boolean"),
        ("deep", {"inner": {"b": 0}}, "'inner.b' must be boolean, got integer"),
    ],
)
def test_O_ARG_6_other_types_are_refused_alike_at_every_depth(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    """The tool error names the place, what it must be and what came."""
    sound = {} if name == "page" else {"ints": [], "floats": [], "flags": {}, "inner": {}}
    result = call(offsets(), name, sound | arguments)
    assert result.is_error
    assert said in result.text
    assert len(result.problem["issues"]) == 1


# --- O-ARG-7: null defaults ----------------------------------------------------------------------


def projects(style: Any = "compact") -> MCPServer:
    """The server of O-ARG-7."""
    server = MCPServer("t", schema_style=style)

    @server.tool
    def projects(name: str = None, limit: int = 10, tag: Optional[str] = None) -> str:  # type: ignore[assignment]  # noqa: RUF013, UP045
        return f"{name!r} {limit!r} {tag!r}"

    return server


@styles
def test_O_ARG_7_every_default_fits_its_own_schema(style: str) -> None:
    """A client may send each default that it was told of."""
    server = projects(style)
    schema = schemas(server)["projects"]
    judge(schema)
    told = {name: node["default"] for name, node in schema["properties"].items() if "default" in node}
    assert told["limit"] == 10
    assert call(server, "projects", told).text == "None 10 None"


@styles
def test_O_ARG_7_a_default_that_its_rule_refuses_is_not_published(style: str) -> None:
    """It is the author's own business what the function gets when an argument is left out."""
    server = MCPServer("t", schema_style=style)  # type: ignore[arg-type]

    @server.tool
    def page(size: Annotated[int, Field(ge=1)] = 0, mark: Annotated[str, Field(min_length=1)] = "") -> str:
        return f"{size!r} {mark!r}"

    schema = schemas(server)["page"]
    judge(schema)
    assert not any("default" in node for node in schema["properties"].values())
    assert call(server, "page").text == "0 ''"


@styles
@pytest.mark.parametrize("arguments", [{"name": None}, {"tag": None}, {}, {"name": None, "tag": None}])
def test_O_ARG_7_null_is_accepted_where_it_is_the_default(style: str, arguments: dict[str, Any]) -> None:
    """`name: str = None` and `Optional[str]` take null, whether or not the listing offers it."""
    assert call(projects(style), "projects", arguments).text == "None 10 None"


def test_O_ARG_7_the_full_style_offers_null() -> None:
    """Where null unions are published, the schema admits null for both."""
    assert judge(schemas(projects("pydantic"))["projects"]).is_valid({"name": None, "tag": None})


@styles
def test_O_ARG_7_null_for_another_type_never_reaches_the_function(style: str) -> None:
    """`limit: null` is a tool error that names it, and the schema says the same."""
    server = projects(style)
    result = call(server, "projects", {"limit": None})
    assert result.is_error
    assert "'limit' must be integer, got null" in result.text
    assert not judge(schemas(server)["projects"]).is_valid({"limit": None})
