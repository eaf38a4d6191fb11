"""Records in the words of OpenTelemetry, ECS and OCSF."""

from pathlib import Path
from typing import Any

import pytest
from auditing import call, one, records

from typegate.guards.exports import EXPORTS, ecs, ocsf, otel

ARGUMENTS = {"order_id": "A-1"}


@pytest.fixture
def record(tmp_path: Path) -> Any:
    """A call that failed, with all that is known of it."""
    of = call(ARGUMENTS, _meta={"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"})
    what = {"error": ValueError("no"), "reference": "7f3a9c12", "reason": "ValueError"}
    return one(of, "failed", path=tmp_path / "calls.jsonl", **what)


def test_opentelemetry(record: Any) -> None:
    """The names of the conventions for MCP and GenAI; the rest under our own."""
    made = otel(record)
    attributes = made["attributes"]
    assert (made["trace_id"], made["severity_text"], made["timestamp"]) == ("ab" * 16, "ERROR", record["ts"])
    expected = {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "lookup_order",
        "gen_ai.operation.name": "execute_tool",
        "mcp.protocol.version": "2026-07-28",
        "jsonrpc.request.id": "7",
        "enduser.id": "alice",
        "error.type": "ValueError",
        "typegate.outcome": "failed",
        "typegate.reference": "7f3a9c12",
    }
    assert {name: attributes.get(name) for name in expected} == expected


def test_elastic(record: Any) -> None:
    """Who, what, when, how it ended, for how long."""
    made = ecs(record)
    expected = {
        "@timestamp": record["ts"],
        "event.action": "tools/call",
        "event.outcome": "failure",
        "event.duration": round(record["duration_ms"] * 1e6),
        "user.id": "alice",
        "trace.id": "ab" * 16,
        "event.reference": "7f3a9c12",
        "typegate.target": "lookup_order",
        "typegate.args": ARGUMENTS,
    }
    assert {name: made.get(name) for name in expected} == expected


def test_ocsf(record: Any) -> None:
    """Class 6003, with what that class requires."""
    made = ocsf(record)
    assert (made["class_uid"], made["category_uid"], made["type_uid"]) == (6003, 6, 600399)
    assert (made["status_id"], made["status_code"], made["severity_id"]) == (2, "failed", 3)
    assert made["actor"]["user"]["uid"] == "alice"
    assert made["api"] == {"operation": "tools/call", "request": {"uid": "7"}}
    assert made["resources"] == [{"name": "lookup_order"}]
    assert made["unmapped"]["args"] == ARGUMENTS


@pytest.mark.parametrize("name", EXPORTS)
def test_nothing_is_lost(record: Any, name: Any) -> None:
    """Every value of a record is somewhere in what it becomes; events are translated too."""
    made = str(EXPORTS[name](record))
    for key in ("target", "reference", "reason", "traceback", "protocol", "peer"):
        assert repr(record[key])[1:-1] in made, key


@pytest.mark.parametrize("name", EXPORTS)
def test_every_record_has_a_translation(record: Any, name: Any, tmp_path: Path) -> None:
    """What is no call as well."""
    for each in records(tmp_path / "calls.jsonl"):
        assert EXPORTS[name](each)
