"""Nothing secret gets out: every kind of secret on every way out, at every revision (requirement A11)."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from typegate import (
    AuditLog,
    Context,
    MCPServer,
    Redactor,
    RequestFailed,
    Secret,
    ToolError,
    reject,
)
from typegate.transports.memory import Client
from typegate.versions import VERSIONS

REVISIONS = tuple(VERSIONS)
KEY = "AKIA" + "QYLPMN5HHHFPZAM2"
SECRETS = {
    "aws": KEY,
    "github": "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
    "url": "postgres://svc:hunter2-xyz@db.internal/hr",
    "key": 'password = "hunter2-xyz"',
}
every_secret = pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)


class Account(BaseModel):
    """What a tool returns."""

    owner: str
    pin: Annotated[str, Secret()] = "4711"


def leaky(secret: str) -> MCPServer:
    """A server that lets the secret out wherever an author could."""
    server = MCPServer("t", redactor=Redactor(), instructions=f"use {secret}")

    @server.tool(description=f"Takes {secret}.")
    def text() -> str:
        return f"it is {secret}"

    @server.tool
    def value() -> list[dict[str, str]]:
        return [{"note": secret}]

    @server.tool
    def fail() -> None:
        raise ToolError(f"no: {secret}")

    @server.tool
    def refuse() -> None:
        reject("NO", f"no: {secret}", hint=f"send {secret}")

    @server.tool
    def crash() -> None:
        raise KeyError(secret)

    @server.tool
    def talk(ctx: Context) -> str:
        ctx.error(f"now {secret}")
        ctx.progress(1, total=2, message=secret)
        return "done"

    @server.resource("note://one", description=secret)
    def note() -> str:
        return secret

    @server.prompt
    def greet(name: str) -> str:
        return f"{name}, {secret}"

    @server.completion(greet, "name")
    def names(typed: str) -> list[str]:
        return [secret]

    return server


async def every_way(client: Client) -> list[Any]:
    """All that a client can get out of the server."""
    found: list[Any] = []

    async def on_progress(progress: Any) -> None:
        found.append(progress)

    asks: list[Callable[[], Awaitable[Any]]] = [
        lambda: client.request("tools/list"),
        lambda: client.request("resources/list"),
        lambda: client.request("prompts/list"),
        *(
            lambda name=name: client.request("tools/call", {"name": name})
            for name in ("text", "value", "fail", "refuse", "crash", "talk")
        ),
        lambda: client.request("resources/read", {"uri": "note://one"}),
        lambda: client.request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
        lambda: client.complete("greet", "name", "a"),
    ]
    for ask in asks:
        try:
            found.append(await ask())
        except RequestFailed as error:
            found.append([error.message, error.data])
    return [*found, client.notifications]


@every_secret
@pytest.mark.parametrize("revision", REVISIONS)
def test_A11_no_secret_leaves_by_any_way(revision: str, secret: str) -> None:
    """Results, errors, listings, messages; what is no secret comes through."""

    async def main() -> str:
        async with leaky(secret).client(revision, log_level="debug") as client:
            return json.dumps(await every_way(client))

    said = asyncio.run(main())
    for part in ("hunter2", "QYLPMN5HHHFPZAM2", "wWPw5k4aXcaT4fNP0Ucn"):
        assert part not in said
    assert "redacted" in said
    assert "it is " in said


@pytest.mark.parametrize("revision", REVISIONS)
def test_A11_a_field_that_is_marked_is_always_secret(revision: str) -> None:
    """In the structured content and in the text that says the same."""
    server = MCPServer("t", redactor=Redactor())

    @server.tool
    def account() -> Account:
        return Account(owner="Ada", pin="4711")

    @server.tool
    def accounts() -> list[Account]:
        return [Account(owner="Ada", pin="4711")]

    async def main() -> str:
        async with server.client(revision) as client:
            return json.dumps([(await client.call_tool(name)).raw for name in ("account", "accounts")])

    said = asyncio.run(main())
    assert "4711" not in said
    assert "Ada" in said


def test_A11_what_has_no_room_for_a_placeholder_does_not_leave() -> None:
    """A result that would break its schema once it is clean is an error of the tool."""
    server = MCPServer("t", redactor=Redactor())

    @server.tool
    def key() -> Annotated[str, Field(pattern="^AKIA[A-Z0-9]{16}$")]:
        return KEY

    @server.tool
    def choice() -> Literal["a", "b"]:
        return "a"

    async def main() -> Any:
        async with server.client() as client:
            return await client.call_tool("key"), await client.call_tool("choice")

    refused, taken = asyncio.run(main())
    assert refused.is_error
    assert KEY not in json.dumps(refused.raw)
    assert refused.problem["code"] == "invalid_result"
    assert (taken.is_error, taken.structured) == (False, "a")


def test_A11_what_is_too_large_to_check_is_refused() -> None:
    """Never sent unread."""
    server = MCPServer("t", redactor=Redactor(max_bytes=5000))
    server.add_tool("big", lambda: "x" * 10_000)

    async def main() -> Any:
        async with server.client() as client:
            return await client.call_tool("big")

    result = asyncio.run(main())
    assert result.is_error
    assert "xxxx" not in json.dumps(result.raw)


def test_A11_records_are_clean_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Arguments and tracebacks, by the server's redactor."""
    path = tmp_path / "calls.jsonl"
    server = MCPServer("t", redactor=Redactor(), audit=AuditLog(path))

    @server.tool
    def store(note: str) -> None:
        raise ConnectionError(note)

    async def main() -> None:
        async with server.client() as client:
            await client.call_tool("store", {"note": f"the key is {KEY}"})

    with caplog.at_level(logging.CRITICAL, "typegate"):
        asyncio.run(main())
    written = path.read_text()
    assert "store" in written
    assert KEY not in written


def test_A11_without_a_redactor_nothing_is_taken_out() -> None:
    """It is the author's choice."""
    server = MCPServer("t", redactor=None)
    server.add_tool("text", lambda: KEY)

    async def main() -> str:
        async with server.client() as client:
            return (await client.call_tool("text")).text

    assert asyncio.run(main()) == KEY
