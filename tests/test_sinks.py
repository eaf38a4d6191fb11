"""Where lines go: all of them or none, only the owner reads them, and what a crash left is put aside."""

import itertools
import os
import resource
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from auditing import write

from typegate.errors import ConfigurationError
from typegate.guards.audit import AuditLog
from typegate.guards.chain import encode_head, link, read_position
from typegate.guards.sinks import FileSink, StreamSink, last_record, rotated


def line(seq: int) -> bytes:
    """A record, as far as a sink looks at one."""
    return link(b'{"v":1,"chain":"c","seq":%d,"phase":"outcome"}' % seq, "0" * 64)[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a log may be."""
    return tmp_path / "calls.jsonl"


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond 1,000 bytes: as a full disk, without one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def opened(path: Path, rotate_bytes: int = 0, keep: int | None = None) -> FileSink:
    """A sink that was opened."""
    sink = FileSink(path, rotate_bytes, keep)
    sink.open()
    return sink


def test_only_the_owner_reads(path: Path) -> None:
    """The log, its head file, what was torn off, and full files."""
    path.with_name("calls.jsonl.torn").unlink(missing_ok=True)
    sink = opened(path, rotate_bytes=1)
    sink.write([line(1)])
    sink.rotate(1)
    sink.write([line(2), b"torn"])
    sink.close()
    opened(path).close()
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == dict.fromkeys(
        ("calls.jsonl", "calls.jsonl.head", "calls.jsonl.torn", "calls.jsonl.000000000001"), 0o600
    )


def test_a_file_that_is_there_is_carried_on(path: Path) -> None:
    """Nothing is overwritten, and where its chain stands is known."""
    sink = opened(path)
    sink.write([line(1), line(2)])
    sink.close()
    sink = FileSink(path, 0, None)
    assert sink.open().position == read_position(line(2))
    sink.write([line(3)])
    sink.close()
    assert path.read_bytes() == line(1) + line(2) + line(3)


@pytest.mark.parametrize(
    "torn", [b"{", line(3)[:-1], line(3)[:40], b"\0" * 4_096, b"\0\n\0", b"{}\n[", b"x" * 300_000]
)
def test_a_torn_end_is_put_aside(path: Path, torn: bytes) -> None:
    """It moves into a file of its own; nothing else is lost, and nothing of it."""
    path.write_bytes(line(1) + line(2) + torn)
    sink = FileSink(path, 0, None)
    found = sink.open()
    sink.close()
    assert (found.position, found.torn) == (read_position(line(2)), len(torn))
    assert path.read_bytes() == line(1) + line(2)
    assert path.with_name("calls.jsonl.torn").read_bytes() == torn + b"\n"


def test_a_first_line_that_is_torn(path: Path) -> None:
    """A log may end in the middle of its first record."""
    path.write_bytes(line(1)[:30])
    sink = FileSink(path, 0, None)
    assert (sink.open().torn, path.read_bytes()) == (30, b"")
    sink.close()


@pytest.mark.parametrize("content", [b"hello\n", b"2026-11-30 something was logged\n" * 10_000, b"{}\n"])
def test_a_file_of_something_else_is_left_alone(path: Path, content: bytes) -> None:
    """It is refused, not cut."""
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="holds something else"):
        opened(path)
    assert path.read_bytes() == content


def test_no_regular_file(tmp_path: Path) -> None:
    """A pipe or a device keeps nothing."""
    os.mkfifo(tmp_path / "calls.jsonl")
    with pytest.raises(ConfigurationError, match="no regular file"):
        opened(tmp_path / "calls.jsonl")


def test_a_second_writer_is_told_what_to_do(path: Path) -> None:
    """One log, one writer; the lock goes with the process that has it."""
    sink = opened(path)
    sink.save_head(encode_head(read_position(line(1)), 4711, None))  # type: ignore[arg-type]
    with pytest.raises(
        ConfigurationError, match=r"written by process 4711.*AuditLog\('calls-\{pid\}.jsonl'\)"
    ):
        opened(path)
    sink.close()
    opened(path).close()


def test_no_room_for_all_is_room_for_none(path: Path, small_files: None) -> None:
    """What went in is taken out again, and what fits is taken later."""
    sink = opened(path)
    sink.write([line(1)] * 3)
    with pytest.raises(OSError, match="too large"):
        sink.write([line(2)] * 6)
    assert path.read_bytes() == line(1) * 3
    sink.write([line(3)])
    assert path.read_bytes() == line(1) * 3 + line(3)
    sink.close()


def test_full_files_are_named_after_their_first_record(path: Path) -> None:
    """The names sort as the records do, and never change."""
    sink = opened(path, rotate_bytes=300)
    for seq in range(1, 8):
        sink.write([line(seq)])
        if sink.full():
            assert sink.rotate(seq)[1] == 0
    sink.close()
    assert [each.name[-3:] for each in rotated(path)] == ["001", "003", "005"]
    assert b"".join(each.read_bytes() for each in (*rotated(path), path)) == b"".join(map(line, range(1, 8)))


def test_only_so_many_full_files_are_kept(path: Path) -> None:
    """Which records went with the others is told."""
    sink = opened(path, rotate_bytes=1, keep=2)
    gone = []
    for seq in range(1, 6):
        sink.write([line(seq)])
        gone.append(sink.rotate(seq)[1])
    sink.close()
    assert gone == [0, 0, 1, 2, 3]
    assert [each.name[-1] for each in rotated(path)] == ["4", "5"]


def test_the_chain_is_found_in_the_last_full_file(path: Path) -> None:
    """A crash between two files leaves no new one."""
    sink = opened(path, rotate_bytes=1)
    sink.write([line(1)])
    sink.rotate(1)
    sink.close()
    path.unlink()
    sink = FileSink(path, 1, None)
    assert sink.open().position == read_position(line(1))
    sink.close()


def test_the_last_record_is_looked_for_backwards() -> None:
    """Behind it may stand anything; before it a line of which only the end was read."""
    data = line(1)[20:] + line(2) + b"rest"
    assert last_record(data, whole=False) == (read_position(line(2)), len(line(1)) - 20 + len(line(2)))
    assert last_record(line(1)[20:], whole=False) is None
    assert last_record(b"", whole=True) is None


# --- standard error


def test_a_reader_gets_whole_lines() -> None:
    """However long they are."""
    reader, writer = os.pipe()
    sink = StreamSink(writer)
    lines = [b"x" * 9_000 + b"\n", b"y\n"]
    assert sink.ready()
    for each in lines:
        sink.write([each])
    assert os.read(reader, 20_000) == b"".join(lines)
    os.close(reader)
    os.close(writer)


def test_a_reader_that_does_not_read_is_waited_for_once() -> None:
    """Then nothing is taken until it reads again, and no line is cut in two."""
    reader, writer = os.pipe()
    sink = StreamSink(writer, patience=0.2)
    line = b"x" * 999 + b"\n"
    count = until_it_raises(lambda: sink.write([line]))
    began = time.perf_counter()
    for _ in range(100):
        assert sink.ready()
        with pytest.raises(TimeoutError):
            sink.write([line])
    assert time.perf_counter() - began < 0.2
    got = os.read(reader, 1 << 20)
    sink.write([b"again\n"])
    os.close(writer)
    while part := os.read(reader, 1 << 20):
        got += part
    os.close(reader)
    assert got == line * count + b"again\n"


def until_it_raises(act: Callable[[], None]) -> int:
    """How often something can be done."""
    for count in itertools.count():
        try:
            act()
        except TimeoutError:
            return count
    raise AssertionError


def test_a_reader_that_is_gone_is_an_error() -> None:
    """Each time; nothing of it is kept for later."""
    reader, writer = os.pipe()
    sink = StreamSink(writer)
    os.close(reader)
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            sink.write([b"x\n"])
    sink.close()
    os.close(writer)


def test_a_slow_reader_is_waited_for() -> None:
    """Everything arrives."""
    reader, writer = os.pipe()
    got: list[bytes] = []

    def read() -> None:
        while part := os.read(reader, 8_192):
            got.append(part)
            time.sleep(0.001)

    thread = threading.Thread(target=read)
    thread.start()
    sink = StreamSink(writer, patience=5)
    for _ in range(300):
        sink.write([b"x" * 999 + b"\n"])
    sink.close()
    os.close(writer)
    thread.join()
    os.close(reader)
    assert len(b"".join(got)) == 300_000


def test_a_full_disk_in_a_log(path: Path, small_files: None) -> None:
    """What was acknowledged before is whole, and a log that cannot begin says so."""
    with pytest.raises(Exception, match="cannot be recorded"):
        write(AuditLog(path), 10)
    assert last_record(path.read_bytes(), whole=True) is not None
    assert path.read_bytes().endswith(b"}\n")
