"""A regular expression → a short text that it matches.

The law of the file: a guess, never a promise. The first branch of every alternative is taken and every
repetition is kept short; look-arounds and back references are ignored. A validator judges what comes out.
"""

from typing import Final

__all__ = ["matching"]

_CLASSES: Final = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "p": "a", "P": "0"}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_HEX: Final = {"x": 2, "u": 4}
_TRIED: Final = "a0A-_ .~é"
_MANY: Final = 1_000
"""The most repetitions that are written out."""


def matching(pattern: str) -> str:
    """A text for *pattern*; empty where it is not understood."""
    try:
        return _Reader(pattern).alternatives()
    except (IndexError, ValueError):
        return ""


class _Reader:
    """Reads a pattern from left to right and writes what would match."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> str:
        """The first of the branches up to the end of the group."""
        first = self._sequence()
        while self._take("|"):
            self._sequence()
        return first

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _next(self) -> str:
        self._at += 1
        return self._pattern[self._at - 1]

    def _sequence(self) -> str:
        made = ""
        while self._peek() not in ("", "|", ")"):
            made += self._atom() * self._times()
        return made

    def _atom(self) -> str:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        return {"^": "", "$": "", ".": "a"}.get(char, char)

    def _group(self) -> str:
        ignored = False
        if self._take("?"):
            ignored = any(self._take(mark) for mark in ("=", "!", "<=", "<!"))
            if not ignored and not self._take(":"):
                while self._next() not in (">", ":"):
                    pass
        inner = self.alternatives()
        self._take(")")
        return "" if ignored else inner

    def _escape(self) -> str:
        char = self._next()
        if char in _HEX:
            code = self._pattern[self._at : self._at + _HEX[char]]
            self._at += len(code)
            return chr(int(code, 16))
        if char in "pP" and self._take("{"):
            while self._next() != "}":
                pass
        if char in "bBAZz" or char in "123456789":
            return ""
        return _CLASSES.get(char) or _CONTROLS.get(char, char)

    def _class(self) -> str:
        negated = self._take("^")
        members: list[tuple[str, str]] = []
        while self._peek() != "]" or not members:
            low = self._escape() if (char := self._next()) == "\\" else char
            high = low
            if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                high = self._escape() if (char := self._next()) == "\\" else char
            members.append((low, high))
        self._at += 1
        if not negated:
            return members[0][0]
        free = (char for char in _TRIED if not any(low <= char <= high for low, high in members))
        return next(free, "")

    def _times(self) -> int:
        times = 1
        if self._take("{"):
            numbers = ""
            while (char := self._next()) != "}":
                numbers += char
            low, comma, high = numbers.partition(",")
            times = int(low or 0) or int(bool(comma) and high != "0")
        elif self._peek() in ("*", "+", "?") and self._peek():
            self._at += 1
        _ = self._take("?") or self._take("+")
        return min(times, _MANY)
