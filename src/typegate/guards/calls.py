"""A call, its handler and the guards around it: the one shape of everything that happens to a request.

The law of the file: a guard takes a call and the handler behind it, and answers or raises. There is no
other kind of middleware, and the chain is built once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from typegate.types import Json, Principal, Result
from typegate.wire.connection import Peer, Session
from typegate.wire.jsonrpc import Request

__all__ = [
    "Admit",
    "Approval",
    "Call",
    "CallRecord",
    "Caller",
    "Channel",
    "Decision",
    "Guard",
    "Handler",
    "Lease",
    "Notes",
    "caller_of",
    "compose",
]


class Channel(Protocol):
    """The way back to the client of a call, for what is said before the answer."""

    @property
    def session(self) -> Session | None:
        """What a handshake client has settled; `None` for a stateless one."""
        ...

    def notify(self, peer: Peer, method: str, params: dict[str, Json], about: Request | None = None) -> None:
        """Send a notification; never blocks, and may be called from any thread.

        One that is *about* a request is dropped once nobody wants the answer to that.
        """

    @property
    def full(self) -> bool:
        """Whether the client does not keep up: nothing that is not under way yet should begin."""
        ...

    async def drain(self) -> None:
        """Wait until the client has taken most of what was sent."""

    def waits(self, request: Request) -> bool:
        """Whether somebody still wants the answer to *request*."""
        ...


class CallRecord(Protocol):
    """What a guard or handler may do with the audit record of its call."""

    def add(self, **facts: Json) -> None:
        """Add what is known: `rule`, `cost`, `approval`, ...; `outcome` decides."""

    async def intent(self) -> None:
        """Have it on record that a destructive tool is about to run."""


class Lease(Protocol):
    """What a call holds of the server while it runs: its slots and its time."""

    def pause(self) -> AbstractAsyncContextManager[None]:
        """Wait for a person inside: that costs neither slots nor time."""
        ...

    def held(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """The same for a thread: the slots are held until it has ended, whoever still waits for it."""
        ...


class Decision(msgspec.Struct, frozen=True):
    """What a rule, a policy engine or an approver says of one call.

    Attributes:
        allowed: `True` lets the call pass, and nothing else does.
        reason: for the one who reads the refusal.
        by: who decided, for the record.
        digest: what was decided on; where it is given, it must be that of the call (see `ApprovalRequest`).
    """

    allowed: bool
    reason: str | None = None
    by: str | None = None
    digest: str | None = None


class Approval(msgspec.Struct, frozen=True):
    """That a call was approved.

    Attributes:
        by: who did it, as the approver says, else the name of the approver.
        at: when, in seconds since 1970.
        digest: of the tool and the arguments that were approved.
    """

    by: str
    at: float
    digest: str


class Notes(msgspec.Struct, gc=False):
    """What becomes known of a call on its way, for those around it and for its record.

    Attributes:
        rule: which rule refused it, such as `rate.tool` or `access.where`.
        approvals: who approved it.
        queued: seconds that it waited for a slot.
        cut: whether blocks of its result were left out.
        lease: what it holds; `None` where nothing is counted.
    """

    rule: str | None = None
    approvals: tuple[Approval, ...] = ()
    queued: float = 0.0
    cut: bool = False
    lease: Lease | None = None


class Call(msgspec.Struct, frozen=True, gc=False):
    """One request on its way to a handler.

    Attributes:
        request: the message.
        target: the component that it names, looked up once; `None` where it names none or an unknown one.
        peer: the client as this request sees it.
        principal: who is calling, as far as it was verified.
        channel: the way back.
        variables: what a resource template found in the URI.
        record: its audit record, where there is a log.
        notes: what the guards find out; the one part that changes.
    """

    request: Request
    target: Any
    peer: Peer
    principal: Principal | None
    channel: Channel
    variables: Mapping[str, Any] = {}
    record: CallRecord | None = None
    notes: Notes = msgspec.field(default_factory=Notes)


Handler = Callable[[Call], Awaitable[Result]]
Guard = Callable[[Call, Handler], Awaitable[Result]]
Admit = Callable[[Call, Mapping[str, Any]], Awaitable[None] | None]
"""A step between binding and running: it sees the values that the function will get, and lets them pass or
raises; what it gives back, if anything, is waited for."""

Caller = tuple[str | None, str | None, str | None]
"""Who is calling, as a key: issuer, subject and client; all `None` for nobody in particular."""

_NOBODY: Caller = (None, None, None)


def caller_of(principal: Principal | None) -> Caller:
    """What a caller is told apart by: what was verified, never what it says of itself."""
    return _NOBODY if principal is None else (principal.issuer, principal.subject, principal.client)


def compose(guards: Sequence[Guard], handler: Handler) -> Handler:
    """The handler with the guards around it, the first one outermost."""
    for guard in reversed(guards):
        handler = _around(guard, handler)
    return handler


def _around(guard: Guard, handler: Handler) -> Handler:
    def guarded(call: Call) -> Awaitable[Result]:
        return guard(call, handler)

    return guarded
