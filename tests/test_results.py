"""What `typegate.contract.results` promises: what leaves is strict JSON that its schema admits."""

import dataclasses
import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from typegate import EmbeddedResource, InvalidResult, Text, TextResourceContents, ToolResult
from typegate.contract.results import plan_results, to_json
from typegate.contract.signature import EMPTY
from typegate.types import EmbeddedResourceContent


def shaped(value: Any, hint: Any = EMPTY, **options: Any) -> Any:
    """What a client decodes from the structured content of a value."""
    found = plan_results("tool", hint, **options).shape(value)
    return None if found.structured is None else json.loads(found.structured)


def refusal(value: Any, hint: Any = EMPTY, **options: Any) -> str:
    """Why a value cannot leave."""
    with pytest.raises(InvalidResult) as caught:
        plan_results("tool", hint, **options).shape(value)
    return str(caught.value)


# --- decimals

PRICE = Decimal("42.50")
NUMBER = {"type": "object", "properties": {"t": {"type": "number"}}}


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (float, PRICE, 42.5),
        (float | None, PRICE, 42.5),
        (int, Decimal(42), 42),
        (int, Decimal("4E+1"), 40),
        (list[float], [1.5, PRICE], [1.5, 42.5]),
        (dict[str, float], {"a": PRICE}, {"a": 42.5}),
        (dict[str, list[int | None]], {"a": [Decimal(1), None]}, {"a": [1, None]}),
        (dict[int, float], {1: PRICE}, {"1": 42.5}),
        (Decimal, PRICE, "42.50"),
        (list[Decimal], [Decimal("1E+2")], ["1E+2"]),
        (str, PRICE, "42.50"),
        (float | str, PRICE, "42.50"),
        (dict[str, Any], {"a": PRICE}, {"a": "42.50"}),
        (dict[int, Any], {1: PRICE}, {"1": "42.50"}),
    ],
    ids=str,
)
def test_a_decimal_is_a_number_where_only_numbers_are_declared(hint: Any, value: Any, expected: Any) -> None:
    """Everywhere else it is written as a string, which keeps every digit for every reader."""
    assert shaped(value, hint) == expected


@dataclasses.dataclass
class Line:
    price: float


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, PRICE),
        (list[int], [PRICE]),
        (tuple[float, int], (PRICE, 1)),
        (Line, Line(price=PRICE)),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_a_decimal_that_would_break_the_schema_does_not_leave(hint: Any, value: Any) -> None:
    """What is judged is what is written."""
    assert "must be" in refusal(value, hint)


def test_a_schema_by_hand_judges_what_is_written() -> None:
    """A `Decimal`, which is written as a string there, is no number."""
    assert shaped({"t": 1.5}, explicit=NUMBER) == {"t": 1.5}
    assert "'t' must be number, got string" in refusal({"t": PRICE}, explicit=NUMBER)


@pytest.mark.parametrize("number", ["NaN", "sNaN", "-NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    ("hint", "wrap", "place"),
    [
        (EMPTY, lambda number: number, "$"),
        (EMPTY, lambda number: {"a": [number]}, "$.a[0]"),
        (Any, lambda number: (number,), "$[0]"),
        (Decimal, lambda number: number, "$"),
        (float, lambda number: number, "$"),
        (str, lambda number: number, "$"),
        (list[Decimal], lambda number: [number], "$[0]"),
        (dict[str, Any], lambda number: {"a": number}, "$.a"),
        (tuple[Any, int], lambda number: (number, 1), "$[0]"),
    ],
    ids=["bare", "inside", "any", "decimal", "float", "str", "list", "dict", "tuple"],
)
def test_no_decimal_without_end_leaves(number: str, hint: Any, wrap: Any, place: str) -> None:
    """NaN is refused whatever type it is of, since no input would take it back."""
    said = refusal(wrap(Decimal(number)), hint)
    assert said == f"returned NaN or an infinity, which JSON cannot hold, at {place}"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_text_that_reads_like_one_leaves(text: str) -> None:
    """A string is a string."""
    assert to_json([text, None]) == json.dumps([text, None], separators=(",", ":")).encode()
    assert shaped({"a": text}, dict[str, Any]) == {"a": text}


# --- what is wrong, and where


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({(1, 2): 3}, "a key of type tuple at $"),
        ({"a": {(1, 2): [3]}}, "a key of type tuple at $.a"),
        ({None: 3}, "a key of type NoneType at $"),
        ([{"a": 1, frozenset(): 3}], "a key of type frozenset at $[0]"),
        (10**5000, "a number of too many digits at $"),
        ({"a": [1, 10**5000]}, "a number of too many digits at $.a[1]"),
        ({"a": object()}, "a value of type object at $.a"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("hint", [EMPTY, dict[str, Any]], ids=["undeclared", "declared"])
def test_the_place_and_the_cause_are_named(value: Any, said: str, hint: Any) -> None:
    """A key, or the length of a number, is told as what it is."""
    assert refusal(value, hint) == f"returned what is no JSON: {said}"


def test_what_contains_itself_is_told_as_such() -> None:
    """No depth of it is a place where something is wrong."""
    ring: list[Any] = []
    ring += [ring, {"a": ring, "b": ring}]
    for value in (ring, {"a": ring}):
        assert refusal(value) == "returned a value that contains itself, or is nested too deeply"


# --- _meta

DEEP: Any = {}
for _ in range(1000):
    DEEP = {"a": DEEP}

METAS = [
    ({"a": float("nan")}, "returned NaN or an infinity, which JSON cannot hold, at _meta.a"),
    ({"a": [object()]}, "returned what is no JSON: a value of type object at _meta.a[0]"),
    (DEEP, "returned a value that contains itself, or is nested too deeply, in _meta"),
    ([1], "returned what is no object at _meta"),
]


@pytest.mark.parametrize(("meta", "said"), METAS, ids=["nan", "object", "deep", "array"])
@pytest.mark.parametrize(
    "result",
    [
        lambda meta: ToolResult(["done"], meta=meta),
        lambda meta: ToolResult([Text("done", meta=meta)]),
        lambda meta: Text("done", meta=meta),
        lambda meta: [EmbeddedResource(uri="shop://terms", text="…", meta=meta)],
        lambda meta: EmbeddedResourceContent(
            resource=TextResourceContents(uri="shop://terms", text="…", meta=meta)
        ),
    ],
    ids=["result", "block in a result", "block", "resource", "contents"],
)
def test_meta_is_json_like_all_else(result: Any, meta: Any, said: str) -> None:
    """What an author hangs on a result or a block is held to the same rules, and the place is named."""
    assert refusal(result(meta)) == said


def test_meta_may_hold_what_a_result_may() -> None:
    """A date is written as in a result."""
    found = plan_results("tool", EMPTY).shape(ToolResult(["done"], meta={"on": date(2026, 1, 3)}))
    assert found.meta == {"on": "2026-01-03"}
