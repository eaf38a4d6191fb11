"""An in-process client, for tests and for embedding: real messages, no streams.

The law of the file: what goes in and comes out are the bytes that would travel, so that a test sees what
a client sees.
"""

import asyncio
import contextlib
import itertools
import math
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

import msgspec

from typegate.errors import ConfigurationError, RequestFailed
from typegate.transports.runner import Runner, Serving
from typegate.types import PROBLEM_KEY, Json, LogLevel, Principal, Prompt, Resource, ResourceTemplate, Tool
from typegate.versions import LATEST_MODERN, VERSIONS
from typegate.wire.connection import CAPABILITIES_KEY, CLIENT_KEY, LEVEL_KEY, VERSION_KEY

__all__ = ["CallResult", "Client", "PromptResult", "ReadResult", "connect"]

CLIENT_INFO: Final = {"name": "typegate-memory", "version": "1"}

T = TypeVar("T")


class CallResult:
    """What a tool call answered.

    Attributes:
        raw: the result as it travelled.
    """

    def __init__(self, raw: dict[str, Json]) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return f"CallResult({self.raw!r})"

    @property
    def content(self) -> list[dict[str, Json]]:
        """The content blocks."""
        return list(self.raw["content"])

    @property
    def text(self) -> str:
        """The text blocks, joined by line ends."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def structured(self) -> Json:
        """The structured content, or `None`."""
        return self.raw.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether the tool failed or refused."""
        return bool(self.raw.get("isError", False))

    @property
    def problem(self) -> dict[str, Json] | None:
        """The refusal for programs, or `None`."""
        return (self.raw.get("_meta") or {}).get(PROBLEM_KEY)


class ReadResult:
    """The contents of a resource; `raw` is the result as it travelled."""

    def __init__(self, raw: dict[str, Json]) -> None:
        self.raw = raw

    @property
    def contents(self) -> list[dict[str, Json]]:
        """Each part of it."""
        return list(self.raw["contents"])

    @property
    def text(self) -> str:
        """The text parts, joined by line ends."""
        return "\n".join(part["text"] for part in self.contents if "text" in part)


class PromptResult:
    """A prompt, filled in; `raw` is the result as it travelled."""

    def __init__(self, raw: dict[str, Json]) -> None:
        self.raw = raw

    @property
    def messages(self) -> list[dict[str, Json]]:
        """Its messages."""
        return list(self.raw["messages"])

    @property
    def text(self) -> str:
        """The text of its messages, joined by line ends."""
        contents = [message["content"] for message in self.messages]
        return "\n".join(content["text"] for content in contents if content["type"] == "text")


class Client:
    """A client in the same process, of any revision.

    Attributes:
        notifications: (method, params) of every notification that came, in order.
    """

    def __init__(
        self, serving: Serving, version: str, principal: Principal | None, log_level: LogLevel | None
    ) -> None:
        self._version = VERSIONS[version]
        self._log_level = log_level
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Json]]] = {}
        self._progress: dict[int, Callable[[dict[str, Json]], None]] = {}
        self._runner = Runner(serving, self, principal, "memory")
        self.notifications: list[tuple[str, dict[str, Json]]] = []

    # --- the sink of the runner

    @property
    def full(self) -> bool:
        """Never: what comes is taken at once."""
        return False

    def write(self, message: bytes) -> None:
        """Take a message from the server."""
        decoded = msgspec.json.decode(message)
        for each in decoded if isinstance(decoded, list) else [decoded]:
            self._take(each)

    async def drain(self) -> None:
        """Nothing waits."""

    def _take(self, message: dict[str, Json]) -> None:
        if "method" in message:
            params = message.get("params", {})
            self.notifications.append((message["method"], params))
            listener = self._progress.get(params.get("progressToken"))
            if listener is not None:
                listener(params)
            return
        id_ = message.get("id")
        answered = [self._waiting[id_]] if id_ in self._waiting else []
        if id_ is None:  # what was sent could not even be read
            answered = list(self._waiting.values())
        for future in answered:
            if not future.done():
                future.set_result(message)

    # --- messages

    def send(self, line: bytes) -> None:
        """Send bytes as they are."""
        self._runner.receive(line)

    def notify(self, method: str, params: Mapping[str, Json] | None = None) -> None:
        """Send a notification."""
        self.send(msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params or {}}))

    async def request(self, method: str, params: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """Send a request; the result as it travelled.

        A cancelled wait cancels the request.

        Raises:
            RequestFailed: the answer is a JSON-RPC error.
            ValueError: the params hold NaN or infinity, which are no JSON.
        """
        if _has_non_finite(params):
            raise ValueError("the params hold NaN or infinity, which JSON cannot carry")
        id_ = next(self._ids)
        future = self._waiting[id_] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": self._with_meta(params or {})}
        try:
            self.send(msgspec.json.encode(message))
            answer = await future
        except asyncio.CancelledError:
            self.notify("notifications/cancelled", {"requestId": id_})
            raise
        finally:
            del self._waiting[id_]
        if "error" in answer:
            error = answer["error"]
            raise RequestFailed(error["code"], error["message"], error.get("data"))
        return dict(answer["result"])

    def _with_meta(self, params: Mapping[str, Json]) -> Mapping[str, Json]:
        if not self._version.modern:
            return params
        meta: dict[str, Json] = {
            VERSION_KEY: self._version.name,
            CAPABILITIES_KEY: {},
            CLIENT_KEY: CLIENT_INFO,
            **(params.get("_meta") or {}),
        }
        if self._log_level is not None:
            meta.setdefault(LEVEL_KEY, self._log_level)
        return {**params, "_meta": meta}

    async def open(self) -> None:
        """Shake hands, where the revision wants that."""
        if self._version.modern:
            return
        opening = {"protocolVersion": self._version.name, "capabilities": {}, "clientInfo": CLIENT_INFO}
        opened = await self.request("initialize", opening)
        self.notify("notifications/initialized")
        if self._log_level is not None and "logging" in opened["capabilities"]:
            await self.request("logging/setLevel", {"level": self._log_level})

    async def close(self) -> None:
        """End the connection, and everything under way on it; streams of changes end with their result."""
        await self._runner.finish(0.01)
        await self._runner.close(1.0)
        for future in self._waiting.values():
            future.cancel()

    # --- what a client does

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Json] | None = None,
        on_progress: Callable[[dict[str, Json]], None] | None = None,
    ) -> CallResult:
        """Call a tool; *on_progress* gets the params of each progress notification."""
        params: dict[str, Json] = {"name": name, "arguments": dict(arguments or {})}
        if on_progress is None:
            return CallResult(await self.request("tools/call", params))
        token = next(self._ids)
        self._progress[token] = on_progress
        try:
            return CallResult(await self.request("tools/call", {**params, "_meta": {"progressToken": token}}))
        finally:
            del self._progress[token]

    async def list_tools(self) -> list[Tool]:
        """All tools, whatever the page size."""
        return await self._all("tools/list", "tools", Tool)

    async def list_resources(self) -> list[Resource]:
        """All resources."""
        return await self._all("resources/list", "resources", Resource)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """All resource templates."""
        return await self._all("resources/templates/list", "resourceTemplates", ResourceTemplate)

    async def list_prompts(self) -> list[Prompt]:
        """All prompts."""
        return await self._all("prompts/list", "prompts", Prompt)

    async def _all(self, method: str, key: str, kind: type[T]) -> list[T]:
        found: list[T] = []
        params: dict[str, Json] = {}
        while True:
            page = await self.request(method, params)
            found += msgspec.convert(page[key], list[kind])  # type: ignore[valid-type]
            if "nextCursor" not in page:
                return found
            params = {"cursor": page["nextCursor"]}

    async def read_resource(self, uri: str) -> ReadResult:
        """Read a resource."""
        return ReadResult(await self.request("resources/read", {"uri": uri}))

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Fill a prompt in."""
        return PromptResult(
            await self.request("prompts/get", {"name": name, "arguments": dict(arguments or {})})
        )

    async def complete(
        self,
        ref: str | Mapping[str, str],
        argument: str,
        value: str,
        others: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Ask for suggestions.

        Args:
            ref: the name of a prompt or the URI of a template; or, for a prompt whose name looks like a
                URI, `{"type": "ref/prompt", "name": ...}` as it travels.
            argument: the argument or variable.
            value: what was typed so far.
            others: the other arguments, as far as they are settled.
        """
        if isinstance(ref, str):
            is_uri = _URI.match(ref) is not None
            ref = {"type": "ref/resource", "uri": ref} if is_uri else {"type": "ref/prompt", "name": ref}
        params: dict[str, Json] = {"ref": dict(ref), "argument": {"name": argument, "value": value}}
        if others is not None:
            params["context"] = {"arguments": dict(others)}
        return list((await self.request("completion/complete", params))["completion"]["values"])


_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def _has_non_finite(value: Json) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_non_finite, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_non_finite, value))


@contextlib.asynccontextmanager
async def connect(
    opened: Callable[[], AbstractAsyncContextManager[Serving]],
    protocol_version: str = LATEST_MODERN.name,
    principal: Principal | None = None,
    log_level: LogLevel | None = None,
) -> AsyncIterator[Client]:
    """Start a server and connect a client to it; both end with the block."""
    if protocol_version not in VERSIONS:
        raise ConfigurationError(f"protocol_version must be one of {', '.join(VERSIONS)}")
    async with opened() as serving:
        client = Client(serving, protocol_version, principal, log_level)
        try:
            await client.open()
            yield client
        finally:
            serving.service.closing.set()
            await client.close()
