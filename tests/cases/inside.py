"""A server in the same process, its published schemas, and an independent judge of them."""

import asyncio
import json
import timeit
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from typegate import MCPServer, RequestFailed
from typegate.transports.memory import CallResult, Client
from typegate.types import Tool

T = TypeVar("T")
Schema = dict[str, Any]

STYLES = ("compact", "inline", "pydantic")
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")  # those with structured content


def talk(server: MCPServer, question: Callable[[Client], Awaitable[T]], **options: Any) -> T:
    """Connect a client, let it do something, and give back what it found."""

    async def connected() -> T:
        async with server.client(**options) as client:
            return await question(client)

    return asyncio.run(connected())


def call(server: MCPServer, name: str, arguments: Any = None, **options: Any) -> CallResult:
    """Call a tool."""
    return talk(server, lambda client: client.call_tool(name, arguments), **options)


def refused(server: MCPServer, method: str, params: Any, **options: Any) -> RequestFailed:
    """Make a request, and give back the JSON-RPC error that it must end with."""

    async def ask(client: Client) -> RequestFailed:
        try:
            result = await client.request(method, params)
        except RequestFailed as error:
            return error
        raise AssertionError(f"answered with {result}")

    return talk(server, ask, **options)


def tools(server: MCPServer, **options: Any) -> dict[str, Tool]:
    """The listed tools by name."""
    return {tool.name: tool for tool in talk(server, lambda client: client.list_tools(), **options)}


def schemas(server: MCPServer, **options: Any) -> dict[str, Schema]:
    """The published input schemas by the tool's name."""
    return {name: dict(tool.input_schema) for name, tool in tools(server, **options).items()}


def nodes(schema: Any) -> Iterator[Schema]:
    """A schema and every schema inside it."""
    if isinstance(schema, dict):
        yield schema
        for inner in DRAFT202012.create_resource(schema).subresources():
            yield from nodes(inner.contents)


def judge(schema: Any) -> Draft202012Validator:
    """Check everything that must hold of any published schema; what validates values against it."""
    json.dumps(schema, allow_nan=False)
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object", "a host wants an object at the root"
    validator = Draft202012Validator(schema, registry=Registry())
    here = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for node in nodes(schema):
        if "$ref" in node:
            here.lookup(node["$ref"])
        if "properties" in node:
            assert set(node.get("required", ())) <= node["properties"].keys()
        if "default" in node:
            validator.evolve(schema={**node, "$defs": schema.get("$defs", {})}).validate(node["default"])
    return validator


def fits(server: MCPServer, name: str, result: CallResult, **options: Any) -> Any:
    """The structured content of a result, which must satisfy the listed output schema."""
    assert not result.is_error, result.text
    schema = tools(server, **options)[name].output_schema
    assert schema is not None
    Draft202012Validator.check_schema(dict(schema))
    Draft202012Validator(dict(schema), registry=Registry()).validate(result.structured)
    return result.structured


def duration(work: Callable[[], object]) -> float:
    """How long it takes at best; only for ratios."""
    return min(timeit.repeat(work, number=1, repeat=5))
