"""Who holds what, and who waits for it.

The law of the file: a call takes all that it needs or nothing, so no two calls wait for each other; what is
free goes to whoever came first and can use it. Nothing here waits: a waiter is woken by a callback.
"""

from collections import deque
from collections.abc import Callable, Hashable

import msgspec

__all__ = ["Slot", "Slots", "Waiter"]


class Slot(msgspec.Struct, frozen=True):
    """One thing that is counted: how many of it there are, and how many may wait for it."""

    key: Hashable
    limit: int
    queue: int
    rule: str


class Waiter:
    """A call that waits for its slots."""

    __slots__ = ("blocked", "granted", "needs", "wake")

    def __init__(self, needs: tuple[Slot, ...], wake: Callable[[], None]) -> None:
        self.needs = needs
        self.wake = wake
        self.blocked: Hashable = None
        self.granted = False


class Slots:
    """Who holds what, and who waits for it, the first who came first."""

    def __init__(self) -> None:
        self._used: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[Waiter]] = {}
        self._waits: dict[Hashable, int] = {}

    def used(self, key: Hashable) -> int:
        """How many of it are held."""
        return self._used.get(key, 0)

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        return sum(map(len, self._waiting.values()))

    def take(self, needs: tuple[Slot, ...]) -> Slot | None:
        """Take all of them and give `None`, or take none and give the first that is not free."""
        used = self._used
        if len(needs) == 1:
            need = needs[0]
            taken = used.get(need.key, 0)
            if taken >= need.limit:
                return need
            used[need.key] = taken + 1
            return None
        for need in needs:
            if used.get(need.key, 0) >= need.limit:
                return need
        for need in needs:
            used[need.key] = used.get(need.key, 0) + 1
        return None

    def give_back(self, needs: tuple[Slot, ...]) -> None:
        """Free all of them, and wake those who can go on."""
        used = self._used
        for need in needs:
            key = need.key
            left = used[key] - 1
            if left:
                used[key] = left
            else:
                del used[key]
        if self._waiting:
            for need in needs:
                self._serve(need)

    def wait(self, needs: tuple[Slot, ...], blocked: Slot, wake: Callable[[], None]) -> Waiter:
        """Stand in line for what is not free."""
        waiter = Waiter(needs, wake)
        self._enqueue(waiter, blocked.key)
        for need in needs:
            self._waits[need.key] = self._waits.get(need.key, 0) + 1
        return waiter

    def full(self, needs: tuple[Slot, ...]) -> Slot | None:
        """The first for which nobody more may wait."""
        return next((need for need in needs if self._waits.get(need.key, 0) >= need.queue), None)

    def leave(self, waiter: Waiter) -> None:
        """Go out of the line."""
        line = self._waiting[waiter.blocked]
        line.remove(waiter)
        if not line:
            del self._waiting[waiter.blocked]
        self._left(waiter)

    def _left(self, waiter: Waiter) -> None:
        for need in waiter.needs:
            left = self._waits[need.key] - 1
            if left:
                self._waits[need.key] = left
            else:
                del self._waits[need.key]

    def _enqueue(self, waiter: Waiter, key: Hashable) -> None:
        waiter.blocked = key
        self._waiting.setdefault(key, deque()).append(waiter)

    def _serve(self, slot: Slot) -> None:
        """Give what is free of it to those who wait for it; who lacks something else waits for that."""
        line = self._waiting.get(slot.key)
        while line and self._used.get(slot.key, 0) < slot.limit:
            waiter = line.popleft()
            blocked = self.take(waiter.needs)
            if blocked is None:
                self._left(waiter)
                waiter.granted = True
                waiter.wake()
            else:
                self._enqueue(waiter, blocked.key)
        if line is not None and not line:
            del self._waiting[slot.key]
