"""What `typegate.transports.runner` promises: one answer for each request, in time, and nothing after it.

A server is started in the process and a `Wire` stands at the end of its runner: messages go in, and all
that comes out is kept in order.
"""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from typegate import Context, MCPServer, Principal, Text, ToolResult
from typegate.transports.runner import Runner, Serving
from typegate.versions import LEGACY, VERSIONS
from typegate.wire.framing import TooLong

Message = dict[str, Any]

NEWEST, BATCHED, LATEST = "2026-07-28", "2025-03-26", "2025-11-25"
PATIENCE = 5.0  # seconds until something that never happens is given up

META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": NEWEST, META + "clientCapabilities": {}}
SUBSCRIPTION = META + "subscriptionId"

every_revision = pytest.mark.parametrize("revision", VERSIONS)
every_session = pytest.mark.parametrize("revision", LEGACY)
either_era = pytest.mark.parametrize("revision", [LATEST, NEWEST])


# --- messages ------------------------------------------------------------------------------------


def request(number: Any, method: str, **params: Any) -> Message:
    """A request of a session."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def stateless(number: Any, method: str, **params: Any) -> Message:
    """A request of 2026-07-28."""
    return request(number, method, **{**params, "_meta": {**ENVELOPE, **params.get("_meta", {})}})


def called(
    number: Any, name: str, revision: str = LATEST, meta: Message | None = None, **arguments: Any
) -> Message:
    """A tool call as a client of this revision makes it."""
    made = stateless if revision == NEWEST else request
    return made(number, "tools/call", name=name, arguments=arguments, _meta=meta or {})


def notification(method: str, **params: Any) -> Message:
    """A message that wants no answer."""
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def cancelled(number: Any) -> Message:
    """The client takes a request back."""
    return notification("cancelled", requestId=number)


def initialize(revision: str) -> Message:
    """The opening of a session."""
    info = {"name": "c", "version": "1"}
    return request("open", "initialize", protocolVersion=revision, capabilities={}, clientInfo=info)


READY = notification("initialized")


# --- the other end -------------------------------------------------------------------------------


class Wire:
    """The client's end of a connection; it takes all there is, unless `full` is set."""

    def __init__(self, serving: Serving, principal: Principal | None = None) -> None:
        self.messages: list[Any] = []
        self.full = False
        self.emptied = asyncio.Event()
        self.on_write: Callable[[Any], None] = lambda message: None
        self.serving = serving
        self.runner = Runner(serving, self, principal)

    def write(self, message: bytes) -> None:
        """Take a message of the server."""
        self.messages.append(json.loads(message))
        self.on_write(self.messages[-1])

    async def drain(self) -> None:
        """Wait until there is room."""
        while self.full:
            await self.emptied.wait()

    def say(self, *messages: Any) -> None:
        """Send these messages, one line each, without waiting for anything."""
        for message in messages:
            self.runner.receive(message if isinstance(message, bytes) else json.dumps(message).encode())

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait for something to happen."""
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110  (nobody is told)
                await asyncio.sleep(0.001)

    async def answer(self, number: Any) -> Message:
        """The answer to a request."""
        await self.until(lambda: self.answers(number))
        return self.answers(number)[0]

    def answers(self, number: Any) -> list[Message]:
        """All answers under an id, in a batch or not."""
        flat = [each for item in self.messages for each in (item if isinstance(item, list) else [item])]
        return [each for each in flat if "method" not in each and each.get("id", ...) == number]

    def told(self, method: str) -> list[Message]:
        """The params of the notifications of this kind."""
        found = [each for each in self.messages if isinstance(each, dict) and "method" in each]
        return [each["params"] for each in found if each["method"] == f"notifications/{method}"]

    async def quiet(self) -> None:
        """Wait until whatever is on its way has arrived: a request that comes later is answered."""
        for number in ("quiet 1", "quiet 2"):
            self.say(stateless(number, "server/discover"))
            await self.answer(number)
            await asyncio.sleep(0.01)
        self.messages = [each for each in self.messages if str(each).find("quiet") < 0]


async def opened(wire: Wire, revision: str) -> Wire:
    """A wire on which a session has begun, where the revision has sessions."""
    if revision in LEGACY:
        wire.say(initialize(revision), READY)
        await wire.answer("open")
        wire.messages.clear()
    return wire


def talk(
    server: MCPServer, scenario: Callable[[Wire], Awaitable[Any]], revision: str = NEWEST, **options: Any
) -> Any:
    """What happens on a connection to a running server."""

    async def main() -> Any:
        async with server._open() as serving:
            wire = await opened(Wire(serving, **options), revision)
            try:
                return await asyncio.wait_for(scenario(wire), 3 * PATIENCE)
            finally:
                serving.service.closing.set()
                await wire.runner.close(1.0)

    return asyncio.run(main())


# --- the server ----------------------------------------------------------------------------------


class Stage:
    """What the tools have seen, and what the plain ones wait for."""

    seen: list[Any]
    go: threading.Event


stage = Stage()


@pytest.fixture(autouse=True)
def _new_stage() -> Iterator[None]:
    """Nothing is seen at the beginning, and nothing is stuck at the end."""
    stage.seen, stage.go = [], threading.Event()
    yield
    stage.go.set()


served = MCPServer("t", threads=8)


@served.tool
async def chatty(ctx: Context, word: str = "") -> str:
    """Report and log on the loop."""
    for step in range(3):
        ctx.progress(step, message=word)
        ctx.info(word)
    await asyncio.sleep(0)
    ctx.progress(3, message=word)
    return word


@served.tool
def chatty_plainly(ctx: Context, word: str = "") -> str:
    """Report and log on a thread."""
    for step in range(3):
        ctx.progress(step, message=word)
        ctx.info(word)
    ctx.progress(3, message=word)
    return word


@served.tool(inline=True)
def chatty_inline(ctx: Context, word: str = "") -> str:
    """Report and log on the loop, without a coroutine."""
    return chatty_plainly(ctx, word)


@served.tool
async def quick(word: str = "") -> str:
    """Answer at once."""
    stage.seen.append(word)
    return word


@served.tool
async def wait() -> str:
    """Wait until cancelled."""
    stage.seen.append("waiting")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        stage.seen.append("cancelled")
        raise
    return "never"


@served.tool
async def wait_stubbornly() -> str:
    """Answer all the same."""
    stage.seen.append("waiting")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        stage.seen.append("cancelled")
    return "all the same"


@served.tool
async def wait_and_fail() -> str:
    """Fail in the clean-up."""
    stage.seen.append("waiting")
    try:
        await asyncio.sleep(3600)
    finally:
        stage.seen.append("cancelled")
        raise RuntimeError("in the clean-up")


@served.tool
def wait_plainly(ctx: Context) -> str:
    """Wait on a thread, and look whether anybody still waits for the answer."""
    seen, go = stage.seen, stage.go
    seen.append("waiting")
    assert go.wait(PATIENCE)
    seen.append(("cancelled", ctx.cancelled))
    ctx.progress(1)
    ctx.error("late")
    return "late"


@served.tool
async def unwritable() -> ToolResult:
    """Answer with what is no JSON."""
    return ToolResult([Text("content", annotations=object())])  # type: ignore[arg-type]


@served.tool
async def leave() -> str:
    """Try to end the process."""
    raise SystemExit(3)


PROGRESS = {"progressToken": "p", META + "logLevel": "debug"}


# --- order ---------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("name", ["chatty", "chatty_plainly", "chatty_inline"])
def test_what_is_said_on_the_way_comes_before_the_answer(name: str, revision: str) -> None:
    """In the order in which it was said, and nothing comes behind."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, name, revision, PROGRESS, word="w"))
        await wire.answer(1)
        await wire.quiet()
        return [each.get("method", each.get("id")) for each in wire.messages]

    progress, message = "notifications/progress", "notifications/message"
    assert talk(served, scenario, revision) == [*[progress, message] * 3, progress, 1]


@either_era
def test_it_does_so_however_many_calls_there_are(revision: str) -> None:
    """Each call is answered after its last word, whatever the others do."""

    async def scenario(wire: Wire) -> Any:
        for number in range(100):
            name = ("chatty", "chatty_plainly", "chatty_inline")[number % 3]
            wire.say(called(number, name, revision, {"progressToken": number}))
        for number in range(100):
            await wire.answer(number)
        await wire.quiet()
        return wire.messages

    messages = [
        each for each in talk(served, scenario, revision) if each.get("method", "").count("message") == 0
    ]
    order = {number: [] for number in range(100)}
    for each in messages:
        number = each["params"]["progressToken"] if "method" in each else each["id"]
        order[number].append(each["params"]["progress"] if "method" in each else "answer")
    assert all(found == [0, 1, 2, 3, "answer"] for found in order.values())


@every_revision
def test_a_slow_request_holds_nobody_back(revision: str) -> None:
    """What comes after it is answered first."""

    async def scenario(wire: Wire) -> Any:
        wire.say(
            called(1, "wait_plainly", revision), called(2, "wait", revision), called(3, "quick", revision)
        )
        await wire.answer(3)
        wire.say(cancelled(2))
        stage.go.set()
        await wire.answer(1)
        return [each["id"] for each in wire.messages if "id" in each]

    assert talk(served, scenario, revision) == [3, 1]


def test_words_may_be_awaited_until_there_is_room() -> None:
    """While the client does not keep up, reports are left out, and a function that awaits its words waits."""
    server = MCPServer("t")

    @server.tool
    async def speak(ctx: Context) -> str:
        await ctx.info("first")
        stage.seen.append("went on")
        return "done"

    async def scenario(wire: Wire) -> Any:
        wire.full = True
        wire.say(called(1, "speak"))
        await wire.quiet()
        before = list(stage.seen)
        wire.full = False
        wire.emptied.set()
        await wire.answer(1)
        return before, stage.seen, wire.told("message")

    assert talk(server, scenario, LATEST) == ([], ["went on"], [])


def test_only_reports_are_left_out_where_the_client_does_not_keep_up() -> None:
    """Answers and changes are sent however full it is."""

    async def scenario(wire: Wire) -> Any:
        wire.full = True
        wire.say(called(1, "chatty", LATEST, PROGRESS))
        await wire.answer(1)
        served.notify_tools_changed()
        return [each.get("method", each.get("id")) for each in wire.messages]

    assert talk(served, scenario, LATEST) == [1, "notifications/tools/list_changed"]


def test_no_plain_function_begins_where_the_client_does_not_keep_up() -> None:
    """Those under way go on; the others begin when it has taken enough."""

    async def scenario(wire: Wire) -> Any:
        wire.full = True
        wire.say(called(1, "chatty_plainly", LATEST), called(2, "quick", LATEST))
        await wire.answer(2)
        await wire.quiet()
        before = [each["id"] for each in wire.messages]
        wire.full = False
        wire.emptied.set()
        await wire.answer(1)
        return before

    assert talk(served, scenario, LATEST) == [2]


# --- cancellation --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["async", "plain", "inline"])
def test_an_interrupt_that_a_function_raises_ends_the_call_alone(kind: str) -> None:
    """The one of the keyboard goes to the transport; this one is a failure like any other."""
    server = MCPServer("t")

    async def interrupt() -> None:
        raise KeyboardInterrupt

    def interrupt_plainly() -> None:
        raise KeyboardInterrupt

    function = interrupt if kind == "async" else interrupt_plainly
    server.add_tool("interrupt", function, inline=kind == "inline")

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "interrupt", LATEST))
        return (await wire.answer(1))["result"]["content"][0]["text"]

    assert talk(server, scenario, LATEST).startswith("Tool 'interrupt' failed: KeyboardInterrupt")


def test_a_function_that_cancels_its_own_task_is_answered() -> None:
    """Nobody else wanted that: it is a failure like any other, and the id is free again."""
    server = MCPServer("t")

    @server.tool
    async def give_up() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "give_up", LATEST))
        first = await wire.answer(1)
        wire.messages.clear()
        wire.say(called(1, "give_up", LATEST))
        return [each["result"]["content"][0]["text"] for each in (first, await wire.answer(1))]

    for text in talk(server, scenario, LATEST):
        assert text.startswith("Tool 'give_up' failed: CancelledError")


@every_revision
@pytest.mark.parametrize("name", ["wait", "wait_stubbornly", "wait_and_fail"])
def test_an_async_function_is_cancelled_and_not_answered(name: str, revision: str) -> None:
    """It sees that it is, and whatever it does about it, no answer comes; the others are served."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, name, revision))
        await wire.until(lambda: stage.seen == ["waiting"])
        wire.say(cancelled(1), called(2, "quick", revision))
        await wire.answer(2)
        await wire.quiet()
        return [each["id"] for each in wire.messages]

    assert talk(served, scenario, revision) == [2]
    assert sorted(stage.seen) == ["", "cancelled", "waiting"]


@every_revision
def test_a_plain_function_is_told_and_its_result_dropped(revision: str) -> None:
    """`ctx.cancelled` turns true; what it says and returns then goes nowhere."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "wait_plainly", revision, PROGRESS))
        await wire.until(lambda: stage.seen == ["waiting"])
        wire.say(cancelled(1))
        stage.go.set()
        await wire.until(lambda: len(stage.seen) == 2)
        await wire.quiet()
        return wire.messages

    assert talk(served, scenario, revision) == []
    assert stage.seen == ["waiting", ("cancelled", True)]


@every_revision
def test_a_function_that_is_not_cancelled_is_not_told_so(revision: str) -> None:
    """Neither a cancellation of another request nor a misspelt one is taken for its own."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "wait_plainly", revision))
        await wire.until(lambda: stage.seen == ["waiting"])
        wire.say(*map(cancelled, (2, "1", True, 1.0, None, [1])))
        stage.go.set()
        return (await wire.answer(1))["result"]["content"][0]["text"]

    assert talk(served, scenario, revision) == "late"
    assert stage.seen == ["waiting", ("cancelled", False)]


@either_era
def test_a_call_that_is_cancelled_at_once_is_not_answered(revision: str) -> None:
    """Even where the cancellation comes in the same breath."""

    async def scenario(wire: Wire) -> Any:
        for number in range(20):
            wire.say(called(number, ("wait", "wait_plainly")[number % 2], revision), cancelled(number))
        stage.go.set()
        await wire.quiet()
        return wire.messages

    assert talk(served, scenario, revision) == []


def test_a_plain_function_that_still_waits_for_a_thread_does_not_run() -> None:
    """It was cancelled before its turn."""
    server = MCPServer("t", threads=1)

    @server.tool
    def hold() -> None:
        assert stage.go.wait(PATIENCE)

    @server.tool
    def mark(word: str) -> None:
        stage.seen.append(word)

    async def scenario(wire: Wire) -> None:
        wire.say(called(1, "hold"), called(2, "mark", word="second"), called(3, "mark", word="third"))
        await asyncio.sleep(0)
        wire.say(cancelled(2))
        stage.go.set()
        await wire.answer(3)

    talk(server, scenario, LATEST)
    assert stage.seen == ["third"]


@either_era
@pytest.mark.parametrize("name", ["wait_plainly", "wait_stubbornly"])
def test_a_late_answer_never_meets_the_next_request_of_its_id(name: str, revision: str) -> None:
    """The id was cancelled and taken again while the first call went on."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, name, revision))
        await wire.until(lambda: stage.seen == ["waiting"])
        wire.say(cancelled(1), called(1, "quick", revision, word="new"))
        stage.go.set()
        await wire.answer(1)
        await wire.quiet()
        return [each["result"]["content"][0]["text"] for each in wire.answers(1)]

    assert talk(served, scenario, revision) == ["new"]


@either_era
def test_cancelling_a_call_does_not_cancel_the_next_one_of_its_id(revision: str) -> None:
    """Only what is under way under that id now is meant."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "wait", revision))
        await wire.until(lambda: stage.seen == ["waiting"])
        wire.say(cancelled(1), called(1, "wait_plainly", revision))
        await wire.until(lambda: stage.seen.count("waiting") == 2)
        stage.go.set()
        return (await wire.answer(1))["result"]["content"][0]["text"]

    assert talk(served, scenario, revision) == "late"


@either_era
def test_nothing_is_said_for_a_request_after_its_cancellation(revision: str) -> None:
    """Not even what a thread had said before and the loop had not come to."""
    server, said = MCPServer("t"), threading.Event()

    @server.tool
    def speak(ctx: Context) -> None:
        stage.seen.append("waiting")
        assert stage.go.wait(PATIENCE)
        ctx.progress(1)
        ctx.error("e")
        said.set()

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "speak", revision, PROGRESS))
        await wire.until(lambda: stage.seen == ["waiting"])
        stage.go.set()
        assert said.wait(PATIENCE)  # the loop stands still here
        wire.say(cancelled(1))
        await wire.quiet()
        return wire.messages

    assert talk(server, scenario, revision) == []


def test_an_id_that_is_under_way_is_refused_and_the_first_call_goes_on() -> None:
    """There are two answers under it, the refusal and the result."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "wait_plainly"), called(1, "quick"))
        stage.go.set()
        await wire.until(lambda: len(wire.answers(1)) == 2)
        refusal, result = wire.answers(1)
        return refusal["error"]["code"], result["result"]["content"][0]["text"]

    assert talk(served, scenario, LATEST) == (-32600, "late")


@either_era
def test_each_request_has_one_answer_and_a_cancelled_one_none(revision: str) -> None:
    """Whatever order things happen in."""
    names = ["chatty", "chatty_plainly", "quick", "leave", "unwritable", "wait_plainly", "no_such_tool"]

    async def scenario(wire: Wire) -> Any:
        for number in range(140):
            wire.say(called(number, names[number % 7], revision))
            if number % 5 == 0:
                wire.say(called(1000 + number, "wait", revision))
            if number % 3 == 0:
                await asyncio.sleep(0)
        wire.say(*(cancelled(number) for number in range(1000, 1140, 5)))
        stage.go.set()
        for number in range(140):
            await wire.answer(number)
        await wire.quiet()
        return [each["id"] for each in wire.messages if "id" in each]

    assert sorted(talk(served, scenario, revision)) == list(range(140))


# --- failures ------------------------------------------------------------------------------------


@every_revision
def test_a_function_that_ends_the_process_is_a_failed_call(revision: str) -> None:
    """It does not, and the client reads its type alone."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "leave", revision))
        result = (await wire.answer(1))["result"]
        return result["isError"], result["content"][0]["text"].partition(" (reference")[0]

    assert talk(served, scenario, revision) == (True, "Tool 'leave' failed: SystemExit")


@every_revision
def test_an_answer_that_cannot_be_written_is_an_internal_error(
    caplog: pytest.LogCaptureFixture, revision: str
) -> None:
    """The client is not left without one, and the log says why."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "unwritable", revision))
        return (await wire.answer(1))["error"]["code"]

    assert talk(served, scenario, revision) == -32603
    assert "cannot be written" in caplog.text
    assert "TypeError" in caplog.text


@every_revision
@pytest.mark.parametrize("data", [object(), float("nan"), {"a": [object()]}, iter("ab")], ids=range(4))
def test_words_that_cannot_be_written_do_not_end_the_call(data: Any, revision: str) -> None:
    """The client reads that there was something, and then the result."""
    server = MCPServer("t")

    @server.tool
    async def say(ctx: Context) -> str:
        ctx.error(data)
        return "done"

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "say", revision, PROGRESS))
        return (await wire.answer(1))["result"]["content"][0]["text"], wire.told("message")

    text, (message,) = talk(server, scenario, revision)
    assert (text, message["level"]) == ("done", "error")
    assert "a log message" in message["data"]


@pytest.mark.parametrize(
    ("revision", "id_"), [(None, None), ("2025-06-18", None), (LATEST, ...), (NEWEST, None)]
)
def test_a_line_that_is_too_long_is_refused(revision: str | None, id_: Any) -> None:
    """And the next one is served."""

    async def scenario(wire: Wire) -> Any:
        wire.runner.receive(TooLong())
        wire.say(stateless(1, "server/discover"))
        await wire.answer(1)
        return wire.messages[0]

    found = talk(served, scenario, revision)
    assert (found.get("id", ...), found["error"]["code"]) == (id_, -32600)


def test_a_stateless_client_need_not_say_who_it_is() -> None:
    """Then there is nobody."""
    server = MCPServer("t")

    @server.tool
    async def who(ctx: Context) -> str:
        return repr(ctx.client)

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "who", NEWEST))
        return (await wire.answer(1))["result"]["content"][0]["text"]

    assert talk(server, scenario) == "None"


# --- batches -------------------------------------------------------------------------------------


def test_a_batch_is_answered_in_one_message() -> None:
    """When its last member is, with the failures and the malformed among them."""
    names = ["quick", "leave", "chatty_plainly", "unwritable", "wait_plainly"]
    batch = [called(number, name) for number, name in enumerate(names)]

    async def scenario(wire: Wire) -> Any:
        wire.say([*batch, READY, request(5, "no/such"), 7], request("after", "ping"))
        await wire.answer("after")
        before = list(wire.messages)
        stage.go.set()
        await wire.answer(0)
        return before, wire.messages[-1]

    before, answer = talk(served, scenario, BATCHED)
    assert [each["id"] for each in before if "id" in each] == ["after"]
    assert {each["id"]: each.get("error", {}).get("code") for each in answer} == {
        **dict.fromkeys(range(5)),
        3: -32603,
        5: -32601,
        None: -32600,
    }
    assert len(answer) == 7


def test_a_batch_of_notifications_is_met_with_silence() -> None:
    """There is no empty array."""

    async def scenario(wire: Wire) -> Any:
        wire.say([READY, notification("roots/list_changed")])
        await wire.quiet()
        return wire.messages

    assert talk(served, scenario, BATCHED) == []


def test_a_member_of_a_batch_is_cancelled_like_any_request() -> None:
    """It sees that it is and has no answer; the other members have theirs."""

    async def scenario(wire: Wire) -> Any:
        wire.say([called(1, "wait"), called(2, "quick", word="w")])
        await wire.until(lambda: "waiting" in stage.seen)
        wire.say(cancelled(1))
        await wire.answer(2)
        return wire.messages

    (answer,) = talk(served, scenario, BATCHED)
    assert [each["id"] for each in answer] == [2]
    assert "cancelled" in stage.seen


def test_a_batch_whose_requests_are_all_cancelled_is_not_answered() -> None:
    """There is nothing to say, and the connection goes on."""

    async def scenario(wire: Wire) -> Any:
        wire.say([called(1, "wait"), called(2, "wait")])
        await wire.until(lambda: stage.seen == ["waiting"] * 2)
        wire.say([cancelled(1), cancelled(2)])
        await wire.until(lambda: stage.seen.count("cancelled") == 2)
        await wire.quiet()
        return wire.messages

    assert talk(served, scenario, BATCHED) == []


# --- changes, for a handshake client -------------------------------------------------------------


def library() -> MCPServer:
    """A server with something of each kind."""
    server = MCPServer("t")
    server.tool(name="tool")(lambda: None)
    server.prompt(name="prompt")(lambda: "")
    server.resource("book://{id}", name="book")(lambda id: "")
    return server


CHANGES: dict[str, Callable[[MCPServer], None]] = {
    "tools/list_changed": MCPServer.notify_tools_changed,
    "prompts/list_changed": MCPServer.notify_prompts_changed,
    "resources/list_changed": MCPServer.notify_resources_changed,
}


def publish(server: MCPServer, *uris: str) -> None:
    """Everything has changed, and these resources too."""
    for change in CHANGES.values():
        change(server)
    for uri in uris:
        server.notify_resource_updated(uri)


@every_session
def test_a_session_hears_of_changes_once_it_is_ready(revision: str) -> None:
    """Not before the client has said so, and then of each kind."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        publish(server)
        wire.say(initialize(revision))
        publish(server)
        await wire.answer("open")
        publish(server)
        before = [each for each in wire.messages if "method" in each]
        wire.say(READY)
        publish(server)
        return before, [each for each in wire.messages if "method" in each]

    expected = [{"jsonrpc": "2.0", "method": f"notifications/{kind}", "params": {}} for kind in CHANGES]
    assert talk(server, scenario) == ([], expected)


@every_session
@pytest.mark.parametrize("kind", CHANGES)
def test_a_session_hears_only_of_what_was_advertised(kind: str, revision: str) -> None:
    """A server that began without any prompts never says that they changed."""
    server = MCPServer("t")
    {
        "tools/list_changed": lambda: server.tool(name="tool")(lambda: None),
        "prompts/list_changed": lambda: server.prompt(name="prompt")(lambda: ""),
        "resources/list_changed": lambda: server.resource("book://1", name="book")(lambda: ""),
    }[kind]()

    async def scenario(wire: Wire) -> Any:
        publish(server, "book://1")
        return [each["method"] for each in wire.messages]

    assert talk(server, scenario, revision) == [f"notifications/{kind}"]


@every_session
def test_a_session_hears_of_the_resources_that_it_subscribed_to(revision: str) -> None:
    """Of those URIs and no others, until it does not want to any more."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(
            request(1, "resources/subscribe", uri="book://1"),
            request(2, "resources/subscribe", uri="book://2"),
        )
        await wire.answer(2)
        publish(server, "book://1", "book://2", "book://3")
        wire.say(request(3, "resources/unsubscribe", uri="book://1"))
        await wire.answer(3)
        publish(server, "book://1", "book://2")
        wire.say(request(4, "resources/unsubscribe", uri="book://9"))
        return (await wire.answer(4))["result"], wire.told("resources/updated")

    expected = [{"uri": "book://1"}, {"uri": "book://2"}, {"uri": "book://2"}]
    assert talk(server, scenario, revision) == ({}, expected)


@every_session
def test_a_resource_that_is_not_there_cannot_be_subscribed_to(revision: str) -> None:
    """It is -32002 with its URI, and nothing is subscribed."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(request(1, "resources/subscribe", uri="film://1"))
        error = (await wire.answer(1))["error"]
        publish(server, "film://1")
        return error["code"], error["data"]["uri"], wire.told("resources/updated")

    assert talk(server, scenario, revision) == (-32002, "film://1", [])


def test_a_new_session_begins_without_subscriptions() -> None:
    """What was settled before is forgotten with the session, and so is that the client was ready."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(request(1, "resources/subscribe", uri="book://1"))
        await wire.answer(1)
        wire.say({**initialize(LATEST), "id": 2})
        await wire.answer(2)
        publish(server, "book://1")
        wire.say(READY)
        publish(server, "book://1")
        return [each["method"] for each in wire.messages if "method" in each]

    assert talk(server, scenario, LATEST) == [f"notifications/{kind}" for kind in CHANGES]


def test_a_stateless_client_hears_of_nothing_that_it_did_not_ask_for() -> None:
    """There is no session that could be told."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(stateless(1, "tools/list"), READY)
        await wire.answer(1)
        publish(server, "book://1")
        await wire.quiet()
        return [each for each in wire.messages if "method" in each]

    assert talk(server, scenario) == []


def test_a_change_may_be_told_from_any_thread() -> None:
    """It arrives all the same."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        thread = threading.Thread(target=server.notify_tools_changed)
        thread.start()
        thread.join()
        await wire.until(lambda: wire.messages)
        return wire.messages[0]["method"]

    assert talk(server, scenario, LATEST) == "notifications/tools/list_changed"


def test_each_connection_is_told_for_itself() -> None:
    """What one of them has settled is nothing to the others, and one that is closed hears no more."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        other = await opened(Wire(wire.serving), BATCHED)
        wire.say(request(1, "resources/subscribe", uri="book://1"))
        await wire.answer(1)
        server.notify_resource_updated("book://1")
        server.notify_tools_changed()
        assert await other.runner.close(1.0)
        server.notify_tools_changed()
        return [len(end.told("resources/updated")) for end in (wire, other)], [
            len(end.told("tools/list_changed")) for end in (wire, other)
        ]

    assert talk(server, scenario, LATEST) == ([1, 0], [2, 1])


def test_a_change_of_the_server_is_told_by_itself() -> None:
    """Adding and removing are changes; what changes nothing is none."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        counts = []
        server.add_tool("more", lambda: None)
        counts.append(len(wire.told("tools/list_changed")))
        server.add_tool("more", lambda: None)  # taken, and the first is kept
        counts.append(len(wire.told("tools/list_changed")))
        server.remove_tool("more")
        counts.append(len(wire.told("tools/list_changed")))
        return counts

    assert talk(server, scenario, LATEST) == [1, 1, 2]


# --- changes, for a stateless client -------------------------------------------------------------

ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


def listen(number: Any, **wanted: Any) -> Message:
    """The opening of a stream of changes."""
    return stateless(number, "subscriptions/listen", notifications=wanted)


HONOURED: list[tuple[Message, Message]] = [
    ({}, {}),
    (ALL, ALL),
    ({"toolsListChanged": True}, {"toolsListChanged": True}),
    ({"toolsListChanged": False, "promptsListChanged": True}, {"promptsListChanged": True}),
    ({"resourceSubscriptions": []}, {}),
    ({"resourceSubscriptions": ["film://1"]}, {}),
    ({"resourceSubscriptions": ["film://1", "book://1"]}, {"resourceSubscriptions": ["book://1"]}),
    ({**ALL, "taskIds": ["t"], "anything": True}, ALL),
]


@pytest.mark.parametrize(("wanted", "honoured"), HONOURED)
def test_a_stream_of_changes_begins_by_saying_what_it_carries(wanted: Message, honoured: Message) -> None:
    """Of what was asked for, as much as there is; nothing comes before that."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(listen(7, **wanted))
        await wire.until(lambda: wire.messages)
        publish(server, "book://1", "film://1", "book://2")
        return wire.messages

    first, *rest = talk(server, scenario)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"] == {"notifications": honoured, "_meta": {SUBSCRIPTION: 7}}
    kinds = [f"notifications/{kind}" for kind, name in zip(CHANGES, ALL, strict=True) if name in honoured]
    kinds += ["notifications/resources/updated"] * len(honoured.get("resourceSubscriptions", ()))
    assert [each["method"] for each in rest] == kinds


def test_a_stream_carries_only_what_the_server_has() -> None:
    """A kind that was not advertised is not promised."""
    server = MCPServer("t")
    server.prompt(name="prompt")(lambda: "")

    async def scenario(wire: Wire) -> Any:
        wire.say(listen(1, **ALL, resourceSubscriptions=["book://1"]))
        await wire.until(lambda: wire.messages)
        return wire.messages[0]["params"]["notifications"]

    assert talk(server, scenario) == {"promptsListChanged": True}


def test_a_stream_does_not_carry_what_its_caller_may_not_see() -> None:
    """A resource that needs a scope is not there for one who lacks it."""
    server = MCPServer("t")
    server.resource("secret://1", name="secret", scopes=["read"])(lambda: "")

    async def scenario(wire: Wire) -> Any:
        wire.say(listen(1, resourceSubscriptions=["secret://1"]))
        await wire.until(lambda: wire.messages)
        publish(server, "secret://1")
        return wire.messages[0]["params"]["notifications"], wire.told("resources/updated")

    reader = Principal(subject="r", scopes=frozenset({"read"}))
    assert talk(server, scenario) == ({}, [])
    assert talk(server, scenario, principal=reader)[0] == {"resourceSubscriptions": ["secret://1"]}


@pytest.mark.parametrize("id_", [0, 1, -7, "", "1", "é"])
def test_everything_on_a_stream_bears_its_id(id_: Any) -> None:
    """With its type, from the first message to the last."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(listen(id_, **ALL, resourceSubscriptions=["book://1"]))
        await wire.until(lambda: wire.messages)
        publish(server, "book://1")
        wire.serving.service.closing.set()
        await wire.answer(id_)
        return [each.get("params", each.get("result"))["_meta"][SUBSCRIPTION] for each in wire.messages]

    found = talk(server, scenario)
    assert found == [id_] * 6
    assert all(type(each) is type(id_) for each in found)


def test_streams_stand_side_by_side() -> None:
    """Each carries its own kinds under its own id."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(
            listen(1, toolsListChanged=True),
            listen("1", promptsListChanged=True),
            listen(2, toolsListChanged=True),
        )
        await wire.until(lambda: len(wire.messages) == 3)
        wire.messages.clear()
        publish(server)
        return [
            (each["method"].split("/")[1], each["params"]["_meta"][SUBSCRIPTION]) for each in wire.messages
        ]

    assert sorted(talk(server, scenario), key=str) == [("prompts", "1"), ("tools", 1), ("tools", 2)]


def test_no_change_is_missed_once_a_stream_has_begun() -> None:
    """What changes while the first message is on its way comes behind it."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        def at_once(message: Any) -> None:
            if message.get("method") == "notifications/subscriptions/acknowledged":
                server.notify_tools_changed()

        wire.on_write = at_once
        wire.say(listen(1, toolsListChanged=True))
        await wire.quiet()
        return [each["method"] for each in wire.messages]

    acknowledged = "notifications/subscriptions/acknowledged"
    assert talk(server, scenario) == [acknowledged, "notifications/tools/list_changed"]


def test_a_stream_is_ended_by_its_cancellation_at_once() -> None:
    """There is no answer, and not one more message, however soon something changes."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(listen(1, **ALL), listen(2, toolsListChanged=True))
        await wire.until(lambda: len(wire.messages) == 2)
        wire.messages.clear()
        wire.say(cancelled(1))
        publish(server)
        await wire.quiet()
        publish(server)
        return [each["params"]["_meta"][SUBSCRIPTION] for each in wire.messages]

    assert talk(server, scenario) == [2, 2]


def test_a_stream_ends_with_a_result_when_the_server_goes_away() -> None:
    """The last message is the answer to the request that opened it."""
    server = library()

    async def scenario(wire: Wire) -> Any:
        wire.say(listen(1, toolsListChanged=True))
        await wire.until(lambda: wire.messages)
        wire.serving.service.closing.set()
        ended = await wire.runner.finish(PATIENCE)
        server.notify_tools_changed()
        return ended, wire.messages[1:]

    ended, (answer,) = talk(server, scenario)
    assert ended
    assert (answer["id"], answer["result"]["resultType"]) == (1, "complete")
    assert answer["result"]["_meta"][SUBSCRIPTION] == 1


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": []},
        {"notifications": {"toolsListChanged": "yes"}},
        {"notifications": {"resourceSubscriptions": [1]}},
    ],
)
def test_a_stream_that_is_not_asked_for_properly_does_not_begin(params: Message) -> None:
    """It is -32602 and nothing else."""

    async def scenario(wire: Wire) -> Any:
        wire.say(stateless(1, "subscriptions/listen", **params))
        await wire.quiet()
        return [each.get("error", {}).get("code") for each in wire.messages]

    assert talk(library(), scenario) == [-32602]


# --- the end -------------------------------------------------------------------------------------


@either_era
def test_what_is_under_way_may_come_to_its_end(revision: str) -> None:
    """`finish` waits for it and says so, or says that it did not end in time."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "wait_plainly", revision))
        await wire.until(lambda: stage.seen == ["waiting"])
        early = await wire.runner.finish(0.01)
        stage.go.set()
        return early, await wire.runner.finish(PATIENCE), len(wire.answers(1)), await wire.runner.finish(0)

    assert talk(served, scenario, revision) == (False, True, 1, True)


@either_era
def test_closing_cancels_what_is_under_way(revision: str) -> None:
    """The functions see it, and nothing is answered any more."""

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "wait", revision), called(2, "wait", revision))
        await wire.until(lambda: stage.seen == ["waiting"] * 2)
        return await wire.runner.close(PATIENCE), wire.messages, stage.seen[2:]

    assert talk(served, scenario, revision) == (True, [], ["cancelled", "cancelled"])


def test_closing_does_not_wait_for_ever() -> None:
    """A function that will not end is left behind, and that is said."""
    server = MCPServer("t")

    @server.tool
    async def never() -> None:
        stage.seen.append("waiting")
        while not stage.go.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                stage.seen.append("cancelled")

    async def scenario(wire: Wire) -> Any:
        wire.say(called(1, "never"))
        await wire.until(lambda: stage.seen == ["waiting"])
        in_time = await wire.runner.close(0.05)
        stage.go.set()
        return in_time

    assert talk(server, scenario, LATEST) is False
    assert "cancelled" in stage.seen


def test_a_plain_function_is_told_when_the_connection_is_closed() -> None:
    """Nobody waits for its answer any more, and it should look now and then."""

    async def scenario(wire: Wire) -> None:
        wire.say(called(1, "wait_plainly"))
        await wire.until(lambda: stage.seen == ["waiting"])
        await wire.runner.close(0.01)
        stage.go.set()
        await wire.until(lambda: len(stage.seen) == 2)

    talk(served, scenario, LATEST)
    assert stage.seen == ["waiting", ("cancelled", True)]
