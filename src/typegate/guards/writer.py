"""Records → lines of the chain, in order, in the sink: at once where that is quick, else on a thread.

The law of the file: a number is given to a record when it is written, and only what was written counts. A
record that could not be written leaves a trace: the next one that can is preceded by how many were lost.

Two hands may write, the caller's and the thread's, one at a time: `_lock` guards the queue and says who
may (`_busy`); nobody waits for a disk while holding it, but for the page cache.
"""

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from typegate.errors import AuditFailed
from typegate.guards.chain import START, Position, encode_head, link, read_head, sign
from typegate.guards.records import Record, encode
from typegate.guards.sinks import Found, Sink

__all__ = ["Fsync", "Writer", "Written"]

log: Final = logging.getLogger("typegate")

Fsync = Literal["each", "batch", "never"]
Written = asyncio.Future[None]

TICK: Final = 0.05
"""Seconds after which what was written is synced (`batch`) and the head file follows."""

CHECKPOINT: Final = 256
"""How many records lie between two signatures at most, where there is a key."""

QUEUE: Final = 1_024
"""How many records may wait for the thread; whoever brings another one then writes them itself."""

BATCH: Final = 256


class _Waiting(msgspec.Struct, gc=False):
    """A record on its way to the thread, and whoever waits for it."""

    record: Record
    strict: bool
    durable: bool
    future: Written | None
    loop: asyncio.AbstractEventLoop | None


class Writer:
    """The one that writes a log.

    Args:
        sink: where to.
        fsync: `each`: a record is on disk before the answer leaves; `batch`: shortly after; `never`.
        key: what checkpoints and the head file are signed with.
    """

    def __init__(self, sink: Sink, fsync: Fsync, key: bytes | None) -> None:
        self._sink = sink
        self._fsync = fsync
        self._key = key
        self._pid = os.getpid()
        self._lock = threading.Condition(threading.Lock())
        self._queue: list[_Waiting] = []
        self._busy = False
        self._full = False
        self._dirty = False
        self._stopping = False
        self._signed = 0
        self._lost = 0
        self._told = False
        self._thread: threading.Thread | None = None
        self.position = Position("", 0, START)

    # --- the beginning and the end

    def start(self, reason: str) -> None:
        """Open the sink, carry its chain on, and say so in it.

        Raises:
            ConfigurationError: the sink cannot be used, or takes nothing.
        """
        found = self._sink.open()
        self.position = found.position or Position(secrets.token_hex(4), 0, START)
        self._signed = self.position.seq
        events = [event("started", reason=reason), *_discrepancies(found, self._key)]
        try:
            self._put(events)
            if self._sink.full():
                self._rotate()
            self._sink.sync()
            self._save_head(self.position)
        except BaseException:
            self._sink.close()
            raise

    def stop(self, reason: str = "") -> None:
        """Write what waits and the last record, sign, sync and close; what fails is logged."""
        with self._lock:
            self._stopping = True
            self._lock.notify()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            try:
                self._put([event("stopped", reason=reason)], sign_now=True)
                self._sink.sync()
                self._save_head(self.position)
            except OSError as error:
                self._complain("the audit log could not be ended properly: %s", error)
            finally:
                self._sink.close()

    # --- one record

    def append(self, record: Record, *, strict: bool, durable: bool = False) -> Written | None:
        """Write a record; `None`: it is written. Otherwise wait for what is returned before you go on.

        Args:
            record: it must not change any more.
            strict: whether the caller must not go on without it.
            durable: whether it must survive a power cut, whatever `fsync` says but `never`.

        Raises:
            AuditFailed: it was not written, and *strict*; from here or from what is returned.
        """
        durable = self._fsync == "each" or (durable and self._fsync != "never")
        with self._lock:
            if self._stopping:
                self._lose(1, OSError("it is closed"))
                if strict:
                    raise AuditFailed
                return None
            if not (self._queue or self._busy or durable) and self._sink.ready():
                self._at_once(record, strict)
                return None
            if len(self._queue) >= QUEUE:
                self._relieve()
            return self._enqueue(record, strict, durable)

    def _at_once(self, record: Record, strict: bool) -> None:
        try:
            if self._lost or self._key is not None:
                self._put([record])
            else:
                self._put_one(record)
        except OSError as error:
            self._lose(1, error)
            if strict:
                raise AuditFailed from error
            return
        if not self._dirty and self._sink.keeps:
            self._dirty = True
            self._wake()
        if self._sink.full():
            self._busy = self._full = True  # the thread rotates; what comes meanwhile waits
            self._wake()

    def _enqueue(self, record: Record, strict: bool, durable: bool) -> Written | None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        future = None if loop is None else loop.create_future()
        self._queue.append(_Waiting(record, strict, durable, future, loop))
        self._wake()
        return future

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="typegate-audit", daemon=True)
            self._thread.start()
        self._lock.notify()

    def _relieve(self) -> None:
        """The caller lends a hand: the thread does not keep up."""
        if not self._busy:
            waiting, self._queue = self._queue, []
            _resolve(waiting, self._tried(waiting))

    # --- the thread

    def _run(self) -> None:
        while True:
            with self._lock:
                while not (self._queue or self._full or self._dirty or self._stopping):
                    self._lock.wait()
                full, self._full = self._full, False
                waiting, self._queue = self._queue[:BATCH], self._queue[BATCH:]
                self._busy = full or bool(waiting)
                if not self._busy and self._stopping:
                    return
            if full:
                self._rotate()
            if self._busy:
                self._serve(waiting)
            else:
                self._tick()

    def _serve(self, waiting: list[_Waiting]) -> None:
        """Write a batch, sync it where one of it must be, and tell those who wait."""
        error = self._tried(waiting) if waiting else None
        if self._sink.full():
            self._rotate()
        with self._lock:
            self._busy = False
            position = self.position
        if error is None and any(each.durable for each in waiting):
            error = self._synced(position)
        elif error is None:
            self._dirty = self._sink.keeps
        _resolve(waiting, error)

    def _tick(self) -> None:
        """A while after something was written: sync, and let the head file follow."""
        with self._lock:
            if not self._stopping:
                self._lock.wait_for(lambda: self._queue or self._full or self._stopping, TICK)
            if self._queue or self._full:
                return
            self._dirty = False
            position = self.position
        self._synced(position)

    def _synced(self, position: Position) -> OSError | None:
        try:
            if self._fsync != "never":
                self._sink.sync()
            self._save_head(position)
        except OSError as error:
            self._complain("the audit log cannot be synced: %s", error)
            return error
        return None

    def _save_head(self, position: Position) -> None:
        if self._sink.keeps:
            self._sink.save_head(encode_head(position, self._pid, self._key))

    # --- the chain

    def _tried(self, waiting: Sequence[_Waiting]) -> OSError | None:
        try:
            self._put([each.record for each in waiting])
        except OSError as error:
            self._lose(len(waiting), error)
            return error
        except Exception as error:  # the thread must live: everybody waits for it
            log.exception("the audit log has a fault of its own")
            self._lose(len(waiting), OSError(str(error)))
            return OSError(str(error))
        return None

    def _put_one(self, record: Record) -> None:
        """The same as `_put` for one record, where there is nothing to add: most of what is written."""
        chain, seq, prev = self.position
        record.chain, record.seq = chain, seq + 1
        line, own = link(encode(record), prev)
        self._sink.write((line,))
        self.position = Position(chain, seq + 1, own)

    def _put(self, records: list[Record], sign_now: bool = False) -> None:
        """Give the records their numbers and links, and write them: all, or none and `OSError`."""
        if self._lost:
            reason = f"{self._lost} records could not be written"
            records = [event("lost", reason=reason, count=self._lost), *records]
        position, lines = self._linked(self.position, records)
        if self._key is not None and (sign_now or position.seq - self._signed >= CHECKPOINT):
            position, signed = self._linked(position, [self._checkpoint(position)])
            lines += signed
        self._sink.write(lines)
        self._accept(position, signed=len(lines) > len(records))

    def _accept(self, position: Position, signed: bool) -> None:
        self.position = position
        if signed:
            self._signed = position.seq
        if self._told and self._sink.keeps:
            log.warning("the audit log is written again")
        self._lost, self._told = 0, False

    def _linked(self, position: Position, records: Iterable[Record]) -> tuple[Position, list[bytes]]:
        chain, seq, prev = position
        lines = []
        for record in records:
            seq += 1
            record.chain, record.seq = chain, seq
            line, prev = link(encode(record), prev)
            lines.append(line)
        return Position(chain, seq, prev), lines

    def _checkpoint(self, position: Position) -> Record:
        mac = sign(self._key or b"", "checkpoint", position)
        return Record(v=1, ts=datetime.now(UTC), phase="checkpoint", mac=mac)

    def _rotate(self) -> None:
        """Begin a new file; the chain goes on in it."""
        try:
            name, deleted = self._sink.rotate(self.position.seq)
            events = [event("rotated", reason=name)]
            if deleted:
                reason = f"records up to {deleted} were deleted with their files"
                events.append(event("deleted", reason=reason, count=deleted))
            self._put(events, sign_now=True)
        except OSError as error:
            self._complain("the audit log cannot be rotated: %s", error)

    def _complain(self, text: str, error: OSError) -> None:
        """Tell the operator; not on standard error that nobody reads, which would wait for that."""
        if self._sink.keeps:
            log.error(text, error)

    def _lose(self, count: int, error: OSError) -> None:
        self._lost += count
        if not self._told:
            self._told = True
            self._complain("the audit log cannot be written: %s", error)


def event(name: str, *, reason: str = "", count: int = 0) -> Record:
    """A record of something that is no request."""
    return Record(v=1, ts=datetime.now(UTC), phase="event", event=name, reason=reason, count=count)


def _discrepancies(found: Found, key: bytes | None) -> list[Record]:
    """What a log that is carried on must say of the one it found."""
    events = []
    if found.torn:
        reason = f"{found.torn} bytes at the end were no whole record; they are in the file .torn"
        events.append(event("torn", reason=reason, count=found.torn))
    head = read_head(found.head or b"")
    if key is not None and head is not None and not head.mac:
        reason = f"records up to {head.seq} were written without a key"
        events.append(event("unsigned", reason=reason, count=head.seq))
    gap = _gap(found, key)
    if gap:
        events.append(event("gap", reason=gap))
    return events


def _gap(found: Found, key: bytes | None) -> str:
    """What head file and log say against one another."""
    if found.head is None:
        return ""
    tail, head = found.position, read_head(found.head)
    if head is None:
        return "the head file is missing or spoiled" if tail is not None or found.head else ""
    if key is not None and head.mac and head.mac != sign(key, "head", head.position):
        return "the head file is not signed with this key"
    if tail is None:
        return f"there is no log, and the head file knows of record {head.seq} of chain {head.chain}"
    if head.chain != tail.chain:
        return f"the head file is that of another chain, {head.chain}"
    if head.seq > tail.seq:
        return f"the log ended at record {tail.seq}, and the head file knows of record {head.seq}"
    if head.seq == tail.seq and head.hash != tail.hash:
        return f"record {tail.seq} is not the one that the head file knows"
    return ""


def _resolve(waiting: Sequence[_Waiting], error: OSError | None) -> None:
    """Tell everybody who waits, each in its own loop."""
    loops: dict[asyncio.AbstractEventLoop, list[_Waiting]] = {}
    for each in waiting:
        if each.loop is not None:
            loops.setdefault(each.loop, []).append(each)
    for loop, those in loops.items():
        try:
            loop.call_soon_threadsafe(_told(those, error))
        except RuntimeError:  # that loop is closed, and nobody waits any more
            continue


def _told(waiting: Sequence[_Waiting], error: OSError | None) -> Callable[[], None]:
    def tell() -> None:
        for each in waiting:
            if each.future is None or each.future.done():
                continue
            if error is not None and each.strict:
                failed = AuditFailed()
                failed.__cause__ = error
                each.future.set_exception(failed)
                each.future.exception()  # nobody need ask: the client may be gone
            else:
                each.future.set_result(None)

    return tell
