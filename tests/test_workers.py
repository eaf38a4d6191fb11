"""What `typegate.transports.workers` promises: few threads, no waiting for them, nothing lost on the way."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from typegate.transports.workers import DEFAULT_THREADS, Workers

PATIENCE = 10.0  # seconds until something that never happens is given up

who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


class Panic(BaseException):
    """No `Exception` at all."""


class Crowd:
    """Counts how many functions run at once, and holds them until they are let go."""

    def __init__(self) -> None:
        self.inside = self.most = self.calls = 0
        self._lock = threading.Lock()
        self._open = threading.Event()

    def __call__(self) -> int:
        with self._lock:
            self.calls += 1
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self._open.wait(PATIENCE)
        with self._lock:
            self.inside -= 1
        return threading.get_ident()

    def let_go(self) -> None:
        """Let those inside and all that come go on."""
        self._open.set()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens on a thread."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  (no loop is told)
            await asyncio.sleep(0.001)


def threads() -> set[threading.Thread]:
    """The worker threads that there are."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("typegate-")}


def pool(work: Callable[[Workers], Any], size: int = DEFAULT_THREADS) -> Any:
    """What *work* gives with a pool that is closed behind it."""

    async def main() -> Any:
        workers = Workers(size)
        try:
            return await asyncio.wait_for(work(workers), PATIENCE)
        finally:
            workers.close()

    return asyncio.run(main())


# --- one call ------------------------------------------------------------------------------------


def test_a_function_runs_on_another_thread_and_its_result_comes_back() -> None:
    """The thread is a daemon, so that it never keeps a process alive."""
    name, daemon, ident = pool(lambda workers: workers.run(_facts))
    assert name.startswith("typegate-")
    assert daemon
    assert ident != threading.get_ident()


def _facts() -> tuple[str, bool, int]:
    thread = threading.current_thread()
    return thread.name, thread.daemon, threading.get_ident()


@pytest.mark.parametrize(
    "error", [ValueError("v"), SystemExit(3), Panic("p"), TimeoutError(), asyncio.CancelledError()]
)
def test_an_exception_comes_back_as_it_is(error: BaseException) -> None:
    """Whatever it is, and the thread goes on to serve."""

    async def work(workers: Workers) -> Any:
        def fail() -> None:
            raise error

        with pytest.raises(type(error)) as caught:
            await workers.run(fail)
        return caught.value is error or isinstance(error, asyncio.CancelledError), await workers.run(
            lambda: "alive"
        )

    assert pool(work) == (True, "alive")


def test_StopIteration_comes_back_as_what_a_coroutine_can_carry() -> None:
    """Its origin is not lost on the way."""
    error = StopIteration(1)

    async def work(workers: Workers) -> Any:
        def fail() -> None:
            raise error

        with pytest.raises(RuntimeError, match="StopIteration") as caught:
            await workers.run(fail)
        return caught.value.__cause__, await workers.run(lambda: "alive")

    assert pool(work) == (error, "alive")


def test_context_variables_go_along_and_do_not_come_back() -> None:
    """Each call sees the context that it was made in, and has a copy of its own."""

    def look() -> str:
        seen = who.get()
        who.set("changed on the thread")
        return seen

    async def work(workers: Workers) -> list[str]:
        found = [await workers.run(look)]
        for name in ("first", "second"):
            who.set(name)
            found += [await workers.run(look), who.get()]
        return found

    assert pool(work, 1) == ["nobody", "first", "first", "second", "second"]


# --- many calls ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5])
def test_no_more_run_at_once_than_there_may_be(size: int) -> None:
    """But as many as there may be, and the rest of them in their turn."""
    crowd = Crowd()

    async def work(workers: Workers) -> set[int]:
        futures = [workers.run(crowd) for _ in range(4 * size)]
        await until(lambda: crowd.inside == size)
        crowd.let_go()
        return set(await asyncio.gather(*futures))

    assert len(pool(work, size)) == size
    assert (crowd.most, crowd.calls) == (size, 4 * size)


def test_two_hundred_calls_do_not_starve_the_loop() -> None:
    """While all of them are stuck, the loop goes round as if they were not there."""
    crowd = Crowd()

    async def work(workers: Workers) -> Any:
        futures = [workers.run(crowd) for _ in range(200)]
        for _ in range(1000):
            await asyncio.sleep(0)
        done_before = sum(future.done() for future in futures)
        crowd.let_go()
        await asyncio.gather(*futures)
        return done_before

    assert pool(work) == 0
    assert (crowd.calls, crowd.most <= DEFAULT_THREADS) == (200, True)


def test_calls_one_after_another_share_a_thread() -> None:
    """A quick function costs no thread of its own."""

    async def work(workers: Workers) -> set[int]:
        return {await workers.run(threading.get_ident) for _ in range(50)}

    assert len(pool(work)) == 1


def test_calls_wait_in_the_order_in_which_they_came() -> None:
    """The first come is served first."""
    order: list[int] = []

    async def work(workers: Workers) -> None:
        await asyncio.gather(*(workers.run(lambda n=n: order.append(n)) for n in range(50)))

    pool(work, 1)
    assert order == list(range(50))


@pytest.mark.parametrize(("quick", "seconds"), [(0, 0), (1, 0), (10, 0.0005), (40, 0.0005), (80, 0)])
def test_functions_that_wait_for_one_another_all_end(quick: int, seconds: float) -> None:
    """Whatever quick work stood before them: what waits gets a thread, as long as there may be more."""
    barrier = threading.Barrier(3)

    async def work(workers: Workers) -> Any:
        before = [workers.run(lambda: time.sleep(seconds)) for _ in range(quick)]
        meeting = [workers.run(lambda: barrier.wait(PATIENCE)) for _ in range(3)]
        await asyncio.gather(*before)
        return sorted(await asyncio.gather(*meeting))

    assert pool(work, 8) == [0, 1, 2]


# --- calls that nobody waits for any more --------------------------------------------------------


def test_a_call_that_is_cancelled_before_its_turn_never_runs() -> None:
    """Nobody wants its result."""
    crowd, ran = Crowd(), []

    async def work(workers: Workers) -> None:
        first = workers.run(crowd)
        second, third = workers.run(lambda: ran.append(2)), workers.run(lambda: ran.append(3))
        await until(lambda: crowd.inside == 1)
        second.cancel()
        crowd.let_go()
        await asyncio.gather(first, third)

    pool(work, 1)
    assert ran == [3]


@pytest.mark.parametrize("error", [None, ValueError("late")])
def test_the_late_result_of_a_cancelled_call_is_dropped(error: Exception | None) -> None:
    """Without a word, and the thread takes the next one."""
    crowd = Crowd()

    async def work(workers: Workers) -> Any:
        def late() -> None:
            crowd()
            if error is not None:
                raise error

        future = workers.run(late)
        await until(lambda: crowd.inside == 1)
        future.cancel()
        crowd.let_go()
        return future.cancelled(), await workers.run(lambda: "next")

    assert pool(work, 1) == (True, "next")


def test_a_result_that_comes_after_the_loop_is_closed_is_dropped() -> None:
    """The thread ends in peace."""
    crowd, found = Crowd(), []

    async def main() -> None:
        workers = Workers(1)
        workers.run(lambda: found.append(crowd()))
        await until(lambda: crowd.inside == 1)
        workers.close()

    before = threads()
    asyncio.run(main())
    crowd.let_go()
    asyncio.run(until(lambda: threads() <= before))
    assert len(found) == 1


# --- the end -------------------------------------------------------------------------------------


def test_idle_threads_end_with_the_pool() -> None:
    """All of them, without being waited for."""
    crowd = Crowd()

    async def work(workers: Workers) -> None:
        futures = [workers.run(crowd) for _ in range(5)]
        await until(lambda: crowd.inside == 5)
        crowd.let_go()
        await asyncio.gather(*futures)

    before = threads()
    pool(work)
    asyncio.run(until(lambda: threads() <= before))


def test_closing_does_not_wait_for_a_busy_thread() -> None:
    """It ends with its function."""
    crowd = Crowd()

    async def main() -> None:
        workers = Workers(1)
        workers.run(crowd)
        await until(lambda: crowd.inside == 1)
        workers.close()

    before = threads()
    asyncio.run(main())
    assert (len(threads() - before), crowd.inside) == (1, 1)
    crowd.let_go()
    asyncio.run(until(lambda: threads() <= before))


def test_a_pool_that_was_never_used_has_no_threads() -> None:
    """And closing it is no trouble."""
    before = threads()
    Workers().close()
    assert threads() <= before
