"""The judges can say no: each kind of fault in a recording is found, and only that."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import HERE
from .connection import request
from .wire_schema import Entry, Spec, faults, read, unpaired


def said(side: str, message: Any) -> Entry:
    """An entry of a recording."""
    return {"from": side, "message": message}


def answer(**result: Any) -> Entry:
    """The server's answer to request 1."""
    return said("server", {"jsonrpc": "2.0", "id": 1, "result": result})


LIST = said("client", request(1, "tools/list"))
CALL = said("client", request(1, "tools/call", name="sound"))
SOUND = answer(content=[{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}])
ELICIT = request(2, "elicitation/create", message="?", requestedSchema={"type": "object"})

FAULTY = [  # revision, recording, what the fault says
    ("2025-11-25", [{"from": "server", "garbage": "debug\n"}], "not JSON"),
    ("2025-11-25", [LIST, answer(tools=[{"name": "x"}])], "'inputSchema' is a required property"),
    ("2024-11-05", [CALL, SOUND], "is not valid under any of the given schemas"),
    ("2025-06-18", [said("server", [SOUND["message"]])], "a batch"),
    ("2025-03-26", [said("server", [])], "an empty batch"),
    ("2025-03-26", [said("server", ELICIT)], "cannot send 'elicitation/create'"),
    ("2026-07-28", [LIST, answer(tools=[], ttlMs=0, cacheScope="public")], "'resultType'"),
]


@pytest.mark.clients
@pytest.mark.parametrize(("revision", "recording", "text"), FAULTY)
def test_a_faulty_message_is_found(schemas: Path, revision: str, recording: list[Entry], text: str) -> None:
    """Every fault that is reported names what is wrong, and there is one at least."""
    found = faults(recording, Spec(revision, schemas), "server")
    assert found
    assert all(text in fault for fault in found)


@pytest.mark.clients
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_right_answer_has_no_fault(schemas: Path, revision: str) -> None:
    """Audio is valid in a call's result where the revision has it, and nowhere in a listing."""
    spec = Spec(revision, schemas)
    assert faults([CALL, SOUND], spec) == []
    assert faults([LIST, SOUND], spec) != []


def test_open_requests_and_stray_answers_are_found() -> None:
    """Each request needs one answer, and each answer needs a request."""
    assert unpaired([CALL, SOUND], "server") == []
    assert unpaired([CALL], "server") == ["server: no answer to 'tools/call', id 1"]
    assert unpaired([CALL, SOUND, SOUND], "server") == ["server: answers no open request: id 1"]


def test_the_recorder_passes_lines_on_and_keeps_them(tmp_path: Path) -> None:
    """Every line of the server is recorded, garbage as such, and its exit status is handed on."""
    program = "import sys; print('noise'); print(sys.stdin.readline(), end=''); sys.exit(3)"
    tee = [sys.executable, str(HERE / "wire_tee.py"), str(tmp_path / "{pid}.jsonl"), "--"]
    command = [*tee, sys.executable, "-c", program]
    done = subprocess.run(command, input=b"[1]\n", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split()) == (3, [b"noise", b"[1]"])
    (recording,) = tmp_path.iterdir()
    noise, *rest = (entry for entry in read(recording) if entry["from"] == "server")
    assert noise["garbage"].strip() == "noise"
    assert rest == [said("server", [1])]
