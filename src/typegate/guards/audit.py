"""The audit log: one record for every request, however it ended, written before the answer leaves.

    opened = log.open(request, peer)        # before the guards; costs next to nothing
    waits = log.intent(opened)              # before a destructive tool runs
    waits = log.close(opened, "ok")         # before the answer leaves
    log.note("unparseable", reason="...")   # for what is no request

`waits` is `None` where the record is written already; otherwise it is awaited before going on.

The law of the file: `AuditLog` is a value until `start`; what a client sent passes `redact` and is cut to a
size before it is kept; where a record cannot be written, nothing destructive happens.
"""

import itertools
import os
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from typegate.errors import ConfigurationError
from typegate.guards.chain import digest
from typegate.guards.records import FACTS, Arguments, Outcome, Record, Redact, as_sent, cut, shape
from typegate.guards.sinks import FileSink, Sink, StreamSink
from typegate.guards.tables import TableSink
from typegate.guards.writer import Fsync, Writer, Written
from typegate.types import Implementation, Json, Principal
from typegate.wire.connection import Peer
from typegate.wire.jsonrpc import Request, dumps, raw_arguments

__all__ = ["AuditLog", "OnFailure", "Opened", "read_key"]

OnFailure = Literal["closed", "open"]

ROTATE_BYTES: Final = 64 * 2**20
MIN_KEY: Final = 16

MAX_NAME: Final = 256
MAX_REASON: Final = 1_024
MAX_TRACEBACK: Final = 8_192

_clock: Final = time.perf_counter


class Opened:
    """A record that is under way; guards and handlers add to it what they know.

    It holds no call, so that a call may hold it.
    """

    __slots__ = (
        "destructive",
        "facts",
        "id",
        "log",
        "peer",
        "principal",
        "request",
        "started",
        "target",
        "transport",
    )

    def __init__(self, log: "AuditLog", id: str, request: Request, peer: Peer) -> None:  # noqa: A002  (the field)
        self.log = log
        self.id = id
        self.request = request
        self.peer = peer
        self.principal: Principal | None = None
        self.target: object = None
        self.transport = ""
        self.destructive = False
        self.facts: dict[str, Json] | None = None
        self.started = _clock()

    def add(self, **facts: Json) -> None:
        """Add fields: `rule`, `cost`, `approval`, `redactions`, ... (`FACTS`); `outcome` decides.

        Raises:
            TypeError: a record has no such field.
        """
        if not facts.keys() <= FACTS:
            raise TypeError(f"a record has no field {', '.join(sorted(facts.keys() - FACTS))}")
        self.facts = {**(self.facts or {}), **facts}

    async def intent(self) -> None:
        """Have it on record, and on the disk but with `never`, that a destructive tool is about to run.

        Raises:
            AuditFailed: it could not be written; the tool must not run.
        """
        waits = self.log.intent(self)
        if waits is not None:
            await waits


class AuditLog:
    """Where and how calls are recorded. A value: nothing is opened before the server starts.

    Args:
        path: a file for JSON lines; `{pid}` in it is the number of the process. `None`: standard error.
        arguments: what is kept of a call's arguments: `redacted`: what was sent, redacted and cut to a size;
            `shape`: types and sizes; `none`.
        fsync: `each`: a record is on the disk before the answer leaves; `batch`: 50 ms later at the latest,
            and before a destructive tool runs; `never`: when the system likes. With all three a record
            survives the end of the process, `kill -9` too.
        rotate_bytes: from which size on a new file is begun; 0: never.
        keep: how many full files stay; `None`: all of them.
        key: at least 16 bytes, or the name of an environment variable that holds them: signs checkpoints and
            the head file, and makes fingerprints of arguments.
        on_failure: when a record cannot be written: `closed`: the call fails; `open`: it goes on, and the
            next record that can be written says how many are missing. A destructive call fails in any case.
            Default: `open` on standard error, which the client may not read, else `closed`.
        redact: what takes secrets out of a text; default: the server's redactor.

    Raises:
        ConfigurationError: an argument makes no sense.
    """

    def __init__(  # noqa: PLR0913  (options, as many as there are)
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        arguments: Arguments = "redacted",
        fsync: Fsync = "batch",
        rotate_bytes: int = ROTATE_BYTES,
        keep: int | None = None,
        key: bytes | str | None = None,
        on_failure: OnFailure | None = None,
        redact: Redact | None = None,
    ) -> None:
        self._path = _path(path)
        self._arguments = _one_of("arguments", arguments, Arguments)
        self._fsync = _one_of("fsync", fsync, Fsync)
        self._rotate_bytes = _count("rotate_bytes", rotate_bytes)
        self._keep = None if keep is None else _count("keep", keep)
        self._given_key = _checked_key(key)
        chosen: OnFailure = "open" if path is None else "closed"
        self._strict = _one_of("on_failure", on_failure or chosen, OnFailure) == "closed"
        if redact is not None and not callable(redact):
            raise ConfigurationError("AuditLog(redact=) takes a function from text to text")
        self._given_redact = redact
        self._table = False
        self._writer: Writer | None = None
        self._users = 0
        self._key: bytes | None = None
        self._redact: Redact | None = redact
        self._ids = itertools.count(1)
        self._boot = ""

    @classmethod
    def sqlite(
        cls,
        path: str | os.PathLike[str],
        *,
        arguments: Arguments = "redacted",
        fsync: Fsync = "batch",
        key: bytes | str | None = None,
        on_failure: OnFailure | None = None,
        redact: Redact | None = None,
    ) -> Self:
        """The same records in a SQLite database, which can be asked; it is not rotated."""
        log = cls(path, arguments=arguments, fsync=fsync, key=key, on_failure=on_failure, redact=redact)
        log._table = True
        return log

    def __repr__(self) -> str:
        where = "standard error" if self._path is None else repr(str(self._path))
        return f"<AuditLog {where} arguments={self._arguments} fsync={self._fsync}>"

    # --- the beginning and the end

    def start(self, server: str = "", redact: Redact | None = None) -> None:
        """Open the log and write its first record; once for all that share it.

        Args:
            server: name and version of the server, for that record.
            redact: the server's redactor, used where the log was given none.

        Raises:
            ConfigurationError: the log cannot be opened, is written by another process, or lacks its key.
        """
        self._users += 1
        if self._users > 1:
            return
        try:
            self._key = read_key(self._given_key)
            writer = Writer(self._sink(), self._fsync, self._key)
            writer.start(self._described(server))
        except BaseException as error:
            self._users = 0
            if isinstance(error, OSError):
                told = f"the audit log cannot be opened: {error}"
                raise ConfigurationError(told) from error
            raise
        self._redact = self._given_redact or redact
        self._boot = secrets.token_hex(3)
        self._writer = writer

    def stop(self) -> None:
        """Write the last record, sync and close, when all that share it have stopped."""
        self._users -= 1
        if self._users == 0 and self._writer is not None:
            writer, self._writer = self._writer, None
            writer.stop()

    def _sink(self) -> Sink:
        if self._path is None:
            sys.stderr.flush()
            return StreamSink(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2)
        path = Path(str(self._path).replace("{pid}", str(os.getpid())))
        if self._table:
            return TableSink(path, self._fsync)
        return FileSink(path, self._rotate_bytes, self._keep)

    def _described(self, server: str) -> str:
        signed = "signed" if self._key is not None else "not signed"
        return f"{server or 'a server'}; arguments={self._arguments}, fsync={self._fsync}, {signed}"

    # --- one call

    def open(
        self,
        request: Request,
        peer: Peer,
        principal: Principal | None = None,
        target: object = None,
        transport: str = "",
    ) -> Opened:
        """Begin the record of a request; nothing is written yet.

        Args:
            request: the message.
            peer: the client as this request sees it.
            principal: who is calling, as far as it was verified.
            target: the component that the request names, where there is one for this caller.
            transport: `stdio`, `http`, `memory`.
        """
        opened = Opened(self, f"{self._boot}-{next(self._ids):x}", request, peer)
        opened.principal, opened.target, opened.transport = principal, target, transport
        return opened

    def intent(self, opened: Opened) -> Written | None:
        """Write that a destructive tool is about to run; it reaches the disk first, but with `never`.

        Raises:
            AuditFailed: it could not be written; the tool must not run.
        """
        opened.destructive = True
        record = self._record(opened, "intent")
        return self._append(record, strict=True, durable=True)

    def close(
        self,
        opened: Opened,
        outcome: Outcome,
        *,
        error: BaseException | None = None,
        reason: str = "",
        reference: str = "",
        out_bytes: int = 0,
    ) -> Written | None:
        """Write how a call ended.

        Args:
            opened: what `open` gave.
            outcome: how; what was added as `outcome` goes before it.
            error: what was raised; that of a failure is kept with its traceback.
            reason: why, in words.
            reference: the number that the client was told.
            out_bytes: the size of the answer.

        Raises:
            AuditFailed: it could not be written, and the call was destructive or `on_failure` is `closed`.
        """
        record = self._record(opened, "outcome")
        record.outcome = outcome
        record.duration_ms = round((_clock() - opened.started) * 1000, 3)
        record.reference = reference
        record.out_bytes = out_bytes
        if reason:
            record.reason = self._clean(reason, MAX_REASON)
        if error is not None:
            record.error = type(error).__name__
            if outcome == "failed":
                record.traceback = self._clean(_traceback(error), MAX_TRACEBACK)
        if opened.facts is not None:
            self._add(record, opened.facts)
        return self._append(record, strict=self._strict or opened.destructive)

    def note(
        self, outcome: Outcome, *, reason: str = "", method: str = "", in_bytes: int = 0, transport: str = ""
    ) -> Written | None:
        """Write what never became a call, such as a line that is no message.

        Raises:
            AuditFailed: it could not be written, and `on_failure` is `closed`.
        """
        record = Record(
            v=1,
            ts=datetime.now(UTC),
            phase="outcome",
            outcome=outcome,
            method=self._clean(method, MAX_NAME),
            reason=self._clean(reason, MAX_REASON),
            in_bytes=in_bytes,
            transport=transport,
        )
        return self._append(record, strict=self._strict)

    def _append(self, record: Record, *, strict: bool, durable: bool = False) -> Written | None:
        if self._writer is None:
            raise RuntimeError("the audit log has not been started")
        return self._writer.append(record, strict=strict, durable=durable)

    # --- what a record says

    def _record(self, opened: Opened, phase: Literal["outcome", "intent"]) -> Record:
        request, peer = opened.request, opened.peer
        record = Record(
            v=1,
            ts=datetime.now(UTC),
            phase=phase,
            id=opened.id,
            method=request.method
            if len(request.method) <= _METHOD
            else self._clean(request.method, MAX_NAME),
            target=self._target(opened),
            peer="" if peer.client is None else _peer(peer.client, self._redact),
            transport=opened.transport,
            protocol=peer.version.name,
            request_id=request.id if isinstance(request.id, int) else self._clean(request.id, MAX_NAME),
            destructive=opened.destructive,
            in_bytes=len(request.line),
        )
        if opened.principal is not None:
            record.caller = _caller(opened.principal)
        if request.params:
            self._add_params(record, request)
        return record

    def _add_params(self, record: Record, request: Request) -> None:
        params = request.params
        meta = params.get("_meta")
        if isinstance(meta, dict) and "traceparent" in meta:
            record.trace_id = _trace(meta["traceparent"])
        value = params.get("arguments") or params.get("argument")
        if value is None:
            return
        if self._key is not None:
            record.args_sha256 = digest(self._key, _bytes_of(request, value))
        if self._arguments == "redacted":
            record.args, record.truncated = as_sent(value, self._redact)
        elif self._arguments == "shape":
            record.args = shape(value, self._redact)

    def _add(self, record: Record, facts: dict[str, Json]) -> None:
        for name, value in facts.items():
            setattr(record, name, self._clean(value, MAX_REASON) if isinstance(value, str) else value)

    def _target(self, opened: Opened) -> str:
        """What the call is about: a name that is known as it is, anything else as the client's own words."""
        params = opened.request.params
        name = params.get("name") or params.get("uri")
        if name is None and isinstance(ref := params.get("ref"), dict):
            name = ref.get("name") or ref.get("uri")
        if not isinstance(name, str):
            return ""
        if opened.target is not None and getattr(opened.target, "key", None) == name:
            return cut(name, MAX_NAME)
        return self._clean(name, MAX_NAME)

    def _clean(self, text: str, most: int) -> str:
        """A text without secrets, and not too long."""
        if not text:
            return text
        text = text[: 4 * most] if len(text) > 4 * most else text
        return cut(text if self._redact is None else self._redact(text), most)


_METHOD: Final = 40
"""Method names of the protocol are shorter than this, and no secrets."""


def _peer(client: Implementation, redact: Redact | None) -> str:
    return _named(client.name, client.version, redact)


@lru_cache(maxsize=256)
def _named(name: str, version: str, redact: Redact | None) -> str:
    text = f"{name[:MAX_NAME]}/{version[:MAX_NAME]}"
    return cut(text if redact is None else redact(text), MAX_NAME)


def _caller(principal: Principal) -> dict[str, Json]:
    found: dict[str, Json] = {"sub": cut(principal.subject, MAX_NAME)}
    if principal.issuer is not None:
        found["iss"] = cut(principal.issuer, MAX_NAME)
    if principal.client is not None:
        found["client_id"] = cut(principal.client, MAX_NAME)
    return found


def _trace(parent: Json) -> str:
    """The trace of a W3C `traceparent`, or nothing."""
    parts = parent.split("-") if isinstance(parent, str) and len(parent) <= MAX_NAME else ()
    found = parts[1] if len(parts) > 1 else ""
    return found if len(found) == 32 and set(found) <= set("0123456789abcdef") else ""


def _bytes_of(request: Request, value: Json) -> bytes:
    """The arguments as bytes, whatever they hold."""
    if request.line and "arguments" in request.params:
        return raw_arguments(request)
    return dumps(value)


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception as second:  # noqa: BLE001  (an exception may do anything when it is looked at)
        return f"{type(error).__name__}, which cannot be told: {type(second).__name__}"


# --- the options ---------------------------------------------------------------------------------


def _path(path: Any) -> Path | None:
    if path is not None and (not isinstance(path, str | os.PathLike) or not str(path)):
        raise ConfigurationError("AuditLog(path=) takes the name of a file, or None for standard error")
    return None if path is None else Path(path)


def _one_of(name: str, value: Any, kinds: Any) -> Any:
    if value not in get_args(kinds):
        known = ", ".join(repr(each) for each in get_args(kinds))
        raise ConfigurationError(f"AuditLog({name}=) takes one of {known}")
    return value


def _count(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigurationError(f"AuditLog({name}=) takes a number, 0 or more")
    return value


def _checked_key(key: Any) -> bytes | str | None:
    if key is not None and not isinstance(key, bytes | str):
        raise ConfigurationError("AuditLog(key=) takes bytes, or the name of an environment variable")
    if isinstance(key, bytes) and len(key) < MIN_KEY:
        raise ConfigurationError(f"AuditLog(key=) takes at least {MIN_KEY} bytes")
    return key


def read_key(
    key: bytes | str | None, environment: Callable[[str], str | None] = os.environ.get
) -> bytes | None:
    """The key itself, where the name of an environment variable may stand for it.

    Raises:
        ConfigurationError: there is no such variable, or it is too short.
    """
    if key is None or isinstance(key, bytes):
        return key
    found = environment(key)
    if not found:
        raise ConfigurationError(f"the audit log's key should be in the environment variable '{key}'")
    if len(found.encode()) < MIN_KEY:
        raise ConfigurationError(f"the audit log's key in '{key}' is too short: at least {MIN_KEY} bytes")
    return found.encode()
