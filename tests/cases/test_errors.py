"""Cases O-ERR: what a failure tells the client, and what it keeps to itself."""

import json
import logging
import re
import textwrap
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from typegate import Context, InvalidArguments, MCPServer, ToolError
from typegate.guards.calls import Call, Handler
from typegate.transports.memory import CallResult, Client
from typegate.types import Result

from .inside import REVISIONS, call, duration, refused, talk
from .process import Message, Process, Serve, request, started

revisions = pytest.mark.parametrize("revision", REVISIONS)


# --- O-ERR-1: the text of any exception goes to the client ---------------------------------------

SECRETS = ("hunter2", "db.internal", "postgresql", "tenant-4711", "/srv/secret", "keys.json", "Errno")


def reports() -> MCPServer:
    """The server of O-ERR-1."""
    server = MCPServer("t")

    @server.tool
    def report(ctx: Context) -> str:
        ctx.debug("about to fail")
        raise RuntimeError("cannot reach postgresql://svc:hunter2@db.internal:5432/hr")

    @server.tool
    def grouped() -> str:
        raise ExceptionGroup("hunter2", [ValueError("db.internal")])

    @server.tool
    def leaving() -> str:
        raise SystemExit("hunter2")

    @server.tool
    def polite() -> str:
        raise ToolError("The report is not ready; try again after 06:00.")

    @server.tool
    def chained() -> str:
        try:
            open("/srv/secret/keys.json")  # noqa: PTH123, SIM115
        except OSError as exc:
            raise ToolError("No key file.") from exc
        return "unreachable"

    @server.resource("report://today")
    def today() -> str:
        raise KeyError("tenant-4711")

    @server.prompt
    def summary() -> str:
        raise KeyError("tenant-4711")

    return server


@revisions
@pytest.mark.parametrize("name", ["report", "grouped", "leaving"])
def test_O_ERR_1_an_exception_is_masked(revision: str, name: str) -> None:
    """The model reads which tool failed, and nothing of the exception's text, not in a log message either."""

    async def meet(client: Client) -> tuple[CallResult, str]:
        result = await client.call_tool(name)
        return result, json.dumps([client.notifications, result.raw])

    result, told = talk(reports(), meet, protocol_version=revision, log_level="debug")
    assert result.is_error
    assert ("about to fail" in told) == (name == "report")
    assert f"'{name}' failed" in result.text
    assert not any(secret in told for secret in SECRETS)


@revisions
@pytest.mark.parametrize(
    ("name", "sentence"),
    [("polite", "The report is not ready; try again after 06:00."), ("chained", "No key file.")],
)
def test_O_ERR_1_the_words_of_a_tool_error_arrive_as_they_are(
    revision: str, name: str, sentence: str
) -> None:
    """Exactly the author's sentence is sent; the cause adds nothing."""
    result = call(reports(), name, protocol_version=revision)
    assert result.is_error
    assert result.text == sentence
    assert not any(secret in json.dumps(result.raw) for secret in SECRETS)


@revisions
@pytest.mark.parametrize(
    ("method", "params"),
    [("resources/read", {"uri": "report://today"}), ("prompts/get", {"name": "summary"})],
)
def test_O_ERR_1_resources_and_prompts_are_masked_too(revision: str, method: str, params: Any) -> None:
    """The JSON-RPC error does not hold the exception's text."""
    error = refused(reports(), method, params, protocol_version=revision)
    assert error.code == -32603
    assert not any(secret in json.dumps([error.message, error.data]) for secret in SECRETS)


def test_O_ERR_1_the_log_has_the_traceback_under_the_reference(caplog: pytest.LogCaptureFixture) -> None:
    """What the client reads is enough to find the whole story in the server's log."""
    result = call(reports(), "report")
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert result.problem["reference"] in result.text
    assert result.problem["reference"] in record.getMessage()
    assert record.exc_info
    assert "hunter2" in caplog.text
    assert "raise RuntimeError(" in caplog.text


def test_O_ERR_1_a_server_process_masks_its_output_and_logs_to_stderr(serve: Serve) -> None:
    """With no logging set up, stdout has none of it and stderr all of it, under one reference."""
    server = serve("""
        @server.tool
        def report() -> str:
            raise RuntimeError("cannot reach postgresql://svc:hunter2@db.internal:5432/hr")
    """).handshake()
    text = server.ask(request(2, "tools/call", name="report"))["result"]["content"][0]["text"]
    assert server.end() == 0
    assert not any(secret.encode() in line for line in server.received for secret in SECRETS)
    (reference,) = re.findall(r"reference (\w+)", text)
    assert reference in server.stderr
    assert "hunter2" in server.stderr


RAISING = """
    class Mute(ToolError):
        def __str__(self):
            raise ValueError("hunter2")

    class Base(BaseException):
        pass

    odd = Rejected("CODE", "words")
    odd.code = odd.message = odd.hint = object()
    odd.issues = (object(),)

    errors = {
        "words with half a surrogate pair": ToolError("no \\udce9"),
        "words that are no string": ToolError(object()),
        "an error without words": Mute(),
        "a refusal with half a surrogate pair": Rejected("CODE", "no \\udce9"),
        "a refusal with odd parts": odd,
        "no Exception": Base("hunter2"),
        "a group of those": BaseExceptionGroup("hunter2", [Base()]),
        "what ends a generator": GeneratorExit("hunter2"),
        "what ends an iterator": StopIteration("hunter2"),
        "what ends a process": SystemExit("hunter2"),
        "a cancellation": asyncio.CancelledError("hunter2"),
        "no memory": MemoryError("hunter2"),
    }

    @server.tool
    def plain(kind: str):
        raise errors[kind]

    @server.tool
    async def coroutine(kind: str):
        raise errors[kind]

    @server.tool
    def typed(kind: str) -> dict[str, int]:
        raise errors[kind]
"""
KINDS = [line.split('"')[1] for line in RAISING.splitlines() if '": ' in line]


@pytest.mark.parametrize("name", ["plain", "coroutine", "typed"])
def test_O_ERR_1_whatever_is_raised_is_answered(serve: Serve, name: str) -> None:
    """No exception, however odd, leaves its request without an answer, and none of its text gets out."""
    server = serve("import asyncio\n" + textwrap.dedent(RAISING)).handshake()
    server.send(*(request(kind, "tools/call", name=name, arguments={"kind": kind}) for kind in KINDS))
    assert server.end() == 0
    flagged = [message["id"] for message in server.messages if message.get("result", {}).get("isError")]
    assert [kind for kind in KINDS if kind not in flagged] == []
    assert len(server.messages) == len(KINDS)
    assert "hunter2" not in str(server.messages)


# --- O-ERR-2: validation messages, all shown or all hidden ---------------------------------------


class Upstream(BaseModel):
    quota: int


def fetches() -> MCPServer:
    """The server of O-ERR-2."""
    server = MCPServer("t")

    @server.tool
    def fetch(user_id: Annotated[int, Field(ge=1)], tags: list[str] | None = None) -> str:
        Upstream.model_validate({"quota": "sk-live-51-secret"})  # the backend sent rubbish
        return "ok"

    return server


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"user_id": 0}, ["'user_id' must be greater than or equal to 1"]),
        (
            {"user_id": "abc", "tags": ["a", 3]},
            ["'user_id' must be integer, got string", "'tags[1]' must be string, got integer"],
        ),
    ],
)
def test_O_ERR_2_bad_arguments_are_listed_by_path_and_rule(arguments: Any, wanted: list[str]) -> None:
    """The model reads every path and rule; no link, no class name, and not the value it sent."""
    result = call(fetches(), "fetch", arguments)
    assert result.is_error
    assert all(said in result.text for said in wanted)
    assert result.problem["code"] == "invalid_arguments"
    assert len(result.problem["issues"]) == len(wanted)
    told = json.dumps(result.raw)
    assert not re.search(r"https?://|pydantic|[A-Z]\w+Error|class|\bint\b|\bstr\b|_type|_parsing|abc", told)


def test_O_ERR_2_a_model_that_fails_in_the_body_is_an_internal_error() -> None:
    """The backend's data is no argument of the client's, and is not shown to it."""
    result = call(fetches(), "fetch", {"user_id": 5})
    assert result.is_error
    assert result.problem["code"] == "tool_failed"
    assert not result.problem["issues"]
    assert not any(
        word in json.dumps(result.raw) for word in ("sk-live", "quota", "Upstream", "pydantic.dev")
    )


def test_O_ERR_2_the_log_tells_them_apart(caplog: pytest.LogCaptureFixture) -> None:
    """A tool's fault is an error with its traceback; a client's is no error of the server."""
    server = fetches()
    caplog.set_level(logging.DEBUG)
    call(server, "fetch", {"user_id": "abc"})
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "abc" not in caplog.text
    call(server, "fetch", {"user_id": 5})
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.exc_info
    assert "Upstream" in caplog.text


def test_O_ERR_2_a_guard_tells_them_apart() -> None:
    """What stands around a call sees `InvalidArguments` for the one, the exception itself for the other."""
    server, seen = fetches(), []

    async def watch(call: Call, handler: Handler) -> Result:
        try:
            return await handler(call)
        except Exception as error:
            seen.append(type(error))
            raise

    server._guards = (watch,)
    for user_id in (0, 5):
        call(server, "fetch", {"user_id": user_id})
    assert seen[0] is InvalidArguments
    assert seen[1].__name__ == "ValidationError"


# --- O-ERR-3: an unknown tool is answered as if it had run ---------------------------------------

KNOWN = """
    @server.tool
    def known(x: int) -> int:
        return x
"""
MORE = """
    @server.resource("known://x")
    def resource() -> str:
        return ""

    @server.prompt
    def prompt() -> str:
        return ""
"""
MISSES = [
    request(2, "tools/call", name="no_such_tool", arguments={}),
    request(3, "tools/call", name="known", arguments={"x": "seven"}),
    request(4, "prompts/get", name="no_such_prompt"),
    request(5, "resources/read", uri="none://x"),
    request(6, "tools/call", arguments={}),
]


def missed(server: Process) -> dict[int, Message]:
    """The answers to the case's requests, by id."""
    return {message["id"]: server.ask(message) for message in MISSES}


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_O_ERR_3_what_does_not_exist_is_a_protocol_error(serve: Serve, revision: str) -> None:
    """Unknown tools and prompts are -32602, an unknown resource -32002; bad arguments are a tool error."""
    answers = missed(serve(KNOWN + MORE).handshake(revision))
    codes = {number: answer["error"]["code"] for number, answer in answers.items() if "error" in answer}
    assert codes == {2: -32602, 4: -32602, 5: -32002, 6: -32602}
    assert "no_such_tool" in answers[2]["error"]["message"]
    assert answers[3]["result"]["isError"]


def test_O_ERR_3_a_server_of_tools_alone_answers_alike(serve: Serve) -> None:
    """The case's own server: without prompts -32601 will do; the resource is not found all the same."""
    answers = missed(serve(KNOWN).handshake())
    assert answers[4]["error"]["code"] in (-32602, -32601)
    assert answers[5]["error"]["code"] == -32002


def test_O_ERR_3_the_newest_revision_has_one_code() -> None:
    """Since 2026-07-28 an unknown resource is -32602 like the others."""
    server = MCPServer("t")
    server.tool(name="known")(lambda x: x)
    server.resource("known://x", name="known")(lambda: "")
    server.prompt(name="known")(lambda: "")
    for message in (MISSES[0], *MISSES[2:]):
        assert refused(server, message["method"], message["params"]).code == -32602


# --- O-ERR-4: a deeply nested request ------------------------------------------------------------

NESTING = """
    from typing import Any
    from pydantic import BaseModel

    class Node(BaseModel):
        v: int = 0
        next: "Node | None" = None

    @server.tool
    def free(x: dict) -> str:
        return f"ok {len(repr(x))}"

    @server.tool
    def anything(x) -> str:
        return f"ok {len(repr(x))}"

    @server.tool
    def typed(n: Node) -> str:
        return "ok"

    def tower(depth: int) -> Any:
        x: Any = 1
        for _ in range(depth):
            x = {"a": x}
        return x

    @server.tool
    def deep(depth: int) -> dict:
        return tower(depth)

    @server.tool
    def deep_list(depth: int):
        return [tower(depth)]

    @server.tool
    def deep_typed(depth: int) -> dict[str, Any]:
        return tower(depth)

    @server.tool
    def deep_model(depth: int) -> Node:
        node = Node()
        for _ in range(depth):
            node = Node(next=node)
        return node
"""

LEVELS = 64  # the documented limit, for a whole message
ENVELOPE = 3  # levels of a call around its arguments' values
DEPTHS = (50, 61, 62, 120, 126, 200, 300, 1_000, 100_000)
FORMS = {
    "object": ("tools/call", '"name":"free","arguments":{"x":%s}', ['{"a":']),
    "array": ("tools/call", '"name":"anything","arguments":{"x":%s}', ["["]),
    "both": ("tools/call", '"name":"anything","arguments":{"x":%s}', ["[", '{"a":']),
    "array for an object": ("tools/call", '"name":"free","arguments":{"x":%s}', ["["]),
    "model": ("tools/call", '"name":"typed","arguments":{"n":%s}', ['{"next":']),
    "ping": ("ping", '"_meta":%s', ['{"a":']),
}


def nested(form: str, depth: int, first: str = '"id":8,', last: str = "") -> bytes:
    """A request with a value that is *depth* levels deep."""
    method, params, openings = FORMS[form]
    levels = [openings[level % len(openings)] for level in range(depth)]
    value = "".join(levels) + "1" + "".join("]" if level == "[" else "}" for level in reversed(levels))
    params = params.replace("%s", value)
    return f'{{"jsonrpc":"2.0",{first}"method":"{method}","params":{{{params}}}{last}}}\n'.encode()


@pytest.fixture(scope="module")
def nesting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server process for all of O-ERR-4: nothing may end its session."""
    with started(tmp_path_factory.mktemp("nesting"), NESTING) as server:
        yield server.handshake("2025-06-18")


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("form", FORMS)
def test_O_ERR_4_every_depth_has_exactly_one_answer(nesting: Process, form: str, depth: int) -> None:
    """Up to the limit the request is served, above it -32600 names its id; the ping is answered too."""
    nesting.send(nested(form, depth), request(99, "ping"))
    answers = [nesting.read(), nesting.read()]
    nesting.ask(request(100, "ping"))
    assert sorted(answer["id"] for answer in answers) == [8, 99]
    assert nesting.messages[-3:-1] == answers
    code = next(answer for answer in answers if answer["id"] == 8).get("error", {}).get("code")
    envelope = ENVELOPE - (form == "ping")
    assert code == (None if depth + envelope <= LEVELS else -32600)


@pytest.mark.parametrize("form", ["object", "array", "both"])
def test_O_ERR_4_what_is_within_the_limit_reaches_the_function(nesting: Process, form: str) -> None:
    """A value of 50 levels is delivered and can be walked over."""
    nesting.send(nested(form, 50))
    assert nesting.answer(8)["result"]["content"][0]["text"].startswith("ok ")


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ("", ',"id":8', 8),
        ("", ',"id":"eight"', "eight"),
        ("", ',"id":{"deep":1}', None),
        ("", ',"id":1.5', None),
        ('"params ] }":"\\"id\\":7,{[",', ',"id":8', 8),
    ],
)
def test_O_ERR_4_the_id_is_read_wherever_it_stands(
    nesting: Process, first: str, last: str, found: Any
) -> None:
    """The id of a request that is too deep is found behind the value; one that is no id is null."""
    nesting.send(nested("object", 1_000, first, last))
    answer = nesting.read()
    assert (answer["id"], answer["error"]["code"]) == (found, -32600)


def test_O_ERR_4_the_cost_grows_with_the_length() -> None:
    """Sixteen times the depth takes sixteen times as long, not 256."""
    lines = [nested("object", depth) for depth in (5_000, 80_000)]

    async def times(client: Client) -> list[float]:
        return [duration(lambda line=line: client.send(line)) for line in lines]

    short, long = talk(MCPServer("t"), times)
    assert long < 100 * short


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("deep", 100_000),
        ("deep_list", 100_000),
        ("deep_typed", 100_000),
        ("deep_model", 300),
        ("deep_model", 100_000),
    ],
)
def test_O_ERR_4_a_result_that_is_too_deep_is_a_tool_error(nesting: Process, name: str, depth: int) -> None:
    """It says so, and the next request is served."""
    result = nesting.ask(request(2, "tools/call", name=name, arguments={"depth": depth}))["result"]
    assert result["isError"]
    assert "nested too deeply" in result["content"][0]["text"]
    assert nesting.ask(request(3, "ping"))["result"] == {}


@pytest.mark.parametrize("name", ["deep", "deep_list", "deep_typed"])
def test_O_ERR_4_a_result_may_be_as_deep_as_a_message(nesting: Process, name: str) -> None:
    """What could be sent in can be sent back."""
    assert not nesting.ask(request(2, "tools/call", name=name, arguments={"depth": 60}))["result"]["isError"]
