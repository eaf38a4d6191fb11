"""What `typegate.errors` promises: one tree, the facts of the protocol on each, and no value of a client."""

import inspect
import pickle
import re
from typing import Any

import pytest

from typegate import errors
from typegate.errors import (
    InternalError,
    InvalidArguments,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ProtocolError,
    Rejected,
    RequestFailed,
    ResourceNotFound,
    ToolError,
    TypegateError,
    UnsupportedProtocolVersion,
    reject,
)
from typegate.types import Issue

BROKEN = Issue(path=("a", 1), code="type", message="'a[1]' must be integer")
MISSING = Issue(path=("b",), code="missing", message="'b' is missing")

CODES = [  # class, JSON-RPC code, HTTP status
    (ProtocolError, -32603, 200),
    (ParseError, -32700, 400),
    (InvalidRequest, -32600, 400),
    (MethodNotFound, -32601, 404),
    (InvalidParams, -32602, 400),
    (ResourceNotFound, -32602, 400),
    (InternalError, -32603, 200),
    (errors.AuditFailed, -32603, 200),
    (UnsupportedProtocolVersion, -32022, 400),
    (errors.Denied, -31403, 403),
    (errors.NotApproved, -31403, 403),
    (errors.TooLarge, -31413, 413),
    (errors.RateLimited, -31429, 429),
    (errors.Busy, -31503, 503),
    (errors.TimedOut, -31504, 504),
]

EVERY = [
    *(kind("words") for kind in (errors.TypegateError, errors.ConfigurationError, errors.RegistrationError)),
    *(kind("words") for kind in (ToolError, errors.InvalidResult, ProtocolError, MethodNotFound)),
    *(kind("words", {"a": 1}) for kind in (ParseError, InvalidParams, ResourceNotFound, InternalError)),
    Rejected("NO", "words", "a hint", [BROKEN], as_error=False, retry_after=2.5),
    InvalidArguments([BROKEN, MISSING]),
    RequestFailed(-32602, "words", {"a": 1}),
    InvalidRequest("words", request_id="7"),
    UnsupportedProtocolVersion("1900-01-01", ["2026-07-28"]),
    errors.AuditFailed(),
    *(kind("words", "a hint", 2.5) for kind in (errors.Refused, errors.Denied, errors.NotApproved)),
    *(kind("words", "a hint", 2.5) for kind in (errors.TooLarge, errors.RateLimited)),
    *(kind("words", "a hint", 2.5) for kind in (errors.Busy, errors.TimedOut)),
]


def classes() -> dict[str, type[Exception]]:
    """Every exception of the module."""
    found = vars(errors).items()
    return {name: each for name, each in found if inspect.isclass(each) and issubclass(each, Exception)}


def drawn() -> dict[str, str]:
    """Name -> the name above it, read off the tree at the head of the module."""
    above: dict[int, str] = {}
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        if (match := re.match(r"([ │├└─]+)(\w+)(?:  |$)", line)) is None:
            continue
        depth, name = len(match[1]), match[2]
        found[name] = next((above[each] for each in sorted(above, reverse=True) if each < depth), "Exception")
        above = {each: other for each, other in above.items() if each < depth} | {depth: name}
    return found


# --- the tree ------------------------------------------------------------------------------------


def test_the_tree_is_the_one_that_is_drawn() -> None:
    """Each exception has its place under the one that the head of the module shows above it."""
    assert {name: each.__base__.__name__ for name, each in classes().items() if each.__base__} == drawn()


def test_everything_is_exported() -> None:
    """The module offers its exceptions and `reject`."""
    assert sorted(errors.__all__) == sorted([*classes(), "reject"])


@pytest.mark.parametrize(("kind", "code", "status"), CODES)
def test_a_protocol_error_knows_its_code_and_status(kind: Any, code: int, status: int) -> None:
    """They belong to the class."""
    assert (kind.code, kind.http_status) == (code, status)


def test_the_tree_names_the_codes() -> None:
    """What the head of the module says of a code is so."""
    rows = re.findall(r"─ (\w+) +(-\d+) +(\d+)$", errors.__doc__ or "", re.MULTILINE)
    assert len(rows) == 13
    assert [row for row in rows if (classes()[row[0]], int(row[1]), int(row[2])) not in CODES] == []


def test_an_unknown_resource_had_a_code_of_its_own() -> None:
    """Older revisions want it."""
    assert ResourceNotFound.legacy_code == -32002


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_an_exception_survives_the_way_to_another_process(error: TypegateError) -> None:
    """One raised in a pool of processes arrives with all its facts, instead of breaking the pool."""
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


# --- what each holds -----------------------------------------------------------------------------


def test_a_tool_error_is_its_text() -> None:
    """And there is one where the author gave none."""
    assert str(ToolError("no order named 'X'")) == "no order named 'X'"
    assert str(ToolError()) == "the tool failed without a message"


def test_a_refusal_holds_what_it_was_given() -> None:
    """By position or by name; the issues become a tuple."""
    full = Rejected("NO", "message", "hint", [BROKEN], True)
    assert str(full) == full.message == "message"
    assert (full.code, full.hint, full.issues, full.as_error) == ("NO", "hint", (BROKEN,), True)
    short = Rejected(code="NO", message="message")
    assert (short.hint, short.issues, short.as_error) == (None, (), None)


@pytest.mark.parametrize("given", [{}, {"hint": "h"}, {"issues": [BROKEN]}, {"as_error": False}], ids=str)
def test_reject_raises_the_same(given: dict[str, Any]) -> None:
    """The function and the class take the same and mean the same."""
    with pytest.raises(Rejected) as caught:
        reject("NO", "message", **given)
    assert vars(caught.value) == vars(Rejected("NO", "message", **given))
    with pytest.raises(Rejected) as caught:
        reject("NO", "message", "h", [BROKEN], False)
    assert vars(caught.value) == vars(Rejected("NO", "message", "h", [BROKEN], False))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"issues": ["foo"]},
            r"^Rejected\(issues=\) takes a list of Issue\(\.\.\.\), such as \[Issue\(path=",
        ),
        ({"issues": BROKEN}, r"^Rejected\(issues=\) takes a list of Issue"),
        ({"issues": None}, r"^Rejected\(issues=\) takes a list of Issue"),
        ({"code": 5}, r"^Rejected takes texts: Rejected\('INVALID_RANGE', "),
        ({"message": ValueError("x")}, "^Rejected takes texts"),
        ({"hint": ["x"]}, "^Rejected takes texts"),
    ],
)
def test_a_refusal_that_could_not_be_sent_fails_at_once(given: dict[str, Any], said: str) -> None:
    """Where it is made, with how it is made; not when it is on its way."""
    for refuse in (Rejected, reject):
        with pytest.raises(TypeError, match=said):
            refuse(**{"code": "NO", "message": "message", **given})


def test_refused_arguments_say_all_that_is_wrong() -> None:
    """In words and as issues, in the same order."""
    error = InvalidArguments([BROKEN, MISSING])
    assert error.issues == (BROKEN, MISSING)
    assert str(error) == "'a[1]' must be integer; 'b' is missing"


def test_a_failed_request_names_the_code() -> None:
    """The message, code and data of the answer are there."""
    error = RequestFailed(-32602, "Unknown tool: x", {"a": 1})
    assert str(error) == "Unknown tool: x (-32602)"
    assert (error.code, error.message, error.data) == (-32602, "Unknown tool: x", {"a": 1})
    assert RequestFailed(1, "m").data is None


@pytest.mark.parametrize("kind", [ParseError, MethodNotFound, InvalidParams, ResourceNotFound, InternalError])
def test_a_protocol_error_may_carry_data(kind: type[ProtocolError]) -> None:
    """Beside its message, and none where none was given."""
    error = kind("words", {"uri": "a://b"})
    assert (str(error), error.message, error.data) == ("words", "words", {"uri": "a://b"})
    assert kind("words").data is None


@pytest.mark.parametrize("id_", [None, 0, 7, "", "7"])
def test_an_invalid_request_knows_its_id(id_: int | str | None) -> None:
    """As far as that could be read."""
    error = InvalidRequest("words", request_id=id_)
    assert (error.message, error.data, error.request_id) == ("words", None, id_)
    assert InvalidRequest("words").request_id is None


def test_an_unsupported_revision_is_answered_with_those_that_are() -> None:
    """The data is what the specification asks for: the ones that are served, and the one asked for."""
    error = UnsupportedProtocolVersion(5, ("2026-07-28",))
    assert error.message == "Unsupported protocol version"
    assert error.data == {"supported": ["2026-07-28"], "requested": 5}
