"""A returned value → content for the model and structured content for the program.

The law of the file: what leaves is strict JSON that satisfies the published `outputSchema`, or an
`InvalidResult` that names the place. A value is written once; the same bytes are the structured content
and, indented, the text.
"""

import collections.abc
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec

from typegate.content import Helper, ToolResult, block_of
from typegate.contract.adapter import Adapter, adapt
from typegate.contract.schema import SchemaStyle, as_object, is_object, publish, without_bad_defaults
from typegate.contract.signature import EMPTY
from typegate.contract.validator import Validator, accepts, check_bounds
from typegate.contract.writing import (
    ENDLESS,
    Encode,
    encode,
    encode_with_numbers,
    refuse_endless_decimals,
    refuse_lost_keys,
    refuse_streaming,
    sound_meta,
    to_json,
    to_text,
    unwritable,
    written,
)
from typegate.errors import InvalidResult, RegistrationError
from typegate.text import without_surrogates
from typegate.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResourceContent,
    ImageContent,
    Json,
    Problem,
    ResourceContents,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

__all__ = ["Results", "as_problem", "plan_results", "to_json", "to_text"]


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """How what one function returns is shaped; made once, at registration.

    Attributes:
        adapter: writes the declared type; `None` where none is declared that is specific.
        schema: what is published as `outputSchema`; `None` where there is none.
        object_schema: the same for handshake clients.
        judge: the schema that every structured value must satisfy.
        wraps: whether handshake clients get `{"result": value}`.
        indent: of JSON in text blocks; `None`: compact.
        encode: a value → JSON: a `Decimal` as a string, or as a number where only numbers are declared.
        in_doubt: whether a `Decimal`, a number to the judge, may be written as a string in its place.
        is_loose: whether anything at all may stand somewhere.
    """

    adapter: Adapter | None = None
    schema: dict[str, Json] | None = None
    object_schema: dict[str, Json] | None = None
    judge: Validator | None = None
    wraps: bool = False
    indent: int | None = 2
    encode: Encode
    in_doubt: bool = True
    is_loose: bool = True

    def shape(self, value: Any) -> CallToolResult:
        """What the call answers.

        Raises:
            InvalidResult: the value cannot be written as JSON, or breaks the `outputSchema`.
        """
        if isinstance(value, ToolResult):
            return self._by_hand(value)
        if self.judge is None:
            return CallToolResult(content=_sound(_blocks(value) or (self._text_of(value),)))
        if block_of(value) is not None:
            raise InvalidResult("returned a content block although its output schema promises a value")
        raw = self._written(value, self.judge)
        text = "" if value is None else to_text(raw, self.indent)
        return CallToolResult(content=(TextContent(text),), structured=raw, wraps=self.wraps)

    def _written(self, value: Any, judge: Validator) -> bytes:
        """The value as JSON that the output schema admits."""
        adapter = self.adapter
        tree = value if adapter is None or adapter.plain else _dumped(adapter, value)
        raw = written(tree, self.encode)
        if not _admits(judge, tree) or (self.in_doubt and raw != encode_with_numbers(tree)):
            refuse_endless_decimals(raw, value)
            refuse_lost_keys(raw)
            _judge(judge, msgspec.json.decode(raw))
        elif self.is_loose:
            refuse_endless_decimals(raw, value)
        return raw

    def refusal(self, problem: dict[str, Json]) -> bytes | None:
        """The structured form of a refusal, where the output schema leaves room for one (D2)."""
        for form in ({"error": problem}, problem):
            if self.judge is None or self.judge.is_valid(form):
                return to_json(form)
        return None

    def still_fits(self, structured: Json) -> bool:
        """Whether structured content that was changed on its way out is what the schema promises."""
        return self.judge is None or bool(self.judge.is_valid(structured))

    def _text_of(self, value: Any) -> TextContent:
        if value is None:
            return TextContent("")
        if isinstance(value, str):
            return TextContent(without_surrogates(value))
        return TextContent(to_text(to_json(value), self.indent))

    def _by_hand(self, result: ToolResult) -> CallToolResult:
        content = _sound(tuple(block_of(item) or self._text_of(item) for item in result.content))
        structured = None if result.structured is None else to_json(result.structured)
        if self.judge is not None and not result.is_error:
            if structured is None:
                raise InvalidResult("returned no structured value although its output schema promises one")
            _judge(self.judge, msgspec.json.decode(structured))
        if structured is not None and not content:
            content = (TextContent(to_text(structured, self.indent)),)
        wraps = self.wraps if self.judge is not None else structured is not None and structured[:1] != b"{"
        return CallToolResult(
            content=content,
            structured=structured,
            wraps=wraps,
            is_error=result.is_error,
            meta=None if result.meta is None else sound_meta(result.meta),
        )


# --- registration --------------------------------------------------------------------------------


def plan_results(
    label: str,
    returns: Any,
    style: SchemaStyle = "compact",
    indent: int | None = 2,
    explicit: Mapping[str, Json] | None = None,
    wanted: bool | None = None,
) -> Results:
    """Work out, once, how what a function returns is shaped.

    Args:
        label: the tool's name, for error texts.
        returns: the return annotation, or `EMPTY`.
        style: how the schema is published.
        indent: of JSON in text blocks.
        explicit: the author's own output schema: published as given.
        wanted: `None` decides by the annotation; `True` demands structured output, `False` forbids it.

    Raises:
        RegistrationError: the type cannot be a result, or has no schema although one is wanted.
    """
    _refuse_streams(label, returns)
    if explicit is not None:
        schema = dict(explicit)
        check_bounds(schema, f"output_schema= of '{label}'")
        judge = Validator(schema, f"output_schema= of '{label}'", "result")
        wraps = not is_object(schema, schema)
        return Results(
            encode=encode,
            schema=schema,
            object_schema=as_object(schema),
            judge=judge,
            wraps=wraps,
            indent=indent,
        )
    if wanted is False or (wanted is None and not _is_specific(returns)):
        return Results(encode=encode, indent=indent)
    if returns is EMPTY:
        raise RegistrationError(f"'{label}' has structured_output=True and no return annotation")
    try:
        return _declared_hashable(returns, style, indent)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return _declared(returns, style, indent)


def _declared(returns: Any, style: SchemaStyle, indent: int | None) -> Results:
    """How values of a declared type are shaped."""
    adapter = adapt(returns)
    generated = without_bad_defaults(adapter.json_schema("serialization"), accepts)
    schema = publish(generated, style, "output")
    return Results(
        adapter=adapter,
        schema=schema,
        object_schema=as_object(schema),
        judge=Validator(generated, "the output schema", "result"),
        wraps=not is_object(schema, schema),
        indent=indent,
        encode=encode_with_numbers if adapter.numeric else encode,
        in_doubt=adapter.in_doubt,
        is_loose=adapter.is_loose,
    )


_declared_hashable: Final = lru_cache(maxsize=256)(_declared)


_BARE: Final = frozenset(
    {Any, object, None, type(None), dict, list, tuple, set, frozenset, EMPTY, ToolResult}
    | {collections.abc.Mapping, collections.abc.Sequence, collections.abc.Iterable}
    | {typing.Dict, typing.List, typing.Tuple, typing.Set, typing.Mapping, typing.Sequence}  # noqa: UP006
)
_STREAMS: Final = (
    collections.abc.Iterator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
    collections.abc.Generator,
    collections.abc.AsyncGenerator,
)


def _is_specific(hint: Any) -> bool:
    """Whether an annotation says enough to be an output schema (requirement C4)."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _is_specific(get_args(hint)[0])
    if origin is Literal:
        return True
    if _is_content(hint) or isinstance(hint, typing.TypeVar):
        return False
    if origin in (typing.Union, types.UnionType):
        return all(_is_specific(member) for member in get_args(hint) if member is not type(None))
    if origin is not None:
        return not any(_is_content(member) for member in get_args(hint))
    try:
        return hint not in _BARE
    except TypeError:  # not hashable
        return True


def _is_content(hint: Any) -> bool:
    if get_origin(hint) in (typing.Union, types.UnionType):
        return any(map(_is_content, get_args(hint)))
    kinds = (*get_args(ContentBlock), *get_args(Helper), ToolResult)
    return isinstance(hint, type) and issubclass(hint, kinds)


def _refuse_streams(label: str, returns: Any) -> None:
    if (get_origin(returns) or returns) in _STREAMS:
        raise RegistrationError(
            f"'{label}' returns an iterator, and MCP has no streamed results. Return a list"
        )


# --- blocks --------------------------------------------------------------------------------------


def _blocks(value: Any) -> tuple[ContentBlock, ...] | None:
    """The blocks that a value is or holds, in order; `None` where it is no content."""
    if value.__class__ in _NO_BLOCKS:
        return None
    if not isinstance(value, list | tuple):
        block = block_of(value) or _as_block(value)
        return None if block is None else (block,)
    if {item.__class__ for item in value} <= _NO_BLOCKS:
        return None
    if not any(block_of(item) or _as_block(item) for item in value):
        return None
    return tuple(_block_or_text(item) for item in value)


def _sound(blocks: tuple[ContentBlock, ...]) -> tuple[ContentBlock, ...]:
    """The same blocks, the `_meta` of each as JSON.

    Raises:
        InvalidResult: with the place.
    """
    if all(block.meta is None and not isinstance(block, EmbeddedResourceContent) for block in blocks):
        return blocks
    return tuple(map(_with_sound_meta, blocks))


def _with_sound_meta(block: ContentBlock) -> ContentBlock:
    if isinstance(block, EmbeddedResourceContent) and block.resource.meta is not None:
        resource = msgspec.structs.replace(block.resource, meta=sound_meta(block.resource.meta))
        block = msgspec.structs.replace(block, resource=resource)
    return block if block.meta is None else msgspec.structs.replace(block, meta=sound_meta(block.meta))


_NO_BLOCKS: Final = frozenset({str, int, float, bool, type(None), bytes})


def _block_or_text(item: Any) -> ContentBlock:
    block = block_of(item) or _as_block(item)
    if block is not None:
        return block
    return (
        TextContent(without_surrogates(item))
        if isinstance(item, str)
        else TextContent(to_text(to_json(item), 2))
    )


_SHAPES: Final = {
    "text": {"type", "text"},
    "image": {"type", "data", "mimeType"},
    "audio": {"type", "data", "mimeType"},
    "resource": {"type", "resource"},
    "resource_link": {"type", "uri", "name"},
}
_STRUCTS: Final[dict[str, type[ContentBlock]]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceLink,
}
_OPTIONAL: Final = {"annotations", "_meta", "title", "description", "mimeType", "size", "icons"}


def _as_block(value: Any) -> ContentBlock | None:
    """A dict that has the full shape of a block, and nothing else, is one (requirement A10)."""
    if value.__class__ is not dict:
        return None
    kind = value.get("type")
    needed = _SHAPES.get(kind) if isinstance(kind, str) else None
    if needed is None or not needed <= value.keys() <= needed | _OPTIONAL:
        return None
    try:
        return _as_resource(value) if kind == "resource" else msgspec.convert(value, _STRUCTS[str(kind)])
    except msgspec.ValidationError:
        return None


def _as_resource(value: dict[str, Any]) -> ContentBlock:
    contents = value["resource"]
    has_text = isinstance(contents, dict) and "text" in contents
    kind: type[ResourceContents] = TextResourceContents if has_text else BlobResourceContents
    rest = {key: item for key, item in value.items() if key not in ("type", "resource")}
    return EmbeddedResourceContent(resource=msgspec.convert(contents, kind), **rest)


def as_problem(value: Any) -> Problem | None:
    """A returned refusal: a `Problem`, or the dict form of `Rejected` (requirement B3)."""
    if isinstance(value, Problem):
        return value
    if value.__class__ is not dict or value.keys() != {"ok", "error"} or value["ok"] is not False:
        return None
    error = value["error"]
    if not isinstance(error, dict) or not {"code", "message"} <= error.keys() <= {"code", "message", "hint"}:
        return None
    return Problem(code=str(error["code"]), message=str(error["message"]), hint=error.get("hint"))


# --- writing and judging ---------------------------------------------------------------------------


def _dumped(adapter: Adapter, value: Any) -> Json:
    """A value of a declared type as a JSON value."""
    refuse_streaming(value)
    try:
        return adapter.dump(value)
    except RecursionError:
        raise InvalidResult(ENDLESS) from None
    except (ValueError, TypeError) as error:  # pydantic's own, and those of the author's serializers
        if any(word in str(error) for word in ("ircular", "recursion", "depth")):
            raise InvalidResult(ENDLESS) from None
        raise unwritable(value, error) from None


def _judge(judge: Validator, tree: Json) -> None:
    if not judge.is_valid(tree):
        wrong = "; ".join(issue.message for issue in judge.issues(tree))
        raise InvalidResult(f"returned what its output schema refuses: {wrong}")


def _admits(judge: Validator, value: Any) -> bool:
    """Whether the judge admits the Python value as it stands; where it cannot tell, it is asked again."""
    try:
        return bool(judge.is_valid(value))
    except (ValueError, TypeError, RecursionError):
        return False
