"""A core schema of pydantic → a JSON Schema that says what is really read and written.

The law of the file: pydantic's own generator does the work, and each method here mends one place where
what it says is not what is accepted, or where a requirement wants another form.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal

import pydantic_core
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from typegate.contract.cores import Node, nodes
from typegate.contract.forms import as_key, encoder, form_of, has_odd_values, options_of
from typegate.errors import RegistrationError
from typegate.types import Json

__all__ = ["Extra", "Generator"]

Extra = Literal["forbid", "ignore"]

_NO_KEYS: Final = frozenset(
    {
        *("tuple", "list", "set", "frozenset", "dict", "model", "dataclass", "typed-dict", "named-tuple"),
        *("model-fields", "none", "call"),
    }
)
"""What no text can be read as."""

_KEY_PATTERNS: Final = {
    "int": {"pattern": r"^-?(0|[1-9][0-9]*)$"},
    "float": {"pattern": r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"},
    "bool": {"enum": ["true", "false"]},
}


def _is_no_default(value: Json) -> bool:
    """Whether JSON has no word for it, or pydantic would take a part of it for a reference."""
    if isinstance(value, dict):
        return "$ref" in value or any(map(_is_no_default, value.values()))
    if isinstance(value, list):
        return any(map(_is_no_default, value))
    return isinstance(value, float) and not math.isfinite(value)


def _says_only(field: Any, tag: Any) -> bool:
    """Whether a field is a `Literal` of one value, the tag."""
    inner = field.get("schema", {})
    while inner.get("type") in ("default", "nullable"):
        inner = inner["schema"]
    return [getattr(each, "value", each) for each in options_of(inner)] == [tag]


def _takes_text(schema: JsonSchemaValue) -> bool:
    """Whether a text can satisfy a schema; one that is only referred to may."""
    branches = schema.get("anyOf", schema.get("oneOf"))
    if branches is not None:
        return any(map(_takes_text, branches))
    options = schema.get("enum", [schema["const"]] if "const" in schema else [""])
    return schema.get("type", "string") == "string" and any(isinstance(option, str) for option in options)


class Generator(GenerateJsonSchema):
    """pydantic's generator, with our rules.

    Attributes:
        extra: whether an object whose type does not say so may hold unknown keys.
        write: an instance → the JSON value that stands for it as a default.
    """

    extra: Extra = "ignore"
    write: Callable[[Any], Json] = staticmethod(
        partial(pydantic_core.to_jsonable_python, bytes_mode="base64", inf_nan_mode="constants")
    )
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
        options = options_of(keys)
        if options:
            return {"enum": [as_key(option, self.write) for option in options]}
        made = self.generate_inner(keys)
        if keys["type"] in _NO_KEYS or not _takes_text(made):
            raise RegistrationError(
                f"the keys of a JSON object are text, and no text can be a {keys['type']}: "
                f"take a list of pairs, list[tuple[key, value]], or keys that are text"
            )
        return made

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Members whose values JSON has no word for are published as they are read and written."""
        if not has_odd_values(schema):
            return super().enum_schema(schema)
        made = super().enum_schema({**schema, "members": []})
        return {**made, **self._options(schema)}

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """The same for `Literal`."""
        return self._options(schema) if has_odd_values(schema) else super().literal_schema(schema)

    def _options(self, schema: Any) -> JsonSchemaValue:
        forms = [form_of(option, self.write) for option in options_of(schema)]
        all_text = all(isinstance(form, str) for form in forms)
        return {"enum": forms, **({"type": "string"} if all_text else {})}

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        """The text of `Base64Bytes` and its like is decoded once: the format that it adds says how."""
        return {"type": "string"} if encoder(schema) is not None else super().function_after_schema(schema)

    def ser_schema(self, schema: Any) -> JsonSchemaValue | None:
        """What a function of an author's gives, who does not say what it gives, may be anything."""
        made = super().ser_schema(schema)
        if made is not None or schema["type"] not in ("function-plain", "function-wrap"):
            return made
        function = schema.get("function")
        is_known = str(getattr(function, "__module__", "")).startswith("pydantic.")
        return None if is_known or encoder(schema) is not None else {}

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """The tag must be given, even where its field has a default: without it nobody could choose."""
        made = super().tagged_union_schema(schema)
        if self.mode == "validation":
            tags = {
                repr(self.generate_inner(choice)): self._tag(schema["discriminator"], tag, choice)
                for tag, choice in schema["choices"].items()
            }
            made["oneOf"] = [self._with_tag(branch, tags.get(repr(branch))) for branch in made["oneOf"]]
        return made

    def _tag(self, discriminator: Any, tag: Any, choice: CoreSchema) -> str | None:
        """The property of a branch that holds the tag, where it could be left out."""
        fields = self._fields(choice)
        wanted = [discriminator] if isinstance(discriminator, str) else []
        if isinstance(discriminator, list):
            wanted = [path[0] for path in discriminator if isinstance(path, list) and len(path) == 1]
        for name, field in fields.items():
            alias = self._get_alias_name(field, name)
            if name in wanted or alias in wanted or (not wanted and _says_only(field, tag)):
                return None if self.field_is_required(field, total=True) else alias
        return None

    def _fields(self, choice: Any) -> dict[str, Any]:
        """The fields of what may be a reference to a model, or a model in a validator."""
        while choice["type"] not in ("model-fields", "typed-dict", "dataclass-args"):
            following = choice.get("schema")
            if choice["type"] == "definition-ref":
                following = self._cores().get(choice["schema_ref"])
            if not isinstance(following, dict):
                return {}
            choice = following
        fields = choice["fields"]
        return {field["name"]: field for field in fields} if isinstance(fields, list) else dict(fields)

    @staticmethod
    def _with_tag(branch: JsonSchemaValue, tag: str | None) -> JsonSchemaValue:
        if tag is None or tag in branch.get("required", ()):
            return branch
        return {**branch, "required": [*branch.get("required", ()), tag]}

    def generate(
        self, schema: CoreSchema, mode: Literal["validation", "serialization"] = "validation"
    ) -> Any:
        """The JSON Schema of a core schema."""
        self._core = schema
        return super().generate(schema, mode)

    def _cores(self) -> dict[str, Node]:
        return {node["ref"]: node for node in nodes(self._core) if "ref" in node}

    def field_is_present(self, field: Any) -> bool:
        """What only `__post_init__` sets is not the caller's to give."""
        return super().field_is_present(field) and (self.mode != "validation" or field.get("init", True))

    def _get_alias_name(self, field: Any, name: str) -> str:
        alias = field.get("validation_alias") if self.mode == "validation" else None
        if isinstance(alias, list) and not any(isinstance(path, list) and len(path) == 1 for path in alias):
            raise RegistrationError(
                f"the field '{name}' is read from inside another (AliasPath), which a schema cannot say: "
                f"give it an alias of its own, AliasChoices('{name}', ...), or take the outer object"
            )
        return super()._get_alias_name(field, name)

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
        inner: Any = schema["schema"]
        encoded = encoder(inner["schema"] if inner["type"] == "nullable" else inner)
        default = schema.get("default")
        if encoded is not None and isinstance(default, str | bytes):
            text = encoded.encode(default)
            return {**self.generate_inner(inner), "default": text if isinstance(text, str) else text.decode()}
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
