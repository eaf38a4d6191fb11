"""`typegate audit`: whether a log is whole, what is in it, and the same in the words of others."""

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

import msgspec

from typegate.cli.terminal import print_table
from typegate.errors import ConfigurationError
from typegate.guards.archive import check_log, read_records
from typegate.guards.audit import read_key
from typegate.guards.chain import Finding, Verdict
from typegate.guards.exports import EXPORTS, Vocabulary
from typegate.guards.records import Outcome, safe
from typegate.text import shown
from typegate.types import Json

__all__ = ["export", "show", "verify"]

COLUMNS: Final = ("time", "record", "caller", "method", "target", "outcome", "ms", "reference", "reason")
_SPANS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def verify(
    file: Path,
    *,
    key: str = "",
    anchor: tuple[str, ...] = (),
    headless: bool = False,
    format: Literal["text", "json"] = "text",  # noqa: A002  (the option's name)
) -> int:
    """Follow the chain of the audit log FILE through all its files, and name the first record that is wrong.

    Exit status: 0 where the chain holds (a torn last line, which a crash leaves, is told), 1 where it does
    not, 2 where there is no log to read.

    Args:
        file: the log, or the database; the full files of a rotated log beside it are read too.
        key: the environment variable with the key that signed it; without, signatures are not looked at.
        anchor: NUMBER:HASH that an earlier run printed and you kept elsewhere; may be given several times.
        headless: there is no head file beside it, as with what was collected from standard error.
        format: for people, or for programs.
    """
    verdict = check_log(file, read_key(key or None), map(_anchor, anchor), headless=headless)
    text = _as_json(verdict) if format == "json" else "\n".join(_told(verdict, signed=bool(key)))
    print(text)  # noqa: T201
    return int(not verdict.sound)


def show(  # noqa: PLR0913  (options, as many as there are)
    file: Path,
    *,
    tool: str = "",
    caller: str = "",
    outcome: tuple[Outcome, ...] = (),
    since: str = "",
    reference: str = "",
    limit: int = 100,
    format: Literal["table", "json"] = "table",  # noqa: A002
) -> int:
    """Show the records of the audit log FILE, the newest last.

    Exit status: 0 where there are some, 1 where there are none, 2 where there is no log to read.

    Args:
        file: the log, or the database.
        tool: only this tool, prompt or URI; `*` stands for anything: `orders.*`.
        caller: only this caller.
        outcome: only calls that ended so; may be given several times.
        since: only from then on: a time (`2026-11-30T12:00`, in UTC unless it says) or a span (`90m`, `7d`).
        reference: only the call whose masked error told this number, with its traceback.
        limit: only so many, the newest ones; 0: all.
        format: a table, or the records as JSON lines.
    """
    start = _moment(since) if since else None
    asked = _Asked(tool, caller, outcome, start, reference)
    found = deque(filter(asked.admits, read_records(file)), maxlen=limit or None)
    if format == "json":
        _write_lines(found)
    elif found:
        print_table(COLUMNS, [_cells(record) for record in found], left=len(COLUMNS), total=False)
        if reference:
            _print_tracebacks(found)
    return int(not found)


def export(file: Path, *, format: Vocabulary, since: str = "") -> int:  # noqa: A002
    """Write the audit log FILE in another vocabulary, one JSON object on a line.

    Args:
        file: the log, or the database.
        format: the names of OpenTelemetry (logs), the Elastic Common Schema, or OCSF (API Activity).
        since: only from then on: a time, or a span such as `24h`.
    """
    asked = _Asked(start=_moment(since) if since else None)
    translate = EXPORTS[format]
    _write_lines(translate(record) for record in read_records(file) if asked.admits(record))
    return 0


# --- what is asked for ---------------------------------------------------------------------------


class _Asked(msgspec.Struct, frozen=True):
    """Which records are wanted."""

    tool: str = ""
    caller: str = ""
    outcomes: tuple[Outcome, ...] = ()
    start: datetime | None = None
    reference: str = ""

    def admits(self, record: Mapping[str, Json]) -> bool:
        """Whether a record is one of them."""
        if self.tool and not fnmatchcase(str(record.get("target", "")), self.tool):
            return False
        if self.caller and _sub(record) != self.caller:
            return False
        if self.outcomes and record.get("outcome") not in self.outcomes:
            return False
        if self.reference and record.get("reference") != self.reference:
            return False
        return self.start is None or _time(record) >= self.start


def _sub(record: Mapping[str, Json]) -> str:
    caller = record.get("caller")
    return str(caller.get("sub", "")) if isinstance(caller, Mapping) else ""


def _time(record: Mapping[str, Json]) -> datetime:
    try:
        return datetime.fromisoformat(str(record.get("ts")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _moment(text: str) -> datetime:
    """A time, or a span before now."""
    span = re.fullmatch(r"(\d+)([smhdw])", text)
    try:
        if span is not None:
            return datetime.now(UTC) - timedelta(**{_SPANS[span[2]]: int(span[1])})
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ConfigurationError(
            f"--since takes a time such as 2026-11-30T12:00 or a span such as 2h: '{text}'"
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _anchor(text: str) -> tuple[int, str]:
    found = re.fullmatch(r"(\d{1,18}):([0-9a-f]{8,64})", text)
    if found is None:
        raise ConfigurationError(
            f"--anchor takes NUMBER:HASH, as 'typegate audit verify' prints it: '{text}'"
        )
    return int(found[1]), found[2]


# --- what is printed -----------------------------------------------------------------------------


def _cells(record: Mapping[str, Json]) -> tuple[str, ...]:
    phase = str(record.get("phase"))
    duration = record.get("duration_ms")
    reason = str(record.get("reason") or record.get("error") or "")
    return (
        str(record.get("ts", ""))[:23].replace("T", " "),
        str(record.get("seq")),
        shown(_sub(record), 24),
        shown(str(record.get("method") or record.get("event") or ""), 24),
        shown(str(record.get("target", "")), 40),
        str(record.get("outcome") or phase),
        f"{duration:.1f}" if isinstance(duration, int | float) else "",
        shown(str(record.get("reference", "")), 16),
        shown(reason, 60),
    )


def _print_tracebacks(records: deque[dict[str, Json]]) -> None:
    for record in records:
        for line in str(record.get("traceback", "")).splitlines():
            print(shown(line, 400))  # noqa: T201


def _write_lines(values: Iterable[dict[str, Json]]) -> None:
    """JSON lines that no client can lead a terminal with."""
    encode = msgspec.json.Encoder().encode
    for value in values:
        sys.stdout.write(safe(encode(value)).decode() + "\n")


def _told(verdict: Verdict, signed: bool) -> Iterator[str]:
    """The verdict in sentences."""
    for finding in verdict.findings:
        yield f"{_place(finding)}: {finding.message} ({finding.kind})"
    last = verdict.last
    if last is None:
        yield "no records"
        return
    yield f"{verdict.records} records, {verdict.first} to {last.seq}, chain {last.chain}"
    if signed:
        since = f", from record {verdict.unsigned + 1} on" if verdict.unsigned else ""
        yield f"signed up to record {verdict.signed}{since}"
    if verdict.unconfirmed:
        newer = "newer than the head file: a crash, or the log is being written"
        yield f"{verdict.unconfirmed} records are {newer}"
    if verdict.sound:
        yield f"the chain holds; to keep elsewhere: --anchor {last.seq}:{last.hash}"
    else:
        first = next(finding for finding in verdict.findings if finding.kind != "torn")
        yield f"the chain does not hold; the first record that is wrong is {first.seq}"


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file or "log"


def _as_json(verdict: Verdict) -> str:
    found = {**msgspec.to_builtins(verdict), "sound": verdict.sound}
    return msgspec.json.format(msgspec.json.encode(found)).decode()
