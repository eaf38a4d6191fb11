"""Where the lines of the audit log go: standard error, and a file that is rotated.

The law of the file: a sink takes whole lines, all of them or none, and raises `OSError` where it cannot;
it knows nothing of what they say but where a chain stands at their end. It is called by one at a time.
"""

import contextlib
import os
import select
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from typegate.errors import ConfigurationError
from typegate.guards.chain import HEAD_SIZE, Position, read_head, read_position

try:
    import fcntl
except ModuleNotFoundError:  # Windows: nobody sees that two processes write
    fcntl = None  # type: ignore[assignment]

__all__ = ["FileSink", "Found", "HeadFile", "Sink", "StreamSink", "rotated", "write_whole"]

PRIVATE: Final = 0o600
PIECE: Final = 4_096
"""What a pipe that is ready takes without waiting (POSIX: PIPE_BUF)."""

WINDOW: Final = 1 << 16


class Found(msgspec.Struct, frozen=True):
    """What was there when a sink was opened: where the chain stood, the head file, what was torn off."""

    position: Position | None = None
    head: bytes | None = None
    torn: int = 0


class Sink(Protocol):
    """Where lines go."""

    keeps: bool
    """Whether what was written is still there after a restart, so that a head file makes sense."""

    def open(self) -> Found:
        """Take possession of what is there.

        Raises:
            ConfigurationError: it cannot be used; the text says what to do.
            OSError: it cannot be opened.
        """
        ...

    def ready(self) -> bool:
        """Whether `write` would return at once."""
        ...

    def write(self, lines: Sequence[bytes]) -> None:
        """Take all of the lines, or raise `OSError` and take none."""

    def sync(self) -> None:
        """Return when what was written survives a power cut."""

    def save_head(self, content: bytes) -> None:
        """Overwrite the head file."""

    def full(self) -> bool:
        """Whether it is time for `rotate`."""
        ...

    def rotate(self, last: int) -> tuple[str, int]:
        """Begin a new file behind record *last*.

        Returns:
            The name that the full one now has, and up to which record older files were deleted.
        """
        ...

    def close(self) -> None:
        """Let go of everything."""


# --- standard error ------------------------------------------------------------------------------


class StreamSink:
    """Lines on a descriptor that somebody else reads, such as standard error.

    A reader that does not read does not stop the server for good: after *patience* seconds nothing is taken
    until the descriptor is ready again.
    """

    keeps = False

    def __init__(self, descriptor: int, patience: float = 1.0) -> None:
        self._fd = descriptor
        self._patience = patience
        self._rest = b""
        self._stuck = False
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)

    def open(self) -> Found:
        """Nothing is there before."""
        return Found()

    def ready(self) -> bool:
        """Whether the reader keeps up; where it did not for long, there is nothing to wait for either."""
        return self._stuck or (not self._rest and self._writable(0))

    def _writable(self, seconds: float) -> bool:
        return self._poll is None or bool(self._poll.poll(seconds * 1000))

    def write(self, lines: Sequence[bytes]) -> None:
        """Write, and wait for the reader for as long as there is patience."""
        deadline = time.monotonic() + (0 if self._stuck else self._patience)
        if not self._flush(deadline):
            self._stuck = True
            raise TimeoutError("nobody reads standard error")
        self._stuck = False
        self._rest = b"".join(lines)
        if not self._writable(max(0.0, deadline - time.monotonic())):
            self._rest = b""
            self._stuck = True
            raise TimeoutError("nobody reads standard error")
        try:
            self._stuck = not self._flush(deadline)  # what has begun is finished, now or with the next lines
        except OSError:
            self._rest = b""
            raise

    def _flush(self, deadline: float) -> bool:
        """Write what is left of earlier lines; whether all of it is out."""
        while self._rest:
            if not self._writable(max(0.0, deadline - time.monotonic())):
                return False
            self._rest = self._rest[os.write(self._fd, self._rest[:PIECE]) :]
        return True

    def sync(self) -> None:
        """Whoever reads keeps it."""

    def save_head(self, content: bytes) -> None:
        """There is none."""

    def full(self) -> bool:
        """Whoever reads rotates."""
        return False

    def rotate(self, last: int) -> tuple[str, int]:
        """There is nothing to rotate."""
        return "", 0

    def close(self) -> None:
        """The descriptor is not ours; what is left is written if it is taken at once."""
        with contextlib.suppress(OSError):
            self._flush(time.monotonic() + (0 if self._stuck else self._patience))


# --- the head file -------------------------------------------------------------------------------


class HeadFile:
    """The file beside a log that says where it stands, and whose lock says that somebody writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    def open(self, log: Path) -> bytes:
        """Lock the file and read it.

        Raises:
            ConfigurationError: another process has the lock.
        """
        self._fd = _opened(self._path, os.O_RDWR | os.O_CREAT)
        content = os.read(self._fd, HEAD_SIZE)
        if fcntl is not None:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._fd)
                head = read_head(content)
                who = f"process {head.pid}" if head is not None else "another process"
                raise ConfigurationError(
                    f"'{log}' is written by {who}; a log has one writer: give each process its own, "
                    f"such as AuditLog('{log.stem}-{{pid}}{log.suffix}')"
                ) from None
        return content

    def save(self, content: bytes) -> None:
        """Overwrite it, in one write of one sector."""
        if hasattr(os, "pwrite"):
            os.pwrite(self._fd, content, 0)
        else:
            os.lseek(self._fd, 0, os.SEEK_SET)
            os.write(self._fd, content)

    def close(self) -> None:
        """Give up the lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


# --- a file --------------------------------------------------------------------------------------


class FileSink:
    """Lines at the end of a file that only its owner reads.

    Args:
        path: the file; `{pid}` in it is the number of the process.
        rotate_bytes: from which size on a new one is begun; 0: never.
        keep: how many full ones stay; `None`: all.
    """

    keeps = True

    def __init__(self, path: Path, rotate_bytes: int, keep: int | None) -> None:
        self._path = path
        self._rotate_bytes = rotate_bytes
        self._keep = keep
        self._head = HeadFile(path.with_name(path.name + ".head"))
        self._fd = -1
        self._size = 0
        self._limit = rotate_bytes
        self._first = 0

    def open(self) -> Found:
        """Lock, open, and cut off what is no whole line; it goes into the file `.torn`."""
        head = self._head.open(self._path)
        try:
            self._fd = _opened(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            if not stat.S_ISREG(os.fstat(self._fd).st_mode):
                raise ConfigurationError(f"'{self._path}' is no regular file; an audit log needs one")
            position, end = self._tail()
            torn = self._cut(end)
        except BaseException:
            self.close()
            raise
        if position is None:
            position = self._before()
        return Found(position, head, torn)

    def ready(self) -> bool:
        """A file takes what is written into memory of the system at once."""
        return True

    def write(self, lines: Sequence[bytes]) -> None:
        """Append; where there is no room for all of it, what went in is taken out again."""
        data = b"".join(lines) if len(lines) > 1 else lines[0]
        try:
            done = os.write(self._fd, data)
            while done < len(data):  # a second write tells why
                done += os.write(self._fd, data[done:])
        except OSError:
            os.ftruncate(self._fd, self._size)
            raise
        self._size += len(data)

    def sync(self) -> None:
        """`fdatasync` where there is one."""
        getattr(os, "fdatasync", os.fsync)(self._fd)

    def save_head(self, content: bytes) -> None:
        """Overwrite the head file."""
        self._head.save(content)

    def full(self) -> bool:
        """Whether the file has the size from which on a new one is begun."""
        return bool(self._rotate_bytes) and self._size >= self._limit

    def rotate(self, last: int) -> tuple[str, int]:
        """Rename the file after its first record, and begin a new one."""
        self._limit = self._size + self._rotate_bytes  # where it fails, it is tried again later
        self.sync()
        target = self._path.with_name(f"{self._path.name}.{self._first_record():012d}")
        self._path.rename(target)
        try:
            fd = _opened(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        except OSError:
            target.rename(self._path)
            raise
        os.close(self._fd)
        self._fd, self._size, self._limit, self._first = fd, 0, self._rotate_bytes, last + 1
        _sync_folder(self._path.parent)
        return target.name, self._delete()

    def _delete(self) -> int:
        """Delete the oldest full files, and say up to which record they went."""
        full = rotated(self._path)
        gone = full[: max(0, len(full) - self._keep)] if self._keep is not None else []
        if not gone:
            return 0
        left = full[len(gone) :]
        for path in gone:
            path.unlink()
        return int(left[0].name.rpartition(".")[2]) - 1 if left else self._first - 1

    def _first_record(self) -> int:
        if not self._first:
            line = os.pread(self._fd, WINDOW, 0).partition(b"\n")[0]
            found = read_position(line)
            self._first = found.seq if found is not None else 1
        return self._first

    def close(self) -> None:
        """Give up file and lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._head.close()

    # --- what is there at the start

    def _tail(self) -> tuple[Position | None, int]:
        """Where the chain stands, and where the last whole record ends."""
        size = os.fstat(self._fd).st_size
        window = WINDOW
        while True:
            start = max(0, size - window)
            data = _read(self._fd, start, size - start)
            found = last_record(data, whole=start == 0)
            if found is not None:
                return found[0], start + found[1]
            if start == 0:
                break
            window *= 4
        if size and not data.startswith(b'{"v":') and data.strip(b"\0"):
            raise ConfigurationError(f"'{self._path}' holds something else; an audit log needs its own file")
        return None, 0

    def _cut(self, end: int) -> int:
        """Move what stands behind the last whole record aside; how many bytes that was."""
        size = os.fstat(self._fd).st_size
        if size > end:
            torn = self._path.with_name(self._path.name + ".torn")
            fd = _opened(torn, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                write_whole(fd, _read(self._fd, end, size - end) + b"\n")
                os.fsync(fd)
            finally:
                os.close(fd)
            os.ftruncate(self._fd, end)
        self._size = end
        return size - end

    def _before(self) -> Position | None:
        """Where the chain stood at the end of the newest full file, for an empty one that follows it."""
        full = rotated(self._path)
        if not full:
            return None
        content = full[-1].read_bytes()
        found = last_record(content, whole=True)
        return found[0] if found is not None else None


def rotated(path: Path) -> list[Path]:
    """The full files that came before *path*, the oldest first."""
    names = path.parent.glob(f"{_quoted(path.name)}.{'[0-9]' * 12}")
    return sorted(names)


def _quoted(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def last_record(data: bytes, whole: bool) -> tuple[Position, int] | None:
    """The last whole record in *data* and where it ends; *whole*: the data begin with a line."""
    end = data.rfind(b"\n")
    while end >= 0:
        start = data.rfind(b"\n", 0, end) + 1
        if start == 0 and not whole:
            return None
        found = read_position(data[start:end])
        if found is not None:
            return found, end + 1
        end = start - 1
    return None


def write_whole(fd: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(fd, data) :]


def _read(fd: int, start: int, count: int) -> bytes:
    parts = []
    while count > 0 and (part := os.pread(fd, count, start)):
        parts.append(part)
        start += len(part)
        count -= len(part)
    return b"".join(parts)


def _opened(path: Path, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), PRIVATE)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
