"""The official Python client (``mcp.Client``, mcp 2.x) as a real client of a server.

    python py_mcp_client.py --url http://127.0.0.1:8000/mcp [options]
    python py_mcp_client.py [options] -- COMMAND ARG...            (stdio)

Options:
    --call NAME [JSON]   call this tool (repeatable); JSON is the arguments object, may be left out
    --era ERA            auto (default: discover, else initialize), legacy, or 2026-07-28
    --timeout SECONDS    read timeout, default 15
    --expect-tool NAME   fail unless tools/list has this tool (repeatable)
    --capabilities none  declare no client capabilities
    --log-level LEVEL    ask for log messages: by logging/setLevel, by _meta on 2026-07-28

Prints ONE JSON object on stdout. Exit 0: everything answered; 1: something failed; 2: usage.
Needs ``pip install mcp==2.3.0``.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp import types as t
from pydantic import FileUrl

warnings.simplefilter("ignore")

FORMATS = {
    "email": "user@example.com",
    "uri": "https://example.com/",
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
}


def parse(argv: list[str]) -> argparse.Namespace:
    """The options; ``command`` is what stands after ``--``."""
    at = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--url")
    parser.add_argument("--era", default="auto")
    parser.add_argument("--timeout", type=float, default=15.0)
    parser.add_argument("--expect-tool", action="append", default=[])
    parser.add_argument("--log-level")
    parser.add_argument("--capabilities", choices=["none", "all"], default="all")
    parser.add_argument("--call", action="append", nargs="+", default=[], metavar=("NAME", "JSON"))
    options = parser.parse_args(argv[:at])
    options.command = argv[at + 1 :]
    if bool(options.url) == bool(options.command):
        parser.error("give either --url URL or -- COMMAND ARG...")
    return options


def fill(schema: dict[str, Any]) -> Any:
    """A value for one requested form field."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("oneOf"):
        return schema["oneOf"][0]["const"]
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items", {})
        return (items.get("enum") or [c["const"] for c in items.get("anyOf", [])])[:1]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    return FORMATS.get(schema.get("format", ""), "x" * max(1, schema.get("minLength", 1)))


async def on_sampling(_ctx: Any, _params: Any) -> t.CreateMessageResult:
    """Answer sampling/createMessage."""
    said = t.TextContent(type="text", text="sampled text")
    return t.CreateMessageResult(role="assistant", content=said, model="test-model", stop_reason="endTurn")


async def on_elicit(_ctx: Any, params: Any) -> t.ElicitResult:
    """Answer elicitation/create, every form field filled."""
    schema = getattr(params, "requested_schema", None) or {}
    return t.ElicitResult(
        action="accept", content={k: fill(s) for k, s in schema.get("properties", {}).items()}
    )


async def on_roots(_ctx: Any) -> t.ListRootsResult:
    """Answer roots/list."""
    return t.ListRootsResult(roots=[t.Root(uri=FileUrl("file:///srv/root"), name="root")])


ANSWERS = {
    "sampling_callback": on_sampling,
    "elicitation_callback": on_elicit,
    "list_roots_callback": on_roots,
}


def wire(model: Any) -> Any:
    """A model as it stands on the wire; anything else unchanged."""
    return (
        model.model_dump(mode="json", by_alias=True, exclude_none=True)
        if hasattr(model, "model_dump")
        else model
    )


async def every(client: Client, method: str, key: str) -> list[Any]:
    """All pages of one listing."""
    out: list[Any] = []
    cursor: str | None = None
    for _ in range(1000):
        page = await getattr(client, method)(cursor=cursor)
        out += getattr(page, key)
        cursor = page.next_cursor
        if cursor is None:
            break
    return out


async def call(client: Client, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
    """One tool call, with its progress counted."""
    seen: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    result = await client.call_tool(name, arguments, progress_callback=on_progress)
    return {
        "name": name,
        "isError": bool(result.is_error),
        "content": [wire(block) for block in result.content],
        "structuredContent": result.structured_content,
        "progress": len(seen),
    }


async def exercise(client: Client, options: argparse.Namespace) -> dict[str, Any]:
    """List everything, make the calls, and report."""
    caps, info = client.server_capabilities, client.server_info
    if options.era not in (
        "auto",
        "legacy",
    ):  # a pinned revision is adopted without asking the server: ask now
        found = t.DiscoverResult.model_validate(await client.session.send_discover(options.era))
        caps, info = (
            found.capabilities,
            (found.meta or {}).get("io.modelcontextprotocol/serverInfo"),
        )
    if options.log_level and caps.logging and client.protocol_version < "2026":
        await client.set_logging_level(options.log_level)
    report: dict[str, Any] = {
        "client": f"mcp {version('mcp')}",
        "transport": "http" if options.url else "stdio",
        "protocolVersion": client.protocol_version,
        "server": wire(info),
        "capabilities": wire(caps),
        "instructions": client.instructions,
        "tools": [],
        "prompts": None,
        "resources": None,
        "resourceTemplates": None,
    }
    if caps.tools:
        report["tools"] = [x.name for x in await every(client, "list_tools", "tools")]
    if caps.prompts:
        report["prompts"] = [x.name for x in await every(client, "list_prompts", "prompts")]
    if caps.resources:
        report["resources"] = [str(x.uri) for x in await every(client, "list_resources", "resources")]
        templates = await every(client, "list_resource_templates", "resource_templates")
        report["resourceTemplates"] = [x.uri_template for x in templates]
    for name in options.expect_tool:
        if name not in report["tools"]:
            raise LookupError(f"tools/list has no tool {name!r}")
    report["calls"] = [
        await call(client, name, json.loads(args[0]) if args else None) for name, *args in options.call
    ]
    return report


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """Connect, exercise the server, and return the report."""
    notifications: collections.Counter[str] = collections.Counter()

    async def on_message(message: Any) -> None:
        method = getattr(getattr(message, "root", message), "method", None)
        if method:
            notifications[method] += 1

    async def on_log(params: Any) -> None:
        notifications["(log)"] += 1

    target: Any = options.url or StdioServerParameters(command=options.command[0], args=options.command[1:])
    answers: dict[str, Any] = {} if options.capabilities == "none" else ANSWERS
    async with Client(
        target,
        mode=options.era,
        read_timeout_seconds=options.timeout,
        message_handler=on_message,
        logging_callback=on_log,
        log_level=options.log_level,
        **answers,
    ) as client:
        report = await exercise(client, options)
    return {**report, "notifications": dict(notifications)}


def first_error(exc: BaseException) -> BaseException:
    """The first error inside nested exception groups."""
    while isinstance(exc, BaseExceptionGroup) and exc.exceptions:
        exc = exc.exceptions[0]
    return exc


if __name__ == "__main__":
    try:
        print(json.dumps(anyio.run(run, parse(sys.argv[1:]))))
    except Exception as exc:
        error = first_error(exc)
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=sys.stderr)
        raise SystemExit(1) from None
