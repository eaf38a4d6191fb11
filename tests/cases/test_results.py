"""Cases O-RES: what a function returns, and what the client gets."""

import base64
import inspect
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, computed_field

from typegate import Image, MCPServer, RegistrationError, ToolResult

from .inside import REVISIONS, call, fits, nodes, talk, tools
from .process import Process, request, started, strict
from .process import call as calling

revisions = pytest.mark.parametrize("revision", REVISIONS)


def unwrapped(structured: Any, revision: str) -> Any:
    """The value itself; older clients get what is no object inside one."""
    return structured if revision == "2026-07-28" else structured["result"]


# --- O-RES-1: bytes ------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\n\xff\x00"


class Thumb(BaseModel):
    name: str
    data: bytes


def binaries() -> MCPServer:
    """The server of O-RES-1."""
    server = MCPServer("t")

    @server.tool
    def png() -> bytes:
        return PNG

    @server.tool
    def ascii_bytes() -> bytes:
        return b"hello"

    @server.tool
    def thumb() -> Thumb:
        return Thumb(name="t", data=b"\xff\xfe")

    @server.tool
    def many() -> dict[str, bytes]:
        return {"a": b"\xff", "b": b"ok"}

    return server


@revisions
@pytest.mark.parametrize(("name", "original"), [("png", PNG), ("ascii_bytes", b"hello")])
def test_O_RES_1_bytes_are_base64_in_both_channels(revision: str, name: str, original: bytes) -> None:
    """All bytes, ASCII or not, are rebuilt from standard base64, in the text and in the structure."""
    server = binaries()
    result = call(server, name, protocol_version=revision)
    structured = fits(server, name, result, protocol_version=revision)
    assert unwrapped(structured, revision) == result.text
    assert base64.b64decode(result.text, validate=True) == original


@revisions
@pytest.mark.parametrize(
    ("name", "original"),
    [("thumb", {"name": "t", "data": b"\xff\xfe"}), ("many", {"a": b"\xff", "b": b"ok"})],
)
def test_O_RES_1_bytes_inside_values_are_base64_too(
    revision: str, name: str, original: dict[str, Any]
) -> None:
    """Bytes in a model or a dict travel as the others do, and both channels agree."""
    server = binaries()
    result = call(server, name, protocol_version=revision)
    structured = fits(server, name, result, protocol_version=revision)
    assert strict(result.text) == structured
    for key, value in original.items():
        found = structured[key]
        assert (base64.b64decode(found, validate=True) if isinstance(value, bytes) else found) == value


def test_O_RES_1_the_schema_says_base64() -> None:
    """Each of the four output schemas names the encoding."""
    for tool in tools(binaries()).values():
        encoded = [node for node in nodes(dict(tool.output_schema or {})) if node.get("contentEncoding")]
        assert [(node["type"], node["contentEncoding"]) for node in encoded] == [("string", "base64")]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("hint", [bytes, dict, inspect.Parameter.empty])
def test_O_RES_1_other_buffers_are_the_same(kind: Callable[[bytes], Any], hint: Any) -> None:
    """A bytearray and a memoryview become the same base64, declared or not."""
    server = MCPServer("t")

    def buffer():
        return {"x": kind(PNG)} if hint is dict else kind(PNG)

    if hint is not inspect.Parameter.empty:
        buffer.__annotations__["return"] = hint
    server.tool(buffer)
    result = call(server, "buffer")
    assert not result.is_error, result.text
    text = strict(result.text)["x"] if hint is dict else result.text
    assert base64.b64decode(text, validate=True) == PNG


# --- O-RES-2: what cannot be serialised ----------------------------------------------------------


class Handle:
    pass


class Count(TypedDict):
    n: int


class Loose(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str
    extra: Any = None


def bad_results() -> MCPServer:  # noqa: C901  (a list, for all its length)
    """The server of O-RES-2, with the same faults behind other hints."""
    server = MCPServer("t")

    @server.tool
    def opaque() -> dict:
        return {"ok": 1, "handle": Handle()}

    @server.tool
    def wrong() -> Count:
        return {"wrong": "shape"}  # type: ignore[typeddict-item]

    @server.tool
    def loop() -> list:
        x: list = []
        x.append(x)
        return x

    @server.tool
    def opaque_unsaid():
        return Handle()

    @server.tool
    def opaque_typed() -> dict[str, Any]:
        return {"ok": 1, "rows": [1, Handle()]}

    @server.tool
    def opaque_model() -> Loose:
        return Loose(name="n", extra=Handle())

    @server.tool
    def loop_typed() -> dict[str, Any]:
        x: dict[str, Any] = {}
        x["self"] = x
        return x

    @server.tool
    def loop_model() -> Loose:
        x = Loose(name="n")
        x.extra = x
        return x

    @server.tool
    def wrong_model() -> Loose:
        return "not a model"  # type: ignore[return-value]

    @server.tool
    def fine() -> str:
        return "still here"

    return server


BAD = [
    ("opaque", "Handle at $.handle"),
    ("opaque_unsaid", "Handle"),
    ("opaque_typed", "Handle at $.rows[1]"),
    ("opaque_model", "Handle at $.extra"),
    ("wrong", "'n'"),
    ("wrong_model", "must be object"),
    ("loop", "contains itself"),
    ("loop_typed", "contains itself"),
    ("loop_model", "contains itself"),
]


@pytest.mark.parametrize(("name", "kind"), BAD)
def test_O_RES_2_the_error_names_the_tool_and_the_kind_of_problem(name: str, kind: str) -> None:
    """A result that cannot be sent is flagged, and says which tool, what is wrong and where."""
    result = call(bad_results(), name)
    assert result.is_error
    assert f"'{name}'" in result.text
    assert kind in result.text


@pytest.mark.parametrize(("name", "kind"), BAD)
def test_O_RES_2_nothing_of_the_object_leaves(name: str, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """The client reads no repr, address or module; the server's log has the case under its reference."""
    result = call(bad_results(), name)
    sent = json.dumps(result.raw)
    assert not any(
        word in sent for word in (" object at ", "0x", __name__, "<", "wrong': 'shape", "not a model")
    )
    assert result.problem["reference"] in caplog.text
    assert f"'{name}'" in caplog.text


def test_O_RES_2_the_session_goes_on() -> None:
    """One client meets all of these faults and is still served."""

    async def meet(client: Any) -> list[bool]:
        answers = [await client.call_tool(name) for name, _ in BAD]
        answers.append(await client.call_tool("fine"))
        return [answer.is_error for answer in answers]

    assert talk(bad_results(), meet) == [True] * len(BAD) + [False]


# --- O-RES-3: NaN and infinity -------------------------------------------------------------------

STATISTICS = """
    from pydantic import BaseModel
    from typing import Any
    nan, inf = float("nan"), float("inf")

    class Stats(BaseModel):
        mean: float
        upper: float

    @server.tool
    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else nan

    @server.tool
    def stats() -> Stats:
        return Stats(mean=nan, upper=inf)

    @server.tool
    def upper() -> Stats:
        return Stats(mean=0.0, upper=inf)

    @server.tool
    def nested() -> dict:
        return {"rows": [[1.0, -inf]]}

    @server.tool
    def typed() -> dict[str, list[float]]:
        return {"rows": [1.0, nan]}

    @server.tool
    def anything() -> dict[str, Any]:
        return {"a": {"b": (1, inf)}}

    @server.tool
    def unsaid():
        return nan

    @server.tool
    def by_hand():
        return ToolResult(content=["x"], structured={"v": [nan]})

    @server.tool
    def in_a_block():
        return [Image(data=b"x"), {"v": nan}]

    @server.tool
    def models() -> dict:
        return {"s": Stats(mean=nan, upper=0)}

    @server.tool
    def words() -> dict:
        return {"NaN": "Infinity", "none": None}

    @server.resource("stats://now")
    def now():
        return {"v": [nan]}

    @server.prompt
    def ask():
        return {"v": [inf]}
"""


@pytest.fixture(scope="module")
def statistics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server process for all of O-RES-3; `read` fails on a line that is not strict JSON."""
    with started(tmp_path_factory.mktemp("statistics"), STATISTICS) as server:
        yield server.handshake()


@pytest.mark.parametrize(
    ("name", "arguments", "place"),
    [
        ("mean", {"values": []}, "$"),
        ("stats", {}, "$.mean"),
        ("upper", {}, "$.upper"),
        ("nested", {}, "$.rows[0][1]"),
        ("typed", {}, "$.rows[1]"),
        ("anything", {}, "$.a.b[1]"),
        ("unsaid", {}, "$"),
        ("by_hand", {}, "$.v[0]"),
        ("in_a_block", {}, "$.v"),
        ("models", {}, "$.s.mean"),
    ],
)
def test_O_RES_3_NaN_is_a_tool_error_that_says_where(
    statistics: Process, name: str, arguments: Any, place: str
) -> None:
    """The place is named, nothing else is sent, and the next request works."""
    result = statistics.ask(calling(2, name, **arguments))["result"]
    assert result["isError"]
    assert f" at {place} (" in result["content"][0]["text"]
    assert len(result["content"]) == 1
    assert "structuredContent" not in result or result["structuredContent"].keys() == {"error"}
    assert statistics.ask(calling(3, "mean", values=[1, 2]))["result"]["structuredContent"] == {"result": 1.5}


@pytest.mark.parametrize(
    ("method", "params"), [("resources/read", {"uri": "stats://now"}), ("prompts/get", {"name": "ask"})]
)
def test_O_RES_3_resources_and_prompts_refuse_it_too(statistics: Process, method: str, params: Any) -> None:
    """A resource or prompt with such a number is an error that says where."""
    error = statistics.ask(request(2, method, **params))["error"]
    assert " at $.v[0] (" in error["message"]


def test_O_RES_3_the_words_themselves_are_plain_text(statistics: Process) -> None:
    """Strings that read NaN, and real nulls, are sent as they are."""
    result = statistics.ask(calling(2, "words"))["result"]
    assert not result["isError"]
    assert strict(result["content"][0]["text"]) == {"NaN": "Infinity", "none": None}


# --- O-RES-4: generators -------------------------------------------------------------------------


async def chunks(n: int) -> AsyncIterator[str]:
    """Yield, asynchronously."""
    for i in range(n):
        yield f"part {i}"


def lines() -> Iterator[str]:
    """Yield."""
    yield "a"
    yield "b"


def hidden() -> Iterator[str]:
    """Return an iterator, and say so."""
    return iter("ab")


async def chunks_unsaid(n):
    """Yield, asynchronously, and say nothing."""
    yield f"part {n}"


def lines_as_text() -> str:  # type: ignore[misc]
    """Yield, and say something else."""
    yield "a"


async def chunks_as_list() -> list[str]:  # type: ignore[misc]
    """Yield, asynchronously, and say something else."""
    yield "a"


@pytest.mark.parametrize("function", [chunks, lines, hidden, chunks_unsaid, lines_as_text, chunks_as_list])
def test_O_RES_4_what_yields_is_refused_at_registration(function: Callable[..., Any]) -> None:
    """MCP has no streamed results, and the author hears of it before a client does."""
    server = MCPServer("t")
    with pytest.raises(RegistrationError, match=f"'{function.__name__}' .*no streamed results"):
        server.tool(function)


async def one() -> str:
    """Be a coroutine."""
    return "one"


STREAMS: list[Callable[[], Any]] = [
    lambda: (c for c in "ab"),
    lambda: itertools.count(),
    lambda: (n for n in itertools.count()),
    lambda: chunks(2),
    lambda: map(str, "ab"),
    lambda: {"rows": (c for c in "ab")},
    lambda: ["a", (c for c in "b")],
    lambda: ToolResult(structured=[(c for c in "ab")]),
]


@pytest.mark.parametrize("hint", [list[str], list, Any, dict[str, Any], inspect.Parameter.empty])
@pytest.mark.parametrize("make", STREAMS, ids=range(len(STREAMS)))
def test_O_RES_4_a_returned_iterator_is_a_tool_error(make: Callable[[], Any], hint: Any) -> None:
    """No repr of it is sent, nothing waits for its end, and the server goes on."""
    server = MCPServer("t")

    def declared_list():
        return make()

    if hint is not inspect.Parameter.empty:
        declared_list.__annotations__["return"] = hint
    server.tool(declared_list)
    result = call(server, "declared_list")
    assert result.is_error
    assert "'declared_list' returned " in result.text
    assert " at 0x" not in json.dumps(result.raw)


class Report(BaseModel):
    rows: Any


@dataclass
class Record:
    rows: Any


@pytest.mark.parametrize("hint", [Report, Record, dict, inspect.Parameter.empty])
@pytest.mark.parametrize("holder", [Report, Record])
def test_O_RES_4_a_generator_inside_a_value_is_not_read(holder: Callable[..., Any], hint: Any) -> None:
    """It might be endless, so nothing is taken from it: it is the same tool error, and is closed."""
    server, taken = MCPServer("t"), []

    def endless() -> Iterator[int]:
        for n in range(1000):  # enough to see that it is read, and not so many that the test hangs
            taken.append(n)
            yield n

    def report():
        return {"in": holder(rows=endless())} if hint is dict else holder(rows=endless())

    if hint is not inspect.Parameter.empty:
        report.__annotations__["return"] = hint
    server.tool(report)
    assert call(server, "report").is_error
    assert not taken


def test_O_RES_4_a_returned_coroutine_is_awaited() -> None:
    """A plain function that gives a coroutine gives its result."""
    server = MCPServer("t")

    @server.tool
    def later() -> Awaitable[str]:
        return one()

    assert call(server, "later").text == "one"


@pytest.mark.parametrize(
    "wrap", [lambda stream: stream, lambda stream: {"rows": stream}, lambda stream: [1, stream]]
)
def test_O_RES_4_a_generator_that_is_not_exhausted_is_closed(wrap: Callable[[Any], Any]) -> None:
    """Its `finally` has run by the time the client has the error."""
    server, closed = MCPServer("t"), []

    def rows() -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            closed.append(True)

    kept = []

    @server.tool
    def begun() -> list:
        kept.append(rows())
        next(kept[0])
        return wrap(kept[0])

    assert call(server, "begun").is_error
    assert closed


# --- O-RES-5: text and pictures in turn ----------------------------------------------------------

PICTURE = bytes.fromhex("89504e470d0a1a0a")


def albums() -> MCPServer:
    """The server of O-RES-5."""
    server = MCPServer("t")

    def turns() -> Any:
        return ["first", Image(data=PICTURE), "second", Image(data=PICTURE, mime_type="image/png")]

    @server.tool
    def album() -> list:
        return turns()

    @server.tool
    def album_typed() -> list[str | Image]:
        return turns()

    @server.tool
    def album_unsaid():
        return tuple(turns())

    @server.tool
    def rows() -> list[dict]:
        return [{"a": 1}, {"a": 2}]

    @server.tool
    def nothing() -> list:
        return []

    return server


@revisions
@pytest.mark.parametrize("name", ["album", "album_typed", "album_unsaid"])
def test_O_RES_5_blocks_keep_their_order(revision: str, name: str) -> None:
    """Four blocks, in the order in which they were returned, and no structured content."""
    result = call(albums(), name, protocol_version=revision)
    assert not result.is_error, result.text
    picture = {"type": "image", "data": base64.b64encode(PICTURE).decode(), "mimeType": "image/png"}
    captions = [{"type": "text", "text": text} for text in ("first", "second")]
    assert result.content == [captions[0], picture, captions[1], picture]
    assert result.structured is None
    assert tools(albums(), protocol_version=revision)[name].output_schema is None


@revisions
def test_O_RES_5_rows_are_in_both_channels_once(revision: str) -> None:
    """The structure holds both rows, and the text the same data."""
    server = albums()
    result = call(server, "rows", protocol_version=revision)
    structured = fits(server, "rows", result, protocol_version=revision)
    assert unwrapped(structured, revision) == [{"a": 1}, {"a": 2}]
    assert [strict(block["text"]) for block in result.content] == [[{"a": 1}, {"a": 2}]]


@revisions
def test_O_RES_5_an_empty_list_is_a_success(revision: str) -> None:
    """It reads as an empty list, not as an error."""
    result = call(albums(), "nothing", protocol_version=revision)
    assert not result.is_error
    assert [strict(block["text"]) for block in result.content] == [[]]


# --- O-RES-6: models that write another shape than they read -------------------------------------


class Temp(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    degrees: float = Field(validation_alias="in_c", serialization_alias="outC")
    stamp: Annotated[int, PlainSerializer(lambda v: f"#{v}", return_type=str)] = 1
    hidden: str = Field("s3cret", exclude=True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def fahrenheit(self) -> float:
        return self.degrees * 9 / 5 + 32


TEN = {"outC": 10.0, "stamp": "#1", "fahrenheit": 50.0}
ZERO = {"outC": 0.0, "stamp": "#1", "fahrenheit": 32.0}


def temperatures() -> MCPServer:
    """The server of O-RES-6."""
    server = MCPServer("t")

    @server.tool
    def one() -> Temp:
        return Temp(degrees=10)  # type: ignore[call-arg]

    @server.tool
    def some() -> dict[str, list[Temp]]:
        return {"a": [Temp(degrees=0)]}  # type: ignore[call-arg]

    @server.tool
    def by_hand(rename: str = "") -> Temp:
        structured = {f"{key}_" if key == rename else key: value for key, value in TEN.items()}
        return ToolResult(content=["10"], structured=structured)  # type: ignore[return-value]

    return server


@revisions
@pytest.mark.parametrize(("name", "value"), [("one", TEN), ("some", {"a": [ZERO]})])
def test_O_RES_6_the_schema_describes_what_is_written(revision: str, name: str, value: Any) -> None:
    """The structure is what the serialiser writes, fits the schema, and is the text's data too."""
    server = temperatures()
    result = call(server, name, protocol_version=revision)
    assert fits(server, name, result, protocol_version=revision) == value
    assert strict(result.text) == value
    listed = tools(server, protocol_version=revision)[name]
    assert not any(word in str([result.raw, listed]) for word in ("s3cret", "hidden", "in_c", "degrees"))


@revisions
def test_O_RES_6_a_result_by_hand_is_checked(revision: str) -> None:
    """It passes as it should be, and is refused with any of its keys renamed."""
    server = temperatures()
    result = call(server, "by_hand", protocol_version=revision)
    assert fits(server, "by_hand", result, protocol_version=revision) == TEN
    assert result.text == "10"
    for key in TEN:
        refusal = call(server, "by_hand", {"rename": key}, protocol_version=revision)
        assert refusal.is_error
        assert f"'{key}'" in refusal.text
