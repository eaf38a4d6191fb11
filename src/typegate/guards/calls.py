"""A call, its handler and the guards around it: the one shape of everything that happens to a request.

The law of the file: a guard takes a call and the handler behind it, and answers or raises. There is no
other kind of middleware, and the chain is built once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from typegate.types import Json, Principal, Result
from typegate.wire.connection import Peer, Session
from typegate.wire.jsonrpc import Request

__all__ = ["Call", "CallRecord", "Channel", "Guard", "Handler", "compose"]


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
    """

    request: Request
    target: Any
    peer: Peer
    principal: Principal | None
    channel: Channel
    variables: Mapping[str, Any] = {}
    record: CallRecord | None = None


Handler = Callable[[Call], Awaitable[Result]]
Guard = Callable[[Call, Handler], Awaitable[Result]]


def compose(guards: Sequence[Guard], handler: Handler) -> Handler:
    """The handler with the guards around it, the first one outermost."""
    for guard in reversed(guards):
        handler = _around(guard, handler)
    return handler


def _around(guard: Guard, handler: Handler) -> Handler:
    def guarded(call: Call) -> Awaitable[Result]:
        return guard(call, handler)

    return guarded
