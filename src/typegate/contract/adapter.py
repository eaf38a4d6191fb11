"""A type hint → what reads it from JSON, what writes it as JSON, and its JSON Schema.

The law of the file: whoever needs pydantic asks here (beside it only `generator` and `hints`, which serve
this file, and `signature`, which reads `Field`), and three rules of ours hold for every type, however deep:
bytes are standard base64; NaN and infinity are written as tokens that the caller can find, never as a
silent null; a type that pydantic cannot read is passed through as it came.
"""

import dataclasses
import pathlib
import re
import threading
from collections.abc import Callable, Mapping
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
from typegate.contract.generator import Extra, Generator, as_key
from typegate.contract.hints import readable, typed_dict
from typegate.errors import RegistrationError
from typegate.types import Json

__all__ = [
    "Adapter",
    "Fault",
    "Unreadable",
    "adapt",
    "adapt_fields",
    "described",
    "faults",
    "foreign",
    "has_non_finite",
]

Unreadable = ValidationError
"""What `Adapter.read` raises."""

Mode = Literal["validation", "serialization"]

_CONFIG: Final = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64", ser_json_inf_nan="constants")


class Adapter:
    """One type: `read` takes JSON bytes to an instance, `dump` takes an instance to a JSON value.

    `read_tree` takes the decoded value instead of bytes, where that comes to the same (`from_tree`).
    `read_strings` takes strings, or an object of strings, and reads numbers and dates from them.

    Args:
        core: pydantic's core schema of the type.
        adapter: pydantic's own adapter, used as it is where our rules change nothing.
    """

    def __init__(self, core: CoreSchema, adapter: TypeAdapter[Any]) -> None:
        self._core = core
        self._schemas: dict[tuple[Mode, Extra], dict[str, Json]] = {}
        kinds = _kinds(core)
        self.plain = kinds <= _PLAIN
        """Whether a value that is plain JSON is written just as it stands."""
        self.described = kinds <= _DESCRIBED
        """Whether the JSON Schema says all that `read` refuses."""
        if kinds & _OURS or (kinds & _OWN_CONFIG and kinds & {"any", "float"}):
            core = _edited(core)
            validator, serializer = _build(core)
        else:
            validator, serializer = adapter.validator, adapter.serializer  # type: ignore[assignment]
        self.read: Callable[..., Any] = validator.validate_json
        self.read_tree: Callable[..., Any] = validator.validate_python
        self.read_strings: Callable[..., Any] = validator.validate_strings
        self.from_tree = kinds <= _SAME_FROM_TREE
        self._to_python = serializer.to_python
        self._of = core.get("cls") if core["type"] in ("model", "dataclass") else None

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
            generator = Generator(by_alias=True)
            generator.extra = extra
            generator.write = _written
            self._schemas[mode, extra] = generator.generate(self._core, mode=mode)
        return dict(self._schemas[mode, extra])


@lru_cache(maxsize=256)
def _adapt_hashable(hint: Any) -> Adapter:
    return _adapt(hint)


def adapt(hint: Any) -> Adapter:
    """The adapter of one type; shared by all who ask for the same one.

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
    return Adapter(adapter.core_schema, adapter)


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
    built = Adapter(adapter.core_schema, adapter)
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


def has_non_finite(value: Any) -> bool:
    """Whether a value that can be written as JSON holds NaN or an infinity anywhere."""
    raw = pydantic_core.to_json(value, by_alias=True, inf_nan_mode="constants", fallback=lambda other: None)
    if b"NaN" not in raw and b"Infinity" not in raw:
        return False
    return _NON_FINITE.search(_STRINGS.sub(b"", raw)) is not None


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
        Fault(entry["type"], entry["loc"], _text(entry["type"], entry["msg"], entry.get("ctx", {})))
        for entry in error.errors(include_url=False, include_input=False)
    ]


def _text(kind: str, message: str, context: Mapping[str, Any]) -> str | None:
    if kind in ("value_error", "assertion_error"):
        return str(context.get("error", "")) or None
    if kind in _QUOTES:
        return None
    if kind not in _KNOWN:
        return message
    said = _SHOULD.fullmatch(message)
    return f"must {said[1]}" if said is not None and kind not in _NAMES_A_CLASS else None


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


_PLAIN: Final = frozenset({"any", "bool", "dict", "float", "int", "list", "none", "nullable", "str"})
_SAME_FROM_TREE: Final = _PLAIN | {
    *("default", "definition-ref", "definitions", "literal", "model", "model-field", "model-fields"),
    *("typed-dict", "typed-dict-field"),
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
    *("union", "tagged-union", "tuple"),
}
_OURS: Final = frozenset({"bytes", "option-keys"})
_OWN_CONFIG: Final = frozenset({"model", "dataclass", "typed-dict"})
_NOT_SCHEMAS: Final = frozenset({"metadata", "serialization", "config", "default", "expected", "members"})


def _kinds(core: Any) -> set[str]:
    """The node types of a core schema; a custom serializer counts as one, and so does a post-init."""
    found: set[str] = set()
    pending = [core]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            kind = node.get("type")
            if isinstance(kind, str):
                found.add(kind)
                found.update(mark for mark in ("serialization", "post_init") if node.get(mark))
                if kind == "dict" and _key_options(node):
                    found.add("option-keys")
            pending += [item for key, item in node.items() if _leads_on(node, key)]
        elif isinstance(node, list | tuple):
            pending += node
    return found


def _key_options(table: dict[str, Any]) -> dict[str, Json]:
    """Text → option, where the keys of a table are options that are not all text themselves."""
    keys = table.get("keys_schema") or {}
    options = keys.get("expected") or keys.get("members") or ()
    by_text = {as_key(option): option for option in options}
    return by_text if any(getattr(each, "value", each) != text for text, each in by_text.items()) else {}


def _leads_on(node: dict[str, Any], key: str) -> bool:
    """Whether a member holds schemas: in a table of fields, every one does, whatever its name."""
    return key not in _NOT_SCHEMAS or not isinstance(node.get("type"), str)


def _edited(node: Any) -> Any:
    """A copy of a core schema in which our rules hold; the author's own is left alone."""
    if isinstance(node, list):
        return [_edited(item) for item in node]
    if isinstance(node, tuple):
        return tuple(_edited(item) for item in node)
    if not isinstance(node, dict):
        return node
    made = {key: _edited(item) if _leads_on(node, key) else item for key, item in node.items()}
    kind = made.get("type")
    if not isinstance(kind, str):
        return made
    if kind == "dict" and _key_options(made):
        made["keys_schema"] = _read_as_text(_key_options(made), made["keys_schema"])
    if kind in _WRITTEN_BY_US:
        made.setdefault("serialization", _WRITTEN_BY_US[kind])
    if kind in _OWN_CONFIG:
        made["config"] = {**(made.get("config") or {}), **_CORE_CONFIG}
    return made


def _read_as_text(options: dict[str, Json], keys: Any) -> CoreSchema:
    """The keys of an object are text: "1" is the 1 of `Literal[1, 2]`."""
    return core_schema.no_info_before_validator_function(lambda key: options.get(key, key), keys)


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


def _written(value: Any) -> Json:
    return adapt(type(value)).dump(value)


def _as_builtins(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=foreign)


_WRITTEN_BY_US: Final = {
    "bytes": core_schema.plain_serializer_function_ser_schema(
        encode_base64, return_schema=core_schema.str_schema(), when_used="json"
    ),
    "any": core_schema.plain_serializer_function_ser_schema(
        _as_builtins, return_schema=core_schema.any_schema(), when_used="json"
    ),
}

_CORE_CONFIG: Final = {"val_json_bytes": "base64", "ser_json_inf_nan": "constants"}

_BUILDING = threading.Lock()


def _build(core: CoreSchema) -> tuple[SchemaValidator, SchemaSerializer]:
    """Compile an edited schema, without the compiled parts that its classes already have."""
    config = core_schema.CoreConfig(val_json_bytes="base64", ser_json_inf_nan="constants")
    if "_use_prebuilt" in (SchemaValidator.__text_signature__ or ""):
        options: dict[str, Any] = {"_use_prebuilt": False}
        return SchemaValidator(core, config, **options), SchemaSerializer(core, config, **options)
    with _BUILDING:  # pydantic 2.12: a class that is not complete has no compiled parts to offer
        classes = [cls for cls in _classes(core) if cls.__dict__.get("__pydantic_complete__")]
        for cls in classes:
            cls.__pydantic_complete__ = False
        try:
            return SchemaValidator(core, config), SchemaSerializer(core, config)
        finally:
            for cls in classes:
                cls.__pydantic_complete__ = True


def _classes(node: Any) -> set[Any]:
    if isinstance(node, dict):
        found = set().union(*(_classes(item) for key, item in node.items() if key not in _NOT_SCHEMAS))
        return found | {node["cls"]} if node.get("type") in ("model", "dataclass") else found
    return set().union(*map(_classes, node)) if isinstance(node, list | tuple) else set()
