"""Where any of many literals stand in a text, by `ahocorasick_rs` or by one regular expression.

The law of the file: literals and text are lower case, and both ways find the same. The library comes with
the extra `fast`; nothing else in the project knows of it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, Protocol

__all__ = ["FAST", "Finder", "finder"]

try:
    import ahocorasick_rs as _fast  # type: ignore[import-not-found,unused-ignore]  # pyright: ignore[reportMissingImports]
except ImportError:  # the extra is not installed, or there is no wheel for this platform
    _fast = None  # type: ignore[assignment,unused-ignore]

FAST: Final = _fast is not None
"""Whether the library is installed."""


class Finder(Protocol):
    """Finds literals."""

    def within(self, line: bytes) -> bool:
        """Whether *line* holds a literal."""
        ...

    def places(self, text: str, most: int) -> list[tuple[int, str]] | None:
        """Each place in *text* with its literal, in order for each; `None` for more than *most*."""
        ...

    def present(self, text: str) -> set[str]:
        """The literals that stand in *text*."""
        ...


def finder(literals: Iterable[str], fast: bool | None = None) -> Finder:
    """A finder of *literals*; *fast* as `FAST` unless given."""
    words = sorted({*literals})
    if FAST if fast is None else fast:
        return _Automaton(words)
    return _Expression(words)


class _Automaton:
    """All literals in one pass, by Aho and Corasick."""

    def __init__(self, words: list[str]) -> None:
        library: Any = _fast
        dense = library.Implementation.DFA
        self._words = words
        self._bytes = library.BytesAhoCorasick([word.encode() for word in words], implementation=dense)
        self._text = library.AhoCorasick(words, implementation=dense, store_patterns=False)

    def within(self, line: bytes) -> bool:
        """Whether *line* holds a literal."""
        return bool(self._bytes.find_matches_as_indexes(line))

    def places(self, text: str, most: int) -> list[tuple[int, str]] | None:
        """Each place with its literal."""
        words = self._words
        found = self._text.find_matches_as_indexes(text, overlapping=True)
        if len(found) > most:
            return None
        return [(start, words[index]) for index, start, _ in found]

    def present(self, text: str) -> set[str]:
        """The literals that are there."""
        return {word for word in self._words if word in text}


class _Expression:
    """All literals as one expression, in which common beginnings are read once."""

    def __init__(self, words: list[str]) -> None:
        tree: dict[str, Any] = {}
        for word in words:
            node = tree
            for char in word:
                node = node.setdefault(char, {})
            node[""] = {}
        source = _source(tree)
        self._search = re.compile(source.encode()).search
        self._iterate = re.compile(source).finditer
        self._all = re.compile(source).findall
        inner = {word: tuple(_inside(word, words)) for word in words}
        self._inner = {word: found for word, found in inner.items() if found}

    def within(self, line: bytes) -> bool:
        """Whether *line* holds a literal."""
        return self._search(line) is not None

    def places(self, text: str, most: int) -> list[tuple[int, str]] | None:
        """Each place with its literal."""
        found = [(match.start(), match[0]) for match in islice(self._iterate(text), most + 1)]
        if len(found) > most:
            return None
        if not self._inner or not found:
            return found
        more = [
            (start + offset, other)
            for start, word in found
            for offset, other in self._inner.get(word, ())
            if text.startswith(other, start + offset)
        ]
        return sorted({*found, *more}) if more else found

    def present(self, text: str) -> set[str]:
        """The literals that are there."""
        found = set(self._all(text))
        inner = {other for word in found for _, other in self._inner.get(word, ())}
        return found.union(word for word in inner if word in text)


def _source(tree: dict[str, Any]) -> str:
    """The expression that takes the longest literal of *tree* at a place."""
    branches = [re.escape(char) + _source(node) for char, node in sorted(tree.items()) if char]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in tree else joined


def _inside(word: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """The literals that may begin inside *word*, which one pass from left to right steps over."""
    for other in words:
        for offset in range(len(word)):
            rest = word[offset:]
            if other != word and (rest.startswith(other) or other.startswith(rest)):
                yield offset, other
