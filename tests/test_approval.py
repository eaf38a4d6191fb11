"""What `typegate.guards.approval` promises: the answer is no, unless somebody says yes to exactly this."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from typegate import (
    AccessPolicy,
    ApprovalRequest,
    Approver,
    ConfigurationError,
    Decision,
    Limits,
    MCPServer,
    Principal,
)
from typegate.guards.approval import decision_of
from typegate.guards.calls import Approval, Call, Handler
from typegate.types import Result


def shop(approve: Any, **options: Any) -> tuple[MCPServer, list[Any], list[Call]]:
    """A tool that must be approved, what it did, and the calls that were made."""
    server, wiped, calls = MCPServer("shop", **options), [], []

    @server.tool(approve=approve)
    def wipe(names: list[str], hard: bool = False) -> str:
        """Wipe them."""
        wiped.append((names, hard))
        return "wiped"

    async def watch(call: Call, handler: Handler) -> Result:
        calls.append(call)
        return await handler(call)

    server._guards = (watch,)
    return server, wiped, calls


def ask(server: MCPServer, work: Callable[[Any], Awaitable[Any]]) -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(principal=Principal(subject="ann")) as client:
            return await work(client)

    return asyncio.run(main())


def wipe(server: MCPServer, **arguments: Any) -> Any:
    """The result of one call."""
    return ask(server, lambda client: client.call_tool("wipe", {"names": ["a"], **arguments}))


async def say_yes(request: ApprovalRequest) -> bool:
    """Without looking."""
    return True


# --- yes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True])
def test_the_approver_sees_what_the_function_gets(is_async: bool) -> None:
    """Validated, with defaults, and with who calls."""
    seen: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        seen.append(request)
        return True

    async def approve_later(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        return approve(request)

    server, wiped, _ = shop(approve_later if is_async else approve)
    assert wipe(server).text == "wiped"
    assert wiped == [(["a"], False)]
    (request,) = seen
    assert (request.tool, request.arguments) == ("wipe", {"names": ["a"], "hard": False})
    assert request.principal == Principal(subject="ann")


@pytest.mark.parametrize(
    ("answer", "by"),
    [(True, "test_the_record_says_who.<locals>.<lambda>"), (Decision(True, by="bob"), "bob")],
)
def test_the_record_says_who(answer: Any, by: str) -> None:
    """The notes of the call have who approved, when, and what."""
    server, _, calls = shop(lambda request: answer)
    before = time.time()
    assert wipe(server).text == "wiped"
    (approval,) = calls[-1].notes.approvals
    assert isinstance(approval, Approval)
    assert (approval.by, len(approval.digest)) == (by, 64)
    assert before - 1 <= approval.at <= time.time() + 1


def test_a_policy_asks_too() -> None:
    """Whoever the policy names must agree, and whoever the tool names."""
    for first in (True, False):
        for second in (True, False):
            policy = AccessPolicy(approve={"w*": lambda request, said=second: said, "other": say_yes})
            server, wiped, calls = shop(lambda request, said=first: said, access=policy)
            assert (wipe(server).problem is None) is (first and second)
            assert len(wiped) == (first and second)
    server, _, calls = shop(None, access=AccessPolicy(approve={"wipe": say_yes}))
    assert wipe(server).text == "wiped"
    assert [approval.by for approval in calls[-1].notes.approvals] == ["say_yes"]


def test_rules_come_before_people() -> None:
    """Nobody is asked for what may not be done anyway, nor for arguments that are wrong."""
    asked: list[Any] = []
    policy = AccessPolicy(where={"wipe": lambda principal, arguments: not arguments["hard"]})
    server, _, _ = shop(lambda request: not asked.append(request), access=policy)
    assert wipe(server, hard=True).problem["code"] == "denied"
    assert wipe(server, hard="perhaps").problem["code"] == "invalid_arguments"
    assert asked == []
    assert wipe(server).text == "wiped"


# --- no ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [False, None, 1, "yes", [True], object(), Decision(False), Decision(1)])  # type: ignore[arg-type]
def test_attack_17_only_true_is_yes(answer: Any) -> None:
    """Attack 17: what merely looks like a yes is none."""
    server, wiped, calls = shop(lambda request: answer)
    result = wipe(server)
    assert (result.is_error, result.problem["code"], wiped) == (True, "not_approved", [])
    assert (calls[-1].notes.rule, calls[-1].notes.approvals) == ("approval", ())
    assert decision_of(answer).allowed is False


def test_attack_17_an_approver_that_raises() -> None:
    """Attack 17: no, and its text stays in the log."""

    def approve(request: ApprovalRequest) -> bool:
        raise RuntimeError("postgres://u:hunter2@db")

    server, wiped, _ = shop(approve)
    result = wipe(server)
    assert (result.problem["code"], wiped) == ("not_approved", [])
    assert "hunter2" not in str(result.raw)


@pytest.mark.parametrize("is_async", [False, True])
def test_attack_17_silence_and_a_late_yes(is_async: bool) -> None:
    """Attack 17: after the deadline nothing counts any more."""
    late = threading.Event()

    def approve(request: ApprovalRequest) -> bool:
        late.wait(0.4)
        return True

    async def approve_stubbornly(request: ApprovalRequest) -> bool:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return True
        return True

    server, wiped, _ = shop(Approver(approve_stubbornly if is_async else approve, timeout=0.05))
    result = wipe(server)
    assert result.problem["code"] == "not_approved"
    assert "Nobody answered in time" in result.text
    late.set()
    time.sleep(0.05)
    assert wiped == []


def test_attack_17_arguments_changed_after_approval() -> None:
    """Attack 17: the approver has a copy; what it does to that changes nothing."""

    def approve(request: ApprovalRequest) -> bool:
        request.arguments["names"].append("everything")
        return True

    server, wiped, _ = shop(approve)
    assert wipe(server).text == "wiped"
    assert wiped == [(["a"], False)]


def test_attack_17_an_approval_for_other_arguments() -> None:
    """Attack 17: a decision that names a digest holds for that alone, so it cannot be used again."""
    kept: list[Decision] = []

    def approve(request: ApprovalRequest) -> Decision:
        kept.append(Decision(True, by="bob", digest=request.digest))
        return kept[0]

    server, wiped, _ = shop(approve)
    assert wipe(server).text == "wiped"
    assert wipe(server, names=["b"]).problem["code"] == "not_approved"
    assert wipe(server).text == "wiped"
    assert [names for names, _ in wiped] == [["a"], ["a"]]


@pytest.mark.parametrize("wrong", [True, "bob", 5])
def test_attack_17_no_approver(wrong: Any) -> None:
    """Attack 17: what cannot be asked is refused where it is written."""
    with pytest.raises(ConfigurationError, match="approve="):
        shop(wrong)


@pytest.mark.parametrize("timeout", [0, -1, True, "5"])
def test_a_deadline_is_a_number_of_seconds(timeout: Any) -> None:
    """For ever is too long."""
    with pytest.raises(ConfigurationError, match="timeout="):
        Approver(say_yes, timeout=timeout)


def test_an_approver_says_why() -> None:
    """Its words go to the one who reads the refusal."""
    server, _, _ = shop(lambda request: Decision(False, "Ask the team first."))
    assert wipe(server).problem["hint"] == "Ask the team first."


# --- what waiting costs --------------------------------------------------------------------------


def test_E4_waiting_for_approval_costs_neither_time_nor_slot() -> None:
    """Another call runs meanwhile, and the time of the tool begins with its own work."""
    may_answer: list[asyncio.Event] = []

    async def approve(request: ApprovalRequest) -> bool:
        await may_answer[0].wait()
        await asyncio.sleep(0.15)
        return True

    server, _, _ = shop(approve, limits=Limits(timeout=0.1, concurrency=1, queue=0))
    server.add_tool("quick", lambda: "quick", inline=True, limits=Limits(timeout=None))

    async def work(client: Any) -> list[str]:
        may_answer.append(asyncio.Event())
        waiting = asyncio.ensure_future(client.call_tool("wipe", {"names": ["a"]}))
        await asyncio.sleep(0.02)
        quick = await client.call_tool("quick")
        may_answer[0].set()
        return [quick.text, (await waiting).text]

    assert ask(server, work) == ["quick", "wiped"]


def test_waiting_people_do_not_take_the_threads_of_tools() -> None:
    """Plain approvers have a small pool of their own."""
    go = threading.Event()

    def approve(request: ApprovalRequest) -> bool:
        return go.wait(10)

    server, wiped, _ = shop(approve, threads=1)
    server.add_tool("quick", lambda: "quick")

    async def work(client: Any) -> int:
        waiting = [asyncio.ensure_future(client.call_tool("wipe", {"names": ["a"]})) for _ in range(6)]
        assert (await client.call_tool("quick")).text == "quick"
        go.set()
        return sum(result.text == "wiped" for result in await asyncio.gather(*waiting))

    assert ask(server, work) == 6
    assert len(wiped) == 6


def test_only_so_many_calls_wait_for_people() -> None:
    """More are refused as busy; a call that is cancelled frees its place."""

    async def approve(request: ApprovalRequest) -> bool:
        await asyncio.sleep(60)
        return True

    server, _, _ = shop(approve)

    async def work(client: Any) -> list[str]:
        def call() -> Any:
            return asyncio.ensure_future(client.call_tool("wipe", {"names": ["a"]}))

        waiting = [call() for _ in range(64)]
        await asyncio.sleep(0.05)
        refused = await call()
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return [refused.problem["code"]]

    assert ask(server, work) == ["busy"]
