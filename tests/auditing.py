"""What the tests of the audit log share: calls to record, and logs to look into."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typegate.guards.audit import AuditLog, Opened
from typegate.guards.calls import Call
from typegate.types import Implementation, Principal
from typegate.versions import VERSIONS
from typegate.wire.connection import Peer
from typegate.wire.jsonrpc import Request

KEY = b"a key of the tests, 32 bytes long"
PEER = Peer(version=VERSIONS["2026-07-28"], client=Implementation(name="probe", version="1"))


class Target:
    """A component, as far as a record knows one."""

    key = "lookup_order"


def call(
    arguments: Any = None,
    *,
    name: str = "lookup_order",
    method: str = "tools/call",
    id: int | str = 7,
    target: Any = Target,
    **params: Any,
) -> Call:
    """A call of a tool."""
    given = {} if arguments is None else {"arguments": arguments}
    request = Request(id, method, {"name": name, **given, **params})
    principal = Principal(subject="alice", issuer="https://id.example", client="desk")
    return Call(request, target, PEER, principal, None)  # type: ignore[arg-type]


@contextmanager
def running(log: AuditLog) -> Iterator[AuditLog]:
    """The log, started and stopped."""
    log.start("orders 1")
    try:
        yield log
    finally:
        log.stop()


def write(log: AuditLog, count: int, *calls: Call) -> None:
    """So many records of calls in a log that is opened for them, and that many more of its own."""

    async def write_all() -> None:
        with running(log):
            for number in range(count):
                await close(log, calls[number] if calls else call({"n": number}, id=number))

    asyncio.run(write_all())


def begun(log: AuditLog, of: Call) -> Opened:
    """The record of a call, opened as the runner opens it."""
    return log.open(of.request, of.peer, of.principal, of.target, "memory")


async def close(log: AuditLog, of: Call, outcome: Any = "ok", **what: Any) -> None:
    """One call, begun and ended."""
    await settled(log.close(begun(log, of), outcome, **what))


async def settled(waits: Awaitable[None] | None) -> None:
    """Wait, where there is something to wait for."""
    if waits is not None:
        await waits


def one(
    of: Call, outcome: Any = "ok", *, path: Path, options: dict[str, Any] | None = None, **what: Any
) -> Any:
    """The record of one call."""
    log = AuditLog(path, **(options or {}))

    async def write_one() -> None:
        with running(log):
            await close(log, of, outcome, **what)

    asyncio.run(write_one())
    return outcomes(path)[-1]


def records(path: Path) -> list[dict[str, Any]]:
    """All records of a file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def outcomes(path: Path) -> list[dict[str, Any]]:
    """Those that tell how a call ended."""
    return [each for each in records(path) if each["phase"] == "outcome"]


def events(path: Path) -> list[str]:
    """The names of the events in a file."""
    return [each["event"] for each in records(path) if "event" in each]


Attack = Callable[[list[bytes]], list[bytes]]
