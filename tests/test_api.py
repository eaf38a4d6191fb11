"""The public surface: its names, what importing it costs, what it refuses, and what its verbs give back."""

import asyncio
import importlib.metadata
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import typegate
from typegate import ConfigurationError, Gate, MCPServer, RegistrationError, RequestFailed

PUBLIC = """
INHERIT AccessPolicy Annotations ApprovalRequest Approver Audio AuditLog BlobResourceContents
ConfigurationError Context Decision EmbeddedResource File Gate Icon Image InvalidArguments
InvalidResult Issue Limits MCPServer Principal Problem PromptArgument PromptMessage RateLimit Redactor
RegistrationError Rejected RequestFailed ResourceLink Secret Text TextResourceContents ToolAnnotations
ToolError ToolResult TypegateError __version__ reject tool
"""
NAMES = PUBLIC.split()  # in the order that ruff sorts them: constants, classes, the rest


def ask(server: MCPServer, work: Callable[[Any], Any], revision: str = "2026-07-28", **options: Any) -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(protocol_version=revision, **options) as client:
            return await work(client)

    return asyncio.run(main())


def find() -> str:
    """Find it."""
    return "found"


# --- names and imports ---------------------------------------------------------------------------


def test_the_public_names_are_these() -> None:
    """A name that is added or goes away is a decision, not an accident."""
    assert typegate.__all__ == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_name_can_be_imported(name: str) -> None:
    """What is promised is there, and documented where it is a class or a function."""
    value = getattr(typegate, name)
    assert value.__doc__ or not callable(value)


HEAVY = {
    *("anyio", "click", "cryptography", "cyclopts", "h11", "httptools", "httpx", "httpx2", "opentelemetry"),
    *("redis", "rich", "starlette", "uvicorn", "uvloop"),
}


def test_importing_loads_no_server_and_no_client_library() -> None:
    """What only some servers need is not paid for by `import typegate`."""
    command = [sys.executable, "-X", "importtime", "-c", "import typegate"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typegate" in loaded
    assert loaded & HEAVY == set()


def test_the_version_has_one_source() -> None:
    """The installed distribution and the module say the same."""
    assert importlib.metadata.version("typegate") == typegate.__version__


# --- options whose feature does not exist yet ----------------------------------------------------

SERVER_OPTIONS = ("auth", "on_missing_scope")
TOOL_OPTIONS = ("redact", "nonsense")
VERBS: dict[str, Callable[..., Any]] = {
    "@tool": lambda server, **options: server.tool(**options)(find),
    "tool": lambda server, **options: server.tool(find, **options),
    "add_tool": lambda server, **options: server.add_tool(find, **options),
    "typegate.tool": lambda server, **options: typegate.tool(**options),
}
OTHER_VERBS: dict[str, Callable[..., Any]] = {
    "resource": lambda server, **options: server.resource("a://b", **options)(find),
    "prompt": lambda server, **options: server.prompt(**options)(find),
}


@pytest.mark.parametrize("option", SERVER_OPTIONS)
def test_a_server_option_without_its_feature_is_refused(option: str) -> None:
    """It is a configuration error that names the option, never silently accepted."""
    with pytest.raises(ConfigurationError, match=option):
        MCPServer("x", **{option: object()})


@pytest.mark.parametrize("option", TOOL_OPTIONS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_tool_option_without_its_feature_is_refused(verb: str, option: str) -> None:
    """The same for a tool, whichever way it is registered."""
    with pytest.raises(ConfigurationError, match=option):
        VERBS[verb](MCPServer("x"), **{option: 1})


@pytest.mark.parametrize("option", ["limits", "approve", "redact"])
@pytest.mark.parametrize("verb", OTHER_VERBS)
def test_an_option_of_resources_and_prompts_is_refused(verb: str, option: str) -> None:
    """The same for resources and prompts."""
    with pytest.raises(ConfigurationError, match=option):
        OTHER_VERBS[verb](MCPServer("x"), **{option: 1})


@pytest.mark.parametrize(
    "options", [{}, {"host": "127.0.0.1", "port": 8000, "path": "/mcp", "workers": 1}], ids=str
)
def test_http_is_refused(options: dict[str, Any]) -> None:
    """`run(transport="http")` says that it is not there, with the options that it will have."""
    with pytest.raises(ConfigurationError, match="http"):
        MCPServer("x").run(transport="http", **options)


def test_scopes_are_never_silently_ignored() -> None:
    """A tool that asks for scopes is not run for a caller without them."""
    ran: list[int] = []

    def serve() -> None:
        server = MCPServer("x")
        server.add_tool("wipe", lambda: ran.append(1), scopes=["admin"])
        ask(server, lambda client: client.call_tool("wipe"))

    with pytest.raises((ConfigurationError, RequestFailed)):
        serve()
    assert ran == []


# --- what the verbs do ---------------------------------------------------------------------------

DECORATORS: dict[str, Callable[[MCPServer], Callable[[Any], Any]]] = {
    "tool": lambda server: server.tool,
    "tool()": lambda server: server.tool(),
    "tool(name=)": lambda server: server.tool(name="other", title="Other", tags=["a"]),
    "prompt": lambda server: server.prompt,
    "prompt()": lambda server: server.prompt(title="Other"),
    "resource": lambda server: server.resource("config://x{?y}"),
    "typegate.tool": lambda server: typegate.tool,
    "typegate.tool()": lambda server: typegate.tool(name="other"),
}


@pytest.mark.parametrize("decorator", DECORATORS)
def test_a_decorator_returns_the_function(decorator: str) -> None:
    """What is decorated stays the same object, and can still be called."""

    def function(y: str = "") -> str:
        """Give it back."""
        return y

    decorated = DECORATORS[decorator](MCPServer("x"))(function)
    assert decorated is function
    assert decorated("z") == "z"


def test_a_completion_returns_the_function() -> None:
    """`@server.completion` gives the function back too."""
    server = MCPServer("x")
    server.prompt(name="ask")(lambda topic: topic)

    def suggest(typed: str) -> list[str]:
        """Two of them."""
        return [f"{typed}a", f"{typed}b"]

    assert server.completion("ask", "topic")(suggest) is suggest
    reference = {"type": "ref/prompt", "name": "ask"}
    assert ask(server, lambda client: client.complete(reference, "topic", "x")) == ["xa", "xb"]


KINDS: dict[str, Callable[[MCPServer, str], Any]] = {
    "tools": lambda server, text: server.add_tool("same", lambda: text),
    "prompts": lambda server, text: server.prompt(name="same")(lambda: text),
    "resources": lambda server, text: server.resource("config://same", name="same")(lambda: text),
    "templates": lambda server, text: server.resource("config://{x}", name="same")(lambda x: text),
}
READ: dict[str, Callable[[Any], Any]] = {
    "tools": lambda client: client.call_tool("same"),
    "prompts": lambda client: client.get_prompt("same"),
    "resources": lambda client: client.read_resource("config://same"),
    "templates": lambda client: client.read_resource("config://y"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("option", "kept"), [("warn", "one"), ("ignore", "one"), ("replace", "two")])
def test_on_duplicate_decides_for_every_kind(
    kind: str, option: Any, kept: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Tools, prompts, resources and templates follow the same rule."""
    server = MCPServer("x", on_duplicate=option)
    KINDS[kind](server, "one")
    KINDS[kind](server, "two")
    assert ask(server, READ[kind]).text == kept
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * (option == "warn")


@pytest.mark.parametrize("kind", KINDS)
def test_on_duplicate_error_names_what_is_there_twice(kind: str) -> None:
    """The registration fails, and the first one stays."""
    server = MCPServer("x", on_duplicate="error")
    KINDS[kind](server, "one")
    with pytest.raises(RegistrationError, match=r"same|config://"):
        KINDS[kind](server, "two")
    assert ask(server, READ[kind]).text == "one"


def branch() -> MCPServer:
    """A server that another one includes."""
    server = MCPServer("branch")

    @server.tool(title="Find", tags=["slow"], gate=Gate(failure="protocol_error"))
    def look(number: int) -> int:
        """Look it up."""
        return number

    @server.prompt
    def explain(topic: str) -> str:
        return topic

    server.completion(explain, "topic")(lambda typed: [f"{typed}!"])
    server.resource("config://limits", name="limits")(lambda: "limits")
    server.resource("orders://{number}", name="order")(lambda number: number)
    return server


@pytest.mark.parametrize("prefix", ["", "branch."])
def test_include_serves_another_servers_components(prefix: str) -> None:
    """Names of tools and prompts get the prefix, URIs do not, and options come along."""
    server = MCPServer("trunk")
    server.include(branch(), prefix=prefix)

    async def work(client: Any) -> list[Any]:
        (entry,) = (await client.request("tools/list"))["tools"]
        with pytest.raises(RequestFailed, match="'number' must be integer"):
            await client.call_tool(f"{prefix}look", {"number": "x"})
        reference = {"type": "ref/prompt", "name": f"{prefix}explain"}
        return [
            (entry["name"], entry["title"], entry["description"], entry["_meta"]["dev.typegate/tags"]),
            (await client.call_tool(f"{prefix}look", {"number": 5})).text,
            (await client.get_prompt(f"{prefix}explain", {"topic": "rain"})).text,
            await client.complete(reference, "topic", "ra"),
            (await client.read_resource("config://limits")).text,
            (await client.read_resource("orders://7")).text,
        ]

    shown = (f"{prefix}look", "Find", "Look it up.", ["slow"])
    assert ask(server, work) == [shown, "5", "rain", ["ra!"], "limits", "7"]


@pytest.mark.parametrize("kind", ["tools", "prompts", "resources"])
def test_include_tells_the_clients(kind: str) -> None:
    """A client that is connected learns that its listings have changed."""
    server, other = branch(), MCPServer("other")
    KINDS[kind](other, "new")

    async def work(client: Any) -> list[str]:
        server.include(other, prefix="more.")
        await client.request("tools/list")
        return [method for method, _ in client.notifications]

    assert f"notifications/{kind}/list_changed" in ask(server, work, "2025-11-25")
