"""How long, how many at once, and how large.

The law of the file: what is counted is given back exactly once, by whoever ends last: a call that nobody
waits for any more holds its slots until its thread has ended. Waiting for a person costs neither.
"""

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from typing import Any, Final, Literal

import msgspec

from typegate.contract.gate import INHERIT, Inherit
from typegate.errors import Busy, ConfigurationError, TimedOut, TooLarge
from typegate.guards.calls import Call, Handler, caller_of
from typegate.guards.sizes import advice, cut, size_of, words
from typegate.guards.slots import Slot, Slots
from typegate.types import CallToolResult, Result
from typegate.wire.jsonrpc import raw_arguments

__all__ = ["DEFAULT_LIMITS", "Limiter", "Limits"]

log: Final = logging.getLogger("typegate")

RUNS: Final = {
    "tools/call": "Tool",
    "resources/read": "Resource",
    "prompts/get": "Prompt",
    "completion/complete": "Completion",
}
"""The methods that run an author's function, and what it is called."""


# --- what authors write --------------------------------------------------------------------------


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a function may run, how many at once, and how large what goes in and out may be.

    What a tool leaves unset is the server's, but for `concurrency`, `queue` and `per_caller`: these count
    the calls of the tool on the tool, and all calls on the server; both hold.

    Attributes:
        timeout: seconds until the caller is told that it took too long; `None`: no limit.
        concurrency: how many calls run at once; `None`: no limit.
        queue: how many more may wait for one to end; further ones are refused as `busy`.
        per_caller: how many calls of one caller run at once; `None`: no limit. One caller may fill half
            of the queue.
        max_arguments_bytes: of the arguments, as JSON.
        max_result_bytes: of all texts and data of a result together.
        on_large: `"refuse"` a result that is larger, or `"cut"` it after the last block that fits; one with
            structured content is always refused, since half of it would be something else.

    Raises:
        ConfigurationError: a field has a value that it cannot have.
    """

    timeout: float | Inherit | None = INHERIT
    concurrency: int | Inherit | None = INHERIT
    queue: int | Inherit = INHERIT
    per_caller: int | Inherit | None = INHERIT
    max_arguments_bytes: int | Inherit = INHERIT
    max_result_bytes: int | Inherit = INHERIT
    on_large: Literal["refuse", "cut"] | Inherit = INHERIT

    def __post_init__(self) -> None:
        for name, (least, may_be_none) in _COUNTS.items():
            value = getattr(self, name)
            if value is INHERIT or (value is None and may_be_none):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigurationError(f"Limits({name}=) takes an integer of at least {least}")
        if self.timeout is not INHERIT and self.timeout is not None and not _is_seconds(self.timeout):
            raise ConfigurationError("Limits(timeout=) takes a number of seconds above 0, or None")
        if self.on_large not in (INHERIT, "refuse", "cut"):
            raise ConfigurationError("Limits(on_large=) takes 'refuse' or 'cut'")

    @property
    def uncounted(self) -> "Limits":
        """The same without what is counted on a server of its own."""
        return msgspec.structs.replace(self, concurrency=INHERIT, queue=INHERIT, per_caller=INHERIT)

    def over(self, outer: "Limits") -> "Limits":
        """These, with what they leave unset taken from *outer*."""
        own = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(
            outer, **{name: value for name, value in own.items() if value is not INHERIT}
        )


_COUNTS: Final = {
    "concurrency": (1, True),
    "queue": (0, False),
    "per_caller": (1, True),
    "max_arguments_bytes": (2, False),
    "max_result_bytes": (1, False),
}
"""Field -> the least that it takes, and whether it takes None."""

DEFAULT_LIMITS: Final = Limits(
    timeout=None,
    concurrency=1024,
    queue=8192,
    per_caller=None,
    max_arguments_bytes=4 * 2**20,
    max_result_bytes=8 * 2**20,
    on_large="refuse",
)
"""What holds where nobody said otherwise."""


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


# --- the guard -----------------------------------------------------------------------------------


class Limiter:
    """The guard of a running server.

    Args:
        server: what was written for the server, laid over the defaults.
    """

    def __init__(self, server: Limits) -> None:
        self._server = server
        self._slots = Slots()
        self._everyone = _slot("server", server.concurrency, server, "limits.concurrency")
        self._alone = () if self._everyone is None else (self._everyone,)
        self._is_plain = server.per_caller is None

    def guard(self, call: Call, handler: Handler) -> Awaitable[Result]:
        """Run the author's function within its limits; what runs none passes."""
        if call.target is None and call.request.method != "completion/complete":
            return handler(call)
        return self._run(call, handler)

    async def _run(self, call: Call, handler: Handler) -> Result:
        target = call.target
        limits: Any = self._server if target is None else target.limits
        if len(call.request.line) > limits.max_arguments_bytes:
            _check_arguments(call, limits.max_arguments_bytes)
        needs = self._alone if limits is self._server and self._is_plain else self._needs(call)
        lease = call.notes.lease = _Lease(self._slots, needs)
        blocked = self._slots.take(needs)
        if blocked is not None:
            await lease.queue(call, blocked)
        try:
            if limits.timeout is None:
                result = await handler(call)
            else:
                result = await _within(limits.timeout, lease, call, handler)
        finally:
            if lease.thread is None or lease.thread.left():
                lease.free()
        if size_of(result) > limits.max_result_bytes:
            return _fitting(call, result, limits)
        return result

    def _needs(self, call: Call) -> tuple[Slot, ...]:
        """What a call takes of the server, of its caller's share and of its tool."""
        server = self._server
        own: Limits | None = getattr(getattr(call.target, "options", None), "limits", None)
        caller = caller_of(call.principal)
        found: list[Slot | None] = [
            self._everyone,
            _slot(caller, server.per_caller, server, "limits.per_caller", 2),
        ]
        if own is not None:
            key = (call.request.method, call.target.key)
            found.append(_slot(key, own.concurrency, own, "limits.tool.concurrency"))
            found.append(_slot((*key, caller), own.per_caller, own, "limits.tool.per_caller", 2))
        return tuple(slot for slot in found if slot is not None)


def _slot(key: Hashable, limit: Any, limits: Limits, rule: str, share: int = 1) -> Slot | None:
    if limit is None or limit is INHERIT:
        return None
    queue: Any = DEFAULT_LIMITS.queue if limits.queue is INHERIT else limits.queue
    return Slot(key, limit, -(-queue // share), rule)


class _Lease(msgspec.Struct, gc=False):
    """What one call holds."""

    slots: Slots
    needs: tuple[Slot, ...]
    holds: bool = True
    thread: "_Thread | None" = None
    deadline: asyncio.Timeout | None = None

    def free(self) -> None:
        """Give the slots back, once."""
        self.thread = None  # it holds this lease: nothing is left in a circle
        if self.holds:
            self.holds = False
            self.slots.give_back(self.needs)

    @contextlib.asynccontextmanager
    async def pause(self) -> AsyncIterator[None]:
        """Neither slots nor time inside; a call that ends there takes nothing again."""
        deadline, left = self.deadline, 0.0
        loop = asyncio.get_running_loop()
        if deadline is not None:
            left = (deadline.when() or 0.0) - loop.time()
            deadline.reschedule(None)
        self.free()
        yield
        await self.take()
        if deadline is not None:
            deadline.reschedule(loop.time() + left)

    async def take(self) -> None:
        """Wait for the slots, however long the line is."""
        blocked = self.slots.take(self.needs)
        if blocked is not None:
            await self.wait(blocked)
        self.holds = True

    async def queue(self, call: Call, blocked: Slot) -> None:
        """Stand in line, unless too many do.

        Raises:
            Busy: they do.
        """
        full = self.slots.full(self.needs)
        if full is not None:
            call.notes.rule = full.rule
            raise Busy(
                f"Too busy for {_name(call)}: {full.limit} calls run and {full.queue} wait already",
                hint="Wait a second, then call again; send fewer calls at once.",
                retry_after=1.0,
            )
        loop = asyncio.get_running_loop()
        since = loop.time()
        await self.wait(blocked)
        call.notes.queued = loop.time() - since

    async def wait(self, blocked: Slot) -> None:
        """Stand in line; who goes away in between leaves no gap."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = self.slots.wait(self.needs, blocked, functools.partial(_wake, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if waiter.granted:
                self.slots.give_back(self.needs)
            else:
                self.slots.leave(waiter)
            raise

    def held(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """The function for a thread: the slots are held until it has ended."""
        self.thread = thread = _Thread(self.free)
        return functools.partial(thread.run, function)


def _wake(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)


class _Thread:
    """A function on a thread, which may go on after its call is over."""

    __slots__ = ("_free", "_is_left", "_lock", "_loop", "_running")

    def __init__(self, free: Callable[[], None]) -> None:
        self._free = free
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._running = False
        self._is_left = False

    def run(self, function: Callable[[], Any]) -> Any:
        """On the thread."""
        with self._lock:
            if self._is_left:  # nobody waits for it, and its slots are given back
                return None
            self._running = True
        try:
            return function()
        finally:
            with self._lock:
                self._running = False
            if self.is_left:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._free)

    @property
    def is_left(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._is_left

    def left(self) -> bool:
        """On the loop: nobody waits for it any more; whether it is not running either."""
        with self._lock:
            self._is_left = True
            return not self._running


async def _within(seconds: float, lease: _Lease, call: Call, handler: Handler) -> Result:
    """Run it, and free the caller when its time is over."""
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            lease.deadline = deadline
            result = await handler(call)
    except TimeoutError:
        if not deadline.expired():
            raise
        call.notes.rule = "limits.timeout"
        kind = RUNS[call.request.method]
        name = f" '{call.target.key}'" if call.target is not None else ""
        raise TimedOut(f"{kind}{name} took longer than {seconds:g} seconds", hint=_after(call)) from None
    finally:
        lease.deadline = None
    return result


def _name(call: Call) -> str:
    return call.request.method if call.target is None else f"'{call.target.key}'"


def _after(call: Call) -> str:
    """What to do after a timeout: what changes something may have done so."""
    hints = getattr(getattr(call.target, "listed", None), "annotations", None)
    harmless = call.request.method != "tools/call" or getattr(hints, "read_only_hint", None) is True
    if harmless:
        return "Ask for less, or call again later."
    return "It may have taken effect all the same: look before you call again."


def _check_arguments(call: Call, most: int) -> None:
    """The line is longer than the arguments may be; are they?"""
    size = len(call.request.line)
    if call.request.method in ("tools/call", "prompts/get"):
        size = len(raw_arguments(call.request))
    if size > most:
        call.notes.rule = "limits.arguments"
        raise TooLarge(
            f"The arguments of {_name(call)} have {words(size)}; at most {words(most)} are allowed",
            hint="Send less in one call.",
        )


def _fitting(call: Call, result: Result, limits: Limits) -> Result:
    """What goes out in place of a result that is too large."""
    most: Any = limits.max_result_bytes
    if limits.on_large == "cut" and isinstance(result, CallToolResult):
        shorter = cut(result, most)
        if shorter is not None:
            call.notes.cut = True
            return shorter
    call.notes.rule = "limits.result"
    listed = getattr(call.target, "listed", None)
    raise TooLarge(
        f"The result of {_name(call)} has {words(size_of(result))}; at most {words(most)} are allowed",
        hint=advice(getattr(listed, "input_schema", None)),
    )
