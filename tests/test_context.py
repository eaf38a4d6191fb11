"""What `typegate.server.context` promises: who calls, and words on the way to those who want them."""

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, get_args

import pytest

from typegate import Context, MCPServer, Principal, RequestFailed
from typegate.transports.memory import Client
from typegate.types import Implementation, LogLevel
from typegate.versions import LEGACY, VERSIONS

LEVELS = get_args(LogLevel)
NEWEST = "2026-07-28"
LEVEL_KEY = "io.modelcontextprotocol/logLevel"
READER = Principal(subject="r", scopes=frozenset({"read"}))

Params = dict[str, Any]

every_revision = pytest.mark.parametrize("revision", VERSIONS)


@contextlib.asynccontextmanager
async def lifespan(server: MCPServer) -> AsyncIterator[dict[str, int]]:
    """Something for the tools to share."""
    yield {"opened": 1}


server = MCPServer("t", lifespan=lifespan)


@server.tool
def facts(ctx: Context) -> dict[str, Any]:
    """All that a plain function can see."""
    return {
        "id": ctx.request_id,
        "subject": ctx.principal.subject if ctx.principal else None,
        "client": ctx.client.name if ctx.client else None,
        "version": ctx.protocol_version,
        "cancelled": ctx.cancelled,
        "lifespan": ctx.lifespan,
    }


@server.tool
async def report(steps: list[float | str], ctx: Context) -> None:
    """Report these steps; a word stands for the number that JSON does not have."""
    for step in steps:
        ctx.progress(float(step))


@server.tool
def report_in_full(ctx: Context) -> None:
    """Report with all there is, from a thread."""
    ctx.progress(1)
    ctx.progress(2, total=3)
    ctx.progress(3, total=3, message="done")


@server.tool
async def shout(ctx: Context) -> None:
    """Say something at every level."""
    for level in LEVELS:
        ctx.log(level, level)


@server.tool
def say(ctx: Context) -> None:
    """Say all kinds of things, from a thread."""
    ctx.debug("unheard")
    ctx.info({"a": [1, None]})
    ctx.warning(None)
    ctx.error("e")
    ctx.log("alert", 5, logger="me")


@server.tool
async def wait_while_speaking(ctx: Context) -> str:
    """Await every word."""
    await ctx.progress(1)
    await ctx.info("i")
    return "said"


def talk(question: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """What a client finds out."""

    async def main() -> Any:
        async with server.client(**options) as client:
            return await question(client)

    return asyncio.run(main())


def told(
    method: str, name: str, arguments: Params | None = None, meta: Params | None = None, **options: Any
) -> Any:
    """The params of the notifications that come with a call, all of them before its answer."""

    async def ask(client: Client) -> list[Params]:
        params = {"name": name, "arguments": arguments or {}, "_meta": meta or {}}
        answer = await client.request("tools/call", params)
        assert not answer.get("isError"), answer
        at_once = list(client.notifications)
        await client.call_tool("facts")
        assert client.notifications == at_once
        return [found for each, found in at_once if each == f"notifications/{method}"]

    return talk(ask, **options)


# --- who and what --------------------------------------------------------------------------------


@every_revision
def test_a_function_sees_who_calls_and_how(revision: str) -> None:
    """The same facts at every revision, and nobody in particular where nobody is known."""

    async def ask(client: Client) -> Any:
        return [(await client.call_tool("facts")).text for _ in range(2)]

    first, second = map(shown, talk(ask, protocol_version=revision, principal=READER))
    assert second.pop("id") == first.pop("id") + 1
    expected = {"subject": "r", "client": "typegate-memory", "version": revision, "cancelled": False}
    assert first == second == {**expected, "lifespan": {"opened": 1}}
    assert shown(talk(ask, protocol_version=revision)[0])["subject"] is None


def shown(text: str) -> Params:
    """A text block as the value that it shows."""
    found: Params = json.loads(text)
    return found


def test_what_a_client_calls_itself_is_an_implementation() -> None:
    """With all that it says of itself."""
    seen: list[Any] = []
    other = MCPServer("o")

    @other.tool
    def see(ctx: Context) -> None:
        seen.append(ctx.client)

    async def main() -> None:
        info = {"name": "n", "version": "2", "title": "T"}
        async with other.client() as client:
            meta = {"io.modelcontextprotocol/clientInfo": info}
            await client.request("tools/call", {"name": "see", "_meta": meta})

    asyncio.run(main())
    assert seen == [Implementation(name="n", version="2", title="T")]


# --- progress ------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("token", [0, 1, -5, "", "p", "1"])
def test_progress_goes_under_the_token_of_the_request(token: Any, revision: str) -> None:
    """With its type, however empty it is."""
    found = told("progress", "report", {"steps": [1]}, {"progressToken": token}, protocol_version=revision)
    assert found == [{"progressToken": token, "progress": 1}]
    assert type(found[0]["progressToken"]) is type(token)


@every_revision
@pytest.mark.parametrize("meta", [{}, *({"progressToken": token} for token in (True, None, 1.5, [1], {}))])
def test_without_a_token_there_is_no_progress(meta: Params, revision: str) -> None:
    """A string or an integer is one, and nothing else."""
    assert told("progress", "report", {"steps": [1, 2]}, meta, protocol_version=revision) == []


STEPS: list[tuple[list[Any], list[float]]] = [
    ([1, 2, 3], [1, 2, 3]),
    ([1, 1, 2, 1.5, 2, 3], [1, 2, 3]),
    ([0, 0.1, 0.05], [0, 0.1]),
    ([-3, -2, -3], [-3, -2]),
    ([], []),
    (["nan", 1, "nan", 2], [1, 2]),
    ([1, "inf", 2, "-inf"], [1, 2]),
    (["-inf", 1], [1]),
]


@pytest.mark.parametrize(("steps", "expected"), STEPS)
def test_progress_grows_and_is_a_number(steps: list[Any], expected: list[float]) -> None:
    """A report that does not grow is dropped, and so is one that is no number at all."""
    found = told("progress", "report", {"steps": steps}, {"progressToken": 1})
    assert [params["progress"] for params in found] == expected
    assert all(math.isfinite(params["progress"]) for params in found)


@every_revision
def test_progress_says_how_much_there_is_and_what_happens(revision: str) -> None:
    """The text came with 2025-03-26; what was not given is left out."""
    found = told("progress", "report_in_full", meta={"progressToken": 1}, protocol_version=revision)
    text = {"message": "done"} if revision != "2024-11-05" else {}
    assert found == [
        {"progressToken": 1, "progress": 1},
        {"progressToken": 1, "progress": 2, "total": 3},
        {"progressToken": 1, "progress": 3, "total": 3, **text},
    ]


def test_each_call_counts_for_itself() -> None:
    """What one of them has reported holds nobody else back."""

    async def ask(client: Client) -> Any:
        for token in (1, 2):
            params = {"name": "report", "arguments": {"steps": [5]}, "_meta": {"progressToken": token}}
            await client.request("tools/call", params)
        return [params["progressToken"] for _, params in client.notifications]

    assert talk(ask) == [1, 2]


# --- log messages --------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("wanted", LEVELS)
def test_a_client_hears_the_levels_that_it_wants(wanted: LogLevel, revision: str) -> None:
    """That one and the graver ones: settled for the session, or said with each request."""
    found = told("message", "shout", protocol_version=revision, log_level=wanted)
    assert [params["level"] for params in found] == list(LEVELS[LEVELS.index(wanted) :])
    assert all(params == {"level": params["level"], "data": params["level"]} for params in found)


def test_a_stateless_request_hears_nothing_that_it_did_not_ask_for() -> None:
    """Not even an emergency."""
    assert told("message", "shout") == []


@pytest.mark.parametrize("revision", LEGACY)
def test_a_session_hears_information_and_graver_where_it_settled_nothing(revision: str) -> None:
    """The server chooses."""
    found = told("message", "shout", protocol_version=revision)
    assert [params["level"] for params in found] == list(LEVELS[LEVELS.index("info") :])


@pytest.mark.parametrize("revision", LEGACY)
def test_a_session_does_not_listen_to_the_level_of_a_request(revision: str) -> None:
    """The key in `_meta` is a word of the newest revision."""
    assert len(told("message", "shout", meta={LEVEL_KEY: "emergency"}, protocol_version=revision)) == 7


def test_the_level_of_a_request_is_its_own() -> None:
    """Another request on the same stream has another one, or none."""

    async def ask(client: Client) -> Any:
        counts = []
        for meta in ({LEVEL_KEY: "alert"}, {}, {LEVEL_KEY: "debug"}):
            await client.request("tools/call", {"name": "shout", "_meta": meta})
            counts.append(len(client.notifications))
        return counts

    assert talk(ask) == [2, 2, 10]


@pytest.mark.parametrize(
    "level", ["loud", "WARNING", "", 3, None, True, ["info"], {"level": "info"}], ids=repr
)
def test_a_level_that_does_not_exist_is_refused(level: Any) -> None:
    """A request that wants one has invalid params."""

    async def ask(client: Client) -> Any:
        with pytest.raises(RequestFailed) as caught:
            await client.request("tools/call", {"name": "shout", "_meta": {LEVEL_KEY: level}})
        return caught.value.code, client.notifications

    assert talk(ask) == (-32602, [])


@every_revision
def test_a_log_message_holds_any_JSON(revision: str) -> None:
    """And the name of its source, where one was given."""
    found = told("message", "say", protocol_version=revision, log_level="info")
    assert found == [
        {"level": "info", "data": {"a": [1, None]}},
        {"level": "warning", "data": None},
        {"level": "error", "data": "e"},
        {"level": "alert", "data": 5, "logger": "me"},
    ]


@every_revision
def test_words_may_be_awaited(revision: str) -> None:
    """Which takes no longer where the client keeps up."""
    method = "message" if revision != NEWEST else "progress"
    found = told(method, "wait_while_speaking", meta={"progressToken": 1}, protocol_version=revision)
    assert len(found) == 1
