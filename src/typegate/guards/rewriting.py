"""A JSON tree without secrets: gathered, scanned as one text, rewritten only where something was found.

The law of the file: both walks over a tree meet its strings in the same order, keys and values alike, so
that a number is all that connects a finding with its place. JSON inside a string is a tree of its own; its
text is patched token by token, so that whatever was not secret stays byte for byte.
"""

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Final, NamedTuple

import msgspec

from typegate.guards.checks import decoded
from typegate.guards.hidden import is_plain, shown_only
from typegate.guards.plans import Marks, Path, wrapped
from typegate.guards.scanning import Hit, Scanner, by_text
from typegate.types import Json

__all__ = ["Rewriter", "Rewritten", "spliced"]

_NESTED: Final = 4
"""How deep JSON in JSON is read as such; below, it is text."""

_KEPT: Final = (
    frozenset({"jsonrpc", "id", "method"}),
    frozenset({"nextCursor", "cursor", "requestState", "progressToken", "requestId"}),
)
"""The members of a message, and of its result or params, that the client sends back as they are."""

_TOKENS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"\[\]{},:]+', re.DOTALL)
_SCHEMA_WORDS: Final = frozenset(
    (
        *("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items"),
        *("description", "title", "default", "format"),
    )
)
_TEXT_TYPES: Final = re.compile(
    r"text/|application/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|javascript|x-www-form)|$"
)

_PLAIN, _OPAQUE, _BLOB = range(3)


class Rewritten(NamedTuple):
    """A tree without secrets, the places that were changed, and how often which kind was taken out."""

    value: Json
    paths: tuple[Path, ...] = ()
    kinds: Mapping[str, int] = {}


# --- the first walk: every string in order


class _Texts:
    """The strings of a tree.

    Attributes:
        texts: keys and values in order; empty where a string is not to be read.
        blocks: the indices of the texts of text blocks.
        keys: the names of members.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.blocks: list[int] = []
        self.keys: set[str] = set()

    def add(self, value: Json, level: int) -> None:
        """Take the strings of *value*, *level* steps below the message."""
        if isinstance(value, str):
            self.texts.append(value)
        elif isinstance(value, dict):
            self._add_members(value, level)
        elif isinstance(value, list | tuple):
            texts = self.texts
            for item in value:
                if isinstance(item, str):
                    texts.append(item)
                elif isinstance(item, dict | list | tuple):
                    self.add(item, level + 1)

    def _add_members(self, members: dict[str, Json], level: int) -> None:
        texts = self.texts
        self.keys.update(members)
        special = level < 2 or "data" in members or "blob" in members
        block = members.get("type") == "text"
        for key, item in members.items():
            texts.append(key)
            if isinstance(item, str):
                if block and key == "text":
                    self.blocks.append(len(texts))
                texts.append(_read(members, key, item, level) if special else item)
            elif isinstance(item, dict | list | tuple):
                self.add(item, level + 1)


def _role(members: dict[str, Json], key: str, level: int) -> int:
    """How a string is to be read: as it is, not at all, or as the base64 of a text."""
    if level < 2 and key in _KEPT[level]:
        return _OPAQUE
    if key == "data" and members.get("type") in ("image", "audio"):
        return _OPAQUE
    return _BLOB if key == "blob" and "uri" in members else _PLAIN


def _read(members: dict[str, Json], key: str, item: str, level: int) -> str:
    role = _role(members, key, level)
    if role == _PLAIN:
        return item
    return "" if role == _OPAQUE else _blob_text(members, item)


def _blob_text(members: dict[str, Json], blob: str) -> str:
    """The text that a blob holds; nothing where it is none."""
    kind = members.get("mimeType")
    if isinstance(kind, str) and not _TEXT_TYPES.match(kind.lower()):
        return ""
    raw = decoded(blob)
    try:
        return raw.decode() if raw else ""
    except UnicodeDecodeError:
        return ""


# --- marks on the way down

_MARKED: Final = "\x00marked"
"""Stands for the kind of a value that is secret by its type; no schema-like look saves it."""


class _Mirror(NamedTuple):
    """The content that mirrors a value with *marks*."""

    marks: Marks


class _Envelope(NamedTuple):
    """The steps from a message to what has marks; `inner` are those of the value that the text mirrors."""

    marks: Marks
    inner: Marks
    depth: int = 0

    def at(self, step: str | int) -> "Marks | _Mirror | _Envelope | None":
        """One step down."""
        if self.depth == 0:
            return self._replace(depth=1) if step == "result" else None
        if step == "structuredContent":
            return self.marks
        return _Mirror(self.inner) if step == "content" else None


Place = Marks | _Envelope | _Mirror | None
"""What is known of the part of a value that is looked at."""


# --- the second walk


class Rewriter:
    """Cleans one tree.

    Args:
        scanner: what finds.
        stand_in: the placeholder for a kind and what was found.
        spared: what stands for something that was taken out already.
        admit: raises where there is too much to read.
        marks: the secret parts of the structured content of a message, or else of the value itself.
        nested: how many trees of JSON in text it stands in.
    """

    def __init__(
        self,
        scanner: Scanner,
        stand_in: Callable[[str, str], str],
        spared: re.Pattern[str],
        admit: Callable[[int], None],
        marks: Marks | None = None,
        nested: int = 0,
    ) -> None:
        self._scanner = scanner
        self._stand_in = stand_in
        self._spared = spared
        self._admit = admit
        self._marks = marks
        self._nested = nested
        self._given: list[str] = []
        self._texts: list[str] = []
        self._hits: dict[int, list[Hit]] = {}
        self._next = 0
        self._level = 2
        self._deep = False  # whether JSON in text is to be read
        self._worded = False
        self._mirror: Marks | None = None  # inside the content that mirrors a marked value
        self._values: list[str] = []
        self._path: list[str | int] = []
        self._paths: list[Path] = []
        self._kinds: Counter[str] = Counter()

    def clean(self, tree: Json, message: bool) -> Rewritten:
        """*tree* without secrets; *message*: it is one of JSON-RPC."""
        gathered = _Texts()
        self._level = 0 if message else 2
        gathered.add(tree, self._level)
        self._given = self._texts = gathered.texts
        joined = "\x00".join(self._texts)
        self._admit(len(joined))
        if not is_plain(joined) or joined.count("\x00") >= len(self._texts):
            self._texts = [shown_only(text) for text in self._texts]
            joined = "\x00".join(self._texts)
        hits, worded = self._scanner.scan(joined)
        self._worded = worded and (
            "value" in gathered.keys or any(map(self._scanner.keys.__contains__, gathered.keys))
        )
        if len(gathered.blocks) > 1:
            self._hits = by_text(hits, self._texts)
            self._join_blocks(gathered.blocks)
        elif hits:
            self._hits = by_text(hits, self._texts)
        if worded or hits or "\\u" in joined:
            self._deep = self._nested < _NESTED and any(text[:1] in ("{", "[") for text in self._texts)
        if not (self._hits or self._deep or self._worded or self._marks or self._texts is not self._given):
            return Rewritten(tree)
        if message and self._marks is not None and isinstance(tree, dict):
            return self._done(self._envelope(tree, self._marks))
        return self._done(self._value(tree, None if message else self._marks, None))

    def _done(self, value: Json) -> Rewritten:
        return Rewritten(value, tuple(self._paths), self._kinds)

    def _join_blocks(self, blocks: list[int]) -> None:
        """What begins at the end of one text block and ends in the next."""
        parts = [self._texts[index] for index in blocks]
        starts = list(accumulate(map(len, parts), initial=0))
        whole = "".join(parts)
        for hit in self._scanner.scan(whole, deeper=False).hits:
            inside = [
                number
                for number in range(len(parts))
                if starts[number] < hit.end and hit.start < starts[number + 1]
            ]
            if not hit.token or len(inside) < 2:
                continue
            own = self._hits.get(blocks[inside[0]], [])
            broken = own and own[-1].end == len(parts[inside[0]])  # it was found as it is, up to the border
            if broken and not (hit.kind == "private_key" and "-----END" in whole[hit.start : hit.end]):
                continue
            for number in inside:
                offset, found = starts[number], self._hits.setdefault(blocks[number], [])
                start, end = max(hit.start - offset, 0), min(hit.end - offset, len(parts[number]))
                if not any(other.start < end and start < other.end for other in found):
                    found.append(Hit(start, end, hit.kind, True))
                    found.sort()

    # --- a message whose structured content has marks

    def _envelope(self, tree: dict[str, Json], marks: Marks) -> Json:
        result = tree.get("result")
        structured = result.get("structuredContent") if isinstance(result, dict) else None
        if isinstance(structured, dict) and [*structured] == ["result"] and marks.at("result") is None:
            marks = wrapped(marks)
        self._values = sorted({*marks.values(structured)}, key=len, reverse=True)
        return self._value(tree, _Envelope(marks, self._marks or marks), None)

    # --- values

    def _value(self, value: Json, marks: Place, forced: str | None) -> Json:
        """*value* without secrets; *forced*: what all of it is called that has to go."""
        if isinstance(value, str):
            return self._string(value, marks, forced)
        if isinstance(value, dict):
            return self._members(value, marks, forced)
        if isinstance(value, list | tuple):
            return self._items(value, marks, forced)
        if forced is not None and isinstance(value, int | float) and not isinstance(value, bool):
            kind = "secret" if forced == _MARKED else forced
            return self._changed(self._stand_in(kind, str(value)), kind)
        return value

    def _items(self, items: Json, marks: Place, forced: str | None) -> Json:
        path, cleaned, changed = self._path, [], False
        for index, item in enumerate(items):
            inner, path_forced = _step(marks, index, forced)
            path.append(index)
            new = self._value(item, inner, path_forced)
            path.pop()
            changed = changed or new is not item
            cleaned.append(new)
        return cleaned if changed else items

    def _members(self, members: dict[str, Json], marks: Place, forced: str | None) -> Json:
        if forced is not None and forced != _MARKED and not _SCHEMA_WORDS.isdisjoint(members):
            forced = None
        path, pairs, changed = self._path, [], False
        pair_name = self._pair_name(members) if self._worded else None
        for key, item in members.items():
            name = self._key(key)
            mine = forced
            if mine is None and self._worded and self._is_secret_name(key):
                mine = self._scanner.keys.kind(key)
            elif mine is None and pair_name is not None and key == "value":
                mine = self._scanner.keys.kind(pair_name)
            inner, mine = _step(marks, key, mine)
            path.append(name)
            new = self._member(members, key, item, inner, mine)
            path.pop()
            changed = changed or new is not item or name is not key
            pairs.append((name, new))
        return _unique(pairs) if changed else members

    def _is_secret_name(self, name: str) -> bool:
        """Whether its value is secret; the words of a placeholder in it are ours."""
        return name in self._scanner.keys and self._spared.search(name) is None

    def _member(
        self,
        members: dict[str, Json],
        key: str,
        item: Json,
        marks: Place,
        forced: str | None,
    ) -> Json:
        if isinstance(item, str):
            role = (
                _role(members, key, self._level + len(self._path) - 1)
                if self._texts[self._next] != item
                else _PLAIN
            )
            if role == _OPAQUE:
                self._next += 1
                return item
            if role == _BLOB:
                text = self._given[self._next]
                new = self._string(text, None, None)
                return item if new is text else base64.b64encode(new.encode()).decode()
        if isinstance(marks, _Mirror):
            before, self._mirror = self._mirror, marks.marks
            new = self._value(item, None, forced)
            self._mirror = before
            return new
        return self._value(item, marks, forced)

    def _pair_name(self, members: dict[str, Json]) -> str | None:
        """The secret name in `{"name": "DB_PASSWORD", "value": "…"}`."""
        if "value" in members:
            for key in ("name", "key"):
                name = members.get(key)
                if isinstance(name, str) and self._is_secret_name(name):
                    return name
        return None

    def _key(self, key: str) -> str:
        index = self._next
        self._next += 1
        text = self._texts[index]
        hits = self._hits.get(index)
        if hits:
            text = self._spliced(text, hits)
        if text == key:
            return key
        self._path.append(text)
        self._changed(text, "hidden" if not hits else None)
        self._path.pop()
        return text

    # --- strings

    def _string(self, given: str, marks: Place, forced: str | None) -> str:
        index = self._next
        self._next += 1
        text = self._texts[index]
        hits = self._hits.get(index)
        if forced is not None:
            return self._masked(given, text, hits, forced)
        inner = self._inside(text, self._mirror) if text[:1] in ("{", "[") else None
        if inner is None:
            inner = self._spliced(text, hits) if hits else text
            if self._mirror is not None:
                inner = self._without_values(inner, self._mirror)
        if inner == given:
            return given
        return str(self._changed(inner, "hidden" if inner == text else None))

    def _masked(self, given: str, text: str, hits: list[Hit] | None, forced: str) -> str:
        if not text or self._spared.fullmatch(text):
            return given
        kind = "secret" if forced == _MARKED else forced
        if hits and hits[0].token and hits[0][:2] == (0, len(text)):
            kind = hits[0].kind
        return str(self._changed(self._stand_in(kind, text), kind))

    def _without_values(self, text: str, marks: Marks) -> str:
        """*text* without the secret values of the structured content that it mirrors."""
        if marks.secret and text and not self._spared.fullmatch(text):
            self._kinds["secret"] += 1
            return self._stand_in("secret", text)
        for value in self._values:
            if value and value in text and (len(value) >= 4 or value == text):
                self._kinds["secret"] += 1
                text = text.replace(value, self._stand_in("secret", value))
        return text

    def _inside(self, text: str, marks: Marks | None) -> str | None:
        """JSON in a text without secrets; `None` where it is not read as such."""
        if not (self._deep or marks is not None) or self._nested >= _NESTED:
            return None
        try:
            tree = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
        inner = Rewriter(self._scanner, self._stand_in, self._spared, self._admit, marks, self._nested + 1)
        value, _, kinds = inner.clean(tree, message=False)
        if value is tree:
            return text
        patched = _patched(text, tree, value)
        if patched is not None:
            self._kinds.update(kinds)
        return patched

    def _spliced(self, text: str, hits: list[Hit]) -> str:
        self._kinds.update(hit.kind for hit in hits)
        return spliced(text, hits, self._stand_in)

    def _changed(self, new: Json, kind: str | None) -> Json:
        """Take note of a place that was changed."""
        self._paths.append(tuple(self._path))
        if kind is not None:
            self._kinds[kind] += 1
        return new


def spliced(text: str, hits: list[Hit], stand_in: Callable[[str, str], str]) -> str:
    """*text* with a placeholder for each of the *hits*."""
    parts: list[str] = []
    last = 0
    for start, end, kind, _ in hits:
        parts += (text[last:start], stand_in(kind, text[start:end]))
        last = end
    return "".join((*parts, text[last:]))


# --- pieces


def _step(marks: Place, step: str | int, forced: str | None) -> tuple[Place, str | None]:
    """The marks one step down, and what all of it is called that has to go."""
    inner = None if marks is None or isinstance(marks, _Mirror) else marks.at(step)
    if isinstance(inner, Marks) and inner.secret:
        return None, _MARKED
    return inner, forced


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """The members, none of them lost where two keys got the same placeholder."""
    members: dict[str, Json] = {}
    for name, item in pairs:
        free, number = name, 2
        while free in members:
            free, number = f"{name} ({number})", number + 1
        members[free] = item
    return members


def _patched(text: str, old: Json, new: Json) -> str | None:
    """The JSON *text* of *old*, with the scalars and keys of *new*; `None` where they do not correspond."""
    tokens = list(_TOKENS.finditer(text))
    olds, news = list(_scalars(old)), list(_scalars(new))
    if not len(tokens) == len(olds) == len(news):
        return None
    parts: list[str] = []
    last = 0
    for token, before, after in zip(tokens, olds, news, strict=True):
        if before is not after:
            parts += (text[last : token.start()], msgspec.json.encode(after).decode())
            last = token.end()
    return "".join((*parts, text[last:]))


def _scalars(value: Json) -> Iterator[Json]:
    """Every key and scalar in the order in which they are written."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value
