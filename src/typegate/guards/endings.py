"""How a call ended: an answer or an exception → the outcome that its record has.

The law of the file: pure, and a table where there is one. A protocol error is judged by its problem's code;
a `Rejected` is the author's, whatever its code, so that a guard that refuses with one says what it was:
`record.add(outcome="limited")`, which goes before what is found here.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from typegate.errors import (
    InvalidArguments,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ProtocolError,
    Rejected,
    ToolError,
    UnsupportedProtocolVersion,
)
from typegate.guards.calls import Call
from typegate.guards.records import Outcome
from typegate.types import PROBLEM_KEY, CallToolResult, Result

__all__ = ["CODES", "Ending", "ending", "reference_of"]

CODES: Final[dict[str, Outcome]] = {
    "denied": "denied",
    "forbidden": "denied",
    "missing_scope": "denied",
    "not_approved": "denied",
    "rate_limited": "limited",
    "busy": "limited",
    "too_large": "limited",
    "timed_out": "timeout",
    "unknown_tool": "unknown",
    "unknown_prompt": "unknown",
    "unknown_resource": "unknown",
    "unknown_method": "unknown",
    "parse_error": "unparseable",
    "invalid_request": "unparseable",
}
"""The code of a problem → what it means for the record; the codes of the guards' refusals stand here."""

NAMING: Final = frozenset(
    ("tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete")
)

_KINDS: Final[Sequence[tuple[type[BaseException], Outcome]]] = (
    (InvalidArguments, "invalid"),
    (ToolError, "tool_error"),
    (ParseError, "unparseable"),
    (InvalidRequest, "unparseable"),
    (MethodNotFound, "unknown"),
    (UnsupportedProtocolVersion, "invalid"),
)


class Ending(NamedTuple):
    """What a record says of the end of its call."""

    outcome: Outcome
    reason: str = ""
    reference: str = ""


def ending(
    call: Call, error: BaseException | None, answer: Result | ProtocolError | None, cancelled: bool = False
) -> Ending:
    """How a call ended.

    Args:
        call: it.
        error: what it raised, if it did.
        answer: what the client is told; `None`: nothing.
        cancelled: the client did not wait for it; a `CancelledError` that a tool made itself is a failure.
    """
    reference = reference_of(answer)
    if cancelled:
        return Ending("cancelled", "the client did not wait", reference)
    if error is None:
        if isinstance(answer, ProtocolError):
            return ending(call, answer, answer)
        failed = isinstance(answer, CallToolResult) and answer.is_error
        return Ending("tool_error" if failed else "ok", "", reference)
    if isinstance(error, asyncio.CancelledError):
        return Ending("failed", "CancelledError", reference)
    return Ending(_outcome(call, error), _reason(error), reference)


def _outcome(call: Call, error: BaseException) -> Outcome:
    if isinstance(error, ProtocolError) and error.problem.code in CODES:
        return CODES[error.problem.code]
    if isinstance(error, InvalidParams):
        return "unknown" if call.target is None and call.request.method in NAMING else "invalid"
    for kind, outcome in _KINDS:
        if isinstance(error, kind):
            return outcome
    return "failed"


def _reason(error: BaseException) -> str:
    if isinstance(error, Rejected):
        return f"{error.code}: {error.message}"
    if isinstance(error, InvalidArguments | ToolError | ProtocolError):
        return str(error)
    return type(error).__name__


def reference_of(answer: Result | ProtocolError | None) -> str:
    """The reference number in what the client is told, or nothing."""
    if isinstance(answer, ProtocolError):
        return answer.problem.reference if isinstance(answer.problem.reference, str) else ""
    problem = (answer.meta or {}).get(PROBLEM_KEY) if answer is not None else None
    found = problem.get("reference") if isinstance(problem, Mapping) else None
    return found if isinstance(found, str) else ""
