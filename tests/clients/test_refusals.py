"""A refusal reaches every real client as a result, whatever the tool publishes (requirement D2)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .test_stdio import HERE, MODERN, PYTHON, RUNS, TS_CLIENT2, TS_SDK1

pytestmark = pytest.mark.clients

ALL = {client: (client, era, revision) for client, era, revision in RUNS if era in (None, "auto")}
LATEST = [*ALL.values(), next(run for run in RUNS if run[:2] == (TS_CLIENT2, "2025-11-25"))]
TOOLS = ("find_text", "find_book", "find_either")


@pytest.fixture(scope="module", params=LATEST, ids=lambda run: f"{run[0][1].split('.')[0]}-{run[1]}")
def calls(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """What one client reports of a refused call of each tool, and the revision that it speaks."""
    (clients, script), era, revision = request.param
    program, folder = request.getfixturevalue(clients)
    options = ["--era", era] if era else []
    for name in TOOLS:
        options += ["--call", name, json.dumps({"isbn": "1"})]
    server = [sys.executable, str(HERE / "refusing_server.py")]
    command = [program, str(Path(folder, script)), *options, "--", *server]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=180, check=False)
    assert done.returncode == 0, f"{script}: {done.stdout}{done.stderr}"
    return revision, {call["name"]: call for call in json.loads(done.stdout)["calls"]}


def test_no_client_throws(calls: tuple[str, dict[str, Any]]) -> None:
    """Not even one that judges the structured content of an error by the output schema."""
    assert {PYTHON, TS_SDK1, TS_CLIENT2} <= set(ALL)
    for call in calls[1].values():
        assert call["isError"] is True
        assert "'isbn' must have at least 10 characters" in call["content"][0]["text"]


def test_the_data_travels_where_there_is_room(calls: tuple[str, dict[str, Any]]) -> None:
    """As `error`, not at all, and as the problem itself; by the output schema alone."""
    revision, found = calls
    told = {name: found[name].get("structuredContent") for name in TOOLS}
    assert told["find_text"]["error"]["code"] == "invalid_arguments"
    assert told["find_book"] is None
    either = told["find_either"]
    problem = either if revision == MODERN else either.get("result", either)
    assert problem["code"] == "invalid_arguments"
    assert problem["issues"][0]["path"] == ["isbn"]
