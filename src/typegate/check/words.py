"""Names and schemas taken apart: what the families of rules share.

The law of the file: pure functions on strings and on JSON Schema as data.
"""

import re
from typing import Final

from typegate.types import Json

__all__ = ["is_text", "plain", "takes_anything", "words"]

_SAYS_NOTHING: Final = frozenset({"description", "title", "default", "examples", "deprecated"})


def plain(name: str) -> str:
    """A name in snake case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").replace(".", "_").lower()


def words(text: str) -> list[str]:
    """The words of a sentence or a name, in small letters."""
    return re.findall(r"[^\W_]+", plain(text))


def is_text(node: dict[str, Json]) -> bool:
    """Whether a schema takes any text at all."""
    return node.get("type") == "string" and not node.keys() & {"enum", "const", "pattern", "format"}


def takes_anything(
    node: Json, path: str, root: dict[str, Json], seen: frozenset[str] = frozenset()
) -> str | None:
    """The first path at which a schema says nothing of what it takes, or `None`."""
    if not isinstance(node, dict):
        return path if node is True else None
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        inside = root.get("$defs", {}).get(name)
        return None if inside is None or name in seen else takes_anything(inside, path, root, seen | {name})
    if not node.keys() - _SAYS_NOTHING:
        return path
    if node.get("type") == "object" and "properties" not in node:
        values = node.get("additionalProperties", "patternProperties" not in node)
        return path if values in (True, {}) else takes_anything(values, f"{path}.*", root, seen)
    parts = [(item, path) for key in ("anyOf", "oneOf") for item in node.get(key, ())]
    parts += [(node["items"], f"{path}[]")] if "items" in node else []
    parts += [(item, f"{path}.{name}") for name, item in node.get("properties", {}).items()]
    return next((found for part, at in parts if (found := takes_anything(part, at, root, seen))), None)
