"""How large a result is, and what to do about one that is too large.

The law of the file: what counts is what travels: all texts, data and structured content together, in bytes.
Only whole blocks are left out.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from typegate.types import (
    AudioContent,
    CallToolResult,
    CompleteResult,
    ContentBlock,
    EmbeddedResourceContent,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceContents,
    Result,
    TextContent,
    TextResourceContents,
)

__all__ = ["advice", "cut", "size_of", "words"]


def size_of(result: Result) -> int:
    """The bytes of all texts and data of a result."""
    if isinstance(result, CallToolResult):
        size = 0 if result.structured is None else len(result.structured)
        for block in result.content:
            text = block.text if isinstance(block, TextContent) else None
            size += len(text) if text is not None and text.isascii() else _block_size(block)
        return size
    if isinstance(result, ReadResourceResult):
        return sum(map(_contents_size, result.contents))
    if isinstance(result, GetPromptResult):
        return sum(_block_size(message.content) for message in result.messages)
    if isinstance(result, CompleteResult):
        return sum(map(_text_size, result.values))
    return 0


def _block_size(block: ContentBlock) -> int:
    if isinstance(block, TextContent):
        text = block.text
        return len(text) if text.isascii() else _text_size(text)
    if isinstance(block, ImageContent | AudioContent):
        return len(block.data)
    if isinstance(block, EmbeddedResourceContent):
        return _contents_size(block.resource)
    return len(msgspec.json.encode(block))


def _contents_size(contents: ResourceContents) -> int:
    return _text_size(contents.text) if isinstance(contents, TextResourceContents) else len(contents.blob)


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def cut(result: CallToolResult, most: int) -> CallToolResult | None:
    """The blocks that fit, and one that says what is missing; `None` where nothing is left of it."""
    if result.structured is not None:
        return None
    kept: list[ContentBlock] = []
    left = most - 200  # for the last block
    for block in result.content:
        left -= _block_size(block)
        if left < 0:
            break
        kept.append(block)
    if not kept:
        return None
    missing = len(result.content) - len(kept)
    said = (
        f"[Cut: {missing} of {len(result.content)} blocks are left out, since a result has at most "
        f"{words(most)}. Ask for less to see them.]"
    )
    return msgspec.structs.replace(result, content=(*kept, TextContent(said)))


def words(size: int) -> str:
    """A number of bytes, in words."""
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


_NARROWING: Final = (
    *("limit", "max_results", "page_size", "per_page", "top", "count", "first", "fields"),
    *("page", "cursor", "offset"),
)


def advice(schema: Mapping[str, Any] | None) -> str:
    """How to ask for less, with the names of the tool's own arguments."""
    properties = (schema or {}).get("properties") or {}
    names = [f"'{name}'" for name in _NARROWING if name in properties]
    if names:
        return f"Ask for less: set {' and '.join(names[:2])} so that fewer entries are returned."
    return "Ask for less: a narrower question, fewer entries or one part at a time."
