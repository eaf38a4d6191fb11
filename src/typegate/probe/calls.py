"""A tool's schema → the calls that probe it, each labelled and judged by that schema.

The law of the file: pure, and the same for the same seed. Whether a call is malformed is decided by a full
JSON Schema validator on what is published, and by nothing else. What a typegate server takes beyond that
by a rule of its documentation is marked with the rule: null where the type admits it (the null rule of
docs/schemas.md), and what its `Gate` repairs.
"""

import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

import msgspec

from typegate.contract.problems import Path, type_name
from typegate.contract.schema import subschemas
from typegate.contract.validator import Validator
from typegate.probe.faults import GONE, NUMBERS, WIRE, Change, changes, replaced
from typegate.probe.samples import Sampler, Spot
from typegate.types import Json

__all__ = ["Case", "Rules", "Subject", "make_cases"]

MAX_VARIANTS: Final = 8


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One call.

    Attributes:
        kind: one of `faults.KINDS`, or `valid`.
        label: what was done to valid arguments, and where.
        arguments: as they are sent, to the byte.
        valid: whether they are to be taken.
        rule: the documented rule by which, where the schema alone does not accept them.
        places: what a refusal must name, one of them; empty where there is nothing to name.
    """

    kind: str
    label: str
    arguments: bytes
    valid: bool
    rule: str | None = None
    places: tuple[Path, ...] = ()


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate of a typegate server takes beyond the published schema.

    Attributes:
        types: the schema of its types with the nulls that are not published.
        repair: what is decoded that arrives as JSON text: `containers`, `all` or `none`.
        nulls: whether a null is taken for leaving out what may be left out (`default`) or not (`refuse`).
    """

    types: dict[str, Json] | None = None
    repair: str = "none"
    nulls: str = "refuse"


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is probed.

    Attributes:
        name: its name.
        schema: what it publishes.
        rules: what it takes beyond that.
    """

    name: str
    schema: dict[str, Json]
    rules: Rules = Rules()


def make_cases(subject: Subject, seed: int, most: int) -> list[Case]:
    """The calls for one tool, at most *most* of them, valid ones first.

    Raises:
        RegistrationError: what it publishes is no JSON Schema.
    """
    random = Random(f"{seed}:{subject.name}")  # noqa: S311  (to be repeated, not to be secret)
    made: dict[bytes, Case] = {}
    for case in _Maker(subject, random).cases():
        made.setdefault(case.arguments, case)
    return _chosen(list(made.values()), most, random)


def _chosen(cases: list[Case], most: int, random: Random) -> list[Case]:
    """At most *most* calls, as many of each kind as there can be, in the order in which they were made."""
    if len(cases) <= most:
        return cases
    piles: dict[tuple[str, bool], list[int]] = {}
    for index in random.sample(range(len(cases)), len(cases)):
        piles.setdefault((cases[index].kind, cases[index].valid), []).append(index)
    rounds = (pile[turn] for turn in range(len(cases)) for pile in piles.values() if turn < len(pile))
    kept = {index for index, _ in zip(rounds, range(most), strict=False)}
    return [case for index, case in enumerate(cases) if index in kept]


class _Maker:
    """Makes the calls for one tool."""

    def __init__(self, subject: Subject, random: Random) -> None:
        self._subject = subject
        self._random = random
        self._judge = Validator(subject.schema, f"inputSchema of '{subject.name}'")
        self._types = Validator(subject.rules.types or {}, f"the types of '{subject.name}'")

    def cases(self) -> Iterator[Case]:
        """Everything, in a fixed order; the same arguments may come more than once."""
        bases = list(self._bases())
        for arguments, _ in bases:
            yield Case(kind="valid", label="valid arguments", arguments=_encoded(arguments), valid=True)
        seen: set[str] = set()
        for arguments, spots in bases:
            for spot in spots:
                key = json.dumps((spot.path, spot.node), sort_keys=True)
                if key not in seen:
                    seen.add(key)
                    yield from self._at(arguments, spot)
        if bases:
            yield from _broken(*bases[0])

    def _bases(self) -> Iterator[tuple[dict[str, Json], list[Spot]]]:
        """Valid arguments, one of them for each branch of the widest union, and the shortest ones."""
        schema = self._subject.schema
        variants = min(max(map(_width, subschemas(schema)), default=1), MAX_VARIANTS)
        for variant, full in [*((each, True) for each in range(variants)), (0, False)]:
            sampler = Sampler(schema, variant, full)
            arguments = self._mended(sampler.arguments())
            if arguments is not None:
                yield arguments, list(sampler.spots(arguments)) if full or variants == 1 else []

    def _mended(self, arguments: dict[str, Json]) -> dict[str, Json] | None:
        """The arguments, or as few of them less as make them valid; `None` where nothing does."""
        if self._judge.is_valid(arguments):
            return arguments
        needed = set(self._subject.schema.get("required", ()))
        for name in [each for each in arguments if each not in needed]:
            fewer = {key: value for key, value in arguments.items() if key != name}
            if self._judge.is_valid(fewer):
                return fewer
        shorter = {key: value for key, value in arguments.items() if key in needed}
        return shorter if self._judge.is_valid(shorter) else None

    def _at(self, arguments: dict[str, Json], spot: Spot) -> Iterator[Case]:
        for change in changes(spot, self._random):
            path = (*spot.path, *change.path)
            tree = replaced(arguments, path, change.value)
            if not isinstance(tree, dict):
                yield _case(change, spot, tree, valid=False, places=((),))
                continue
            valid = self._judge.is_valid(tree)
            rule = None if valid else self._rule(change, spot, arguments)
            taken = valid or rule is not None
            places = () if taken else tuple(self._places(change, spot, tree))
            yield _case(change, spot, tree, taken, places, rule)

    def _rule(self, change: Change, spot: Spot, arguments: dict[str, Json]) -> str | None:
        """The rule by which a typegate server takes what its schema alone does not accept."""
        rules, path = self._subject.rules, (*spot.path, *change.path)
        if change.value is None and change.kind == "null":
            known = rules.types is not None and path[0] in rules.types.get("properties", {})
            if known and self._types.is_valid(replaced(arguments, path, None)):
                return "null"
            left_out = rules.nulls == "default" and isinstance(path[-1], str)
            if left_out and self._judge.is_valid(replaced(arguments, path, GONE)):
                return "null for left out"
        elif isinstance(change.value, str) and not change.path and not spot.admits_text:
            decoded = _decoded(change.value)
            kinds = _REPAIRED.get(rules.repair, ())
            if type_name(decoded) in kinds and self._judge.is_valid(replaced(arguments, path, decoded)):
                return "repair"
        return None

    def _places(self, change: Change, spot: Spot, tree: Json) -> Iterator[Path]:
        """What a refusal may name: the place, or what a union or a condition makes of it."""
        path = (*spot.path, *change.path)
        yield path
        yield from spot.blamed
        if change.kind == "unknown" and "propertyNames" in spot.node:
            yield spot.path
        beyond = change.path and isinstance(change.path[0], int)
        if beyond and ("maxItems" in spot.node or spot.node.get("items") is False):
            yield spot.path
        if change.kind == "missing" and not change.path:
            yield from ((*path, name) for name in spot.node.get("required", ()))
        if spot.conditional or not path or change.value is GONE or change.kind == "length":
            yield from (issue.path for issue in self._judge.issues(tree))


_REPAIRED: Final = {
    "containers": ("array", "object"),
    "all": ("array", "object", "integer", "number", "boolean"),
}
"""Setting of a gate → the JSON types that it decodes from text."""


def _decoded(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _case(
    change: Change,
    spot: Spot,
    tree: Json,
    valid: bool,
    places: tuple[Path, ...],
    rule: str | None = None,
) -> Case:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in spot.path).lstrip(".")
    label = f"{where}: {change.label}" if where else change.label
    return Case(
        kind=change.kind, label=label, arguments=_encoded(tree), valid=valid, rule=rule, places=places
    )


def _width(node: Json) -> int:
    """How many branches a schema has at its surface."""
    lists = [node.get(keyword, ()) for keyword in ("anyOf", "oneOf")]
    kinds = node.get("type", ())
    return max(map(len, lists), default=1) if any(lists) else len(kinds) if isinstance(kinds, list) else 1


def _encoded(tree: Json) -> bytes:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()


# --- messages that no encoder writes -------------------------------------------------------------

_MARK: Final = "\x01here\x01"
_MARKED: Final = _encoded(_MARK)


def _broken(arguments: dict[str, Json], spots: Iterable[Spot]) -> Iterator[Case]:
    """Calls whose bytes are wrong: at the first place of each type, or under a name of their own."""
    places: dict[str, Spot] = {}
    for spot in spots:
        if spot.path:
            places.setdefault(type(spot.value).__name__, spot)
    paths: list[Path] = [spot.path for spot in places.values()] or [("extra",)]
    for path in paths:
        marked = _encoded(replaced(arguments, path, _MARK))
        for label, raw in NUMBERS.items():
            yield Case(
                kind="number",
                label=f"{label} for {path[-1]!r}",
                arguments=marked.replace(_MARKED, raw),
                valid=False,
                places=(path,),
            )
    marked = _encoded(replaced(arguments, paths[0], _MARK))
    for label, raw in WIRE.items():
        yield Case(kind="wire", label=label, arguments=marked.replace(_MARKED, raw), valid=False)
    for label, raw in _twice(arguments):
        yield Case(kind="wire", label=label, arguments=raw, valid=False)


def _twice(arguments: dict[str, Json]) -> Iterator[tuple[str, bytes]]:
    """The arguments with a key twice: as it is, with another value, and written in another way."""
    encoded = _encoded(arguments)
    name = next(iter(arguments), "extra")
    pair = _encoded({name: arguments.get(name, 1)})[1:-1]
    rest = encoded[1:-1] if arguments else pair
    escaped = f'"\\u{ord(name[:1] or "a"):04x}'.encode() + _encoded(name)[2:]
    yield "a key twice", b"{" + pair + b"," + rest + b"}"
    yield "a key twice with another value", b"{" + _encoded(name) + b":false," + rest + b"}"
    if name:
        yield "a key twice, once with an escape", b"{" + escaped + b":false," + rest + b"}"
