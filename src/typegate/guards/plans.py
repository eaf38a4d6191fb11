"""What redaction knows of one tool: what is special, and which fields are marked as secret.

The law of the file: marks are read off a JSON Schema, never off a type hint. `Secret()` puts `writeOnly`
there, as pydantic's `SecretStr` does, and what an author writes by hand counts the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from typegate.types import Json

__all__ = ["Marks", "Path", "Secret", "marks_at", "marks_of", "wrapped"]

Path = tuple[str | int, ...]

_LIMITS: Final = ("pattern", "format", "enum", "const", "minLength", "maxLength", "contentEncoding")
"""What a placeholder would break."""


class Secret:
    """Marks a field whose value never leaves: `token: Annotated[str, Secret()]`.

    The published schema says `writeOnly` there, and what a placeholder would break (`pattern`, `format`, …)
    is left out of it.
    """

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Json]:
        """The schema of the field, marked."""
        schema = {key: item for key, item in handler(core_schema).items() if key not in _LIMITS}
        return {**schema, "writeOnly": True}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret)

    def __hash__(self) -> int:
        return hash(Secret)

    def __repr__(self) -> str:
        return "Secret()"


Known = dict[frozenset[int], "Marks"]
"""The places of one schema, by the subschemas that meet there."""

Inner = dict[str | int, "Marks | None"]


class Marks:
    """Which parts of a value are secret: the subschemas that meet at one place of it.

    What is secret in one branch of an `anyOf` is secret in all. A recursive schema has finitely many places,
    each of which is made once.

    Attributes:
        secret: whether all that stands at this place is.
    """

    __slots__ = ("_inner", "_known", "_root", "_schemas", "secret")

    def __init__(self, root: Json, schemas: list[Json], known: "Known", inner: "Inner | None" = None) -> None:
        self._root = root
        self._schemas = schemas
        self._known = known
        self._inner: Inner = inner or {}
        self.secret = any(map(_is_marked, schemas))

    def at(self, step: str | int) -> "Marks | None":
        """The marks one step down."""
        if step not in self._inner:
            found = [inner for schema in self._schemas for inner in _below(schema, step)]
            self._inner[step] = _place(self._root, found, self._known)
        return self._inner[step]

    def values(self, value: Json) -> Iterator[str]:
        """Every string in *value* that is secret by its place."""
        if self.secret:
            yield from _strings(value)
            return
        pairs = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for step, item in pairs:
            if (inner := self.at(step)) is not None:
                yield from inner.values(item)


def marks_of(schema: Json) -> Marks | None:
    """The marks of a JSON Schema: whatever is `writeOnly`, or of the format `password`; `None` for none."""
    return _place(schema, [schema], {}) if _marked_anywhere(schema) else None


def marks_at(paths: Iterable[Path]) -> Marks | None:
    """The marks of *paths*, in which `"*"` stands for every member or item; `None` for none."""
    root: dict[str, Json] = {}
    for path in paths:
        node: Json = root
        for step in path:
            if isinstance(step, str) and step != "*":
                node = node.setdefault("properties", {}).setdefault(step, {})
            else:
                inner = node.setdefault("items", {})
                node = node.setdefault("additionalProperties", inner)
        node["writeOnly"] = True
    return marks_of(root)


def wrapped(marks: Marks) -> Marks:
    """*marks* of a value, for what a handshake client gets: `{"result": value}`."""
    return Marks({}, [], {}, {"result": marks})


def _place(root: Json, schemas: list[Json], known: "Known") -> Marks | None:
    """The place at which *schemas* meet, with all that they refer to."""
    met: dict[int, Json] = {}
    todo = list(schemas)
    while todo:
        schema = todo.pop()
        if isinstance(schema, Mapping) and id(schema) not in met:
            met[id(schema)] = schema
            todo += [_resolved(root, schema.get("$ref")), schema.get("then"), schema.get("else")]
            todo += [inner for keyword in ("anyOf", "oneOf", "allOf") for inner in schema.get(keyword) or ()]
    if not met:
        return None
    key = frozenset(met)
    if key not in known:
        known[key] = Marks(root, list(met.values()), known)
    return known[key]


def _below(schema: Mapping[str, Json], step: str | int) -> Iterator[Json]:
    """The subschemas one step down."""
    if isinstance(step, int):
        yield from (schema.get("prefixItems") or ())[step : step + 1]
        yield schema.get("items")
        return
    named = schema.get("properties") or {}
    if step in named:
        yield named[step]
    else:
        yield schema.get("additionalProperties")
    yield from (schema.get("patternProperties") or {}).values()


def _resolved(root: Json, reference: Json) -> Json:
    """What a reference inside the same document names."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    node: Json = root
    for step in filter(None, reference[1:].split("/")):
        name = step.replace("~1", "/").replace("~0", "~")
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _is_marked(schema: Mapping[str, Json]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _marked_anywhere(schema: Json) -> bool:
    if isinstance(schema, Mapping):
        return _is_marked(schema) or any(map(_marked_anywhere, schema.values()))
    return isinstance(schema, list | tuple) and any(map(_marked_anywhere, schema))


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
