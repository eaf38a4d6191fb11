"""What `typegate.contract.arguments` promises of strings: they are read as the schema means them."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from typegate import InvalidArguments
from typegate.contract.arguments import plan_strings
from typegate.contract.signature import read
from typegate.types import Issue


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"
    DAY = dt.date(2026, 1, 3)


class Filter(BaseModel):
    limit: int
    since: dt.date | None = None


def bound(hint: Any, text: Any) -> Any:
    """What a prompt gets for the text of one argument."""

    def prompt(x):
        return x

    prompt.__annotations__["x"] = hint
    return plan_strings("prompt", read(prompt), frozenset()).bind({"x": text})["x"]


def issue(hint: Any, text: Any) -> Issue:
    """What is wrong with a text."""
    with pytest.raises(InvalidArguments) as caught:
        bound(hint, text)
    [found] = caught.value.issues
    return found


@pytest.mark.parametrize(
    ("hint", "text", "expected"),
    [
        (str, "5", "5"),
        (int, "5", 5),
        (int, " 5 ", 5),
        (int, "1e30", int(1e30)),
        (float, "1.5", 1.5),
        (Decimal, "1.50", Decimal("1.50")),
        (bool, "yes", True),
        (bool, "false", False),
        (int | None, "null", None),
        (str | None, "null", "null"),
        (int | str, "5", "5"),
        (dt.date, "2026-01-03", dt.date(2026, 1, 3)),
        (dt.datetime | str, "20260103", "20260103"),
        (bytes, "aGk=", b"hi"),
        (Literal[1, 2], "1", 1),
        (Literal[1, "one"], "1", 1),
        (Literal["1", 1], "1", "1"),
        (Mixed, "1", Mixed.ONE),
        (Mixed, "two", Mixed.TWO),
        (Mixed, "2026-01-03", Mixed.DAY),
        (list[str], '["a"]', ["a"]),
        (list[str] | None, '["a"]', ["a"]),
        (list[str] | str, '["a"]', '["a"]'),
        (list[int], "[1,2]", [1, 2]),
        (tuple[int, str], '[1,"a"]', (1, "a")),
        (dict[str, int], '{"a":1}', {"a": 1}),
        (Filter, '{"limit":1,"since":"2026-01-03"}', Filter(limit=1, since=dt.date(2026, 1, 3))),
        (list[str], ["a", "b"], ["a", "b"]),
        (list[int], ["1", "2"], [1, 2]),
        (set[int], ["1", "1"], {1}),
        (list[dt.date], ["2026-01-03"], [dt.date(2026, 1, 3)]),
        (Any, ["a"], ["a"]),
    ],
    ids=repr,
)
def test_a_text_is_read_as_the_schema_means_it(hint: Any, text: Any, expected: Any) -> None:
    """As text where the schema admits one, else as JSON, else as people write numbers and dates."""
    found = bound(hint, text)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize(
    ("hint", "text", "path", "message"),
    [
        (int, "x", ("x",), "'x' must be integer"),
        (Annotated[int, Field(ge=5)], "3", ("x",), "'x' must be greater than or equal to 5"),
        (Literal[1, 2], "3", ("x",), "'x' must be one of 1, 2"),
        (list[str], "a", ("x",), "'x' must be JSON text of array of string"),
        (list[str], "[1]", ("x", 0), "'x[0]' must be string, got integer"),
        (dict[str, int], "a", ("x",), "'x' must be JSON text of object"),
        (Filter, "a", ("x",), "'x' must be JSON text of object with 'limit'"),
        (Filter, '{"limit":"a"}', ("x", "limit"), "'x.limit' must be integer, got string"),
        (
            Filter,
            '{"limit":1,"sinse":null}',
            ("x", "sinse"),
            "unexpected field 'x.sinse'; did you mean 'since'?",
        ),
        (list[int], ["a"], ("x", 0), "'x[0]' must be integer"),
        (str, ["a"], ("x",), "'x' is given as a list, so its parameter must be one, such as list[str]"),
        *(
            (hint, text, ("x",), "'x' must be a number that fits 64-bit floating point")
            for hint in (float, Decimal)
            for text in ("nan", "inf", "-Infinity")
        ),
        (float, "1e400", ("x",), "'x' must be a number that fits 64-bit floating point"),
    ],
    ids=repr,
)
def test_a_refusal_says_what_is_expected(hint: Any, text: Any, path: Any, message: str) -> None:
    """And where, inside of decoded JSON too."""
    found = issue(hint, text)
    assert (found.path, found.message) == (path, message)


def test_everything_that_is_wrong_comes_at_once() -> None:
    """What cannot be read, what is missing, and what is unknown."""

    def prompt(a: int, b: list[str], c: str, d: str = "d"):
        return a, b, c, d

    plan = plan_strings("prompt", read(prompt), frozenset({"c"}))
    with pytest.raises(InvalidArguments) as caught:
        plan.bind({"a": "x", "b": "y", "z": "1"})
    assert [each.path for each in caught.value.issues] == [("c",), ("z",), ("a",), ("b",)]
    assert plan.bind({"a": "1", "b": "[]", "c": "c"}) == {"a": 1, "b": [], "c": "c", "d": "d"}
