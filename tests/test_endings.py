"""How a call ended: answers and exceptions → outcomes."""

import asyncio
from typing import Any

import pytest
from auditing import call

from typegate.errors import (
    InternalError,
    InvalidArguments,
    InvalidParams,
    MethodNotFound,
    ParseError,
    ProtocolError,
    Rejected,
    ResourceNotFound,
    ToolError,
    UnsupportedProtocolVersion,
)
from typegate.guards.endings import CODES, Ending, ending, reference_of
from typegate.guards.records import OUTCOMES
from typegate.types import PROBLEM_KEY, CallToolResult, EmptyResult, Issue, Problem

FLAGGED = CallToolResult(content=(), is_error=True)
KNOWN, UNKNOWN = call(), call(target=None)

CASES: list[tuple[Any, BaseException | None, Any, Ending]] = [
    (KNOWN, None, EmptyResult(), Ending("ok")),
    (KNOWN, None, CallToolResult(content=()), Ending("ok")),
    (KNOWN, None, FLAGGED, Ending("tool_error")),
    (KNOWN, ToolError("no such order"), FLAGGED, Ending("tool_error", "no such order")),
    (KNOWN, Rejected("RANGE", "too far"), FLAGGED, Ending("tool_error", "RANGE: too far")),
    (
        KNOWN,
        Rejected("timeout", "an author's own code"),
        FLAGGED,
        Ending("tool_error", "timeout: an author's own code"),
    ),
    (
        KNOWN,
        InvalidArguments([Issue(code="type", message="'n' must be 1")]),
        FLAGGED,
        Ending("invalid", "'n' must be 1"),
    ),
    (KNOWN, InvalidParams("bad cursor"), None, Ending("invalid", "bad cursor")),
    (UNKNOWN, InvalidParams("Unknown tool 'x'"), None, Ending("unknown", "Unknown tool 'x'")),
    (
        call(target=None, method="tools/list"),
        InvalidParams("bad cursor"),
        None,
        Ending("invalid", "bad cursor"),
    ),
    (KNOWN, ResourceNotFound("no such order"), None, Ending("unknown", "no such order")),
    (KNOWN, MethodNotFound("no"), None, Ending("unknown", "no")),
    (KNOWN, ParseError("no JSON"), None, Ending("unparseable", "no JSON")),
    (
        KNOWN,
        UnsupportedProtocolVersion("1999", ["2026-07-28"]),
        None,
        Ending("invalid", "Unsupported protocol version"),
    ),
    (KNOWN, ProtocolError("slow", problem="rate_limited"), None, Ending("limited", "slow")),
    (KNOWN, ProtocolError("late", problem="timed_out"), None, Ending("timeout", "late")),
    (KNOWN, ProtocolError("no", problem="denied"), None, Ending("denied", "no")),
    (KNOWN, InternalError("m"), None, Ending("failed", "m")),
    (KNOWN, ValueError("hunter2"), FLAGGED, Ending("failed", "ValueError")),
    (KNOWN, TimeoutError(), FLAGGED, Ending("failed", "TimeoutError")),
    (KNOWN, asyncio.CancelledError(), FLAGGED, Ending("failed", "CancelledError")),
    (KNOWN, None, ProtocolError("no", problem="denied"), Ending("denied", "no")),
]


@pytest.mark.parametrize(("of", "error", "answer", "expected"), CASES)
def test_every_end_has_its_outcome(
    of: Any, error: BaseException | None, answer: Any, expected: Ending
) -> None:
    """A masked exception is named by its type only; its text is in the traceback."""
    assert ending(of, error, answer) == expected


def test_a_client_that_goes_away_cancels() -> None:
    """Whatever the function then did."""
    assert ending(KNOWN, asyncio.CancelledError(), None, cancelled=True).outcome == "cancelled"
    assert ending(KNOWN, None, EmptyResult(), cancelled=True).outcome == "cancelled"


def test_the_reference_is_that_of_the_answer() -> None:
    """In both forms of a refusal."""
    problem = Problem(code="failed", message="m", reference="7f3a9c12")
    assert reference_of(InternalError("m", problem=problem)) == "7f3a9c12"
    assert (
        reference_of(CallToolResult(content=(), meta={PROBLEM_KEY: {"reference": "7f3a9c12"}})) == "7f3a9c12"
    )
    for answer in (
        None,
        EmptyResult(),
        InternalError("m"),
        CallToolResult(content=(), meta={PROBLEM_KEY: "x"}),
    ):
        assert reference_of(answer) == ""


def test_every_code_leads_to_an_outcome() -> None:
    """The table holds no other words."""
    assert set(CODES.values()) <= set(OUTCOMES)
