"""JSON Schema → a value: the smallest that it accepts, or the one most like a value that it does not.

The law of the file: everything is mechanical and nothing is judged. A value that cannot be turned into what
a schema wants is replaced by what the schema offers (examples, default, first choice), or by the smallest
value of its kind.
"""

import base64
import binascii
import datetime
import difflib
import ipaddress
import json
import math
import re
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

__all__ = [
    "Node",
    "child",
    "conformed",
    "decoded",
    "instance",
    "nearest",
    "options_of",
    "overlaid",
    "resolved",
    "shape",
    "type_of",
]

Node = dict[str, Any]
"""A JSON Schema, or as much of one as is known."""

_NARROWER: Final = (
    *("enum", "const", "examples", "pattern", "format", "contentEncoding", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
)
"""The keywords of which a refusal knows best."""


def overlaid(node: Node, words: Node) -> Node:
    """A schema with what a refusal says of the same place: it may narrow, but the schema knows the shape."""
    return {**node, **{key: words[key] for key in _NARROWER if key in words}} if node else words


def resolved(node: Node, root: Node) -> Node:
    """A schema with its reference followed, and `T | null` read as T."""
    while "$ref" in node:
        found: Any = root
        for step in node["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        node = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
    branches = [each for each in _branches(node) if each.get("type") != "null"]
    if len(branches) == 1:
        beside = {key: node[key] for key in (*_NARROWER, "default") if node.get(key) is not None}
        return resolved({**branches[0], **beside}, root)
    return node


def _branches(node: Node) -> list[Node]:
    return [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]


def child(node: Node, step: str | int, value: Any, root: Node) -> Node:
    """The schema of a member or an item; *value* is what holds it, and chooses the branch of a union."""
    node = shape(node, value, root)
    if isinstance(step, int):
        first = node.get("prefixItems", ())
        found = first[step] if step < len(first) else node.get("items")
    else:
        found = node.get("properties", {}).get(step, node.get("additionalProperties"))
    return resolved(found, root) if isinstance(found, dict) else {}


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def shape(node: Node, value: Any, root: Node) -> Node:
    """The schema without references and unions: of a union the branch that *value* is closest to."""
    node = resolved(node, root)
    branches = [resolved(each, root) for each in _branches(node)]
    branches = [each for each in branches if each.get("type") != "null"]
    if not branches:
        return node
    return max(branches, key=lambda branch: _likeness(branch, value))


def _likeness(branch: Node, value: Any) -> int:
    kinds = branch.get("type", "object" if "properties" in branch else [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    score = 10 * (type_of(value) in kinds or (type_of(value) == "integer" and "number" in kinds))
    if not isinstance(value, dict):
        return score
    for name, member in branch.get("properties", {}).items():
        options = options_of(member)
        score += name in value
        score += 100 * (len(options) == 1 and value.get(name) in options)
    return score


def options_of(node: Node) -> list[Any]:
    """The choices that a schema leaves; none where it names none."""
    return list(node.get("enum", [node["const"]] if "const" in node else []))


# --- the smallest value ----------------------------------------------------------------------------

_FORMATS: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "date": ("2026-01-01", datetime.date.fromisoformat),
    "date-time": ("2026-01-01T00:00:00Z", lambda text: "T" in text and datetime.datetime.fromisoformat(text)),
    "time": ("00:00:00", datetime.time.fromisoformat),
    "duration": ("PT1M", re.compile(r"-?P[\dYMWDTHS.]+").fullmatch),
    "uuid": ("00000000-0000-4000-8000-000000000000", uuid.UUID),
    "email": ("name@example.com", re.compile(r"[^@\s]+@[^@\s]+\.[a-z]+").fullmatch),
    "uri": ("https://example.com/", re.compile(r"[a-z][a-z\d+.-]*:\S+").fullmatch),
    "ipv4": ("192.0.2.1", ipaddress.IPv4Address),
    "ipv6": ("2001:db8::1", ipaddress.IPv6Address),
}
"""Format → an example, and what finds nothing in a text of another form, or fails on it."""


def instance(node: Node, root: Node) -> Any:
    """What a schema offers, or else the smallest value that it accepts."""
    node = resolved(node, root)
    options, default = options_of(node), node.get("default")
    usual = [default] if not options or default in options else []
    found = next(
        (value for value in (*node.get("examples", ()), *usual, *options) if value is not None), None
    )
    if found is not None:
        return found
    if _branches(node):
        return instance(next(each for each in _branches(node) if each.get("type") != "null"), root)
    return _SMALLEST.get(_kind(node), lambda node, root: "x")(node, root)


def _kind(node: Node) -> str:
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), None)
    return kind or next((name for keyword, name in _IMPLIED.items() if keyword in node), "any")


_IMPLIED: Final = {
    "properties": "object",
    "required": "object",
    "items": "array",
    "minItems": "array",
    "maxItems": "array",
    "pattern": "string",
    "format": "string",
    "contentEncoding": "string",
    "minLength": "string",
    "maxLength": "string",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
}
"""Keyword → the type of what it is about, where nothing says the type."""


def _smallest_string(node: Node, root: Node) -> str:
    if node.get("format") in _FORMATS:
        return _FORMATS[node["format"]][0]
    if node.get("contentEncoding") == "base64":
        return "eA=="
    made = _matching(parser.parse(node["pattern"])) if "pattern" in node else ""
    return made or "x" * max(1, node.get("minLength", 1))


def _smallest_object(node: Node, root: Node) -> Node:
    members = node.get("properties", {})
    return {name: instance(members.get(name, {}), root) for name in node.get("required", ())}


def _smallest_array(node: Node, root: Node) -> list[Any]:
    first = node.get("prefixItems", [])
    return _filled([instance(each, root) for each in first], node, root)


_SMALLEST: Final[dict[str, Callable[[Node, Node], Any]]] = {
    "string": _smallest_string,
    "integer": lambda node, root: _within(1, node, whole=True),
    "number": lambda node, root: _within(1, node, whole=False),
    "boolean": lambda node, root: False,
    "array": _smallest_array,
    "object": _smallest_object,
    "null": lambda node, root: None,
}


def _matching(pattern: Iterable[tuple[Any, Any]]) -> str:
    """The simplest text that a regular expression matches."""
    return "".join(_piece(code, fact) for code, fact in pattern)


def _piece(code: Any, fact: Any) -> str:
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        low, _, inner = fact
        return _matching(inner) * low
    if code is codes.SUBPATTERN:
        return _matching(fact[-1])
    if code is codes.BRANCH:
        return _matching(fact[1][0])
    if code is codes.IN:
        return _member(fact)
    return chr(fact) if code is codes.LITERAL else "x" if code is codes.ANY else ""


def _member(parts: list[tuple[Any, Any]]) -> str:
    kind, fact = parts[0]
    if kind is codes.NEGATE:
        return next(each for each in "xyz019 -" if re.match(_class(parts), each))
    if kind is codes.RANGE:
        return chr(fact[0])
    return chr(fact) if kind is codes.LITERAL else "0" if fact is codes.CATEGORY_DIGIT else "x"


def _class(parts: list[tuple[Any, Any]]) -> str:
    inside = [re.escape(chr(fact)) for kind, fact in parts if kind is codes.LITERAL]
    return f"[^{''.join(inside)}]"


# --- the most similar value ------------------------------------------------------------------------


def nearest(value: Any, options: Iterable[Any]) -> Any:
    """The option that a value stands for, by its letters; `None` where none is like it."""
    by_letters = {_letters(option): option for option in options if option is not None}
    found = difflib.get_close_matches(_letters(value), by_letters, n=1)
    return by_letters[found[0]] if found else None


def _letters(value: Any) -> str:
    return re.sub(r"[\W_]", "", str(value)).casefold()


def conformed(value: Any, node: Node, root: Node) -> Any:
    """The value that a schema accepts and that is most like *value*."""
    node = resolved(node, root)
    options = options_of(node)
    if options or _kind(node) not in ("array", "object", "any"):
        value = _bare(value)
    if options:
        same = [each for each in options if each == value and type_of(each) == type_of(value)]
        found = same[0] if same else nearest(value, options)
        return found if found is not None else instance(node, root)
    node = shape(node, value, root)
    into = _INTO.get(_kind(node))
    if into is None:
        return value
    made = into(value, node, root)
    return instance(node, root) if made is None else made


def _bare(value: Any) -> Any:
    """A scalar without what was put around it: a list of one, or quotes inside the text."""
    if isinstance(value, list) and len(value) == 1:
        return _bare(value[0])
    with suppress(ValueError):
        inner = json.loads(value) if isinstance(value, str) and value[:1] == '"' else value
        return inner if isinstance(inner, str) else value
    return value


def _into_number(value: Any, node: Node, root: Node) -> Any:
    if isinstance(value, str):
        try:
            value = float(value.strip().replace(",", "."))
        except ValueError:
            return None
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return _within(value, node, whole=_kind(node) == "integer")


def _within(value: float, node: Node, whole: bool) -> int | float:
    """A number brought between its bounds, onto a multiple."""
    step = node.get("multipleOf", 1 if whole else 0.001)
    low, high = node.get("minimum", -math.inf), node.get("maximum", math.inf)
    if "exclusiveMinimum" in node:
        low = max(low, node["exclusiveMinimum"] + step)
    if "exclusiveMaximum" in node:
        high = min(high, node["exclusiveMaximum"] - step)
    value = min(max(value, low), high)
    if "multipleOf" in node:
        value = step * (math.ceil(value / step) if step * round(value / step) < low else round(value / step))
        value = value - step if value > high else value
    return int(value) if whole or float(value).is_integer() else round(value, 6)


_WORDS: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def _into_boolean(value: Any, node: Node, root: Node) -> Any:
    return _WORDS.get(str(value).strip().casefold())


def _into_string(value: Any, node: Node, root: Node) -> Any:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    if len(text) > node.get("maxLength", math.inf):
        text = text[: node["maxLength"]]
    text = text.ljust(node.get("minLength", 0), "x")
    forms = (text, text.strip(), text.strip().upper(), text.strip().lower())
    return next((form for form in forms if _reads(form, node)), None)


def _reads(text: str, node: Node) -> bool:
    """Whether a text is in the form that its schema names."""
    if "pattern" in node and re.search(node["pattern"], text) is None:
        return False
    try:
        if node.get("contentEncoding") == "base64":
            base64.b64decode(text, validate=True)
        return node.get("format") not in _FORMATS or bool(_FORMATS[node["format"]][1](text))
    except (ValueError, binascii.Error):
        return False


def decoded(value: Any, kind: type) -> Any:
    """The container that a text is, written as JSON or as Python."""
    with suppress(ValueError):
        found = json.loads(value) if isinstance(value, str) else value
        return found if isinstance(found, kind) else None
    return None


def _into_array(value: Any, node: Node, root: Node) -> Any:
    found = decoded(value, list)
    if found is None:
        if value is None or (isinstance(value, str) and value[:1] in "[{"):
            return None
        found = [value]
    first = node.get("prefixItems", [])
    items = [first[index] if index < len(first) else node.get("items", {}) for index in range(len(found))]
    made = [conformed(each, item, root) for each, item in zip(found, items, strict=True)]
    if node.get("uniqueItems"):
        made = [each for index, each in enumerate(made) if each not in made[:index]]
    return _filled(made[: node.get("maxItems")], node, root)


def _filled(items: list[Any], node: Node, root: Node) -> list[Any]:
    first = node.get("prefixItems", [])
    while len(items) < node.get("minItems", len(first)):
        item = first[len(items)] if len(items) < len(first) else node.get("items", {})
        items.append(instance(item, root))
    return items


def _into_object(value: Any, node: Node, root: Node) -> Any:
    found = decoded(value, dict)
    if found is None:
        return None
    members, others = node.get("properties", {}), node.get("additionalProperties")
    made: Node = {}
    for given, each in found.items():
        name = (
            given
            if given in members or others is not False
            else nearest(given, members.keys() - found.keys())
        )
        if name is not None:
            known = members.get(name, others if isinstance(others, dict) else {})
            made[name] = conformed(each, known, root)
    wanted = [name for name in node.get("required", ()) if name not in made]
    return made | {name: instance(members.get(name, {}), root) for name in wanted}


_INTO: Final[dict[str, Callable[[Any, Node, Node], Any]]] = {
    "string": _into_string,
    "integer": _into_number,
    "number": _into_number,
    "boolean": _into_boolean,
    "array": _into_array,
    "object": _into_object,
}
"""JSON type → what turns a value into it; `None` where that cannot be done."""
