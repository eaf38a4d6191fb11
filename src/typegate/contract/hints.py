"""A type hint → the nearest one that pydantic takes.

The law of the file: a part that pydantic cannot read becomes `Any`, and the rest of the hint stays as it
was; what cannot be used at all is refused with advice.
"""

import dataclasses
import sys
import types
import typing
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic
import typing_extensions
from pydantic import AfterValidator, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError

from typegate.contract.generator import Generator
from typegate.errors import RegistrationError
from typegate.types import Problem

__all__ = ["readable", "typed_dict", "with_problem_details"]

typed_dict: Any = typing_extensions.TypedDict


class _IssueShape(typing_extensions.TypedDict):
    path: list[str | int]
    code: str
    message: str
    expected: str | None


class _ProblemShape(typing_extensions.TypedDict):
    """A refusal, for programs."""

    code: str
    message: str
    hint: str | None
    issues: list[_IssueShape]
    retry_after: typing_extensions.NotRequired[float]
    reference: typing_extensions.NotRequired[str]


class _ProblemDetails(typing_extensions.TypedDict):
    """A refusal as problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None
    issues: list[_IssueShape]
    retry_after: typing_extensions.NotRequired[float]
    reference: typing_extensions.NotRequired[str]


def with_problem_details(hint: Any) -> Any:
    """A return annotation whose `Problem`, alone or in a union, travels as problem details."""
    if hint is Problem:
        return _ProblemDetails
    if get_origin(hint) in (Union, types.UnionType):
        return Union[tuple(map(with_problem_details, get_args(hint)))]  # noqa: UP007  (made at run time)
    return hint


def readable(hint: Any) -> Any:
    """*hint* with every part that pydantic cannot read in the place of it: `Any`."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Problem:
        return _ProblemShape
    if hint is bytearray or hint is memoryview:
        return Annotated[bytes, AfterValidator(hint)]
    if origin is Annotated:
        inner = readable(args[0])
        metadata = args[1:]
        if inner is Any and args[0] is not Any:
            metadata = tuple(
                entry for entry in metadata if isinstance(entry, str | pydantic.fields.FieldInfo)
            )
        return Annotated[(inner, *metadata)] if metadata else inner
    if origin in (Union, types.UnionType):
        return Union[tuple(readable(arg) for arg in args)]  # noqa: UP007  (made at run time)
    if origin is not None and args and origin is not Literal:
        return _readable_generic(hint, origin, args)
    if sys.version_info < (3, 12) and typing.is_typeddict(hint):
        return _modern_typed_dict(hint)
    return Any if _is_opaque(hint) else hint


def _readable_generic(hint: Any, origin: Any, args: tuple[Any, ...]) -> Any:
    mended = tuple(readable(arg) if arg is not ... and not isinstance(arg, list) else arg for arg in args)
    if mended == args:
        return Any if _is_opaque(hint) else hint
    return origin[mended]


def _is_opaque(hint: Any) -> bool:
    try:
        TypeAdapter(hint).json_schema(schema_generator=Generator)
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema):
        if dataclasses.is_dataclass(hint):
            raise RegistrationError(
                f"'{getattr(hint, '__name__', hint)}' has a field of a type that JSON cannot carry; "
                f"leave the field out or give it a JSON type"
            ) from None
        return True
    except PydanticUserError as error:
        raise RegistrationError(_advice(hint, error)) from None
    return False


def _advice(hint: Any, error: PydanticUserError) -> str:
    name = getattr(hint, "__name__", str(hint))
    if error.code == "typed-dict-version":
        return f"'{name}': below Python 3.12, import TypedDict from typing_extensions"
    if error.code in ("undefined-annotation", "class-not-fully-defined"):
        return (
            f"'{name}' names a type that is not defined yet; define it first, or call {name}.model_rebuild()"
        )
    return f"'{name}' cannot be described: {error.message}"


def _modern_typed_dict(table: Any) -> Any:
    """A `typing.TypedDict` as one that pydantic takes below Python 3.12."""
    hints = typing.get_type_hints(table, include_extras=True)
    optional = set(table.__optional_keys__)
    fields: dict[str, Any] = {}
    for key, hint in hints.items():
        if get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired):
            fields[key] = get_origin(hint)[readable(get_args(hint)[0])]
        else:
            marker = typing_extensions.NotRequired if key in optional else typing_extensions.Required
            fields[key] = marker[readable(hint)]
    return typed_dict(table.__name__, fields)
