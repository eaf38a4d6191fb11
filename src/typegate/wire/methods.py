"""The methods of MCP, one row each: params, revisions, capability, cache hint (specification: schema).

The law of the file: a method is a row. What a row cannot say is a handler's business, not this table's.
"""

from typing import Final, Literal, TypeVar

import msgspec

from typegate.errors import InvalidParams
from typegate.types import Implementation, Json, LogLevel
from typegate.versions import Version

__all__ = [
    "METHODS",
    "Cache",
    "CallToolParams",
    "CompleteParams",
    "EmptyParams",
    "GetPromptParams",
    "InitializeParams",
    "ListParams",
    "ListenFilter",
    "ListenParams",
    "Method",
    "PromptReference",
    "ResourceParams",
    "ResourceReference",
    "SetLevelParams",
    "convert",
]


class Params(msgspec.Struct, frozen=True, rename="camel"):
    """What every params type has in common; members that a type does not name are ignored."""


class EmptyParams(Params, frozen=True, kw_only=True):
    """No params."""


class InitializeParams(Params, frozen=True, kw_only=True):
    """The handshake's opening."""

    protocol_version: str
    capabilities: dict[str, Json]
    client_info: Implementation


class ListParams(Params, frozen=True, kw_only=True):
    """Which page of a listing."""

    cursor: str | None = None


class CallToolParams(Params, frozen=True, kw_only=True):
    """Which tool, with what; `arguments` may be left out or null."""

    name: str
    arguments: dict[str, Json] | None = None


class ResourceParams(Params, frozen=True, kw_only=True):
    """Which resource."""

    uri: str


class GetPromptParams(Params, frozen=True, kw_only=True):
    """Which prompt, with which strings."""

    name: str
    arguments: dict[str, str] | None = None


class PromptReference(Params, frozen=True, kw_only=True, tag_field="type", tag="ref/prompt"):
    """A prompt whose argument is to be completed."""

    name: str


class ResourceReference(Params, frozen=True, kw_only=True, tag_field="type", tag="ref/resource"):
    """A template (or a URI) whose variable is to be completed."""

    uri: str


class CompleteArgument(Params, frozen=True, kw_only=True):
    """The argument to complete and what was typed so far."""

    name: str
    value: str


class CompleteContext(Params, frozen=True, kw_only=True):
    """The other arguments, as far as they are settled."""

    arguments: dict[str, str] | None = None


class CompleteParams(Params, frozen=True, kw_only=True):
    """What to complete."""

    ref: PromptReference | ResourceReference
    argument: CompleteArgument
    context: CompleteContext | None = None


class SetLevelParams(Params, frozen=True, kw_only=True):
    """From which level on log messages are wanted."""

    level: LogLevel


class ListenFilter(Params, frozen=True, kw_only=True):
    """What a `subscriptions/listen` stream is to carry."""

    tools_list_changed: bool = False
    prompts_list_changed: bool = False
    resources_list_changed: bool = False
    resource_subscriptions: tuple[str, ...] = ()


class ListenParams(Params, frozen=True, kw_only=True):
    """The opening of a stream of changes."""

    notifications: ListenFilter


Cache = Literal["public", "private"] | None
"""Whose a cached result may be; `None`: it takes no hints."""


class Method(msgspec.Struct, frozen=True):
    """One row.

    Attributes:
        name: as it travels.
        params: the type of its params.
        first: the rank of the first revision that has it; `last`: of the last.
        capability: what must have been advertised, as a path of keys; empty: nothing.
        asked_since: from which rank on it is; before, the method finds nothing without it.
        cache: `cacheScope` of its result from 2026-07-28 on; `None`: the result takes no hints.
    """

    name: str
    params: type[Params]
    first: int = 0
    last: int = 4
    capability: tuple[str, ...] = ()
    asked_since: int = 0
    cache: Cache = None

    def exists_in(self, version: Version) -> bool:
        """Whether a client of this revision may call it."""
        return self.first <= version.rank <= self.last


METHODS: Final = {
    row.name: row
    for row in (
        Method("initialize", InitializeParams, last=3),
        Method("ping", EmptyParams, last=3),
        Method("server/discover", EmptyParams, first=4, cache="public"),
        Method("tools/list", ListParams, capability=("tools",), cache="public"),
        Method("tools/call", CallToolParams, capability=("tools",)),
        Method("resources/list", ListParams, capability=("resources",), cache="public"),
        Method("resources/templates/list", ListParams, capability=("resources",), cache="public"),
        Method("resources/read", ResourceParams, capability=("resources",), asked_since=4, cache="private"),
        Method("resources/subscribe", ResourceParams, last=3, capability=("resources", "subscribe")),
        Method("resources/unsubscribe", ResourceParams, last=3, capability=("resources", "subscribe")),
        Method("prompts/list", ListParams, capability=("prompts",), cache="public"),
        Method("prompts/get", GetPromptParams, capability=("prompts",)),
        Method("completion/complete", CompleteParams, capability=("completions",)),
        Method("logging/setLevel", SetLevelParams, last=3, capability=("logging",)),
        Method("subscriptions/listen", ListenParams, first=4),
    )
}

P = TypeVar("P", bound=Params)


def convert(params: Json, kind: type[P]) -> P:
    """The typed params of a method.

    Raises:
        InvalidParams: they do not fit; the text names the member, never its value.
    """
    try:
        return msgspec.convert(params, kind)
    except msgspec.ValidationError as error:
        raise InvalidParams(f"Invalid params: {_without_values(str(error))}") from None


def _without_values(text: str) -> str:
    """Msgspec quotes a bad enum or tag value; everything else it says is about types."""
    return text if "Invalid" not in text else f"Invalid value{text[text.rfind(' - at') :]}"
