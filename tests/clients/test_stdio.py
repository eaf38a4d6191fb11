"""Real MCP clients use the example server over stdio; every recorded message obeys the standard."""

import base64
import json
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from .conftest import HERE, SERVER
from .wire_schema import Entry, Spec, faults, members, read, unpaired

pytestmark = pytest.mark.clients

MODERN = "2026-07-28"
PYTHON = ("python_clients", "py_mcp_client.py")
TS_SDK1 = ("node_clients", "ts_sdk1_client.mjs")
TS_CLIENT2 = ("node_clients", "ts_client2_client.mjs")

RUNS = [  # client, --era, the revision it must come to
    (PYTHON, "auto", MODERN),
    (PYTHON, "legacy", "2025-11-25"),
    (PYTHON, MODERN, MODERN),
    (TS_SDK1, None, "2025-11-25"),
    (TS_CLIENT2, "auto", MODERN),
    (TS_CLIENT2, "legacy", "2025-11-25"),
    (TS_CLIENT2, MODERN, MODERN),
    (TS_CLIENT2, "2025-11-25", "2025-11-25"),
    (TS_CLIENT2, "2025-06-18", "2025-06-18"),
    (TS_CLIENT2, "2025-03-26", "2025-03-26"),
    (TS_CLIENT2, "2024-11-05", "2024-11-05"),
]

PNG, WAV = r"image/png b'\x89PNG'", "audio/wav b'RIFF'"
CONTENT = {  # tool -> its blocks as shown() tells them; * stands for anything
    "test_simple_text": ["This is a simple text response for testing."],
    "test_image_content": [PNG],
    "test_audio_content": [WAV],
    "test_embedded_resource": ["test://embedded-resource text/plain This is an embedded resource content."],
    "test_multiple_content_types": [
        "Multiple content types test:",
        PNG,
        "test://mixed-content-resource application/json *",
    ],
    "test_error_handling": ["*This tool intentionally returns an error for testing*"],
    "test_tool_with_progress": ["*"],
    "test_tool_with_logging": ["*"],
}
ARGUMENTS = [("add", {"a": 2, "b": 3}), ("add", {"a": "x", "b": 1}), ("list_books", {})]
LOGS = ["Tool execution started", "Tool processing data", "Tool execution completed"]


@dataclass(frozen=True)
class Session:
    """What one client reported, and what was recorded between it and the server."""

    revision: str
    report: dict[str, Any]
    recordings: list[list[Entry]]  # one for each server process that the client started

    def call(self, name: str, nth: int = 0) -> dict[str, Any]:
        """The *nth* reported call of a tool."""
        found: dict[str, Any] = [c for c in self.report["calls"] if c["name"] == name][nth]
        return found

    @property
    def server(self) -> list[dict[str, Any]]:
        """All that the server sent, in order."""
        return [m for recording in self.recordings for who, m in members(recording) if who == "server"]

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The params of each notification *method* that the server sent."""
        return [m["params"] for m in self.server if m.get("method") == method]


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: f"{run[0][1].split('.')[0]}-{run[1]}")
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """One run of a client: it lists everything, and calls every tool of the tables."""
    (clients, script), era, revision = request.param
    program, folder = request.getfixturevalue(clients)
    recordings = tmp_path_factory.mktemp("wire")
    calls = [*((name, None) for name in CONTENT), *ARGUMENTS]
    options = ["--log-level", "debug", *(["--era", era] if era else [])]
    for name, arguments in calls:
        options += ["--call", name, *([] if arguments is None else [json.dumps(arguments)])]
    tee = [sys.executable, str(HERE / "wire_tee.py"), str(recordings / "{pid}.jsonl"), "--", *SERVER]
    command = [program, str(Path(folder, script)), *options, "--", *tee]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=180, check=False)
    if done.returncode:
        said = f"{script} --era {era} exits {done.returncode}:\n{done.stdout}{done.stderr}"
        pytest.fail(said, pytrace=False)
    return Session(revision, json.loads(done.stdout), [read(path) for path in recordings.iterdir()])


def shown(block: dict[str, Any]) -> str:
    """A content block in one line: its text, or its kind and how it begins."""
    if block["type"] == "resource":
        return "{uri} {mimeType} {text}".format(**block["resource"])
    if block["type"] in ("image", "audio"):
        return f"{block['mimeType']} {base64.b64decode(block['data'], validate=True)[:4]!r}"
    return str(block["text"])


def structured(value: Any, revision: str) -> Any:
    """*value* as ``structuredContent`` carries it: not at all, in an object, or as itself."""
    if revision < "2025-06-18":
        return None
    return value if revision == MODERN or isinstance(value, dict) else {"result": value}


def test_client_and_server_come_to_the_expected_revision(session: Session) -> None:
    """Each client ends on the newest revision that both know."""
    assert session.report["protocolVersion"] == session.revision
    assert session.recordings


def test_listings_are_complete(session: Session) -> None:
    """What the example registers is what the client lists."""
    assert {*CONTENT, "add", "list_books"} <= set(session.report["tools"])
    assert {"test_simple_prompt", "test_prompt_with_arguments"} <= set(session.report["prompts"])
    assert {"test://static-text", "test://static-binary"} <= set(session.report["resources"])
    assert "test://template/{id}/data" in session.report["resourceTemplates"]


@pytest.mark.parametrize("tool", CONTENT)
def test_content_arrives_as_the_tool_returned_it(session: Session, tool: str) -> None:
    """Text, image, audio and resource blocks reach the client whole and in order."""
    audio_lost = tool == "test_audio_content" and session.revision == "2024-11-05"
    expected = ["*"] if audio_lost else CONTENT[tool]
    blocks = [shown(block) for block in session.call(tool)["content"]]
    assert len(blocks) == len(expected)
    assert all(map(fnmatchcase, blocks, expected)), blocks
    assert session.call(tool)["isError"] is (tool == "test_error_handling")


def test_audio_is_downgraded_where_the_revision_has_none(session: Session) -> None:
    """On 2024-11-05 another block takes the place of the audio; later revisions carry it."""
    assert session.call("test_audio_content")["content"]
    assert ('"type": "audio"' in json.dumps(session.server)) is (session.revision != "2024-11-05")


def test_progress_precedes_the_result(session: Session) -> None:
    """Three notifications carry one token, grow, and come before the result."""
    sent = session.sent("notifications/progress")
    assert [(p["progress"], p["total"]) for p in sent] == [(0, 100), (50, 100), (100, 100)]
    assert len({p["progressToken"] for p in sent}) == 1
    last = max(n for n, m in enumerate(session.server) if "progressToken" in m.get("params", ""))
    call = session.call("test_tool_with_progress")
    assert session.server[last + 1]["result"]["content"] == call["content"]
    # The TypeScript clients drop progress that they read in one piece with the result.
    assert call["progress"] in ([3] if session.report["client"].startswith("mcp ") else [1, 2, 3])


def test_log_messages_reach_the_client_that_asked(session: Session) -> None:
    """A level set by logging/setLevel, or in _meta on the newest revision, brings the log."""
    sent = session.sent("notifications/message")
    assert [p["level"] for p in sent] == ["info"] * 3
    assert all(text in json.dumps(p["data"]) for text, p in zip(LOGS, sent, strict=True))
    assert session.report["notifications"]["notifications/message"] == 3


def test_a_number_is_structured_as_its_revision_says(session: Session) -> None:
    """``add`` answers "5", and 5 as structured content in the form of the revision."""
    result = session.call("add")
    assert [shown(block) for block in result["content"]] == ["5"]
    assert result.get("structuredContent") == structured(5, session.revision)
    assert not result["isError"]


def test_text_and_structured_content_say_the_same(session: Session) -> None:
    """The text block of ``list_books`` is the JSON of its structured content."""
    result = session.call("list_books")
    books = json.loads(result["content"][0]["text"])
    assert books
    assert result.get("structuredContent") == structured(books, session.revision)


def test_structured_content_is_absent_before_it_existed(session: Session) -> None:
    """Neither results nor listings carry members that came with 2025-06-18."""
    text = json.dumps(session.server)
    assert ("structuredContent" in text) is (session.revision >= "2025-06-18")
    assert ("outputSchema" in text) is (session.revision >= "2025-06-18")


def test_a_refused_call_names_the_argument(session: Session) -> None:
    """``add`` with a text for ``a`` is a tool result that says which argument was wrong."""
    refused = session.call("add", 1)
    assert refused["isError"]
    assert "'a'" in refused["content"][0]["text"]


def test_every_server_message_is_valid(session: Session, schemas: Path) -> None:
    """Every line of the server is a message that the revision's JSON Schema admits."""
    spec = Spec(session.revision, schemas)
    assert [fault for recording in session.recordings for fault in faults(recording, spec, "server")] == []


def test_every_request_is_answered_once(session: Session) -> None:
    """The server leaves no request open and answers nothing that was not asked."""
    assert [fault for recording in session.recordings for fault in unpaired(recording, "server")] == []
