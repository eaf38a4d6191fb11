"""The audit log as a SQLite database: the same lines of the same chain, and columns to ask for.

The law of the file: a row is its line; every other column is computed from it, so that nothing can stand
in a column that the chain does not cover.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from typegate.errors import ConfigurationError
from typegate.guards.chain import read_position
from typegate.guards.sinks import PRIVATE, Found, HeadFile

__all__ = ["TableSink", "is_database", "lines_of"]

MAGIC: Final = b"SQLite format 3\0"

COLUMNS: Final = ("ts", "phase", "method", "target", "outcome", "reference", "request_id", "duration_ms")
INDEXES: Final = ("ts", "target", "outcome", "reference", "caller")

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY, line TEXT NOT NULL, "
    + "".join(f"{name} AS (json_extract(line, '$.{name}')), " for name in COLUMNS)
    + "caller AS (json_extract(line, '$.caller.sub')))",
    *(
        f"CREATE INDEX IF NOT EXISTS records_{name} ON records ({name}) WHERE {name} IS NOT NULL"
        for name in INDEXES
    ),
)
_SYNCHRONOUS: Final = {"each": "FULL", "batch": "NORMAL", "never": "OFF"}


class TableSink:
    """Rows of a database in write-ahead mode; a transaction takes all lines that wait.

    Args:
        path: the file; `-wal` and `-shm` stand beside it while it is open.
        fsync: `each`: a transaction survives a power cut; else it survives the end of the process.
    """

    keeps = True

    def __init__(self, path: Path, fsync: Literal["each", "batch", "never"]) -> None:
        self._path = path
        self._fsync = fsync
        self._head = HeadFile(path.with_name(path.name + ".head"))
        self._db: sqlite3.Connection | None = None

    def open(self) -> Found:
        """Lock, open, and read where the chain stands."""
        head = self._head.open(self._path)
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE))
            self._db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={_SYNCHRONOUS[self._fsync]}")
            for statement in _SCHEMA:
                self._db.execute(statement)
            row = self._db.execute("SELECT line FROM records ORDER BY seq DESC LIMIT 1").fetchone()
        except sqlite3.Error as error:
            self.close()
            raise ConfigurationError(f"'{self._path}' cannot be used as an audit log: {error}") from error
        except BaseException:
            self.close()
            raise
        return Found(read_position(row[0].encode()) if row is not None else None, head)

    def ready(self) -> bool:
        """A transaction takes a while."""
        return False

    def write(self, lines: Sequence[bytes]) -> None:
        """Insert all of the lines in one transaction."""
        rows = []
        for line in lines:
            position = read_position(line)
            rows.append((position.seq if position is not None else None, line.decode().rstrip("\n")))
        db = self._open()
        try:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO records (seq, line) VALUES (?, ?)", rows)
            db.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise OSError(str(error)) from error

    def sync(self) -> None:
        """Move what is in the write-ahead log into the database, which syncs both."""
        if self._fsync == "batch":
            try:
                self._open().execute("PRAGMA wal_checkpoint(PASSIVE)")
            except sqlite3.Error as error:
                raise OSError(str(error)) from error

    def save_head(self, content: bytes) -> None:
        """Overwrite the head file."""
        self._head.save(content)

    def full(self) -> bool:
        """A database is not rotated."""
        return False

    def rotate(self, last: int) -> tuple[str, int]:
        """There is nothing to rotate."""
        return "", 0

    def close(self) -> None:
        """Close the database and give up the lock."""
        if self._db is not None:
            self._db.close()
            self._db = None
        self._head.close()

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            raise OSError("the database is closed")
        return self._db


def is_database(path: Path) -> bool:
    """Whether this is a SQLite file."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines in a database, in the order of their numbers, each with its newline.

    Raises:
        ConfigurationError: it is no audit log.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)) as db:
            for (line,) in db.execute("SELECT CAST(line AS BLOB) FROM records ORDER BY seq"):
                yield bytes(line) + b"\n"
    except sqlite3.Error as error:
        raise ConfigurationError(f"'{path}' cannot be read as an audit log: {error}") from error


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
