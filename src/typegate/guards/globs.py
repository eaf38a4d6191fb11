"""Patterns for names and URIs: `*` for any run of characters, `?` for one.

The law of the file: a pattern means what it says, letter for letter and case for case, and matching takes
time in proportion to the text: what stands between two `*` is looked for once, from left to right.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from typegate.errors import ConfigurationError

__all__ = ["Glob", "Kind", "Pattern", "any_matches", "parse_pattern"]

Kind = Literal["tool", "prompt", "resource"]

MAX_LENGTH: Final = 512


class Glob:
    """One pattern, read once."""

    __slots__ = ("_exact", "_first", "_last", "_least", "_middle", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        first, *rest = (_Piece(part) for part in text.split("*"))
        self._exact = first if not rest else None
        self._first = first
        self._last = rest[-1] if rest else first
        self._middle = [piece for piece in rest[:-1] if piece.length]
        self._least = sum(1 for char in text if char != "*")

    def matches(self, text: str) -> bool:
        """Whether the whole of *text* fits."""
        if len(text) < self._least:
            return False
        if self._exact is not None:
            return len(text) == self._exact.length and self._exact.at(text, 0)
        end = len(text) - self._last.length
        if not (self._first.at(text, 0) and self._last.at(text, end)):
            return False
        start = self._first.length
        for piece in self._middle:
            found = piece.find(text, start, end)
            if found < 0:
                return False
            start = found + piece.length
        return True


class _Piece:
    """What stands between two `*`: as many characters as it has."""

    __slots__ = ("_search", "_text", "length")

    def __init__(self, text: str) -> None:
        self._text = text
        self.length = len(text)
        source = re.escape(text).replace(r"\?", ".")
        self._search = re.compile(source, re.DOTALL) if "?" in text else None

    def at(self, text: str, start: int) -> bool:
        """Whether it stands there."""
        if self._search is None:
            return text.startswith(self._text, start)
        return self._search.match(text, start) is not None

    def find(self, text: str, start: int, end: int) -> int:
        """Where it stands first; -1 where it does not."""
        if self._search is None:
            return text.find(self._text, start, end)
        found = self._search.search(text, start, end)
        return -1 if found is None else found.start()


class Pattern(NamedTuple):
    """A pattern and the kinds of component that it is about."""

    kinds: tuple[Kind, ...]
    glob: Glob


_PREFIXES: Final[dict[str, tuple[Kind, ...]]] = {
    "resource": ("resource",),
    "tool": ("tool",),
    "prompt": ("prompt",),
}


def parse_pattern(text: object, where: str) -> Pattern:
    """Read `orders.*` (tools and prompts), `resource:orders://*`, `tool:orders.*` or `prompt:explain*`.

    Args:
        text: as the author wrote it.
        where: the option that it stands in, for the error.

    Raises:
        ConfigurationError: it is no pattern.
    """
    if not isinstance(text, str) or not 0 < len(text) <= MAX_LENGTH:
        raise ConfigurationError(f"{where} takes patterns of 1 to {MAX_LENGTH} characters, not {text!r:.80}")
    prefix, colon, rest = text.partition(":")
    if colon and prefix in _PREFIXES and rest:
        return Pattern(_PREFIXES[prefix], Glob(rest))
    if "://" in text:
        raise ConfigurationError(f"{where}: write 'resource:{text}' for URIs")
    return Pattern(("tool", "prompt"), Glob(text))


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Whether one of them fits."""
    return any(glob.matches(text) for glob in globs)
