"""A record in the words of others: OpenTelemetry, Elastic Common Schema, OCSF.

The law of the file: pure functions from a record, as it was written, to a JSON object. Our own names stay
ours; what has no place in the other vocabulary travels under `typegate.` or in `unmapped`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Literal

from typegate.types import Json

__all__ = ["EXPORTS", "Vocabulary", "ecs", "ocsf", "otel"]

Vocabulary = Literal["otel", "ecs", "ocsf"]

_FAILURES: Final = frozenset(("tool_error", "failed", "timeout"))
_REFUSALS: Final = frozenset(("invalid", "unknown", "denied", "limited", "unparseable"))

_OTEL: Final = {
    "method": "mcp.method.name",
    "session_id": "mcp.session.id",
    "protocol": "mcp.protocol.version",
    "request_id": "jsonrpc.request.id",
}
_NETWORK: Final = {"stdio": "pipe", "http": "tcp"}
_TARGETS: Final = {
    "tools/call": "gen_ai.tool.name",
    "prompts/get": "gen_ai.prompt.name",
    "resources/read": "mcp.resource.uri",
    "resources/subscribe": "mcp.resource.uri",
}


def otel(record: Mapping[str, Json]) -> dict[str, Json]:
    """A log record of OpenTelemetry, its attributes named by the conventions for MCP and GenAI."""
    used = {*_OTEL, "v", "ts", "target", "trace_id", "caller", "transport", "error"}
    attributes: dict[str, Json] = {name: record[key] for key, name in _OTEL.items() if key in record}
    if "request_id" in record:
        attributes["jsonrpc.request.id"] = str(record["request_id"])
    if "target" in record:
        attributes[_TARGETS.get(str(record.get("method")), "typegate.target")] = record["target"]
    if record.get("method") == "tools/call":
        attributes["gen_ai.operation.name"] = "execute_tool"
    if "transport" in record:
        attributes["network.transport"] = _NETWORK.get(str(record["transport"]), str(record["transport"]))
    if isinstance(caller := record.get("caller"), Mapping):
        attributes["enduser.id"] = caller.get("sub")
    outcome = str(record.get("outcome", ""))
    if outcome not in ("", "ok"):
        attributes["error.type"] = outcome if outcome == "tool_error" else record.get("error") or outcome
    attributes |= {f"typegate.{key}": value for key, value in record.items() if key not in used}
    severe = outcome in _FAILURES
    return {
        "timestamp": record["ts"],
        "severity_text": "ERROR" if severe else "WARN" if outcome in _REFUSALS else "INFO",
        "severity_number": 17 if severe else 13 if outcome in _REFUSALS else 9,
        "event_name": f"typegate.{record.get('event') or record.get('phase')}",
        **({"trace_id": record["trace_id"]} if "trace_id" in record else {}),
        "attributes": attributes,
    }


def ecs(record: Mapping[str, Json]) -> dict[str, Json]:
    """A document of the Elastic Common Schema, with dotted names."""
    outcome = str(record.get("outcome", ""))
    found: dict[str, Json] = {
        "@timestamp": record["ts"],
        "ecs.version": "8.17.0",
        "event.kind": "event",
        "event.module": "typegate",
        "event.dataset": "typegate.audit",
        "event.category": ["api"],
        "event.type": ["access", *(("denied",) if outcome == "denied" else ())],
        "event.action": record.get("method") or record.get("event") or record.get("phase"),
        "event.sequence": record["seq"],
        "event.hash": record.get("hash"),
        "event.outcome": "success" if outcome == "ok" else "failure" if outcome else "unknown",
    }
    moved = {
        "id": "event.id",
        "reason": "event.reason",
        "reference": "event.reference",
        "rule": "rule.name",
        "trace_id": "trace.id",
        "error": "error.type",
        "traceback": "error.stack_trace",
        "peer": "user_agent.original",
        "in_bytes": "http.request.bytes" if record.get("transport") == "http" else "source.bytes",
        "out_bytes": "http.response.bytes" if record.get("transport") == "http" else "destination.bytes",
    }
    found |= {name: record[key] for key, name in moved.items() if key in record}
    if "duration_ms" in record:
        found["event.duration"] = round(float(record["duration_ms"]) * 1e6)
    if isinstance(caller := record.get("caller"), Mapping):
        found["user.id"] = caller.get("sub")
    used = {*moved, "v", "ts", "seq", "hash", "caller", "duration_ms", "args"}
    found |= {f"typegate.{key}": value for key, value in record.items() if key not in used}
    if "args" in record:
        found["typegate.args"] = record["args"]
    return found


def ocsf(record: Mapping[str, Json]) -> dict[str, Json]:
    """An event of OCSF 1.5, class 6003 (API Activity)."""
    outcome = str(record.get("outcome", ""))
    caller = record.get("caller") if isinstance(record.get("caller"), Mapping) else {}
    method = str(record.get("method") or record.get("event") or record.get("phase"))
    activity = 2 if method.endswith(("/list", "/read", "/get")) else 99
    used = {"v", "ts", "seq", "method", "target", "caller", "outcome", "reason", "request_id", "duration_ms"}
    used |= {"trace_id", "id", "peer"}
    return {
        "class_uid": 6003,
        "class_name": "API Activity",
        "category_uid": 6,
        "category_name": "Application Activity",
        "activity_id": activity,
        "activity_name": "Read" if activity == 2 else method,
        "type_uid": 600300 + activity,
        "severity_id": 3 if outcome in _FAILURES else 2 if outcome in _REFUSALS else 1,
        "time": round(datetime.fromisoformat(str(record["ts"])).timestamp() * 1000),
        "status_id": 1 if outcome == "ok" else 2 if outcome else 0,
        "status_code": outcome,
        "status_detail": record.get("reason", ""),
        "duration": round(float(record.get("duration_ms") or 0)),
        "actor": {"user": {"uid": (caller or {}).get("sub", "")}, "app_name": record.get("peer", "")},
        "api": {"operation": method, "request": {"uid": str(record.get("request_id", ""))}},
        "resources": [{"name": record["target"]}] if "target" in record else [],
        "src_endpoint": {"name": record.get("peer", "")},
        "metadata": {
            "version": "1.5.0",
            "product": {"name": "typegate", "vendor_name": "typegate"},
            "sequence": record["seq"],
            "uid": f"{record.get('chain')}-{record['seq']}",
            "correlation_uid": record.get("trace_id") or record.get("id", ""),
        },
        "unmapped": {key: value for key, value in record.items() if key not in used},
    }


EXPORTS: Final[dict[Vocabulary, Callable[[Mapping[str, Json]], dict[str, Json]]]] = {
    "otel": otel,
    "ecs": ecs,
    "ocsf": ocsf,
}
"""Vocabulary → what translates a record into it."""
