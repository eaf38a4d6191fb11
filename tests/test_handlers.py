"""What `typegate.server.handlers` promises: each method does what the specification says of it."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from typegate import (
    BlobResourceContents,
    Context,
    Image,
    MCPServer,
    Principal,
    PromptMessage,
    RequestFailed,
    Text,
    TextResourceContents,
)
from typegate.transports.memory import Client
from typegate.types import PROBLEM_KEY
from typegate.versions import LEGACY, VERSIONS

Message = dict[str, Any]

NEWEST = "2026-07-28"
PARAMS, METHOD = -32602, -32601

every_revision = pytest.mark.parametrize("revision", VERSIONS)
every_session = pytest.mark.parametrize("revision", LEGACY)


def talk(
    server: MCPServer, question: Callable[[Client], Awaitable[Any]], revision: str = NEWEST, **options: Any
) -> Any:
    """What a client finds out."""

    async def main() -> Any:
        async with server.client(protocol_version=revision, **options) as client:
            return await question(client)

    return asyncio.run(main())


def ask(
    server: MCPServer, method: str, params: Message | None = None, revision: str = NEWEST, **options: Any
) -> Message:
    """The result of a request."""
    found: Message = talk(server, lambda client: client.request(method, params), revision, **options)
    return found


async def error_of(client: Client, method: str, params: Message) -> RequestFailed:
    """The error with which a request is answered."""
    with pytest.raises(RequestFailed) as caught:
        await client.request(method, params)
    return caught.value


def refused(
    server: MCPServer, method: str, params: Message | None = None, revision: str = NEWEST, **options: Any
) -> Any:
    """The same on a connection of its own."""
    return talk(server, lambda client: error_of(client, method, params or {}), revision, **options)


# --- what is advertised --------------------------------------------------------------------------


def with_tool(server: MCPServer) -> None:
    """One tool."""
    server.tool(name="tool")(lambda: "")


def with_resource(server: MCPServer) -> None:
    """One resource."""
    server.resource("r://1", name="resource")(lambda: "")


def with_template(server: MCPServer) -> None:
    """One family of resources."""
    server.resource("r://{x}", name="template")(lambda x: x)


def with_prompt(server: MCPServer) -> None:
    """One prompt."""
    server.prompt(name="prompt")(lambda x="": x)


def with_completion(server: MCPServer) -> None:
    """A prompt that can be completed."""
    with_prompt(server)
    server.completion("prompt", "x")(lambda value: [value])


def with_context(server: MCPServer) -> None:
    """A prompt that may log."""

    @server.prompt
    def prompt(ctx: Context) -> str:
        return ""


LIST_CHANGED = {"listChanged": True}
SUBSCRIBE = {"subscribe": True, "listChanged": True}

ADVERTISED: list[tuple[tuple[Callable[[MCPServer], None], ...], Message]] = [
    ((), {}),
    ((with_tool,), {"tools": LIST_CHANGED}),
    ((with_resource,), {"resources": SUBSCRIBE}),
    ((with_template,), {"resources": SUBSCRIBE}),
    ((with_prompt,), {"prompts": LIST_CHANGED}),
    ((with_completion,), {"prompts": LIST_CHANGED, "completions": {}}),
    ((with_context,), {"prompts": LIST_CHANGED, "logging": {}}),
    ((with_tool, with_template), {"tools": LIST_CHANGED, "resources": SUBSCRIBE}),
]

METHODS: list[tuple[str, Message, str]] = [  # a method, its params, the capability that it needs
    ("tools/list", {}, "tools"),
    ("tools/call", {"name": "x"}, "tools"),
    ("resources/list", {}, "resources"),
    ("resources/templates/list", {}, "resources"),
    ("resources/read", {"uri": "x:"}, "resources"),
    ("prompts/list", {}, "prompts"),
    ("prompts/get", {"name": "x"}, "prompts"),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {}}, "completions"),
]


def made(*parts: Callable[[MCPServer], None], **options: Any) -> MCPServer:
    """A server with these parts."""
    server = MCPServer("t", **options)
    for part in parts:
        part(server)
    return server


@every_revision
@pytest.mark.parametrize(("parts", "expected"), ADVERTISED)
def test_only_what_is_registered_is_advertised(parts: Any, expected: Message, revision: str) -> None:
    """In the handshake as in discovery; completions had no capability at first."""
    known = {key: item for key, item in expected.items() if (key, revision) != ("completions", "2024-11-05")}
    assert opening(made(*parts), revision)["capabilities"] == known


def opening(server: MCPServer, revision: str) -> Message:
    """The answer that tells what the server is."""
    if revision == NEWEST:
        return ask(server, "server/discover")
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    return ask(server, "initialize", params, revision)


@every_revision
@pytest.mark.parametrize(("parts", "advertised"), ADVERTISED)
def test_what_is_not_advertised_is_not_there(parts: Any, advertised: Message, revision: str) -> None:
    """Its methods are unknown ones, and those of the others answer."""

    async def try_all(client: Client) -> dict[str, bool]:
        found = {}
        for method, params, _ in METHODS:
            try:
                await client.request(method, params)
                found[method] = True
            except RequestFailed as error:
                found[method] = error.code != METHOD
        return found

    expected = {method: capability in advertised for method, _, capability in METHODS}
    if revision != NEWEST:
        expected["resources/read"] = True  # -32002 for any URI (case O-ERR-3)
    assert talk(made(*parts), try_all, revision) == expected


@every_revision
def test_what_is_advertised_is_settled_when_the_server_starts(revision: str) -> None:
    """A tool that comes later is listed where there were tools, and a first prompt is not to be seen."""
    server = made(with_tool)

    async def add(client: Client) -> Any:
        server.add_tool("later", lambda: "")
        with_prompt(server)
        tools = [tool.name for tool in await client.list_tools()]
        return tools, (await error_of(client, "prompts/list", {})).code

    assert talk(server, add, revision) == (["tool", "later"], METHOD)


@every_revision
@pytest.mark.parametrize("instructions", [None, "", "do this"])
def test_instructions_are_told_where_there_are_some(instructions: str | None, revision: str) -> None:
    """To every client."""
    assert opening(made(instructions=instructions), revision).get("instructions") == instructions


@every_session
def test_a_ping_is_answered(revision: str) -> None:
    """With an empty result."""
    assert ask(made(), "ping", revision=revision) == {}


# --- listings ------------------------------------------------------------------------------------


def full(count: int = 7, **options: Any) -> MCPServer:
    """A server with so many of each kind."""
    server = MCPServer("t", **options)
    for number in range(count):
        server.tool(name=f"t{number}")(lambda: "")
        server.resource(f"r://{number}", name=f"r{number}")(lambda: "")
        server.resource(f"r{number}://{{x}}", name=f"m{number}")(lambda x: x)
        server.prompt(name=f"p{number}")(lambda: "")
    return server


LISTINGS = {
    "tools/list": ("tools", "t"),
    "resources/list": ("resources", "r"),
    "resources/templates/list": ("resourceTemplates", "m"),
    "prompts/list": ("prompts", "p"),
}
every_listing = pytest.mark.parametrize("method", LISTINGS)


async def pages(client: Client, method: str) -> list[list[str]]:
    """The names on each page of a listing."""
    found, params = [], {}
    for _ in range(100):
        page = await client.request(method, params)
        found.append([item["name"] for item in page[LISTINGS[method][0]]])
        if "nextCursor" not in page:
            return found
        params = {"cursor": page["nextCursor"]}
    raise AssertionError("there is no last page")


@every_revision
@every_listing
@pytest.mark.parametrize(
    ("size", "sizes"), [(None, [7]), (7, [7]), (100, [7]), (6, [6, 1]), (3, [3, 3, 1]), (1, [1] * 7)]
)
def test_a_listing_has_pages(size: int | None, sizes: list[int], method: str, revision: str) -> None:
    """Of the size that the server has set; all of it is seen once and in order."""
    found = talk(full(page_size=size), lambda client: pages(client, method), revision)
    assert list(map(len, found)) == sizes
    assert [name for page in found for name in page] == [
        f"{LISTINGS[method][1]}{number}" for number in range(7)
    ]


@every_revision
@every_listing
def test_an_empty_listing_has_one_page(method: str, revision: str) -> None:
    """What was registered may be gone; the capability stays."""
    server = full(1, page_size=2)

    async def empty(client: Client) -> Any:
        for registry in ("tools", "resources", "templates", "prompts"):
            catalogue = getattr(server.catalogue, registry)
            for plan in catalogue:
                catalogue.remove(plan.key)
        return await pages(client, method)

    assert talk(server, empty, revision) == [[]]


@every_revision
def test_a_cursor_goes_on_where_it_was_while_tools_come_and_go(revision: str) -> None:
    """What is there all the time is seen once, though its neighbours are not."""
    server = full(6, page_size=2)

    async def walk(client: Client) -> list[str]:
        first = await client.request("tools/list")
        server.remove_tool("t1")  # the one that the cursor came from
        server.remove_tool("t0")
        server.remove_tool("t3")
        server.add_tool("new", lambda: "")
        second = await client.request("tools/list", {"cursor": first["nextCursor"]})
        server.remove_tool("t5")
        third = await client.request("tools/list", {"cursor": second["nextCursor"]})
        assert "nextCursor" not in third
        return [tool["name"] for page in (first, second, third) for tool in page["tools"]]

    assert talk(server, walk, revision) == ["t0", "t1", "t2", "t4", "new"]


def cursor_of(server: MCPServer, method: str = "tools/list", **options: Any) -> str:
    """The cursor of the first page."""
    found: str = ask(server, method, **options)["nextCursor"]
    return found


def flipped(cursor: str) -> str:
    """The cursor with one character changed."""
    return ("A" if cursor[0] != "A" else "B") + cursor[1:]


@every_revision
@every_listing
def test_a_cursor_that_was_tampered_with_is_refused(method: str, revision: str) -> None:
    """Like any text that never was one, and the listing can be begun again."""
    server = full(page_size=2)
    cursor = cursor_of(server, method, revision=revision)
    for other in (flipped(cursor), cursor[:-1], cursor + "A", "", " ", "0", "2", "null", "é", "A" * 5000):
        assert refused(server, method, {"cursor": other}, revision).code == PARAMS
    assert ask(server, method, {"cursor": cursor}, revision)


@every_revision
@pytest.mark.parametrize("cursor", [0, 1.5, True, [], {}, ["A"]])
def test_a_cursor_is_a_string(cursor: Any, revision: str) -> None:
    """Anything else is -32602 too."""
    assert refused(full(page_size=2), "tools/list", {"cursor": cursor}, revision).code == PARAMS


@every_listing
def test_a_cursor_is_good_for_its_own_listing(method: str) -> None:
    """That of another kind is refused."""
    server = full(page_size=2)
    for other in LISTINGS.keys() - {method}:
        assert refused(server, method, {"cursor": cursor_of(server, other)}).code == PARAMS


@every_listing
def test_a_cursor_is_good_for_its_own_server(method: str) -> None:
    """Another one, alike in every respect, refuses it, and so does one without pages."""
    cursor = cursor_of(full(page_size=2), method)
    assert refused(full(page_size=2), method, {"cursor": cursor}).code == PARAMS
    assert refused(full(), method, {"cursor": cursor}).code == PARAMS


def test_a_cursor_is_good_for_its_own_caller() -> None:
    """It cannot be passed on to somebody else."""
    server, one, other = full(page_size=2), Principal(subject="one"), Principal(subject="other")
    cursor = cursor_of(server, principal=one)
    assert ask(server, "tools/list", {"cursor": cursor}, principal=one)
    assert refused(server, "tools/list", {"cursor": cursor}, principal=other).code == PARAMS
    assert refused(server, "tools/list", {"cursor": cursor}).code == PARAMS


def test_a_cursor_is_good_on_any_connection() -> None:
    """And at any revision: the server remembers nothing of it."""
    server = full(page_size=2)
    cursor = cursor_of(server)
    for revision in VERSIONS:
        page = ask(server, "tools/list", {"cursor": cursor}, revision)
        assert [tool["name"] for tool in page["tools"]] == ["t2", "t3"]


# --- tools ---------------------------------------------------------------------------------------


def toolbox() -> MCPServer:
    """Tools of all kinds."""
    server = MCPServer("t")

    @server.tool
    def add(a: float = 1, b: float = 2) -> float:
        return a + b

    server.tool(name="late")(lambda: later())
    server.tool(name="late_inline", inline=True)(lambda: later())
    return server


async def later() -> str:
    """What a plain function may give: something to wait for."""
    await asyncio.sleep(0)
    return "later"


@every_revision
@pytest.mark.parametrize("name", ["no_such_tool", "ADD", "", "add ", "x\n\x1b[31m" + "y" * 500])
def test_an_unknown_tool_is_a_protocol_error(name: str, revision: str) -> None:
    """It is named, as far as that is harmless."""
    error = refused(toolbox(), "tools/call", {"name": name}, revision)
    assert (error.code, error.message.startswith("Unknown tool: ")) == (PARAMS, True)
    assert error.message.isprintable()
    assert len(error.message) < 250
    assert error.data[PROBLEM_KEY]["code"] == "unknown_tool"


@every_revision
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": None},
        {"name": 1},
        {"name": ["add"]},
        *({"name": "add", "arguments": bad} for bad in ([], [1], "{}", 1, True)),
    ],
)
def test_a_malformed_call_is_a_protocol_error(params: Message, revision: str) -> None:
    """There must be a name, and arguments are an object."""
    assert refused(toolbox(), "tools/call", params, revision).code == PARAMS


@every_revision
@pytest.mark.parametrize("more", [{}, {"arguments": None}, {"arguments": {}}, {"task": {"ttl": 1}}, {"x": 1}])
def test_arguments_may_be_left_out(more: Message, revision: str) -> None:
    """And what the method does not know is ignored."""
    assert ask(toolbox(), "tools/call", {"name": "add", **more}, revision)["content"][0]["text"] == "3"


@every_revision
@pytest.mark.parametrize("number", ["1e999", "-1e400", "9" * 5000])
def test_a_number_beyond_Python_is_an_issue_of_its_argument(number: str, revision: str) -> None:
    """The model reads where it is; the function did not run."""

    async def call(client: Client) -> Any:
        send = client.send
        client.send = lambda line: send(line.replace(b'"NUMBER"', number.encode()))
        return await client.request("tools/call", {"name": "add", "arguments": {"a": "NUMBER"}})

    result = talk(toolbox(), call, revision)
    assert result["isError"]
    assert "'a'" in result["content"][0]["text"]


@pytest.mark.parametrize("name", ["late", "late_inline"])
def test_a_plain_function_may_give_something_to_wait_for(name: str) -> None:
    """As one does that wraps a coroutine function."""
    assert ask(toolbox(), "tools/call", {"name": name})["content"][0]["text"] == "later"


# --- resources -----------------------------------------------------------------------------------

BLOB = base64.b64encode(b"\x00\xff").decode()
PARTS = [
    TextResourceContents(uri="r://a", text="a"),
    BlobResourceContents(uri="r://b", blob=BLOB, mime_type="b/b"),
]

READ: list[tuple[Any, list[Message]]] = [  # what a function gives, what is read
    ("text", [{"text": "text", "mimeType": "text/plain"}]),
    ("", [{"text": "", "mimeType": "text/plain"}]),
    (None, [{"text": "", "mimeType": "text/plain"}]),
    (b"\x00\xff", [{"blob": BLOB, "mimeType": "application/octet-stream"}]),
    (bytearray(b"\x00\xff"), [{"blob": BLOB, "mimeType": "application/octet-stream"}]),
    (memoryview(b"\x00\xff"), [{"blob": BLOB, "mimeType": "application/octet-stream"}]),
    ({"a": [1]}, [{"text": '{\n  "a": [\n    1\n  ]\n}', "mimeType": "application/json"}]),
    ([], [{"text": "[]", "mimeType": "application/json"}]),
    (3, [{"text": "3", "mimeType": "application/json"}]),
    (PARTS[0], [{"uri": "r://a", "text": "a"}]),
    (PARTS, [{"uri": "r://a", "text": "a"}, {"uri": "r://b", "blob": BLOB, "mimeType": "b/b"}]),
]


@every_revision
@pytest.mark.parametrize(("value", "expected"), READ)
def test_a_resource_is_what_its_function_gives(value: Any, expected: list[Message], revision: str) -> None:
    """Text, bytes or JSON under its own URI, or contents made by hand; never nothing at all."""
    server = MCPServer("t")
    server.resource("r://x", name="x")(lambda: value)
    contents = ask(server, "resources/read", {"uri": "r://x"}, revision)["contents"]
    assert contents == [{"uri": "r://x", **part} for part in expected]


@pytest.mark.parametrize("value", ["text", b"bytes", {"a": 1}])
def test_a_resource_has_the_type_that_was_given(value: Any) -> None:
    """Whatever its function gives."""
    server = MCPServer("t")
    server.resource("r://x", name="x", mime_type="m/m")(lambda: value)
    assert ask(server, "resources/read", {"uri": "r://x"})["contents"][0]["mimeType"] == "m/m"


def family() -> MCPServer:
    """Resources with variables."""
    server = MCPServer("t")

    @server.resource("book://{number}")
    async def book(number: int) -> str:
        return repr(number + 1)

    @server.resource("book://index")
    def index() -> str:
        return "all"

    return server


@every_revision
def test_the_variables_of_a_template_are_typed(revision: str) -> None:
    """A fixed URI goes before it, and what does not fit is -32602."""
    server = family()
    for uri, text in (("book://7", "8"), ("book://index", "all")):
        assert ask(server, "resources/read", {"uri": uri}, revision)["contents"] == [
            {"uri": uri, "text": text, "mimeType": "text/plain"}
        ]
    assert refused(server, "resources/read", {"uri": "book://seven"}, revision).code == PARAMS


@every_revision
@pytest.mark.parametrize("uri", ["film://1", "book:/1", "BOOK://index", "", "x\n" + "y" * 5000])
def test_a_resource_that_is_not_there_is_an_error_of_its_revision(uri: str, revision: str) -> None:
    """With the URI as data, and never empty contents."""
    error = refused(family(), "resources/read", {"uri": uri}, revision)
    assert error.code == (PARAMS if revision == NEWEST else -32002)
    assert error.data["uri"] == uri
    assert error.data[PROBLEM_KEY]["code"] == "unknown_resource"
    assert error.message.isprintable()
    assert len(error.message) < 300


@every_revision
@pytest.mark.parametrize("params", [{}, {"uri": None}, {"uri": 1}, {"uri": ["book://1"]}])
def test_reading_needs_a_URI(params: Message, revision: str) -> None:
    """A string."""
    error = refused(family(), "resources/read", params, revision)
    assert (error.code, error.data[PROBLEM_KEY]["code"]) == (PARAMS, "invalid_params")


# --- prompts -------------------------------------------------------------------------------------

FILLED: list[tuple[Any, list[tuple[str, Message]]]] = [  # what a function gives, the roles and blocks
    ("text", [("user", {"type": "text", "text": "text"})]),
    (Text("text"), [("user", {"type": "text", "text": "text"})]),
    (PromptMessage("text", "assistant"), [("assistant", {"type": "text", "text": "text"})]),
    (Image(data=b"x"), [("user", {"type": "image", "data": "eA==", "mimeType": "image/png"})]),
    ({"a": 1}, [("user", {"type": "text", "text": '{\n  "a": 1\n}'})]),
    ([], []),
    (
        ["one", PromptMessage(Image(data=b"x"), "assistant"), ("two",)],
        [
            ("user", {"type": "text", "text": "one"}),
            ("assistant", {"type": "image", "data": "eA==", "mimeType": "image/png"}),
            ("user", {"type": "text", "text": '[\n  "two"\n]'}),
        ],
    ),
]


@every_revision
@pytest.mark.parametrize(("value", "expected"), FILLED)
def test_a_prompt_is_what_its_function_gives(value: Any, expected: list[Any], revision: str) -> None:
    """One message or several, each with one block."""
    server = MCPServer("t")
    server.prompt(name="p", description="D")(lambda: value)
    result = ask(server, "prompts/get", {"name": "p"}, revision)
    assert result["description"] == "D"
    assert result["messages"] == [{"role": role, "content": block} for role, block in expected]


def letters() -> MCPServer:
    """A prompt with arguments."""
    server = MCPServer("t")

    @server.prompt
    def letter(to: str, copies: int = 1) -> str:
        return f"{to} × {copies}"

    return server


@every_revision
def test_the_arguments_of_a_prompt_are_strings_of_the_declared_types(revision: str) -> None:
    """What has a default may be left out."""
    for arguments, text in (({"to": "A"}, "A × 1"), ({"to": "A", "copies": "3"}, "A × 3")):
        result = ask(letters(), "prompts/get", {"name": "letter", "arguments": arguments}, revision)
        assert result["messages"][0]["content"]["text"] == text


@every_revision
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 1},
        {"name": "no_such_prompt"},
        {"name": "letter"},
        {"name": "letter", "arguments": None},
        {"name": "letter", "arguments": {"to": 1}},
        {"name": "letter", "arguments": {"to": None}},
        {"name": "letter", "arguments": ["A"]},
        {"name": "letter", "arguments": {"to": "A", "copies": "many"}},
        {"name": "letter", "arguments": {"to": "A", "who": "B"}},
    ],
)
def test_a_prompt_that_cannot_be_filled_in_is_a_protocol_error(params: Message, revision: str) -> None:
    """Unknown, or without what it needs."""
    assert refused(letters(), "prompts/get", params, revision).code == PARAMS


# --- completions ---------------------------------------------------------------------------------


def completing() -> MCPServer:
    """A prompt and a template whose values are suggested."""
    server = letters()

    @server.resource("book://{shelf}/{number}")
    def book(shelf: str, number: str) -> str:
        return ""

    @server.completion("letter", "to")
    async def to(value: str) -> list[str]:
        return [f"{value}{number}" for number in range(int(value or 0))]

    @server.completion("letter", "copies")
    def copies(value: str) -> Any:
        return {"none": None, "numbers": (1, 2), "generator": iter("ab")}[value]

    @server.completion(book, "shelf")
    def shelf(value: str, others: dict[str, str]) -> list[str]:
        return [value, *sorted(f"{key}={item}" for key, item in others.items())]

    return server


PROMPT = {"type": "ref/prompt", "name": "letter"}
TEMPLATE = {"type": "ref/resource", "uri": "book://{shelf}/{number}"}


def suggested(ref: Message, name: str, value: str, revision: str = NEWEST, **more: Any) -> Message:
    """The completion of an argument."""
    params = {"ref": ref, "argument": {"name": name, "value": value}, **more}
    found: Message = ask(completing(), "completion/complete", params, revision)["completion"]
    return found


@every_revision
@pytest.mark.parametrize(
    ("count", "sent", "more"),
    [(0, 0, False), (1, 1, False), (100, 100, False), (101, 100, True), (5000, 100, True)],
)
def test_a_hundred_suggestions_are_sent_at_most(count: int, sent: int, more: bool, revision: str) -> None:
    """The first ones, with how many there are."""
    found = suggested(PROMPT, "to", str(count), revision)
    assert found["values"] == [f"{count}{number}" for number in range(sent)]
    assert (found["total"], found["hasMore"]) == (count, more)


@pytest.mark.parametrize(
    ("value", "values"), [("none", []), ("numbers", ["1", "2"]), ("generator", ["a", "b"])]
)
def test_suggestions_may_be_anything_that_can_be_gone_through(value: str, values: list[str]) -> None:
    """They are sent as strings."""
    assert suggested(PROMPT, "copies", value)["values"] == values


@every_revision
@pytest.mark.parametrize("uri", [TEMPLATE["uri"], "book://a/1"])
def test_a_template_is_named_by_itself_or_by_one_of_its_resources(uri: str, revision: str) -> None:
    """Whatever the client has at hand."""
    ref = {"type": "ref/resource", "uri": uri}
    assert suggested(ref, "shelf", "v", revision)["values"] == ["v"]


@pytest.mark.parametrize(
    ("more", "values"),
    [
        ({}, ["v"]),
        ({"context": {}}, ["v"]),
        ({"context": {"arguments": {}}}, ["v"]),
        ({"context": {"arguments": {"number": "1"}}}, ["v", "number=1"]),
    ],
)
def test_a_suggestion_may_depend_on_the_other_arguments(more: Message, values: list[str]) -> None:
    """As far as they are settled."""
    assert suggested(TEMPLATE, "shelf", "v", **more)["values"] == values


@pytest.mark.parametrize("ref", [PROMPT, TEMPLATE])
@pytest.mark.parametrize("name", ["number", "no_such_argument"])
def test_an_argument_without_suggestions_has_none(ref: Message, name: str) -> None:
    """That is no error."""
    assert suggested(ref, name, "") == {"values": []}


@every_revision
@pytest.mark.parametrize(
    "ref",
    [
        {"type": "ref/prompt", "name": "no_such_prompt"},
        {"type": "ref/resource", "uri": "film://{x}"},
        {"type": "ref/tool"},
        {},
    ],
)
def test_a_completion_of_nothing_is_refused(ref: Message, revision: str) -> None:
    """It is -32602."""
    params = {"ref": ref, "argument": {"name": "to", "value": ""}}
    assert refused(completing(), "completion/complete", params, revision).code == PARAMS


# --- the log level of a session ------------------------------------------------------------------


@every_session
@pytest.mark.parametrize("level", ["loud", "WARNING", "", None, 3, ["info"]])
def test_a_level_that_does_not_exist_cannot_be_set(level: Any, revision: str) -> None:
    """The one from before holds."""
    server = MCPServer("t")

    @server.tool
    async def say(ctx: Context) -> None:
        ctx.warning("w")
        ctx.error("e")

    async def set_level(client: Client) -> Any:
        assert await client.request("logging/setLevel", {"level": "error"}) == {}
        code = (await error_of(client, "logging/setLevel", {"level": level})).code
        await client.call_tool("say")
        return code, [params["data"] for _, params in client.notifications]

    assert talk(server, set_level, revision) == (PARAMS, ["e"])


@every_session
@pytest.mark.parametrize("params", [{}, {"uri": 1}])
@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
def test_a_subscription_needs_a_URI(method: str, params: Message, revision: str) -> None:
    """It is -32602."""
    assert refused(family(), method, params, revision).code == PARAMS


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/subscribe", {"uri": "book://1"}),
        ("resources/unsubscribe", {"uri": "book://1"}),
        ("ping", {}),
    ],
)
def test_what_is_no_longer_there_is_unknown(method: str, params: Message) -> None:
    """The newest revision has other ways."""
    assert refused(family(), method, params).code == METHOD
