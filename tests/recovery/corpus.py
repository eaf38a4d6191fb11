"""The wrong calls: written by hand, and made from valid ones by mutation.

The law of the file: the calls are data. `written.jsonl` holds what was written down after the field cases,
one call a line; `mutated.jsonl` holds what `mutation` made. No call stands twice, and each of them breaks the
published schema or, in the group `rule`, a rule that no schema can hold.
"""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

__all__ = ["CORPUS", "KINDS", "WrongCall"]

KINDS: Final = {
    "missing": "an argument or a field is missing",
    "name": "a name is misspelt or made up",
    "type": "a value of another type",
    "null": "null where it is not allowed",
    "json text": "JSON text in place of a container",
    "enum": "no such choice",
    "format": "not in the format",
    "pattern": "does not match the pattern",
    "bounds": "out of range, too long, too many",
    "deep": "inside lists, models, dicts and unions",
    "several": "several faults at once",
    "rule": "a rule that no schema can hold",
    "mutated": "made by mutation, at any depth",
}
"""What the calls are grouped by, and what that means."""


class WrongCall(NamedTuple):
    """A call that must be refused.

    Attributes:
        tool: whom it calls.
        kind: its group, of `KINDS`.
        arguments: what it sends.
        why: what is wrong, in words.
        meant: the arguments that were meant, where the wrong ones still say so.
    """

    tool: str
    kind: str
    arguments: dict[str, Any]
    why: str
    meant: dict[str, Any] | None = None

    @property
    def key(self) -> str:
        """The call as text: two calls are the same where this is."""
        return json.dumps([self.tool, self.arguments], sort_keys=True)


def read(name: str) -> tuple[WrongCall, ...]:
    """The calls of one file."""
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return tuple(WrongCall(**json.loads(line)) for line in lines)


WRITTEN: Final = read("written.jsonl")
CORPUS: Final = (*WRITTEN, *read("mutated.jsonl"))
