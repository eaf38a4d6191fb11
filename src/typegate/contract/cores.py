"""pydantic's core schemas as data: what kinds of nodes are in one, how it is changed, how it is compiled.

The law of the file: a core schema belongs to its author's classes, so every change is made to a copy.
"""

import threading
from collections.abc import Callable
from typing import Any, Final

from pydantic_core import CoreConfig, CoreSchema, SchemaSerializer, SchemaValidator

__all__ = ["OWN_CONFIG", "Change", "Node", "changed", "kinds", "nodes", "serializer", "validator"]

Node = dict[str, Any]

OWN_CONFIG: Final = frozenset({"model", "dataclass", "typed-dict"})
"""The kinds of nodes that carry a configuration, which holds for all that is in them."""

_NOT_SCHEMAS: Final = frozenset({"metadata", "serialization", "config", "default", "expected", "members"})

_CONFIG: Final[CoreConfig] = {
    "val_json_bytes": "base64",
    "ser_json_inf_nan": "constants",
    "allow_inf_nan": False,
}
"""What holds wherever an author has not said otherwise: JSON carries neither NaN nor an infinity."""


def nodes(core: Any) -> "list[Node]":
    """Every node of a core schema."""
    found: list[Node] = []
    pending = [core]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if isinstance(node.get("type"), str):
                found.append(node)
            pending += [item for key, item in node.items() if _leads_on(node, key)]
        elif isinstance(node, list | tuple):
            pending += node
    return found


def kinds(core: Any, marks: Callable[[Node], str | None]) -> set[str]:
    """The kinds of nodes in a core schema, and what *marks* calls one besides.

    A serializer of an author's counts as a kind, and so do a post-init and a configuration of its own.
    """
    found: set[str] = set()
    for node in nodes(core):
        found.add(node["type"])
        found.update(mark for mark in ("serialization", "post_init") if node.get(mark))
        if _has_own_config(node):
            found.add("own-config")
        mark = marks(node)
        if mark is not None:
            found.add(mark)
    return found


def _has_own_config(node: Node) -> bool:
    """Whether a node is ruled by another configuration than ours; definitions are by none."""
    if node["type"] not in OWN_CONFIG:
        return bool(node["type"] == "definitions")
    return not _CONFIG.items() <= (node.get("config") or {}).items()


def _leads_on(node: Node, key: str) -> bool:
    """Whether a member holds schemas: in a table of fields, every one does, whatever its name."""
    return key not in _NOT_SCHEMAS or not isinstance(node.get("type"), str)


Change = Callable[[Node, Node, bool], object]
"""Takes a node of the copy, the same as it was, and whether it may lie in a union; gives what replaces it."""


def changed(core: Any, change: Change, inside: bool = False) -> Any:
    """A copy of a core schema with *change* made to every node, the innermost first.

    Args:
        core: the schema, or a part of one.
        change: what is made of each node.
        inside: whether this part may lie in a union; what is only referred to always may, keys never.
    """
    if isinstance(core, list):
        return [changed(item, change, inside) for item in core]
    if isinstance(core, tuple):
        return tuple(changed(item, change, inside) for item in core)
    if not isinstance(core, dict):
        return core
    kind = core.get("type")
    made = {
        key: changed(item, change, _lies_inside(kind, key, inside)) if _leads_on(core, key) else item
        for key, item in core.items()
    }
    if not isinstance(kind, str):
        return made
    wrapped = made.get("serialization")
    if isinstance(wrapped, dict) and "schema" in wrapped:  # of a Sequence, in older versions
        made["serialization"] = {**wrapped, "schema": changed(wrapped["schema"], change, inside)}
    if kind in OWN_CONFIG:
        made["config"] = {**_CONFIG, **(made.get("config") or {}), **_OURS}
    return change(made, core, inside)


def _lies_inside(kind: object, key: str, inside: bool) -> bool:
    """Whether a member of a node may lie in a union."""
    if kind == "definitions":
        return inside or key == "definitions"
    return (inside or kind == "union") and (kind, key) != ("dict", "keys_schema")


_OURS: Final[CoreConfig] = {"val_json_bytes": "base64", "ser_json_inf_nan": "constants"}


# --- compiling -----------------------------------------------------------------------------------

_BUILDING = threading.Lock()


def validator(core: CoreSchema) -> SchemaValidator:
    """What reads by a changed schema."""
    made: SchemaValidator = _compiled(SchemaValidator, core)
    return made


def serializer(core: CoreSchema) -> SchemaSerializer:
    """What writes by a changed schema."""
    made: SchemaSerializer = _compiled(SchemaSerializer, core)
    return made


def _compiled(kind: Any, core: CoreSchema) -> Any:
    """Compile a changed schema, without the compiled parts that its classes already have."""
    if "_use_prebuilt" in (SchemaValidator.__text_signature__ or ""):
        return kind(core, _CONFIG, _use_prebuilt=False)
    with _BUILDING:  # pydantic 2.12: a class that is not complete has no compiled parts to offer
        classes = [cls for cls in _classes(core) if cls.__dict__.get("__pydantic_complete__")]
        for cls in classes:
            cls.__pydantic_complete__ = False
        try:
            return kind(core, _CONFIG)
        finally:
            for cls in classes:
                cls.__pydantic_complete__ = True


def _classes(core: CoreSchema) -> set[Any]:
    return {node["cls"] for node in nodes(core) if node["type"] in ("model", "dataclass")}
