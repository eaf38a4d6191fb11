"""What changed → whoever asked to know.

The law of the file: publishing never waits and never fails for a subscriber's sake. Subscribers are
called on the thread that publishes; each sees to its own thread and its own buffer.
"""

import logging
from collections.abc import Callable
from typing import Final, Literal

import msgspec

__all__ = ["Bus", "Change"]

log: Final = logging.getLogger("typegate")


class Change(msgspec.Struct, frozen=True):
    """One thing that changed: a listing, or a resource."""

    kind: Literal["tools", "prompts", "resources", "resource"]
    uri: str = ""


class Bus:
    """The subscribers of one server."""

    def __init__(self) -> None:
        self._subscribers: dict[int, Callable[[Change], None]] = {}
        self._next = 0

    def subscribe(self, subscriber: Callable[[Change], None]) -> Callable[[], None]:
        """Call *subscriber* with every change from now on; the returned function ends that."""
        key = self._next = self._next + 1
        self._subscribers[key] = subscriber
        return lambda: self._subscribers.pop(key, None) and None

    def publish(self, change: Change) -> None:
        """Tell everyone."""
        for subscriber in tuple(self._subscribers.values()):
            try:
                subscriber(change)
            except Exception:
                log.exception("a subscriber to changes failed")
