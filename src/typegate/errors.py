"""The exception tree: each knows its JSON-RPC code and HTTP status.

    TypegateError
    ├── ConfigurationError            the author's set-up cannot work; raised before anything is served
    │   └── RegistrationError         a tool, resource or prompt cannot be registered
    ├── ToolError                     a text the author wants the model to read, verbatim
    │   └── Rejected                  the same with a code, a hint and issues
    ├── InvalidArguments              the gate refuses the arguments of a call
    ├── InvalidResult                 what a function returned cannot be sent
    ├── RequestFailed                 the in-process client got an error for an answer
    └── ProtocolError                 a JSON-RPC error
        ├── ParseError                    -32700  400
        ├── InvalidRequest                -32600  400
        ├── MethodNotFound                -32601  404
        ├── InvalidParams                 -32602  400
        │   └── ResourceNotFound          -32602 or, up to 2025-11-25, -32002
        ├── InternalError                 -32603  200
        │   └── AuditFailed               -32603  200
        ├── UnsupportedProtocolVersion    -32022  400
        └── Refused                       a guard refuses; a tool call is answered with a result instead
            ├── Denied                        -31403  403
            ├── NotApproved                   -31403  403
            ├── TooLarge                      -31413  413
            ├── RateLimited                   -31429  429
            ├── Busy                          -31503  503
            └── TimedOut                      -31504  504

The law of the file: the text of an exception holds facts, never a value that a client sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from msgspec import UNSET

from typegate.types import Issue, Json, Problem

__all__ = [
    "AuditFailed",
    "Busy",
    "ConfigurationError",
    "Denied",
    "InternalError",
    "InvalidArguments",
    "InvalidParams",
    "InvalidRequest",
    "InvalidResult",
    "MethodNotFound",
    "NotApproved",
    "ParseError",
    "ProtocolError",
    "RateLimited",
    "Refused",
    "RegistrationError",
    "Rejected",
    "RequestFailed",
    "ResourceNotFound",
    "TimedOut",
    "TooLarge",
    "ToolError",
    "TypegateError",
    "UnsupportedProtocolVersion",
    "reject",
]


class TypegateError(Exception):
    """The base of everything that typegate raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its facts, whatever its constructor takes: tools raise in pools of processes too."""
        return _restored, (type(self), self.args), vars(self)


def _restored(kind: type[TypegateError], args: tuple[Any, ...]) -> TypegateError:
    return kind.__new__(kind, *args)


class ConfigurationError(TypegateError):
    """The server as written cannot work; the text says what to change."""


class RegistrationError(ConfigurationError):
    """A component cannot be registered; the text names it and says what to change."""


class ToolError(TypegateError):
    """Raise it in a tool to tell the model something: the text arrives verbatim, flagged `isError`.

    Any other exception is masked: the model reads its type and a reference number, the log has the rest.
    """

    def __init__(self, message: str = "the tool failed without a message") -> None:
        super().__init__(message)


class Rejected(ToolError):
    """A rule that no schema can hold was broken; the call ends with this refusal.

    Args:
        code: a stable name of your own, such as `INVALID_RANGE`.
        message: what is wrong, for the model.
        hint: what to send instead.
        issues: the same, argument by argument.
        as_error: whether the result is flagged `isError`; `None`: as the gate says.
        retry_after: seconds after which the same call may succeed.

    Raises:
        TypeError: an argument is of another type.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        issues: Sequence[Issue] = (),
        as_error: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        if not (isinstance(code, str) and isinstance(message, str) and isinstance(hint, str | None)):
            raise TypeError(
                "Rejected takes texts: Rejected('INVALID_RANGE', 'what is wrong', hint='what to do')"
            )
        if not (isinstance(issues, list | tuple) and all(isinstance(each, Issue) for each in issues)):
            raise TypeError(
                "Rejected(issues=) takes a list of Issue(...), such as "
                "[Issue(path=('amount',), code='range', message=\"'amount' must be positive\")]"
            )
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.issues = tuple(issues)
        self.as_error = as_error
        self.retry_after = retry_after


def reject(
    code: str,
    message: str,
    hint: str | None = None,
    issues: Sequence[Issue] = (),
    as_error: bool | None = None,
    retry_after: float | None = None,
) -> NoReturn:
    """Refuse the call from inside a function: raises `Rejected`, and type checkers know it."""
    raise Rejected(code, message, hint, issues, as_error, retry_after)


class InvalidArguments(TypegateError):
    """The arguments of a call were refused before the function ran.

    Args:
        issues: all of what is wrong.
        repaired: the places that held JSON as text and were read as if they did not.
        tool: the name of the tool, where a hook is asked (`Gate(on_invalid=...)`).
        arguments: what the client sent, likewise; it stands in no text.
    """

    def __init__(
        self,
        issues: Sequence[Issue],
        repaired: Sequence[tuple[str | int, ...]] = (),
        tool: str = "",
        arguments: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues = tuple(issues)
        self.repaired = tuple(repaired)
        self.tool = tool
        self.arguments = arguments or {}


class InvalidResult(TypegateError):
    """A function returned what cannot be sent; the text names the place and holds no value."""


class RequestFailed(TypegateError):
    """What the in-process client raises when a request is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class ProtocolError(TypegateError):
    """A JSON-RPC error: `code`, a message for the one who reads it, and optional `data`.

    Args:
        message: what is wrong.
        data: for a program.
        problem: the same as a refusal: its stable code, or all of it; by default that of the class.
        hint: what to do instead.
    """

    code = -32603
    http_status = 200
    problem_code = "failed"

    def __init__(
        self,
        message: str,
        data: Mapping[str, Json] | None = None,
        problem: Problem | str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
        if isinstance(problem, Problem):
            self.problem = problem
        else:
            self.problem = Problem(code=problem or self.problem_code, message=message, hint=hint)


class ParseError(ProtocolError):
    """The bytes are not JSON."""

    code = -32700
    http_status = 400
    problem_code = "parse_error"


class InvalidRequest(ProtocolError):
    """JSON, but no JSON-RPC message; `request_id` is that of the request where it could be read."""

    code = -32600
    http_status = 400
    problem_code = "invalid_request"

    def __init__(self, message: str, request_id: int | str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id


class MethodNotFound(ProtocolError):
    """The method does not exist in this revision, or its capability was not advertised."""

    code = -32601
    http_status = 404
    problem_code = "unknown_method"


class InvalidParams(ProtocolError):
    """The params do not fit the method; an unknown tool or prompt; a bad cursor."""

    code = -32602
    http_status = 400
    problem_code = "invalid_params"


class ResourceNotFound(InvalidParams):
    """No resource has this URI; the code depends on the revision."""

    legacy_code = -32002
    problem_code = "unknown_resource"


class InternalError(ProtocolError):
    """The server failed; what failed is in its log, never in the answer."""

    code = -32603


class AuditFailed(InternalError):
    """A call that must not be made, or not be answered, without a record could not be recorded."""

    problem_code = "not_recorded"

    def __init__(self, message: str = "The call cannot be recorded") -> None:
        super().__init__(message, hint="The server's operator must see to its audit log first.")


class UnsupportedProtocolVersion(ProtocolError):
    """A request names a revision that is not served statelessly."""

    code = -32022
    http_status = 400
    problem_code = "unsupported_protocol_version"

    def __init__(self, requested: Any, supported: Sequence[str]) -> None:
        super().__init__(
            "Unsupported protocol version",
            {"supported": list(supported), "requested": requested},
            hint=f"Call again with one of {', '.join(supported)}.",
        )


# --- what guards refuse: codes of our own, outside of what JSON-RPC reserves ----------------------


class Refused(ProtocolError):
    """A guard refuses a call: a result flagged `isError` for a tool, an error for every other method.

    Args:
        message: what is wrong.
        hint: what to do instead.
        retry_after: seconds after which the same call may succeed.
    """

    def __init__(self, message: str, hint: str | None = None, retry_after: float | None = None) -> None:
        wait = UNSET if retry_after is None else retry_after
        problem = Problem(code=self.problem_code, message=message, hint=hint, retry_after=wait)
        super().__init__(message, problem=problem)


class Denied(Refused):
    """The policy does not let this caller do this with these arguments."""

    code = -31403
    http_status = 403
    problem_code = "denied"


class NotApproved(Refused):
    """Whoever had to approve the call did not."""

    code = -31403
    http_status = 403
    problem_code = "not_approved"


class TooLarge(Refused):
    """The arguments or the result have more bytes than they may have."""

    code = -31413
    http_status = 413
    problem_code = "too_large"


class RateLimited(Refused):
    """The caller has called too often."""

    code = -31429
    http_status = 429
    problem_code = "rate_limited"


class Busy(Refused):
    """As much is under way as may be, and as much waits."""

    code = -31503
    http_status = 503
    problem_code = "busy"


class TimedOut(Refused):
    """The function took longer than it may."""

    code = -31504
    http_status = 504
    problem_code = "timed_out"
