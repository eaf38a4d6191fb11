"""The last resort of a stdio server: a process that must end, and whose event loop is blocked.

The law of the file: nothing here trusts the loop. A thread hears of the client's going away by itself, asks
the loop whether it still turns, and ends the process where it does not.
"""

import asyncio
import logging
import os
import select
import stat
import threading
from typing import Final

__all__ = ["Watchdog"]

log: Final = logging.getLogger("typegate")

PAUSE: Final = 1.0
"""Seconds between two questions."""


class Watchdog:
    """Ends the process when it should end and cannot.

    Args:
        source: the descriptor of the input; that its other end goes away is a reason to watch.
        seconds: how long the loop may be blocked once there is a reason.
    """

    def __init__(self, source: int, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._status = 0
        self._off = threading.Event()
        self._moved = threading.Event()
        self._heard, self._told = os.pipe()
        self._thread = threading.Thread(
            target=self._run, args=(source,), name="typegate-watchdog", daemon=True
        )
        self._thread.start()

    def watch(self, status: int) -> None:
        """There is a reason: the process was told to end with this status. Safe in a signal handler."""
        self._status = status
        os.write(self._told, b"!")

    def call_off(self) -> None:
        """The loop has come to its end."""
        self._off.set()
        self._moved.set()
        os.close(self._told)
        self._thread.join()

    def _run(self, source: int) -> None:
        poll = select.poll()
        poll.register(self._heard, select.POLLIN)
        if stat.S_ISFIFO(os.fstat(source).st_mode) or stat.S_ISSOCK(os.fstat(source).st_mode):
            poll.register(source, 0)  # nothing but the hang-up
        poll.poll()
        while self._turns():
            self._off.wait(PAUSE)
        os.close(self._heard)

    def _turns(self) -> bool:
        """Whether the loop is still needed; ends the process if it is, and does not turn."""
        self._moved.clear()
        if self._off.is_set():
            return False
        try:
            self._loop.call_soon_threadsafe(self._moved.set)
        except RuntimeError:  # it is closed
            return False
        if not self._moved.wait(self._seconds):
            log.warning("a function blocks the event loop; the process ends without it")
            os._exit(self._status)
        return True
