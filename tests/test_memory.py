"""What `typegate.transports.memory` promises: a client in the same process, with the real messages."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from typegate import (
    ConfigurationError,
    Context,
    EmbeddedResource,
    Image,
    MCPServer,
    Principal,
    RequestFailed,
    Text,
    ToolError,
    ToolResult,
)
from typegate.transports.memory import Client
from typegate.versions import LEGACY, VERSIONS

NEWEST = "2026-07-28"
PATIENCE = 5.0  # seconds until something that never happens is given up

every_revision = pytest.mark.parametrize("revision", VERSIONS)

events: list[str] = []


@pytest.fixture(autouse=True)
def _no_events() -> None:
    """Nothing has happened yet."""
    events.clear()


@contextlib.asynccontextmanager
async def lifespan(server: MCPServer) -> AsyncIterator[str]:
    """Say when it is opened and closed."""
    events.append("opened")
    try:
        yield "state"
    finally:
        events.append("closed")


server = MCPServer("t", lifespan=lifespan, page_size=2)


@server.tool
def add(a: int, b: int) -> int:
    """Structured content and text."""
    return a + b


@server.tool
async def parts() -> ToolResult:
    """Blocks of several kinds."""
    return ToolResult(["one", Image(data=b"x"), Text("two"), EmbeddedResource(uri="r://1", text="three")])


@server.tool
async def fail() -> None:
    """Fail with words."""
    raise ToolError("no")


@server.tool
async def report(ctx: Context, steps: int) -> str:
    """Report progress and log."""
    for step in range(steps):
        ctx.progress(step, steps)
        ctx.warning(step)
        await asyncio.sleep(0)
    return str(ctx.principal.subject if ctx.principal else None)


@server.tool
async def wait() -> None:
    """Wait for ever, and say what happens."""
    events.append("waiting")
    try:
        await asyncio.sleep(3600)
    finally:
        events.append("over")


@server.resource("r://one")
def one() -> str:
    """Text."""
    return "1"


@server.resource("r://bytes")
def two() -> bytes:
    """Bytes."""
    return b"2"


for number in range(3):
    server.resource(f"more://{number}", name=f"more{number}")(lambda: "")
    server.resource(f"more{number}://{{x}}", name=f"family{number}")(lambda x: x)
    server.prompt(name=f"more{number}")(lambda: "")


@server.prompt
def talk_about(topic: str = "it") -> Any:
    """Two texts and a picture."""
    return [f"Talk about {topic}.", Image(data=b"x"), "Please."]


@server.completion("talk_about", "topic")
def topics(value: str, others: dict[str, str]) -> list[str]:
    """Suggestions that depend on the other arguments."""
    return [value, *others]


def run(question: Callable[[Client], Awaitable[Any]], revision: str = NEWEST, **options: Any) -> Any:
    """What a client finds out."""

    async def main() -> Any:
        async with server.client(protocol_version=revision, **options) as client:
            return await asyncio.wait_for(question(client), PATIENCE)

    return asyncio.run(main())


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something to happen."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  (nobody is told)
            await asyncio.sleep(0.001)


# --- what a client does --------------------------------------------------------------------------


@every_revision
def test_a_tool_is_called(revision: str) -> None:
    """What it answers has its text, its value for programs and whether it failed."""
    result = run(lambda client: client.call_tool("add", {"a": 1, "b": 2}), revision)
    assert (result.text, result.is_error, result.problem) == ("3", False, None)
    values = {NEWEST: 3, "2025-11-25": {"result": 3}, "2025-06-18": {"result": 3}}
    assert result.structured == values.get(revision)
    assert result.content == result.raw["content"] == [{"type": "text", "text": "3"}]
    assert repr(result).startswith("CallResult({'content'")


@every_revision
def test_a_failure_is_a_result_too(revision: str) -> None:
    """With the words of the author, and the problem for programs."""
    result = run(lambda client: client.call_tool("fail"), revision)
    assert (result.text, result.is_error) == ("no", True)
    assert result.problem["message"] == "no"


@every_revision
def test_the_text_of_a_result_is_that_of_its_text_blocks(revision: str) -> None:
    """One a line; pictures and files have none."""
    result = run(lambda client: client.call_tool("parts"), revision)
    assert result.text == "one\ntwo"
    assert [block["type"] for block in result.content] == ["text", "image", "text", "resource"]


@every_revision
def test_listings_are_whole(revision: str) -> None:
    """Whatever the size of their pages."""

    async def names(client: Client) -> list[list[str]]:
        listings = [
            client.list_tools,
            client.list_resources,
            client.list_resource_templates,
            client.list_prompts,
        ]
        return [[item.name for item in await listing()] for listing in listings]

    assert run(names, revision) == [
        ["add", "parts", "fail", "report", "wait"],
        ["one", "two", "more0", "more1", "more2"],
        ["family0", "family1", "family2"],
        ["more0", "more1", "more2", "talk_about"],
    ]


@every_revision
def test_resources_are_read_and_prompts_filled_in(revision: str) -> None:
    """Their text is that of the parts that have one."""

    async def ask(client: Client) -> Any:
        read = [await client.read_resource(uri) for uri in ("r://one", "r://bytes")]
        filled = [await client.get_prompt("talk_about", given) for given in (None, {"topic": "x"})]
        return read, filled

    (text, data), (bare, given) = run(ask, revision)
    assert (text.text, data.text, data.contents[0]["blob"]) == ("1", "", "Mg==")
    assert (bare.text, given.text) == ("Talk about it.\nPlease.", "Talk about x.\nPlease.")
    assert len(given.messages) == len(given.raw["messages"]) == 3


@every_revision
def test_suggestions_are_asked_for(revision: str) -> None:
    """With the other arguments or without."""
    ref = {"type": "ref/prompt", "name": "talk_about"}

    async def ask(client: Client) -> Any:
        return await client.complete(ref, "topic", "v"), await client.complete(ref, "topic", "v", {"a": "1"})

    assert run(ask, revision) == (["v"], ["v", "a"])


@every_revision
def test_an_error_is_raised(revision: str) -> None:
    """With its code, its text and its data."""

    async def ask(client: Client) -> RequestFailed:
        with pytest.raises(RequestFailed, match=r"Resource not found: x: \(-32") as caught:
            await client.read_resource("x:")
        return caught.value

    error = run(ask, revision)
    assert (error.code, error.data["uri"]) == (-32602 if revision == NEWEST else -32002, "x:")
    assert error.message == "Resource not found: x:"


# --- what comes before the answer ----------------------------------------------------------------


@every_revision
def test_progress_is_heard_by_the_one_who_called(revision: str) -> None:
    """Calls that run at once do not hear one another."""

    async def ask(client: Client) -> Any:
        heard: dict[int, list[Any]] = {2: [], 3: []}
        await asyncio.gather(
            *(
                client.call_tool("report", {"steps": steps}, on_progress=heard[steps].append)
                for steps in heard
            )
        )
        return [[(params["progress"], params["total"]) for params in each] for each in heard.values()]

    assert run(ask, revision) == [[(0, 2), (1, 2)], [(0, 3), (1, 3), (2, 3)]]


@every_revision
@pytest.mark.parametrize(("level", "count"), [("debug", 2), ("warning", 2), ("error", 0)])
def test_log_messages_come_from_the_wanted_level_on(level: Any, count: int, revision: str) -> None:
    """All notifications are kept in order."""

    async def ask(client: Client) -> Any:
        await client.call_tool("report", {"steps": 2})
        return client.notifications

    expected = [("notifications/message", {"level": "warning", "data": step}) for step in range(count)]
    assert run(ask, revision, log_level=level) == expected


@every_revision
def test_a_level_is_no_trouble_where_nothing_is_logged(revision: str) -> None:
    """A server without anything that logs does not know the method."""
    other = MCPServer("o")
    other.tool(name="x")(lambda: "")

    async def main() -> str:
        async with other.client(protocol_version=revision, log_level="debug") as client:
            return (await client.call_tool("x")).text

    assert asyncio.run(main()) == ""


@every_revision
def test_a_client_calls_as_somebody(revision: str) -> None:
    """Or as nobody in particular."""

    async def ask(client: Client) -> str:
        return (await client.call_tool("report", {"steps": 0})).text

    assert run(ask, revision, principal=Principal(subject="me")) == "me"
    assert run(ask, revision) == "None"


# --- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", LEGACY)
def test_a_client_opens_a_session(revision: str) -> None:
    """And says that it is ready."""

    async def ask(client: Client) -> Any:
        session = client._runner.session
        assert session is not None
        assert await client.request("ping") == {}
        return session.ready, session.peer.version.name

    assert run(ask, revision) == (True, revision)


def test_a_stateless_client_opens_none() -> None:
    """It says with each request what it is."""
    assert run(lambda client: client.request("server/discover"))["supportedVersions"] == [NEWEST]


@every_revision
def test_a_result_is_given_as_it_travelled(revision: str) -> None:
    """With all its members, and `_meta` that was given goes along."""

    async def ask(client: Client) -> Any:
        return await client.request(
            "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}, "_meta": {"x": 1}}
        )

    result = run(ask, revision)
    assert result["isError"] is False
    assert ("resultType" in result) == (revision == NEWEST)


def test_bytes_are_sent_as_they_are() -> None:
    """A batch too; the answers to it find the requests that wait for them."""

    async def ask(client: Client) -> Any:
        first, second = (asyncio.create_task(client.request("ping")) for _ in range(2))
        held: list[bytes] = []
        client.send, send = held.append, client.send
        await asyncio.sleep(0)
        send(b"[" + b",".join(held) + b"]")
        return await first, await second

    assert run(ask, "2025-03-26") == ({}, {})


def test_a_revision_must_be_a_published_one() -> None:
    """The text names them."""

    async def main() -> None:
        async with server.client(protocol_version="2024-01-01"):
            pass

    with pytest.raises(ConfigurationError, match=r"2024-11-05, .*, 2026-07-28"):
        asyncio.run(main())
    assert events == []


# --- the end -------------------------------------------------------------------------------------


@every_revision
def test_a_wait_that_is_cancelled_cancels_the_request(revision: str) -> None:
    """The tool sees it."""

    async def ask(client: Client) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.call_tool("wait")
        await until(lambda: "over" in events)
        assert (await client.call_tool("add", {"a": 1, "b": 1})).text == "2"

    run(ask, revision)
    assert events == ["opened", "waiting", "over", "closed"]


@every_revision
def test_what_is_under_way_ends_with_the_client(revision: str) -> None:
    """The tool is cancelled before the lifespan is closed, and the one who waits does not wait for ever."""

    async def main() -> bool:
        async with server.client(protocol_version=revision) as client:
            asked = asyncio.create_task(client.call_tool("wait"))
            await until(lambda: "waiting" in events)
        done, _ = await asyncio.wait({asked}, timeout=PATIENCE)
        asked.cancel()
        return bool(done)

    ended = asyncio.run(main())
    assert events == ["opened", "waiting", "over", "closed"]
    assert ended


def test_a_stream_of_changes_ends_with_a_result() -> None:
    """When the server goes away."""

    async def main() -> Any:
        async with server.client() as client:
            asked = asyncio.create_task(
                client.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            )
            await until(lambda: client.notifications)
        return (await asyncio.wait_for(asked, PATIENCE))["resultType"]

    assert asyncio.run(main()) == "complete"


def test_the_lifespan_is_closed_when_the_block_fails() -> None:
    """Once."""

    async def fail(client: Client) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run(fail)
    assert events == ["opened", "closed"]


def test_a_server_may_be_opened_again_and_again() -> None:
    """One after another, in loops of their own, and side by side."""

    async def main() -> list[str]:
        async with server.client() as one, server.client(protocol_version="2024-11-05") as other:
            return [(await client.call_tool("add", {"a": 1, "b": 1})).text for client in (one, other)]

    assert [asyncio.run(main()) for _ in range(3)] == [["2", "2"]] * 3
    assert events == ["opened", "opened", "closed", "closed"] * 3


# --- what the client does for its user -----------------------------------------------------------


@pytest.mark.parametrize("ref", ["greet", "note://{name}", {"type": "ref/prompt", "name": "greet"}])
def test_a_prompt_or_a_template_is_named_in_short(ref: Any) -> None:
    """By its name or its URI, or in full."""
    server = MCPServer("t")

    @server.prompt
    def greet(name: str) -> str:
        return name

    @server.resource("note://{name}")
    def note(name: str) -> str:
        return name

    for target in (greet, note):
        server.completion(target, "name")(lambda typed: [f"{typed}!"])

    async def ask() -> list[str]:
        async with server.client() as client:
            return await client.complete(ref, "name", "a")

    assert asyncio.run(ask()) == ["a!"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"a": -float("inf")}]])
def test_what_is_no_json_is_not_sent(value: Any) -> None:
    """Nor is anything else in its place."""

    async def ask(client: Client) -> None:
        with pytest.raises(ValueError, match="NaN or infinity"):
            await client.call_tool("echo", {"text": value})

    run(ask, NEWEST)
