"""Who must say yes before a tool runs.

The law of the file: the answer is no. Only a plain yes, in time, to exactly the arguments that the function
will get lets a call pass; an exception, silence, and anything that merely looks like a yes do not.
"""

import asyncio
import contextlib
import copy
import functools
import hashlib
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from typegate.contract.results import to_json
from typegate.errors import Busy, ConfigurationError, NotApproved
from typegate.guards.calls import Approval, Call, Decision
from typegate.types import Principal

__all__ = ["APPROVAL_THREADS", "ApprovalRequest", "Approvals", "Approver", "approver_of", "decision_of"]

log: Final = logging.getLogger("typegate")

APPROVAL_THREADS: Final = 4
"""How many plain approvers run at once: they wait for people, and must not take the threads of tools."""

MAX_PENDING: Final = 64
"""How many calls wait for an answer at once; more are refused as `busy`."""

Run = Callable[[Callable[[], Any]], Awaitable[Any]]


# --- values --------------------------------------------------------------------------------------


class ApprovalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be approved.

    Attributes:
        tool: its name.
        arguments: what the function will get, defaults included: a copy of its own, which may be kept.
        principal: who calls, as far as it was verified.
        digest: SHA-256 of the tool and the arguments; an answer that names another one is no.
    """

    tool: str
    arguments: Mapping[str, Any]
    principal: Principal | None
    digest: str


class Approver(msgspec.Struct, frozen=True):
    """Who is asked, and for how long.

    Args:
        ask: takes the `ApprovalRequest` and returns `True`, `False` or a `Decision`; sync or async. A plain
            function runs on a thread of a small pool of its own.
        timeout: seconds until silence is no.

    Raises:
        ConfigurationError: `ask` cannot be called, or `timeout` is no number of seconds.
    """

    ask: Callable[[ApprovalRequest], Any]
    timeout: float = 120.0

    def __post_init__(self) -> None:
        if not callable(self.ask):
            raise ConfigurationError("approve= takes a function of the request: approve=ask")
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, int | float) or self.timeout <= 0:
            raise ConfigurationError("Approver(timeout=) takes a number of seconds above 0")

    @property
    def name(self) -> str:
        """What the record calls it where it does not say who approved."""
        return str(getattr(self.ask, "__qualname__", type(self.ask).__name__))


def approver_of(value: object) -> Approver:
    """What `approve=` was given, as one value.

    Raises:
        ConfigurationError: it cannot be asked.
    """
    return value if isinstance(value, Approver) else Approver(value)  # type: ignore[arg-type]


def decision_of(answer: object) -> Decision:
    """An answer as a decision: `True`, or one that says `allowed=True`, is yes; everything else is no."""
    if isinstance(answer, Decision):
        return answer if answer.allowed is True else msgspec.structs.replace(answer, allowed=False)
    return Decision(answer is True)


def request_for(tool: str, arguments: Mapping[str, Any], principal: Principal | None) -> ApprovalRequest:
    """What an approver is shown: a copy, so that nothing that happens to it changes what runs.

    Raises:
        Exception: the arguments cannot be copied or written down.
    """
    seen = copy.deepcopy(dict(arguments))
    tree = msgspec.json.decode(to_json({"tool": tool, "arguments": seen}))
    written = msgspec.json.encode(tree, order="sorted")
    digest = hashlib.sha256(written).hexdigest()
    return ApprovalRequest(tool=tool, arguments=seen, principal=principal, digest=digest)


# --- the step ------------------------------------------------------------------------------------


class Approvals:
    """The step that asks those who must approve a call, one after the other.

    Args:
        more: those that the server's policy adds to the tool's own.
        run: calls a plain function on a thread.
        clock: seconds since 1970.
    """

    def __init__(
        self, more: Callable[[Call], Sequence[Approver]] | None, run: Run, clock: Callable[[], float]
    ) -> None:
        self._more = more
        self._run = run
        self._clock = clock
        self._pending = 0

    def admit(self, call: Call, values: Mapping[str, Any]) -> Awaitable[None] | None:
        """Ask whoever must be asked.

        Raises:
            NotApproved: one of them did not say yes.
            Busy: too many calls wait for an answer.
        """
        own: Approver | None = getattr(call.target.options, "approve", None)
        asked = [] if own is None else [own]
        if self._more is not None:
            asked += self._more(call)
        return self._ask_all(call, asked, values) if asked else None

    async def _ask_all(self, call: Call, asked: Sequence[Approver], values: Mapping[str, Any]) -> None:
        if self._pending >= MAX_PENDING:
            call.notes.rule = "approval.pending"
            raise Busy(
                f"'{call.target.key}' must be approved, and too many calls wait for that already",
                hint="Call again once some of them are answered.",
                retry_after=5.0,
            )
        self._pending += 1
        try:
            async with _paused(call):
                for approver in asked:
                    await self._ask(call, approver, values)
        finally:
            self._pending -= 1

    async def _ask(self, call: Call, approver: Approver, values: Mapping[str, Any]) -> None:
        name = str(call.target.key)
        try:
            request = request_for(name, call.target.callback.seen(values), call.principal)
            decision = decision_of(await _answer(approver, request, self._run))
        except TimeoutError:
            decision = Decision(False, "Nobody answered in time.")
            log.warning("nobody approved '%s' within %g seconds", name, approver.timeout)
        except Exception:
            decision = Decision(False)
            log.exception("the approver of '%s' failed; the call is not approved", name)
        else:
            if decision.allowed and decision.digest in (None, request.digest):
                by = decision.by or approver.name
                call.notes.approvals = (*call.notes.approvals, Approval(by, self._clock(), request.digest))
                return
        call.notes.rule = "approval"
        raise NotApproved(
            f"'{name}' was not approved",
            hint=decision.reason or "The function did not run. Do not repeat the call as it is.",
        )


async def _answer(approver: Approver, request: ApprovalRequest, run: Run) -> object:
    """What it says within its time.

    Raises:
        TimeoutError: nothing, or too late.
    """
    async with asyncio.timeout(approver.timeout) as deadline:
        if inspect.iscoroutinefunction(approver.ask):
            answer = await approver.ask(request)
        else:
            answer = await run(functools.partial(approver.ask, request))
            answer = await answer if inspect.isawaitable(answer) else answer
    if deadline.expired():  # it held out against being cancelled
        raise TimeoutError
    return answer


def _paused(call: Call) -> contextlib.AbstractAsyncContextManager[None]:
    """Waiting for a person costs neither slots nor time (requirement E4)."""
    lease = call.notes.lease
    return contextlib.nullcontext() if lease is None else lease.pause()
