"""`typegate audit`: exit statuses, filters, and output that a client's words cannot lead."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from auditing import KEY, call, close, running, write

from typegate.cli.audit import export, show, verify
from typegate.cli.main import main
from typegate.errors import ConfigurationError
from typegate.guards.audit import AuditLog

FORMATS: list[Any] = ["otel", "ecs", "ocsf"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log with several endings, and its key in the environment."""
    path = tmp_path / "calls.jsonl"
    monkeypatch.setenv("AUDIT_KEY", KEY.decode())

    async def act() -> None:
        with running(AuditLog(path, key="AUDIT_KEY")) as log:
            await close(log, call({"order_id": "A-1"}))
            await close(log, call(name="orders.delete", target=None), "denied", reason="no rule allows it")
            await close(log, call(), "failed", error=ValueError("x\x1b[2Jy"), reference="7f3a9c12")
            await close(log, call(name="\x1b[31m\u202egpj", target=None), "unknown")

    asyncio.run(act())
    return path


def run(*words: str) -> int:
    """The command line."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    code = ended.value.code
    return code if isinstance(code, int) else 1


def test_verify_says_yes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to note elsewhere, and the note is taken the next time."""
    assert run("audit", "verify", str(path), "--key", "AUDIT_KEY") == 0
    told = capsys.readouterr().out
    assert "7 records, 1 to 7, chain " in told
    assert "signed up to record 7" in told
    anchor = told.rpartition("--anchor ")[2].strip()
    assert run("audit", "verify", str(path), "--anchor", anchor) == 0


def test_verify_names_the_first_bad_record(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its file and line."""
    path.write_bytes(path.read_bytes().replace(b"no rule allows it", b"a rule allowed it"))
    assert run("audit", "verify", str(path)) == 1
    told = capsys.readouterr().out
    assert "calls.jsonl:3: record 3 was changed: its hash is another (changed)" in told
    assert told.endswith("the chain does not hold; the first record that is wrong is 3\n")


def test_verify_for_programs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as JSON."""
    assert verify(path, format="json") == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["sound"], made["records"], made["findings"], made["last"][1]) == (True, 7, [], 7)


@pytest.mark.parametrize(
    "words", [("no.jsonl",), ("calls.jsonl", "--anchor", "x"), ("calls.jsonl", "--key", "NO_KEY")]
)
def test_a_question_that_makes_no_sense(
    path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Has a status of its own."""
    assert run("audit", "verify", str(path.with_name(words[0])), *words[1:]) == 2
    assert capsys.readouterr().err.startswith("typegate: ")


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [1, 2, 3, 4, 5, 6, 7]),
    ({"tool": "lookup_*"}, [2, 4]),
    ({"tool": "orders.delete"}, [3]),
    ({"caller": "alice"}, [2, 3, 4, 5]),
    ({"caller": "bob"}, []),
    ({"outcome": ("denied", "failed")}, [3, 4]),
    ({"reference": "7f3a9c12"}, [4]),
    ({"since": "1h"}, [1, 2, 3, 4, 5, 6, 7]),
    ({"since": (datetime.now(UTC) + timedelta(days=1)).isoformat()}, []),
    ({"since": "2020-01-01", "limit": 2}, [6, 7]),
]


@pytest.mark.parametrize(("asked", "found"), FILTERS)
def test_show_filters(path: Path, asked: Any, found: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    """By tool, caller, outcome, time and reference; nothing found is a status."""
    assert show(path, format="json", **asked) == int(not found)
    assert [json.loads(line)["seq"] for line in capsys.readouterr().out.splitlines()] == found


def test_show_is_a_table(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each record; what a client wrote cannot lead the terminal."""
    assert show(path) == 0
    told = capsys.readouterr().out
    assert all(line.isprintable() for line in told.splitlines())
    assert "alice   tools/call  orders.delete  denied" in told
    assert "no rule allows it" in told


def test_a_reference_shows_the_traceback(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """This is how the number in a masked error is used."""
    assert run("audit", "show", str(path), "--reference", "7f3a9c12") == 0
    told = capsys.readouterr().out
    assert "ValueError: x?[2Jy" in told
    assert "\x1b" not in told


@pytest.mark.parametrize("form", FORMATS)
def test_export_writes_lines(path: Path, form: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """One object for each record, in ASCII where a client wrote something else."""
    assert export(path, format=form) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([json.loads(line) for line in lines]) == 7
    assert all(line.isprintable() for line in lines)


def test_since_takes_times_and_spans(path: Path) -> None:
    """Anything else is told."""
    with pytest.raises(ConfigurationError, match="--since takes a time"):
        show(path, since="yesterday")


def test_a_database_is_shown_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same commands read it."""
    path = tmp_path / "calls.db"
    write(AuditLog.sqlite(path), 3)
    assert verify(path) == 0
    assert show(path, tool="lookup_order", format="json") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + 3
