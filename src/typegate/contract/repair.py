"""The second reading of arguments that were refused: JSON that arrived as text, null for "left out" (C10).

The law of the file: the schema leads. Text is decoded only where the schema admits no string, whatever
branch of a union is meant; where that cannot be told for sure, it is left as it is. The validator has
the last word: what is repaired here is judged again.
"""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, Literal

from typegate.contract.problems import Path, type_name
from typegate.types import Json

__all__ = ["Mender", "RepairMode"]

RepairMode = Literal["containers", "all", "none"]

Schema = dict[str, Json]

_KINDS: Final[dict[RepairMode, frozenset[str]]] = {
    "containers": frozenset({"array", "object"}),
    "all": frozenset({"array", "object", "number", "integer", "boolean"}),
    "none": frozenset(),
}
"""What may be made of a text."""

_STARTS: Final[dict[RepairMode, str]] = {"containers": "[{", "all": "[{-0123456789tf", "none": ""}
"""What such a text begins with; arguments without one are not looked at."""

_ALL: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_OPAQUE: Final = frozenset({"$dynamicRef", "$recursiveRef"})
_BRANCHES: Final = ("anyOf", "oneOf")
_BESIDE: Final = ("then", "else")

MAX_DEPTH: Final = 64
"""Levels that arguments may have after a repair, as many as a message has."""


class Mender:
    """How the arguments of one tool are repaired.

    Args:
        schema: what is published.
        mode: `containers` decodes arrays and objects, `all` numbers and booleans too, `none` nothing.
        nulls: whether a null that the schema does not admit is taken for leaving out what may be left out.
    """

    def __init__(self, schema: Schema, mode: RepairMode, nulls: bool) -> None:
        self._schema = schema
        self._kinds = _KINDS[mode]
        self._starts = _STARTS[mode]
        self._nulls = nulls

    def mend(self, tree: dict[str, Json]) -> tuple[dict[str, Json], tuple[Path, ...]]:
        """The arguments as they are probably meant, and the places that were changed; none: nothing was."""
        if not self._nulls and not _holds_text(tree, self._starts):
            return tree, ()
        places: list[Path] = []
        mended = self._mend([self._schema], tree, (), places)
        return mended, tuple(places)

    def _mend(self, schemas: Sequence[Json], value: Json, path: Path, places: list[Path]) -> Json:
        if isinstance(value, str):
            decoded = self._decoded(schemas, value, len(path))
            if decoded is None:
                return value
            places.append(path)
            value = decoded
        if isinstance(value, dict):
            return self._object(schemas, value, path, places)
        if isinstance(value, list):
            parts = list(self._parts(schemas, value))
            return [
                self._mend(list(_items(parts, index)), item, (*path, index), places)
                for index, item in enumerate(value)
            ]
        return value

    def _object(
        self, schemas: Sequence[Json], value: dict[str, Json], path: Path, places: list[Path]
    ) -> Json:
        parts = list(self._parts(schemas, value))
        made = {}
        for name, item in value.items():
            inside = list(_members(parts, name))
            if item is None and self._is_left_out(parts, name, inside):
                places.append((*path, name))
            else:
                made[name] = self._mend(inside, item, (*path, name), places)
        return made

    def _is_left_out(self, parts: list[Schema], name: str, inside: list[Json]) -> bool:
        """Whether a null stands for a member that is known, may be left out, and is never null."""
        known = any(name in part.get("properties", {}) for part in parts)
        needed = any(name in part.get("required", ()) for part in parts)
        return self._nulls and known and not needed and "null" not in self._admitted(inside)

    def _decoded(self, schemas: Sequence[Json], text: str, depth: int) -> Json:
        """What a text says, where nothing but that can be meant; else `None`."""
        if not self._kinds or not schemas:
            return None
        admitted = self._admitted(schemas)
        if "string" in admitted or not admitted & self._kinds:
            return None
        value = _read(text)
        kind = type_name(value)
        fits = kind in admitted and kind in self._kinds
        return value if fits and _depth(value) + depth <= MAX_DEPTH else None

    # --- what a schema says, without judging

    def _admitted(self, schemas: Sequence[Json]) -> frozenset[str]:
        """The JSON types that one of the schemas may admit; rather one too many."""
        return frozenset().union(*(self._types(schema, frozenset()) for schema in schemas))

    def _types(self, schema: Json, seen: frozenset[int]) -> frozenset[str]:
        if not isinstance(schema, dict):
            return frozenset() if schema is False else _ALL
        if id(schema) in seen or schema.keys() & _OPAQUE:
            return _ALL
        seen |= {id(schema)}
        found = _declared(schema)
        if "$ref" in schema:
            found &= self._types(self._target(schema["$ref"]), seen)
        for branch in schema.get("allOf", ()):
            found &= self._types(branch, seen)
        for key in _BRANCHES:
            if key in schema:
                found &= frozenset().union(*(self._types(branch, seen) for branch in schema[key]))
        return found

    def _target(self, reference: Json) -> Json:
        """What a reference into the document leads to; anything where it is of another form."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return True
        node: Any = self._schema
        for written in reference[1:].split("/")[1:]:
            step = written.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
                node = node[int(step)]
            elif isinstance(node, dict) and step in node:
                node = node[step]
            else:
                return True
        return node if reference in ("#", "#/") or "/" in reference else True

    def _parts(self, schemas: Sequence[Json], value: Json) -> Iterator[Schema]:
        """Every schema that may speak of the members of *value*: of unions, the branches that it may fit."""
        seen: set[int] = set()
        pending = list(schemas)
        while pending:
            schema = pending.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            if "$ref" in schema:
                pending.append(self._target(schema["$ref"]))
            pending += schema.get("allOf", ())
            pending += [schema[key] for key in _BESIDE if key in schema]
            for key in _BRANCHES:
                pending += [branch for branch in schema.get(key, ()) if self._may_fit(branch, value)]

    def _may_fit(self, branch: Json, value: Json) -> bool:
        """Whether a branch is not ruled out by the type of a value or by one of its tags."""
        if type_name(value) not in self._types(branch, frozenset()):
            return False
        if not isinstance(value, dict):
            return True
        for part in self._parts([branch], None):
            for name, member in part.get("properties", {}).items():
                options = _options(member)
                if options is not None and name in value and value[name] not in options:
                    return False
        return True


def _declared(schema: Schema) -> frozenset[str]:
    """The types that `type`, `enum` and `const` leave."""
    found = _ALL
    if "type" in schema:
        kinds = schema["type"]
        found = frozenset([kinds] if isinstance(kinds, str) else kinds)
        if "number" in found:
            found |= {"integer"}
    options = _options(schema)
    return found if options is None else found & frozenset(map(type_name, options))


def _options(schema: Json) -> list[Json] | None:
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return [schema["const"]]
    options = schema.get("enum")
    return options if isinstance(options, list) else None


def _members(parts: Sequence[Schema], name: str) -> Iterator[Json]:
    """What the schemas say of a member; one whose patterns may speak of it too says anything."""
    for part in parts:
        if part.get("patternProperties") or part.get("unevaluatedProperties") or part.get("dependentSchemas"):
            yield True
        elif name in part.get("properties", {}):
            yield part["properties"][name]
        elif "additionalProperties" in part:
            yield part["additionalProperties"]


def _items(parts: Sequence[Schema], index: int) -> Iterator[Json]:
    for part in parts:
        first = part.get("prefixItems") or (part["items"] if isinstance(part.get("items"), list) else [])
        rest = part.get("additionalItems") if isinstance(part.get("items"), list) else part.get("items")
        if index < len(first):
            yield first[index]
        elif rest is not None:
            yield rest
        elif "unevaluatedItems" in part:
            yield True


def _holds_text(tree: Json, starts: str) -> bool:
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            first = value.lstrip(" \t\r\n")[:1]
            if first and first in starts:
                return True
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return False


# --- reading text --------------------------------------------------------------------------------


def _read(text: str) -> Json:
    """A text as JSON by the rules of a message; `None` where it is none, or would lose something."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_float=_exact, parse_int=_finite, parse_constant=_refuse
        )
        json.dumps(value, ensure_ascii=False).encode()  # refuses half of a surrogate pair
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made


def _exact(digits: str) -> float:
    value = float(digits)
    if Decimal(digits) != Decimal(repr(value)):
        raise ValueError("a float cannot hold it")
    return value


def _finite(digits: str) -> int:
    value = int(digits)
    float(value)
    return value


def _refuse(constant: str) -> Json:
    raise ValueError(constant)


def _depth(value: Json) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, dict | list):
            deepest = max(deepest, depth)
            pending += [(item, depth + 1) for item in (node.values() if isinstance(node, dict) else node)]
    return deepest
