"""A type hint → what reads it from JSON, what writes it as JSON, and its JSON Schema.

The law of the file: whoever needs pydantic asks here (beside it only `cores`, `forms`, `generator`, `hints`
and `reading`, which serve this file, and `signature`, which reads `Field`), and three rules of ours hold for
every type, however deep: bytes are standard base64; NaN and infinity are written as tokens that the caller
can find, never as a silent null; a type that pydantic cannot read is passed through as it came.
"""

import dataclasses
import math
import pathlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import msgspec
import pydantic
import pydantic_core
import typing_extensions
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import (
    CoreSchema,
    SchemaError,
    SchemaSerializer,
    SchemaValidator,
    ValidationError,
    core_schema,
)

from typegate.content import encode_base64
from typegate.contract.cores import Node, changed, kinds, nodes, serializer, validator
from typegate.contract.forms import (
    Write,
    as_key,
    completed,
    form_of,
    has_odd_values,
    with_late_fields,
)
from typegate.contract.generator import Extra, Generator
from typegate.contract.hints import readable, typed_dict
from typegate.contract.reading import EDITED, OTHER_FORM, mark, readable_core
from typegate.errors import RegistrationError
from typegate.types import Json

__all__ = [
    "Adapter",
    "Fault",
    "Unreadable",
    "adapt",
    "adapt_fields",
    "adapt_values",
    "described",
    "faults",
    "foreign",
    "has_endless_decimal",
    "has_non_finite",
    "is_non_finite",
    "json_form",
]

Unreadable = ValidationError
"""What `Adapter.read` raises."""

Serves = Literal["reading", "writing"]
Mode = Literal["validation", "serialization"]

_CONFIG: Final = ConfigDict(
    val_json_bytes="base64", ser_json_bytes="base64", ser_json_inf_nan="constants", allow_inf_nan=False
)


class Adapter:
    """One type: `read` takes JSON bytes to an instance, `dump` takes an instance to a JSON value.

    `read_tree` takes the decoded value instead of bytes, where that comes to the same (`from_tree`).
    `read_strings` takes strings, or an object of strings, and reads numbers and dates from them.

    Args:
        core: pydantic's core schema of the type.
        adapter: pydantic's own adapter, used as it is where our rules change nothing.
        extra: whether an object whose type does not say so may hold unknown keys.
        serves: whether it can `read` or `dump`.

    Attributes:
        plain: whether a value that is plain JSON is written just as it stands.
        numeric: whether a `Decimal` in such a value is meant for a number.
        in_doubt: whether one may be meant for either.
        is_loose: whether anything at all may stand somewhere in it.
        described: whether the JSON Schema says all that `read` refuses.
    """

    def __init__(self, core: CoreSchema, adapter: TypeAdapter[Any], extra: Extra, serves: Serves) -> None:
        self._adapter: Any = adapter
        self._extra: Extra = extra
        self._schemas: dict[tuple[Mode, Extra], dict[str, Json]] = {}
        self._kinds = found = kinds(core, mark)
        self._is_changed = "null-default" in found
        self._core = completed(core) if self._is_changed else core
        self.plain = found <= _PLAIN
        self.is_loose = "any" in found
        self.in_doubt = self.plain and self.is_loose and bool(found & _NUMBERS)
        self.numeric = self.plain and not self.is_loose and bool(found & _NUMBERS)
        self.described = found <= _DESCRIBED
        self.from_tree = found <= _SAME_FROM_TREE
        if serves == "reading":
            reader = self._validator()
            self.read: Callable[..., Any] = reader.validate_json
            self.read_tree: Callable[..., Any] = reader.validate_python
            self.read_strings: Callable[..., Any] = adapter.validator.validate_strings
        else:
            self._to_python: Callable[..., Any] = self._serializer().to_python
        self._of = core.get("cls") if core["type"] in ("model", "dataclass") else None

    def _with_late_fields(self) -> CoreSchema:
        return with_late_fields(self._core, _late_core) if "dataclass" in self._kinds else self._core

    def _describe(self, part: CoreSchema) -> dict[str, Json]:
        """What is published for a part of the type."""
        if self._core["type"] == "definitions":
            part = core_schema.definitions_schema(part, self._core["definitions"])
        described: dict[str, Json] = self._generator(self._extra).generate(part)
        return described

    def _validator(self) -> SchemaValidator:
        found = self._kinds
        own_rules = "own-config" in found and found & {"bytes", "float", "decimal"}
        if self._is_changed or found & EDITED or own_rules:
            return validator(readable_core(self._core, self._describe, json_form))
        return self._adapter.validator  # type: ignore[no-any-return]

    def _serializer(self) -> SchemaSerializer:
        found = self._kinds
        core = self._with_late_fields()
        own_rules = "own-config" in found and found & {"any", "float"}
        if (
            core is not self._adapter.core_schema
            or found & {"bytes", "decimal", "odd-options", "option-keys"}
            or own_rules
        ):
            return serializer(changed(core, _writable))
        return self._adapter.serializer  # type: ignore[no-any-return]

    def dump(self, value: Any) -> Any:
        """The instance as a JSON value; NaN stays NaN. Raises `ValueError` for what cannot be one."""
        if self._of is not None and not isinstance(value, self._of):
            return _as_builtins(value)  # pydantic would guess, and read what is no value
        return self._to_python(value, mode="json", by_alias=True, warnings=False)

    def json_schema(self, mode: Mode, extra: Extra = "ignore") -> dict[str, Json]:
        """The JSON Schema (2020-12) of what is read or written.

        Args:
            mode: `validation` describes what `read` takes, `serialization` what `dump` gives.
            extra: whether an object whose type does not say so may hold unknown keys.
        """
        if (mode, extra) not in self._schemas:
            core = self._core if mode == "validation" else self._with_late_fields()
            self._schemas[mode, extra] = self._generator(extra).generate(core, mode=mode)
        return dict(self._schemas[mode, extra])

    @staticmethod
    def _generator(extra: Extra) -> Generator:
        generator = Generator(by_alias=True)
        generator.extra = extra
        generator.write = json_form
        return generator


@lru_cache(maxsize=256)
def _adapt_hashable(hint: Any) -> Adapter:
    return _adapt(hint)


def adapt(hint: Any) -> Adapter:
    """The adapter that writes one type; shared by all who ask for the same one.

    Raises:
        RegistrationError: no part of the type can be expressed.
    """
    try:
        return _adapt_hashable(hint)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return _adapt(hint)


def _adapt(hint: Any) -> Adapter:
    hint = readable(hint)
    config = None if _has_config(hint) else _CONFIG
    adapter = TypeAdapter(hint, config=config)
    return Adapter(adapter.core_schema, adapter, "ignore", "writing")


def adapt_values(hint: Any, extra: Extra) -> Adapter:
    """The adapter that reads a type, with what `adapt_fields` is told of unknown keys."""
    hint = readable(hint)
    adapter = TypeAdapter(hint, config=None if _has_config(hint) else _CONFIG)
    return Adapter(adapter.core_schema, adapter, extra, "reading")


def adapt_fields(name: str, fields: Mapping[str, Any], extra: Extra = "ignore") -> Adapter:
    """The adapter of an object with these members: name -> hint with its `Field` metadata.

    Args:
        name: whose members they are, for error texts.
        fields: the members.
        extra: with which its schema will be asked for.

    Raises:
        RegistrationError: a member cannot be expressed.
    """
    try:
        return _fields_adapter(name, fields, extra)
    except (PydanticSchemaGenerationError, PydanticUserError):
        return _fields_adapter(name, {key: readable(hint) for key, hint in fields.items()}, extra)
    except SchemaError as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise RegistrationError(f"a hint of '{name}' cannot be compiled: {reason}") from None


def _fields_adapter(name: str, fields: Mapping[str, Any], extra: Extra) -> Adapter:
    table = typed_dict(name, dict(fields))
    table.__pydantic_config__ = _CONFIG
    adapter = TypeAdapter(table)
    built = Adapter(adapter.core_schema, adapter, extra, "reading")
    built.json_schema("validation", extra)  # what has no schema must fail here, where it can still be mended
    return built


def described(hint: Any, description: str | None, default: Any, alias: str | None) -> Any:
    """*hint* with what else is known of a parameter; a default of `...` is none."""
    known: dict[str, Any] = {}
    if description is not None:
        known["description"] = description
    if default is not ...:
        known["default"] = default
    if alias is not None:
        known["validation_alias"] = alias
    return Annotated[hint, Field(**known)] if known else hint


def is_non_finite(value: object) -> bool:
    """Whether a value is a NaN or an infinity."""
    return (isinstance(value, float) and not math.isfinite(value)) or (
        isinstance(value, Decimal) and not value.is_finite()
    )


def has_non_finite(value: object) -> bool:
    """Whether a value that can be written as JSON holds a NaN or an infinity that is a float."""
    raw = pydantic_core.to_json(value, by_alias=True, inf_nan_mode="constants", fallback=lambda other: None)
    return _is_endless(raw)


def has_endless_decimal(value: object) -> bool:
    """Whether a value that can be written as JSON holds a `Decimal` that is NaN or an infinity."""
    try:
        return _is_endless(_encode_with_numbers(value))
    except ValueError:
        return True  # so say newer versions of msgspec, older ones write it


def _is_endless(raw: bytes) -> bool:
    if b"NaN" not in raw and b"Infinity" not in raw:
        return False
    return _NON_FINITE.search(_STRINGS.sub(b"", raw)) is not None


def _foreign_or_none(value: object) -> object:
    try:
        return foreign(value)
    except TypeError:
        return None


_encode_with_numbers: Final = msgspec.json.Encoder(enc_hook=_foreign_or_none, decimal_format="number").encode
_STRINGS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_NON_FINITE: Final = re.compile(rb"NaN|Infinity")


# --- what could not be read ----------------------------------------------------------------------


class Fault(NamedTuple):
    """One reason: pydantic's name for it, where it lies, and a text that may be shown, if there is one."""

    kind: str
    location: tuple[str | int, ...]
    text: str | None


def faults(error: ValidationError) -> list[Fault]:
    """All that is wrong, without a word of what was sent.

    The texts are the author's own (of a `ValueError`, an assertion, a custom error) or say what the
    value should be; those that would name a Python class or quote the value are left out.
    """
    return [
        Fault(
            _RENAMED.get(entry["type"], entry["type"]),
            entry["loc"],
            _text(entry["type"], entry["msg"], entry.get("ctx", {})),
        )
        for entry in error.errors(include_url=False, include_input=False)
        if entry["type"] != OTHER_FORM
    ]


def _text(kind: str, message: str, context: Mapping[str, Any]) -> str | None:
    if kind in _RENAMED:
        return "must be a number that fits 64-bit floating point"
    if kind in ("value_error", "assertion_error"):
        return str(context.get("error", "")) or None
    if kind in _QUOTES:
        return None
    if kind not in _KNOWN:
        return message
    said = _SHOULD.fullmatch(message)
    return f"must {said[1]}" if said is not None and kind not in _NAMES_A_CLASS else None


_RENAMED: Final = {"finite_number": "out_of_range"}
_SHOULD: Final = re.compile(r"[\w ]+ should (.+)", re.DOTALL)


_QUOTES: Final = frozenset(
    {"byte_size_unit", "zoneinfo_str", "import_error", "predicate_failed", "not_operation_failed"}
)
"""Of pydantic's own types; their texts repeat the value, or name a function."""

_KNOWN: Final = frozenset(get_args(core_schema.ErrorType))
_NAMES_A_CLASS: Final = frozenset(
    {
        "model_type",
        "dataclass_type",
        "dataclass_exact_type",
        "is_instance_of",
        "is_subclass_of",
        "missing_sentinel_error",
    }
)


# --- core schemas --------------------------------------------------------------------------------


def _has_config(hint: Any) -> bool:
    """Whether the type carries a configuration of its own, so that none can be given."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return isinstance(hint, type) and (
        issubclass(hint, pydantic.BaseModel)
        or dataclasses.is_dataclass(hint)
        or typing_extensions.is_typeddict(hint)
    )


_NUMBERS: Final = frozenset({"int", "float"})
_PLAIN: Final = frozenset({"any", "bool", "dict", "float", "int", "list", "none", "nullable", "str"})
_SAME_FROM_TREE: Final = _PLAIN | {
    *("default", "definition-ref", "definitions", "literal", "model", "model-field", "model-fields"),
    *("typed-dict", "typed-dict-field", "own-config"),
}
_DESCRIBED: Final = _PLAIN | {
    *("dataclass", "dataclass-args", "dataclass-field", "date", "default", "definition-ref", "definitions"),
    *(
        "enum",
        "literal",
        "model",
        "model-field",
        "model-fields",
        "nullable",
        "typed-dict",
        "typed-dict-field",
    ),
    *("union", "tagged-union", "tuple", "choices", "odd-options", "own-config", "null-default"),
}


def foreign(value: Any) -> Any:
    """What msgspec does not know how to write, as something that it does.

    Raises:
        TypeError: it is no value but a stream, a resource or the like.
    """
    kind = type(value)
    if hasattr(kind, "__pydantic_serializer__"):
        return adapt(kind).dump(value)
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    base = next((plain for plain in _PLAIN_CLASSES if isinstance(value, plain)), None)
    if base is not None:  # a subclass, which msgspec leaves to us
        return base(value)
    raise TypeError(f"a value of type {kind.__name__}")


_PLAIN_CLASSES: Final[tuple[type[Any], ...]] = (str, int, float, list, tuple)


def json_form(value: object) -> Json:
    """A value as JSON, each part of it by the rules of its own type."""
    if type(value) is dict:
        return {as_key(key, json_form): json_form(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return list(map(json_form, value))
    return adapt(type(value)).dump(value)


def _as_builtins(value: object) -> Json:
    return msgspec.to_builtins(value, enc_hook=foreign)


def _finite(value: object) -> object:
    if is_non_finite(value):
        raise ValueError("NaN or an infinity")
    return str(value) if isinstance(value, Decimal) else value


_WRITTEN_BY_US: Final = {
    "bytes": core_schema.plain_serializer_function_ser_schema(
        encode_base64, return_schema=core_schema.str_schema(), when_used="json"
    ),
    "decimal": core_schema.plain_serializer_function_ser_schema(
        _finite, return_schema=core_schema.str_schema(), when_used="json"
    ),
    "any": core_schema.plain_serializer_function_ser_schema(
        _as_builtins, return_schema=core_schema.any_schema(), when_used="json"
    ),
}


def _writable(node: Node, original: Node, in_union: bool) -> Node:
    """A node of a core schema that writes by our rules."""
    kind = node["type"]
    if kind in _WRITTEN_BY_US:
        node.setdefault("serialization", _WRITTEN_BY_US[kind])
    elif kind in ("enum", "literal") and has_odd_values(node):
        node.setdefault("serialization", _written_as(lambda option: form_of(option, json_form)))
    elif kind == "dict" and has_odd_values(original.get("keys_schema") or {}):
        as_text = _written_as(lambda option: as_key(option, json_form))
        node["keys_schema"] = {**node["keys_schema"], "serialization": as_text}
    return node


def _written_as(function: Write) -> core_schema.SerSchema:
    return core_schema.plain_serializer_function_ser_schema(
        function, return_schema=core_schema.any_schema(), when_used="json"
    )


def _late_core(hint: Any) -> CoreSchema:
    """What writes a field that pydantic does not know of; of a type with parts it says nothing."""
    core = TypeAdapter(readable(hint)).core_schema
    if not any("ref" in node or node["type"] == "definition-ref" for node in nodes(core)):
        return core
    return core_schema.any_schema(serialization=_written_as(adapt(hint).dump))
