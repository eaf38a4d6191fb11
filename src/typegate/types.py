"""MCP data: the content blocks, descriptions and results that travel, as frozen values.

The law of the file: data only. A type here has the field names of the specification (camelCase on the
wire, snake_case in Python) and knows nothing of revisions; what an older client must not see is taken
out in one place, `wire.shapes`.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

__all__ = [
    "PROBLEM_KEY",
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "CallToolResult",
    "CompleteResult",
    "ContentBlock",
    "DiscoverResult",
    "EmbeddedResourceContent",
    "EmptyResult",
    "GetPromptResult",
    "Icon",
    "ImageContent",
    "Implementation",
    "InitializeResult",
    "Issue",
    "Json",
    "ListResult",
    "Listed",
    "LogLevel",
    "Principal",
    "Problem",
    "Prompt",
    "PromptArgument",
    "PromptMessageData",
    "ReadResourceResult",
    "Resource",
    "ResourceContents",
    "ResourceLink",
    "ResourceTemplate",
    "Result",
    "Role",
    "SubscriptionEnded",
    "Text",
    "TextContent",
    "TextResourceContents",
    "Tool",
    "ToolAnnotations",
]

Json = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

Role = Literal["user", "assistant"]
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class Data(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """What every piece of MCP data has in common: frozen, camelCase on the wire, defaults left out."""


# --- refusals (requirement B4) -------------------------------------------------------------------


class Issue(Data, frozen=True, kw_only=True, omit_defaults=False, rename=None):
    """One thing that is wrong with what was sent.

    Attributes:
        path: where, as keys and indices from the arguments down: `("filters", "tags", 2)`.
        code: a stable name: `missing`, `unexpected`, `type`, `enum`, `format`, ...
        message: one sentence that names the argument in quotes; never the value that was sent.
        expected: what would have been accepted, in words.
    """

    path: tuple[str | int, ...] = ()
    code: str
    message: str
    expected: str | None = None


PROBLEM_KEY: Final = "dev.typegate/problem"
"""The key of a result's `_meta`, and of an error's `data`, under which a `Problem` travels."""


class Problem(Data, frozen=True, kw_only=True, omit_defaults=False, rename=None):
    """The one shape of every refusal, for a program; `message` and `hint` are for the model.

    `retry_after` is in seconds; `reference` finds the record of the call.
    """

    code: str
    message: str
    hint: str | None = None
    issues: tuple[Issue, ...] = ()
    retry_after: float | msgspec.UnsetType = msgspec.UNSET
    reference: str | msgspec.UnsetType = msgspec.UNSET


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """Who is calling, as far as it was verified."""

    subject: str
    issuer: str | None = None
    client: str | None = None
    scopes: frozenset[str] = frozenset()
    claims: Mapping[str, Any] = {}


# --- parts ---------------------------------------------------------------------------------------


class Icon(Data, frozen=True, kw_only=True):
    """An image for a list: `src` is an `https:` or `data:` URI (from revision 2025-11-25)."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] | None = None
    theme: Literal["light", "dark"] | None = None


class Implementation(Data, frozen=True, kw_only=True):
    """The name and version of a client or a server."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: tuple[Icon, ...] | None = None


class Annotations(Data, frozen=True, kw_only=True):
    """Hints on a block or resource: for whom it is, how important (0 to 1), when it changed (ISO 8601)."""

    audience: tuple[Role, ...] | None = None
    priority: float | None = None
    last_modified: str | None = None


class ToolAnnotations(Data, frozen=True, kw_only=True):
    """Hints on what a tool does.

    `None` leaves a hint out; the specification's defaults then hold: not read-only, destructive, not
    idempotent, open world.
    """

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


# --- content -------------------------------------------------------------------------------------


class TextContent(Data, frozen=True, tag_field="type", tag="text"):
    """A text block."""

    text: str
    annotations: Annotations | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


Text = TextContent


class ImageContent(Data, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """A picture; `data` is base64."""

    data: str
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class AudioContent(Data, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """A sound (from revision 2025-03-26); `data` is base64."""

    data: str
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class ResourceLink(Data, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    """A pointer to something the client may read (from revision 2025-06-18)."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class TextResourceContents(Data, frozen=True, kw_only=True):
    """The text of a resource."""

    uri: str
    text: str
    mime_type: str | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class BlobResourceContents(Data, frozen=True, kw_only=True):
    """The bytes of a resource; `blob` is base64."""

    uri: str
    blob: str
    mime_type: str | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


ResourceContents = TextResourceContents | BlobResourceContents


class EmbeddedResourceContent(Data, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    """A resource carried inside a result."""

    resource: ResourceContents
    annotations: Annotations | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResourceContent


class PromptMessageData(Data, frozen=True, kw_only=True):
    """One message of a prompt: a role and one block."""

    role: Role
    content: ContentBlock


# --- descriptions --------------------------------------------------------------------------------


class Tool(Data, frozen=True, kw_only=True):
    """A tool as `tools/list` shows it.

    `output_schema` is the schema of the value itself; `object_output_schema` is what handshake clients
    see, for whom the root must be an object.
    """

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: Mapping[str, Json]
    output_schema: Mapping[str, Json] | None = None
    object_output_schema: Mapping[str, Json] | None = None
    annotations: ToolAnnotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class Resource(Data, frozen=True, kw_only=True):
    """A resource as `resources/list` shows it; `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class ResourceTemplate(Data, frozen=True, kw_only=True):
    """A family of resources; `uri_template` follows RFC 6570."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


class PromptArgument(Data, frozen=True, kw_only=True):
    """One argument of a prompt; its values are always strings."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(Data, frozen=True, kw_only=True):
    """A prompt template as `prompts/list` shows it."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Mapping[str, Json] | None = msgspec.field(default=None, name="_meta")


Listed = Tool | Resource | ResourceTemplate | Prompt


# --- results -------------------------------------------------------------------------------------


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What answers a request; `meta` becomes `_meta`."""

    meta: Mapping[str, Json] | None = None


class EmptyResult(Result, frozen=True):
    """`{}`."""


class InitializeResult(Result, frozen=True, kw_only=True):
    """The answer to a handshake (2024-11-05 to 2025-11-25)."""

    capabilities: Mapping[str, Json]
    instructions: str | None = None


class DiscoverResult(Result, frozen=True, kw_only=True):
    """The answer to `server/discover` (2026-07-28)."""

    capabilities: Mapping[str, Json]
    instructions: str | None = None


class ListResult(Result, frozen=True, kw_only=True):
    """One page of a listing: `items` encoded as a JSON array for the caller's revision.

    `private` says that another caller may see another listing.
    """

    items: bytes
    next_cursor: str | None = None
    private: bool = False


class CallToolResult(Result, frozen=True, kw_only=True):
    """What a tool call answers.

    `structured` is the value as strict JSON in its natural form, or `None`; `wraps` says that
    handshake clients get it as `{"result": value}`.
    """

    content: tuple[ContentBlock, ...]
    structured: bytes | None = None
    wraps: bool = False
    is_error: bool = False


class ReadResourceResult(Result, frozen=True, kw_only=True):
    """The contents of a resource."""

    contents: tuple[ResourceContents, ...]


class GetPromptResult(Result, frozen=True, kw_only=True):
    """A prompt, filled in."""

    messages: tuple[PromptMessageData, ...]
    description: str | None = None


class CompleteResult(Result, frozen=True, kw_only=True):
    """At most 100 suggestions for an argument."""

    values: tuple[str, ...]
    total: int | None = None
    has_more: bool | None = None


class SubscriptionEnded(Result, frozen=True, kw_only=True):
    """The answer that ends a `subscriptions/listen` when the server goes away."""
