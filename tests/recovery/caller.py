"""A caller that mends its call by what a refusal says, and by nothing else.

The law of the file: it is mechanical. It reads the refusal into faults (where, what, and what would have been
accepted), changes the arguments at those places and at no others, and knows neither the tools nor the calls.
What a refusal says in words becomes a piece of JSON Schema, laid over what the listing says of that place.

    text         the sentences of typegate, pydantic's list of errors, and an author's "Call again with …"
    structured   the issues of `_meta["dev.typegate/problem"]`
"""

import copy
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from .values import Node, child, conformed, decoded, instance, nearest, options_of, overlaid, shape, type_of

__all__ = ["Fault", "mended", "read_problem", "read_text"]

Arguments = dict[str, Any]
Path = tuple[str | int, ...]

MISSING: Final = "missing"
UNEXPECTED: Final = "unexpected"
WRONG: Final = "wrong"


class Fault(NamedTuple):
    """One thing that is wrong.

    Attributes:
        path: where, from the arguments down.
        kind: a name that is missing or unexpected, or a value that is wrong.
        wanted: what would be accepted, as far as the refusal says it.
        better: the value or the name to use instead, where the refusal has one.
    """

    path: Path
    kind: str
    wanted: Node = {}
    better: Any = None


DROP: Final = object()
"""In place of a better name: the refusal says to leave it out."""

# --- applying --------------------------------------------------------------------------------------


def mended(schema: Node, arguments: Arguments, faults: Iterable[Fault]) -> Arguments:
    """The arguments with every fault mended: names first, then from the outside in."""
    made = copy.deepcopy(arguments)
    known = _merged(faults)
    for fault in sorted(known, key=lambda each: (each.kind != UNEXPECTED, len(each.path))):
        if not fault.path:
            continue
        holder, node = _opened(made, schema, fault.path[:-1])
        if isinstance(holder, dict | list):
            if fault.kind == UNEXPECTED and fault.better is None:
                fault = fault._replace(better=_meant(fault, holder, node, known) or DROP)
            _MEND[fault.kind](holder, node, fault, schema)
            _complete(made, schema, fault.path)
    return made


def _merged(faults: Iterable[Fault]) -> list[Fault]:
    """One fault for each place, with all that was said of it."""
    by_place: dict[tuple[Path, bool], Fault] = {}
    for fault in faults:
        place = (fault.path, fault.kind == UNEXPECTED)
        known = by_place.get(place, fault)
        better = fault.better if known.better is None else known.better
        by_place[place] = known._replace(wanted={**fault.wanted, **known.wanted}, better=better)
    return list(by_place.values())


def _opened(arguments: Arguments, schema: Node, path: Path) -> tuple[Any, Node]:
    """The container at *path* and its schema; a container that was sent as text is decoded on the way."""
    holder: Any = arguments
    node = shape(schema, holder, schema)
    for step in path:
        inner = _at(holder, (step,))
        node = child(node, step, holder, schema)
        if isinstance(inner, str):
            inner = holder[step] = next(filter(None, (decoded(inner, kind) for kind in (dict, list))), inner)
        holder, node = inner, shape(node, inner, schema)
    return holder, node


def _meant(fault: Fault, holder: Any, node: Node, faults: Iterable[Fault]) -> Any:
    """The name that an unexpected one stands for, where the refusal does not say: one without a value."""
    missing = {each.path[-1] for each in faults if each.kind == MISSING and each.path[:-1] == fault.path[:-1]}
    free = {*node.get("properties", {}), *missing} - {*holder}
    return nearest(fault.path[-1], sorted(map(str, free)))


def _rename(holder: Any, node: Node, fault: Fault, root: Node) -> None:
    """Move a value to the name that was meant; drop it where there is none, or where that has a value."""
    value = holder.pop(fault.path[-1], _NOTHING) if isinstance(holder, dict) else _NOTHING
    new = fault.better
    if value is not _NOTHING and new is not DROP and new not in holder:
        holder[new] = conformed(value, child(node, new, holder, root), root)


def _supply(holder: Any, node: Node, fault: Fault, root: Node) -> None:
    """Put a value where there is none: that of a name like it which does not exist, or one that fits."""
    key: Any = fault.path[-1]
    wanted = overlaid(child(node, key, holder, root), fault.wanted)
    if isinstance(holder, list):
        holder.append(instance(wanted, root))
    elif key not in holder:
        strangers = {*holder} - {*node.get("properties", holder)}
        like = nearest(key, sorted(strangers))
        holder[key] = instance(wanted, root) if like is None else conformed(holder.pop(like), wanted, root)


def _replace(holder: Any, node: Node, fault: Fault, root: Node) -> None:
    """Put a value that fits into the place of one that does not."""
    key: Any = fault.path[-1]
    sent = _at(holder, (key,))
    if sent is _NOTHING:
        return
    wanted = overlaid(child(node, key, holder, root), fault.wanted)
    value = conformed(sent, wanted, root) if fault.better is None else fault.better
    if value == sent and type_of(value) == type_of(sent):
        value = instance(wanted, root)
    if node.get("uniqueItems") and value in [*holder[:key], *holder[key + 1 :]]:
        value = next((each for each in options_of(wanted) if each not in holder), value)
    holder[key] = value


def _complete(arguments: Arguments, schema: Node, path: Path) -> None:
    """Where a tag was set, the rest of its object follows: another branch has other members."""
    holder, node = _opened(arguments, schema, path[:-1])
    tag = node.get("properties", {}).get(path[-1], {})
    if isinstance(holder, dict) and len(options_of(tag)) == 1 and holder.get(path[-1]) in options_of(tag):
        whole = conformed(holder, node, schema)
        holder.clear()
        holder.update(whole)


_MEND: Final = {UNEXPECTED: _rename, MISSING: _supply, WRONG: _replace}
_NOTHING: Final = object()


def _at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _NOTHING
    return value


# --- reading: typegate ------------------------------------------------------------------------------

_PATH: Final = r"'(?P<path>(?:[^']|'(?=\w))+)'"
_MISSING: Final = re.compile(rf"missing required (?:argument|field) {_PATH}")
_UNEXPECTED: Final = re.compile(
    rf"unexpected (?:argument|field) {_PATH}(?:; did you mean '(?P<name>[^']+)'\?)?"
)
_MEANT: Final = re.compile(rf"{_PATH} must be [^;]*; did you mean '(?P<value>[^']+)'\?")
_AGAIN: Final = re.compile(r"Call again with (.+?)\.?\s*$", re.MULTILINE)
_CLAUSE: Final = re.compile(rf"{_PATH} (?:as (?P<wanted>.+)|(?P<given>given)|(?P<out>left out))")


def read_text(text: str, arguments: Arguments) -> list[Fault]:
    """The faults that a text names: sentences, what to send instead, or pydantic's list."""
    return [*_read_sentences(text, arguments), *_read_clauses(text, arguments), *_read_list(text, arguments)]


def _read_sentences(text: str, arguments: Arguments) -> Iterator[Fault]:
    for found in _MISSING.finditer(text):
        yield Fault(_path(found["path"], arguments), MISSING)
    for found in _UNEXPECTED.finditer(text):
        yield Fault(_path(found["path"], arguments), UNEXPECTED, better=found["name"])
    for found in _MEANT.finditer(text):
        yield Fault(_path(found["path"], arguments), WRONG, better=found["value"])


def _read_clauses(text: str, arguments: Arguments) -> Iterator[Fault]:
    """What follows "Call again with": one clause for each change."""
    for advice in _AGAIN.finditer(text):
        for clause in re.split(r"; (?=')", advice[1]):
            found = _CLAUSE.fullmatch(clause)
            if found is None:
                continue  # a rename is said by its sentence already
            path = _path(found["path"], arguments)
            if found["out"]:
                yield Fault(path, UNEXPECTED, better=DROP)
            else:
                kind = WRONG if _at(arguments, path) is not _NOTHING else MISSING
                yield Fault(path, kind, read_words(found["wanted"] or ""))


def read_problem(problem: dict[str, Any], arguments: Arguments) -> list[Fault]:
    """The faults of a refusal as data; where it has no issues, those of its hint."""
    if not problem["issues"]:
        return list(_read_clauses(problem["hint"] or "", arguments))
    return [_fault(issue) for issue in problem["issues"]]


def _fault(issue: dict[str, Any]) -> Fault:
    path, expected = tuple(issue["path"]), issue["expected"] or ""
    if issue["code"] == UNEXPECTED:
        return Fault(path, UNEXPECTED, better=expected[1:-1] if expected.startswith("'") else DROP)
    return Fault(path, MISSING if issue["code"] == MISSING else WRONG, read_words(expected))


def _path(text: str, value: Any, named: bool = True) -> Path:
    """The steps of `filters.tags[2]`, or of pydantic's `filters.tags.2`.

    What does not exist is the name of a union's branch, and no step; if *named*, the last is what is missing.
    """
    path: list[str | int] = []
    while text:
        keys = [str(key) for key in value] if isinstance(value, dict) else []
        known = [key for key in keys if re.match(rf"{re.escape(key)}(?=$|[.\[])", text)]
        head = max(known, key=len) if known else re.match(r"\[?[^.\[]*", text)[0]  # type: ignore[index]
        text = text[len(head) :].removeprefix(".")
        index = head.strip("[]")
        value = next(filter(None, (decoded(value, kind) for kind in (dict, list))), value)
        step: str | int = int(index) if isinstance(value, list) and index.isdecimal() else head
        inside = _at(value, (step,))
        if inside is not _NOTHING or (named and not text):
            path.append(step)
            value = inside
    return tuple(path)


# --- reading: words → JSON Schema -------------------------------------------------------------------

_NUMBER: Final = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\d.]* (?:character|item|entr))"
_UNITS: Final = {"character": "Length", "item": "Items", "entr": "Properties"}
_NAMES: Final[dict[str, Node]] = {
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array"},
    "set": {"type": "array", "uniqueItems": True},
    "tuple": {"type": "array"},
    "dictionary": {"type": "object"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "date and time": {"type": "string", "format": "date-time"},
    "time": {"type": "string", "format": "time"},
    "timedelta": {"type": "string", "format": "duration"},
    "duration": {"type": "string", "format": "duration"},
    "email": {"type": "string", "format": "email"},
    "dates": {"type": "string", "format": "date"},
    "UUID": {"type": "string", "format": "uuid"},
    "URL": {"type": "string", "format": "uri"},
    "URI": {"type": "string", "format": "uri"},
    "IPv4": {"type": "string", "format": "ipv4"},
    "IPv6": {"type": "string", "format": "ipv6"},
    "base64": {"type": "string", "contentEncoding": "base64"},
}
"""What a form is called, by us or by pydantic, and what it is in JSON Schema."""

_COUNT: Final = r" with (?:exactly |at least |at most )?\d+(?: to \d+)? items?"
_ARRAY: Final = re.compile(rf"array of (?P<each>.+?)(?P<count>{_COUNT})?")
_EACH: Final = re.compile(rf"array(?P<count>{_COUNT})?, each (?P<each>.+)")
_MEMBER: Final = re.compile(r"'(?P<name>[^']+)'(?: \((?P<words>.+)\))?")
_CHOICE: Final = re.compile(r"'(?:[^']|'(?=\w))*'|-?\d[\d.]*|true|false|null")
_BOUNDS: Final = (
    (rf"(?:from|of at least|greater than or equal to|equal to) {_NUMBER}", "minimum"),
    (rf"(?:more|greater) than {_NUMBER}", "exclusiveMinimum"),
    (rf"(?:(?<=\d) to|of at most|less than or equal to|equal to) {_NUMBER}", "maximum"),
    (rf"less than {_NUMBER}", "exclusiveMaximum"),
    (rf"multiple of {_NUMBER}", "multipleOf"),
)
_COUNTS: Final = (
    (r"with (\d+) to \d+ (\w+)", "min"),
    (r"with \d+ to (\d+) (\w+)", "max"),
    (r"(?:at least|exactly) (\d+) (\w+)", "min"),
    (r"(?:at most|exactly) (\d+) (\w+)", "max"),
)


def read_words(words: str) -> Node:
    """What is expected, in the words of a refusal: as JSON Schema, with its example among the examples."""
    kinds = _split(words, r" or (?=(?:string|integer|number|boolean|array|object|null|one of|an?)\b)")
    if len(kinds) > 1:
        return {"anyOf": [read_words(each) for each in kinds]}
    return _read_array(words) or _read_object(words) or _read_scalar(words)


def _read_array(words: str) -> Node:
    whole = _ARRAY.fullmatch(words) or _EACH.fullmatch(words)
    if whole:
        return {"type": "array", **_counts(whole["count"] or ""), "items": read_words(whole["each"])}
    count, _, items = words.partition(": ")
    if not count.startswith("array") or not items:
        return {}
    return {
        "type": "array",
        **_counts(count),
        "prefixItems": [read_words(each) for each in _split(items, ", ")],
    }


def _read_object(words: str) -> Node:
    """An object by its members: their names, or also what they are, in brackets."""
    names = words.removeprefix("object with ")
    if names == words or not names.startswith("'"):
        return {}
    found = [_MEMBER.fullmatch(each) for each in _split(names, ", ")]
    members = {each["name"]: read_words(each["words"] or "") for each in found if each}
    return {"type": "object", "required": [*members], "properties": members}


def _read_scalar(words: str) -> Node:
    words, _, example = words.partition("for example ")
    words = words.removesuffix(" ").removesuffix(",")
    node: Node = {"examples": [_plain(example)]} if example else {}
    found = re.fullmatch(rf"(?:one of )?((?:{_CHOICE.pattern})(?:, (?:{_CHOICE.pattern}|…))*)", words)
    if found:
        return {**node, "enum": [_plain(each) for each in _CHOICE.findall(found[1])]}
    words, _, pattern = words.partition(" matching ")
    if pattern:
        node["pattern"] = pattern
    kind = re.match(r"(string|integer|number|boolean|array|object)\b", words)
    if kind is None:
        form = re.match(r"(?:an? )?(date and time|\w+)", words)
        return {**node, **_NAMES.get(form[1] if form else "", {})}
    return {**node, "type": kind[1], **_bounds(words), **_counts(words)}


def _split(words: str, separator: str) -> list[str]:
    """The parts of a list, except where the separator stands inside brackets."""
    outside, depth = "", 0
    for letter in words:
        depth -= letter == ")"
        outside += letter if depth <= 0 else "\0"
        depth += letter == "("
    ends = [(0, 0), *(found.span() for found in re.finditer(separator, outside)), (len(words), 0)]
    return [words[left[1] : right[0]] for left, right in itertools.pairwise(ends)]


def _bounds(words: str) -> Node:
    found = {keyword: re.search(pattern, words) for pattern, keyword in _BOUNDS}
    return {keyword: json.loads(each[1]) for keyword, each in found.items() if each}


def _counts(words: str) -> Node:
    node: Node = {}
    for pattern, end in _COUNTS:
        found = re.search(pattern, words)
        unit = next((_UNITS[unit] for unit in _UNITS if found and found[2].startswith(unit)), None)
        if found and unit:
            node[f"{end}{unit}"] = int(found[1])
    return node


def _plain(word: str) -> Any:
    """A value as it stands in a text: quoted, or as JSON, or as it is."""
    if word.startswith("'"):
        return word[1:-1]
    with suppress(ValueError):
        return json.loads(word)
    return word


# --- reading: pydantic's list -----------------------------------------------------------------------

_ENTRY: Final = re.compile(
    r"^(?P<path>\S[^\n]*)\n  (?P<said>.+?) \[type=(?P<type>\w+), input_value=", re.MULTILINE | re.DOTALL
)


def _read_list(text: str, arguments: Arguments) -> Iterator[Fault]:
    for found in _ENTRY.finditer(text):
        path, said = _path(found["path"], arguments, found["type"].startswith("missing")), found["said"]
        if found["type"].startswith("missing"):
            yield Fault(path, MISSING)
        elif found["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            yield Fault(path, UNEXPECTED)
        elif found["path"].endswith(".[key]"):
            yield Fault(path, UNEXPECTED, better=nearest(path[-1], _quoted(said)) or DROP)
        elif found["type"] == "union_tag_not_found":
            yield Fault((*path, _quoted(said)[0]), MISSING)
        elif found["type"] == "union_tag_invalid":
            _, tag, *options = _quoted(said)
            yield Fault((*path, tag), WRONG, {"enum": options})
        else:
            yield Fault(path, WRONG, _read_said(said))


def _read_said(said: str) -> Node:
    """One of pydantic's sentences."""
    said, _, example = said.partition("for example ")
    options = _CHOICE.findall(said.removeprefix("Input should be "))
    if re.fullmatch(rf"Input should be (?:{_CHOICE.pattern})(?:(?:, | or )(?:{_CHOICE.pattern}))*", said):
        return {"enum": [_plain(each) for each in options]}
    pattern = re.search(r"match pattern '(.+)'$", said)
    if pattern:
        return {"pattern": pattern[1]}
    named = re.search(r"(?:valid|provided to) (\w+)|(URL|base64)", said)
    known = _NAMES.get(named[1] or named[2], {}) if named else {}
    offered = {"examples": [_plain(example)]} if example else {}
    return {**known, **_bounds(said), **_counts(said), **offered}


def _quoted(said: str) -> list[str]:
    return re.findall(r"'([^']*)'", said)
