"""Events → answers: the loop's side of one connection, whatever carries its bytes.

The law of the file: this is the only place where an exception becomes an answer, and every answer and
notification leaves through `Sink.write`. A request runs in a task of its own, started in place; only one
that really waits costs more than a function call.
"""

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import msgspec

from typegate.errors import AuditFailed, InternalError, InvalidRequest, InvalidResult, ProtocolError
from typegate.guards.audit import AuditLog, Opened
from typegate.guards.calls import Call, Handler
from typegate.guards.endings import CODES, ending
from typegate.guards.redaction import Redactor
from typegate.server.bus import Change
from typegate.server.components import ToolPlan
from typegate.server.failures import failure
from typegate.server.handlers import CHANGES, Service, find_target
from typegate.types import Json, Principal, Result
from typegate.wire.connection import (
    Batch,
    CancelRequested,
    Connection,
    Event,
    Malformed,
    Peer,
    RequestReceived,
    Session,
    Terms,
)
from typegate.wire.framing import TooLong
from typegate.wire.jsonrpc import Id, Request

__all__ = ["Runner", "Serving", "Sink"]

log: Final = logging.getLogger("typegate")

DROPPABLE: Final = frozenset({"notifications/progress", "notifications/message"})
"""What is left out while the client does not keep up."""


STRUCTURED: Final = ("result", "structuredContent")
"""Where the structured content stands in an answer."""

End = tuple[BaseException | None, Result | ProtocolError, bytes | None]
"""What a call raised, what its client is told, and the line that says so."""


class Sink(Protocol):
    """Where messages go."""

    @property
    def full(self) -> bool:
        """Whether more waits to be taken than there should be."""
        ...

    def write(self, message: bytes) -> None:
        """Take one message; never blocks."""

    async def drain(self) -> None:
        """Wait until it is no longer full."""


class Serving(msgspec.Struct, frozen=True):
    """A server that has started: what every connection to it needs."""

    service: Service
    handle: Handler
    terms: Terms
    audit: AuditLog | None = None
    redactor: Redactor | None = None


class Runner:
    """One connection of a running server.

    Args:
        serving: the server.
        sink: where its messages go.
        principal: who is at the other end, where the transport knows.
    """

    def __init__(
        self, serving: Serving, sink: Sink, principal: Principal | None = None, transport: str = ""
    ) -> None:
        self._audit = serving.audit
        self._redactor = serving.redactor
        self._transport = transport
        self._service = serving.service
        self._handle = serving.handle
        self._connection = Connection(serving.terms)
        self._sink = sink
        self._principal = principal
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._running: dict[Id, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._unsubscribe = self._service.bus.subscribe(self._tell)

    # --- in

    def receive(self, line: bytes | TooLong) -> None:
        """Take one message: answer it, start what answers it, or let it pass."""
        if isinstance(line, TooLong):
            event: Event = self._connection.refuse(InvalidRequest("The message is larger than the limit"))
        else:
            event = self._connection.receive(line)
        if isinstance(event, RequestReceived):
            self._start(self._answer(event, self._sink.write), event.request.id)
        elif isinstance(event, Malformed):
            self._refuse(event, 0 if isinstance(line, TooLong) else len(line), self._sink.write)
        elif isinstance(event, CancelRequested):
            self._cancel(event.id)
        elif isinstance(event, Batch):
            self._start(self._respond_to_batch(event), None)

    def _cancel(self, id_: Id) -> None:
        task = self._running.get(id_)
        if task is not None:
            task.cancel()

    def _start(self, coroutine: Coroutine[Any, Any, None], id_: Id | None) -> "asyncio.Task[None]":
        task = _started(coroutine, self._loop)
        if not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            if id_ is not None:
                self._running[id_] = task
                task.add_done_callback(lambda done: self._forget(id_, done))
        return task

    def _forget(self, id_: Id, task: "asyncio.Task[None]") -> None:
        if self._running.get(id_) is task:
            del self._running[id_]

    # --- one request

    async def _respond_to_batch(self, batch: Batch) -> None:
        """Answer the members together; the answers travel as one array (2025-03-26)."""
        replies: list[bytes] = []
        tasks: list[asyncio.Task[None]] = []
        for event in batch.events:
            if isinstance(event, RequestReceived):
                tasks.append(self._start(self._answer(event, replies.append), event.request.id))
            elif isinstance(event, Malformed):
                tasks += self._refuse(event, 0, replies.append)
            elif isinstance(event, CancelRequested):
                self._cancel(event.id)
        if tasks:
            await asyncio.wait(tasks)
        if replies:
            self._sink.write(b"[%b]" % b",".join(replies))

    async def _answer(self, received: RequestReceived, write: Callable[[bytes], None]) -> None:
        """Look up what is meant, pass the guards, run, and put the outcome in the words of the client.

        Nothing is written for a request that the client has cancelled.
        """
        request = received.request
        target, variables = find_target(self._service.catalogue, request, self._principal)
        record = None
        if self._audit is not None:
            record = self._audit.open(request, received.peer, self._principal, target, self._transport)
        call = Call(request, target, received.peer, self._principal, self, variables, record)
        outcome: Result | ProtocolError
        error: BaseException | None = None
        try:
            outcome = await self._handle(call)
        except BaseException as raised:
            if isinstance(raised, asyncio.CancelledError) and not self.waits(request):
                self._close_unanswered(call, record, raised)
                raise
            error, outcome = raised, _failed(call, raised)
        try:
            reply = self._encoded(received, call, outcome)
        except InvalidResult as withheld:
            error, outcome = withheld, _failed(call, withheld)
            reply = self._cleaned(self._connection.encode(received, outcome))
        except Exception as unwritable:
            log.exception("the answer to '%s' cannot be written", request.method)
            error, outcome = unwritable, InternalError("The answer cannot be written")
            reply = self._connection.encode(received, outcome)
        if record is not None:
            reply = await self._recorded(received, call, record, (error, outcome, reply))
        self._connection.settle(received)
        if reply is not None:
            write(reply)

    # --- without secrets

    def _encoded(
        self, received: RequestReceived, call: Call, outcome: Result | ProtocolError
    ) -> bytes | None:
        """The line that answers, without secrets.

        Raises:
            InvalidResult: it cannot be checked, or its schema has no room for what stands for a secret.
        """
        line = self._connection.encode(received, outcome)
        if line is None or self._redactor is None:
            return line
        plan = call.target if isinstance(call.target, ToolPlan) else None
        is_wrapped = plan is not None and plan.results.wraps and not received.peer.version.modern
        found = self._redactor.examine_line(line, None if plan is None else plan.secrets)
        if found.kinds and call.record is not None:
            call.record.add(redactions=dict(found.kinds))
        if plan is not None and any(path[:2] == STRUCTURED for path in found.paths):
            result = msgspec.json.decode(found.value)["result"]
            structured = result["structuredContent"]
            if not (
                result.get("isError")
                or plan.results.still_fits(structured["result"] if is_wrapped else structured)
            ):
                raise InvalidResult("returned a secret where its output schema has no room for a placeholder")
        return bytes(found.value)

    def _cleaned(self, line: bytes | None) -> bytes | None:
        """A line that is no result, without secrets; one that cannot be checked is not sent."""
        if line is None or self._redactor is None:
            return line
        try:
            return self._redactor.clean_line(line)
        except InvalidResult:
            log.warning("a message of %d bytes cannot be checked for secrets and is not sent", len(line))
            return None

    # --- on record

    async def _recorded(
        self, received: RequestReceived, call: Call, record: Opened, end: End
    ) -> bytes | None:
        """Close the record of a call before its answer leaves: that answer, or that there is no record."""
        error, outcome, reply = end
        _note(call, record)
        how = ending(call, error, outcome, cancelled=reply is None)
        size = len(reply) if reply is not None else 0
        try:
            waits = record.log.close(
                record, how.outcome, error=error, reason=how.reason, reference=how.reference, out_bytes=size
            )
            if waits is not None:
                await waits
        except AuditFailed as failed:
            return self._connection.encode(received, failed)
        return reply

    def _close_unanswered(self, call: Call, record: Opened | None, error: BaseException) -> None:
        if record is not None:
            _note(call, record)
            how = ending(call, error, None, cancelled=True)
            with contextlib.suppress(AuditFailed):  # the log itself has said so
                record.log.close(record, how.outcome, reason=how.reason)

    def _refuse(
        self, event: Malformed, size: int, write: Callable[[bytes], None]
    ) -> "list[asyncio.Task[None]]":
        """Answer what no handler will see, once that is on record; the task that waits for it, if any."""
        if self._audit is None:
            reply = self._cleaned(event.reply)
            if reply is not None:
                write(reply)
            return []
        return [self._start(self._noted(self._audit, event, size, write), None)]

    async def _noted(
        self, audit: AuditLog, event: Malformed, size: int, write: Callable[[bytes], None]
    ) -> None:
        method = event.request.method if event.request is not None else ""
        outcome = CODES.get(event.error.problem.code, "invalid")
        reply = self._cleaned(event.reply) or b""
        try:
            waits = audit.note(
                outcome, reason=str(event.error), method=method, in_bytes=size, transport=self._transport
            )
            if waits is not None:
                await waits
        except AuditFailed as failed:
            reply = self._connection.refuse(failed).reply
        write(reply)

    # --- the channel of a call

    @property
    def session(self) -> Session | None:
        """What a handshake client has settled."""
        return self._connection.session

    def notify(self, peer: Peer, method: str, params: dict[str, Json], about: Request | None = None) -> None:
        """Send a notification, from any thread, unless it is about a request that nobody waits for."""
        line = self._connection.notification(method, params, peer.version)
        if threading.get_ident() == self._thread:
            self._say(method, line, about)
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._say, method, line, about)

    def _say(self, method: str, line: bytes, about: Request | None) -> None:
        if about is not None and not self.waits(about):
            return
        if not (self._sink.full and method in DROPPABLE) and (cleaned := self._cleaned(line)) is not None:
            self._sink.write(cleaned)

    @property
    def full(self) -> bool:
        """Whether the client does not keep up."""
        return self._sink.full

    async def drain(self) -> None:
        """Wait until the client keeps up."""
        await self._sink.drain()

    def waits(self, request: Request) -> bool:
        """Whether somebody still wants the answer to *request*."""
        return not self._closed and self._connection.waits(request)

    # --- changes, for a handshake client (a stateless one asks with subscriptions/listen)

    def _tell(self, change: Change) -> None:
        session = self._connection.session
        if session is None or not session.ready:
            return
        if change.kind == "resource":
            if change.uri in session.subscriptions:
                self.notify(session.peer, "notifications/resources/updated", {"uri": change.uri})
        elif change.kind in self._service.capabilities:
            self.notify(session.peer, CHANGES[change.kind][0], {})

    # --- the end

    async def finish(self, seconds: float | None) -> bool:
        """Wait for what is under way, `None` for as long as it takes; whether all of it ended in time."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=seconds)
        return not self._tasks

    async def close(self, seconds: float) -> bool:
        """Cancel what is under way; whether all of it ended in time."""
        self._closed = True
        self._unsubscribe()
        for task in tuple(self._tasks):
            task.cancel()
        return await self.finish(seconds)


def _note(call: Call, record: Opened) -> None:
    """What the guards found out, for the record of the call."""
    if call.notes.rule is not None:
        record.add(rule=call.notes.rule)
    if call.notes.approvals:
        first = call.notes.approvals[0]
        by = [approval.by for approval in call.notes.approvals]
        record.add(approval={"by": by, "at": first.at, "digest": first.digest})


def _failed(call: Call, error: BaseException) -> Result | ProtocolError:
    """What answers a call that ended with *error*, whatever the error itself does when it is looked at."""
    try:
        return failure(call, error)
    except Exception:
        log.exception("the failure of '%s' cannot be told as it is", call.request.method)
        return failure(call, RuntimeError())


if sys.version_info >= (3, 12):

    def _started(
        coroutine: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop
    ) -> "asyncio.Task[None]":
        """A task that has run up to where it first waits."""
        return asyncio.Task(coroutine, loop=loop, eager_start=True)

else:

    def _started(
        coroutine: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop
    ) -> "asyncio.Task[None]":
        """A task; below Python 3.12 it runs when the loop comes to it."""
        return loop.create_task(coroutine)
