"""A schema → valid arguments, and every place in them with the schema that rules it.

The law of the file: only the schema is looked at. What is made is a guess that a validator judges: unions
are taken branch by branch with the number of the variant, recursion goes round twice and then ends.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from typegate.contract.problems import Path
from typegate.probe.patterns import matching
from typegate.types import Json

__all__ = ["EXAMPLES", "Sampler", "Spot", "is_whole"]

Schema = dict[str, Json]

EXAMPLES: Final = {
    "date": "2026-11-30",
    "date-time": "2026-11-30T14:05:00Z",
    "time": "14:05:00Z",
    "duration": "PT5M",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "email": "name@example.com",
    "idn-email": "name@example.com",
    "uri": "https://example.com/",
    "uri-reference": "/a",
    "iri": "https://example.com/",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "ipv4network": "192.0.2.0/24",
    "ipv6network": "2001:db8::/32",
    "ipvanyaddress": "192.0.2.1",
    "ipvanynetwork": "192.0.2.0/24",
    "ipvanyinterface": "192.0.2.1/24",
    "ipv4interface": "192.0.2.1/24",
    "ipv6interface": "2001:db8::1/32",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "uri-template": "/{a}",
    "json-string": "{}",
    "base64url": "aGk=",
    "regex": "a",
}
"""Format → a text in it."""

_ROUNDS: Final = 2
"""How often one definition may lie in itself."""

_DEEPEST: Final = 16
"""How many references or unions are followed at one place."""

_CONDITIONS: Final = ("if", "not", "dependentRequired", "dependentSchemas", "dependencies")
_HINTS: Final = (
    ("object", ("properties", "additionalProperties", "required", "patternProperties", "propertyNames")),
    ("array", ("items", "prefixItems", "minItems", "contains")),
    ("string", ("format", "pattern", "minLength", "maxLength", "contentEncoding")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
"""Type → the keywords that only mean something for it, for a schema that names no type."""


class Spot(msgspec.Struct, frozen=True, kw_only=True):
    """A place in valid arguments.

    Attributes:
        path: where.
        node: the schema that rules it, references followed and branches chosen.
        value: what stands there.
        blamed: the places above that a refusal may rightly name instead: unions around it.
        conditional: whether a condition above makes one argument depend on another.
        admits_text: whether some branch of the schema takes a text here.
    """

    path: Path
    node: Schema
    value: Json
    blamed: tuple[Path, ...] = ()
    conditional: bool = False
    admits_text: bool = False


class _EndlessError(Exception):
    """A definition that lies in itself was followed often enough."""


class Sampler:
    """Makes one variant of the arguments for a schema.

    Args:
        root: the schema of the arguments.
        variant: which branch of each union is taken, and which of the alternatives of an enum.
        full: whether what may be left out is given.
    """

    def __init__(self, root: Schema, variant: int = 0, full: bool = True) -> None:
        self._root = root
        self._variant = variant
        self._full = full

    def arguments(self) -> dict[str, Json]:
        """Arguments that the schema should accept."""
        try:
            made = self._value({**self._root, "type": "object"}, ())
        except _EndlessError:
            return {}
        return made if isinstance(made, dict) else {}

    def spots(self, value: Json) -> Iterator[Spot]:
        """The places in *value*, the root first."""
        return self._spots(self._root, value, Spot(path=(), node={}, value=value))

    # --- the schema

    def view(self, schema: Json, depth: int = 0) -> Schema:
        """A schema with its references followed, its parts merged and a branch of each union chosen."""
        if depth > _DEEPEST:
            return {}
        made = self._followed(schema)
        for part in made.pop("allOf", ()):
            made = _merged(made, self.view(part, depth + 1))
        for keyword in ("anyOf", "oneOf"):
            options = [each for each in made.pop(keyword, ()) if self._followed(each).get("type") != "null"]
            if options:
                made = _merged(made, self.view(options[self._variant % len(options)], depth + 1))
        return made

    def branches(self, schema: Json) -> int:
        """How many forms the unions at the surface of a schema have."""
        node = self._followed(schema)
        return max((len(node.get(keyword, ())) for keyword in ("anyOf", "oneOf")), default=0)

    def _followed(self, schema: Json) -> Schema:
        made = dict(schema) if isinstance(schema, dict) else {}
        for _ in range(_DEEPEST):
            reference = made.pop("$ref", None)
            if not isinstance(reference, str):
                return made
            made = {**self._target(reference), **made}
        return made

    def _target(self, reference: str) -> Schema:
        node: Json = self._root
        if reference.startswith("#/"):
            for step in reference[2:].split("/"):
                name = step.replace("~1", "/").replace("~0", "~")
                node = node.get(name, {}) if isinstance(node, dict) else {}
        elif reference != "#":
            tables = (self._root.get("$defs", {}), self._root.get("definitions", {}))
            named = (each for table in tables for each in table.values() if isinstance(each, dict))
            node = next((each for each in named if f"#{each.get('$anchor')}" == reference), {})
        return node if isinstance(node, dict) else {}

    # --- a value

    def _value(self, schema: Json, trail: tuple[str, ...]) -> Json:
        trail += tuple(_references(schema))
        if any(trail.count(reference) > _ROUNDS for reference in trail):
            raise _EndlessError
        node = self.view(schema)
        if "const" in node:
            return node["const"]
        if node.get("enum"):
            return node["enum"][self._variant % len(node["enum"])]
        if node.get("examples") and not isinstance(node["examples"][0], dict | list):
            return node["examples"][0]
        kind = _kind(node, self._variant)
        if kind == "object":
            return self._object(node, trail)
        if kind == "array":
            return self._array(node, trail)
        return _SIMPLE.get(kind, _nothing)(node)

    def _object(self, node: Schema, trail: tuple[str, ...]) -> Json:
        known, needed = node.get("properties", {}), node.get("required", ())
        made: dict[str, Json] = {}
        for name in dict.fromkeys((*known, *needed)):
            try:
                if name in needed or self._full:
                    made[name] = self._value(known.get(name, self._of_key(node, name)), trail)
            except _EndlessError:
                if name in needed:
                    raise
        patterns = node.get("patternProperties", {})
        for pattern in patterns if self._full else ():
            made.setdefault(matching(pattern), self._value(patterns[pattern], trail))
        if isinstance(node.get("additionalProperties"), dict) or node.get("minProperties", 0) > len(made):
            made |= self._entries(node, trail, max(node.get("minProperties", 0) - len(made), self._full))
        return made

    def _entries(self, node: Schema, trail: tuple[str, ...], count: int) -> dict[str, Json]:
        names = self.view(node.get("propertyNames", {}))
        options = names.get("enum") or [_distinct(_text(names), index) for index in range(count)]
        try:
            inner = node.get("additionalProperties", {})
            return {str(name): self._value(inner, trail) for name in options[:count]}
        except _EndlessError:
            return {}

    def _array(self, node: Schema, trail: tuple[str, ...]) -> Json:
        made = [self._value(item, trail) for item in node.get("prefixItems", ())]
        most = node.get("maxItems", math.inf)
        if "contains" in node:
            made.append(self._value(node["contains"], trail))
        rest = node.get("items", {})
        wanted = max(node.get("minItems", 0), len(made) if made else int(self._full and most > 0))
        if rest is False or isinstance(rest, list):
            return made
        for index in range(len(made), min(wanted, 1_000)):
            try:
                item = self._value(rest, trail)
            except _EndlessError:
                if index < node.get("minItems", 0):
                    raise
                break
            made.append(_distinct(item, index) if node.get("uniqueItems") and index else item)
        return made

    # --- the places

    def _spots(self, schema: Json, value: Json, above: Spot) -> Iterator[Spot]:
        node = self.view(schema)
        union = self.branches(schema) > 1 and bool(above.path)
        conditional = above.conditional or any(key in node for key in _CONDITIONS)
        here = msgspec.structs.replace(
            above,
            node=node,
            value=value,
            conditional=conditional or self._depends(schema),
            admits_text=self._admits_text(schema, 0),
        )
        yield here
        blamed = (*here.blamed, here.path) if union else here.blamed
        for step, inner in self._members(node, value):
            below = msgspec.structs.replace(here, path=(*here.path, step), blamed=blamed)
            yield from self._spots(inner, value[step], below)

    def _admits_text(self, schema: Json, depth: int) -> bool:
        node = self._followed(schema)
        if depth > _DEEPEST:
            return True
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                return any(self._admits_text(branch, depth + 1) for branch in node[keyword])
        if "enum" in node:
            return any(isinstance(option, str) for option in node["enum"])
        kind = node.get("type", "string")
        return "string" in (kind if isinstance(kind, list) else [kind])

    def _depends(self, schema: Json) -> bool:
        """Whether branches that are no types of their own stand beside the members."""
        node = self._followed(schema)
        parts = [node, *map(self._followed, node.get("allOf", ()))]
        return any(
            "required" in self._followed(branch) and "properties" not in self._followed(branch)
            for part in parts
            for keyword in ("anyOf", "oneOf")
            for branch in part.get(keyword, ())
        )

    def _members(self, node: Schema, value: Json) -> Iterator[tuple[str | int, Json]]:
        if isinstance(value, dict):
            known = node.get("properties", {})
            yield from ((name, known.get(name, self._of_key(node, name))) for name in value)
        elif isinstance(value, list) and value:
            first = node.get("prefixItems", ())
            rest = node.get("items", {})
            for index in sorted({*range(min(len(first), len(value))), 0, len(value) - 1}):
                yield index, first[index] if index < len(first) else rest

    @staticmethod
    def _of_key(node: Schema, name: str) -> Json:
        """The schema of a member that is not listed by its name."""
        for pattern, inner in node.get("patternProperties", {}).items():
            try:
                if re.search(pattern, name):
                    return inner
            except re.error:
                continue
        return node.get("additionalProperties", {})


def _references(schema: Json) -> Iterator[str]:
    """The references at the surface of a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for keyword in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(keyword, ()):
                yield from _references(part)


def _merged(one: Mapping[str, Json], other: Mapping[str, Json]) -> Schema:
    made = {**one, **other}
    for keyword in ("properties", "patternProperties"):
        if keyword in one and keyword in other:
            made[keyword] = {**one[keyword], **other[keyword]}
    if "required" in one and "required" in other:
        made["required"] = list(dict.fromkeys((*one["required"], *other["required"])))
    return made


def _kind(node: Schema, variant: int) -> str:
    kind = node.get("type")
    if isinstance(kind, list):
        kinds = [each for each in kind if each != "null"] or ["null"]
        return str(kinds[variant % len(kinds)])
    if isinstance(kind, str):
        return kind
    found = (name for name, keywords in _HINTS if any(keyword in node for keyword in keywords))
    return next(found, "string")


# --- values without members ----------------------------------------------------------------------


def is_whole(node: Schema) -> bool:
    """Whether a schema of numbers wants whole ones."""
    return bool(node.get("type") == "integer")


def _text(node: Schema) -> str:
    if node.get("contentEncoding") == "base64":
        return "aGk="
    made = EXAMPLES.get(node.get("format", ""), "text")
    if "pattern" in node:
        made = matching(node["pattern"])
    elif node.get("format") not in EXAMPLES:
        made = (made + "a" * (node.get("minLength", 0) - len(made)))[: node.get("maxLength")]
    return made


def _integer(node: Schema) -> int:
    low, high = node.get("minimum"), node.get("maximum")
    if "exclusiveMinimum" in node:
        low = math.floor(node["exclusiveMinimum"]) + 1
    if "exclusiveMaximum" in node:
        high = math.ceil(node["exclusiveMaximum"]) - 1
    made = math.ceil(low) if low is not None else min(1, math.floor(high)) if high is not None else 1
    step = node.get("multipleOf", 1)
    return int(-(-made // step) * step) if step else made


def _number(node: Schema) -> float:
    low = node.get("minimum", node.get("exclusiveMinimum"))
    high = node.get("maximum", node.get("exclusiveMaximum"))
    if node.get("multipleOf"):
        return float(math.ceil((low or 0) / node["multipleOf"] + 1) * node["multipleOf"])
    if low is not None and high is not None:
        return float(low + (high - low) / 2)
    return float(low + 0.5 if low is not None else high - 0.5 if high is not None else 1.5)


def _true(node: Schema) -> bool:
    return True


def _nothing(node: Schema) -> None:
    return None


_SIMPLE: Final[dict[str, Callable[[Schema], Json]]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _true,
}


def _distinct(value: Json, index: int) -> Json:
    """Another value of the same kind for each index; the first is the value itself."""
    if isinstance(value, bool) or index == 0:
        return not value if index and isinstance(value, bool) else value
    if isinstance(value, int | float):
        return value + index
    if isinstance(value, str):
        return f"{value}{index}"
    if isinstance(value, dict) and value:
        first: Sequence[str] = list(value)
        return {**value, first[0]: _distinct(value[first[0]], index)}
    return value
