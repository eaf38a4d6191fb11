"""The hash chain: each record holds the hash of the one before, and a key signs where the chain stands.

    {"v":1,"ts":...,"seq":7,...,"prev":"HASH OF 6","hash":"HASH OF THIS LINE UP TO HERE"}

The law of the file: pure functions on bytes. A hash is SHA-256 over the bytes of the line as they were
written, up to `,"hash"`, so that whoever checks a chain needs no canonical form of JSON. A signature is
HMAC-SHA256 over chain, number and hash: in a checkpoint over the record before it, in the head file over
the last one.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

import msgspec

__all__ = [
    "HEAD_SIZE",
    "START",
    "Finding",
    "Head",
    "Kind",
    "Numbered",
    "Position",
    "Verdict",
    "digest",
    "encode_head",
    "link",
    "read_head",
    "read_position",
    "sign",
    "verify",
]

START: Final = "0" * 64
"""What stands for the hash before the first record."""

HEAD_SIZE: Final = 512
"""A head file always has this many bytes: one sector, overwritten in place."""

MAX_FINDINGS: Final = 100


class Position(NamedTuple):
    """Where a chain stands after a record: its name, the number of the record and its hash."""

    chain: str
    seq: int
    hash: str


class Head(msgspec.Struct, frozen=True):
    """The head file: where the log stood when it was last written, by which process."""

    chain: str
    seq: int
    hash: str
    pid: int = 0
    mac: str = ""

    @property
    def position(self) -> Position:
        """Where the chain stood."""
        return Position(self.chain, self.seq, self.hash)


def link(body: bytes, prev: str) -> tuple[bytes, str]:
    """The line of a record that follows the one with the hash *prev*, and its own hash."""
    linked = b'%b,"prev":"%b"' % (body[:-1], prev.encode())
    found = hashlib.sha256(linked).hexdigest()
    return b'%b,"hash":"%b"}\n' % (linked, found.encode()), found


def sign(key: bytes, purpose: Literal["checkpoint", "head"], position: Position) -> str:
    """What only the holder of the key can say of a position."""
    told = f"typegate audit {purpose}\n{position.chain}\n{position.seq}\n{position.hash}"
    return hmac.digest(key, told.encode(), "sha256").hex()


def digest(key: bytes, value: bytes) -> str:
    """A fingerprint of arguments that cannot be guessed without the key."""
    return hmac.digest(key, b"typegate audit arguments\n" + value, "sha256").hex()


def encode_head(position: Position, pid: int, key: bytes | None) -> bytes:
    """The content of a head file."""
    mac = sign(key, "head", position) if key is not None else ""
    return msgspec.json.encode(Head(*position, pid=pid, mac=mac)).ljust(HEAD_SIZE - 1) + b"\n"


def read_head(content: bytes) -> Head | None:
    """A head file read, or `None` where it is empty or none."""
    try:
        return msgspec.json.decode(content, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


# --- a line, read --------------------------------------------------------------------------------


class _Link(msgspec.Struct):
    """What of a record makes the chain."""

    v: int
    chain: str
    seq: int
    phase: str
    prev: str
    hash: str
    event: str = ""
    reason: str = ""
    count: int = 0
    mac: str = ""


_decode: Final = msgspec.json.Decoder(_Link).decode
_END: Final = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n?\Z')


def _link_of(line: bytes) -> _Link | None:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_position(line: bytes) -> Position | None:
    """Where the chain stands after this line, or `None` where it is no record."""
    found = _link_of(line)
    return Position(found.chain, found.seq, found.hash) if found is not None else None


# --- verification --------------------------------------------------------------------------------

Kind = Literal["changed", "missing", "order", "foreign", "torn", "cut", "head", "signature", "gap", "anchor"]


class Numbered(NamedTuple):
    """A line and where it stands."""

    file: str
    number: int
    line: bytes


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong: with which record, in which line of which file (0: with the whole)."""

    kind: Kind
    seq: int
    file: str
    line: int
    message: str


class Verdict(msgspec.Struct, frozen=True):
    """What a chain looks like.

    Attributes:
        records: how many there are, from `first` to `last`.
        signed: the last record that a valid signature covers.
        unsigned: up to which record the log says that it had no key.
        unconfirmed: how many records are newer than the head file.
        findings: what is wrong, by record.
    """

    records: int
    first: int
    last: Position | None
    signed: int
    unsigned: int
    unconfirmed: int
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong, but for a torn tail, which a crash leaves."""
        return all(finding.kind == "torn" for finding in self.findings)


def verify(
    lines: Iterable[Numbered],
    head: bytes | None,
    key: bytes | None = None,
    anchors: Iterable[tuple[int, str]] = (),
) -> Verdict:
    """Follow a chain from its first line to its last.

    Args:
        lines: all lines, the oldest first.
        head: the content of the head file; `None` where no such file is looked for.
        key: what checkpoints and head were signed with; `None`: signatures are not looked at.
        anchors: numbers and hashes (or beginnings of them) that were noted elsewhere.
    """
    known = read_head(head) if head else None
    walk = _Walk(key, dict(anchors), known)
    findings = list(walk.follow(lines))
    findings += walk.end(looked=head is not None)
    findings.sort(key=lambda each: each.seq)
    last = walk.position
    unconfirmed = max(0, last.seq - known.seq) if last is not None and known is not None else 0
    return Verdict(
        walk.records,
        walk.first,
        last,
        walk.signed,
        walk.unsigned,
        unconfirmed,
        tuple(findings[:MAX_FINDINGS]),
    )


class _Walk:
    """A chain, followed."""

    def __init__(self, key: bytes | None, anchors: dict[int, str], head: Head | None) -> None:
        self._key = key
        self._anchors = anchors
        self._head = head
        self._at_head: str | None = None
        self._deleted = 0
        self._place = Numbered("", 0, b"")
        self.position: Position | None = None
        self.records = 0
        self.first = 0
        self.signed = 0
        self.unsigned = 0

    def follow(self, lines: Iterable[Numbered]) -> Iterator[Finding]:
        """Everything that is wrong with the lines themselves."""
        held: Numbered | None = None
        for place in lines:
            if held is not None:
                yield from self._line(held, last=False)
            held = place
        if held is not None:
            yield from self._line(held, last=True)

    def _line(self, place: Numbered, last: bool) -> Iterator[Finding]:
        self._place = place
        record = _link_of(place.line)
        seq = self.position.seq + 1 if self.position is not None else 1
        if record is None or not place.line.endswith(b"\n"):
            if last and not place.line.endswith(b"\n"):
                yield self._found(
                    "torn", seq, f"the log ends in the middle of record {seq}: a crash, or a cut"
                )
            else:
                yield self._found("foreign", seq, f"where record {seq} should be stands what is no record")
            return
        self.records += 1
        self.first = self.first or record.seq
        yield from self._links(record, seq)
        yield from self._own(record, place.line)
        self.position = Position(record.chain, record.seq, record.hash)
        if self._head is not None and record.seq == self._head.seq:
            self._at_head = record.hash

    def _links(self, record: _Link, seq: int) -> Iterator[Finding]:
        """How the record follows the one before."""
        before = self.position
        if before is None:
            if record.seq == 1 and record.prev != START:
                yield self._found("changed", 1, "record 1 does not begin a chain")
            return
        if record.seq > seq:
            what = f"record {seq} is" if record.seq == seq + 1 else f"records {seq} to {record.seq - 1} are"
            yield self._found("missing", seq, f"{what} missing: {record.seq} follows {before.seq}")
        elif record.seq < seq:
            yield self._found("order", record.seq, f"record {record.seq} stands after record {before.seq}")
        elif record.chain != before.chain:
            yield self._found("order", seq, f"record {seq} is of another chain, '{record.chain}'")
        elif record.prev != before.hash:
            message = f"record {before.seq} is not the one that record {record.seq} was written after"
            yield self._found("changed", before.seq, message)

    def _own(self, record: _Link, line: bytes) -> Iterator[Finding]:
        """What the record says of itself."""
        end = _END.search(line)
        if end is None or hashlib.sha256(line[: end.start()]).hexdigest() != end[1].decode():
            yield self._found("changed", record.seq, f"record {record.seq} was changed: its hash is another")
        noted = self._anchors.get(record.seq)
        if noted and not record.hash.startswith(noted):
            message = f"record {record.seq} is not the one that was noted: {noted}"
            yield self._found("anchor", record.seq, message)
        if record.phase == "checkpoint" and self._key is not None:
            before = Position(record.chain, record.seq - 1, record.prev)
            if hmac.compare_digest(record.mac.encode(), sign(self._key, "checkpoint", before).encode()):
                self.signed = record.seq - 1
            else:
                message = f"the signature of checkpoint {record.seq} was not made with this key"
                yield self._found("signature", record.seq, message)
        if record.event == "gap":
            yield self._found("gap", record.seq, f"the server found at its start: {record.reason}")
        if record.event == "unsigned":
            self.unsigned = record.count
        if record.event == "deleted":
            self._deleted = max(self._deleted, record.count)

    def end(self, looked: bool) -> Iterator[Finding]:
        """What the end of the log, the head file and the notes say together."""
        last = self.position
        if self.first > max(1, self._deleted + 1):
            begin = self._deleted + 1
            message = f"the log begins at record {self.first}; {begin} to {self.first - 1} are missing"
            yield self._found("missing", begin, message, whole=True)
        for seq, noted in self._anchors.items():
            if last is None or seq > last.seq:
                told = f"record {seq} was noted as {noted}, and the log ends before it"
                yield self._found("cut", (last.seq if last else 0) + 1, told, whole=True)
        if self._head is not None:
            yield from self._against(self._head, last)
        elif looked:
            yield self._found("head", last.seq if last else 0, "the head file is missing or spoiled", True)

    def _against(self, head: Head, last: Position | None) -> Iterator[Finding]:
        if self._key is not None:
            if not hmac.compare_digest(head.mac.encode(), sign(self._key, "head", head.position).encode()):
                message = "the signature of the head file was not made with this key"
                yield self._found("signature", head.seq, message, whole=True)
            elif self._at_head == head.hash:
                self.signed = max(self.signed, head.seq)
        if last is None or head.seq > last.seq:
            end = last.seq if last is not None else 0
            message = f"the log ends at record {end}, and the head file knows of record {head.seq}"
            yield self._found("cut", end + 1, message, whole=True)
        elif head.chain != last.chain:
            message = f"the head file is that of another chain, '{head.chain}'"
            yield self._found("head", last.seq, message, whole=True)
        elif self._at_head != head.hash:
            message = f"record {head.seq} is not the one that the head file knows"
            yield self._found("changed", head.seq, message, whole=True)

    def _found(self, kind: Kind, seq: int, message: str, whole: bool = False) -> Finding:
        return Finding(kind, seq, self._place.file, 0 if whole else self._place.number, message)
