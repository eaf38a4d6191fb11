"""What `typegate.app` promises: it collects what authors write, and refuses at once what cannot work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from typegate import (
    ConfigurationError,
    Context,
    Icon,
    MCPServer,
    RegistrationError,
    tool,
)

REVISIONS = ("2024-11-05", "2025-11-25", "2026-07-28")
ICON = Icon(src="https://example.com/a.png")


def ask(server: MCPServer, work: Callable[[Any], Any], revision: str = REVISIONS[-1], **options: Any) -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(protocol_version=revision, **options) as client:
            return await work(client)

    return asyncio.run(main())


def find() -> str:
    """Find it."""
    return "found"


def explain(topic: str) -> str:
    """Explain it."""
    return topic


def tools(server: MCPServer) -> list[str]:
    """The names of its tools, in order."""
    return [plan.key for plan in server.catalogue.tools]


def texts(server: MCPServer, *names: str) -> list[str]:
    """What its tools answer."""

    async def work(client: Any) -> list[str]:
        return [(await client.call_tool(name)).text for name in names]

    return list(ask(server, work))


# --- the server ----------------------------------------------------------------------------------

BAD_OPTIONS = [  # options that cannot work, what is said
    ({"page_size": 0}, "page_size must be at least 1"),
    ({"page_size": -1}, "page_size must be at least 1"),
    ({"threads": 0}, "threads must be at least 1"),
    ({"schema_style": "tiny"}, "schema_style= must be 'compact' or 'inline' or 'pydantic'"),
    ({"on_duplicate": "keep"}, "on_duplicate= must be 'warn' or 'error' or 'replace' or 'ignore'"),
    ({"on_missing_scope": "challenge"}, "on_missing_scope= must be 'hide'"),
    ({"gate": None}, "gate= takes a Gate(...)"),
    ({"gate": {"unknown": "ignore"}}, "gate= takes a Gate(...)"),
]


@pytest.mark.parametrize(("options", "said"), BAD_OPTIONS)
def test_a_server_option_that_cannot_work_is_refused(options: dict[str, Any], said: str) -> None:
    """At once, with the name of the option and what it takes."""
    with pytest.raises(ConfigurationError) as refused:
        MCPServer("x", **options)
    assert str(refused.value).startswith(said)


GOOD_OPTIONS: list[dict[str, Any]] = [
    *({"schema_style": style} for style in ("compact", "inline", "pydantic")),
    *({"on_duplicate": way} for way in ("warn", "error", "replace", "ignore")),
    {"page_size": 1, "threads": 1, "on_missing_scope": "hide", "json_indent": None},
    dict.fromkeys(("redactor", "audit", "access", "rate_limit", "limits", "auth")),
]


@pytest.mark.parametrize("options", GOOD_OPTIONS)
def test_a_server_option_that_can_work_is_taken(options: dict[str, Any]) -> None:
    """Down to the smallest number, and `None` for what is not built."""
    server = MCPServer("x", **options)
    server.add_tool(find)
    assert (server.name, texts(server, "find")) == ("x", ["found"])


def told(server: MCPServer, revision: str) -> dict[str, Any]:
    """What a client learns of the server when it meets it."""
    method = "server/discover" if revision == REVISIONS[-1] else "initialize"
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
    answer = ask(
        server, lambda client: client.request(method, {} if "discover" in method else params), revision
    )
    about = answer.get("serverInfo") or answer["_meta"]["io.modelcontextprotocol/serverInfo"]
    return {"instructions": answer.get("instructions"), **about}


ABOUT = {"version": "1.2", "title": "Orders", "description": "All.", "website_url": "https://example.com"}


@pytest.mark.parametrize("revision", REVISIONS[1:])
def test_a_server_says_what_it_is(revision: str) -> None:
    """Everything that its author wrote, under the names of the specification."""
    server = MCPServer("orders", **ABOUT, icons=[ICON], instructions="Ask for ids.")
    assert told(server, revision) == {
        "name": "orders",
        "version": "1.2",
        "title": "Orders",
        "description": "All.",
        "websiteUrl": "https://example.com",
        "icons": [{"src": "https://example.com/a.png"}],
        "instructions": "Ask for ids.",
    }


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_server_says_no_more_than_it_knows(revision: str) -> None:
    """A name is enough; the version then is the first one."""
    assert told(MCPServer("x"), revision) == {"name": "x", "version": "0.1.0", "instructions": None}


@pytest.mark.parametrize(
    ("indent", "text"), [(2, '{\n  "a": 1\n}'), (4, '{\n    "a": 1\n}'), (None, '{"a":1}')]
)
def test_json_in_text_is_indented_as_the_server_says(indent: int | None, text: str) -> None:
    """`None` is compact."""
    server = MCPServer("x", json_indent=indent)
    server.add_tool("give", lambda: {"a": 1})
    assert texts(server, "give") == [text]


# --- the options of decorators -------------------------------------------------------------------

REGISTER: dict[str, Callable[..., Any]] = {
    "tool": lambda server, **options: server.tool(**options)(find),
    "add_tool": lambda server, **options: server.add_tool(find, **options),
    "add_tool by name": lambda server, **options: server.add_tool("find", find, **options),
    "mark": lambda server, **options: tool(**options)(find),
    "resource": lambda server, **options: server.resource("a://b", **options)(find),
    "template": lambda server, **options: server.resource("a://{topic}", **options)(explain),
    "prompt": lambda server, **options: server.prompt(**options)(find),
}
TOOLS = ("tool", "add_tool", "add_tool by name", "mark")
STRANGERS = [  # who takes it not, which option
    *((verb, option) for verb in TOOLS for option in ("uri", "mime_type", "size", "unsafe", "arguments")),
    *((verb, "local_names") for verb in REGISTER if verb != "template"),
    *(("prompt", option) for option in ("uri", "mime_type", "schema", "gate", "annotations", "unsafe")),
    *(
        ("resource", option)
        for option in ("schema", "output_schema", "structured_output", "gate", "arguments")
    ),
]


@pytest.mark.parametrize(("verb", "option"), STRANGERS)
def test_an_option_of_another_kind_is_refused(verb: str, option: str) -> None:
    """The text names the option and the kind, and nothing is registered."""
    server = MCPServer("x")
    kind = "tool" if verb in TOOLS else verb
    with pytest.raises(ConfigurationError, match=rf"^{option}= is no option of a {kind} in this version"):
        REGISTER[verb](server, **{option: None})
    catalogue = server.catalogue
    assert not any(map(len, (catalogue.tools, catalogue.resources, catalogue.templates, catalogue.prompts)))


TEXTS = [
    *((verb, option) for verb in REGISTER for option in ("scopes", "tags", "icons")),
    *((verb, "unsafe") for verb in ("resource", "template")),
]


@pytest.mark.parametrize(("verb", "option"), TEXTS)
def test_a_text_is_no_list(verb: str, option: str) -> None:
    """`scopes="admin"` would be five scopes of one letter; the text shows what was meant."""
    with pytest.raises(ConfigurationError, match=rf"^{option}= takes a list: {option}=\['admin'\]$"):
        REGISTER[verb](MCPServer("x"), **{option: "admin"})


@pytest.mark.parametrize("verb", TOOLS)
def test_a_gate_of_a_tool_is_a_gate(verb: str) -> None:
    """`None` leaves it to the server."""
    with pytest.raises(ConfigurationError, match=r"^gate= takes a Gate\(\.\.\.\)$"):
        REGISTER[verb](MCPServer("x"), gate={"unknown": "ignore"})
    REGISTER[verb](MCPServer("x"), gate=None)


def test_hints_may_name_what_is_local_to_the_decorator() -> None:
    """Whichever verb registers the function; and what another server includes stays resolved."""

    class Local(Context[None]):
        pass

    Alias = Local

    def show(here: "Alias") -> str:  # type: ignore[valid-type]
        return "shown"

    class Shop:
        @tool
        def of_shop(self, here: "Alias") -> str:  # type: ignore[valid-type]
            return "shown"

    server, trunk = MCPServer("x"), MCPServer("trunk")
    server.tool(show)
    server.tool(name="called")(show)
    server.add_tool("added", show)
    server.add_tools(Shop())
    server.prompt(show)
    server.prompt(name="called")(show)
    server.resource("a://b")(show)
    trunk.include(server)
    for found in (server.catalogue, trunk.catalogue):
        plans = [*found.tools, *found.prompts, *found.resources]
        assert [plan.callback.injected for plan in plans] == [("here",)] * 7


# --- tools ---------------------------------------------------------------------------------------


def test_a_tool_is_added_by_itself_or_under_a_name() -> None:
    """The name goes before one among the options, and before the function's."""
    server = MCPServer("x")
    server.add_tool(find)
    server.add_tool("second", find)
    server.add_tool("third", find, name="not this")
    server.add_tool(find, name="fourth")
    assert tools(server) == ["find", "second", "third", "fourth"]
    assert texts(server, "find", "second", "third", "fourth") == ["found"] * 4


@pytest.mark.parametrize("given", [("find",), (5,), ("find", None)])
def test_a_tool_without_its_function_is_refused(given: Any) -> None:
    """The text shows how to write it."""
    with pytest.raises(RegistrationError, match=r"add_tool\(handler\) or add_tool\(name, handler\)$"):
        MCPServer("x").add_tool(*given)
    with pytest.raises(RegistrationError, match=r"^tool takes keyword options: @server\.tool\(name="):
        MCPServer("x").tool(given[0])


def test_a_tool_that_is_not_there_cannot_be_removed() -> None:
    """It can be removed once."""
    server = MCPServer("x")
    server.add_tool(find)
    server.remove_tool("find")
    assert tools(server) == []
    with pytest.raises(RegistrationError, match=r"^there is no tool 'find' to remove$"):
        server.remove_tool("find")


class Base:
    """Tools that others inherit."""

    @tool
    def zebra(self) -> str:
        return "zebra of base"

    @tool(title="Base")
    def ant(self) -> str:
        return "ant of base"


class Derived(Base):
    """One in the place of an inherited one."""

    @tool(title="Derived")
    def ant(self) -> str:
        return "ant of derived"


def test_inherited_methods_are_tools_too() -> None:
    """In the order in which they were written, the nearest one where a name is taken again."""
    server, source = MCPServer("x"), Derived()
    source.own = tool(name="own")(find)  # type: ignore[attr-defined]
    server.add_tools(source)
    assert tools(server) == ["zebra", "ant", "own"]
    assert texts(server, *tools(server)) == ["zebra of base", "ant of derived", "found"]
    assert [plan.listed.title for plan in server.catalogue.tools] == [None, "Derived", None]


class Broken:
    """The second one cannot be a tool."""

    @tool
    def good(self) -> None:
        """Do well."""

    @tool(name="not good")
    def bad(self) -> None:
        """Do badly."""


@pytest.mark.parametrize(
    ("source", "said"),
    [(Broken(), "tool name 'not good'"), (object(), "object has no methods marked with @typegate.tool")],
    ids=["broken", "unmarked"],
)
def test_an_object_gives_all_of_its_tools_or_none(source: object, said: str) -> None:
    """The text says what is wrong, and nothing is left half done."""
    server = MCPServer("x")
    with pytest.raises(RegistrationError, match=said):
        server.add_tools(source)
    assert tools(server) == []


# --- resources and completions -------------------------------------------------------------------

URIS = ["config://limits", "a:b", "a+b.c-1:x", "urn:isbn:1", "A://b?c#d"]
NO_URIS = ["limits", "", "//a", "://a", "1a:b", "a:", "a: b", "a:b c", "a:b\n", "é:b"]


@pytest.mark.parametrize("uri", URIS)
def test_a_resource_has_a_URI(uri: str) -> None:
    """A scheme, a colon, and something behind it."""
    server = MCPServer("x")
    server.resource(uri)(find)
    assert ask(server, lambda client: client.read_resource(uri)).text == "found"


@pytest.mark.parametrize("uri", NO_URIS, ids=ascii)
def test_what_is_no_URI_is_refused(uri: str) -> None:
    """The text shows it, and one that would do."""
    with pytest.raises(RegistrationError) as refused:
        MCPServer("x").resource(uri)(find)
    assert str(refused.value) == f"resource '{uri}' needs a URI with a scheme, such as 'config://limits'"


@pytest.mark.parametrize("uri", ["a://{topic", "a://topic}"])
def test_a_URI_with_a_brace_is_a_template(uri: str) -> None:
    """One that has no partner is an error, not a fixed URI."""
    with pytest.raises(RegistrationError, match="has no partner"):
        MCPServer("x").resource(uri)(find)


def topical() -> MCPServer:
    """A server with a prompt and a template that have the argument `topic`."""
    server = MCPServer("x")
    server.prompt(name="other")(lambda other: other)
    server.prompt(explain)
    server.resource("other://{other}", name="other")(lambda other: other)
    server.resource("a://{topic}")(show_topic)
    return server


def show_topic(topic: str) -> str:
    """Show it."""
    return topic


PROMPT, TEMPLATE = {"type": "ref/prompt", "name": "explain"}, {"type": "ref/resource", "uri": "a://{topic}"}


@pytest.mark.parametrize(
    ("target", "completed", "other"),
    [
        ("explain", PROMPT, TEMPLATE),
        (explain, PROMPT, TEMPLATE),
        ("a://{topic}", TEMPLATE, PROMPT),
        (show_topic, TEMPLATE, PROMPT),
    ],
)
def test_what_is_completed_is_named_by_itself_or_its_function(
    target: Any, completed: Any, other: Any
) -> None:
    """And it alone is."""
    server = topical()
    server.completion(target, "topic")(lambda typed: [f"{typed}!"])
    assert ask(server, lambda client: client.complete(completed, "topic", "a")) == ["a!"]
    assert ask(server, lambda client: client.complete(other, "topic", "a")) == []


@pytest.mark.parametrize(
    ("target", "argument", "said"),
    [
        ("nobody", "topic", "there is no prompt and no template 'nobody' to complete; register it first"),
        ("a://b", "topic", "there is no prompt and no template 'a://b' to complete; register it first"),
        ("explain", "tone", "prompt 'explain' has no 'tone' to complete"),
        (show_topic, "tone", "resource 'a://{topic}' has no 'tone' to complete"),
    ],
)
def test_what_is_not_there_cannot_be_completed(target: Any, argument: str, said: str) -> None:
    """The text names it."""
    with pytest.raises(RegistrationError) as refused:
        topical().completion(target, argument)
    assert str(refused.value) == said


# --- changes and serving -------------------------------------------------------------------------

CHANGES: list[tuple[Callable[[MCPServer], Any], list[str]]] = [
    (lambda server: server.notify_tools_changed(), ["tools/list_changed"]),
    (lambda server: server.notify_prompts_changed(), ["prompts/list_changed"]),
    (lambda server: server.notify_resources_changed(), ["resources/list_changed"]),
    (lambda server: server.notify_resource_updated("a://b"), ["resources/updated"]),
    (lambda server: server.notify_resource_updated("a://c"), []),
    (lambda server: server.add_tool(find), []),  # it is there: nothing changes
    (lambda server: server.add_tool("new", find), ["tools/list_changed"]),
    (lambda server: server.remove_tool("find"), ["tools/list_changed"]),
    (lambda server: server.prompt(name="new")(find), ["prompts/list_changed"]),
    (lambda server: server.resource("a://new")(find), ["resources/list_changed"]),
    (lambda server: server.resource("a://{topic}")(explain), ["resources/list_changed"]),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_clients_are_told_what_changed(change: Any, expected: list[str]) -> None:
    """That and nothing else, whether the author says it or a registration changes something."""
    server = MCPServer("x", on_duplicate="ignore")
    server.add_tool(find)
    server.prompt(find)
    server.resource("a://b")(find)

    async def work(client: Any) -> list[str]:
        await client.request("resources/subscribe", {"uri": "a://b"})
        change(server)
        await client.request("ping")
        return [method.removeprefix("notifications/") for method, _ in client.notifications]

    assert ask(server, work, "2025-11-25") == expected


def test_the_lifespan_is_open_while_the_server_runs() -> None:
    """It gets the server, and is closed when the client has gone."""
    seen: list[Any] = []

    @contextlib.asynccontextmanager
    async def lifespan(server: MCPServer) -> AsyncIterator[str]:
        seen.append(server)
        yield "state"
        seen.append("closed")

    server = MCPServer("x", lifespan=lifespan)

    @server.tool
    async def state(here: Context[str]) -> str:
        seen.append("called")
        return here.lifespan

    assert texts(server, "state") == ["state"]
    assert seen == [server, "called", "closed"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"transport": "sse"}, "transport 'sse' is not part of this version; use 'stdio'"),
        ({"port": 8000}, "port= is no option of run() in this version of typegate"),
    ],
)
def test_what_cannot_be_run_is_refused(options: dict[str, Any], said: str) -> None:
    """Before anything is read or written."""
    with pytest.raises(ConfigurationError) as refused:
        MCPServer("x").run(**options)
    assert str(refused.value) == said
