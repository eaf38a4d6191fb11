"""An audit log, read: its lines through all its files, its records, and whether its chain holds.

The law of the file: nothing is written and no lock is taken, so that a log can be read while it grows.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from typegate.errors import ConfigurationError
from typegate.guards.chain import HEAD_SIZE, Numbered, Verdict, verify
from typegate.guards.sinks import rotated
from typegate.guards.tables import is_database, lines_of
from typegate.types import Json

__all__ = ["check_log", "read_lines", "read_records"]


def read_lines(path: Path) -> Iterator[Numbered]:
    """Every line of a log, the full files first.

    Raises:
        ConfigurationError: there is no such file, or it cannot be read.
    """
    try:
        if path.is_file() and is_database(path):
            for number, line in enumerate(lines_of(path), 1):
                yield Numbered(path.name, number, line)
            return
        files = [*rotated(path), *([path] if path.is_file() else [])]
        if not files:
            raise ConfigurationError(f"there is no file '{path}'")
        for each in files:
            with each.open("rb") as file:
                for number, line in enumerate(file, 1):
                    yield Numbered(each.name, number, line)
    except OSError as error:
        raise ConfigurationError(f"'{path}' cannot be read: {error.strerror}") from error


def read_records(path: Path) -> Iterator[dict[str, Json]]:
    """Every record of a log as it was written; what is no record is passed over."""
    for place in read_lines(path):
        try:
            found = msgspec.json.decode(place.line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if isinstance(found, dict) and "seq" in found:
            yield found


def check_log(
    path: Path, key: bytes | None = None, anchors: Iterable[tuple[int, str]] = (), *, headless: bool = False
) -> Verdict:
    """Follow the chain of a log through all its files, and compare its end with the head file.

    Args:
        path: the file that is written to, or was.
        key: what it was signed with.
        anchors: numbers and hashes that were noted elsewhere.
        headless: there is no head file, as with what was collected from standard error.

    Raises:
        ConfigurationError: there is no such file, or it cannot be read.
    """
    head = None if headless else _head(path)  # before the lines: the log may grow meanwhile
    return verify(read_lines(path), head, key, anchors)


def _head(path: Path) -> bytes:
    """The head file, or nothing where there is none."""
    try:
        with path.with_name(path.name + ".head").open("rb") as file:
            return file.read(HEAD_SIZE)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigurationError(f"the head file of '{path}' cannot be read: {error.strerror}") from error
