"""A core schema of pydantic → the one that reads a value as the published schema means it.

The law of the file: the schema has admitted the value before it is read here. pydantic is laxer than the
schema, which does no harm where there is one way to read a value; in a union it is asked about those
branches only that the schema admits.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import msgspec
from pydantic import EncodedBytes
from pydantic_core import CoreSchema, core_schema

from typegate.contract.cores import Node, changed
from typegate.contract.forms import Write, by_form, defaults_to_null, encoder, is_odd, key_options
from typegate.contract.validator import Validator
from typegate.types import Json

__all__ = ["EDITED", "OTHER_FORM", "mark", "readable_core"]

EDITED: Final = frozenset({"choices", "encoded", "odd-options", "option-keys"})
"""What `mark` calls the nodes that are not read as pydantic would."""

OTHER_FORM: Final = "other_form"
"""The error of a branch of a union that the schema does not admit: it says nothing to anybody."""

Describe = Callable[[CoreSchema], dict[str, Json]]


def mark(node: Node) -> str | None:
    """The name of the edit that a node needs, if it needs one."""
    kind = node["type"]
    if kind == "default" and defaults_to_null(node):
        return "null-default"
    if kind == "union" and not _are_apart(node):
        return "choices"
    if kind in ("enum", "literal") and is_odd(node):
        return "odd-options"
    if kind == "function-after" and isinstance(encoder(node), EncodedBytes):
        return "encoded"
    return "option-keys" if kind == "dict" and key_options(node, str) else None


def readable_core(core: CoreSchema, describe: Describe, write: Write) -> CoreSchema:
    """A copy of *core* that reads what the schema admits, and reads it as the schema means it.

    Args:
        core: as pydantic made it.
        describe: a part of it → the JSON Schema that is published for it.
        write: an instance → its JSON form.
    """

    def change(node: Node, original: Node, in_union: bool) -> Any:
        edit = mark(original)
        if edit == "choices":
            return _by_schema(node, [_judge(choice, describe) for choice in _choices(original)])
        if edit == "odd-options":
            return _before(by_form(node, write), node)
        if edit == "encoded":
            node["schema"] = core_schema.no_info_after_validator_function(
                str.encode, core_schema.str_schema()
            )
        if edit == "option-keys":
            options = key_options(original, write)
            node["keys_schema"] = _before(lambda key: options.get(key, key), node["keys_schema"])
        return _with_every_integer(node) if node["type"] == "int" and in_union else node

    return changed(core, change)  # type: ignore[no-any-return]


def _before(function: Callable[[Json], object], node: Any) -> CoreSchema:
    """A node that reads what a function makes of the value."""
    inner: Any = {key: item for key, item in node.items() if key != "ref"}
    return core_schema.no_info_before_validator_function(function, inner, ref=node.get("ref"))


# --- unions --------------------------------------------------------------------------------------

_APART: Final = {
    **dict.fromkeys(("int", "bool"), "number"),
    **dict.fromkeys(("dict", "model", "typed-dict"), "object"),
    "str": "string",
    "list": "array",
    "none": "null",
}
"""What pydantic tells apart by itself, at most one of each; true and 1.0 it does not."""


def _choices(union: Node) -> list[CoreSchema]:
    return [choice[0] if isinstance(choice, tuple) else choice for choice in union["choices"]]


def _are_apart(union: Node) -> bool:
    """Whether the type of a JSON value alone says which branch is meant."""
    found = [_APART.get(choice["type"]) for choice in _choices(union)]
    return None not in found and len(set(found)) == len(found)


def _by_schema(union: Node, judges: "list[Judge]") -> Any:
    """A union of which pydantic tries those branches only that the schema admits.

    A text becomes the first type beside `str` whose schema says something of texts, such as a format, and
    admits it. Types that take any text, such as bytes and paths, leave it to a `str` beside them.
    """
    guarded = [
        (choice["type"], _guarded(choice, judge), judge)
        for choice, judge in zip(_choices(union), judges, strict=True)
    ]
    texts = [each for kind, each, _ in guarded if kind == "str"]
    if not texts or union.get("mode") == "left_to_right":
        return {**union, "choices": [each for _, each, _ in guarded]}
    vague = [each for kind, each, judge in guarded if kind != "str" and judge(_ODD_TEXT)]
    first = [each for _, each, _ in guarded if each not in texts and each not in vague]
    inner: Any = {key: item for key, item in union.items() if key != "ref"}
    head = [{**inner, "choices": first}] if len(first) > 1 else first
    return {**union, "mode": "left_to_right", "choices": [*head, *texts, *vague]}


_ODD_TEXT: Final = "\0 no form that anybody asks for"

Judge = Callable[[Json], bool]


def _guarded(choice: CoreSchema, admits: Judge) -> CoreSchema:
    """A branch that is not entered with a value that its schema refuses."""
    return core_schema.tagged_union_schema(
        {_ENTERED: choice},
        discriminator=lambda value: _ENTERED if admits(value) else None,
        custom_error_type=OTHER_FORM,
        custom_error_message="has another form",
    )


_ENTERED: Final = "(this form)"


def _judge(choice: CoreSchema, describe: Describe) -> Judge:
    if choice.keys() <= _SAYS_NO_MORE and choice["type"] in _QUICK:
        return _QUICK[choice["type"]]
    return _judge_of(msgspec.json.encode(describe(choice)))


@lru_cache(maxsize=256)
def _judge_of(schema: bytes) -> Judge:
    return Validator(msgspec.json.decode(schema), "a branch of a union").is_valid  # type: ignore[no-any-return]


_SAYS_NO_MORE: Final = frozenset({"type", "metadata", "ref", "serialization"})


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_QUICK: Final[dict[str, Judge]] = {
    "str": lambda value: isinstance(value, str),
    "none": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "float": _is_number,
    "int": lambda value: _is_number(value) and value % 1 == 0,
    "any": lambda value: True,
}
"""What the schema admits where it says nothing but a type."""


# --- numbers -------------------------------------------------------------------------------------


def _with_every_integer(node: Node) -> CoreSchema:
    """Beyond 64 bits pydantic takes no integer that is written as 1e19."""
    integer: Any = {key: item for key, item in node.items() if key != "ref"}
    strictly: Any = {**integer, "strict": True}
    return core_schema.lax_or_strict_schema(
        core_schema.no_info_before_validator_function(_as_integer, integer),
        strictly,
        ref=node.get("ref"),
    )


def _as_integer(value: Json) -> Json:
    return int(value) if type(value) is float and value.is_integer() else value
