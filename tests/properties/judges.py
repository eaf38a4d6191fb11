"""The independent judge: python-jsonschema, with the words of the standards where it leaves them open.

The law of the file: nothing of typegate is known here.
"""

import base64
import binascii
import datetime as dt
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

__all__ = ["errors", "is_admitted", "is_certain", "problems_of_schema", "subschemas"]

Json = Any


# --- formats, as RFC 3339, RFC 4122 and RFC 4648 write them

_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
_SHAPES = {
    "time": re.compile(_TIME, re.ASCII),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]" + _TIME, re.ASCII),
    "duration": re.compile(
        r"P(\d{1,3}W|(?=[\dT])(\d{1,2}Y(\d{1,2}M(\d{1,2}D)?)?|\d{1,2}M(\d{1,2}D)?|\d{1,2}D)?"
        r"(T(\d{1,3}H(\d{1,3}M(\d{1,3}S)?)?|\d{1,3}M(\d{1,3}S)?|\d{1,3}S))?)",
        re.ASCII,
    ),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII),
}


def _is_date(text: str) -> bool:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) is None:
        return False
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _checker(*names: str) -> FormatChecker:
    made = FormatChecker(formats=())
    for name in names:
        made.checks(name)(lambda value, name=name: not isinstance(value, str) or _has_format(name, value))
    return made


def _has_format(name: str, text: str) -> bool:
    if name == "date":
        return _is_date(text)
    shaped = _SHAPES[name].fullmatch(text) is not None
    return shaped and (name != "date-time" or _is_date(text[:10]))


# --- keywords that python-jsonschema takes too lightly, or not at all


def _pattern(validator: Any, pattern: str, instance: Json, schema: Json) -> Iterator[ValidationError]:
    """As ECMA-262 has it: `$` is the end of the text, and a digit is an ASCII digit."""
    if isinstance(instance, str) and re.search(pattern.replace("$", r"\Z"), instance, re.ASCII) is None:
        yield ValidationError("pattern")


def _multiple_of(validator: Any, step: float, instance: Json, schema: Json) -> Iterator[ValidationError]:
    """In decimal, as it is written; beyond 2**53 a float says no longer what was meant."""
    if validator.is_type(instance, "number") and Fraction(str(instance)) % Fraction(str(step)):
        yield ValidationError("multipleOf")


def _base64(validator: Any, encoding: str, instance: Json, schema: Json) -> Iterator[ValidationError]:
    try:
        if isinstance(instance, str):
            base64.b64decode(instance, validate=True)
    except (binascii.Error, ValueError):
        yield ValidationError("contentEncoding")


def _type(validator: Any, kind: str, instance: Json, schema: Json) -> Iterator[ValidationError]:
    """An integer written as a float, beyond what a float counts exactly, is left in the open."""
    huge = isinstance(instance, float) and kind == "integer" and abs(instance) > 2**53
    if huge or not validator.is_type(instance, kind):
        yield ValidationError("type")


Judge: Any = validators.extend(Draft202012Validator, {"pattern": _pattern, "multipleOf": _multiple_of})
Strict: Any = validators.extend(Judge, {"contentEncoding": _base64, "type": _type})
REQUIRED_FORMATS = _checker("date", "uuid")
ALL_FORMATS = _checker("date", "uuid", "date-time", "time", "duration")


def errors(schema: Json, instance: Json) -> list[ValidationError]:
    """What is wrong with an instance, by what every validator must see."""
    return list(Judge(schema, format_checker=REQUIRED_FORMATS).iter_errors(instance))


def is_admitted(schema: Json, instance: Json) -> bool:
    """Whether nothing is wrong with it that every validator must see."""
    return bool(Judge(schema, format_checker=REQUIRED_FORMATS).is_valid(instance))


def is_certain(schema: Json, instance: Json) -> bool:
    """Whether an instance is valid by the strictest reading of every keyword."""
    return bool(Strict(schema, format_checker=ALL_FORMATS).is_valid(instance))


# --- schemas


def subschemas(node: Json) -> Iterator[dict[str, Json]]:
    """The schema and every schema inside it."""
    if not isinstance(node, dict):
        return
    yield node
    for key in ("properties", "patternProperties", "$defs", "dependentSchemas"):
        for child in node.get(key, {}).values():
            yield from subschemas(child)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for child in node.get(key, ()):
            yield from subschemas(child)
    for key in ("items", "additionalProperties", "propertyNames", "not", "contains"):
        yield from subschemas(node.get(key))


def resolved(root: Json, node: Json) -> Json:
    """The schema with the references at its surface followed inside *root*; a KeyError if one is lost."""
    while isinstance(node, dict) and "$ref" in node:
        reference = node["$ref"]
        assert reference.startswith("#")
        target = root
        for step in reference[1:].split("/")[1:]:
            target = target[step.replace("~1", "/").replace("~0", "~")]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if "required" in beside:  # which adds to what the target requires
            beside["required"] = list(dict.fromkeys([*target.get("required", ()), *beside["required"]]))
        node = {**target, **beside}
    return node


def problems_of_schema(root: Json) -> list[str]:
    """Everything that makes a published schema one that clients cannot use."""
    Draft202012Validator.check_schema(root)
    found = []
    for node in subschemas(root):
        try:
            whole = resolved(root, node)
        except (KeyError, TypeError, IndexError):
            found.append(f"lost reference {node['$ref']}")
            continue
        found += [f"required but no property: {name}" for name in _strangers(whole)]
        if "default" in node and not is_admitted(_rooted(root, node), node["default"]):
            found.append(f"default {node['default']!r} is refused by its own schema")
        if "propertyNames" in whole and not _takes_strings(root, whole["propertyNames"]):
            found.append(f"no key can satisfy {whole['propertyNames']}")
        if isinstance(node.get("multipleOf"), float) and not math.isfinite(node["multipleOf"]):
            found.append("a bound that is no number")
    return found


def _strangers(node: Json) -> list[str]:
    return [name for name in node.get("required", ()) if name not in node.get("properties", {})]


def _rooted(root: Json, node: Json) -> Json:
    return {**{key: value for key, value in node.items() if key != "default"}, "$defs": root.get("$defs", {})}


def _takes_strings(root: Json, node: Json) -> bool:
    node = resolved(root, node)
    options = node.get("enum", [node["const"]] if "const" in node else [""])
    branches = node.get("anyOf", ())
    if branches:
        return any(_takes_strings(root, branch) for branch in branches)
    return node.get("type", "string") == "string" and any(isinstance(option, str) for option in options)
