"""The writer: what is acknowledged is written, in order, by one hand at a time, and losses leave a trace."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from auditing import settled

from typegate.errors import AuditFailed
from typegate.guards.chain import Numbered, verify
from typegate.guards.records import Record
from typegate.guards.sinks import FileSink, Found
from typegate.guards.writer import QUEUE, Writer


class Memory:
    """A sink that keeps lines, and fails or waits when it is told to."""

    keeps = True

    def __init__(self, quick: bool = True) -> None:
        self.quick = quick
        self.lines: list[bytes] = []
        self.batches: list[int] = []
        self.heads: list[bytes] = []
        self.synced = 0
        self.error: OSError | None = None
        self.sync_error: OSError | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.closed = False

    def open(self) -> Found:
        return Found()

    def ready(self) -> bool:
        return self.quick

    def write(self, lines: Sequence[bytes]) -> None:
        self.gate.wait(10)
        if self.error is not None:
            raise self.error
        self.lines += lines
        self.batches.append(len(lines))

    def sync(self) -> None:
        if self.sync_error is not None:
            raise self.sync_error
        self.synced = len(self.lines)

    def save_head(self, content: bytes) -> None:
        self.heads.append(content)

    def full(self) -> bool:
        return False

    def rotate(self, last: int) -> tuple[str, int]:
        raise AssertionError

    def close(self) -> None:
        self.closed = True

    @property
    def records(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line) for line in self.lines]

    def sound(self, key: bytes | None = None) -> bool:
        return verify(
            (Numbered("m", n, line) for n, line in enumerate(self.lines, 1)), self.heads[-1], key
        ).sound


def record(n: int = 0) -> Record:
    """One to write."""
    return Record(v=1, ts=datetime.now(UTC), phase="outcome", count=n)


def started(sink: Any, fsync: Any = "batch", key: bytes | None = None) -> Writer:
    """A writer at work."""
    writer = Writer(sink, fsync, key)
    writer.start("a test")
    return writer


def test_a_quick_sink_is_written_at_once() -> None:
    """No thread and nothing to wait for."""
    sink = Memory()
    writer = started(sink, "never")
    assert writer.append(record(1), strict=True) is None
    assert sink.records[-1]["count"] == 1
    writer.stop()
    assert [each.get("event") for each in sink.records] == ["started", None, "stopped"]
    assert sink.closed
    assert sink.sound()


async def _each_is_synced() -> None:
    sink = Memory()
    writer = started(sink, "each")
    waits = [writer.append(record(n), strict=True) for n in range(50)]
    for number, each in enumerate(waits):
        await settled(each)
        assert sink.synced >= number + 2
    writer.stop()
    assert sink.sound()
    assert max(sink.batches) > 1, "those that wait together are written together"


def test_each_record_is_synced_before_it_is_acknowledged() -> None:
    """And several share one sync."""
    asyncio.run(_each_is_synced())


async def _durable() -> None:
    sink = Memory()
    writer = started(sink)
    before = sink.synced
    waits = writer.append(record(), strict=True, durable=True)
    assert waits is not None
    await waits
    assert sink.synced > before
    assert writer.append(record(), strict=True) is None
    writer.stop()


def test_an_intent_is_synced_where_others_are_not() -> None:
    """Under `batch` what must not be lost goes first."""
    asyncio.run(_durable())


async def _batch() -> None:
    sink = Memory()
    writer = started(sink)
    heads = len(sink.heads)
    writer.append(record(), strict=True)
    for _ in range(200):
        if len(sink.heads) > heads:
            break
        await asyncio.sleep(0.01)
    assert sink.synced == 2
    assert sink.sound(), "the head file has followed"
    writer.stop()


def test_batch_syncs_soon() -> None:
    """Without a further record, in about 50 ms."""
    asyncio.run(_batch())


async def _many(quick: bool) -> None:
    sink = Memory(quick)
    writer = started(sink, key=b"k" * 16)
    waits = []
    for number in range(1_000):
        waits.append(writer.append(record(number + 1), strict=True, durable=number % 100 == 50))
        if number % 10 == 0:
            await asyncio.sleep(0)
    for each in waits:
        await settled(each)
    writer.stop()
    assert [each["count"] for each in sink.records if each["phase"] == "outcome"] == [*range(1, 1_001)]
    assert sink.sound(b"k" * 16)
    assert sum(each["phase"] == "checkpoint" for each in sink.records) >= 4


@pytest.mark.parametrize("quick", [True, False])
def test_both_hands_keep_the_order(quick: bool) -> None:
    """Whether the caller writes or the thread does, the chain is one."""
    asyncio.run(_many(quick))


async def _pressure() -> None:
    sink = Memory(quick=False)
    writer = started(sink)
    sink.gate.clear()
    waits = [writer.append(record(n), strict=True) for n in range(QUEUE)]
    await asyncio.sleep(0.05)  # the thread holds the first ones
    waits += [writer.append(record(n), strict=True) for n in range(100)]
    assert not any(each is None or each.done() for each in waits)
    sink.gate.set()
    for each in waits:
        await settled(each)
    writer.stop()
    assert len(sink.records) == QUEUE + 102
    assert sink.sound()


def test_a_slow_sink_makes_everybody_wait() -> None:
    """Nothing is dropped and nothing acknowledged before it is written."""
    asyncio.run(_pressure())


def test_a_loss_leaves_a_trace(caplog: pytest.LogCaptureFixture) -> None:
    """The next record that can be written says how many are missing; the operator is told once."""
    sink = Memory()
    writer = started(sink, "never")
    sink.error = OSError(28, "No space left on device")
    with caplog.at_level(logging.WARNING, "typegate"):
        with pytest.raises(AuditFailed, match="cannot be recorded"):
            writer.append(record(1), strict=True)
        for number in (2, 3):
            writer.append(record(number), strict=False)
        sink.error = None
        writer.append(record(4), strict=False)
    writer.stop()
    assert [(each.get("event"), each.get("count")) for each in sink.records] == [
        ("started", None),
        ("lost", 3),
        (None, 4),
        ("stopped", None),
    ]
    assert [each.getMessage() for each in caplog.records] == [
        "the audit log cannot be written: [Errno 28] No space left on device",
        "the audit log is written again",
    ]
    assert sink.sound()


async def _failing_thread() -> None:
    sink = Memory(quick=False)
    writer = started(sink)
    sink.error = OSError("the disk is gone")
    strict = writer.append(record(), strict=True)
    loose = writer.append(record(), strict=False)
    with pytest.raises(AuditFailed) as caught:
        await settled(strict)
    assert isinstance(caught.value.__cause__, OSError)
    await settled(loose)
    writer.stop()
    assert sink.closed


def test_a_failure_on_the_thread_reaches_who_waits(caplog: pytest.LogCaptureFixture) -> None:
    """With its cause, where the caller must not go on; a log that cannot even end says so."""
    asyncio.run(_failing_thread())
    assert "could not be ended properly" in caplog.text


async def _failing_sync() -> None:
    sink = Memory()
    writer = started(sink, "each")
    sink.sync_error = OSError(5, "Input/output error")
    with pytest.raises(AuditFailed):
        await settled(writer.append(record(), strict=True))
    sink.sync_error = None
    await settled(writer.append(record(), strict=True))
    writer.stop()
    assert sink.sound()


def test_a_sync_that_fails_is_no_acknowledgement(caplog: pytest.LogCaptureFixture) -> None:
    """The line is there, but nobody knows for how long."""
    asyncio.run(_failing_sync())
    assert "cannot be synced" in caplog.text


def test_after_the_end_nothing_is_taken() -> None:
    """And it is told."""
    sink = Memory()
    writer = started(sink)
    writer.stop()
    count = len(sink.lines)
    with pytest.raises(AuditFailed):
        writer.append(record(), strict=True)
    assert writer.append(record(), strict=False) is None
    assert len(sink.lines) == count


async def _cancelled() -> None:
    sink = Memory(quick=False)
    writer = started(sink)
    waits = writer.append(record(5), strict=True)
    assert waits is not None
    waits.cancel()
    await settled(writer.append(record(6), strict=True))
    writer.stop()
    assert [each["count"] for each in sink.records if "count" in each] == [5, 6]


def test_who_does_not_wait_any_more_is_recorded_all_the_same() -> None:
    """A cancelled call has its record."""
    asyncio.run(_cancelled())


@pytest.mark.parametrize("fsync", ["each", "batch", "never"])
def test_rotation_keeps_the_chain(tmp_path: Path, fsync: str) -> None:
    """Through as many files as it takes; each begins with what came before."""
    path = tmp_path / "calls.jsonl"

    async def write() -> None:
        writer = started(FileSink(path, 4_000, None), fsync, b"k" * 16)
        for number in range(200):
            await settled(writer.append(record(number), strict=True))
        writer.stop()

    asyncio.run(write())
    files = [*sorted(tmp_path.glob("calls.jsonl.0*")), path]
    assert len(files) > 5
    lines = [line for each in files for line in each.read_bytes().splitlines(keepends=True)]
    head = (tmp_path / "calls.jsonl.head").read_bytes()
    verdict = verify((Numbered("f", n, line) for n, line in enumerate(lines, 1)), head, b"k" * 16)
    assert verdict.findings == ()
    assert verdict.records == verdict.signed == len(lines)
    assert all(b'"event":"rotated"' in each.read_bytes().splitlines()[0] for each in files[1:])


def test_deleted_files_are_accounted_for(tmp_path: Path) -> None:
    """A log whose beginning was let go says so; without that it is missing."""
    path = tmp_path / "calls.jsonl"
    writer = started(FileSink(path, 2_000, 1), "never")

    async def write() -> None:
        for number in range(100):
            await settled(writer.append(record(number), strict=True))

    asyncio.run(write())
    writer.stop()
    [full] = tmp_path.glob("calls.jsonl.0*")
    lines = [line for each in (full, path) for line in each.read_bytes().splitlines(keepends=True)]
    head = (tmp_path / "calls.jsonl.head").read_bytes()
    verdict = verify((Numbered("f", n, line) for n, line in enumerate(lines, 1)), head)
    assert verdict.findings == ()
    assert verdict.first > 1
    shorter = verify((Numbered("f", n, line) for n, line in enumerate(lines[2:], 1)), head)
    assert [each.kind for each in shorter.findings] == ["missing"]
