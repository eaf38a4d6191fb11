"""An author's own regular expressions: those that could run away are refused.

The law of the file: a pattern is admitted only where the steps it may take at one place have a small bound
that can be read off its tree. Nothing is ever tried out.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from typegate.errors import ConfigurationError

try:
    from re import _constants as _codes  # type: ignore[attr-defined,unused-ignore]
    from re import _parser  # type: ignore[attr-defined,unused-ignore]
except ImportError as error:  # pragma: no cover
    raise ImportError("typegate reads patterns with the parser of Python 3.11 or newer") from error

__all__ = ["prefix", "sound"]

WAYS: Final = 1000
"""In how many ways a pattern may match at one place."""

STEPS: Final = 2000
"""How many characters a pattern may read at one place, but for what repeats at its end."""

LONGEST: Final = 1000
"""How often anything may repeat, but for the last thing of a pattern."""

_ENDLESS: Final = int(_codes.MAXREPEAT)
_REPEATS: Final = {_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT}
_ONE: Final = {_codes.LITERAL, _codes.NOT_LITERAL, _codes.ANY, _codes.IN}


def sound(name: str, pattern: str) -> re.Pattern[str]:
    """*pattern*, compiled.

    Raises:
        ConfigurationError: it is no pattern, matches the empty text, or could run away.
    """
    try:
        compiled = re.compile(pattern)
        tree = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigurationError(f"Redactor(extra=): '{name}' is no regular expression: {error}") from None
    if tree.getwidth()[0] == 0:
        raise ConfigurationError(
            f"Redactor(extra=): '{name}' matches the empty text; let it ask for something"
        )
    try:
        _, steps = _cost(list(tree), last=True)
    except ValueError as error:
        raise ConfigurationError(f"Redactor(extra=): '{name}' {error}") from None
    if steps > STEPS:
        raise ConfigurationError(f"Redactor(extra=): '{name}' is too long; it may read {STEPS} characters")
    return compiled


def _cost(items: Iterable[Any], last: bool) -> tuple[int, int]:
    """In how many ways *items* may match at a place, and how long one is; *last*: nothing follows."""
    ways, steps = 1, 0
    rows = list(items)
    for number, (code, value) in enumerate(rows):
        inner_ways, inner_steps = _cost_of(code, value, last and number == len(rows) - 1)
        ways *= inner_ways
        steps += inner_steps
        if ways > WAYS:
            raise ValueError(
                f"may try more than {WAYS} ways at one place; let fewer repeats follow one another"
            )
    return ways, steps


def _cost_of(code: Any, value: Any, last: bool) -> tuple[int, int]:
    if code in _ONE:
        return 1, 1
    if code is _codes.AT:
        return 1, 0
    if code in _REPEATS:
        least, most, inner = value
        return _repeated(int(least), int(most), inner, last)
    if code is _codes.SUBPATTERN:
        return _cost(value[3], last)
    if code is _codes.ATOMIC_GROUP:
        return _cost(value, last)
    if code is _codes.BRANCH:
        costs = [_cost(branch, last) for branch in value[1]]
        return sum(ways for ways, _ in costs), max(steps for _, steps in costs)
    if code in (_codes.ASSERT, _codes.ASSERT_NOT):
        return _cost(value[1], last=False)
    raise ValueError("refers back to what it has matched; write that part again instead")


def _repeated(least: int, most: int, inner: Any, last: bool) -> tuple[int, int]:
    ways, steps = _cost(inner, last=False)
    if most >= _ENDLESS and last and ways == 1:
        return 1, max(1, least) * steps  # it takes all there is, and nothing behind it makes it go back
    if most > LONGEST:
        raise ValueError(f"repeats without a bound; write {{1,64}} for +, at most {{0,{LONGEST}}}")
    if ways > 1 and most > 1:
        raise ValueError("repeats what itself may match in several ways; repeat one class of characters")
    return (most - least + 1) * ways, max(1, most) * steps


def prefix(pattern: re.Pattern[str]) -> str:
    """The literal, in lower case, with which every match begins; empty where there is none."""
    if pattern.flags & re.IGNORECASE and not pattern.pattern.isascii():
        return ""
    found = ""
    for code, value in _parser.parse(pattern.pattern):
        if code is _codes.LITERAL and value < 128:
            found += chr(value)
        elif code is not _codes.AT or found:
            break
    return found.lower()
