"""A core schema of pydantic → a JSON Schema that says what is really read and written.

The law of the file: pydantic's own generator does the work, and each method here mends one place where
what it says is not what is accepted, or where a requirement wants another form.
"""

import math
from collections.abc import Callable
from typing import Any, Final, Literal

import pydantic_core
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from typegate.types import Json

__all__ = ["Extra", "Generator", "as_key"]

Extra = Literal["forbid", "ignore"]

_KEY_PATTERNS: Final = {
    "int": {"pattern": r"^-?(0|[1-9][0-9]*)$"},
    "float": {"pattern": r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"},
    "bool": {"enum": ["true", "false"]},
}


def as_key(value: Any) -> str:
    """A value, or the value of an enum's member, as JSON writes it for a key."""
    value = getattr(value, "value", value)  # of an enum's member
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_no_default(value: Json) -> bool:
    """Whether JSON has no word for it, or pydantic would take a part of it for a reference."""
    if isinstance(value, dict):
        return "$ref" in value or any(map(_is_no_default, value.values()))
    if isinstance(value, list):
        return any(map(_is_no_default, value))
    return isinstance(value, float) and not math.isfinite(value)


class Generator(GenerateJsonSchema):
    """pydantic's generator, with our rules.

    Attributes:
        extra: whether an object whose type does not say so may hold unknown keys.
        write: an instance → the JSON value that stands for it as a default.
    """

    extra: Extra = "ignore"
    write: Callable[[Any], Json] = staticmethod(pydantic_core.to_jsonable_python)
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default", "skipped-discriminator"}  # noqa: RUF012

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Standard base64 (requirement A11), which `format: binary` would not say."""
        return {"type": "string", "contentEncoding": "base64"}

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:
        """A class that JSON has no form for, even where pydantic could still check it."""
        raise PydanticInvalidForJsonSchema(f"{schema['cls']}")

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Keys are text: what is said of them must hold for the text."""
        made = super().dict_schema(schema)
        keys = schema.get("keys_schema")
        if keys is None or keys["type"] in ("str", "any"):
            return made
        made.pop("patternProperties", None)
        made["propertyNames"] = _KEY_PATTERNS.get(keys["type"]) or self._names(keys)
        if "values_schema" in schema:
            made["additionalProperties"] = self.generate_inner(schema["values_schema"])
        return made

    def _names(self, keys: CoreSchema) -> JsonSchemaValue:
        """The schema of keys, which are strings whatever type they are read as."""
        if keys["type"] in ("enum", "literal"):
            members = keys.get("members") or keys.get("expected") or ()
            return {"enum": [as_key(member) for member in members]}
        return self.generate_inner(keys)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Unknown keys are refused where the author said nothing of them."""
        return self._closed(super().model_schema(schema), getattr(schema["cls"], "model_config", None))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Unknown keys are refused where the author said nothing of them."""
        return self._closed(
            super().dataclass_schema(schema), getattr(schema["cls"], "__pydantic_config__", None)
        )

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Unknown keys are refused where the author said nothing of them."""
        cls = schema.get("cls")
        return self._closed(super().typed_dict_schema(schema), getattr(cls, "__pydantic_config__", None))

    def _closed(self, made: JsonSchemaValue, config: Any) -> JsonSchemaValue:
        """An object whose author said nothing of unknown keys has none (requirement A8)."""
        silent = not config or config.get("extra") is None
        if silent and self.extra == "forbid" and "properties" in made:
            made.setdefault("additionalProperties", False)
        return made

    def encode_default(self, dft: Any) -> Any:
        """A default as it is written in a result."""
        if dft is None or type(dft) in (str, int, float, bool):
            return dft
        try:
            return self.write(dft)
        except (TypeError, ValueError, RecursionError) as error:
            raise pydantic_core.PydanticSerializationError(type(error).__name__) from None

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A default that has no form in a JSON Schema is not shown."""
        made = super().default_schema(schema)
        if "default" in made and _is_no_default(made["default"]):
            del made["default"]
        return made

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """As text, every form that Python writes; a bound on it is kept by the type alone."""
        made = super().decimal_schema(schema)
        for branch in made.get("anyOf", (made,)):
            branch.pop("pattern", None)  # pydantic's own does not cover what it writes: 1E+2
            if branch.get("type") == "string" and self.mode == "validation":
                branch["pattern"] = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
        return made
