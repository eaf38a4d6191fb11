"""A log, read: through all its files, while it is written, and whatever stands in it."""

from pathlib import Path

import pytest
from auditing import KEY, begun, call, running, write

from typegate.errors import ConfigurationError
from typegate.guards.archive import check_log, read_lines, read_records
from typegate.guards.audit import AuditLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log in several files."""
    path = tmp_path / "calls.jsonl"
    write(AuditLog(path, rotate_bytes=2_000, key=KEY), 30)
    return path


def test_the_full_files_come_first(path: Path) -> None:
    """All records, in order."""
    assert [each["seq"] for each in read_records(path)] == [*range(1, len(list(read_lines(path))) + 1)]
    assert len({place.file for place in read_lines(path)}) > 3
    assert check_log(path, KEY).findings == ()


def test_a_full_file_that_is_gone_is_missing(path: Path) -> None:
    """The first, one in the middle, the last."""
    files = sorted(path.parent.glob("calls.jsonl.0*"))
    for gone in (files[0], files[1], path):
        content = gone.read_bytes()
        gone.unlink()
        assert check_log(path, KEY).findings[0].kind in ("missing", "cut")
        gone.write_bytes(content)
    assert check_log(path, KEY).findings == ()


def test_a_log_can_be_read_while_it_is_written(path: Path) -> None:
    """Nothing is locked; what is newer than the head file is counted."""
    log = AuditLog(path, fsync="never")
    with running(log):
        for number in range(3):
            log.close(begun(log, call(id=number)), "ok")
        verdict = check_log(path)
        assert verdict.findings == ()
        assert verdict.unconfirmed <= 3


def test_what_is_no_record_is_passed_over(path: Path) -> None:
    """A line of text, a torn one, another object."""
    before = len(list(read_records(path)))
    with path.open("ab") as file:
        file.write(b'hello\n{}\n\xff\n{"v":1')
    assert len(list(read_records(path))) == before


def test_there_must_be_a_log(tmp_path: Path) -> None:
    """A folder is none."""
    for read in (read_lines, read_records):
        with pytest.raises(ConfigurationError, match="there is no file"):
            list(read(tmp_path / "calls.jsonl"))
    with pytest.raises(ConfigurationError, match="there is no file"):
        check_log(tmp_path)


def test_what_was_collected_elsewhere_has_no_head_file(path: Path, tmp_path: Path) -> None:
    """As the lines of standard error."""
    collected = tmp_path / "collected.jsonl"
    collected.write_bytes(b"".join(place.line for place in read_lines(path)))
    assert [each.kind for each in check_log(collected).findings] == ["head"]
    assert check_log(collected, headless=True).findings == ()
