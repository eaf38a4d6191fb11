"""One entry of the audit log as data: its fields, and the one line that it becomes.

The law of the file: pure functions. A record is one line of ASCII-safe JSON whatever a client put into it:
control characters, line separators, bidirectional marks and invisible tags are written as escapes, so that
a line cannot be forged and a terminal cannot be led by one; whoever reads the JSON gets them back.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final, Literal, get_args

import msgspec

from typegate.text import without_surrogates
from typegate.types import Json
from typegate.wire.jsonrpc import Unrepresentable

__all__ = [
    "FACTS",
    "MAX_ARGUMENTS",
    "OUTCOMES",
    "Arguments",
    "Outcome",
    "Record",
    "Redact",
    "as_sent",
    "cut",
    "encode",
    "safe",
    "shape",
]

Arguments = Literal["redacted", "shape", "none"]
Outcome = Literal[
    "ok",
    "tool_error",
    "invalid",
    "unknown",
    "denied",
    "limited",
    "timeout",
    "cancelled",
    "failed",
    "unparseable",
]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
Redact = Callable[[str], str]

MAX_ARGUMENTS: Final = 4_096
"""How many bytes the arguments may take in a record."""

MAX_TEXT: Final = 512
"""How many characters of one string among the arguments are kept."""

MAX_READ: Final = 8_192
"""How many characters of one string are looked at: a secret that is cut in two must still be seen whole."""

MAX_ITEMS: Final = 64
MAX_LEVELS: Final = 8


class Record(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One line of the log; what does not apply is left out. `docs/audit.md` says what each field holds."""

    v: int
    ts: datetime
    chain: str = ""
    seq: int = 0
    phase: Literal["outcome", "intent", "event", "checkpoint"]
    id: str = ""
    event: str = ""
    method: str = ""
    target: str = ""
    outcome: Outcome | Literal[""] = ""
    reference: str = ""
    reason: str = ""
    rule: str = ""
    error: str = ""
    caller: Mapping[str, Json] | None = None
    peer: str = ""
    transport: str = ""
    protocol: str = ""
    request_id: int | str | None = None
    trace_id: str = ""
    session_id: str = ""
    args: Json = None
    args_sha256: str = ""
    truncated: bool = False
    destructive: bool = False
    repairs: int = 0
    redactions: Mapping[str, int] | None = None
    approval: Mapping[str, Json] | None = None
    cost: float = 0
    policy_version: str = ""
    tool_digest: str = ""
    in_bytes: int = 0
    out_bytes: int = 0
    duration_ms: float | None = None
    queue_ms: float = 0
    count: int = 0
    traceback: str = ""
    mac: str = ""


FACTS: Final = frozenset(
    (
        *("rule", "reason", "repairs", "redactions", "approval", "cost", "policy_version", "tool_digest"),
        *("queue_ms", "session_id", "destructive", "in_bytes", "out_bytes", "caller", "outcome"),
    )
)
"""What a guard or a handler may add to the record of its call."""

# --- a record as bytes ---------------------------------------------------------------------------

_encode: Final = msgspec.json.Encoder(enc_hook=lambda value: f"({type(value).__name__})").encode
_UNSAFE: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def encode(record: Record) -> bytes:
    """The record as one JSON object on one line, without the links of the chain; it never fails."""
    try:
        return safe(_encode(record))
    except UnicodeEncodeError:
        return safe(_encode(without_surrogates(msgspec.to_builtins(record))))
    except Exception as error:  # noqa: BLE001  (what a guard added may be anything; there is a record all the same)
        record.args = record.caller = record.redactions = record.approval = None
        record.reason = f"what else is known cannot be written: {type(error).__name__}"
        return safe(_encode(record))


def safe(line: bytes) -> bytes:
    """JSON in which what cannot be seen, or leads a terminal, is written as escapes."""
    if line.isascii() and b"\x7f" not in line:
        return line
    return _UNSAFE.sub(_escaped, line.decode()).encode()


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON escapes it; outside of strings JSON has none of them."""
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[index : index + 2].hex()}" for index in range(0, len(units), 2))


# --- what is kept of a value ---------------------------------------------------------------------


def cut(text: str, most: int) -> str:
    """The text, or its two ends around a note of how much is missing."""
    if len(text) <= most:
        return text
    head = most // 4
    return f"{text[:head]}… {len(text) - most} characters …{text[head - most :]}"


def as_sent(value: Json, redact: Redact | None) -> tuple[Json, bool]:
    """The arguments as they were sent, redacted and cut to a size; whether anything was cut."""
    if redact is None and _small(value):
        return value, False
    keeper = _Keeper(redact)
    kept = keeper.keep(value, MAX_LEVELS)
    if keeper.size <= MAX_ARGUMENTS:
        return kept, keeper.cut
    return shape(value, redact), True


def _small(value: Json) -> bool:
    """Whether these are a few short plain values, which need no second look."""
    return value.__class__ is dict and len(value) <= MAX_LEVELS and all(map(_plain, value.items()))


def _plain(pair: tuple[str, Json]) -> bool:
    key, value = pair
    if len(key) > MAX_TEXT // 8:
        return False
    kind = value.__class__
    return (kind is str and len(value) <= MAX_TEXT // 2) or kind is int or kind is float or kind is bool


class _Keeper:
    """Copies a value as it goes into a record; `size` is about what that takes."""

    def __init__(self, redact: Redact | None) -> None:
        self._redact = redact
        self.size = 0
        self.cut = False

    def keep(self, value: Json, levels: int) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict | list) and (levels == 0 or self.size > MAX_ARGUMENTS):
            self.cut = True
            return f"({_noun(value)})"
        if isinstance(value, dict):
            return {self._text(key): self.keep(item, levels - 1) for key, item in self._some(value.items())}
        if isinstance(value, list):
            return [self.keep(item, levels - 1) for item in self._some(value)]
        self.size += 8
        return "(a number beyond range)" if isinstance(value, Unrepresentable) else value

    def _text(self, text: str) -> str:
        if len(text) > MAX_TEXT:
            self.cut = True
        read = text[:MAX_READ]
        kept = cut(read if self._redact is None else self._redact(read), MAX_TEXT)
        self.size += len(kept) + 4
        return kept

    def _some(self, items: Json) -> Iterator[Json]:
        for index, item in enumerate(items):
            if index == MAX_ITEMS or self.size > MAX_ARGUMENTS:
                self.cut = True
                return
            yield item


def shape(value: Json, redact: Redact | None = None, levels: int = 3) -> Json:
    """Types and sizes instead of values; the names of keys are kept."""
    if isinstance(value, dict) and levels:
        names = list(value)[:MAX_ITEMS]
        return {
            cut(name if redact is None else redact(name[:MAX_READ]), 64): shape(
                value[name], redact, levels - 1
            )
            for name in names
        }
    return _noun(value)


def _noun(value: Json) -> str:
    if isinstance(value, str):
        return f"string of {len(value)}"
    if isinstance(value, dict):
        return f"object of {len(value)}"
    if isinstance(value, list):
        return f"array of {len(value)}"
    if isinstance(value, bool):
        return "boolean"
    return "null" if value is None else "number"
