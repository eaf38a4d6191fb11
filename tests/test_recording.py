"""What a server puts on record: every request, however it ends, before its answer leaves (requirement E5)."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases.process import Serve, call, request, serve

from typegate import (
    AccessPolicy,
    AuditLog,
    Gate,
    Limits,
    MCPServer,
    RateLimit,
    RequestFailed,
    ToolAnnotations,
    ToolError,
)
from typegate.guards.archive import check_log, read_records
from typegate.transports.memory import Client

__all__ = ["serve"]

SECRET = "postgres://user:hunter2@db"


def served(path: Path, **guards: Any) -> MCPServer:
    """A server whose calls are recorded in a file."""
    server = MCPServer("shop", audit=AuditLog(path), gate=Gate(repair="containers"), **guards)

    @server.tool
    def order(skus: list[str]) -> int:
        return len(skus)

    @server.tool
    def fail() -> None:
        raise ConnectionError(SECRET)

    @server.tool
    def refuse() -> None:
        raise ToolError("there is none left")

    @server.tool(annotations=ToolAnnotations(destructive_hint=True))
    def delete(sku: str) -> str:
        return "deleted"

    @server.tool
    async def wait() -> None:
        await asyncio.sleep(3600)

    @server.tool
    async def unwritable() -> dict:  # type: ignore[type-arg]
        return {"a": object()}

    @server.tool(gate=Gate(on_invalid=lambda refused: "in my words"))
    def strict(count: int) -> int:
        return count

    return server


def recorded(server: MCPServer, path: Path, work: Callable[[Client], Any]) -> list[dict[str, Any]]:
    """The records of what a client did, those of the log itself left out."""

    async def main() -> None:
        async with server.client() as client:
            await work(client)

    asyncio.run(main())
    assert check_log(path).sound
    return [each for each in read_records(path) if each.get("phase") in ("intent", "outcome")]


def asking(name: str, arguments: Any = None) -> Callable[[Client], Any]:
    """Something that calls a tool, whatever becomes of it."""

    async def ask(client: Client) -> None:
        with contextlib.suppress(RequestFailed):
            await client.call_tool(name, arguments or {})

    return ask


ENDINGS = [
    ("order", {"skus": ["a"]}, "ok"),
    ("order", {"skus": 5}, "invalid"),
    ("strict", {}, "invalid"),
    ("no_such", {}, "unknown"),
    ("refuse", {}, "tool_error"),
    ("fail", {}, "failed"),
    ("unwritable", {}, "failed"),
]


@pytest.mark.parametrize(("name", "arguments", "outcome"), ENDINGS)
def test_E5_every_ending_has_its_record(tmp_path: Path, name: str, arguments: Any, outcome: str) -> None:
    """One record each, with the tool and what became of the call."""
    path = tmp_path / "calls.jsonl"
    (record,) = recorded(served(path), path, asking(name, arguments))
    assert (record["method"], record["outcome"]) == ("tools/call", outcome)


GUARDED = [
    ({"access": AccessPolicy(deny=["order"])}, "order", {"skus": []}, "unknown"),
    ({"access": AccessPolicy(where={"order": lambda who, values: False})}, "order", {"skus": []}, "denied"),
    ({"rate_limit": RateLimit(rate=0.001, burst=1)}, "order", {"skus": []}, "limited"),
    ({"limits": Limits(timeout=0.05)}, "wait", {}, "timeout"),
    ({"limits": Limits(max_arguments_bytes=20)}, "order", {"skus": ["x" * 100]}, "limited"),
]


@pytest.mark.parametrize(("guard", "name", "arguments", "outcome"), GUARDED, ids=range(len(GUARDED)))
def test_E5_what_a_guard_refuses_is_on_record(
    tmp_path: Path, guard: dict[str, Any], name: str, arguments: Any, outcome: str
) -> None:
    """Under the word for what it did."""
    path = tmp_path / "calls.jsonl"

    async def twice(client: Client) -> None:
        for _ in range(2):
            await asking(name, arguments)(client)

    records = recorded(served(path, **guard), path, twice)
    assert records[-1]["outcome"] == outcome


def test_E5_the_record_says_which_rule_refused_and_who_approved(tmp_path: Path) -> None:
    """By the names that the guards give."""
    path = tmp_path / "limited.jsonl"

    async def twice(client: Client) -> None:
        for _ in range(2):
            await asking("order", {"skus": []})(client)

    _, limited = recorded(served(path, rate_limit=RateLimit(rate=0.001, burst=1)), path, twice)
    assert limited["rule"].startswith("rate.")

    path = tmp_path / "approved.jsonl"
    server = served(path)
    server.add_tool("pay", lambda amount: "paid", approve=lambda asked: True)
    (approved,) = recorded(server, path, asking("pay", {"amount": 5}))
    assert approved["outcome"] == "ok"
    assert len(approved["approval"]["by"]) == 1


def test_E5_a_failure_is_found_by_its_reference(tmp_path: Path) -> None:
    """The number that the model reads leads to the record with the traceback (A12)."""
    path = tmp_path / "calls.jsonl"
    told: list[str] = []

    async def ask(client: Client) -> None:
        told.append((await client.call_tool("fail")).text)

    (record,) = recorded(served(path), path, ask)
    assert f"(reference {record['reference']})" in told[0]
    assert "ConnectionError" in record["traceback"]


def test_E5_a_repair_is_counted(tmp_path: Path) -> None:
    """Arguments that came as JSON text are on record as repaired (C10)."""
    path = tmp_path / "calls.jsonl"
    (record,) = recorded(served(path), path, asking("order", {"skus": '["a"]'}))
    assert (record["outcome"], record["repairs"]) == ("ok", 1)


def test_E5_what_destroys_is_on_record_before_it_runs(tmp_path: Path) -> None:
    """An intent, and then the outcome under the same id."""
    path = tmp_path / "calls.jsonl"
    intent, outcome = recorded(served(path), path, asking("delete", {"sku": "a"}))
    assert (intent["phase"], outcome["phase"], outcome["outcome"]) == ("intent", "outcome", "ok")
    assert intent["id"] == outcome["id"]


def test_E5_a_call_that_nobody_wants_any_more_is_recorded(tmp_path: Path) -> None:
    """As cancelled."""
    path = tmp_path / "calls.jsonl"

    async def ask(client: Client) -> None:
        task = asyncio.ensure_future(client.call_tool("wait"))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.sleep(0.05)

    (record,) = recorded(served(path), path, ask)
    assert record["outcome"] == "cancelled"


def test_E5_listings_and_reads_are_recorded_too(tmp_path: Path) -> None:
    """Not only calls."""
    path = tmp_path / "calls.jsonl"

    async def ask(client: Client) -> None:
        await client.request("tools/list")
        with pytest.raises(RequestFailed):
            await client.read_resource("no://such")

    found = [(each["method"], each["outcome"]) for each in recorded(served(path), path, ask)]
    assert found[0] == ("tools/list", "ok")
    assert found[-1][1] in ("unknown", "invalid")


SERVER = """
    from typegate import AuditLog
    server = MCPServer("t", audit=AuditLog(PATH))

    @server.tool
    async def echo(text: str) -> str:
        return text
"""


def test_E5_what_is_no_message_is_on_record_and_answers_come_after_records(
    serve: Serve, tmp_path: Path
) -> None:
    """Over a real pipe; when an answer is read, its record is in the file."""
    path = tmp_path / "calls.jsonl"
    server = serve(SERVER.replace("PATH", repr(str(path)))).handshake()
    server.send(b"{no json\n")
    assert server.read()["error"]["code"] == -32700
    for number in range(2, 30):
        server.ask(call(number, "echo", text="x" * number))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert sum(each.get("method") == "tools/call" for each in lines) == number - 1
    server.ask(request(30, "ping"))
    assert server.end() == 0
    assert [each["outcome"] for each in read_records(path) if each.get("outcome")].count("unparseable") == 1
    assert check_log(path).sound
