"""Worker threads for plain functions, so that none of them blocks the server (requirement C7).

The law of the file: the event loop never waits for a thread, and neither does the end of the process: the
threads are daemons, and the late result of a call that nobody waits for is dropped. Quick functions share
few threads, since more of them only fight for the interpreter; when work has waited for a moment, there
are as many threads as it needs, up to the limit.
"""

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

__all__ = ["DEFAULT_THREADS", "Workers"]

DEFAULT_THREADS: Final = 32

PATIENCE: Final = 0.005, 0.02
"""Seconds after which waiting work is noticed, and seconds that it then has to be done before another
thread is started for it: a pause of the whole process must not pass for slow work."""

Job = tuple[contextvars.Context, Callable[[], Any], "asyncio.Future[Any]"]
Outcome = tuple["asyncio.Future[Any]", Any, BaseException | None]


class Workers:
    """A pool of threads that belongs to one event loop.

    Args:
        threads: how many functions run at once at most; more of them wait their turn.
    """

    def __init__(self, threads: int = DEFAULT_THREADS) -> None:
        self._limit = threads
        self._loop: asyncio.AbstractEventLoop | None = None
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._done: deque[Outcome] = deque()
        self._settling = False
        self._watching = False
        self._pending = 0
        self._finished = 0
        self._threads = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def full(self) -> bool:
        """Whether as many functions are under way as may run at once."""
        return self._pending >= self._limit

    async def turn(self) -> None:
        """Wait until one of them has ended, the first who waits first."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self.wake()
            raise

    def run(self, function: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Call *function* on a worker thread, in a copy of the current context."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._pending += 1
        if self._threads == 0:
            self._start_thread()
        elif self._pending > self._threads < self._limit and not self._watching:
            self._watching = True
            loop.call_later(PATIENCE[0], self._watch, loop)
        self._jobs.put((contextvars.copy_context(), function, future))
        return future

    def _watch(self, loop: asyncio.AbstractEventLoop, finished_before: int | None = None) -> None:
        """Start threads for what waits, once it is seen that those there do not keep up."""
        self._watching = self._pending > self._threads < self._limit
        if not self._watching:
            return
        if finished_before is not None and self._finished - finished_before < self._pending:
            for _ in range(min(self._pending, self._limit) - self._threads):
                self._start_thread()
        loop.call_later(PATIENCE[1], self._watch, loop, self._finished)

    def _start_thread(self) -> None:
        self._threads += 1
        threading.Thread(target=self._work, name=f"typegate-{self._threads}", daemon=True).start()

    def close(self) -> None:
        """Let idle threads end; a busy one ends with its function, or with the process."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            context, function, future = job
            result, error = None, None
            if not future.cancelled():
                try:
                    result = context.run(function)
                except BaseException as raised:  # noqa: BLE001  (whatever it is, the caller must hear of it)
                    error = raised
            self._hand_over((future, result, error))
            del job, context, function, future, result, error

    def _hand_over(self, outcome: Outcome) -> None:
        """One wake-up of the loop serves all that finished before it came round."""
        self._done.append(outcome)
        if self._settling or self._loop is None:
            return
        self._settling = True
        try:
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    def wake(self) -> None:
        """Give a turn that was not taken to the next who waits."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.get_loop().call_soon(_release, waiter)  # after what has ended is answered
                return

    def _settle(self) -> None:
        self._settling = False
        while self._done:
            future, result, error = self._done.popleft()
            self._pending -= 1
            self._finished += 1
            self.wake()
            if future.cancelled():
                continue
            if error is None:
                future.set_result(result)
            elif isinstance(error, StopIteration):  # a future cannot carry it
                stopped = RuntimeError("the function raised StopIteration")
                stopped.__cause__ = error
                future.set_exception(stopped)
            else:
                future.set_exception(error)


def _release(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
