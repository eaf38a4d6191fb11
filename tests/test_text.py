"""What `typegate.text` promises: words from outside that can be written as UTF-8 and read by a person."""

import sys
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from typegate.text import shown, without_surrogates

HALF, OTHER_HALF, MARK = "\ud800", "\udfff", "\ufffd"


class Word(str):
    """A string of an author's own class."""

    def __str__(self) -> str:
        return "another word"


SHOWN = [  # a name, what is repeated of it
    ("", ""),
    ("orders.lookup", "orders.lookup"),
    ("two words", "two words"),
    ("größe 订单 🍵", "größe 订单 🍵"),
    ("a\nb\tc\x00d\x1be\x7f", "a?b?c?d?e?"),
    ("a\u202eb\u200bc\u2028d\u00a0e", "a?b?c?d?e"),
    (f"a{HALF}b{OTHER_HALF}", "a?b?"),
    ("x" * 64, "x" * 64),
    ("x" * 65, "x" * 64 + "…"),
    ("\n" * 64, "?" * 64),
    ("\n" * 65, "?" * 64 + "…"),
    ("x" * 64 + "\n", "x" * 64 + "…"),
]


@pytest.mark.parametrize(("name", "expected"), SHOWN)
def test_a_clients_word_is_printable_and_short(name: str, expected: str) -> None:
    """What a terminal would act on is a question mark, and what is too long is cut."""
    assert shown(name) == expected


@pytest.mark.parametrize(("limit", "expected"), [(5, "abcde"), (4, "abcd…"), (1, "a…"), (0, "…")])
def test_the_limit_counts_the_characters_that_are_kept(limit: int, expected: str) -> None:
    """The sign that something is missing comes on top."""
    assert shown("abcde", limit) == expected


def test_no_character_gets_through_that_cannot_be_printed() -> None:
    """Whichever it is, what is shown is printable and has a UTF-8 form."""
    for code in range(0, sys.maxunicode + 1, 61):
        found = shown(chr(code))
        assert found.isprintable()
        assert found.encode()


PLAIN = [  # a value, its plain copy
    ("", ""),
    ("plain", "plain"),
    ("größe 🍵", "größe 🍵"),
    (f"{HALF}a\udbff\udc00b{OTHER_HALF}", f"{MARK}a{MARK}{MARK}b{MARK}"),
    ("\ud7ff\ue000", "\ud7ff\ue000"),
    ({HALF: [HALF, {"a": (HALF,)}]}, {MARK: [MARK, {"a": [MARK]}]}),
    (OrderedDict(b=1, a=HALF), {"b": 1, "a": MARK}),
    (MappingProxyType({"a": HALF}), {"a": MARK}),
    ({5: HALF, None: 1}, {5: MARK, None: 1}),
    (("a", HALF), ["a", MARK]),
    ({HALF}, [MARK]),
    (frozenset({"a"}), ["a"]),
    (None, None),
    (True, True),
    (1.5, 1.5),
    (b"\xff", b"\xff"),
]


@pytest.mark.parametrize(("value", "expected"), PLAIN)
def test_half_a_pair_becomes_the_replacement_character(value: Any, expected: Any) -> None:
    """At every depth, in keys as in values; all else stays what it is, in plain containers."""
    found = without_surrogates(value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize("word", ["word", "wörd", f"w{HALF}rd"])
def test_a_string_of_another_class_becomes_a_plain_one(word: str) -> None:
    """It is its characters that count, not what the class says of itself."""
    found = without_surrogates(Word(word))
    assert (found, type(found)) == (word.replace(HALF, MARK), str)


def test_the_original_is_not_touched() -> None:
    """What comes back is a copy, down to the last list."""
    original = {"a": [HALF, []]}
    copy = without_surrogates(original)
    copy["a"][1].append(1)
    assert original == {"a": [HALF, []]}
