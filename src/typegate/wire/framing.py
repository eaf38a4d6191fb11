"""Lines of bytes: where one message ends and the next begins (specification: basic/transports, stdio).

The law of the file: memory is bounded by the size limit, however the bytes are cut. A line that is too
long is thrown away as it arrives and reported once, where it ends.
"""

from typing import Final

__all__ = ["MAX_LINE", "LineDecoder", "TooLong"]

MAX_LINE: Final = 16 * 1024 * 1024
"""The default size limit of a line, in bytes."""

_BOM: Final = b"\xef\xbb\xbf"


class TooLong:
    """Takes the place of a line over the size limit."""


class LineDecoder:
    """Cuts a stream of bytes into lines.

    LF ends a line; a CR before it, a byte order mark at the very start and empty lines are tolerated.

    Args:
        limit: the size limit of a line, in bytes.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._skipping = False
        self._started = False

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that *chunk* completes, without their line ends."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if self._started and not self._begun and not self._skipping and len(chunk) <= self._limit:
            if rest:
                self._keep(rest)
            return [line for line in lines if line and line != b"\r"]  # JSON takes a CR for white space
        found: list[bytes | TooLong] = []
        for line in lines:
            if self._begun or self._skipping:
                self._keep(line)
                found.append(self._take())
            elif len(line) > self._limit:
                found.append(TooLong())
            else:
                found.append(line)
        if rest:
            self._keep(rest)
        return [line for line in map(self._clean, found) if line]

    def end(self) -> list[bytes | TooLong]:
        """The last line, where the input ended without a line end."""
        return [line for line in [self._clean(self._take())] if line]

    def _keep(self, part: bytes) -> None:
        if self._skipping:
            return
        if len(self._begun) + len(part) > self._limit:
            self._skipping = True
            self._begun = bytearray()
        else:
            self._begun += part

    def _take(self) -> bytes | TooLong:
        line: bytes | TooLong = TooLong() if self._skipping else bytes(self._begun)
        self._begun, self._skipping = bytearray(), False
        return line

    def _clean(self, line: bytes | TooLong) -> bytes | TooLong:
        if isinstance(line, TooLong):
            self._started = True
            return line
        if not self._started:
            line = line.removeprefix(_BOM)
            self._started = bool(line)
        return b"" if line == b"\r" else line
