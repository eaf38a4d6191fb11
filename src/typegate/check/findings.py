"""What a rule is, and what it finds, as frozen data.

The law of the file: a rule is data and one function over a frozen subject; it reads and never runs the
author's code. Its texts are the only source of the documentation, of `--explain` and of every report.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Generic, Literal, NamedTuple, TypeVar

import msgspec

__all__ = ["SEVERITIES", "Finding", "Hit", "Place", "Rule", "Severity"]

S = TypeVar("S")

Severity = Literal["note", "warning", "error"]
SEVERITIES: Final[tuple[Severity, ...]] = ("note", "warning", "error")
"""From the least to the most."""


class Place(NamedTuple):
    """Where something stands.

    Attributes:
        path: the file.
        line: from 1.
        column: from 1, in characters.
        also: further lines on which an ignore comment speaks of it.
    """

    path: Path
    line: int
    column: int = 1
    also: frozenset[int] = frozenset()


class Hit(NamedTuple):
    """One thing that a rule found; *name* is the component it is about, where it is not the subject."""

    place: Place
    message: str
    name: str = ""


class Rule(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """One rule.

    Attributes:
        id: stable, such as `TG101`.
        severity: how much it matters.
        title: what is found, in a few words.
        reason: why it matters, in one sentence.
        mend: what to do about it, in one sentence.
        bad: a server that breaks it, without its imports.
        good: the same, mended.
        find: what looks for it.
    """

    id: str
    severity: Severity
    title: str
    reason: str
    mend: str
    bad: str
    good: str
    find: Callable[[S], Iterable[Hit]]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A hit with all that a report says of it; *name* is that of the tool, resource or prompt, or empty."""

    rule: str
    severity: Severity
    path: Path
    line: int
    column: int
    name: str
    message: str
    mend: str
