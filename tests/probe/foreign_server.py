"""A server without typegate that misbehaves as it is told: `python foreign_server.py MISCHIEF`.

It reads JSON-RPC lines from standard input. Its one tool takes `count`, a whole number from 1 to 9.
"""

import json
import sys
import time
from typing import Any

MISCHIEF = sys.argv[1] if len(sys.argv) > 1 else "good"

TOOL = {
    "name": "count",
    "inputSchema": {
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 9}},
        "required": ["count"],
        "additionalProperties": False,
    },
}


def refusal(arguments: Any) -> str | None:
    """What is wrong with the arguments, as another framework would say it."""
    if not isinstance(arguments, dict):
        return "the arguments must be an object"
    for name in arguments.keys() - {"count"}:
        return f"1 error\n{name}\n  Unexpected keyword argument"
    count = arguments.get("count")
    if isinstance(count, float) and count.is_integer():
        count = int(count)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 9:
        return "1 error\ncount\n  Input should be a whole number from 1 to 9"
    return None


def call(arguments: Any) -> dict[str, Any]:
    """The result of a call."""
    wrong = refusal(arguments)
    count = arguments.get("count") if isinstance(arguments, dict) else None
    if MISCHIEF == "doomed":
        sys.exit("no call is survived")
    if MISCHIEF == "crash" and count == "":
        sys.exit("count was empty")
    if MISCHIEF == "hang" and count == "":
        time.sleep(60)
    if MISCHIEF == "lax" and isinstance(count, str):
        wrong = None
    if MISCHIEF == "mute" and wrong:
        wrong = "no"
    text = {"type": "text", "text": wrong or "counted"}
    return {"content": [text], "isError": wrong is not None}


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless it names a key twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError
    return dict(pairs)


def refuse(token: str) -> Any:
    """NaN is no JSON."""
    raise ValueError


def answer(line: bytes) -> dict[str, Any] | None:
    """The answer to one line; `None` for a notification."""
    try:
        message = json.loads(line.decode(), object_pairs_hook=unique, parse_constant=refuse)
        line.decode().encode()
        json.dumps(message, ensure_ascii=False).encode()
        if line.count(b"[") > 64:
            raise ValueError
    except (ValueError, RecursionError):
        return {"id": None, "error": {"code": -32700, "message": "Parse error"}}
    if "id" not in message or "method" not in message:
        return None
    info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "foreign"}}
    results = {"initialize": info, "ping": {}, "tools/list": {"tools": [] if MISCHIEF == "empty" else [TOOL]}}
    if message["method"] == "tools/call":
        return {"id": message["id"], "result": call(message["params"].get("arguments"))}
    return {"id": message["id"], "result": results[message["method"]]}


def main() -> None:
    """Serve until the input ends."""
    if MISCHIEF == "stillborn":
        print("it is too early", file=sys.stderr)
        sys.exit(3)
    if MISCHIEF == "deaf":
        time.sleep(60)
    if MISCHIEF == "noise":
        print("starting up", flush=True)
        print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}), flush=True)
    for line in sys.stdin.buffer:
        made = answer(line)
        if made is None:
            continue
        if MISCHIEF == "silent" and made["id"] is None:
            continue
        print(json.dumps({"jsonrpc": "2.0", **made}), flush=True)


if __name__ == "__main__":
    main()
