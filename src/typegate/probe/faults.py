"""A place in valid arguments → everything that may be put there instead, each with a kind and a label.

The law of the file: pure, and blind to what is right: a schema's own validator decides later which of the
changes break it and which are still valid. A table names the makers, one for each kind of mistake.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

import msgspec

from typegate.contract.problems import Path, type_name
from typegate.probe.samples import Spot, is_whole
from typegate.types import Json

__all__ = ["GONE", "KINDS", "NUMBERS", "WIRE", "Change", "changes", "replaced"]

KINDS: Final = {
    "type": "a value of another type, of every kind, in the place itself, wrapped, or among good items",
    "null": "`null`",
    "text": "a number, a boolean, a list or an object as text",
    "range": "a number at its bound, one beyond it, just beyond it, and between two steps",
    "length": "a text, list or object of its least and greatest size, and of one more or less",
    "enum": "a near miss of a choice, and a choice that does not exist",
    "format": "words in the place of dates, times, addresses and the like",
    "pattern": "a text that does not match",
    "unknown": "a name that does not exist, near to a real one, unicode, or special to some language",
    "missing": "each required member left out, and all of them",
    "unique": "an item twice",
    "huge": "a text of 100,000 characters, 5,000 items, good and bad, numbers beyond 64 bits",
    "deep": "lists and objects 30 levels deep",
    "unicode": "right-to-left marks, NUL, combining characters, digits of other scripts",
    "arguments": "arguments that are no object",
    "number": "numbers that JSON can write and no program can hold",
    "wire": "a message that is no sound JSON: `NaN`, `01`, half a surrogate pair, a key twice, 100 levels",
}
"""Kind of call → what it is."""

GONE: Final = object()
"""Stands for a member that is left out."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is done to valid arguments; *path* leads on from the place."""

    kind: str
    label: str
    value: Json
    path: Path = ()


def changes(spot: Spot, random: Random) -> Iterator[Change]:
    """All that can be put in a place."""
    makers = _AT_ROOT if not spot.path else _MAKERS
    return itertools.chain.from_iterable(make(spot, random) for make in makers)


def replaced(value: Json, path: Path, new: Json) -> Json:
    """A copy of *value* with something else at *path*; one step beyond the end of a list appends."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        made = [*value, None] if step == len(value) else list(value)
        made[step] = replaced(made[step], rest, new)
        return made
    members = dict(value)
    if not rest and new is GONE:
        members.pop(str(step), None)
    else:
        members[str(step)] = replaced(members.get(str(step)), rest, new)
    return members


# --- types ---------------------------------------------------------------------------------------

_OTHERS: Final[dict[str, Json]] = {
    "true": True,
    "false": False,
    "a whole number": 7,
    "zero": 0,
    "a whole number with a point": 7.0,
    "a fraction": 0.5,
    "a text": "text",
    "an empty text": "",
    "a list": ["text"],
    "an empty list": [],
    "an object": {"key": "value"},
    "an empty object": {},
}


def _types(spot: Spot, random: Random) -> Iterator[Change]:
    for label, value in _OTHERS.items():
        yield Change(kind="type", label=f"{label} instead", value=value)
    yield Change(kind="type", label="the value in a list", value=[spot.value])
    yield Change(kind="type", label="the value in an object", value={"value": spot.value})
    if isinstance(spot.value, list):
        for label in random.sample(sorted(_OTHERS), 4):
            yield Change(
                kind="type", label=f"{label} after good items", path=(len(spot.value),), value=_OTHERS[label]
            )


def _null(spot: Spot, random: Random) -> Iterator[Change]:
    yield Change(kind="null", label="null", value=None)
    if isinstance(spot.value, list):
        yield Change(kind="null", label="null after good items", path=(len(spot.value),), value=None)


_AS_NUMBER: Final = ("3", "3.0", " 5", "1e3", "0x10", "NaN", "1_000", "５")
_AS_BOOLEAN: Final = ("true", "True", "yes", "1", "on")


def _as_text(spot: Spot, random: Random) -> Iterator[Change]:
    kind = type_name(spot.value)
    texts = {"integer": _AS_NUMBER, "number": _AS_NUMBER, "boolean": _AS_BOOLEAN}.get(kind, ())
    if kind in ("array", "object"):
        texts = (json.dumps(spot.value), "a, b")
    for text in (*texts, *((str(spot.value),) if kind in ("integer", "number") else ())):
        yield Change(kind="text", label=f"{kind} as the text {json.dumps(text)[:40]}", value=text)


# --- values --------------------------------------------------------------------------------------

_BOUNDS: Final = (("minimum", -1), ("exclusiveMinimum", -1), ("maximum", 1), ("exclusiveMaximum", 1))


def _ranges(spot: Spot, random: Random) -> Iterator[Change]:
    for keyword, away in _BOUNDS:
        bound = spot.node.get(keyword)
        if bound is None:
            continue
        beyond = {
            f"at {keyword}": bound,
            f"one beyond {keyword}": bound + away,
            f"one within {keyword}": bound - away,
            f"far beyond {keyword}": bound + away * random.randint(2, 10_000),
        }
        if not is_whole(spot.node):
            beyond[f"just beyond {keyword}"] = bound + away * max(abs(bound), 1) * 1e-6
        for label, value in beyond.items():
            yield Change(kind="range", label=label, value=value)
    if spot.node.get("multipleOf") and type_name(spot.value) in ("integer", "number"):
        between = spot.value + spot.node["multipleOf"] / 2
        yield Change(kind="range", label="between two steps", value=between)


def _lengths(spot: Spot, random: Random) -> Iterator[Change]:
    for keyword, away in _SIZES.get(type_name(spot.value), {}).items():
        bound = spot.node.get(keyword)
        if bound is None or bound > _MOST:
            continue
        for label, size in ((f"at {keyword}", bound), (f"one beyond {keyword}", bound + away)):
            if size >= 0:
                yield Change(kind="length", label=label, value=_sized(spot.value, size))


_SIZES: Final = {
    "string": {"minLength": -1, "maxLength": 1},
    "array": {"minItems": -1, "maxItems": 1},
    "object": {"minProperties": -1, "maxProperties": 1},
}
_MOST: Final = 200_000


def _sized(value: Json, size: int) -> Json:
    """A text, list or object of another size."""
    if isinstance(value, str):
        return (value or "a").ljust(size, (value or "a")[-1])[:size]
    if isinstance(value, list):
        items = value or ["text"]
        return [items[index % len(items)] for index in range(size)]
    entries = {**value, **{f"key{index}": _first(value) for index in range(size - len(value))}}
    return dict(itertools.islice(entries.items(), size))


def _first(value: dict[str, Json]) -> Json:
    return next(iter(value.values()), "text")


_LOOKALIKES: Final = str.maketrans("aeopcxi", "аеорсхі")


def _choices(spot: Spot, random: Random) -> Iterator[Change]:
    options = list(spot.node.get("enum", ())) or ([spot.node["const"]] if "const" in spot.node else [])
    for option in random.sample(options, min(3, len(options))):
        if isinstance(option, str):
            near = {
                "in capitals": option.upper(),
                "capitalised": option.title(),
                "with a letter more": f"{option}s",
                "with a letter less": option[:-1],
                "with a space before": f" {option}",
                "with a line end": f"{option}\n",
                "in letters of another script": option.translate(_LOOKALIKES),
            }
            for label, value in near.items():
                yield Change(kind="enum", label=f"a choice {label}", value=value)
        yield Change(kind="enum", label="another choice", value=option)
    if options:
        yield Change(kind="enum", label="no choice", value="none-of-these")
        numbers = [each for each in options if isinstance(each, int)]
        yield Change(kind="enum", label="a number that is no choice", value=max(numbers, default=0) + 1)


_WORDS: Final = {
    "date": """today tomorrow yesterday 2026-13-40 2026-02-30 30.11.2026 11/30/2026 2026-1-5 20261130
        next_week 2026-11-30T00:00:00Z 2026 0000-01-01 ２０２６-11-30""",
    "date-time": "now today 2026-13-40T00:00:00Z 2026-11-30 2026-11-30T25:00:00Z 1764460800",
    "time": "noon now 25:00:00 14h05 14:60:00Z 7pm",
    "duration": "5m an_hour PT -1 5 P",
    "uuid": "1 not-a-uuid 123e4567-e89b-12d3-a456 123e4567-e89b-12d3-a456-42661417400g",
    "email": "name name@ @example.com na\tme@example.com a@b@example.com",
    "uri": "example //// http://[ a\tb",
    "ipv4": "256.0.0.1 localhost 1.2.3 ::1",
    "ipv6": "192.0.2.1 ::g localhost",
    "hostname": "-a a..b _",
}
"""Format → words that people write for it; an underscore stands for a space, and a tab for one as well."""


def _formats(spot: Spot, random: Random) -> Iterator[Change]:
    words = _WORDS.get(spot.node.get("format", ""), "")
    for word in words.split(" ") if "\t" in words else words.split():
        text = word.replace("_", " ").replace("\t", " ")
        yield Change(kind="format", label=f"the word '{text}'", value=text)
    if "format" in spot.node:
        yield Change(kind="format", label="an empty text", value="")
        yield Change(kind="format", label="with a space after", value=f"{spot.value} ")
    if spot.node.get("contentEncoding") == "base64":
        for text in ("a", "%%%%", "aGk", "aGk=\n"):
            yield Change(kind="format", label="no base64", value=text)


def _patterns(spot: Spot, random: Random) -> Iterator[Change]:
    if "pattern" in spot.node:
        text = str(spot.value)
        near = ("", " ", f"{text}!", f" {text}", text[:-1], text.swapcase(), f"{text}\n", "\u202e", "x" * 50)
        for made in near:
            yield Change(kind="pattern", label=f"the text {json.dumps(made)[:40]}", value=made)


def _unique(spot: Spot, random: Random) -> Iterator[Change]:
    if isinstance(spot.value, list) and spot.value and spot.node.get("uniqueItems"):
        yield Change(kind="unique", label="the first item twice", value=[*spot.value, spot.value[0]])


# --- members -------------------------------------------------------------------------------------

_STRANGERS: Final = {
    "that is no name": "",
    "special to JavaScript": "__proto__",
    "of a function's own": "self",
    "with a dot": "a.b",
    "with a quote": "it's",
    "with an accent": "naïve",
    "that runs from right to left": "\u202etxet",
    "with NUL in it": "a\u0000b",
    "with a combining mark": "e\u0301",
    "of 300 letters": "n" * 300,
    "that is a number": "7",
}


def _unknown(spot: Spot, random: Random) -> Iterator[Change]:
    if not isinstance(spot.value, dict):
        return
    known = [*spot.node.get("properties", ())]
    for name in random.sample(known, min(3, len(known))):
        near = dict.fromkeys((f"{name}s", _swapped(name, random), _other_case(name), name.upper()))
        for other in (each for each in near if each not in known):
            yield Change(
                kind="unknown", label=f"a name near '{name}'", path=(other,), value=spot.value.get(name, 1)
            )
    strangers = list(_STRANGERS.items())
    for label, name in strangers if not spot.path else random.sample(strangers, 3):
        if name not in known:
            yield Change(kind="unknown", label=f"a name {label}", path=(name,), value=1)
    yield Change(kind="unknown", label="a name with null", path=("extra",), value=None)


def _swapped(name: str, random: Random) -> str:
    at = random.randrange(max(len(name) - 1, 1))
    return name[:at] + name[at : at + 2][::-1] + name[at + 2 :]


def _other_case(name: str) -> str:
    """`due_from` as `dueFrom`, and back."""
    first, *rest = name.split("_")
    if rest:
        return first + "".join(map(str.title, rest))
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name) + "_"


def _missing(spot: Spot, random: Random) -> Iterator[Change]:
    if isinstance(spot.value, dict):
        for name in spot.node.get("required", ()):
            yield Change(kind="missing", label=f"without '{name}'", path=(name,), value=GONE)
        yield Change(kind="missing", label="nothing at all", value={})


# --- sizes, depths, letters ----------------------------------------------------------------------


def _huge(spot: Spot, random: Random) -> Iterator[Change]:
    yield Change(kind="huge", label="a text of 100,000 characters", value="a" * 100_000)
    items = spot.value if isinstance(spot.value, list) and spot.value else [spot.value]
    yield Change(kind="huge", label="a list of 5,000 items", value=[items[0]] * 5_000)
    wrong = 7 if isinstance(items[0], str) else "text"
    yield Change(kind="huge", label="a list of 5,000 wrong items", value=[wrong] * 5_000)
    if isinstance(spot.value, int | float) and not isinstance(spot.value, bool):
        numbers = {"2⁶³": 2**63, "-2⁶³-1": -(2**63) - 1, "2⁶⁴": 2**64, "1e308": 1e308, "-1e308": -1e308}
        for label, number in {**numbers, "10⁴⁰⁰": 10**400}.items():
            yield Change(kind="huge", label=f"the number {label}", value=number)


def _deep(spot: Spot, random: Random) -> Iterator[Change]:
    lists: Json = []
    objects: Json = {}
    for _ in range(30):
        lists, objects = [lists], {"a": objects}
    yield Change(kind="deep", label="30 lists in one another", value=lists)
    yield Change(kind="deep", label="30 objects in one another", value=objects)


_LETTERS: Final = {
    "from right to left": "\u202etxet",
    "with NUL": "te\u0000xt",
    "with combining marks": "e" + "\u0301" * 20,
    "invisible": "\u200b\ufeff",
    "beyond the first plane": "𝔘😀",
    "with a line end": "text\n",
}


def _unicode(spot: Spot, random: Random) -> Iterator[Change]:
    for label, text in _LETTERS.items():
        yield Change(kind="unicode", label=f"a text {label}", value=text)
    most = spot.node.get("maxLength")
    if isinstance(spot.value, str) and most is not None and most <= _MOST:
        yield Change(kind="unicode", label="a text of the greatest length in emoji", value="😀" * most)
    if isinstance(spot.value, str):
        digits = spot.value.translate(str.maketrans("0123456789", "０１２３４５６７８９"))
        yield Change(kind="unicode", label="in digits of another script", value=digits)


# --- the arguments as a whole --------------------------------------------------------------------


def _no_object(spot: Spot, random: Random) -> Iterator[Change]:
    for label in ("a list", "an empty list", "a text", "a whole number", "true"):
        yield Change(kind="arguments", label=f"{label} instead of an object", value=_OTHERS[label])
    yield Change(kind="arguments", label="the arguments as text", value=json.dumps(spot.value))
    yield Change(kind="arguments", label="the arguments in a list", value=[spot.value])


NUMBERS: Final = {"1e999": b"1e999", "-1e999": b"-1e999", "5,000 digits": b"1" + b"0" * 4_999}
"""What a JSON number may say and a program cannot hold."""

WIRE: Final = {
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "01": b"01",
    "a word without quotes": b"text",
    "half a surrogate pair": b'"\\ud800"',
    "bytes that are no UTF-8": b'"\xff"',
    "a comma too many": b"[1,]",
    "a comment": b"1 /* one */",
    "100 lists in one another": b"[" * 100 + b"]" * 100,
}
"""What stands in the place of a value in a message that is no sound JSON."""

Maker = Callable[[Spot, Random], Iterator[Change]]

_MAKERS: Final[tuple[Maker, ...]] = (
    *(_ranges, _lengths, _choices, _formats, _patterns, _unique, _missing),
    *(_types, _null, _as_text, _unknown, _huge, _deep, _unicode),
)
"""The most telling ones first: what is made twice keeps its first kind."""

_AT_ROOT: Final[tuple[Maker, ...]] = (_missing, _lengths, _unknown, _no_object)
