"""What `typegate.app` promises: it collects what authors write, and refuses at once what cannot work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from typegate import (
    ConfigurationError,
    Context,
    Gate,
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

BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [  # options that cannot work, what is said
    ({"name": 3}, "name= takes a str that is not empty, not 3"),
    ({"page_size": 0}, "page_size= takes an integer of at least 1, or None for all in one page, not 0"),
    ({"lifespan": 3}, "lifespan= takes a function that gives an async context manager, not 3"),
    ({"gate": None}, "gate= takes a Gate(...), not None"),
    ({"audit": 1}, "audit= takes an AuditLog(...), or None for no log, not 1"),
]


@pytest.mark.parametrize(("options", "said"), BAD_OPTIONS)
def test_a_server_option_that_cannot_work_is_refused(options: dict[str, Any], said: str) -> None:
    """At once, with the name of the option and what it takes."""
    with pytest.raises(ConfigurationError) as refused:
        MCPServer(**{"name": "x", **options})
    assert str(refused.value) == said


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


@pytest.mark.parametrize("verb", REGISTER)
def test_an_option_of_the_wrong_kind_is_refused(verb: str) -> None:
    """Whichever verb was told; nothing is registered, and the other components stay listed."""
    server = MCPServer("x")
    for option, value in (("scopes", "admin"), ("title", 3), ("meta", {"x": object()}), ("icons", "abc")):
        with pytest.raises(RegistrationError, match=rf"^{option}= takes a "):
            REGISTER[verb](server, **{option: value})
    server.add_tool("other", find)
    assert [each.name for each in ask(server, lambda client: client.list_tools())] == ["other"]


@pytest.mark.parametrize("verb", TOOLS)
def test_a_gate_of_a_tool_is_a_gate(verb: str) -> None:
    """`None` leaves it to the server."""
    with pytest.raises(RegistrationError, match=r"^gate= takes a Gate\(\.\.\.\), not a value of type dict$"):
        REGISTER[verb](MCPServer("x"), gate={"unknown": "ignore"})
    REGISTER[verb](MCPServer("x"), gate=None)


def test_scopes_that_can_be_read_once_are_kept() -> None:
    """A mark is read when it is made, and its tools are made later."""

    class Shop:
        @tool(scopes=(each for each in ["admin"]))
        def close(self) -> str:
            return "closed"

    server = MCPServer("x")
    server.add_tools(Shop())
    assert [plan.options.scopes for plan in server.catalogue.tools] == [{"admin"}]
    assert ask(server, lambda client: client.list_tools()) == []


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
    server.prompt(explain)

    @server.completion(explain, "topic")
    def suggest(typed: str, here: "Alias") -> list[str]:  # type: ignore[valid-type]
        return []

    trunk.include(server)
    for found in (server.catalogue, trunk.catalogue):
        plans = [*found.tools, *list(found.prompts)[:2], *found.resources, *found.completions]
        assert [plan.callback.injected for plan in plans] == [("here",)] * 8


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


NO_FUNCTION: list[tuple[Callable[[MCPServer], Any], str]] = [  # what was written, how it is written
    (lambda server: server.tool("find"), "tool takes keyword options: @server.tool(name=...)"),
    (lambda server: server.tool()(5), "tool takes keyword options: @server.tool(name=...)"),
    (lambda server: server.prompt("find"), "prompt takes keyword options: @server.prompt(name=...)"),
    (lambda server: server.prompt()(5), "prompt takes keyword options: @server.prompt(name=...)"),
    (lambda server: tool("find"), "tool takes keyword options: @typegate.tool(name=...)"),
    (
        lambda server: tool(server.add_tool),
        "a bound or built-in method cannot be marked; register it: server.",
    ),
    (
        lambda server: tool(print),
        "a bound or built-in method cannot be marked; register it: server.add_tool(",
    ),
    (lambda server: tool(name="find")(5), "tool takes keyword options: @typegate.tool(name=...)"),
    (
        lambda server: server.resource(find),
        "resource takes its URI first: @server.resource('config://limits')",
    ),
    (
        lambda server: server.resource("a://b")(5),
        "resource is a decorator: @server.resource('config://limits')",
    ),
    (
        lambda server: server.prompt(explain) and server.completion(explain, "topic")(5),
        "completion is a decorator: @server.completion(target, argument)",
    ),
    (lambda server: server.include(5), "include takes a server and a str: server.include(other, prefix="),
    (lambda server: server.include(server, 5), "include takes a server and a str: server.include(other, "),
]


@pytest.mark.parametrize(("write", "said"), NO_FUNCTION)
def test_a_decorator_that_is_written_wrongly_says_how(write: Any, said: str) -> None:
    """At once: nothing is left out without a word."""
    with pytest.raises(RegistrationError) as refused:
        write(MCPServer("x"))
    assert str(refused.value).startswith(said)


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


class Without(Base):
    """One inherited tool less; another is written again without a mark."""

    zebra: Any = None

    def ant(self) -> str:
        return "ant without a mark"


def test_an_inherited_method_can_be_taken_away() -> None:
    """With `None` in its place; one that is only written again stays a tool."""
    server = MCPServer("x")
    server.add_tools(Without())
    assert tools(server) == ["ant"]
    assert texts(server, "ant") == ["ant without a mark"]


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
    """On the line of the decorator; the text shows it, and one that would do."""
    with pytest.raises(RegistrationError) as refused:
        MCPServer("x").resource(uri)
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


DUPLICATES = [("warn", "first"), ("ignore", "first"), ("replace", "second")]


def completed(server: MCPServer, *refs: dict[str, str], argument: str = "topic") -> list[list[str]]:
    """What is suggested for the argument of each of these."""

    async def work(client: Any) -> list[list[str]]:
        return [await client.complete(ref, argument, "") for ref in refs]

    return list(ask(server, work))


@pytest.mark.parametrize(("on_duplicate", "stays"), DUPLICATES)
def test_an_argument_that_is_completed_twice(
    on_duplicate: Any, stays: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Is completed as `on_duplicate` says, like everything that has a name."""
    server = MCPServer("x", on_duplicate=on_duplicate)
    server.prompt(explain)
    server.completion(explain, "topic")(lambda typed: ["first"])
    server.completion(explain, "topic")(lambda typed: ["second"])
    assert completed(server, PROMPT) == [[stays]]
    assert ("completion of 'topic' of prompt 'explain' is registered" in caplog.text) is (
        on_duplicate == "warn"
    )


def test_an_argument_must_not_be_completed_twice() -> None:
    """Where the author says so."""
    server = MCPServer("x", on_duplicate="error")
    server.prompt(explain)
    server.completion(explain, "topic")(lambda typed: [])
    with pytest.raises(
        RegistrationError, match=r"^the completion of 'topic' of prompt 'explain' is registered"
    ):
        server.completion(explain, "topic")(lambda typed: [])


def test_the_completion_goes_with_what_it_completes() -> None:
    """It does not suggest values for another prompt of the same name."""
    server = MCPServer("x", on_duplicate="replace")
    server.prompt(explain)
    server.completion(explain, "topic")(lambda typed: ["first"])
    server.prompt(name="explain")(lambda topic: topic)
    assert len(server.catalogue.completions) == 0


@pytest.mark.parametrize("injected", [False, True])
def test_what_a_completion_may_say_is_announced(injected: bool) -> None:
    """It can log as well as anything else that asks for the context."""

    def suggest(typed: str, here: Context) -> list[str]:
        return []

    server = MCPServer("x")
    server.prompt(explain)
    server.completion(explain, "topic")(suggest if injected else lambda typed: [])
    answer = ask(server, lambda client: client.request("server/discover"))
    assert ("logging" in answer["capabilities"]) is injected


# --- composition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("on_duplicate", "stays"), DUPLICATES)
def test_what_is_included_brings_its_own_completions(on_duplicate: Any, stays: str) -> None:
    """What stays keeps its own, and one that it never had is not given to it."""

    def server(name: str, *arguments: str) -> MCPServer:
        made = MCPServer(name, on_duplicate=on_duplicate)
        made.prompt(name="explain")(lambda topic, tone="": topic)
        made.resource("a://{topic}{?tone}", name="show")(lambda topic, tone="": topic)
        for target in ("explain", "a://{topic}{?tone}"):
            for argument in arguments:
                made.completion(target, argument)(lambda typed: [name])
        return made

    trunk = server("first", "topic")
    trunk.include(server("second", "topic", "tone"))
    refs = (PROMPT, {"type": "ref/resource", "uri": "a://{topic}{?tone}"})
    assert completed(trunk, *refs) == [[stays]] * 2
    assert completed(trunk, *refs, argument="tone") == [[stays] if stays == "second" else []] * 2


@pytest.mark.parametrize("on_duplicate", ["warn", "ignore", "replace"])
def test_a_server_may_include_itself(on_duplicate: Any) -> None:
    """Under a prefix everything is there twice."""
    server = MCPServer("x", on_duplicate=on_duplicate)
    server.tool(find)
    server.prompt(explain)
    server.resource("a://{topic}")(show_topic)
    server.completion(explain, "topic")(lambda typed: ["prompt"])
    server.completion(show_topic, "topic")(lambda typed: ["template"])
    server.include(server, "b.")
    assert tools(server) == ["find", "b.find"]
    found = completed(server, PROMPT, {"type": "ref/prompt", "name": "b.explain"}, TEMPLATE)
    assert found == [["prompt"], ["prompt"], ["template"]]


GATES = [  # of the tool, of its server, of the server that includes it; what then holds
    ({}, {}, {}, ("forbid", "containers")),
    ({}, {"unknown": "ignore"}, {}, ("ignore", "containers")),
    ({}, {}, {"unknown": "ignore"}, ("ignore", "containers")),
    ({}, {"unknown": "forbid"}, {"unknown": "ignore", "repair": "none"}, ("forbid", "none")),
    ({"unknown": "ignore"}, {"unknown": "forbid", "repair": "all"}, {"repair": "none"}, ("ignore", "all")),
]


@pytest.mark.parametrize(("own", "inner", "outer", "holds"), GATES)
def test_the_gate_of_what_is_included(own: Any, inner: Any, outer: Any, holds: tuple[str, str]) -> None:
    """The tool's own is laid over that of its server, and that over the one that includes it."""
    server, between = MCPServer("inner", gate=Gate(**inner)), MCPServer("between")
    trunk = MCPServer("trunk", gate=Gate(**outer))
    server.tool(gate=Gate(**own))(find)
    between.include(server)
    trunk.include(between)
    (plan,) = trunk.catalogue.tools
    assert (plan.gate.unknown, plan.gate.repair) == holds


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


@pytest.mark.parametrize("gives", [None, contextlib.nullcontext, contextlib.contextmanager(iter)])
def test_a_lifespan_that_gives_something_else_is_told(gives: Any) -> None:
    """In words, when the server starts: only then it is seen."""

    def lifespan(server: MCPServer) -> Any:
        return gives and gives([None])

    server = MCPServer("x", lifespan=lifespan)
    server.add_tool(find)
    if gives is contextlib.nullcontext:
        assert texts(server, "find") == ["found"]
        return
    with pytest.raises(
        ConfigurationError, match=r"^lifespan= gave a value of type .* no async context manager;"
    ):
        texts(server, "find")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"transport": "sse"}, "transport 'sse' is not part of this version; use 'stdio'"),
        ({"grace": "5"}, "grace= takes a number of seconds, not '5'"),
        ({"port": 8000}, "port= is no option of run() in this version of typegate"),
    ],
)
def test_what_cannot_be_run_is_refused(options: dict[str, Any], said: str) -> None:
    """Before anything is read or written."""
    with pytest.raises(ConfigurationError) as refused:
        MCPServer("x").run(**options)
    assert str(refused.value) == said
