"""The chain: every way to tamper with a log is found, and the first bad record is named.

The table is walked at every record of a log: what was done × where.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from auditing import KEY, write

from typegate.guards.archive import check_log
from typegate.guards.audit import AuditLog
from typegate.guards.chain import (
    START,
    Head,
    Numbered,
    Position,
    digest,
    encode_head,
    link,
    read_head,
    read_position,
    sign,
    verify,
)

COUNT = 6
LAST = COUNT + 3  # what is started, stopped, and signed at the end


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed log that nobody touched."""
    path = tmp_path_factory.mktemp("log") / "calls.jsonl"
    write(AuditLog(path, key=KEY), COUNT)
    return path


@pytest.fixture
def log(original: Path, tmp_path: Path) -> Path:
    """A copy of it, with its head file."""
    for each in (original, original.with_name("calls.jsonl.head")):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    return tmp_path / original.name


def lines_of(path: Path) -> list[bytes]:
    """Its lines."""
    return path.read_bytes().splitlines(keepends=True)


def chained(bodies: list[dict[str, Any]]) -> list[bytes]:
    """Records written anew, as somebody would who has no key."""
    lines, prev = [], START
    for body in bodies:
        bare = {key: value for key, value in body.items() if key not in ("prev", "hash")}
        line, prev = link(json.dumps(bare, separators=(",", ":")).encode(), prev)
        lines.append(line)
    return lines


def test_a_log_that_nobody_touched_is_sound(log: Path) -> None:
    """With the key and without."""
    for key in (KEY, None):
        verdict = check_log(log, key)
        assert (verdict.findings, verdict.records, verdict.first, verdict.unconfirmed) == ((), LAST, 1, 0)
    assert check_log(log, KEY).signed == LAST


def change(lines: list[bytes], at: int) -> list[bytes]:
    """A key renamed."""
    return [*lines[:at], lines[at].replace(b'"phase":', b'"Phase":'), *lines[at + 1 :]]


def change_and_rehash(lines: list[bytes], at: int) -> list[bytes]:
    """Another reason, and a hash that fits the line."""
    body = {**json.loads(lines[at]), "reason": "nothing happened"}
    prev = body["prev"]
    bare = {key: value for key, value in body.items() if key not in ("prev", "hash")}
    return [*lines[:at], link(json.dumps(bare).encode(), prev)[0], *lines[at + 1 :]]


def flip(lines: list[bytes], at: int) -> list[bytes]:
    """One bit."""
    line = bytearray(lines[at])
    line[30] ^= 1
    return [*lines[:at], bytes(line), *lines[at + 1 :]]


def delete(lines: list[bytes], at: int) -> list[bytes]:
    """A record less."""
    return [*lines[:at], *lines[at + 1 :]]


def truncate(lines: list[bytes], at: int) -> list[bytes]:
    """Nothing from here on."""
    return lines[:at]


def repeat(lines: list[bytes], at: int) -> list[bytes]:
    """A record twice."""
    return [*lines[: at + 1], *lines[at:]]


def insert(lines: list[bytes], at: int) -> list[bytes]:
    """A forged record with a hash that fits."""
    prev = json.loads(lines[at])["prev"]
    forged = link(json.dumps({"v": 1, "chain": "x", "seq": at + 1, "phase": "outcome"}).encode(), prev)[0]
    return [*lines[:at], forged, *lines[at:]]


def insert_text(lines: list[bytes], at: int) -> list[bytes]:
    """A line that is no record."""
    return [*lines[:at], b"hello\n", *lines[at:]]


def swap(lines: list[bytes], at: int) -> list[bytes]:
    """Two neighbours."""
    if at + 1 == len(lines):
        at -= 1
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def rewrite(lines: list[bytes], at: int) -> list[bytes]:
    """Another reason, and everything after it linked anew."""
    bodies = [json.loads(line) for line in lines]
    bodies[at]["reason"] = "nothing happened"
    return chained(bodies)


TAMPERING: list[tuple[Callable[[list[bytes], int], list[bytes]], int, set[str]]] = [
    (change, 1, {"changed", "foreign"}),
    (change_and_rehash, 1, {"changed"}),
    (flip, 1, {"changed", "foreign", "order", "missing"}),
    (delete, 1, {"missing", "cut"}),
    (truncate, 1, {"cut"}),
    (repeat, 1, {"order"}),
    (insert, 1, {"order", "changed"}),
    (insert_text, 1, {"foreign"}),
    (swap, 1, {"missing", "order"}),
]
"""What is done, the first bad record counted from where it is done, and what that is called."""


@pytest.mark.parametrize("at", range(LAST))
@pytest.mark.parametrize(
    ("tamper", "first", "kinds"), TAMPERING, ids=[each[0].__name__ for each in TAMPERING]
)
def test_every_tampering_is_found(
    log: Path, tamper: Callable[[list[bytes], int], list[bytes]], first: int, kinds: set[str], at: int
) -> None:
    """Without a key, at every record; the first that is wrong is named."""
    log.write_bytes(b"".join(tamper(lines_of(log), at)))
    verdict = check_log(log)
    assert not verdict.sound
    named = verdict.findings[0]
    place = min(at, LAST - 2) if tamper is swap else at
    assert named.seq == place + first
    assert named.kind in kinds


@pytest.mark.parametrize("at", range(LAST))
def test_a_log_written_anew_is_found(log: Path, at: int) -> None:
    """By the head file; and by the signatures where the head file was written anew too."""
    log.write_bytes(b"".join(rewrite(lines_of(log), at)))
    assert not check_log(log).sound
    head = encode_head(read_position(lines_of(log)[-1]) or Position("", 0, ""), 1, None)
    log.with_name("calls.jsonl.head").write_bytes(head)
    assert check_log(log).sound, "without a key nobody can tell: docs/audit.md says so"
    verdict = check_log(log, KEY)
    assert {each.kind for each in verdict.findings} == {"signature"}


@pytest.mark.parametrize("at", range(1, LAST))
def test_a_cut_with_a_head_file_of_ones_own_is_found(log: Path, at: int) -> None:
    """Whoever cuts the log and writes a fitting head file needs the key."""
    lines = lines_of(log)[:at]
    log.write_bytes(b"".join(lines))
    position = read_position(lines[-1])
    assert position is not None
    log.with_name("calls.jsonl.head").write_bytes(encode_head(position, 1, b"another key of 16+"))
    assert [each.kind for each in check_log(log, KEY).findings] == ["signature"]


@pytest.mark.parametrize("content", [b"", b"{}", b"hello", None], ids=["empty", "object", "text", "missing"])
def test_a_head_file_that_is_none_is_told(log: Path, content: bytes | None) -> None:
    """It may not simply go away."""
    head = log.with_name("calls.jsonl.head")
    head.unlink() if content is None else head.write_bytes(content)
    [finding] = check_log(log).findings
    assert finding.kind == "head"


def test_the_head_of_another_log_is_told(log: Path, tmp_path: Path) -> None:
    """A head file belongs to one chain."""
    other = tmp_path / "other.jsonl"
    write(AuditLog(other, key=KEY), COUNT)
    log.with_name("calls.jsonl.head").write_bytes(other.with_name("other.jsonl.head").read_bytes())
    assert [each.kind for each in check_log(log, KEY).findings] == ["head"]


def test_an_older_state_is_found_by_a_note(tmp_path: Path) -> None:
    """Log and head file of yesterday are sound in themselves; only who noted today's hash can tell."""
    log, head = tmp_path / "calls.jsonl", tmp_path / "calls.jsonl.head"
    write(AuditLog(log, key=KEY), 2)
    old = log.read_bytes(), head.read_bytes()
    write(AuditLog(log, key=KEY), 2)
    last = check_log(log, KEY).last
    assert last is not None
    noted = [(last.seq, last.hash)]
    assert check_log(log, KEY, noted).sound
    log.write_bytes(old[0])
    head.write_bytes(old[1])
    assert check_log(log, KEY).sound
    [finding] = check_log(log, KEY, noted).findings
    assert (finding.kind, finding.seq) == ("cut", 6)


def test_a_note_tells_a_chain_written_anew(log: Path) -> None:
    """The beginning of a hash is enough."""
    lines = lines_of(log)
    noted = [(5, json.loads(lines[4])["hash"][:16])]
    assert check_log(log, None, noted).sound
    log.write_bytes(b"".join(rewrite(lines, 2)))
    assert ("anchor", 5) in [(each.kind, each.seq) for each in check_log(log, None, noted).findings]


def test_the_wrong_key_is_told(log: Path) -> None:
    """Every checkpoint and the head file."""
    verdict = check_log(log, b"not the key that it was")
    assert {each.kind for each in verdict.findings} == {"signature"}
    assert verdict.signed == 0


def test_a_torn_end_is_no_tampering(log: Path) -> None:
    """It is told, and the rest is sound; but where the head file knows more, it is a cut."""
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"v":1,"ts":"20')
    verdict = check_log(log, KEY)
    assert [each.kind for each in verdict.findings] == ["torn"]
    assert verdict.sound
    log.write_bytes(whole[:-10])
    assert {each.kind for each in check_log(log, KEY).findings} == {"torn", "cut"}


def test_an_empty_log_beside_a_head_file_is_a_cut(log: Path) -> None:
    """Emptying the file does not help."""
    log.write_bytes(b"")
    [finding] = check_log(log).findings
    assert (finding.kind, finding.seq) == ("cut", 1)


def test_a_hash_can_be_recomputed_by_anyone(log: Path) -> None:
    """The bytes of the line up to its hash; no canonical form is needed."""
    line = lines_of(log)[3]
    covered, _, rest = line.partition(b',"hash":"')
    assert hashlib.sha256(covered).hexdigest().encode() == rest[:64]


def test_a_head_file_is_one_sector() -> None:
    """Always of the same size, so that it is overwritten in place."""
    position = Position("abcdef01", 2**63, "f" * 64)
    content = encode_head(position, 4_194_304, KEY)
    assert len(content) == 512
    assert read_head(content) == Head(*position, pid=4_194_304, mac=sign(KEY, "head", position))


def test_signatures_have_one_purpose_each() -> None:
    """One cannot stand for another."""
    position = Position("c", 1, "h")
    told = {sign(KEY, "head", position), sign(KEY, "checkpoint", position), digest(KEY, b"c\n1\nh")}
    assert len(told) == 3


def test_findings_are_bounded() -> None:
    """A log of another kind does not fill the memory."""
    verdict = verify((Numbered("f", number, b"x\n") for number in range(1_000)), None)
    assert len(verdict.findings) == 100
