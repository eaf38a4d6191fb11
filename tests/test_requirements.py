"""Every requirement of `docs/requirements.md` that is built, clause by clause, through the public API."""

import ast
import asyncio
import contextlib
import contextvars
import dataclasses
import datetime
import enum
import functools
import json
import logging
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import mcp
import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from typegate import (
    Audio,
    Context,
    EmbeddedResource,
    File,
    Gate,
    Icon,
    Image,
    Issue,
    MCPServer,
    Principal,
    Problem,
    PromptMessage,
    RegistrationError,
    Rejected,
    RequestFailed,
    ResourceLink,
    Text,
    ToolAnnotations,
    ToolError,
    ToolResult,
    reject,
    tool,
)

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = "2026-07-28"
REVISIONS = (*LEGACY, NEWEST)
STRUCTURED = ("2025-06-18", "2025-11-25", NEWEST)
PROBLEM = "dev.typegate/problem"
INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601

every_revision = pytest.mark.parametrize("revision", REVISIONS)


# --- asking a server -----------------------------------------------------------------------------


def ask(server: MCPServer, work: Callable[[Any], Awaitable[Any]], revision: str = NEWEST) -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(protocol_version=revision) as client:
            return await work(client)

    return asyncio.run(main())


def call(server: MCPServer, name: str, arguments: Any = None, revision: str = NEWEST) -> Any:
    """The result of one call."""
    return ask(server, lambda client: client.call_tool(name, arguments), revision)


def listing(server: MCPServer, what: str = "tools", revision: str = NEWEST) -> dict[str, Any]:
    """A listing as it travelled: name -> entry."""
    method, key = (
        (f"{what}/list", what) if what != "templates" else ("resources/templates/list", "resourceTemplates")
    )
    page = ask(server, lambda client: client.request(method), revision)
    return {entry["name"]: entry for entry in page[key]}


def capabilities(client: Any, revision: str) -> Awaitable[Any]:
    """What the server advertises to a client of this revision."""
    if revision == NEWEST:
        return client.request("server/discover")
    info = {"name": "test", "version": "1"}
    return client.request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": info})


def taking(hint: Any, **options: Any) -> tuple[MCPServer, list[Any]]:
    """A server whose one tool `take` has a parameter `value` of this type, and all that it received."""
    server, received = MCPServer("taking", **options), []

    @server.tool
    def take(value: hint) -> None:  # type: ignore[valid-type]
        received.append(value)

    return server, received


def property_of(server: MCPServer, name: str = "value", tool: str = "take") -> Any:
    """The schema of one property."""
    return listing(server)[tool]["inputSchema"]["properties"][name]


def giving(value: Any, hint: Any = None, **options: Any) -> MCPServer:
    """A server whose one tool `give` returns *value*, with this return annotation (`None`: without)."""
    server = MCPServer("giving", **options)

    def give():
        return value

    if hint is not None:
        give.__annotations__["return"] = hint
    server.tool(give)
    return server


# --- types that the tests share ------------------------------------------------------------------

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Book(BaseModel):
    title: str
    pages: int = 1


class Range(TypedDict):
    low: int
    high: int


class Pair(NamedTuple):
    left: int
    right: str


class Page(BaseModel, Generic[T]):
    items: list[T]


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Opaque:
    """Nothing that JSON could say."""

    def __init__(self, secret: object) -> None:
        self.secret = secret


# --- a real process and the official Python client -----------------------------------------------

PROCESS = '''
import sys
from typing import Annotated

from pydantic import Field

from typegate import MCPServer, ToolError

server = MCPServer("orders", version="1.2.3")


@server.tool
def lookup_order(order_id: str, limit: Annotated[int, Field(ge=1, le=100)] = 10) -> list[int]:
    """Find an order.

    Args:
        order_id: The number of the order.
        limit: How many lines at most.
    """
    return [1, 2]


@server.tool
async def total(order_id: str) -> dict[str, int]:
    return {"cents": 1250}


@server.tool
def refuse() -> str:
    raise ToolError("no order named 'X'; call list_orders for valid ids")


@server.tool
def crash() -> str:
    print("this must not reach the client")
    raise OSError("/var/secret/orders.db")


server.run(**dict(option.split("=") for option in sys.argv[1:]))
'''

CALLS = {
    "good": ("lookup_order", {"order_id": "A1"}),
    "wrong": ("lookup_order", {"limit": True}),
    "object": ("total", {"order_id": "A1"}),
    "refused": ("refuse", {}),
    "crashed": ("crash", {}),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server of the real clients, as a file."""
    path = tmp_path_factory.mktemp("process") / "orders.py"
    path.write_text(PROCESS, encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=[("legacy", "2025-11-25"), ("auto", NEWEST)], ids=["legacy", "modern"])
def conversation(request: pytest.FixtureRequest, program: Path) -> dict[str, Any]:
    """All that the official client read from one server process: its listing and the answers to CALLS."""
    mode, revision = request.param
    arguments = [str(program), *(["transport=stdio"] if mode == "auto" else [])]
    process = mcp.StdioServerParameters(command=sys.executable, args=arguments)

    async def main() -> dict[str, Any]:
        async with mcp.Client(process, mode=mode, read_timeout_seconds=60) as client:
            tools = {each.name: each for each in (await client.list_tools()).tools}
            answers = {key: await client.call_tool(*what) for key, what in CALLS.items()}
            return {
                "revision": client.protocol_version,
                "expected": revision,
                "capabilities": client.server_capabilities,
                "info": client.server_info,
                "tools": tools,
                **answers,
            }

    return asyncio.run(main())


def said(result: Any) -> str:
    """The text that the official client read."""
    return "\n".join(block.text for block in result.content)


# --- A. A function becomes a tool ----------------------------------------------------------------


@pytest.mark.parametrize("called", [False, True], ids=["bare", "called"])
@every_revision
def test_A1_a_function_becomes_a_tool(called: bool, revision: str) -> None:
    """Name, description, types, descriptions of properties and `required` come from the function."""
    server = MCPServer("orders")

    def lookup_order(order_id: str, limit: int = 10) -> None:
        """Find an order.

        It may be old.

        Args:
            order_id: The number of the order.
            limit: How many lines at most.
        """

    (server.tool() if called else server.tool)(lookup_order)
    entry = listing(server, revision=revision)["lookup_order"]
    assert entry["description"] == "Find an order.\n\nIt may be old."
    properties = entry["inputSchema"]["properties"]
    assert properties["order_id"] == {"type": "string", "description": "The number of the order."}
    assert properties["limit"] == {"type": "integer", "description": "How many lines at most.", "default": 10}
    assert entry["inputSchema"]["required"] == ["order_id"]


def test_A1_the_official_client_lists_the_tool(conversation: dict[str, Any]) -> None:
    """A real client reads the same description from a real process."""
    found = conversation["tools"]["lookup_order"]
    assert found.description == "Find an order."
    assert found.input_schema["required"] == ["order_id"]
    assert found.input_schema["properties"]["order_id"]["description"] == "The number of the order."
    assert found.input_schema["properties"]["limit"]["type"] == "integer"


OVERRIDES = {
    "name": ("orders.find", "name", "orders.find"),
    "description": ("Another text.", "description", "Another text."),
    "title": ("Find it", "title", "Find it"),
    "schema": ({"type": "object", "maxProperties": 3}, "inputSchema", {"type": "object", "maxProperties": 3}),
    "output_schema": ({"type": "integer", "minimum": 0}, "outputSchema", {"type": "integer", "minimum": 0}),
}


@pytest.mark.parametrize("option", OVERRIDES)
def test_A2_a_derived_field_can_be_overridden(option: str) -> None:
    """What the decorator is told stands in the place of what the function says."""
    given, key, shown = OVERRIDES[option]
    server = MCPServer("orders")

    @server.tool(**{option: given})
    def find(order_id: str = "") -> int:
        """Find an order."""
        return 1

    (entry,) = listing(server).values()
    assert entry[key] == shown
    assert call(server, entry["name"]).text == "1"


def test_A2_output_and_scopes_can_be_overridden() -> None:
    """`structured_output=False` takes the derived schema away; `scopes=` hides what they ask for."""
    server = MCPServer("orders")

    @server.tool(structured_output=False)
    def find() -> int:
        return 1

    @server.tool(scopes=["orders:read"])
    def secret() -> int:
        return 2

    assert "outputSchema" not in listing(server)["find"]
    assert "secret" not in listing(server)


async def seen_by(server: MCPServer, principal: Principal | None) -> tuple[list[str], str]:
    """What a caller finds in the listing, and what a call to `secret` answers."""
    async with server.client(principal=principal) as client:
        names = [tool.name for tool in await client.list_tools()]
        try:
            return names, (await client.call_tool("secret")).text
        except RequestFailed as failed:
            return names, failed.message


def test_A2_scopes_hide_a_tool_from_who_lacks_them() -> None:
    """A tool whose scopes a caller lacks is not listed and answers as an unknown one; else it runs."""
    server = MCPServer("orders")
    server.add_tool("secret", lambda: "run", scopes=["orders:read", "orders:all"])
    server.add_tool("open", lambda: "run")
    lacking = Principal(subject="ann", scopes=frozenset({"orders:read"}))
    having = Principal(subject="bob", scopes=frozenset({"orders:read", "orders:all", "more"}))
    hidden = (["open"], "Unknown tool: secret. tools/list has the names.")
    assert asyncio.run(seen_by(server, None)) == asyncio.run(seen_by(server, lacking)) == hidden
    assert asyncio.run(seen_by(server, having)) == (["secret", "open"], "run")


async def changes(server: MCPServer, client: Any) -> list[int]:
    """How many `list_changed` a client has seen after a tool came, and after it went."""
    seen = []
    for change in (
        lambda: server.add_tool("orders.lookup", lambda **given: "found", schema={"type": "object"}),
        lambda: server.remove_tool("orders.lookup"),
    ):
        change()
        await client.request("tools/list")
        seen.append(sum(method == "notifications/tools/list_changed" for method, _ in client.notifications))
    return seen


@every_revision
def test_A3_clients_that_asked_are_told_of_changes(revision: str) -> None:
    """`add_tool` and `remove_tool` at run time each send one `list_changed`."""

    async def work(client: Any) -> list[int]:
        if revision != NEWEST:  # a handshake client asks by its handshake
            return await changes(server, client)
        wanted = {"notifications": {"toolsListChanged": True}}
        listening = asyncio.create_task(client.request("subscriptions/listen", wanted))
        await asyncio.sleep(0)  # it asks
        await client.request("tools/list")  # answered after the subscription was taken
        assert [method for method, _ in client.notifications] == ["notifications/subscriptions/acknowledged"]
        seen = await changes(server, client)
        listening.cancel()
        return seen

    server, _ = taking(int)
    assert ask(server, work, revision) == [1, 2]


def test_A3_a_stateless_client_that_did_not_ask_is_not_told() -> None:
    """Without `subscriptions/listen` nothing is sent to a client of 2026-07-28."""
    server, _ = taking(int)
    assert ask(server, lambda client: changes(server, client)) == [0, 0]


def test_A3_tools_come_and_go_at_run_time() -> None:
    """A tool that was added is listed and answers; one that was removed is unknown."""
    server, _ = taking(int)
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}

    async def work(client: Any) -> None:
        server.add_tool("orders.lookup", lambda order_id: order_id, description="Find it.", schema=schema)
        added = {each.name: each for each in await client.list_tools()}["orders.lookup"]
        assert (added.description, added.input_schema) == ("Find it.", schema)
        assert (await client.call_tool("orders.lookup", {"order_id": "A1"})).text == "A1"
        server.remove_tool("orders.lookup")
        with pytest.raises(RequestFailed, match="Unknown tool") as failed:
            await client.call_tool("orders.lookup", {"order_id": "A1"})
        assert failed.value.code == INVALID_PARAMS

    ask(server, work)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Size, {"type": "integer", "enum": [1, 2]}),
        (int | None, {"type": "integer"}),
        (Colour | None, {"type": "string", "enum": ["red", "blue"]}),
        (list[Colour], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
        (Opaque, {}),
        (list[Opaque], {"type": "array", "items": {}}),
        (dict[str, Opaque], {"type": "object", "additionalProperties": {}}),
    ],
    ids=str,
)
def test_A4_an_annotation_becomes_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    """Each kind of annotation has its schema, and nothing is restricted that need not be."""
    server, _ = taking(hint)
    found = property_of(server)
    if schema.get("additionalProperties") == {} and found.get("additionalProperties") is True:
        found = {**found, "additionalProperties": {}}  # the same
    assert found == schema


@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (Colour, "red", Colour.RED),
        (Size, 2, Size.LARGE),
        (Point, {"x": 1}, Point(1, 0)),
        (Opaque, {"any": [1, None]}, {"any": [1, None]}),
        (Opaque, "text", "text"),
        (list[Opaque], [1, "a"], [1, "a"]),
        (int | None, None, None),
        (int | None, 5, 5),
    ],
    ids=str,
)
def test_A4_the_function_receives_the_declared_type(hint: Any, sent: Any, received: Any) -> None:
    """Enums and dataclasses arrive as such, and what is opaque as the raw JSON value."""
    server, values = taking(hint)
    assert not call(server, "take", {"value": sent}).is_error
    assert values == [received]
    assert type(values[0]) is type(received)


@pytest.mark.parametrize("hint", [int | None, Point | None, list[int] | None, Opaque | None], ids=str)
def test_A4_an_optional_parameter_may_be_left_out(hint: Any) -> None:
    """`T | None` is not required even without a default, and then `None` arrives."""
    server, values = taking(hint)
    assert listing(server)["take"]["inputSchema"].get("required", []) == []
    assert not call(server, "take").is_error
    assert values == [None]


def test_A4_a_name_that_cannot_be_resolved_is_an_error() -> None:
    """Registration fails and says which function, which parameter and which name."""
    server = MCPServer("orders")

    def find(order: "Missing") -> None:  # type: ignore[name-defined]  # noqa: F821
        """Find it."""

    with pytest.raises(RegistrationError, match=r"'find'.*'order'.*'Missing'"):
        server.tool(find)


def google(order_id: str, limit: int) -> None:
    """Find an order.

    Args:
        order_id: The number of the order, as it
            stands on the bill.
        limit (int): How many: at most.

    Returns:
        Nothing.
    """


def sphinx(order_id: str, limit: int) -> None:
    """Find an order.

    :param order_id: The number of the order, as it
        stands on the bill.
    :param int limit: How many: at most.
    :returns: Nothing.
    """


def numpy(order_id: str, limit: int) -> None:
    """Find an order.

    Parameters
    ----------
    order_id : str
        The number of the order, as it
        stands on the bill.
    limit : int
        How many: at most.

    Returns
    -------
    None
        Nothing.
    """  # noqa: D416


@pytest.mark.parametrize("function", [google, sphinx, numpy])
def test_A5_docstrings_of_three_styles_describe_parameters(function: Callable[..., Any]) -> None:
    """Google, Sphinx and NumPy entries are read, wrapped lines joined; the head is the description."""
    server = MCPServer("orders")
    server.tool(function)
    entry = listing(server)[function.__name__]
    assert entry["description"] == "Find an order."
    properties = entry["inputSchema"]["properties"]
    assert properties["order_id"]["description"] == "The number of the order, as it stands on the bill."
    assert properties["limit"]["description"] == "How many: at most."


def test_A6_every_problem_is_reported_at_once() -> None:
    """Missing keys and wrong types come in one text, and the function does not run."""
    server, ran = MCPServer("orders"), []

    @server.tool
    def lookup_order(order_id: str, limit: int = 10) -> None:
        ran.append(order_id)

    result = call(server, "lookup_order", {"limit": True})
    assert "missing required argument 'order_id'; 'limit' must be integer, got boolean" in result.text
    assert (result.is_error, ran) == (True, [])


class Filter(BaseModel):
    tags: list[Colour]
    span: Point | None = None


def test_A6_arguments_are_checked_at_every_depth() -> None:
    """Required keys, types, enum members, array items and unknown keys are found inside models too."""
    server, received = taking(list[Filter])
    wrong = [{"tags": ["red", "green"]}, {"span": {"y": "1", "z": 2}, "tagz": []}]
    result = call(server, "take", {"value": wrong, "other": 1})
    found = {(tuple(issue["path"]), issue["code"]) for issue in result.problem["issues"]}
    assert found == {
        (("value", 0, "tags", 1), "enum"),
        (("value", 1, "tags"), "missing"),
        (("value", 1, "tagz"), "unexpected"),
        (("value", 1, "span", "x"), "missing"),
        (("value", 1, "span", "y"), "type"),
        (("value", 1, "span", "z"), "unexpected"),
        (("other",), "unexpected"),
    }
    assert received == []


@dataclasses.dataclass
class Span:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError("the end lies before the start")


class SpanModel(BaseModel):
    low: int
    high: int

    def model_post_init(self, context: Any) -> None:
        """Refuse a span that ends before it begins."""
        if self.high < self.low:
            raise ValueError("the end lies before the start")


@pytest.mark.parametrize(
    ("hint", "sent", "problem"),
    [
        (Span, {"low": 2, "high": 1}, "the end lies before the start"),
        (SpanModel, {"low": 2, "high": 1}, "the end lies before the start"),
        (datetime.date, "0000-01-01", "'value' must be"),
        (datetime.datetime, "2026-02-30T00:00:00Z", "'value' must be"),
        (dict[str, Span], {"a": {"low": 2, "high": 1}}, "'value.a'"),
    ],
    ids=str,
)
def test_A6_what_only_the_type_refuses_is_reported(hint: Any, sent: Any, problem: str) -> None:
    """A refusal always says why, also where no schema could have said it."""
    server, received = taking(hint)
    result = call(server, "take", {"value": sent})
    assert result.problem["code"] == "invalid_arguments"
    assert [tuple(issue["path"][:1]) for issue in result.problem["issues"]] == [("value",)]
    assert problem in result.text
    assert received == []


@pytest.mark.parametrize(
    ("hint", "sent", "problem"),
    [
        (int, True, "must be integer, got boolean"),
        (int, False, "must be integer, got boolean"),
        (bool, 1, "must be boolean, got integer"),
        (bool, 0, "must be boolean, got integer"),
        (float, True, "must be number, got boolean"),
        (int, 3.5, "must be integer, got number"),
        (int, "3", "must be integer, got string"),
        (list[int], [True], "'value[0]' must be integer, got boolean"),
        (dict[str, bool], {"a": 1}, "'value.a' must be boolean, got integer"),
        (Point, {"x": True}, "'value.x' must be integer, got boolean"),
        (Literal[1], True, "must be 1"),
        (Size, True, "must be one of 1, 2"),
        (int | str, True, "must be integer or string, got boolean"),
    ],
    ids=str,
)
def test_A7_true_is_not_an_integer(hint: Any, sent: Any, problem: str) -> None:
    """Booleans and integers are different things, at every depth, in both directions."""
    server, received = taking(hint)
    result = call(server, "take", {"value": sent})
    assert problem in result.text
    assert (result.is_error, received) == (True, [])


@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (int, 3.0, 3),
        (int, -0.0, 0),
        (float, 3, 3.0),
        (int | None, 3.0, 3),
        (list[int], [3.0], [3]),
        (Point, {"x": 3.0}, Point(3)),
        (int | str, 3.0, 3),
        (Annotated[int, Field(ge=3)], 3.0, 3),
        (Literal[3], 3.0, 3),
        (Size, 1.0, Size.SMALL),
    ],
    ids=str,
)
def test_A7_three_point_zero_is_the_integer_three(hint: Any, sent: Any, received: Any) -> None:
    """A number without a fraction is an integer, and arrives as one."""
    server, values = taking(hint)
    result = call(server, "take", {"value": sent})
    assert not result.is_error, result.text
    assert values == [received]
    assert type(values[0]) is type(received)


def test_A8_a_made_up_argument_is_refused_with_the_closest_name() -> None:
    """`additionalProperties` is false by default, and the real name is suggested."""
    server, received = taking(int | None)
    assert listing(server)["take"]["inputSchema"]["additionalProperties"] is False
    result = call(server, "take", {"vlaue": 1})
    assert "unexpected argument 'vlaue'; did you mean 'value'?" in result.text
    assert (result.is_error, received) == (True, [])


def test_A8_a_name_the_caller_cannot_see_is_not_suggested() -> None:
    """What the server injects is neither suggested nor listed among the names."""
    server = MCPServer("orders")

    @server.tool
    def find(order_id: str, session_context: Context) -> None:
        """Find it."""

    result = call(server, "find", {"order_id": "A1", "session_contexd": 1})
    assert result.is_error
    assert "session_context" not in json.dumps(result.raw)


@pytest.mark.parametrize("per_tool", [False, True], ids=["server", "tool"])
def test_A8_one_setting_drops_unknown_keys(per_tool: bool) -> None:
    """`Gate(unknown="ignore")` drops what is unknown at every depth, and the schema says so."""
    ignore = Gate(unknown="ignore")
    server, received = MCPServer("orders", gate=Gate() if per_tool else ignore), []

    @server.tool(gate=ignore if per_tool else None)
    def take(value: Point) -> None:
        received.append(value)

    assert not call(server, "take", {"value": {"x": 1, "zz": 2}, "other": 3}).is_error
    assert received == [Point(1)]
    assert '"additionalProperties": false' not in json.dumps(listing(server)["take"]["inputSchema"])


def test_A8_a_tool_can_be_stricter_than_its_server() -> None:
    """The gate of a tool is laid over that of the server."""
    server = MCPServer("orders", gate=Gate(unknown="ignore"))

    @server.tool(gate=Gate(unknown="forbid"))
    def take(value: int = 0) -> None:
        """Take it."""

    assert listing(server)["take"]["inputSchema"]["additionalProperties"] is False
    assert call(server, "take", {"other": 3}).is_error


class Allows(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: int


class Ignores(BaseModel):
    model_config = ConfigDict(extra="ignore")
    x: int


class Forbids(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: int


@pytest.mark.parametrize("unknown", ["forbid", "ignore"])
@pytest.mark.parametrize(
    ("model", "refused", "kept"),
    [(Allows, False, {"x": 1, "zz": 2}), (Ignores, False, {"x": 1}), (Forbids, True, None)],
)
def test_A8_the_extra_of_the_authors_model_wins(model: Any, refused: bool, kept: Any, unknown: Any) -> None:
    """An explicit `extra` decides, in the schema and at the gate alike, whatever the server says."""
    server, received = taking(model, gate=Gate(unknown=unknown))
    assert (property_of(server).get("additionalProperties", True) is False) is refused
    assert call(server, "take", {"value": {"x": 1, "zz": 2}}).is_error is refused
    assert [value.model_dump() for value in received] == ([] if refused else [kept])


DELIVERY = {
    "type": "object",
    "title": "Delivery",
    "properties": {
        "day": {"type": "string", "pattern": "^2026-"},
        "count": {"type": "integer", "maximum": 9},
    },
    "required": ["day"],
}


def test_A9_a_schema_is_published_as_given_and_judged() -> None:
    """`schema=` travels unchanged, and **kwargs receives all that it admits."""
    server, received = MCPServer("orders"), []

    @server.tool(schema=DELIVERY)
    def deliver(**given: Any) -> None:
        received.append(given)

    assert listing(server)["deliver"]["inputSchema"] == DELIVERY
    assert not call(server, "deliver", {"day": "2026-01-02", "count": 3, "note": ["x"]}).is_error
    assert received == [{"day": "2026-01-02", "count": 3, "note": ["x"]}]
    result = call(server, "deliver", {"day": "yesterday", "count": 10})
    assert {issue["code"] for issue in result.problem["issues"]} == {"pattern", "less_than_equal"}
    assert len(received) == 1


def test_A9_a_typed_signature_still_binds() -> None:
    """With `schema=` a `date` parameter receives a `date`, and the issues of both come together."""
    server, received = MCPServer("orders"), []

    @server.tool(schema=DELIVERY)
    def deliver(day: datetime.date, count: Annotated[int, Field(ge=1)] = 1) -> None:
        received.append((day, count))

    assert not call(server, "deliver", {"day": "2026-01-02"}).is_error
    assert received == [(datetime.date(2026, 1, 2), 1)]
    result = call(server, "deliver", {"day": "2027-01-02", "count": 0})
    assert {issue["code"] for issue in result.problem["issues"]} == {"pattern", "greater_than_equal"}


PNG = {"type": "image", "data": "AAE=", "mimeType": "image/png"}
EMBEDDED = {"type": "resource", "resource": {"uri": "a://b", "text": "t"}}
EMBEDDED_PLAIN = {"type": "resource", "resource": {"uri": "a://b", "text": "t", "mimeType": "text/plain"}}


def text(words: str) -> list[dict[str, Any]]:
    """The content that is this one text block."""
    return [{"type": "text", "text": words}]


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("two\nlines", text("two\nlines")),
        ({"a": [1]}, text('{\n  "a": [\n    1\n  ]\n}')),
        ([1, "b"], text('[\n  1,\n  "b"\n]')),
        (Point(1), text('{\n  "x": 1,\n  "y": 0\n}')),
        (Book(title="T"), text('{\n  "title": "T",\n  "pages": 1\n}')),
        (datetime.date(2026, 1, 2), text("2026-01-02")),
        (True, text("true")),
        (12.5, text("12.5")),
        (None, text("")),
        ([], text("[]")),
        (Text("a"), text("a")),
        (Image(data=b"\0\1"), [PNG]),
        (Audio(data=b"\0\1"), [{**PNG, "type": "audio", "mimeType": "audio/wav"}]),
        ([Text("a"), Image(data=b"\0\1")], [*text("a"), PNG]),
        (ResourceLink(uri="a://b", name="b"), [{"type": "resource_link", "uri": "a://b", "name": "b"}]),
        (EmbeddedResource(uri="a://b", text="t"), [EMBEDDED]),
        (File(data=b"t", uri="a://b", mime_type="text/plain"), [EMBEDDED_PLAIN]),
        (PNG, [PNG]),
        ([*text("a"), PNG], [*text("a"), PNG]),
        ({"type": "text"}, text('{\n  "type": "text"\n}')),
        ({**PNG, "by": 1}, text(json.dumps({**PNG, "by": 1}, indent=2))),
        (ToolResult(["a", Image(data=b"\0\1")]), [*text("a"), PNG]),
    ],
    ids=lambda case: str(case)[:40],
)
def test_A10_what_is_returned_becomes_content(value: Any, content: list[dict[str, Any]]) -> None:
    """Text as itself, JSON indented, blocks unchanged, `None` as one empty text block."""
    result = call(giving(value), "give")
    assert (result.content, result.is_error) == (content, False)


class Note(TypedDict):
    type: Literal["text"]
    text: str


class NoteModel(BaseModel):
    type: str
    text: str


NOTE = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (NOTE, Note),
        (NOTE, NoteModel),
        (NOTE, dict[str, str]),
        ([NOTE], list[Note]),
        (NoteModel(**NOTE), NoteModel),
    ],
    ids=str,
)
def test_A10_a_value_of_a_declared_model_is_no_block(value: Any, hint: Any) -> None:
    """A dict that looks like a block is a value where the declared type says so."""
    result = call(giving(value, hint), "give")
    assert not result.is_error, result.text
    assert result.structured == ([NOTE] if isinstance(value, list) else NOTE)
    assert json.loads(result.text) == result.structured


@every_revision
def test_A12_a_tool_error_reaches_the_model_verbatim(revision: str) -> None:
    """The text of a `ToolError` arrives as it is, flagged as an error."""
    server = MCPServer("orders")
    texts = ["no order named 'X'; call list_orders for valid ids", "Ends with a stop.", "two\nlines:", ""]

    @server.tool
    def fail(nth: int) -> None:
        raise ToolError(texts[nth])

    for nth, text in enumerate(texts):
        result = call(server, "fail", {"nth": nth}, revision)
        assert (result.text, result.is_error) == (text, True)


class OperationalError(Exception):
    """Such as a database driver raises."""


@pytest.mark.parametrize("asynchronous", [False, True])
def test_A12_any_other_exception_is_masked(asynchronous: bool, caplog: pytest.LogCaptureFixture) -> None:
    """The model reads the type and a reference number, which finds the whole story in the log."""
    server = MCPServer("orders")

    def lookup_order() -> str:
        raise OperationalError("password=hunter2")

    async def lookup_order_async() -> str:
        lookup_order()

    server.add_tool("lookup_order", lookup_order_async if asynchronous else lookup_order)
    result = call(server, "lookup_order")
    found = re.search(r"Tool 'lookup_order' failed: OperationalError.*\b([0-9a-f]{6,12})\b", result.text)
    assert result.is_error
    assert found, result.text
    assert "hunter2" not in json.dumps(result.raw)
    (record,) = [each for each in caplog.records if found[1] in each.getMessage()]
    assert record.name == "typegate"
    assert "hunter2" in logging.Formatter().format(record)


def test_A12_a_cancelled_task_of_the_tools_own_is_a_failure_too() -> None:
    """A tool that waits for a task that was cancelled is answered; the client does not wait for ever."""
    server = MCPServer("orders")

    @server.tool
    async def gather() -> None:
        task = asyncio.create_task(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    result = ask(server, lambda client: asyncio.wait_for(client.call_tool("gather"), 5))
    assert result.is_error
    assert "Tool 'gather' failed: CancelledError" in result.text


def test_A12_the_official_client_reads_both(conversation: dict[str, Any]) -> None:
    """A real client gets the author's words for the one, and a masked text for the other."""
    assert said(conversation["refused"]) == "no order named 'X'; call list_orders for valid ids"
    assert said(conversation["crashed"]).startswith("Tool 'crash' failed: OSError")
    assert "secret" not in conversation["crashed"].model_dump_json()
    assert conversation["refused"].is_error
    assert conversation["crashed"].is_error


def library() -> MCPServer:
    """A server with a resource and a template."""
    server = MCPServer("orders")

    @server.resource("config://limits", mime_type="application/json")
    def limits() -> dict[str, int]:
        """What is allowed."""
        return {"per_day": 5}

    @server.resource("orders://{order_id}/{day}{?draft}")
    def order(order_id: int, day: datetime.date, draft: bool = False) -> str:
        return repr((order_id, day.year, draft))

    return server


@every_revision
def test_A13_a_resource_is_listed_and_read(revision: str) -> None:
    """A fixed URI is a resource with its MIME type."""
    entry = listing(library(), "resources", revision)["limits"]
    assert (entry["uri"], entry["mimeType"]) == ("config://limits", "application/json")
    assert entry["description"] == "What is allowed."
    result = ask(library(), lambda client: client.read_resource("config://limits"), revision)
    assert json.loads(result.text) == {"per_day": 5}
    assert result.contents[0]["uri"] == "config://limits"
    assert result.contents[0]["mimeType"] == "application/json"


@every_revision
def test_A13_variables_of_a_template_are_read_as_strings(revision: str) -> None:
    """`"5"` is 5 for an `int`, and what fits no type is refused with the name of the variable."""
    assert (
        listing(library(), "templates", revision)["order"]["uriTemplate"]
        == "orders://{order_id}/{day}{?draft}"
    )
    result = ask(library(), lambda client: client.read_resource("orders://5/2026-01-02?draft=true"), revision)
    assert result.text == "(5, 2026, True)"
    with pytest.raises(RequestFailed, match="'order_id'") as failed:
        ask(library(), lambda client: client.read_resource("orders://five/2026-01-02"), revision)
    assert failed.value.code == INVALID_PARAMS


@every_revision
def test_A13_an_unknown_resource_is_not_found(revision: str) -> None:
    """The code is the one of the revision, and the URI comes back."""
    with pytest.raises(RequestFailed) as failed:
        ask(library(), lambda client: client.read_resource("nowhere://x"), revision)
    assert failed.value.code == (INVALID_PARAMS if revision == NEWEST else -32002)
    assert failed.value.data["uri"] == "nowhere://x"


@pytest.mark.parametrize("called", [False, True], ids=["bare", "called"])
@every_revision
def test_A14_a_function_becomes_a_prompt(called: bool, revision: str) -> None:
    """Arguments come from the signature, and strings are read as the declared types."""
    server = MCPServer("orders")

    def explain(order_id: int, day: datetime.date | None = None) -> str:
        """Explain a delay.

        Args:
            order_id: The number of the order.
            day: When it was due.
        """
        return repr((order_id, day and day.year))

    (server.prompt() if called else server.prompt)(explain)
    entry = listing(server, "prompts", revision)["explain"]
    described, optional = entry["arguments"]
    assert entry["description"] == "Explain a delay."
    assert described == {"name": "order_id", "description": "The number of the order.", "required": True}
    assert (optional["name"], optional.get("required", False)) == ("day", False)
    result = ask(
        server, lambda client: client.get_prompt("explain", {"order_id": "5", "day": "2026-01-02"}), revision
    )
    assert (result.text, result.messages[0]["role"]) == ("(5, 2026)", "user")


@pytest.mark.parametrize("given", [{}, {"order_id": "five"}, {"order_id": "5", "oder": "x"}], ids=str)
def test_A14_wrong_prompt_arguments_are_refused(given: dict[str, str]) -> None:
    """What is missing, unreadable or unknown is invalid params that name the argument."""
    server = MCPServer("orders")

    @server.prompt
    def explain(order_id: int) -> list[PromptMessage]:
        return [PromptMessage("Why?"), PromptMessage("Because.", role="assistant")]

    with pytest.raises(RequestFailed, match=r"'order_id'|'oder'") as failed:
        ask(server, lambda client: client.get_prompt("explain", given))
    assert failed.value.code == INVALID_PARAMS
    messages = ask(server, lambda client: client.get_prompt("explain", {"order_id": "5"})).messages
    assert [message["role"] for message in messages] == ["user", "assistant"]


def test_A14_arguments_can_be_listed_by_hand() -> None:
    """What is listed is what the client sees, and what is marked as required is required."""
    server = MCPServer("orders")
    arguments = [{"name": "order_id", "description": "Its number.", "required": True}, {"name": "tone"}]

    @server.prompt(arguments=arguments)
    def explain(**given: str) -> str:
        return json.dumps(given)

    assert listing(server, "prompts")["explain"]["arguments"] == arguments
    assert json.loads(ask(server, lambda client: client.get_prompt("explain", {"order_id": "5"})).text) == {
        "order_id": "5"
    }
    with pytest.raises(RequestFailed, match="'order_id'"):
        ask(server, lambda client: client.get_prompt("explain", {"tone": "mild"}))


REGISTER: dict[str, Callable[[MCPServer], Any]] = {
    "tools": lambda server: server.add_tool("t", lambda: None),
    "prompts": lambda server: server.prompt(name="p")(lambda: "x"),
    "resources": lambda server: server.resource("config://x", name="r")(lambda: "x"),
    "templates": lambda server: server.resource("config://{x}", name="r")(lambda x: x),
}


@pytest.mark.parametrize("kind", REGISTER)
@every_revision
def test_A15_only_what_is_registered_is_advertised(kind: str, revision: str) -> None:
    """A server of one kind claims no other kind, and answers the methods of no other kind."""
    server = MCPServer("orders")
    REGISTER[kind](server)
    kind = "resources" if kind == "templates" else kind
    assert set(ask(server, lambda client: capabilities(client, revision), revision)["capabilities"]) == {kind}
    for other in {"tools", "prompts", "resources"} - {kind}:
        with pytest.raises(RequestFailed) as failed:
            ask(server, lambda client, other=other: client.request(f"{other}/list"), revision)
        assert failed.value.code == METHOD_NOT_FOUND


@every_revision
def test_A15_what_is_advertised_is_fixed_at_the_start(revision: str) -> None:
    """What is registered or taken away while the server runs changes no capability."""
    server = MCPServer("orders")
    REGISTER["tools"](server)

    async def work(client: Any) -> None:
        REGISTER["prompts"](server)
        server.remove_tool("t")
        assert set((await capabilities(client, revision))["capabilities"]) == {"tools"}
        assert (await client.request("tools/list"))["tools"] == []
        with pytest.raises(RequestFailed):
            await client.request("prompts/list")

    ask(server, work, revision)


def lookup(limit: int) -> None:
    """A tool that fails by itself."""
    raise OSError


def fragile(**options: Any) -> MCPServer:
    """A server whose one tool may be called wrongly, and may fail by itself."""
    server = MCPServer("orders", **options)

    server.tool(lookup)
    return server


@every_revision
def test_A16_by_default_wrong_arguments_are_a_tool_result(revision: str) -> None:
    """At every revision the result is flagged, and its code tells the client's fault from the tool's."""
    wrong = call(fragile(), "lookup", {"limit": "x"}, revision)
    failed = call(fragile(), "lookup", {"limit": 1}, revision)
    assert (wrong.is_error, failed.is_error) == (True, True)
    assert wrong.problem["code"] == "invalid_arguments"
    assert failed.problem["code"] == "tool_failed"


@pytest.mark.parametrize("per_tool", [False, True], ids=["server", "tool"])
@every_revision
def test_A16_one_setting_makes_them_a_protocol_error(per_tool: bool, revision: str) -> None:
    """`Gate(failure="protocol_error")` answers wrong arguments, and nothing else, with -32602."""
    gate = Gate(failure="protocol_error")
    server = fragile(gate=Gate() if per_tool else gate)
    if per_tool:
        server.remove_tool("lookup")
        server.add_tool(lookup, gate=gate)
    with pytest.raises(RequestFailed, match="'limit' must be integer, got string") as failed:
        call(server, "lookup", {"limit": "x"}, revision)
    assert failed.value.code == INVALID_PARAMS
    assert failed.value.data[PROBLEM]["code"] == "invalid_arguments"
    assert call(server, "lookup", {"limit": 1}, revision).problem["code"] == "tool_failed"


def test_A16_the_official_client_can_tell_them_apart(conversation: dict[str, Any]) -> None:
    """A real client reads the code of either failure."""
    codes = {key: conversation[key].meta[PROBLEM]["code"] for key in ("wrong", "refused", "crashed")}
    assert codes == {"wrong": "invalid_arguments", "refused": "tool_failed", "crashed": "tool_failed"}
    assert said(conversation["wrong"]).count("missing required argument 'order_id'") == 1


# --- B. Four guards ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "schema", "form"),
    [
        (datetime.date, {"type": "string", "format": "date"}, r"YYYY-MM-DD, for example \d{4}-\d\d-\d\d\b"),
        (
            datetime.datetime,
            {"type": "string", "format": "date-time"},
            r"HH:MM:SSZ, for example \d{4}-\d\d-\d\dT",
        ),
        (datetime.time, {"type": "string", "format": "time"}, r"HH:MM:SS, for example \d\d:\d\d"),
        (datetime.timedelta, {"type": "string", "format": "duration"}, r"duration .*, for example P"),
        (uuid.UUID, {"type": "string", "format": "uuid"}, r"UUID, for example [0-9a-f]{8}-"),
        (Literal["open", "done"], {"type": "string", "enum": ["open", "done"]}, "one of 'open', 'done'"),
        (Colour, {"type": "string", "enum": ["red", "blue"]}, "one of 'red', 'blue'"),
        (datetime.date | None, {"type": "string", "format": "date"}, "YYYY-MM-DD, for example"),
    ],
    ids=str,
)
def test_B1_a_wrong_form_is_refused_before_the_call(hint: Any, schema: dict[str, Any], form: str) -> None:
    """The schema shows the form; `"today"` is refused with the accepted form and an example."""
    server, received = taking(hint)
    assert property_of(server) == schema
    result = call(server, "take", {"value": "today"})
    assert re.search(f"'value' must be .*{form}", result.text), result.text
    assert (result.is_error, received) == (True, [])
    assert "today" not in result.text


@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
        (
            datetime.datetime,
            "2026-01-02T03:04:05Z",
            datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
        ),
        (datetime.time, "14:05:00", datetime.time(14, 5)),
        (datetime.timedelta, "PT5M", datetime.timedelta(minutes=5)),
        (
            uuid.UUID,
            "123e4567-e89b-12d3-a456-426614174000",
            uuid.UUID("123e4567-e89b-12d3-a456-426614174000"),
        ),
    ],
    ids=str,
)
def test_B1_the_named_example_is_accepted(hint: Any, sent: str, received: Any) -> None:
    """What the refusal names as an example would have been accepted, and arrives as the type."""
    server, values = taking(hint)
    refusal = call(server, "take", {"value": "today"}).text
    assert not call(server, "take", {"value": sent}).is_error
    example = re.search(r"for example (\S+?)[.;\n]", refusal)
    assert example
    assert not call(server, "take", {"value": example[1]}).is_error
    assert values[0] == received


@pytest.mark.parametrize(
    ("hint", "keywords", "sent", "text"),
    [
        (
            Annotated[int, Field(ge=1, le=100)],
            {"minimum": 1, "maximum": 100},
            999,
            "less than or equal to 100",
        ),
        (Annotated[int, Field(ge=1)], {"minimum": 1}, 0, "greater than or equal to 1"),
        (Annotated[float, Field(gt=0)], {"exclusiveMinimum": 0}, 0, "greater than 0"),
        (Annotated[float, Field(lt=1)], {"exclusiveMaximum": 1}, 1.5, "less than 1"),
        (Annotated[int, Field(multiple_of=5)], {"multipleOf": 5}, 7, "a multiple of 5"),
        (Annotated[str, Field(min_length=2)], {"minLength": 2}, "a", "at least 2 characters"),
        (Annotated[str, Field(max_length=2)], {"maxLength": 2}, "abc", "at most 2 characters"),
        (Annotated[str, Field(pattern="^A[0-9]+$")], {"pattern": "^A[0-9]+$"}, "B1", "pattern ^A[0-9]+$"),
        (Annotated[list[int], Field(min_length=1)], {"minItems": 1}, [], "at least 1 item"),
        (Annotated[list[int], Field(max_length=1)], {"maxItems": 1}, [1, 2], "at most 1 item"),
        (list[Annotated[int, Field(le=9)]], {}, [1, 10], "'value[1]' must be less than or equal to 9"),
        (Annotated[int | None, Field(le=9)], {"maximum": 9}, 10, "less than or equal to 9"),
    ],
    ids=str,
)
def test_B2_a_value_out_of_range_is_refused(
    hint: Any, keywords: dict[str, Any], sent: Any, text: str
) -> None:
    """Bounds, lengths, patterns, multiples and item counts are in the schema, and in the refusal."""
    server, received = taking(hint)
    assert property_of(server).items() >= keywords.items()
    result = call(server, "take", {"value": sent})
    assert text in result.text
    assert (result.is_error, received) == (True, [])


REFUSAL = {
    "ok": False,
    "error": {"code": "INVALID_RANGE", "message": "The end lies before.", "hint": "Swap them."},
}
WAYS: dict[str, Callable[..., Any]] = {
    "Rejected": lambda **given: _raise(Rejected(**REFUSAL["error"], **given)),
    "reject": lambda **given: reject("INVALID_RANGE", "The end lies before.", hint="Swap them.", **given),
    "dict": lambda: REFUSAL,
}


def _raise(error: Exception) -> None:
    raise error


def refusing(way: str, returns: Any = None, gate: Gate | None = None, **given: Any) -> MCPServer:
    """A server whose one tool `book` refuses in one of three ways."""
    server = MCPServer("books", gate=gate or Gate())

    def book():
        return WAYS[way](**given)

    if returns is not None:
        book.__annotations__["return"] = returns
    server.tool(book)
    return server


@pytest.mark.parametrize("way", WAYS)
@every_revision
def test_B3_a_function_can_refuse(way: str, revision: str) -> None:
    """The model reads what is wrong and what to do, and by default the result is flagged."""
    result = call(refusing(way), "book", revision=revision)
    assert result.is_error
    assert "The end lies before." in result.text
    assert "Swap them." in result.text


@pytest.mark.parametrize("way", ["Rejected", "reject"])
def test_B3_the_refusal_is_there_for_programs(way: str) -> None:
    """Code, message and hint are the author's own."""
    problem = call(refusing(way), "book").problem
    assert {key: problem[key] for key in ("code", "message", "hint")} == REFUSAL["error"]


@every_revision
def test_B3_the_equivalent_dict_is_sent_unchanged(revision: str) -> None:
    """Exactly `{"ok": false, "error": {...}}` travels as it is; a dict that holds more is a value."""
    result = call(refusing("dict"), "book", revision=revision)
    assert (json.loads(result.text), len(result.content)) == (REFUSAL, 1)
    more = call(giving({**REFUSAL, "since": 3}), "give", revision=revision)
    assert (json.loads(more.text), more.is_error) == ({**REFUSAL, "since": 3}, False)


@pytest.mark.parametrize(
    ("way", "gate", "given", "flagged"),
    [
        ("Rejected", True, {}, True),
        ("Rejected", False, {}, False),
        ("Rejected", True, {"as_error": False}, False),
        ("reject", False, {"as_error": True}, True),
        ("reject", False, {"as_error": None}, False),
        ("dict", True, {}, True),
        ("dict", False, {}, False),
    ],
)
def test_B3_the_author_chooses_whether_it_is_flagged(way: str, gate: bool, given: Any, flagged: bool) -> None:
    """The gate decides for the server, and a raise for itself."""
    server = refusing(way, gate=Gate(rejected_as_error=gate), **given)
    assert call(server, "book").is_error is flagged


@pytest.mark.parametrize("way", WAYS)
def test_B3_a_promised_result_leaves_no_room_for_an_unflagged_refusal(way: str) -> None:
    """With a specific `outputSchema` that does not declare it, the refusal is flagged."""
    result = call(refusing(way, Book, Gate(rejected_as_error=False)), "book")
    assert result.is_error
    assert result.structured is None
    assert "Swap them." in result.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("revision", STRUCTURED)
def test_B3_a_declared_problem_may_travel_unflagged(way: str, revision: str) -> None:
    """`-> Book | Problem` publishes both shapes, and an unflagged refusal fits what was published."""
    server = refusing(way, Book | Problem, Gate(rejected_as_error=False))
    published = Draft202012Validator(listing(server, revision=revision)["book"]["outputSchema"])
    assert not published.is_valid({"result": 1} if revision != NEWEST else 1)
    result = call(server, "book", revision=revision)
    assert not result.is_error
    assert published.is_valid(result.structured)
    assert "INVALID_RANGE" in json.dumps(result.structured)


def test_B3_a_problem_can_be_returned() -> None:
    """`Problem` is a result type like any other where it is declared."""
    result = call(giving(Problem(code="INVALID_RANGE", message="m", hint="h"), Book | Problem), "give")
    assert result.structured["code"] == result.problem["code"] == "INVALID_RANGE"
    assert result.text == "m\nh"


def every_refusal() -> dict[str, Any]:
    """A refusal of each maker: the gate, a model, the author, a failure, a bad result."""
    server = MCPServer("orders")
    server.add_tool("gate", lambda **given: None, schema={**DELIVERY, "minProperties": 1})

    def model(span: Span) -> None:
        """Take it."""

    server.tool(model)
    issue = Issue(path=("a", 0), code="x", message="m")
    server.add_tool("author", lambda: _raise(Rejected("X", "m", issues=[issue])))
    server.add_tool("words", lambda: _raise(ToolError("m")))
    server.add_tool("crash", lambda: _raise(OSError()))
    server.add_tool("result", lambda: {"a": object()})
    calls = {"gate": {}, "model": {"span": {"low": 2, "high": 1}}}

    async def work(client: Any) -> dict[str, Any]:
        names = [each.name for each in await client.list_tools()]
        return {name: await client.call_tool(name, calls.get(name)) for name in names}

    return ask(server, work)


@pytest.mark.parametrize("maker", ["gate", "model", "author", "words", "crash", "result"])
def test_B4_every_refusal_has_the_one_shape(maker: str) -> None:
    """Code, message, hint and issues are always there; each issue has path, code, message, expected."""
    result = every_refusal()[maker]
    assert result.is_error
    assert result.problem.keys() - {"retry_after", "reference"} == {"code", "message", "hint", "issues"}
    for issue in result.problem["issues"]:
        assert issue.keys() == {"path", "code", "message", "expected"}
    assert bool(result.problem["issues"]) is (maker in ("gate", "model", "author"))
    assert result.problem["message"].rstrip(".") in result.text


@pytest.mark.parametrize(
    ("hint", "sent", "mend"),
    [
        (int, {"value": "x"}, "'value' as integer"),
        (int, {}, "'value' as integer"),
        (int | None, {"valeu": 1}, "'value' in place of 'valeu'"),
        (datetime.date, {"value": "today"}, "'value' as a date in the form YYYY-MM-DD"),
        (datetime.datetime, {"value": "2026-02-30T00:00:00Z"}, "for example"),
        (Annotated[int, Field(le=9)], {"value": 10}, "at most 9"),
        (Annotated[int, Field(multiple_of=5)], {"value": 7}, "multiple of 5"),
        (Annotated[str, Field(max_length=2)], {"value": "abc"}, "at most 2"),
        (Annotated[list[int], Field(min_length=1)], {"value": []}, "at least 1"),
        (Annotated[str, Field(pattern="^A$")], {"value": "b"}, "^A$"),
        (bytes, {"value": "-"}, "base64"),
        (dict[Literal["a", "b"], int], {"value": {"c": 1}}, "'a', 'b'"),
    ],
    ids=str,
)
def test_B4_the_hint_says_what_to_send_instead(hint: Any, sent: Any, mend: str) -> None:
    """A model that follows the hint mends its call."""
    server, _ = taking(hint)
    result = call(server, "take", sent)
    assert mend in result.problem["hint"]
    assert result.problem["hint"] in result.text


def test_B5_the_official_client_is_answered_over_stdio(conversation: dict[str, Any]) -> None:
    """`run()` and `run(transport="stdio")` serve a real client, and a print does no harm."""
    assert conversation["revision"] == conversation["expected"]
    assert (conversation["info"].name, conversation["info"].version) == ("orders", "1.2.3")
    assert sorted(conversation["tools"]) == ["crash", "lookup_order", "refuse", "total"]
    assert json.loads(said(conversation["good"])) == [1, 2]
    assert not conversation["good"].is_error


# --- C. The signature is the contract ------------------------------------------------------------


@every_revision
def test_C1_nothing_else_is_needed(revision: str) -> None:
    """A name and a decorator make a working tool."""
    server = MCPServer("Bookshop")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    assert call(server, "add", {"a": 2, "b": 3}, revision).text == "5"


@pytest.mark.parametrize(
    ("hint", "default", "shown"),
    [
        (int, 10, 10),
        (str, "", ""),
        (bool, False, False),
        (list[int], [1], [1]),
        (Colour, Colour.BLUE, "blue"),
        (datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
        (Point, Point(1, 2), {"x": 1, "y": 2}),
        (Book, Book(title="T"), {"title": "T", "pages": 1}),
        (int | None, 3, 3),
    ],
    ids=str,
)
def test_C2_a_default_makes_a_parameter_optional(hint: Any, default: Any, shown: Any) -> None:
    """It is in the schema as JSON, and the function receives it when nothing is sent."""
    server, received = MCPServer("defaults"), []

    @server.tool
    def take(value: hint = default) -> None:  # type: ignore[valid-type]
        received.append(value)

    assert property_of(server)["default"] == shown
    assert "value" not in listing(server)["take"]["inputSchema"].get("required", [])
    assert not call(server, "take").is_error
    assert (received, type(received[0])) == ([default], type(default))


@pytest.mark.parametrize("style", ["in_field", "in_annotated"])
def test_C2_a_default_may_stand_in_field(style: str) -> None:
    """`x: int = Field(5)` and `Annotated[int, Field(default=5)]` are defaults too."""
    server, received = MCPServer("defaults"), []

    def in_field(value: int = Field(5, ge=1)) -> None:
        received.append(value)

    def in_annotated(value: Annotated[int, Field(default=5, ge=1)]) -> None:
        received.append(value)

    server.add_tool("take", {"in_field": in_field, "in_annotated": in_annotated}[style])
    assert property_of(server) == {"type": "integer", "default": 5, "minimum": 1}
    assert not call(server, "take").is_error
    assert received == [5]


class Order(BaseModel):
    number: str | None = None
    notes: list[str | None] = []
    extra: dict[str, int | None] = {}
    tone: Annotated[str, Field(title="How it sounds")] = "mild"


def both_ways(**options: Any) -> dict[str, Any]:
    """The listing of a tool that takes and gives an order."""
    server = MCPServer("orders", **options)

    @server.tool
    def change(order: Order, limit: int | None = None) -> Order:
        return order

    return listing(server)["change"]


@pytest.mark.parametrize("style", ["compact", "pydantic"])
def test_C3_what_is_published_is_json_schema_2020_12(style: Any) -> None:
    """Both schemas are valid in that dialect, without a `$schema`."""
    entry = both_ways(schema_style=style)
    for schema in (entry["inputSchema"], entry["outputSchema"]):
        Draft202012Validator.check_schema(schema)
        assert "$schema" not in schema
        assert schema["type"] == "object"


def test_C3_compact_drops_titles_and_the_null_of_properties() -> None:
    """Generated titles and null-unions of input properties go; lists, dict values and outputs keep null."""
    entry = both_ways()
    order = entry["inputSchema"]["properties"]["order"]["properties"]
    null_or = {kind: {"anyOf": [{"type": kind}, {"type": "null"}]} for kind in ("string", "integer")}
    assert entry["inputSchema"]["properties"]["limit"] == {"type": "integer"}
    assert order["number"] == {"type": "string"}
    assert order["notes"]["items"] == null_or["string"]
    assert order["extra"]["additionalProperties"] == null_or["integer"]
    assert order["tone"]["title"] == "How it sounds"
    output = entry["outputSchema"]["properties"]
    assert output["number"]["anyOf"] == null_or["string"]["anyOf"]
    assert json.dumps(entry).count('"title"') == 2  # the author's own, on either side


def test_C3_the_gate_takes_the_null_that_is_not_published() -> None:
    """`null` is accepted wherever the type allows it."""
    server, received = taking(Order)
    sent = {"number": None, "notes": [None, "a"], "extra": {"a": None}}
    assert not call(server, "take", {"value": sent}).is_error
    assert received == [Order(**sent)]


def test_C3_pydantic_style_is_what_pydantic_generates() -> None:
    """Titles and `anyOf` with null are there, and the properties are pydantic's own."""
    schema = both_ways(schema_style="pydantic")["inputSchema"]
    assert schema["properties"]["limit"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    assert (schema["properties"]["limit"]["title"], schema["properties"]["limit"]["default"]) == (
        "Limit",
        None,
    )
    order = schema["$defs"]["Order"]
    assert order["properties"] == Order.model_json_schema()["properties"]
    assert order["title"] == "Order"


@pytest.mark.parametrize(
    ("hint", "value", "structured"),
    [
        (Book, Book(title="T"), {"title": "T", "pages": 1}),
        (Point, Point(1), {"x": 1, "y": 0}),
        (Range, {"low": 1, "high": 2}, {"low": 1, "high": 2}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (list[Book], [Book(title="T")], [{"title": "T", "pages": 1}]),
        (Pair, Pair(1, "a"), [1, "a"]),
        (str, "text", "text"),
        (int, 5, 5),
        (bool, False, False),
        (datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
        (Book | None, None, None),
        (Colour, Colour.RED, "red"),
    ],
    ids=str,
)
@every_revision
def test_C4_a_specific_type_gives_structured_content(
    hint: Any, value: Any, structured: Any, revision: str
) -> None:
    """Content and structured content say the same and fit `outputSchema`; handshake clients get an object."""
    server = giving(value, hint)
    entry, result = listing(server, revision=revision)["give"], call(server, "give", revision=revision)
    assert result.text == ("" if value is None else value if hint is str else result.text)
    if revision not in STRUCTURED:
        assert "outputSchema" not in entry
        assert "structuredContent" not in result.raw
        return
    is_object = isinstance(structured, dict)
    assert result.raw["structuredContent"] == (
        structured if is_object or revision == NEWEST else {"result": structured}
    )
    Draft202012Validator(entry["outputSchema"]).validate(result.structured)
    assert revision == NEWEST or entry["outputSchema"]["type"] == "object"


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (dict, {"a": 1}),
        (list, [1]),
        (Any, {"a": 1}),
        (object, {"a": 1}),
        (None, {"a": 1}),
        (dict | None, {"a": 1}),
        (Text, Text("a")),
        (Image, Image(data=b"x")),
        (list[Image], [Image(data=b"x")]),
        (list[Text | Image], [Text("a")]),
        (ToolResult, ToolResult(["a"])),
    ],
    ids=str,
)
def test_C4_an_unspecific_type_gives_content_only(hint: Any, value: Any) -> None:
    """Bare containers, `Any`, `object`, content blocks and no annotation publish no `outputSchema`."""
    server = giving(value, hint)
    result = call(server, "give")
    assert "outputSchema" not in listing(server)["give"]
    assert (result.is_error, "structuredContent" in result.raw, len(result.content)) == (False, False, 1)


@pytest.mark.parametrize(
    ("hint", "value", "place"),
    [
        (int, "x", "must be integer"),
        (Book, {"pages": 1}, "'title'"),
        (list[int], [1, None], "[1]"),
        (Annotated[int, Field(le=9)], 10, "less than or equal to 9"),
        (Literal["a"], "b", "'a'"),
        (datetime.date, "today", "date"),
        (float, float("nan"), "NaN"),
    ],
    ids=str,
)
def test_C4_a_value_that_breaks_its_schema_does_not_leave(hint: Any, value: Any, place: str) -> None:
    """It is an error of the tool that names the place, never a result."""
    result = call(giving(value, hint), "give")
    assert result.is_error
    assert result.structured is None
    assert place in result.text


def test_C4_the_official_client_reads_structured_content(conversation: dict[str, Any]) -> None:
    """A real client, which validates by itself, gets the value in the form of its revision."""
    wrapped = conversation["expected"] != NEWEST
    assert conversation["good"].structured_content == ({"result": [1, 2]} if wrapped else [1, 2])
    assert conversation["object"].structured_content == {"cents": 1250}
    assert json.loads(said(conversation["object"])) == {"cents": 1250}
    assert conversation["tools"]["total"].output_schema["type"] == "object"


def test_C5_annotated_describes_and_constrains() -> None:
    """`Field` describes and constrains, a plain text describes, and both win over the docstring."""
    server = MCPServer("orders")

    @server.tool
    def find(
        order_id: Annotated[str, Field(description="Its number.", pattern="^A")],
        limit: Annotated[int, "How many.", Field(ge=1, le=9)] = 5,
        note: Annotated[str, "A remark."] = "",
    ) -> None:
        """Find it.

        Args:
            order_id: Not this.
            limit: Not this.
            note: Not this.
        """

    properties = listing(server)["find"]["inputSchema"]["properties"]
    assert properties["order_id"] == {"type": "string", "description": "Its number.", "pattern": "^A"}
    assert properties["limit"] == {
        "type": "integer",
        "description": "How many.",
        "minimum": 1,
        "maximum": 9,
        "default": 5,
    }
    assert properties["note"]["description"] == "A remark."
    assert call(server, "find", {"order_id": "B"}).is_error


@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (Book, {"title": "T"}, Book(title="T")),
        (Point, {"x": 1}, Point(1)),
        (Range, {"low": 1, "high": 2}, {"low": 1, "high": 2}),
        (Pair, [1, "a"], Pair(1, "a")),
        (Page[Book], {"items": [{"title": "T"}]}, Page[Book](items=[Book(title="T")])),
        (Page[int], {"items": [1]}, Page[int](items=[1])),
        (list[Point], [{"x": 1}], [Point(1)]),
        (dict[str, Book], {"a": {"title": "T"}}, {"a": Book(title="T")}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 2], {1, 2}),
        (int | Book, {"title": "T"}, Book(title="T")),
        (Pet, {"kind": "dog", "tricks": ["sit"]}, Dog(kind="dog", tricks=["sit"])),
        (Node, {"name": "a", "children": [{"name": "b"}]}, Node(name="a", children=[Node(name="b")])),
    ],
    ids=str,
)
@pytest.mark.parametrize("revision", STRUCTURED)
def test_C6_rich_types_work_both_ways(hint: Any, sent: Any, received: Any, revision: str) -> None:
    """The function receives real instances, and what it returns of that type is structured content."""
    server, values = MCPServer("types"), []

    @server.tool
    def echo(before: int, value: hint, after: str = "z") -> hint:  # type: ignore[valid-type]
        values.append((before, value, after))
        return value

    result = call(server, "echo", {"before": 1, "value": sent}, revision)
    assert not result.is_error, result.text
    assert values == [(1, received, "z")]
    assert type(values[0][1]) is type(received)
    given = result.structured  # fit to be sent again; a union is wrapped for handshake clients
    given = given["result"] if isinstance(given, dict) and "result" in given else given
    assert not call(server, "echo", {"before": 1, "value": given}, revision).is_error
    assert values[1] == values[0]


@pytest.mark.parametrize(
    ("hint", "sent", "problem"),
    [
        (Pet, {"kind": "fish"}, "must be one of 'cat', 'dog'"),
        (Pet, {"kind": "cat", "lives": "9"}, "'value.lives' must be integer, got string"),
        (
            Node,
            {"name": "a", "children": [{"name": 1}]},
            "'value.children[0].name' must be string, got integer",
        ),
        (Pair, [1], "value"),
        (int | Book, {"titel": "T"}, "'value.title'"),
    ],
    ids=str,
)
def test_C6_the_refusal_finds_its_way_into_rich_types(hint: Any, sent: Any, problem: str) -> None:
    """Unions, tuples and recursive types are judged at the place that is wrong."""
    server, received = taking(hint)
    result = call(server, "take", {"value": sent})
    assert problem in result.text
    assert (result.is_error, received) == (True, [])


TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("TENANT", default="nobody")


@pytest.mark.parametrize(("kind", "on_loop"), [("plain", False), ("inline", True), ("async", True)])
def test_C7_where_a_function_runs(kind: str, on_loop: bool) -> None:
    """Plain functions run on a worker thread, inline and async ones on the loop; variables go along."""
    server = MCPServer("threads")

    def plain() -> str:
        return f"{threading.get_ident()} {TENANT.get()}"

    async def awaited() -> str:
        return plain()

    async def work(client: Any) -> tuple[int, list[str]]:
        TENANT.set("acme")
        return threading.get_ident(), (await client.call_tool("where")).text.split()

    server.add_tool("where", awaited if kind == "async" else plain, inline=kind == "inline")
    here, (there, tenant) = ask(server, work)
    assert (int(there) == here, tenant) == (on_loop, "acme")


def test_C7_a_plain_function_never_blocks_the_server() -> None:
    """A call is answered while a plain function waits for it."""
    server, opened = MCPServer("threads"), threading.Event()

    @server.tool
    def wait() -> bool:
        return opened.wait(20)

    @server.tool
    async def release() -> None:
        opened.set()

    waited, _ = ask(
        server, lambda client: asyncio.gather(client.call_tool("wait"), client.call_tool("release"))
    )
    assert waited.structured is True


SHOWN = {  # option -> (given, key in the listing, as it travels, the first revision that has it)
    "title": ("Find", "title", "Find", "2025-06-18"),
    "annotations": (
        ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        "annotations",
        {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
        "2025-03-26",
    ),
    "icons": (
        [Icon(src="https://a.example/i.png", mime_type="image/png", sizes=("48x48",))],
        "icons",
        [{"src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        "2025-11-25",
    ),
    "meta": ({"com.example/cost": 3}, "_meta", {"com.example/cost": 3}, "2025-06-18"),
    "tags": ({"b", "a"}, "_meta", {"dev.typegate/tags": ["a", "b"]}, "2025-06-18"),
    "structured_output": (
        True,
        "outputSchema",
        {"type": "object", "additionalProperties": True},
        "2025-06-18",
    ),
}


@pytest.mark.parametrize("option", SHOWN)
@every_revision
def test_C8_what_the_decorator_is_told_is_listed(option: str, revision: str) -> None:
    """Each option is in `tools/list` as the specification names it, from the revision on that has it."""
    given, key, shown, since = SHOWN[option]
    server = MCPServer("orders")

    @server.tool(**{option: given})
    def find() -> dict:  # type: ignore[type-arg]
        return {}

    entry = listing(server, revision=revision)["find"]
    assert entry.get(key) == (shown if revision >= since else None)


def test_C8_tags_and_meta_go_together() -> None:
    """Tags are added to the author's `_meta`."""
    server = MCPServer("orders")
    server.add_tool("find", lambda: None, meta={"com.example/cost": 3}, tags=["slow"])
    assert listing(server)["find"]["_meta"] == {"com.example/cost": 3, "dev.typegate/tags": ["slow"]}


@pytest.mark.parametrize(
    ("option", "kept", "warnings"), [("warn", "first", 1), ("ignore", "first", 0), ("replace", "second", 0)]
)
def test_C9_a_duplicate_name(option: Any, kept: str, warnings: int, caplog: pytest.LogCaptureFixture) -> None:
    """`on_duplicate` decides which of two stays, and whether that is said."""
    server = MCPServer("orders", on_duplicate=option)
    server.add_tool("find", lambda: "first")
    server.add_tool("find", lambda: "second")
    assert call(server, "find").text == kept
    assert [("'find'" in record.getMessage()) for record in caplog.records] == [True] * warnings


def test_C9_the_default_warns_and_error_raises(caplog: pytest.LogCaptureFixture) -> None:
    """Without a setting the first is kept; `error` fails the registration with the name."""
    server, strict = MCPServer("orders"), MCPServer("orders", on_duplicate="error")
    for each in (server, strict):
        each.add_tool("find", lambda: "first")
    server.add_tool("find", lambda: "second")
    assert call(server, "find").text == "first"
    assert len(caplog.records) == 1
    with pytest.raises(RegistrationError, match="'find'"):
        strict.add_tool("find", lambda: "second")


class Shop:
    """Tools as methods."""

    prefix = "book"

    @tool
    def plain(self, number: int) -> str:
        """Find by number."""
        return f"{self.prefix} {number}"

    @tool(name="shop.find", title="Find")
    async def other(self, number: int, ctx: Context) -> str:
        return f"{self.prefix} {number} {ctx.protocol_version}"

    @classmethod
    @tool
    def of_class(cls, number: int) -> str:
        return f"{cls.prefix} {number}"

    @staticmethod
    @tool
    def of_nobody(number: int) -> str:
        return f"nobody {number}"

    @tool
    def _hidden(self) -> None:
        """Private, although marked."""

    def unmarked(self) -> None:
        """Public, but not marked."""


def test_C11_an_instance_gives_its_marked_methods() -> None:
    """Public marked methods become tools bound to the instance, with their options."""
    server, shop = MCPServer("shop"), Shop()
    shop.prefix = "volume"
    server.add_tools(shop)
    entries = listing(server)
    assert set(entries) == {"plain", "shop.find", "of_class", "of_nobody"}
    assert entries["shop.find"]["title"] == "Find"
    assert entries["plain"]["inputSchema"]["required"] == ["number"]
    texts = {name: call(server, name, {"number": 1}).text for name in entries}
    assert texts["plain"] == "volume 1"
    assert texts["shop.find"] == f"volume 1 {NEWEST}"
    assert (texts["of_class"], texts["of_nobody"]) == ("book 1", "nobody 1")


def test_C11_a_property_is_not_touched() -> None:
    """Looking for marked methods runs no code of the instance."""

    class Lazy(Shop):
        @property
        def connection(self) -> None:
            raise RuntimeError("opened too early")

    server = MCPServer("shop")
    server.add_tools(Lazy())
    assert "plain" in listing(server)


class Adder:
    """A callable object with a method, a class method and a static method."""

    def __call__(self, number: int) -> str:
        return f"called {number}"

    def method(self, number: int) -> str:
        return f"method {number}"

    @classmethod
    def of_class(cls, number: int) -> str:
        return f"{cls.__name__} {number}"

    @staticmethod
    def of_nobody(number: int) -> str:
        return f"static {number}"


async def two(word: str, number: int) -> str:
    """A function that a partial can shorten."""
    return f"{word} {number}"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (Adder(), "called 5"),
        (Adder().method, "method 5"),
        (Adder.of_class, "Adder 5"),
        (Adder.of_nobody, "static 5"),
        (functools.partial(two, "partial"), "partial 5"),
        (functools.partial(two, word="keyword"), "keyword 5"),
        (functools.partial(Adder().method), "method 5"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_C11_every_callable_works_wherever_a_function_does(function: Any, text: str) -> None:
    """Bound methods, class methods, partials and callable objects serve as tool, template and prompt."""
    server = MCPServer("callables")
    server.add_tool("t", function)
    server.resource("n://{number}", name="r")(function)
    server.prompt(name="p")(function)

    async def work(client: Any) -> list[str]:
        called, refused = (
            await client.call_tool("t", {"number": 5}),
            await client.call_tool("t", {"number": "5"}),
        )
        read, filled = await client.read_resource("n://5"), await client.get_prompt("p", {"number": "5"})
        return [called.text, read.text, filled.text, "'number' must be integer" in refused.text]

    assert ask(server, work) == [text, text, text, True]
    assert list(listing(server)["t"]["inputSchema"]["properties"]) == ["number"]


class AppState:
    """What a lifespan yields."""


@pytest.mark.parametrize(
    "hint",
    [
        Context,
        Context[AppState],
        Context | None,
        Annotated[Context, "the call"],
        "Context",
        "Context[AppState]",
    ],
    ids=str,
)
@every_revision
def test_C12_a_context_is_injected_and_never_listed(hint: Any, revision: str) -> None:
    """It is found by its annotation whatever it is called, and a caller cannot fill it."""
    state, received = AppState(), []

    @contextlib.asynccontextmanager
    async def lifespan(server: MCPServer) -> Any:
        yield state

    server = MCPServer("context", lifespan=lifespan)

    @server.tool
    def find(number: int, anything: hint, limit: int = 3) -> None:  # type: ignore[valid-type]
        received.append(anything)

    schema = listing(server, revision=revision)["find"]["inputSchema"]
    assert list(schema["properties"]) == ["number", "limit"]
    assert not call(server, "find", {"number": 1}, revision).is_error
    (context,) = received
    assert isinstance(context, Context)
    assert (context.lifespan is state, context.protocol_version) == (True, revision)
    assert (
        "unexpected argument 'anything'" in call(server, "find", {"number": 1, "anything": {}}, revision).text
    )


def test_C12_prompts_and_resources_get_it_too() -> None:
    """The context is no argument of a prompt and no variable of a template."""
    server = MCPServer("context")

    def show(number: int, here: Context) -> str:
        return f"{number} {here.protocol_version}"

    server.prompt(show)
    server.resource("n://{number}")(show)
    assert [each["name"] for each in listing(server, "prompts")["show"]["arguments"]] == ["number"]
    assert ask(server, lambda client: client.get_prompt("show", {"number": "5"})).text == f"5 {NEWEST}"
    assert ask(server, lambda client: client.read_resource("n://5")).text == f"5 {NEWEST}"


def test_C12_kwargs_cannot_reach_the_context() -> None:
    """A function with **kwargs is not given a context that the caller made up."""
    server, received = MCPServer("context"), []

    @server.tool
    def find(ctx: Context, **given: Any) -> None:
        received.append((ctx, given))

    assert call(server, "find", {"ctx": "mine"}).is_error
    assert not call(server, "find", {"other": 1}).is_error
    assert [(isinstance(ctx, Context), given) for ctx, given in received] == [(True, {"other": 1})]


# --- E. What the newest specification demands ----------------------------------------------------


def test_E6_one_server_object_speaks_every_revision_at_once() -> None:
    """Five clients of five revisions, connected together, each get the answer of their own."""
    server = giving([1], list[int])

    async def main() -> dict[str, Any]:
        async with contextlib.AsyncExitStack() as stack:
            clients = {each: await stack.enter_async_context(server.client(each)) for each in REVISIONS}
            answers = await asyncio.gather(*(client.call_tool("give") for client in clients.values()))
            return dict(zip(clients, answers, strict=True))

    answers = asyncio.run(main())
    structured = {revision: answer.raw.get("structuredContent") for revision, answer in answers.items()}
    wrapped = {"result": [1]}
    assert structured == dict(zip(REVISIONS, [None, None, wrapped, wrapped, [1]], strict=True))
    assert {revision for revision, answer in answers.items() if "resultType" in answer.raw} == {NEWEST}
    assert {answer.text for answer in answers.values()} == {"[\n  1\n]"}


def opening(revision: str) -> Iterator[dict[str, Any]]:
    """What a client of this revision sends: a handshake or a discovery, a listing, a call."""
    info, meta = {"name": "bare", "version": "0"}, {}
    if revision == NEWEST:
        prefix = "io.modelcontextprotocol"
        meta = {"_meta": {f"{prefix}/protocolVersion": NEWEST, f"{prefix}/clientCapabilities": {}}}
        yield {"id": 0, "method": "server/discover", "params": meta}
    else:
        asked = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
        yield {"id": 0, "method": "initialize", "params": asked}
        yield {"method": "notifications/initialized"}
    yield {"id": 1, "method": "tools/list", "params": meta}
    yield {
        "id": 2,
        "method": "tools/call",
        "params": {**meta, "name": "lookup_order", "arguments": {"order_id": "A"}},
    }


@every_revision
def test_E6_every_revision_is_spoken_on_stdio(revision: str, program: Path) -> None:
    """The same program answers the bare messages of each revision in the form of that revision."""
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in opening(revision))
    command = [sys.executable, str(program)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    if revision == NEWEST:
        assert NEWEST in answers[0]["supportedVersions"]
    else:
        assert answers[0]["protocolVersion"] == revision
    (entry,) = (each for each in answers[1]["tools"] if each["name"] == "lookup_order")
    assert ("outputSchema" in entry) is (revision in STRUCTURED)
    assert ("structuredContent" in answers[2]) is (revision in STRUCTURED)
    assert {"resultType" in answer for answer in answers.values()} == {revision == NEWEST}
    assert json.loads(answers[2]["content"][0]["text"]) == [1, 2]


@pytest.mark.parametrize("asked", ["2099-01-01", NEWEST])
def test_E6_a_handshake_never_opens_an_unknown_revision(asked: str) -> None:
    """`initialize` is answered with the newest handshake revision where it asks for another."""
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": info}
    answer = ask(giving(1, int), lambda client: client.request("initialize", params), "2025-11-25")
    assert answer["protocolVersion"] == "2025-11-25"


def test_E6_the_official_client_settles_on_either_era(conversation: dict[str, Any]) -> None:
    """A real client that probes comes to the newest revision, one that shakes hands to 2025-11-25."""
    assert conversation["revision"] == conversation["expected"]
    assert conversation["capabilities"].tools is not None
    assert conversation["capabilities"].prompts is None
    assert conversation["capabilities"].resources is None


# --- the table -----------------------------------------------------------------------------------

ROOT = Path(__file__).parents[1]
ROWS = [
    f"{letter}{number}"
    for letter, last in (("A", 16), ("B", 8), ("C", 13), ("D", 4), ("E", 6))
    for number in range(1, last + 1)
]


def table() -> dict[str, str]:
    """Row id -> its last column, which names the tests."""
    lines = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        for line in lines
        if line.startswith("| ")
    ]
    return {row[0]: row[-1] for row in cells if re.fullmatch(r"[A-E]\d+", row[0])}


@functools.cache
def functions(path: Path) -> set[str]:
    """The names of the test functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_the_table_has_every_row_in_order() -> None:
    """No requirement is dropped, and each has a test or says that it is not built."""
    assert list(table()) == ROWS
    assert [row for row, tests in table().items() if "::test_" not in tests and "not yet" not in tests] == []


def test_each_test_of_the_table_exists() -> None:
    """A link leads to a test function that is there."""
    links = [
        link for tests in table().values() for link in re.findall(r"(tests/[\w/]+\.py)::(test_\w+)", tests)
    ]
    assert links
    assert [link for link in links if link[1] not in functions(ROOT / link[0])] == []


def test_each_test_of_this_file_is_in_its_row() -> None:
    """What is tested here is in the table, in the row that its name begins with."""
    named = {name: re.match(r"test_([A-E]\d+)_", name) for name in functions(Path(__file__))}
    rows = table()
    assert [name for name, row in named.items() if row and f"::{name}`" not in rows[row[1]]] == []
