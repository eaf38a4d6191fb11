"""Judge recorded JSON-RPC messages by the MCP specification's own JSON Schemas.

    python wire_schema.py 2026-07-28 messages.jsonl [client|server] [--schemas FOLDER]

The file has one message a line, in wire order: {"from": "client" | "server", "message": {...}}, as
wire_proxy.mjs and wire_tee.py write it. With a third argument only that side's messages are judged.
A fault is a message that its definition refuses, a line that is no JSON, a batch outside
2025-03-26, or a method that this side cannot send in this revision.

    from wire_schema import Spec, faults, read, unpaired
    spec = Spec("2025-11-25")
    spec.errors(message)                              # a request, notification or error response
    spec.errors(message, answers=request)             # a result: pass the request that it answers

The schemas are schema/<revision>/schema.json of modelcontextprotocol/modelcontextprotocol on
GitHub, kept as FOLDER/<revision>.json; FOLDER is $TYPEGATE_SHARED/spec/schema, and TYPEGATE_SHARED
is the folder ``shared`` beside the repository unless set. Up to 2025-06-18 they are draft-07 with
``definitions``; from 2025-11-25 on they are 2020-12 with ``$defs``. Needs ``jsonschema``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

try:
    import jsonschema  # type: ignore[import-untyped]
except ImportError:  # all but Spec works without it
    jsonschema = None

Message = dict[str, Any]
Entry = dict[str, Any]  # {"from": side, "message": ...} or {"from": side, "garbage": text}

OTHER = {"client": "server", "server": "client"}
KINDS = ("Request", "Notification", "Result", "Message")
# Unions that alias one concrete type carry its ``method`` const; they do not define that method.
UNIONS = {side + kind for side in ("Client", "Server") for kind in KINDS}


def schema_folder() -> Path:
    """Where the specification's schemas lie: ``$TYPEGATE_SHARED/spec/schema``."""
    beside = Path(__file__).resolve().parents[3] / "shared"
    return Path(os.environ.get("TYPEGATE_SHARED") or beside) / "spec" / "schema"


class Spec:
    """One revision's definitions, found by method, by result and by error code."""

    usable = jsonschema is not None

    def __init__(self, revision: str, folder: Path | None = None) -> None:
        schema = json.loads(((folder or schema_folder()) / f"{revision}.json").read_text("utf-8"))
        self.revision = revision
        self.key = "$defs" if "$defs" in schema else "definitions"
        self.defs: dict[str, Any] = schema[self.key]
        dialect = "Draft202012Validator" if self.key == "$defs" else "Draft7Validator"
        self.cls = getattr(jsonschema, dialect)
        # Erratum: NumberSchema bounds are generated as integer where schema.ts says number.
        for name in ("minimum", "maximum", "default"):
            prop = self.defs.get("NumberSchema", {}).get("properties", {}).get(name)
            if prop and prop.get("type") == "integer":
                prop["type"] = "number"
        self.methods: dict[str, str] = {}  # method -> request or notification definition
        self.results: dict[str, str] = {}  # method -> result definition
        self.codes: dict[Any, str] = {}  # error code -> error response definition
        for name, definition in self.defs.items():
            self._index(name, definition.get("properties", {}))
        self.sends = {side: self._sends(side.title()) for side in OTHER}
        self._validators: dict[str, Any] = {}

    def _index(self, name: str, props: dict[str, Any]) -> None:
        method = props.get("method", {}).get("const")
        if method and name not in UNIONS:
            self.methods[method] = name
            result = name.removesuffix("Request") + "Result"
            if name.endswith("Request") and result in self.defs:
                self.results[method] = result
        for part in props.get("error", {}).get("allOf", []):
            if "const" in part.get("properties", {}).get("code", {}):
                self.codes[part["properties"]["code"]["const"]] = name

    def _sends(self, side: str) -> set[str]:
        """The request and notification definitions that *side* may send."""
        unions = (self.defs.get(side + kind, {}) for kind in ("Request", "Notification"))
        refs = (ref for union in unions for ref in union.get("anyOf", [union]))
        return {ref["$ref"].rpartition("/")[2] for ref in refs if "$ref" in ref}

    def check(self, name: str, value: Any) -> list[str]:
        """Errors of *value* against the definition *name*."""
        if name not in self._validators:
            self._validators[name] = self.cls({"$ref": f"#/{self.key}/{name}", self.key: self.defs})
        found = self._validators[name].iter_errors(value)
        return [f"{name}{''.join(f'/{p}' for p in e.absolute_path)}: {e.message[:300]}" for e in found]

    def errors(self, message: Any, answers: Message | None = None, sender: str | None = None) -> list[str]:
        """Errors of one message; *answers* is the request of a result, *sender* its side."""
        if not isinstance(message, dict):
            return ["not a JSON object"]
        if "method" in message:
            name = self.methods.get(message["method"])
            if sender and name not in self.sends[sender]:
                return [f"a {sender} cannot send {message['method']!r} in {self.revision}"]
            envelope = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
            return self.check(name or envelope, message)
        if "error" in message:
            error = message["error"]
            code = error.get("code") if isinstance(error, dict) else None
            name = self.codes.get(code) or self._first("JSONRPCErrorResponse", "JSONRPCError")
            return self.check(name, message)
        if "result" in message:
            found = self.check(self._first("JSONRPCResultResponse", "JSONRPCResponse"), message)
            name = self._result_name(message["result"], answers)
            return found + (self.check(name, message["result"]) if name else [])
        return ["neither a request, a notification nor a response"]

    def _first(self, *names: str) -> str:
        return next(n for n in names if n in self.defs)

    def _result_name(self, result: Any, answers: Message | None) -> str | None:
        kind = result.get("resultType") if isinstance(result, dict) else None
        if kind == "input_required" and "InputRequiredResult" in self.defs:
            return "InputRequiredResult"
        if not answers:
            return None
        if "CreateTaskResult" in self.defs and "task" in (answers.get("params") or {}):
            return "CreateTaskResult"  # 2025-11-25: the request was task-augmented
        # ping, logging/setLevel, resources/subscribe and unsubscribe have no result of their own.
        method = answers["method"]
        return self.results.get(method, "EmptyResult" if method in self.methods else None)


def read(path: Path) -> list[Entry]:
    """The entries of a recording."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def members(entries: Iterable[Entry]) -> Iterator[tuple[str, Any]]:
    """Every side and message of a recording, the members of a batch one by one."""
    for entry in entries:
        if "message" in entry:
            message = entry["message"]
            yield from ((entry["from"], m) for m in (message if isinstance(message, list) else [message]))


def faults(entries: Iterable[Entry], spec: Spec, side: str | None = None) -> list[str]:
    """What the revision refuses in the messages of *side* (of both sides when None)."""
    asked: dict[tuple[str, str], Message] = {}  # (who asked, id) -> the latest request with that id
    out: list[str] = []
    for number, entry in enumerate(entries, 1):
        who, message = entry["from"], entry.get("message")
        found = [f"not JSON: {entry['garbage']!r}"] if "garbage" in entry else []
        if isinstance(message, list) and (not message or "JSONRPCBatchRequest" not in spec.defs):
            found.append(f"an empty batch, or a batch in {spec.revision}")
        for _, member in members([entry]):
            name = json.dumps(member.get("id")) if isinstance(member, dict) else ""
            if isinstance(member, dict) and "method" in member:
                asked[who, name] = member
            found += spec.errors(member, answers=asked.get((OTHER[who], name)), sender=who)
        if side in (None, who):
            out += [f"{number}: {who}: {fault}" for fault in found]
    return out


def unpaired(entries: Iterable[Entry], side: str) -> list[str]:
    """Requests that *side* left without an answer, and its answers to nothing, on ONE connection.

    A recording of several HTTP sessions repeats ids; it cannot be read this way.
    """
    waiting: dict[str, str] = {}  # id -> method
    out: list[str] = []
    for who, member in members(entries):
        if not isinstance(member, dict) or member.get("id") is None:
            continue
        name = json.dumps(member["id"])
        if who != side and "method" in member:
            waiting[name] = member["method"]
        elif who == side and "method" not in member and waiting.pop(name, None) is None:
            out.append(f"{side}: answers no open request: id {name}")
    return out + [f"{side}: no answer to {method!r}, id {name}" for name, method in waiting.items()]


def main() -> int:
    """Print every fault of a recording; exit 1 when there is one."""
    parser = argparse.ArgumentParser(description="Judge a recording by the specification's JSON Schema.")
    parser.add_argument("revision")
    parser.add_argument("file", type=Path)
    parser.add_argument("side", nargs="?", choices=sorted(OTHER))
    parser.add_argument("--schemas", type=Path, default=schema_folder())
    args = parser.parse_args()
    entries = read(args.file)
    found = faults(entries, Spec(args.revision, args.schemas), args.side)
    for fault in found:
        print(f"{args.file}:{fault}")
    count = sum(args.side in (None, entry["from"]) for entry in entries)
    print(f"{count} lines, {len(found)} faults against {args.revision}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
