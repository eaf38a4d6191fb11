"""The log as a database: the same chain, columns that cannot disagree with it, only for its owner."""

import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from auditing import KEY, call, running, write

from typegate.errors import AuditFailed, ConfigurationError
from typegate.guards.archive import check_log
from typegate.guards.audit import AuditLog
from typegate.guards.tables import is_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log of four calls, written in two runs."""
    path = tmp_path / "calls.db"
    for _ in range(2):
        write(AuditLog.sqlite(path, key=KEY), 2)
    return path


def ask(path: Path, question: str, *values: Any) -> list[Any]:
    """Any SQL."""
    with sqlite3.connect(path) as db:
        found = db.execute(question, values).fetchall()
    db.close()
    return found


def test_it_can_be_asked(path: Path) -> None:
    """By the columns that people look for."""
    asked = ask(path, "SELECT seq, caller, target, request_id FROM records WHERE outcome = 'ok' ORDER BY seq")
    assert asked == [(seq, "alice", "lookup_order", (seq - 2) % 5) for seq in (2, 3, 7, 8)]


def test_the_chain_goes_on(path: Path) -> None:
    """Through both runs, signed."""
    verdict = check_log(path, KEY)
    assert verdict.findings == ()
    assert verdict.signed == verdict.records == 10


@pytest.mark.parametrize(
    ("statement", "kind", "seq"),
    [
        ("UPDATE records SET line = replace(line, 'alice', 'mallory') WHERE seq = 3", "changed", 3),
        ("DELETE FROM records WHERE seq = 4", "missing", 4),
        ("DELETE FROM records WHERE seq > 6", "cut", 7),
        ("UPDATE records SET seq = 100 WHERE seq = 2", "missing", 2),
        ("INSERT INTO records VALUES (11, '{}')", "foreign", 11),
    ],
)
def test_tampering_is_found(path: Path, statement: str, kind: str, seq: int) -> None:
    """As in a file."""
    ask(path, statement)
    verdict = check_log(path, KEY)
    assert not verdict.sound
    assert (verdict.findings[0].kind, verdict.findings[0].seq) == (kind, seq)


def test_only_the_owner_reads(path: Path) -> None:
    """The database and its head file."""
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}
    with running(AuditLog.sqlite(path)):
        assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}


def test_no_database(tmp_path: Path) -> None:
    """A file of something else is refused and left alone."""
    path = tmp_path / "calls.db"
    path.write_text("hello " * 1_000, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be used as an audit log"):
        AuditLog.sqlite(path).start()
    assert not is_database(path)
    ask(tmp_path / "other.db", "CREATE TABLE t (x)")
    with pytest.raises(ConfigurationError, match="cannot be read as an audit log"):
        check_log(tmp_path / "other.db")


def test_a_database_that_takes_nothing(path: Path) -> None:
    """A record that was refused leaves the chain as it was."""
    ask(
        path,
        "CREATE TRIGGER no BEFORE INSERT ON records WHEN new.seq > 12 BEGIN SELECT RAISE(ABORT, 'full'); END",
    )
    with pytest.raises(AuditFailed):
        write(AuditLog.sqlite(path, key=KEY), 3, call(), call(), call())
    ask(path, "DROP TRIGGER no")
    write(AuditLog.sqlite(path, key=KEY), 1)
    assert check_log(path, KEY).findings == ()
