"""What `typegate.guards.limits` promises: nobody waits too long, and what is held is given back once."""

import asyncio
import gc
import json
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typegate import (
    ConfigurationError,
    File,
    Image,
    Limits,
    MCPServer,
    RegistrationError,
    RequestFailed,
    Text,
    ToolAnnotations,
    ToolResult,
)
from typegate.guards import limits as room
from typegate.guards.limits import DEFAULT_LIMITS
from typegate.guards.sizes import advice, cut, size_of
from typegate.guards.slots import Slot, Slots, Waiter
from typegate.types import CallToolResult, TextContent


def ask(server: MCPServer, work: Callable[[Any], Awaitable[Any]], revision: str = "2026-07-28") -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(protocol_version=revision) as client:
            return await work(client)

    return asyncio.run(main())


def code(result: Any) -> str | None:
    """The code of a refusal."""
    return result.problem and result.problem["code"]


class Kept:
    """The limiters that servers made, so that tests see what is held."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[room.Limiter] = []
        limiter = room.Limiter

        def make(limits: Limits) -> room.Limiter:
            self.made.append(limiter(limits))
            return self.made[-1]

        monkeypatch.setattr("typegate.app.Limiter", make)

    @property
    def slots(self) -> Slots:
        """What is held of the newest one."""
        return self.made[-1]._slots

    def is_idle(self) -> bool:
        """Whether nothing is held and nobody waits."""
        return not (self.slots._used or self.slots._waiting or self.slots._waits)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """What servers hold."""
    return Kept(monkeypatch)


# --- time ----------------------------------------------------------------------------------------


def test_E4_no_timeout_unless_set() -> None:
    """Sizes and numbers are always bounded, time is not."""
    assert DEFAULT_LIMITS.timeout is None
    assert all(value for name, value in zip(Limits.__struct_fields__, list_of(DEFAULT_LIMITS), strict=True)
               if name not in ("timeout", "per_caller"))  # fmt: skip


def list_of(limits: Limits) -> list[Any]:
    """Its fields."""
    return [getattr(limits, name) for name in Limits.__struct_fields__]


WAYS: dict[str, Callable[[MCPServer, Any], Any]] = {
    "timeout=": lambda server, slow: server.add_tool("slow", slow, timeout=0.05),
    "limits=": lambda server, slow: server.add_tool("slow", slow, limits=Limits(timeout=0.05)),
    "both": lambda server, slow: server.add_tool("slow", slow, limits=Limits(timeout=50), timeout=0.05),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_async", [False, True])
def test_E4_a_tool_that_takes_too_long(way: str, is_async: bool, kept: Kept) -> None:
    """Its caller is freed at once; the slot of a thread is not, until that has ended (attack 12)."""
    server, go, ended = MCPServer("x"), threading.Event(), threading.Event()

    def slow() -> str:
        go.wait(10)
        ended.set()
        return "late"

    async def slow_too() -> str:
        await asyncio.sleep(10)
        return "late"

    WAYS[way](server, slow_too if is_async else slow)

    async def work(client: Any) -> None:
        since = time.monotonic()
        result = await client.call_tool("slow")
        assert time.monotonic() - since < 5
        assert (result.is_error, code(result)) == (True, "timed_out")
        assert "took longer than 0.05 seconds" in result.text
        assert "may have taken effect" in result.text
        assert kept.is_idle() is is_async
        go.set()
        if not is_async:
            await asyncio.get_running_loop().run_in_executor(None, ended.wait, 5)
        await asyncio.sleep(0.05)
        assert kept.is_idle()

    ask(server, work)


def test_E4_a_servers_timeout_and_tools_without() -> None:
    """What a tool leaves unset is the server's; `None` is no limit."""
    server = MCPServer("x", limits=Limits(timeout=0.05))

    async def slow() -> str:
        await asyncio.sleep(0.15)
        return "done"

    server.add_tool("hasty", slow, annotations=ToolAnnotations(read_only_hint=True))
    server.add_tool("patient", slow, limits=Limits(timeout=None))
    server.add_tool("slower", slow, timeout=5)

    async def work(client: Any) -> list[Any]:
        hasty = await client.call_tool("hasty")
        assert "call again later" in hasty.text
        return [code(hasty), *[(await client.call_tool(name)).text for name in ("patient", "slower")]]

    assert ask(server, work) == ["timed_out", "done", "done"]


def test_E4_resources_prompts_and_completions_have_time_too() -> None:
    """Refused with error -31504."""
    server = MCPServer("x", limits=Limits(timeout=0.05))

    async def slow(topic: str = "") -> str:
        await asyncio.sleep(5)
        return topic

    async def slow_resource() -> str:
        return await slow()

    server.resource("config://x", name="x", timeout=0.04)(slow_resource)
    server.resource("orders://{topic}", name="y", timeout=0.04)(slow)
    server.prompt(name="explain", timeout=0.04)(slow)
    server.completion("explain", "topic")(slow)

    async def work(client: Any) -> None:
        reference = {"type": "ref/prompt", "name": "explain"}
        for verb in (
            lambda: client.read_resource("config://x"),
            lambda: client.read_resource("orders://5"),
            lambda: client.get_prompt("explain", {}),
            lambda: client.complete(reference, "topic", "x"),
        ):
            with pytest.raises(RequestFailed, match="took longer than") as failed:
                await verb()
            assert failed.value.code == -31504
            assert failed.value.data["dev.typegate/problem"]["code"] == "timed_out"

    ask(server, work)


def test_a_timeout_of_its_own_is_the_tools() -> None:
    """A `TimeoutError` that the function raises is masked like any other exception."""
    server = MCPServer("x")

    @server.tool(timeout=5)
    async def fetch() -> str:
        raise TimeoutError("http://internal")

    assert code(ask(server, lambda client: client.call_tool("fetch"))) == "tool_failed"


def test_what_runs_on_the_loop_cannot_be_ended() -> None:
    """So it is refused where it is written."""
    with pytest.raises(RegistrationError, match="inline=True"):
        MCPServer("x").add_tool("a", lambda: "b", inline=True, timeout=1)


STUCK = """
    import time
    from typegate import Limits, MCPServer

    server = MCPServer("stuck", limits=Limits(timeout=0.3))

    @server.tool
    def stuck() -> str:
        while True:
            time.sleep(60)

    @server.tool
    def quick() -> str:
        return "quick"

    server.run(grace=0.2)
"""


def test_E4_a_stuck_function_in_a_process(tmp_path: Path) -> None:
    """Attack 12 over stdio: the caller gets its answer, others are served, and the process ends."""
    script = tmp_path / "stuck.py"
    script.write_text(textwrap.dedent(STUCK), encoding="utf-8")
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    def line(id_: int, name: str) -> bytes:
        params = {"name": name, "arguments": {}, "_meta": meta}
        return (
            json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode()
            + b"\n"
        )

    command = [sys.executable, str(script)]
    sent = line(1, "stuck") + line(2, "quick") + line(3, "stuck")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(sent)
        process.stdin.flush()
        answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in "123")}
        process.stdin.close()
        assert process.wait(20) == 0
    assert answers[2]["result"]["content"][0]["text"] == "quick"
    for id_ in (1, 3):
        assert answers[id_]["result"]["isError"] is True
        assert answers[id_]["result"]["_meta"]["dev.typegate/problem"]["code"] == "timed_out"


# --- how many at once ----------------------------------------------------------------------------


def crowd(limits: Limits, tool: Limits | None = None) -> tuple[MCPServer, list[int]]:
    """A tool that counts how many of it run at once."""
    server, running, most = MCPServer("x", limits=limits), [0], [0]

    @server.tool(limits=tool)
    async def crawl(fail: bool = False) -> str:
        running[0] += 1
        most[0] = max(most[0], running[0])
        try:
            await asyncio.sleep(0.01)
            if fail:
                raise ValueError
        finally:
            running[0] -= 1
        return "done"

    return server, most


@pytest.mark.parametrize(
    ("limits", "tool"),
    [
        (Limits(concurrency=3), None),
        (Limits(per_caller=3), None),
        (Limits(), Limits(concurrency=3)),
        (Limits(), Limits(per_caller=3)),
        (Limits(concurrency=4, per_caller=3), Limits(concurrency=5, per_caller=3)),
    ],
)
def test_E4_so_many_run_and_the_others_wait(limits: Limits, tool: Limits | None, kept: Kept) -> None:
    """Per server, per caller and per tool; who fails gives its slot back too."""
    server, most = crowd(limits, tool)

    async def work(client: Any) -> int:
        calls = [client.call_tool("crawl", {"fail": number % 3 == 0}) for number in range(20)]
        return sum(result.text == "done" for result in await asyncio.gather(*calls))

    assert ask(server, work) == 13
    assert most == [3]
    assert kept.is_idle()


def test_E4_the_line_is_bounded(kept: Kept) -> None:
    """Who finds it full is refused as busy, with the time to come back."""
    server, most = crowd(Limits(concurrency=2, queue=3))

    async def work(client: Any) -> list[Any]:
        return list(await asyncio.gather(*(client.call_tool("crawl") for _ in range(9))))

    results = ask(server, work)
    refused = [result for result in results if result.problem]
    assert (len(refused), most) == (4, [2])
    assert {code(result) for result in refused} == {"busy"}
    assert refused[0].problem["retry_after"] == 1.0
    assert kept.is_idle()


def test_a_caller_fills_half_of_the_line_at_most(kept: Kept) -> None:
    """Where callers have shares, one cannot keep the others out."""
    server, _ = crowd(Limits(per_caller=1, queue=4))

    async def work(client: Any) -> int:
        return sum(map(bool, map(code, await asyncio.gather(*(client.call_tool("crawl") for _ in range(9))))))

    assert ask(server, work) == 6
    assert kept.is_idle()


def test_attack_12_cancelled_calls_leave_no_gap(kept: Kept) -> None:
    """Attack 12: those that run and those that wait, however they end."""
    server, most = crowd(Limits(concurrency=2, queue=50))

    async def work(client: Any) -> None:
        for round_ in range(10):
            calls = [asyncio.ensure_future(client.call_tool("crawl")) for _ in range(12)]
            await asyncio.sleep(0.001 * round_)
            for call in calls[round_ % 3 :: 2]:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            await asyncio.sleep(0.05)
            assert kept.is_idle()
        assert (await client.call_tool("crawl")).text == "done"

    ask(server, work)
    assert most[0] <= 2


def test_attack_12_a_client_that_goes_away(kept: Kept) -> None:
    """Attack 12: what it had is free, but for threads that still run."""
    server, _ = crowd(Limits(concurrency=1))
    go = threading.Event()
    server.add_tool("hold", lambda: go.wait(10), limits=Limits(concurrency=None))

    async def main() -> None:
        async with server.client() as client:
            calls = [asyncio.ensure_future(client.call_tool(name)) for name in ("hold", "crawl", "crawl")]
            await asyncio.sleep(0.05)
            for call in calls:
                call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert kept.slots.used("server") == 1
        go.set()
        for _ in range(500):
            if kept.is_idle():
                break
            await asyncio.sleep(0.01)
        assert kept.is_idle()

    asyncio.run(main())


def test_attack_12_a_thread_that_goes_on_keeps_its_slot(kept: Kept) -> None:
    """Attack 12: a second call of the tool does not begin beside it."""
    server, go, begun = MCPServer("x"), threading.Event(), []

    @server.tool(limits=Limits(concurrency=1, timeout=0.1, queue=0))
    def stubborn() -> str:
        begun.append(1)
        go.wait(10)
        return "done"

    async def work(client: Any) -> list[Any]:
        first = code(await client.call_tool("stubborn"))
        second = code(await client.call_tool("stubborn"))
        go.set()
        await asyncio.sleep(0.1)
        return [first, second, (await client.call_tool("stubborn")).text]

    assert ask(server, work) == ["timed_out", "busy", "done"]
    assert len(begun) == 2


def test_a_call_that_never_got_a_thread_gives_its_slot_back(kept: Kept) -> None:
    """It waited for one when its time was over, and is not run later."""
    server, go, ran = MCPServer("x", threads=1), threading.Event(), []
    server.add_tool("hold", lambda: go.wait(10))
    server.add_tool("late", lambda: ran.append(1), timeout=0.05)

    async def work(client: Any) -> None:
        holding = asyncio.ensure_future(client.call_tool("hold"))
        await asyncio.sleep(0.02)
        assert code(await client.call_tool("late")) == "timed_out"
        assert kept.slots.used("server") == 1
        go.set()
        await holding

    ask(server, work)
    assert ran == []


def test_nothing_is_left_of_a_call() -> None:
    """No circle of objects keeps what a call on a thread has used."""
    server = MCPServer("x", limits=Limits(timeout=5))
    server.add_tool("quick", lambda: "quick")

    async def work(client: Any) -> int:
        for _ in range(20):
            await client.call_tool("quick")
        return sum(isinstance(each, room._Thread) for each in gc.get_objects())

    gc.collect()
    before = sum(isinstance(each, room._Thread) for each in gc.get_objects())
    assert ask(server, work) - before <= 1


def test_what_runs_no_function_is_not_counted() -> None:
    """Listings, pings and subscriptions pass while everything is taken."""
    server, _ = crowd(Limits(concurrency=1, queue=0))

    async def work(client: Any) -> list[Any]:
        running = asyncio.ensure_future(client.call_tool("crawl"))
        await asyncio.sleep(0)
        tools = await client.request("tools/list")
        with pytest.raises(RequestFailed, match="Unknown tool"):
            await client.call_tool("nothing")
        return [len(tools["tools"]), (await running).text]

    assert ask(server, work) == [1, "done"]


@given(st.lists(st.tuples(st.sampled_from("tgl"), st.integers(0, 3), st.integers(0, 9)), max_size=120))
def test_slots_are_never_lost_nor_doubled(steps: list[tuple[str, int, int]]) -> None:
    """Whatever is taken, given back and waited for: no more than the limit, no gap, nobody forgotten."""
    kinds = [Slot("all", 3, 5, "r"), Slot("a", 1, 5, "r"), Slot("b", 2, 5, "r")]
    needs = [(kinds[0],), (kinds[0], kinds[1]), (kinds[0], kinds[2]), (kinds[1], kinds[2])]
    held: list[tuple[Slot, ...]] = []
    waiting: list[Waiter] = []
    slots = Slots()
    for verb, which, index in steps:
        if verb == "t":
            enter(slots, needs[which], held, waiting)
        elif verb == "g" and held:
            slots.give_back(held.pop(index % len(held)))
        elif verb == "l" and waiting:
            slots.leave(waiting.pop(index % len(waiting)))
        settle(held, waiting)
        for kind in kinds:
            assert slots.used(kind.key) == sum(kind in each for each in held) <= kind.limit
        assert slots.waiting == len(waiting)
        assert all(any(slots.used(need.key) >= need.limit for need in each.needs) for each in waiting)
    while held:
        slots.give_back(held.pop())
        settle(held, waiting)
    assert waiting == []
    assert (slots._used, slots._waiting, slots._waits) == ({}, {}, {})


def enter(slots: Slots, needs: tuple[Slot, ...], held: list[Any], waiting: list[Waiter]) -> None:
    """Take them, or wait for them where the line is not full."""
    blocked = slots.take(needs)
    if blocked is None:
        held.append(needs)
    elif slots.full(needs) is None:
        waiting.append(slots.wait(needs, blocked, lambda: None))


def settle(held: list[Any], waiting: list[Waiter]) -> None:
    """Who was woken holds what it waited for."""
    for waiter in [each for each in waiting if each.granted]:
        waiting.remove(waiter)
        held.append(waiter.needs)


def test_who_came_first_goes_first() -> None:
    """Nobody who comes later overtakes."""
    slots, woken, slot = Slots(), [], Slot("s", 1, 9, "r")
    assert slots.take((slot,)) is None
    waiters = [slots.wait((slot,), slot, lambda number=number: woken.append(number)) for number in range(4)]
    assert isinstance(waiters[0], Waiter)
    slots.leave(waiters[1])
    for _ in range(3):
        slots.give_back((slot,))
    assert woken == [0, 2, 3]


# --- how large -----------------------------------------------------------------------------------


def test_E4_a_result_that_is_too_large_is_refused_with_advice() -> None:
    """The advice names the tool's own arguments where it has some that help."""
    server = MCPServer("x", limits=Limits(max_result_bytes=1000))

    @server.tool
    def find(text: str, limit: int = 10) -> str:
        return text * 2000

    @server.tool
    def find_all() -> list[str]:
        return ["x" * 10] * 100

    async def work(client: Any) -> None:
        result = await client.call_tool("find", {"text": "x"})
        assert (result.is_error, code(result)) == (True, "too_large")
        assert "has 3.91 KiB; at most 1000 bytes are allowed" in result.text
        assert "Ask for less: set 'limit'" in result.text
        assert "Ask for less: a narrower question" in (await client.call_tool("find_all")).text
        assert len(json.dumps(result.raw)) < 2000

    ask(server, work)


def test_E4_cut_after_the_last_block_that_fits() -> None:
    """By an option, where there is no structured content; the last block says what is missing."""
    server = MCPServer("x")

    @server.tool(limits=Limits(max_result_bytes=1000, on_large="cut"), structured_output=False)
    def pages(size: int, count: int) -> ToolResult:
        return ToolResult(content=[Text("x" * size) for _ in range(count)])

    @server.tool(limits=Limits(max_result_bytes=1000, on_large="cut"))
    def whole(size: int) -> list[str]:
        return ["x"] * size

    async def work(client: Any) -> list[Any]:
        result = await client.call_tool("pages", {"size": 300, "count": 5})
        assert [len(block["text"]) for block in result.content[:-1]] == [300, 300]
        assert "3 of 5 blocks are left out" in result.content[-1]["text"]
        assert not result.is_error
        return [
            code(await client.call_tool("pages", {"size": 5000, "count": 1})),
            code(await client.call_tool("whole", {"size": 5000})),
            code(await client.call_tool("pages", {"size": 100, "count": 9})),
        ]

    assert ask(server, work) == ["too_large", "too_large", None]


@given(st.lists(st.text(max_size=60), min_size=1, max_size=12), st.integers(200, 600))
def test_what_is_cut_fits(texts: list[str], most: int) -> None:
    """And is a beginning of what there was."""
    result = CallToolResult(content=tuple(map(TextContent, texts)))
    shorter = cut(result, most)
    if shorter is not None:
        assert size_of(shorter) <= most
        assert shorter.content[:-1] == result.content[: len(shorter.content) - 1]


def test_sizes_are_bytes_of_all_that_travels() -> None:
    """Texts in UTF-8, data in base64, resources inside, structured content."""
    server, sizes = MCPServer("x"), []

    @server.tool(structured_output=False)
    def everything() -> list[Any]:
        return [
            "é" * 10,
            Image(data=b"x" * 30, mime_type="image/png"),
            File(data=b"\xff" * 30, mime_type="application/octet-stream"),
        ]

    @server.tool
    def number() -> int:
        return 12345

    async def watch(call: Any, handler: Any) -> Any:
        result = await handler(call)
        sizes.append(size_of(result))
        return result

    server._guards = (watch,)

    async def work(client: Any) -> None:
        await client.call_tool("everything")
        await client.call_tool("number")

    ask(server, work)
    assert sizes == [20 + 40 + 40, 10]


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
def test_E4_arguments_that_are_too_large_are_refused_before_they_are_judged(method: str) -> None:
    """Of what the client wrote; the rest of the line does not count."""
    server, ran = MCPServer("x", limits=Limits(max_arguments_bytes=100)), []
    server.add_tool("take", lambda text: ran.append(text))
    server.prompt(name="take")(lambda text: text)

    async def work(client: Any) -> Any:
        def call(size: int) -> Any:
            meta = {"note": "n" * 500}
            params = {"name": "take", "arguments": {"text": "x" * size}, "_meta": meta}
            return client.request(method, params)

        await call(80)
        if method == "tools/call":
            return (await call(101))["_meta"]["dev.typegate/problem"]["code"]
        with pytest.raises(RequestFailed) as failed:
            await call(101)
        assert failed.value.code == -31413
        return failed.value.data["dev.typegate/problem"]["code"]

    assert ask(server, work) == "too_large"
    assert len(ran) == (method == "tools/call")


def test_E4_other_results_have_a_size_too() -> None:
    """Refused with error -31413."""
    server = MCPServer("x", limits=Limits(max_result_bytes=100))
    server.resource("config://x", name="x")(lambda: "x" * 101)
    server.resource("config://b", name="b")(lambda: b"x" * 90)
    server.prompt(name="say")(lambda topic: topic * 101)
    server.completion("say", "topic")(lambda typed: ["x" * 60, "y" * 60])

    async def work(client: Any) -> None:
        reference = {"type": "ref/prompt", "name": "say"}
        for verb in (
            lambda: client.read_resource("config://x"),
            lambda: client.read_resource("config://b"),
            lambda: client.get_prompt("say", {"topic": "x"}),
            lambda: client.complete(reference, "topic", "x"),
        ):
            with pytest.raises(RequestFailed, match="at most 100 bytes") as failed:
                await verb()
            assert failed.value.code == -31413

    ask(server, work)


def test_advice_without_a_schema() -> None:
    """There is always some."""
    assert advice(None) == advice({}) == advice({"properties": {"text": {}}})
    assert "'limit' and 'page'" in advice({"properties": {"page": {}, "limit": {}}})


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        *({"timeout": value} for value in (0, -1, True, "5", float("nan"), float("inf"))),
        *({name: value} for name in ("concurrency", "per_caller") for value in (0, -1, 1.5, True, "5")),
        *({"queue": value} for value in (-1, None, 1.5)),
        *({name: value} for name in ("max_arguments_bytes", "max_result_bytes") for value in (0, None, "1")),
        {"on_large": "drop"},
    ],
    ids=str,
)
def test_a_limit_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    """By name; sizes are never unbounded."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Limits(**wrong)


def test_limits_are_laid_over_each_other() -> None:
    """A tool's over the server's, and those over the defaults; an included tool keeps its server's."""
    branch = MCPServer("branch", limits=Limits(timeout=7, concurrency=1))
    branch.add_tool("a", lambda: "a")
    branch.add_tool("b", lambda: "b", limits=Limits(timeout=None, max_result_bytes=5))
    trunk = MCPServer("trunk", limits=Limits(timeout=9, max_arguments_bytes=50))
    trunk.include(branch)
    trunk.add_tool("c", lambda: "c")
    found = {
        plan.key: (plan.limits.timeout, plan.limits.max_arguments_bytes) for plan in trunk.catalogue.tools
    }
    assert found == {"a": (7, 50), "b": (None, 50), "c": (9, 50)}
    assert next(iter(trunk.catalogue.tools)).limits.concurrency == 1024
