"""Results and descriptions as each revision wants them: the one place that knows an older client.

The law of the file: a result is made once, in the newest form, and leaves here as the bytes of its
revision. What a revision does not know is taken out, or put in words that it does know.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from typegate.types import (
    AudioContent,
    CallToolResult,
    CompleteResult,
    ContentBlock,
    DiscoverResult,
    EmbeddedResourceContent,
    EmptyResult,
    GetPromptResult,
    Implementation,
    InitializeResult,
    Json,
    Listed,
    ListResult,
    ReadResourceResult,
    ResourceLink,
    Result,
    SubscriptionEnded,
    TextContent,
    Tool,
)
from typegate.versions import MODERN, SINCE, Version
from typegate.wire.jsonrpc import dumps
from typegate.wire.methods import Cache, Method

__all__ = ["SERVER_INFO", "Identity", "describe", "describe_implementation", "encode_result"]

SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"

LIST_KEYS: Final = {
    "tools/list": b"tools",
    "resources/list": b"resources",
    "resources/templates/list": b"resourceTemplates",
    "prompts/list": b"prompts",
}


class Identity:
    """Who the server is, with the ends of results that say so, encoded once.

    Attributes:
        implementation: the server's name, version and looks.
    """

    def __init__(self, implementation: Implementation) -> None:
        self.implementation = implementation
        self.info: Json = msgspec.to_builtins(implementation)
        meta = dumps({SERVER_INFO: self.info})
        caches: tuple[Cache, ...] = (None, "public", "private")
        self._tails = {
            cache: b'"resultType":"complete",%b"_meta":%b' % (_hints(cache), meta) for cache in caches
        }

    def tail(self, cache: Cache, meta: Mapping[str, Json] | None) -> bytes:
        """The last members of a result of 2026-07-28."""
        if meta is None:
            return self._tails[cache]
        joined = dumps({**meta, SERVER_INFO: self.info})
        return b'"resultType":"complete",%b"_meta":%b' % (_hints(cache), joined)


def _hints(cache: Cache) -> bytes:
    return b"" if cache is None else b'"ttlMs":0,"cacheScope":"%b",' % cache.encode()


# --- results -------------------------------------------------------------------------------------

Pieces = tuple[bytes, ...]
"""Bytes that belong together, joined only when the whole message is written."""


def encode_result(result: Result, method: Method, version: Version, identity: Identity) -> Pieces:
    """A result object for a client of *version*."""
    members = _MEMBERS[result.__class__](result, method, version, identity)
    if version.modern:
        private = isinstance(result, ListResult) and result.private
        tail = identity.tail("private" if private else method.cache, result.meta)
    elif result.meta is not None:
        tail = b'"_meta":' + dumps(result.meta)
    else:
        return (b"{", *members, b"}")
    return (b"{", *members, b",", tail, b"}") if members else (b"{", tail, b"}")


def _call_tool(result: CallToolResult, method: Method, version: Version, identity: Identity) -> Pieces:
    start = (b'"content":[', _content(result.content, version), b"]")
    end = b',"isError":true' if result.is_error else b',"isError":false'
    structured = result.structured
    if structured is None or version.structured == "none":
        return (*start, end)
    if result.wraps and version.structured == "object":
        return (*start, b',"structuredContent":{"result":', structured, b"}", end)
    return (*start, b',"structuredContent":', structured, end)


def _list(result: ListResult, method: Method, version: Version, identity: Identity) -> Pieces:
    start = (b'"', LIST_KEYS[method.name], b'":', result.items)
    return start if result.next_cursor is None else (*start, b',"nextCursor":', dumps(result.next_cursor))


def _members(value: dict[str, Json]) -> Pieces:
    """The members of an object, without its braces and without those that are `None`."""
    members = dumps({key: item for key, item in value.items() if item is not None})[1:-1]
    return (members,) if members else ()


def _initialize(result: InitializeResult, method: Method, version: Version, identity: Identity) -> Pieces:
    known = {key: value for key, value in result.capabilities.items() if key != "completions" or version.rank}
    info = describe_implementation(identity.implementation, version)
    return _members(
        {
            "protocolVersion": version.name,
            "capabilities": known,
            "serverInfo": info,
            "instructions": result.instructions,
        }
    )


def _discover(result: DiscoverResult, method: Method, version: Version, identity: Identity) -> Pieces:
    return _members(
        {
            "supportedVersions": MODERN,
            "capabilities": result.capabilities,
            "instructions": result.instructions,
        }
    )


def _read(result: ReadResourceResult, method: Method, version: Version, identity: Identity) -> Pieces:
    contents = msgspec.to_builtins(result.contents)
    return _members({"contents": [_strip("ResourceContents", item, version) for item in contents]})


def _prompt(result: GetPromptResult, method: Method, version: Version, identity: Identity) -> Pieces:
    messages = [
        {"role": message.role, "content": _block(message.content, version)} for message in result.messages
    ]
    return _members({"description": result.description, "messages": messages})


def _complete(result: CompleteResult, method: Method, version: Version, identity: Identity) -> Pieces:
    found = {"values": result.values, "total": result.total, "hasMore": result.has_more}
    return (b'"completion":{', *_members(found), b"}")


def _nothing(result: Result, method: Method, version: Version, identity: Identity) -> Pieces:
    return ()


_MEMBERS: Final[dict[type[Result], Callable[[Any, Method, Version, Identity], Pieces]]] = {
    CallToolResult: _call_tool,
    ListResult: _list,
    ReadResourceResult: _read,
    GetPromptResult: _prompt,
    CompleteResult: _complete,
    InitializeResult: _initialize,
    DiscoverResult: _discover,
    EmptyResult: _nothing,
    SubscriptionEnded: _nothing,
}


# --- content -------------------------------------------------------------------------------------


def _content(blocks: tuple[ContentBlock, ...], version: Version) -> bytes:
    """The blocks, without the brackets around them."""
    if len(blocks) == 1 and blocks[0].__class__ is TextContent and version.rank >= 2:
        return dumps(blocks[0])
    return dumps([_block(block, version) for block in blocks])[1:-1]


def _block(block: ContentBlock, version: Version) -> Json:
    if isinstance(block, AudioContent) and version.rank < 1:
        return {"type": "text", "text": f"[audio of type {block.mime_type}, which this client cannot take]"}
    if isinstance(block, ResourceLink) and version.rank < 2:
        return {"type": "text", "text": f"{block.title or block.name}: {block.uri}"}
    described = _strip("Content", msgspec.to_builtins(block), version)
    if isinstance(block, ResourceLink):
        described = _strip("ResourceLink", described, version)
    if isinstance(block, EmbeddedResourceContent):
        described["resource"] = _strip("ResourceContents", described["resource"], version)
    if "annotations" in described:
        described["annotations"] = _strip("Annotations", described["annotations"], version)
    return described


# --- descriptions --------------------------------------------------------------------------------


def _strip(kind: str, value: dict[str, Json], version: Version) -> dict[str, Json]:
    """*value* without the fields that came after *version*."""
    since = SINCE[kind]
    return {key: item for key, item in value.items() if since.get(key, 0) <= version.rank}


def describe(item: Listed, version: Version) -> dict[str, Json]:
    """An entry of a listing as a client of *version* may see it."""
    described = _strip(type(item).__name__, msgspec.to_builtins(item), version)
    if isinstance(item, Tool):
        object_schema = described.pop("objectOutputSchema", None)
        if "outputSchema" in described and version.structured == "object":
            described["outputSchema"] = object_schema
    if "arguments" in described:
        described["arguments"] = [
            _strip("PromptArgument", argument, version) for argument in described["arguments"]
        ]
    if "annotations" in described and not isinstance(item, Tool):
        described["annotations"] = _strip("Annotations", described["annotations"], version)
    return described


def describe_implementation(implementation: Implementation, version: Version) -> dict[str, Json]:
    """The server's name, version and looks as a client of *version* may see them."""
    return _strip("Implementation", msgspec.to_builtins(implementation), version)
