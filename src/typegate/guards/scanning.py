"""One scan for everything that is secret in a text.

The law of the file: a text is read once for all literals; every detector then goes from one literal to the
next and on from the end of what it took. A line on its way out is screened as the bytes that it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from typegate.guards import checks
from typegate.guards.detectors import (
    BASE64,
    DETECTORS,
    ENCODED,
    NAME,
    NUMBERS,
    VALUE,
    Detector,
    NumberDetector,
    Profile,
)
from typegate.guards.hidden import folded, is_plain, lowered
from typegate.guards.keys import WORDS, Keys
from typegate.guards.literals import FAST, finder
from typegate.guards.patterns import prefix, sound

__all__ = ["Hit", "Scan", "Scanner", "by_text"]


class Hit(NamedTuple):
    """Where a secret stands in a text, and what it is; `token`: whatever stands around it."""

    start: int
    end: int
    kind: str
    token: bool = False


class Scan(NamedTuple):
    """Everything that is secret in a text, from left to right, and whether it holds a word for a secret."""

    hits: list[Hit]
    worded: bool


# --- the screen of a line: what must be there if anything is to be found

_BACKSLASH, _DELETE, _AT = b"\\\x7f@"
_ESCAPED: Final = re.compile(rb"\\[ubf]")  # hidden characters, and letters that JSON in a text has escaped
_BORDER: Final = b'"},{"type":"text","text":"'
_RUN: Final = b"a" * 17
_RUNS: Final = bytes(97 if re.match(r"[A-Za-z0-9_+/-]", chr(code)) else 32 for code in range(256))
_FAMILIAR: Final = b"structuredcontent"
_TELLING: Final = re.compile(
    rb"w(?:(?<=passw)|d(?<=pwd)|hsec_)|p(?<=passp)hrase|z(?<=authoriz)|b(?:earer|asic|lob\":)|=(?<=sig=)|~(?<=q~)"
    rb"|c(?:onnection_?string|re(?:dential|t(?<=secret)))|@|\x7f|\\[ubf]"
    rb"|k(?:(?<=tok)en|ey(?:(?<=[_-]key)|(?<=(?:api|ess|unt|ate|ing|ion|ter|uth)key)|(?<=te key)))"
)
"""Secrets that are shorter than `_RUN`, or broken, stand behind one of these."""
_TAIL: Final = b',"resultType":"complete"'
"""Where the part of a message begins that is the same in all that a server sends."""
_TAILS: Final = 64
_SHORT: Final = 2048

_OUTLINE: Final = bytes(57 if 48 <= code <= 57 else 65 if 65 <= code <= 90 else code for code in range(256))
_OUTLINES: Final = tuple({outline for row in NUMBERS for outline in row.outlines})
_PERSONAL: Final = re.compile(rb"@[A-Za-z0-9]|\+[1-9]|\(\d")

# --- what stands around a secret

_BEGINS: Final = r"(?:(?<![A-Za-z0-9])|(?![A-Za-z0-9])|(?<=[ntrbf])(?<=\\.)|(?<=%[0-9A-Za-z]{2}))"
_ALNUM: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_MANY, _SPARSE = 256, 64  # literals; characters for each, below which a text is read for whole shapes instead
_NAMED: Final = re.compile(r"(?<![\w.-])[\w.-]{2,}+(?=(?:\\{0,7}[\"'])?\s{0,3}[=:])")
_EMAIL: Final = re.compile(r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])")
_WORD: Final = re.compile(r"[0-9A-Za-z]*")
_NAME_CHARS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_STAND_IN: Final = re.compile(r"\$\{?\w|\$\(|%[({]?\w|\{\{|<\w|(.)\1+$")
_NO_VALUE: Final = {
    "null",
    "none",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "string",
    "nil",
    "n/a",
}


class Scanner:
    """The detectors of a profile, with an author's patterns and names, made ready.

    Args:
        profile: which detectors.
        extra: patterns of the author's own, by kind.
        names: secret names of the author's own.
        spared: what stands for something that was taken out already.
        fast: whether `ahocorasick_rs` is used; `None`: where it is installed.
    """

    def __init__(
        self,
        profile: Profile,
        extra: Mapping[str, str],
        names: Iterable[str],
        spared: re.Pattern[str],
        fast: bool | None = None,
    ) -> None:
        self.keys = Keys(names)
        self._spared = spared
        self._personal = profile == "pii"
        compiled = {kind: sound(kind, pattern) for kind, pattern in extra.items()}
        begins = {kind: prefix(pattern) for kind, pattern in compiled.items()}
        own = [
            Detector(kind, (begins[kind],), compiled[kind], token=False) for kind in begins if begins[kind]
        ]
        self._anywhere = [(kind, compiled[kind]) for kind in begins if not begins[kind]]
        self._rows: dict[str, list[tuple[int, Detector]]] = {}
        for number, row in enumerate((*DETECTORS[profile], *own)):
            for literal in row.literals:
                self._rows.setdefault(literal, []).append((number, row))
        self._names = frozenset((*WORDS.split(), *self.keys.spellings))
        self._encoded = frozenset(map(str.lower, ENCODED))
        literals = {*self._rows, *self._names, *self._encoded}
        self._finder = finder(literals | ({"@"} if self._personal else set()), fast)
        self._screen = finder(literals - {"://", "+", "("} | {'"blob":'}, fast)
        self._own = [text.encode() for text in (*filter(None, begins.values()), *self.keys.spellings)]
        self._tails: set[bytes] = set()
        self._quick = not (FAST if fast is None else fast)

    # --- a line

    def suspects(self, line: bytes) -> bool:
        """Whether *line*, JSON in UTF-8, has to be looked at; `False` says that nothing is in it."""
        cut = line.rfind(_TAIL)
        if cut < 0:
            return self._suspects(line)
        tail = line[cut:]
        if tail not in self._tails:
            if self._suspects(tail):
                return True
            if len(tail) <= _SHORT and len(self._tails) < _TAILS:
                self._tails.add(tail)
        return self._suspects(line[:cut])

    def _suspects(self, line: bytes) -> bool:
        if self._anywhere:
            return True
        if not line.isascii():
            text = line.decode("utf-8", "replace")
            if not is_plain(text):
                return True
            line = folded(text).encode()
            low = lowered(folded(text)).encode()
        else:
            low = line.lower()
        if self._personal and _is_personal(line):
            return True
        if self._quick and len(low) < _SHORT and _is_bare(low):
            return bool(self._own) and any(literal in low for literal in self._own)
        if _BACKSLASH in low and _ESCAPED.search(low) is not None:
            return True
        if _DELETE in low or (_AT in low and b"://" in low):
            return True
        if _BORDER in low and self._screen.within(low.replace(_BORDER, b"")):
            return True
        return self._screen.within(low)

    # --- a text

    def scan(self, text: str, deeper: bool = True) -> Scan:
        """Everything that is secret in *text*; *deeper*: in base64 too."""
        view = folded(text)
        hits, worded = self._scan_once(view, deeper)
        for _ in range(4):  # what stood glued to something that is taken out begins a word now
            more = self._scan_once(_blanked(view, hits), deeper).hits if hits and deeper else ()
            if not more:
                break
            hits = self._joined(view, [*hits, *more])
        return Scan(hits, worded)

    def _scan_once(self, view: str, deeper: bool) -> Scan:
        hits: list[Hit] = []
        lower = lowered(view)
        places = self._finder.places(lower, _MANY + len(view) // _SPARSE)
        if places is None:
            literals = self._finder.present(lower)
            self._everywhere(view, literals, hits, deeper)
        else:
            literals = {literal for _, literal in places}
            self._at_places(view, places, hits, deeper)
        if self._personal:
            _find_numbers(view, hits)
        for kind, pattern in self._anywhere:
            hits += (Hit(*match.span(), kind) for match in pattern.finditer(view) if match[0])
        worded = not self._names.isdisjoint(literals)
        return Scan(self._joined(view, hits) if hits else hits, worded)

    def _at_places(self, view: str, places: list[tuple[int, str]], hits: list[Hit], deeper: bool) -> None:
        """Try every detector where its literals stand, from left to right."""
        resume: dict[int | str, int] = {}
        for place, literal in places:
            glued = (
                place > 0 and view[place - 1] in _ALNUM and view[place] in _ALNUM and not _begins(view, place)
            )
            for number, row in self._rows.get(literal, ()):
                if (not glued or not row.token or row.back) and place - row.back >= resume.get(number, 0):
                    resume[number] = _try(row, view, place - row.back, hits)
            if literal in self._names:
                if place >= resume.get("name", 0):
                    resume["name"] = self._try_setting(view, place, hits)
            elif literal in self._encoded:
                if deeper and not glued and place >= resume.get("base64", 0):
                    resume["base64"] = self._try_base64(view, place, hits)
            elif literal == "@":
                _try_email(view, place, hits)

    def _everywhere(self, view: str, literals: set[str], hits: list[Hit], deeper: bool) -> None:
        """The same where a text has little else than *literals*: no step in Python for each of them."""
        rows = {row for literal in literals for _, row in self._rows.get(literal, ())}
        for row in sorted(rows, key=lambda row: row.kind):
            found = _anywhere(row.shape, row.token).finditer(view)
            good = found if row.check is None else filter(row.check, found)
            hits += (Hit(*match.span(_group(row)), row.kind, row.token) for match in good)
        encoded = not self._encoded.isdisjoint(literals)
        place = 0
        for match in _NAMED.finditer(view) if not self._names.isdisjoint(literals) else ():
            if match.start() >= place:
                place = self._try_setting(view, match.start(), hits)
        for match in _anywhere(BASE64, True).finditer(view) if deeper and encoded else ():
            self._try_base64(view, match.start(), hits)
        for match in _EMAIL.finditer(view) if "@" in literals else ():
            _try_email(view, match.start(), hits)

    def _try_setting(self, view: str, place: int, hits: list[Hit]) -> int:
        """A value behind its name; where to go on."""
        name = NAME.match(view, place)
        if name is None:
            return place + 1
        before = view[max(0, place - 40) : place]
        full = before[len(before.rstrip(_NAME_CHARS)) :] + name[0]
        value = VALUE.match(view, name.end()) if full.rpartition(".")[2] in self.keys else None
        if value is None:
            return name.end()
        group = value.lastgroup or ""
        if group == "d" and not _is_value(value):
            return name.end()
        hits.append(Hit(*value.span(group), self.keys.kind(full)))
        return value.end()

    def _try_base64(self, view: str, place: int, hits: list[Hit]) -> int:
        """A secret in base64 is the kind that it is when it is decoded; where to go on."""
        match = BASE64.match(view, place) if _begins(view, place) else None
        if match is None:
            return place + 1
        raw = checks.decoded(match[0])
        found = self.scan(raw.decode("utf-8", "replace"), deeper=False).hits if raw else []
        if found:
            hits.append(Hit(*match.span(), found[0].kind, found[0].token))
        return match.end()

    def _joined(self, view: str, hits: list[Hit]) -> list[Hit]:
        """*hits* in order, those that overlap as one, without what was taken out before."""
        spared = [match.span() for match in self._spared.finditer(view)]
        joined: list[Hit] = []
        for hit in sorted(hits):
            if spared and _is_spared(hit, spared):
                continue
            last = joined[-1] if joined else None
            if last is None or hit.start >= last.end:
                joined.append(hit)
            else:
                kind = hit.kind if hit.token and not last.token else last.kind
                joined[-1] = Hit(last.start, max(last.end, hit.end), kind, last.token or hit.token)
        return joined


def by_text(hits: Iterable[Hit], texts: Iterable[str]) -> dict[int, list[Hit]]:
    """The *hits* of a scan of *texts* joined with NUL, by the index of the text, counted from its start."""
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    found: dict[int, list[Hit]] = {}
    for start, end, kind, token in hits:
        index = bisect_right(starts, start) - 1
        while starts[index] < end:
            offset, stop = starts[index], starts[index + 1] - 1
            first, last = max(start, offset) - offset, min(end, stop) - offset
            if first < last:
                found.setdefault(index, []).append(Hit(first, last, kind, token))
            index += 1
    return found


def _is_bare(low: bytes) -> bool:
    """Whether a short line in lower case has neither a long run nor a telling word: then nothing is in it."""
    if _BORDER in low:
        low = low.replace(_BORDER, b"")
    if _TELLING.search(low) is not None:
        return False
    return _RUN not in low.translate(_RUNS) or _RUN not in low.replace(_FAMILIAR, b"").translate(_RUNS)


def _blanked(view: str, hits: list[Hit]) -> str:
    """*view* of the same length without its *hits*."""
    parts: list[str] = []
    last = 0
    for start, end, _, _ in hits:
        parts += (view[last:start], "\x00" * (end - start))
        last = end
    return "".join((*parts, view[last:]))


def _is_spared(hit: Hit, spared: list[tuple[int, int]]) -> bool:
    """Whether a hit is a placeholder, or was led on by the words in one."""
    start, end = spared[max(0, bisect_right(spared, (hit.start, spared[-1][1])) - 1)]
    return start < hit.start < end or (start, end) == (hit.start, hit.end)


# --- single detectors


def _try(row: Detector, view: str, start: int, hits: list[Hit]) -> int:
    """Whether *row* is at *start*; where to go on."""
    if start < 0 or (row.token and not _begins(view, start)):
        return start + 1
    match = row.shape.match(view, start)
    if match is None:
        return start + 1
    if row.check is None or row.check(match):
        hits.append(Hit(*match.span(_group(row)), row.kind, row.token))
    return max(match.end(), start + 1)


def _group(row: Detector) -> str | int:
    """What is taken out; all of it, for a pattern of an author's own."""
    return "secret" if "secret" in row.shape.groupindex else 0


@cache
def _anywhere(shape: re.Pattern[str], token: bool) -> re.Pattern[str]:
    """*shape* where `_begins` holds, or everywhere."""
    return re.compile(_BEGINS + shape.pattern, shape.flags) if token else shape


def _begins(view: str, start: int) -> bool:
    """Whether a word begins at *start*: also behind an escaped line break or blank."""
    before = view[max(0, start - 3) : start]
    if not before or not (before[-1].isascii() and before[-1].isalnum()) or not view[start].isalnum():
        return True
    if before[-2:-1] == "\\" and before[-1] in "ntrbf":
        return True
    return before[:1] == "%" and len(before) == 3 and before[1:].isalnum()


def _is_value(value: re.Match[str]) -> bool:
    """Whether what stands unquoted behind a name is meant as its value, and is no prose, code or template."""
    text, end = value["d"], value.end()
    behind = value.string[end : end + 1]
    if (
        text.endswith("[")
        or _STAND_IN.match(text)
        or text.lower().rstrip(".") in _NO_VALUE
        or behind in ("(", "[")
    ):
        return False
    prose = text.rstrip(".:!?").isalpha() and value.start("d") == value.end("gap")  # no scheme before it
    return not (prose and (value["gap"] or value["sign"] == ":"))


def _try_email(view: str, at: int, hits: list[Hit]) -> None:
    match = _EMAIL.match(view, at)
    start = checks.local_part(view, at)
    if match is not None and start < at:
        hits.append(Hit(start, match.end(), "email"))


# --- numbers


def _is_personal(line: bytes) -> bool:
    """Whether a line may hold what only the profile `pii` looks for."""
    if _PERSONAL.search(line) is not None:
        return True
    outline = line.translate(_OUTLINE)
    return any(each in outline for each in _OUTLINES)


def _find_numbers(view: str, hits: list[Hit]) -> None:
    outline = view.encode("ascii", "replace").translate(_OUTLINE)
    for row in NUMBERS:
        for each in row.outlines:
            _find_outline(row, each, view, outline, hits)


def _find_outline(row: NumberDetector, each: bytes, view: str, outline: bytes, hits: list[Hit]) -> None:
    place = outline.find(each)
    while place >= 0:
        match = row.shape.match(view, place)
        if match is not None and row.check(match):
            hits.append(Hit(*match.span("secret"), row.kind))
            place = match.end()
        else:
            word = _WORD.match(view, place)
            place = max(place + 1, word.end() if word else 0)
        place = outline.find(each, place)
