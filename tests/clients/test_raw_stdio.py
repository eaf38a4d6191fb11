"""What no well-behaved client sends: batches, broken lines, and what is left of the session."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from .connection import Connection, initialize, request

Connect = Callable[..., Connection]

PING = request(9, "ping")
NOTE = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
ADD = request(2, "tools/call", name="add", arguments={"a": 2, "b": 3})
BATCHED = "2025-03-26"  # the only revision with batches
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

REFUSED = [  # the session's revision (None: no session yet), the batch
    ("2024-11-05", [PING]),
    (BATCHED, []),
    (BATCHED, [1]),
    (BATCHED, [initialize(BATCHED, 9)]),
    ("2025-06-18", [PING]),
    ("2025-11-25", [PING]),
    (None, [PING]),
    (None, [initialize(BATCHED, 9)]),
]

BROKEN_LINES = [  # case O-STD-4
    (
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"initialize","params":{'
        b'"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"w","version":"0"}}}\r\n'
    ),
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\r\n',
    b"not json at all\n",
    b'{"id":7,"method":"tools/list","params":{}}\n',
    b'{"jsonrpc":"2.0","id":8,"method":"","params":{}}\n',
    b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"\xff\xfe"}}\n',
    b"[]\n",
    b"\n",
    b'{"jsonrpc":"2.0","id":10,"method":"ping"}\r\n',
]


def code(message: dict[str, Any]) -> int | None:
    """The error code of an answer, None for a result."""
    return message["error"]["code"] if "error" in message else None


def test_a_batch_is_answered_member_by_member(connect: Connect) -> None:
    """Every request of a batch gets its answer, its notifications get none."""
    server = connect(BATCHED)
    server.send([request(1, "ping"), NOTE, ADD, request(3, "no/such/method")], PING)
    answers = {m["id"]: m for m in server.until(1, 2, 3, 9)}
    assert answers[1]["result"] == answers[9]["result"] == {}
    assert answers[2]["result"]["content"] == [{"type": "text", "text": "5"}]
    assert code(answers[3]) == -32601
    assert server.close() == 0
    assert len(server.messages) == 4


def test_a_batch_of_notifications_is_met_with_silence(connect: Connect) -> None:
    """Only the request after it is answered."""
    server = connect(BATCHED)
    server.send([NOTE, NOTE], PING)
    server.until(9)
    assert server.close() == 0
    assert server.messages == [{"jsonrpc": "2.0", "id": 9, "result": {}}]


@pytest.mark.parametrize(("revision", "batch"), REFUSED)
def test_a_batch_that_may_not_be_is_refused(connect: Connect, revision: str | None, batch: list[Any]) -> None:
    """A bad batch is -32600, no member of it runs, and the next line is served."""
    server = connect(revision)
    server.send(batch, request(10, "ping"))
    server.until(10)
    assert server.close() == 0
    assert Counter(map(code, server.messages)) == {-32600: 1, None: 1}


def test_broken_lines_are_answered_and_end_nothing(connect: Connect) -> None:
    """Each broken line that can be answered is, and the last request finds the session alive."""
    server = connect()
    server.send(*BROKEN_LINES)
    server.until(10)
    assert server.close() == 0
    codes = {m["id"]: code(m) for m in server.messages if m.get("id") is not None}
    assert codes[8] in (-32600, -32601)
    assert (codes[1], codes[7], codes[10]) == (None, -32600, None)
    unnamed = Counter(code(m) for m in server.messages if m.get("id") is None)
    assert unnamed == {-32600: 1, -32700: 1 if 9 in codes else 2}
    assert all(line.endswith(b"}\n") and b"\r" not in line for line in server.received)


def test_no_log_is_sent_unasked_on_the_newest_revision(connect: Connect) -> None:
    """A call without a log level in ``_meta``, and without arguments, brings its result alone."""
    server = connect()
    server.send(request(1, "tools/call", name="test_tool_with_logging", _meta=ENVELOPE))
    server.until(1)
    assert server.close() == 0
    (answer,) = server.messages
    assert answer["result"]["resultType"] == "complete"


def test_a_client_may_probe_and_then_shake_hands(connect: Connect) -> None:
    """After ``server/discover`` was answered, ``initialize`` still opens a session."""
    server = connect()
    server.send(request(1, "server/discover", _meta=ENVELOPE))
    assert "2026-07-28" in server.until(1)[0]["result"]["supportedVersions"]
    server.initialize("2025-06-18")
    server.send(ADD)
    assert server.until(2)[0]["result"]["structuredContent"] == {"result": 5}
