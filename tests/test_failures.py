"""What `typegate.server.failures` promises: the author's words go out as they are, all else is masked."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from typegate import Gate, MCPServer, Rejected, RequestFailed, ToolError
from typegate.errors import InternalError, InvalidParams, ProtocolError
from typegate.transports.memory import CallResult, Client
from typegate.types import Issue
from typegate.versions import VERSIONS

SECRET = "postgres://u:hunter2@db"
PROBLEM = "dev.typegate/problem"
PATIENCE = 5.0  # seconds until a call that is never answered is given up

every_revision = pytest.mark.parametrize("revision", VERSIONS)
either_era = pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])


class Panic(BaseException):
    """What a Rust extension raises when it panics: no `Exception` at all."""


REJECTED = Rejected("BAD_RANGE", "too far", hint="go nearer", issues=[Issue(code="range", message="m")])

RAISED: dict[str, BaseException] = {
    "words": ToolError("the model reads this: é"),
    "rule": REJECTED,
    "rule unflagged": Rejected("BAD_RANGE", "too far", as_error=False),
    "crash": RuntimeError(SECRET),
    "key": KeyError(SECRET),
    "exit": SystemExit(SECRET),
    "panic": Panic(SECRET),
    "cancelled": asyncio.CancelledError(SECRET),
    "stop": StopIteration(SECRET),
    "group": ExceptionGroup(SECRET, [ValueError(SECRET)]),
    "protocol": InvalidParams("as it is", {"a": 1}),
}

server = MCPServer("t")


@server.tool
async def fail(how: str) -> None:
    """Fail on the event loop."""
    raise RAISED[how]


@server.tool
def fail_plainly(how: str) -> None:
    """Fail on a worker thread."""
    raise RAISED[how]


@server.tool(inline=True)
def fail_inline(how: str) -> None:
    """Fail on the event loop, in a plain function."""
    raise RAISED[how]


@server.tool
async def fail_typed(how: str) -> dict[str, int]:
    """Fail in spite of an output schema."""
    raise RAISED[how]


@server.tool
def fail_to_answer() -> dict[str, Any]:
    """Return what is no JSON."""
    return {"a": [float("nan")]}


@server.tool(gate=Gate(failure="protocol_error"))
def strict(x: int) -> int:
    """Refuse bad arguments as a protocol error."""
    return x


@server.tool(gate=Gate(rejected_as_error=False))
async def gentle(how: str) -> None:
    """Refuse without the flag."""
    raise RAISED[how]


@server.resource("fail://{how}")
async def resource(how: str) -> str:
    """A resource that cannot be read."""
    raise RAISED[how]


@server.prompt
async def prompt(how: str) -> str:
    """A prompt that cannot be filled in."""
    raise RAISED[how]


@server.completion(prompt, "how")
def complete(value: str) -> list[str]:
    """Suggestions that cannot be made."""
    raise RAISED[value]


TOOLS = ("fail", "fail_plainly", "fail_inline", "fail_typed")


def talk(question: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """What a client finds out, without waiting for ever."""

    async def main() -> Any:
        async with server.client(**options) as client:
            return await asyncio.wait_for(question(client), PATIENCE)

    return asyncio.run(main())


def called(name: str, how: str, **options: Any) -> CallResult:
    """The result of a call that fails."""
    result: CallResult = talk(lambda client: client.call_tool(name, {"how": how}), **options)
    return result


REQUESTS: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "resource": lambda how: ("resources/read", {"uri": f"fail://{how}"}),
    "prompt": lambda how: ("prompts/get", {"name": "prompt", "arguments": {"how": how}}),
    "completion": lambda how: (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "prompt"}, "argument": {"name": "how", "value": how}},
    ),
}


def refused(kind: str, how: str, **options: Any) -> RequestFailed:
    """The error with which a request is answered."""

    async def ask(client: Client) -> RequestFailed:
        with pytest.raises(RequestFailed) as caught:
            await client.request(*REQUESTS[kind](how))
        return caught.value

    found: RequestFailed = talk(ask, **options)
    return found


# --- tools ---------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("name", TOOLS)
def test_the_words_of_the_author_reach_the_model(name: str, revision: str) -> None:
    """Verbatim, and flagged."""
    result = called(name, "words", protocol_version=revision)
    assert (result.text, result.is_error) == ("the model reads this: é", True)
    assert result.problem is not None
    assert (result.problem["code"], result.problem["message"]) == ("tool_failed", result.text)


@every_revision
@pytest.mark.parametrize("name", TOOLS)
def test_a_rule_that_was_broken_is_told_as_text_and_as_data(name: str, revision: str) -> None:
    """The hint is part of the text, and the program finds all of it."""
    result = called(name, "rule", protocol_version=revision)
    assert "too far" in result.text
    assert "go nearer" in result.text
    assert result.is_error
    assert result.problem == {
        "code": "BAD_RANGE",
        "message": "too far",
        "hint": "go nearer",
        "issues": [{"path": [], "code": "range", "message": "m", "expected": None}],
    }


@pytest.mark.parametrize(
    ("name", "how", "flagged"),
    [
        ("fail", "rule", True),
        ("fail", "rule unflagged", False),
        ("gentle", "rule", False),
        ("gentle", "words", True),
        ("gentle", "crash", True),
        ("fail_typed", "rule unflagged", True),
    ],
)
def test_who_decides_whether_a_refusal_is_an_error(name: str, how: str, flagged: bool) -> None:
    """The one who raises, else the gate; a result that owes a value cannot do without the flag."""
    assert called(name, how).is_error is flagged


@either_era
@pytest.mark.parametrize("how", ["crash", "key", "exit", "cancelled", "stop", "group"])
@pytest.mark.parametrize("name", ["fail", "fail_plainly", "fail_inline"])
def test_anything_else_is_masked(
    caplog: pytest.LogCaptureFixture, name: str, how: str, revision: str
) -> None:
    """The model reads the type and a reference number; the log has the rest under it."""
    result = called(name, how, protocol_version=revision)
    (reference,) = re.findall(r"\(reference ([0-9a-f]{8})\)", result.text)
    assert result.is_error
    assert SECRET not in str(result.raw)
    assert result.text.startswith(f"Tool '{name}' failed: ")
    assert result.problem is not None
    assert result.problem["reference"] == reference
    assert f"Tool '{name}' failed (reference {reference})" in caplog.text
    assert SECRET in caplog.text


@pytest.mark.parametrize("name", ["fail", "fail_plainly", "fail_inline"])
def test_what_is_no_Exception_is_masked_too(caplog: pytest.LogCaptureFixture, name: str) -> None:
    """A panic in an extension is a `BaseException`; the client must not wait for ever because of it."""
    assert called(name, "panic").text.startswith(f"Tool '{name}' failed: Panic (reference ")
    assert SECRET in caplog.text


def test_the_type_of_a_failure_is_named() -> None:
    """It is what helps the one who reports it."""
    assert called("fail", "crash").text.startswith("Tool 'fail' failed: RuntimeError (reference ")
    assert called("fail", "exit").text.startswith("Tool 'fail' failed: SystemExit (reference ")


def test_every_failure_has_a_number_of_its_own() -> None:
    """So that it finds one record and no other."""
    problems = [called("fail", "crash").problem or {} for _ in range(5)]
    assert len({problem["reference"] for problem in problems}) == 5


def test_a_result_that_cannot_be_sent_is_the_fault_of_the_tool(caplog: pytest.LogCaptureFixture) -> None:
    """The text names the place, and says that another call will not help."""
    result: CallResult = talk(lambda client: client.call_tool("fail_to_answer"))
    assert result.is_error
    assert result.problem is not None
    assert (result.problem["code"], "$.a[0]" in result.text) == ("invalid_result", True)
    assert "will not mend it" in result.text
    assert result.problem["reference"] in caplog.text


@every_revision
def test_bad_arguments_are_a_protocol_error_where_the_gate_says_so(revision: str) -> None:
    """With the same data in another place."""

    async def ask(client: Client) -> RequestFailed:
        with pytest.raises(RequestFailed) as caught:
            await client.call_tool("strict", {"x": "1"})
        return caught.value

    error = talk(ask, protocol_version=revision)
    assert error.code == -32602
    assert error.data[PROBLEM]["issues"][0]["path"] == ["x"]


def test_nothing_is_logged_of_what_was_refused(caplog: pytest.LogCaptureFixture) -> None:
    """Refusals are everyday life."""
    caplog.set_level(logging.DEBUG, "typegate")
    called("fail", "words")
    called("fail", "rule")
    talk(lambda client: client.call_tool("fail", {"x": 1}))
    assert [record for record in caplog.records if record.name == "typegate"] == []


# --- everything else -----------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("how", ["words", "rule"])
def test_the_words_of_the_author_are_a_protocol_error_elsewhere(how: str, kind: str, revision: str) -> None:
    """Invalid params, or a resource that is not there, with the code of the revision."""
    error = refused(kind, how, protocol_version=revision)
    absent = -32602 if revision == "2026-07-28" else -32002
    assert error.code == (absent if kind == "resource" else -32602)
    assert error.message in ("the model reads this: é", "too far")
    assert error.data[PROBLEM]["message"] == error.message
    assert error.data.get("uri") == (f"fail://{how}" if kind == "resource" else None)


@either_era
@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("how", ["crash", "exit"])
def test_any_other_failure_is_an_internal_error(
    caplog: pytest.LogCaptureFixture, how: str, kind: str, revision: str
) -> None:
    """Masked, with a reference to the log."""
    error = refused(kind, how, protocol_version=revision)
    assert error.code == -32603
    assert SECRET not in error.message + str(error.data)
    assert error.data[PROBLEM]["reference"] in error.message
    assert error.data[PROBLEM]["reference"] in caplog.text
    assert SECRET in caplog.text


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_protocol_error_goes_out_as_it_is(kind: str) -> None:
    """Whoever raises it means it."""
    error = refused(kind, "protocol")
    assert (error.code, error.message, error.data["a"]) == (-32602, "as it is", 1)
    assert error.data[PROBLEM]["code"] == "invalid_params"


@pytest.mark.parametrize("error", [InvalidParams("m"), InternalError("m", {"a": 1})])
def test_a_tool_may_raise_one_too(error: ProtocolError) -> None:
    """It is no tool result then."""
    other = MCPServer("o")

    @other.tool
    async def tool() -> None:
        raise error

    async def main() -> RequestFailed:
        async with other.client() as client:
            with pytest.raises(RequestFailed) as caught:
                await client.call_tool("tool")
        return caught.value

    found = asyncio.run(main())
    assert (found.code, found.message) == (error.code, "m")
    problem = {"code": error.problem_code, "message": "m", "hint": None, "issues": []}
    assert found.data == {PROBLEM: problem, **(error.data or {})}
