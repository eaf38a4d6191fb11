"""JSON Schemas as clients like them: small, flat, and with nothing in them that cannot be resolved.

The law of the file: a schema is data here. Where it came from is not known, and every change is made at
the places where JSON Schema 2020-12 allows a subschema, so that a property called `title` or `type` is
never taken for a keyword.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, Literal

import msgspec

from typegate.types import Json

__all__ = ["SchemaStyle", "as_object", "is_object", "publish", "subschemas", "without_bad_defaults"]

Schema = dict[str, Json]
SchemaStyle = Literal["compact", "inline", "pydantic"]

_PLACES: Final = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), "table"),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), "list"),
    **dict.fromkeys(("items", "additionalProperties", "not", "if", "then", "else", "contains"), "single"),
    **dict.fromkeys(("propertyNames", "unevaluatedItems", "unevaluatedProperties"), "single"),
}
"""Where JSON Schema 2020-12 allows a subschema: alone, in a list, or in a table by name."""

_ORDER: Final = ("type", "title", "description", "properties", "required", "additionalProperties")
_LOCAL: Final = "#/$defs/"
_NULL: Final = {"type": "null"}


def publish(schema: Schema, style: SchemaStyle, side: Literal["input", "output"]) -> Schema:
    """The schema that a listing shows.

    Args:
        schema: as generated.
        style: `compact` drops generated titles and, on the properties of an input that have a default, the
            null of a union and a `default: null`; it inlines what is used once and every enum. `inline` does
            the same and inlines all that is not recursive. `pydantic` leaves the schema as it was generated.
        side: whether it describes arguments or results.
    """
    if style == "pydantic":
        return _ordered(_with_root(schema))
    schema = _map(_without(schema, "title"), _without_titles)
    if side == "input":
        schema = _map(schema, _without_null_unions)
    inlined = _inlined(_with_root(schema), everything=style == "inline")
    if side == "input":
        inlined = _map(inlined, _without_needless_defaults)
    made: Schema = _ordered(_map(inlined, _ordered))
    return made


def as_object(schema: Schema) -> Schema:
    """An output schema as handshake clients must see it: an object at its root (2025-06-18 on).

    What is no object, or not always one, becomes `{"result": ...}`.
    """
    if is_object(schema, schema):
        return schema if "type" in schema else {"type": "object", **schema}
    inner = {key: value for key, value in schema.items() if key not in ("$defs", "$schema")}
    made: Schema = {"type": "object", "properties": {"result": _map(inner, _moved)}, "required": ["result"]}
    if "$defs" in schema:
        made["$defs"] = {name: _map(node, _moved) for name, node in schema["$defs"].items()}
    return made


def is_object(node: Schema, root: Schema) -> bool:
    """Whether everything that a schema admits is an object."""
    branches = node.get("anyOf") or node.get("oneOf")
    if "type" not in node and branches:
        return all(is_object(_followed(branch, root), root) for branch in branches)
    return node.get("type") == "object"


def _followed(node: Schema, root: Schema) -> Schema:
    name = _target(node)
    return node if name is None else root["$defs"][name]


def _moved(node: Schema) -> Schema:
    """References to the old root now lead one level down."""
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith("#") and not reference.startswith(_LOCAL):
        return {**node, "$ref": f"#/properties/result{reference[1:]}"}
    return node


def without_bad_defaults(schema: Schema, accepts: Callable[[Schema, Json], bool]) -> Schema:
    """Mend or drop each `default` that its own schema refuses, such as the null of `name: str = None`."""
    definitions = schema.get("$defs", {})

    def fits(node: Schema, value: Json) -> bool:
        return accepts({**node, "$defs": definitions}, value)

    def check(node: Schema) -> Schema:
        if "default" not in node:
            return node
        rest, default = _without(node, "default"), node["default"]
        if (default is None and _NULL in node.get("anyOf", ())) or fits(rest, default):
            return node
        default = _without_nulls(default, rest, {"$defs": definitions}, fits)
        return {**node, "default": default} if fits(rest, default) else rest

    checked: Schema = _map(schema, check)
    return checked


def _without_nulls(value: Json, node: Schema, root: Schema, fits: Callable[[Schema, Json], bool]) -> Json:
    """A value without the nulls that are no longer offered, since leaving the member out says the same."""
    node = _followed(node, root)
    for branch in node.get("anyOf") or node.get("oneOf") or ():
        made = _without_nulls(value, branch, root, fits)
        if fits(branch, made):
            return made
    if isinstance(value, list):
        places = [*node.get("prefixItems", ()), *[node.get("items")] * len(value)]
        return [
            _without_nulls(item, place, root, fits) if isinstance(place, dict) else item
            for item, place in zip(value, places, strict=False)
        ]
    if not isinstance(value, dict):
        return value
    others = node.get("additionalProperties")
    members = {
        **dict.fromkeys(value, others if isinstance(others, dict) else {}),
        **node.get("properties", {}),
    }
    return {
        name: _without_nulls(item, members[name], root, fits)
        for name, item in value.items()
        if item is not None
        or name in node.get("required", ())
        or "default" in members[name]
        or fits(members[name], None)
    }


# --- walking -------------------------------------------------------------------------------------


def subschemas(node: Schema) -> Iterator[Schema]:
    """The schema itself and every schema inside it."""
    yield node
    for key, value in node.items():
        place = _PLACES.get(key)
        if place is None:
            continue
        children = (value,) if place == "single" else value.values() if isinstance(value, dict) else value
        for child in children:
            if isinstance(child, dict):
                yield from subschemas(child)


def _map(node: Json, change: Callable[[Schema], Schema]) -> Any:
    """A copy of a schema with *change* made to every schema in it, the innermost first."""
    if not isinstance(node, dict):
        return node
    made = dict(node)
    for key, value in node.items():
        place = _PLACES.get(key)
        if place == "table" and isinstance(value, dict):
            made[key] = {name: _map(child, change) for name, child in value.items()}
        elif place == "list" and isinstance(value, list):
            made[key] = [_map(child, change) for child in value]
        elif place == "single":
            made[key] = _map(value, change)
    return change(made)


# --- compact -------------------------------------------------------------------------------------


def _without_titles(node: Schema) -> Schema:
    """Drop the titles that say no more than the name; `discriminator` is no JSON Schema keyword."""
    made = {key: value for key, value in node.items() if key != "discriminator"}
    for table in ("properties", "$defs"):
        if table in made:
            made[table] = {name: _untitled(name, child) for name, child in made[table].items()}
    if "prefixItems" in made:  # the names of a NamedTuple's fields, which do not travel
        made["prefixItems"] = [_without(child, "title") for child in made["prefixItems"]]
    if "const" in made and "enum" not in made:
        made["enum"] = [made.pop("const")]
    return made


def _untitled(name: str, node: Json) -> Json:
    if not isinstance(node, dict) or not isinstance(node.get("title"), str):
        return node
    generated = {_plain(name), _plain(name.rpartition("__")[2])}
    return _without(node, "title") if _plain(node["title"]) in generated else node


def _without(node: Json, keyword: str) -> Json:
    return {key: value for key, value in node.items() if key != keyword} if isinstance(node, dict) else node


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _without_null_unions(node: Schema) -> Schema:
    """On properties with a default, `T | None` is published as `T`: leaving out is what a model should do.

    Without one (`NotRequired`, a default factory) nobody could tell what leaving out means; the null stays.
    """
    if "properties" not in node:
        return node
    return {**node, "properties": {name: _without_null(child) for name, child in node["properties"].items()}}


def _without_null(node: Json) -> Json:
    if not isinstance(node, dict) or "default" not in node:
        return node
    branches = node.get("anyOf")
    if not isinstance(branches, list) or {"type": "null"} not in branches:
        return node
    rest = [branch for branch in branches if branch != {"type": "null"}]
    outer = _without(node, "anyOf")
    if outer["default"] is None:
        del outer["default"]
    if len(rest) == 1 and isinstance(rest[0], dict):
        return {**rest[0], **outer}
    return {**outer, "anyOf": rest}


def _without_needless_defaults(node: Schema) -> Schema:
    """What must be given has no default: the tag of a union's branch, which its model could do without."""
    needed = node.get("required", ())
    properties = node.get("properties", {})
    if not any("default" in properties.get(name, {}) for name in needed):
        return node
    trimmed = {
        name: _without(child, "default") if name in needed else child for name, child in properties.items()
    }
    return {**node, "properties": trimmed}


def _ordered(node: Schema) -> Schema:
    first: Schema = {key: node[key] for key in _ORDER if key in node}
    last = {"$defs": node["$defs"]} if node.get("$defs") else {}
    return {
        **first,
        **{key: value for key, value in node.items() if key not in first and key != "$defs"},
        **last,
    }


# --- definitions ---------------------------------------------------------------------------------


def _target(node: Schema) -> str | None:
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith(_LOCAL):
        return reference.removeprefix(_LOCAL)
    return None


def _with_root(schema: Schema) -> Schema:
    """A root that is only a reference becomes what it refers to: clients want a type there."""
    name = _target(schema)
    if name is None:
        return schema
    return {**schema["$defs"][name], **_without(schema, "$ref")}


def _inlined(schema: Schema, everything: bool) -> Schema:
    definitions: dict[str, Schema] = schema.get("$defs", {})
    if not definitions:
        return schema
    root = _without(schema, "$defs")
    references = {name: _references(node) for name, node in definitions.items()}
    uses = sum(references.values(), _references(root))
    recursive = {name for name in definitions if _reaches(name, name, references)}
    once = {name for name in definitions if name not in recursive and uses[name] == 1}
    inline = {
        name
        for name, node in definitions.items()
        if name not in recursive and (everything or uses[name] == 1 or "properties" not in node)
    }
    if not _stays_small(schema, references, inline):
        inline = once

    @cache
    def definition(name: str) -> Schema:
        made: Schema = _map(definitions[name], expand)
        return made

    def expand(node: Schema) -> Schema:
        name = _target(node)
        if name not in inline:
            return node
        made = {**definition(name), **_without(node, "$ref")}
        if "required" in node:
            made["required"] = list(
                dict.fromkeys([*definitions[name].get("required", ()), *node["required"]])
            )
        return made

    made: Schema = _map(root, expand)
    kept = {name: _map(node, expand) for name, node in definitions.items() if name not in inline}
    used = _reachable(made, kept)
    return {**made, "$defs": {name: kept[name] for name in kept if name in used}}


_MOST_BYTES: Final = 64 * 1024
_MOST_SUBSCHEMAS: Final = 1_000
"""What a schema may grow to where definitions are put in the places that refer to them."""


def _references(schema: Schema) -> Counter[str]:
    """How often each definition is referred to in a schema."""
    return Counter(name for node in subschemas(schema) if (name := _target(node)) is not None)


def _stays_small(schema: Schema, references: dict[str, Counter[str]], inline: set[str]) -> bool:
    """Whether a schema stays within bounds, or as small as it is, with these definitions inlined."""
    return all(
        _grown(schema, references, inline, size) <= max(most, size(schema))
        for size, most in ((_count, _MOST_SUBSCHEMAS), (_length, _MOST_BYTES))
    )


def _grown(
    schema: Schema, references: dict[str, Counter[str]], inline: set[str], size: Callable[[Schema], int]
) -> int:
    """The size of a schema with these definitions inlined, without doing it."""

    def total(node: Schema, found: Counter[str]) -> int:
        return size(node) + sum(uses * of(name) for name, uses in found.items() if name in inline)

    @cache
    def of(name: str) -> int:
        return total(schema["$defs"][name], references[name])

    root = _without(schema, "$defs")
    return total(root, _references(root)) + sum(of(name) for name in references if name not in inline)


def _count(node: Schema) -> int:
    return sum(1 for _ in subschemas(node))


def _length(node: Schema) -> int:
    return len(msgspec.json.encode(node))


def _reaches(start: str, goal: str, references: dict[str, Counter[str]]) -> bool:
    """Whether following references from *start* leads to *goal*."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        for name in references.get(pending.pop(), ()):
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                pending.append(name)
    return False


def _reachable(root: Schema, definitions: dict[str, Schema]) -> set[str]:
    found: set[str] = set()
    pending: list[Schema] = [root]
    while pending:
        for node in subschemas(pending.pop()):
            name = _target(node)
            if name is not None and name not in found and name in definitions:
                found.add(name)
                pending.append(definitions[name])
    return found
