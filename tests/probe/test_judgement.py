"""What an answer amounts to: every verdict, and how a refusal names an argument."""

from typing import Any

import pytest

from typegate.probe.calls import Case
from typegate.probe.judgement import FAULTS, VERDICTS, Answer, judge, names, read_answer

BAD = Case(kind="type", label="x", arguments=b"{}", valid=False, places=(("limit",),))
GOOD = Case(kind="valid", label="x", arguments=b"{}", valid=True)
BROKEN = Case(kind="wire", label="x", arguments=b"{", valid=False)

REFUSED = Answer(form="result", text="'limit' must be integer", failed=True, ran=False)


def said(text: str = "", **facts: Any) -> Answer:
    """An answer with other facts than those of a good refusal."""
    return Answer(**{"form": "result", "text": text, **facts})


@pytest.mark.parametrize(
    ("case", "answer", "verdict", "named"),
    [
        (BAD, REFUSED, "refused", True),
        (BAD, said("no", failed=True, ran=False), "refused", False),
        (BAD, said("'limit' is wrong", failed=False, ran=False), "refused", True),
        (BAD, said("'limit' is wrong", failed=True, ran=True), "refused late", True),
        (BAD, said("3", failed=False, ran=True), "accepted", None),
        (BAD, said("limit: wrong", failed=True), "refused", True),
        (BAD, said("3"), "accepted", None),
        (BAD, said(form="end", ran=False), "crashed", None),
        (BAD, said(form="silence", ran=False), "unanswered", None),
        (GOOD, said("3", ran=True), "taken", None),
        (GOOD, said("it failed", failed=True, ran=True), "taken", None),
        (GOOD, said("'a' is wrong", failed=True, ran=False), "turned away", None),
        (GOOD, said("3"), "taken", None),
        (GOOD, said("it failed", failed=True), "turned away", None),
        (GOOD, said(form="end"), "crashed", None),
        (BROKEN, said("Parse error", form="error", failed=True, unread=True), "refused", None),
        (BROKEN, said("3"), "accepted", None),
        (BAD, said("Parse error", form="error", failed=True, unread=True), "refused", None),
        (BAD, said("Parse error", form="error", failed=True, unread=True, ran=False), "refused", False),
    ],
)
def test_every_verdict(case: Case, answer: Answer, verdict: str, named: bool | None) -> None:
    """A function that is known to run or not decides; of a foreign server only the answer is known."""
    judgement = judge(case, answer, strict=answer.ran is not None)
    assert judgement == (verdict, named)
    assert judgement.is_fault == (verdict in FAULTS or named is False)


def test_every_verdict_is_explained() -> None:
    """The table has the faults, and each of them its words."""
    assert set(VERDICTS) > FAULTS
    assert all(VERDICTS.values())


@pytest.mark.parametrize(
    ("text", "place", "is_named"),
    [
        ("'limit' must be integer", ("limit",), True),
        ("'limit.a[2]' must be integer", ("limit",), True),
        ("'limits' must be integer", ("limit",), False),
        ("limit must be integer", ("limit",), False),
        ("'who.homes[0].zip' must match", ("who", "homes", 0, "zip"), True),
        ("'who' must match", ("who", "homes"), False),
        ("unexpected argument 'a?b'", ("a\u0000b",), True),
        ("Invalid params: 'arguments' must be an object", (), True),
        ("the arguments must have at most 3 entries", (), True),
        ("no", (), False),
    ],
)
def test_typegate_names_an_argument_in_quotes(
    text: str, place: tuple[str | int, ...], is_named: bool
) -> None:
    """In quotes, with its whole path, or with more of it."""
    assert names(text, place, strict=True) is is_named


@pytest.mark.parametrize(
    ("text", "place", "is_named"),
    [
        ("1 validation error\nbook.chapters.0.pages\n  wrong", ("book", "chapters", 0, "pages"), True),
        ("at book.chapters[0].pages", ("book", "chapters", 0, "pages"), True),
        ("/book/year: wrong", ("book", "year"), True),
        ("$['book', 'year']", ("book", "year"), True),
        ('{"path": [\n  "book",\n  0\n ]}', ("book", 0), True),
        ("Unexpected property 'zip'", ("home", "zip"), True),
        ("limits is wrong", ("limit",), False),
        ("'abc' is not of type 'integer'", ("limit",), False),
    ],
)
def test_others_may_name_it_in_their_way(text: str, place: tuple[str | int, ...], is_named: bool) -> None:
    """Any notation of the path will do."""
    assert names(text, place, strict=False) is is_named


def test_a_result_is_read() -> None:
    """The texts of its blocks, and its flag."""
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    answer = read_answer({"result": {"content": blocks, "isError": True}}, ran=False, seconds=0.5)
    assert answer == Answer(form="result", text="a\n\nb", failed=True, ran=False, seconds=0.5)


@pytest.mark.parametrize(
    ("error", "text", "unread"),
    [
        ({"code": -32602, "message": "bad"}, "bad", False),
        ({"code": -32700, "message": "bad", "data": "at 3"}, "bad\nat 3", True),
        ("odd", "odd", False),
    ],
)
def test_an_error_is_read(error: Any, text: str, unread: bool) -> None:
    """Its message, its data where that is a text, and whether it is a parse error."""
    answer = read_answer({"error": error}, ran=None, seconds=0)
    assert (answer.form, answer.text, answer.failed, answer.unread) == ("error", text, True, unread)


@pytest.mark.parametrize("result", [None, {}, {"content": []}, "odd", {"content": ["odd"]}])
def test_an_odd_result_is_no_refusal(result: Any) -> None:
    """What does not say that it failed did not."""
    assert not read_answer({"result": result}, ran=None, seconds=0).failed
