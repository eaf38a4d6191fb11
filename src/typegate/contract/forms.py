"""The JSON form of what pydantic has none for: members of enums, keys, encoded bytes, late fields.

The law of the file: what is published, what is read and what is written is one form, found here.
"""

import dataclasses
import enum
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import pydantic
from pydantic_core import CoreSchema, core_schema

from typegate.contract.cores import Node, changed, nodes
from typegate.types import Json

__all__ = [
    "Write",
    "as_key",
    "by_form",
    "completed",
    "defaults_to_null",
    "encoder",
    "form_of",
    "has_odd_values",
    "is_odd",
    "key_options",
    "options_of",
    "with_late_fields",
]

Table = Mapping[str, Any]
Write = Callable[[Any], Json]
"""An instance → the JSON value that stands for it."""


# --- members of enums, literals, keys ------------------------------------------------------------

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def options_of(node: Table) -> list[object]:
    """The members of an enum, or the values of a `Literal`."""
    kind = node.get("type")
    return list(node["members"] if kind == "enum" else node["expected"] if kind == "literal" else ())


def _value_of(option: object) -> object:
    return option.value if isinstance(option, enum.Enum) else option


def has_odd_values(node: Table) -> bool:
    """Whether an option is nothing that JSON has a word for, such as a date."""
    return any(type(_value_of(option)) not in _PLAIN for option in options_of(node))


def is_odd(node: Table) -> bool:
    """Whether pydantic does not read every option from its own form."""
    in_literal = node.get("type") == "literal" and any(isinstance(o, enum.Enum) for o in node["expected"])
    return in_literal or has_odd_values(node)


def form_of(option: object, write: Write) -> Json:
    """An option as it travels."""
    return write(_value_of(option))


def by_form(node: Table, write: Write) -> Callable[[Json], object]:
    """What takes the JSON form of an option to the option, and leaves everything else."""
    options = options_of(node)[::-1]
    table = {_canonical(as_key(option, write)): option for option in options}  # where it is a key
    table |= {_canonical(form_of(option, write)): option for option in options}
    return lambda value: table.get(_canonical(value), value)


def _canonical(value: Json) -> bytes:
    """What is the same for all that JSON Schema calls equal: 1 and 1.0 are one number."""
    try:
        return msgspec.json.encode(_whole(value))
    except (TypeError, ValueError):
        return b""


def _whole(value: Json) -> Json:
    if isinstance(value, list):
        return list(map(_whole, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_key(value: object, write: Write) -> str:
    """A value, or the value of an enum's member, as JSON writes it for a key."""
    value = _value_of(value)
    form = value if type(value) in _PLAIN else write(value)
    return form if isinstance(form, str) else msgspec.json.encode(form).decode()


def key_options(table: Table, write: Write) -> dict[str, object]:
    """Text → option, where the keys of a table are options that are not all text themselves."""
    by_text = {as_key(option, write): option for option in options_of(table.get("keys_schema") or {})}
    return by_text if any(_value_of(option) != text for text, option in by_text.items()) else {}


# --- encoded bytes -------------------------------------------------------------------------------


def encoder(node: Table) -> Any:
    """What writes the text of `Base64Bytes` and its like; `None` where a node is none of them."""
    function = node.get("function")
    owner = getattr(function.get("function") if isinstance(function, dict) else function, "__self__", None)
    return owner if isinstance(owner, pydantic.EncodedBytes | pydantic.EncodedStr) else None


# --- what a core schema lacks --------------------------------------------------------------------


def completed(core: CoreSchema) -> CoreSchema:
    """A core schema that admits the null of `name: str = None` in a model, as it does in a signature."""

    def change(node: Node, original: Node, in_union: bool) -> Node:
        if defaults_to_null(node):
            node["schema"] = core_schema.nullable_schema(node["schema"])
        return node

    return changed(core, change)  # type: ignore[no-any-return]


_ADMIT_NULL: Final = frozenset({"nullable", "any", "none", "definition-ref"})


def defaults_to_null(node: Table) -> bool:
    """Whether a default is null although its type has none."""
    if node["type"] != "default" or node.get("default", ...) is not None:
        return False
    inner = node["schema"]
    if inner["type"] in ("union", "tagged-union", "literal", "enum", "json-or-python", "lax-or-strict"):
        return False  # these may well admit it themselves
    return inner["type"] not in _ADMIT_NULL and not inner["type"].startswith("function")


def with_late_fields(core: CoreSchema, write: Callable[[Any], CoreSchema]) -> CoreSchema:
    """A core schema whose dataclasses have the fields that only `__post_init__` sets.

    Args:
        core: as pydantic made it; it leaves out `field(init=False)` without a default.
        write: a type hint → the core schema that writes it.
    """
    late = {node["cls"]: found for node in nodes(core) if (found := _late_fields(node))}
    if not late:
        return core

    def change(node: Node, original: Node, in_union: bool) -> Node:
        arguments = node["schema"] if node["type"] == "dataclass" else {}
        if node.get("cls") not in late or arguments.get("type") != "dataclass-args":
            return node
        hints = typing.get_type_hints(node["cls"], include_extras=True)
        more = [
            core_schema.dataclass_field(name, write(hints[name]), init=False) for name in late[node["cls"]]
        ]
        node["schema"] = {**arguments, "fields": [*arguments["fields"], *more]}
        node["fields"] = [*node["fields"], *late[node["cls"]]]
        return node

    return changed(core, change)  # type: ignore[no-any-return]


def _late_fields(node: Node) -> list[str]:
    if node["type"] != "dataclass" or not dataclasses.is_dataclass(node["cls"]):
        return []
    known = {field["name"] for field in node["schema"].get("fields", ()) if isinstance(field, dict)}
    return [each.name for each in dataclasses.fields(node["cls"]) if not each.init and each.name not in known]
