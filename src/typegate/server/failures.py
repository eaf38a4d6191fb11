"""An exception → what the client is told: the one place where that is decided.

The law of the file: the author's own words (`ToolError`, `Rejected`) and the gate's go out as they are;
everything else is masked behind its type and a reference number, and the log has the rest.
"""

import logging
import secrets
from typing import Final

from msgspec import UNSET

from typegate.contract.problems import invalid_arguments, problem_text, rendered
from typegate.errors import (
    InternalError,
    InvalidArguments,
    InvalidParams,
    InvalidResult,
    ProtocolError,
    Refused,
    Rejected,
    ResourceNotFound,
    ToolError,
)
from typegate.guards.calls import Call
from typegate.server.components import ToolPlan
from typegate.types import PROBLEM_KEY, CallToolResult, Problem, Result, TextContent

__all__ = ["failure", "refusal"]

log: Final = logging.getLogger("typegate")

_KINDS: Final = {
    "tools/call": "Tool",
    "resources/read": "Resource",
    "prompts/get": "Prompt",
    "completion/complete": "Completion",
}


def failure(call: Call, error: BaseException) -> Result | ProtocolError:
    """What answers a call that ended with *error*."""
    plan = call.target if isinstance(call.target, ToolPlan) else None
    if isinstance(error, ProtocolError):
        return error if plan is None or not isinstance(error, Refused) else refusal(error.problem, plan)
    problem = _problem(call, error)
    if plan is None:
        return _protocol_error(call, error, problem)
    if isinstance(error, InvalidArguments) and plan.gate.failure == "protocol_error":
        data = {PROBLEM_KEY: rendered(problem, plan.problem_format)}
        return InvalidParams(problem.message, data, problem=problem)
    flagged = True
    if isinstance(error, Rejected):
        flagged = bool(plan.gate.rejected_as_error) if error.as_error is None else error.as_error
    return refusal(problem, plan, flagged)


def refusal(problem: Problem, plan: ToolPlan, flagged: bool = True) -> CallToolResult:
    """A refusal as a tool result: text for the model, the same as data for a program (D2).

    The data is in `_meta` always, and in the structured content where the tool publishes no output
    schema or one that admits it. Where there is no room for it, the refusal is flagged.
    """
    data = rendered(problem, plan.problem_format)
    structured = plan.results.refusal(data)
    return CallToolResult(
        content=(TextContent(problem_text(problem)),),
        structured=structured,
        wraps=plan.results.wraps,
        is_error=flagged or structured is None,
        meta={PROBLEM_KEY: data},
    )


def _problem(call: Call, error: BaseException) -> Problem:
    name = _subject(call)
    if isinstance(error, InvalidArguments):
        return invalid_arguments(name, error.issues)
    if isinstance(error, Rejected):
        return Problem(
            code=error.code,
            message=error.message,
            hint=error.hint,
            issues=error.issues,
            retry_after=UNSET if error.retry_after is None else error.retry_after,
        )
    if isinstance(error, ToolError):
        return Problem(code="tool_failed", message=str(error))
    kind = _KINDS.get(call.request.method, "Method")
    reference = secrets.token_hex(4)
    if isinstance(error, InvalidResult):
        log.error("%s '%s' %s (reference %s)", kind, name, error, reference)
        return Problem(
            code="invalid_result",
            message=f"{kind} '{name}' {error} (reference {reference})",
            hint="This is a fault of the tool; another call with the same arguments will not mend it.",
            reference=reference,
        )
    log.error("%s '%s' failed (reference %s)", kind, name, reference, exc_info=error)
    return Problem(
        code="tool_failed" if kind == "Tool" else "failed",
        message=f"{kind} '{name}' failed: {type(error).__name__} (reference {reference})",
        reference=reference,
    )


def _subject(call: Call) -> str:
    """The name of the component that was called; a name of nothing is not repeated."""
    return str(call.target.key) if call.target is not None else call.request.method


def _protocol_error(call: Call, error: BaseException, problem: Problem) -> ProtocolError:
    if isinstance(error, ToolError) and call.request.method == "resources/read":
        return ResourceNotFound(problem.message, {"uri": call.request.params.get("uri")}, problem=problem)
    kind = InvalidParams if isinstance(error, InvalidArguments | ToolError) else InternalError
    return kind(problem.message, problem=problem)
