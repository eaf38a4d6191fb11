"""What `typegate.guards.calls` promises: guards around a handler, the first outermost, each with the call."""

import asyncio
from typing import Any

import msgspec
import pytest

from typegate.errors import InvalidParams, ToolError
from typegate.guards.calls import Call, Channel, Guard, Handler, compose
from typegate.types import EmptyResult, Json, Principal, Result
from typegate.versions import LATEST_MODERN
from typegate.wire.connection import Peer, Session
from typegate.wire.jsonrpc import Request

SOMEBODY = Principal(subject="somebody")


class Silence:
    """A way back on which nothing travels."""

    session: Session | None = None
    full = False

    def notify(self, peer: Peer, method: str, params: dict[str, Json], about: Request | None = None) -> None:
        """Say nothing."""

    async def drain(self) -> None:
        """Wait for nothing."""

    def waits(self, request: Request) -> bool:
        """Nobody does."""
        return False


CHANNEL: Channel = Silence()
CALL = Call(Request(1, "tools/call", {"name": "t"}), "target", Peer(version=LATEST_MODERN), None, CHANNEL)


def answer(name: str) -> EmptyResult:
    """An answer that can be told from others."""
    return EmptyResult(meta={"from": name})


class Log:
    """What happened, in order, and the guards and handlers that write it down."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def guard(self, name: str) -> Guard:
        """One that lets everything pass."""

        async def guard(call: Call, handler: Handler) -> Result:
            self.said.append((f"{name} in", call))
            try:
                return await handler(call)
            finally:
                self.said.append((f"{name} out", call))

        return guard

    async def handler(self, call: Call) -> Result:
        """The end of the chain."""
        self.said.append(("handler", call))
        return answer("handler")

    def steps(self) -> list[str]:
        """The names alone."""
        return [name for name, _ in self.said]


async def refuse(call: Call, handler: Handler) -> Result:
    """A guard that lets nothing pass."""
    raise InvalidParams("refused")


async def replace(call: Call, handler: Handler) -> Result:
    """A guard that answers by itself."""
    return answer("guard")


async def verify(call: Call, handler: Handler) -> Result:
    """A guard that finds out who is calling."""
    return await handler(msgspec.structs.replace(call, principal=SOMEBODY))


async def mend(call: Call, handler: Handler) -> Result:
    """A guard that makes an answer of what is raised behind it."""
    try:
        return await handler(call)
    except (InvalidParams, ToolError) as error:
        return answer(str(error))


async def decorate(call: Call, handler: Handler) -> Result:
    """A guard that adds to the answer."""
    result = await handler(call)
    return msgspec.structs.replace(result, meta={**(result.meta or {}), "decorated": True})


async def twice(call: Call, handler: Handler) -> Result:
    """A guard that asks again."""
    await handler(call)
    return await handler(call)


def run(handler: Handler, call: Call = CALL) -> Result:
    """The answer to a call."""

    async def main() -> Result:
        return await handler(call)

    return asyncio.run(main())


# --- the order -----------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["", "a", "ab", "abc"])
def test_the_first_guard_is_the_outermost(names: str) -> None:
    """It sees the call first and the answer last."""
    log = Log()
    assert run(compose([log.guard(name) for name in names], log.handler)) == answer("handler")
    expected = [f"{name} in" for name in names] + ["handler"] + [f"{name} out" for name in reversed(names)]
    assert log.steps() == expected


def test_without_guards_there_is_only_the_handler() -> None:
    """Nothing stands around it."""
    log = Log()
    assert compose((), log.handler) == log.handler


def test_each_guard_sees_the_call_itself() -> None:
    """With all that is known of it, and no copy."""
    log = Log()
    run(compose([log.guard("a"), log.guard("b")], log.handler))
    assert len(log.said) == 5
    assert all(call is CALL for _, call in log.said)


def test_the_chain_is_built_once() -> None:
    """What happens to the list of guards later makes no difference to it."""
    log = Log()
    guards = [log.guard("a"), log.guard("b")]
    handler = compose(guards, log.handler)
    guards[0] = refuse
    guards.append(refuse)
    assert run(handler) == answer("handler")
    assert log.steps() == ["a in", "b in", "handler", "b out", "a out"]


def test_a_chain_can_be_used_again_and_at_the_same_time() -> None:
    """It keeps nothing of a call."""
    log = Log()
    handler = compose([verify, log.guard("a")], log.handler)
    others = [msgspec.structs.replace(CALL, variables={"n": n}) for n in range(3)]

    async def main() -> list[Result]:
        return list(await asyncio.gather(*map(handler, others)))

    assert asyncio.run(main()) == [answer("handler")] * 3
    assert sorted(call.variables["n"] for name, call in log.said if name == "handler") == [0, 1, 2]


def test_a_chain_is_a_handler() -> None:
    """So that it can be put into another one."""
    log = Log()
    run(compose([log.guard("a")], compose([log.guard("b")], log.handler)))
    assert log.steps() == ["a in", "b in", "handler", "b out", "a out"]


# --- what a guard may do -------------------------------------------------------------------------


@pytest.mark.parametrize("where", [0, 1, 2])
def test_a_guard_that_raises_ends_the_call(where: int) -> None:
    """Nothing behind it runs; those before it see the exception, and so does the caller."""
    log = Log()
    guards = [log.guard("a"), log.guard("b")]
    guards.insert(where, refuse)
    with pytest.raises(InvalidParams, match="refused"):
        run(compose(guards, log.handler))
    before = "ab"[:where]
    assert log.steps() == [f"{name} in" for name in before] + [f"{name} out" for name in reversed(before)]


def test_a_guard_that_answers_ends_the_call_too() -> None:
    """Its answer passes the guards before it."""
    log = Log()
    assert run(compose([log.guard("a"), replace, log.guard("b")], log.handler)) == answer("guard")
    assert log.steps() == ["a in", "a out"]


def test_a_guard_may_pass_another_call_on() -> None:
    """Those behind it see that one, those before it the first."""
    log = Log()
    run(compose([log.guard("a"), verify, log.guard("b")], log.handler))
    seen = {name: call.principal for name, call in log.said}
    assert seen == {"a in": None, "b in": SOMEBODY, "handler": SOMEBODY, "b out": SOMEBODY, "a out": None}


def test_a_guard_may_change_the_answer() -> None:
    """Or ask for it again."""
    log = Log()
    result = run(compose([decorate, twice], log.handler))
    assert result.meta == {"from": "handler", "decorated": True}
    assert log.steps() == ["handler", "handler"]


@pytest.mark.parametrize("guards", [[mend, refuse], [mend, decorate, refuse]])
def test_a_guard_may_catch_what_is_raised_behind_it(guards: list[Guard]) -> None:
    """By a guard or by the handler; not what is raised before it."""

    async def fail(call: Call) -> Result:
        raise ToolError("failed")

    assert run(compose(guards, fail)) == answer("refused")
    assert run(compose([mend], fail)) == answer("failed")
    with pytest.raises(InvalidParams):
        run(compose([refuse, mend], fail))


# --- the call ------------------------------------------------------------------------------------


def test_a_call_cannot_be_changed() -> None:
    """A guard that wants another one makes another one."""
    for field in Call.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(CALL, field, None)


def test_a_call_has_no_variables_of_its_own() -> None:
    """Only a template finds some."""
    assert CALL.variables == {}
    names = ("request", "target", "peer", "principal", "channel", "variables", "record", "notes")
    assert Call.__struct_fields__ == names
