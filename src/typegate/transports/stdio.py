"""Standard input and output ↔ runner (specification: basic/transports, stdio).

The law of the file: the protocol owns the real streams. While the server runs, descriptor 0 is empty and
descriptor 1 is standard error, so that no print, C library or child process can corrupt or read the
protocol; afterwards both are as before. Nothing here waits for the client: what it does not take is held
back, and when that is too much, nothing more is read from it.
"""

import asyncio
import atexit
import contextlib
import logging
import os
import signal
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from types import FrameType
from typing import Any, Final

import msgspec

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from typegate.errors import ConfigurationError
from typegate.transports.runner import Runner, Serving
from typegate.transports.watchdog import Watchdog
from typegate.types import Principal
from typegate.wire.framing import MAX_LINE, LineDecoder, TooLong

__all__ = ["StdioOptions", "run"]

log: Final = logging.getLogger("typegate")

CHUNK: Final = 256 * 1024
PIPE_SIZE: Final = 1024 * 1024
MOMENT: Final = 0.05
"""Seconds for what ends by itself once it is told to."""

TURN: Final = 64
"""Lines handled before their answers are looked at: below Python 3.12 no call begins before that."""

HIGH_WATER: Final = 4 * 1024 * 1024
LOW_WATER: Final = 1024 * 1024
F_SETPIPE_SZ: Final = 1031


class StdioOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a server behaves on stdio.

    Attributes:
        grace: seconds that calls under way have to end after the input has ended or a signal came.
        max_line: the size limit of a message, in bytes.
        principal: who is at the other end; the operating system has authenticated them.
    """

    grace: float = 5.0
    max_line: int = MAX_LINE
    principal: Principal | None = None


def run(opened: Callable[[], AbstractAsyncContextManager[Serving]], options: StdioOptions) -> int:
    """Serve until the input ends (exit status 0) or a signal comes (130 for SIGINT, 143 for SIGTERM).

    A thread of the loop's own executor (`asyncio.to_thread`) that is stuck would keep the interpreter
    from ending for ever; in that case the process is ended here.
    """
    with _streams() as (source, target):
        status = _run_loop(_serve(source, target, options, opened))
    if any(thread.name.startswith("asyncio_") and thread.is_alive() for thread in threading.enumerate()):
        log.warning("a thread of asyncio.to_thread did not end in time; the process ends without it")
        atexit._run_exitfuncs()  # noqa: SLF001  (there is no other way to have them run)
        _flush()
        os._exit(status)
    return status


async def _serve(
    source: int,
    target: int,
    options: StdioOptions,
    opened: Callable[[], AbstractAsyncContextManager[Serving]],
) -> int:
    return await _Stdio(source, target, options).serve(opened)


def _run_loop(main: Coroutine[Any, Any, int]) -> int:
    """Run a loop to the end of *main*, and leave behind whatever will not end by itself."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main)
    finally:
        loop.set_exception_handler(lambda loop, context: None)
        stubborn = asyncio.all_tasks(loop)
        for task in stubborn:
            task.cancel()
        with contextlib.suppress(Exception):
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), 1.0))
        asyncio.set_event_loop(None)
        loop.close()


# --- the streams ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _streams() -> Iterator[tuple[int, int]]:
    """Take descriptors 0 and 1 for the protocol, and give them back at the end."""
    try:
        for descriptor in (0, 1):  # before either is copied: a copy may take the number of a closed one
            os.fstat(descriptor)
        source, target = os.dup(0), os.dup(1)
    except OSError:
        raise ConfigurationError("stdio needs an open standard input and output") from None
    nothing = os.open(os.devnull, os.O_RDWR)
    stray = nothing if _same_file(1, 2) else 2
    try:
        os.dup2(nothing, 0)
        os.dup2(stray, 1)
        _flush()
        yield source, target
    finally:
        _flush()
        os.dup2(source, 0)
        os.dup2(target, 1)
        for descriptor in (source, target, nothing):
            os.close(descriptor)


def _same_file(one: int, other: int) -> bool:
    """Whether two descriptors are one pipe or socket, so that stray output must not go there either."""
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:  # no standard error at all
        return True
    return _is_stream(first) and (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def _is_stream(status: os.stat_result) -> bool:
    return stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)


def _flush() -> None:
    """Empty Python's own buffer into wherever descriptor 1 leads now."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()


def _enlarge(descriptor: int) -> None:
    """A larger pipe means fewer turns of the loop; where that is not allowed, nothing is lost."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, F_SETPIPE_SZ, PIPE_SIZE)


# --- out -----------------------------------------------------------------------------------------


class _Writer:
    """What goes to the client: lines held until they can be written, several at a time."""

    def __init__(self, target: int, broken: Callable[[], None], drained: Callable[[], None]) -> None:
        self._target = target
        self._broken = broken
        self._drained = drained
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []
        self._size = 0
        self._rest = memoryview(b"")
        self._scheduled = False
        self._waiting: asyncio.Event | None = None
        self._emptied: asyncio.Event | None = None
        self.corked = False
        self.closed = False
        self._nonblocking = _is_stream(os.fstat(target)) and os.name == "posix"
        self._was_blocking = os.get_blocking(target) if self._nonblocking else True
        if self._nonblocking:
            os.set_blocking(target, False)
            _enlarge(target)
        self._watched = _watch_hang_up(self._loop, target, self._hung_up)

    def _hung_up(self) -> None:
        self.close()
        self._broken()

    @property
    def full(self) -> bool:
        return self._size > HIGH_WATER

    @property
    def empty(self) -> bool:
        return self._size == 0

    def write(self, message: bytes) -> None:
        if self.closed:
            return
        self._lines.append(message)
        self._size += len(message) + 1
        if not self.corked and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    async def drain(self) -> None:
        while self.full and not self.closed:
            if self._waiting is None:
                self._waiting = asyncio.Event()
            await self._waiting.wait()

    def flush(self) -> None:
        """Write what can be written now; the rest follows when the client has taken that."""
        self._scheduled = False
        if self._rest or not self._lines or self.closed:
            return
        self._lines.append(b"")
        self._rest = memoryview(b"\n".join(self._lines))
        self._lines = []
        if not self._push():
            self._loop.add_writer(self._target, self._writable)

    def _writable(self) -> None:
        if self._push():
            self._loop.remove_writer(self._target)
            self.flush()

    def _push(self) -> bool:
        """Write; whether nothing is left."""
        try:
            while self._rest:
                written = os.write(self._target, self._rest)
                self._rest = self._rest[written:]
                self._size -= written
        except BlockingIOError:
            return False
        except OSError:
            self._hung_up()
            return True
        if self._size < LOW_WATER:
            self._release()
        return True

    def _release(self) -> None:
        self._drained()
        if self._emptied is not None and self._size == 0:
            self._emptied.set()
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None

    async def finish(self, seconds: float | None) -> None:
        """Give the client time to take what is left; `None` for as long as that is."""
        self.flush()
        if not self.empty and not self.closed:
            self._emptied = asyncio.Event()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._emptied.wait(), seconds)

    def close(self) -> None:
        """Write no more, and leave the descriptor as it was."""
        if self.closed:
            return
        self.closed = True
        self._loop.remove_writer(self._target)
        if self._watched:
            self._loop.remove_reader(self._target)
        self._lines, self._rest, self._size = [], memoryview(b""), 0
        if self._nonblocking:
            with contextlib.suppress(OSError):
                os.set_blocking(self._target, self._was_blocking)
        self._release()


def _watch_hang_up(loop: asyncio.AbstractEventLoop, target: int, gone: Callable[[], None]) -> bool:
    """Hear of it when the other end of a pipe goes away: its writing end then counts as readable."""
    if os.name != "posix" or not stat.S_ISFIFO(os.fstat(target).st_mode):
        return False
    loop.add_reader(target, gone)
    return True


# --- in ------------------------------------------------------------------------------------------


class _Reader:
    """What comes from the client: read on the loop where the descriptor can be watched, else on a thread."""

    def __init__(self, source: int, take: Callable[[bytes], None]) -> None:
        self._source = source
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._watched = False
        self._ready = threading.Event()
        self._paused = False
        self.ended = False
        try:
            self._loop.add_reader(source, self._readable)
            self._watched = True
            _enlarge(source)
        except (NotImplementedError, OSError):  # Windows; a regular file
            threading.Thread(target=self._read, name="typegate-stdin", daemon=True).start()

    def _readable(self) -> None:
        try:
            chunk = os.read(self._source, CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        self._give(chunk)

    def _read(self) -> None:
        """Read one part after the other; the next one only when the loop has taken the last."""
        while not self.ended:
            try:
                chunk = os.read(self._source, CHUNK)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._give, chunk)
            except RuntimeError:  # the loop is closed
                return
            if not chunk:
                return
            self._ready.wait()
            self._ready.clear()

    def _give(self, chunk: bytes) -> None:
        if not self.ended:
            self._take(chunk)
        if not self._paused:
            self._ready.set()

    def pause(self) -> None:
        """Read no more for now."""
        self._paused = True
        if self._watched:
            self._loop.remove_reader(self._source)

    def resume(self) -> None:
        """Read again."""
        if self.ended or not self._paused:
            return
        self._paused = False
        self._ready.set()
        if self._watched:
            self._loop.add_reader(self._source, self._readable)

    def close(self) -> None:
        """Read no more for ever."""
        self.pause()
        self.ended = True
        self._ready.set()


# --- the server ----------------------------------------------------------------------------------


class _Stdio:
    """One run of a server on the standard streams."""

    def __init__(self, source: int, target: int, options: StdioOptions) -> None:
        self._source, self._target, self._options = source, target, options
        self._decoder = LineDecoder(options.max_line)
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._hurry: asyncio.Future[None] = self._loop.create_future()
        self._status = 0
        self._lines: deque[bytes | TooLong] = deque()
        self._handled = asyncio.Event()
        self._paused = False
        self._watchdog: Watchdog | None = None
        self._reader: _Reader
        self._writer: _Writer
        self._runner: Runner

    async def serve(self, opened: Callable[[], AbstractAsyncContextManager[Serving]]) -> int:
        """Serve to the end; the exit status of the process."""
        with self._watched(), self._signals():
            async with opened() as serving:
                self._writer = _Writer(self._target, self._on_broken, self._on_drained)
                self._runner = Runner(serving, self._writer, self._options.principal, "stdio")
                self._reader = _Reader(self._source, self._take)
                try:
                    await self._stop.wait()
                    await self._end(serving)
                finally:
                    self._reader.close()
                    self._writer.close()
        return self._status

    async def _end(self, serving: Serving) -> None:
        """Let what came in be answered and taken within the grace period; then cancel what is left."""
        self._reader.close()
        serving.service.closing.set()  # streams of changes end with their result
        finishing = asyncio.ensure_future(self._finish())
        grace = self._options.grace
        await asyncio.wait((finishing, self._hurry), timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        self._lines.clear()
        await self._runner.finish(MOMENT)
        finishing.cancel()
        ended = await self._runner.close(grace if self._status else 1.0)
        if not ended:
            log.warning("some calls did not end in time and were left behind")
        await self._writer.finish(1.0)

    async def _finish(self) -> None:
        """Wait until every line is handled, every call has ended and every answer is taken."""
        if self._lines:
            await self._handled.wait()
        await self._runner.finish(None)
        await self._writer.finish(None)

    # --- what happens

    def _take(self, chunk: bytes) -> None:
        self._lines.extend(self._decoder.feed(chunk) if chunk else self._decoder.end())
        if not self._paused:
            self._handle()
        if not chunk:
            self._stop.set()

    def _handle(self) -> None:
        """Handle what was read, and write the answers together, for as long as the client takes them."""
        self._writer.corked = True
        try:
            for _ in range(min(TURN, len(self._lines))):
                if self._writer.full:
                    break
                self._runner.receive(self._lines.popleft())
        finally:
            self._writer.corked = False
        self._writer.flush()
        if self._writer.full:
            self._paused = True
            self._reader.pause()
        elif self._lines:
            self._loop.call_soon(self._handle)
        else:
            self._handled.set()
            self._reader.resume()

    def _on_drained(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._handle)

    def _on_broken(self) -> None:
        """Nobody reads the answers: there is no use in finishing them."""
        self._end_now()

    def _end_now(self) -> None:
        """Stop, and wait for nothing that does not end by itself at once."""
        self._stop.set()
        if not self._hurry.done():
            self._hurry.set_result(None)

    # --- signals

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """While the server runs, somebody sees to it that it can be ended."""
        if os.name != "posix":
            yield
            return
        self._watchdog = Watchdog(self._source, self._options.grace + 1.0)
        try:
            yield
        finally:
            self._watchdog.call_off()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """The first SIGINT or SIGTERM ends the server in order, the second one at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def on_signal(number: int, frame: FrameType | None) -> None:
            if self._status:
                os._exit(self._status)
            self._status = 128 + number
            if self._watchdog is not None:
                self._watchdog.watch(self._status)
            self._loop.call_soon_threadsafe(self._end_now)

        before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
