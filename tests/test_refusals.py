"""The requirements on refusals (A9, B3, B4, B8, C10, D1 to D4), clause by clause, through the public API."""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from typegate import (
    Gate,
    InvalidArguments,
    Issue,
    MCPServer,
    Problem,
    RegistrationError,
    Rejected,
    RequestFailed,
    Text,
    ToolError,
    ToolResult,
    reject,
)
from typegate.transports.memory import CallResult
from typegate.versions import VERSIONS

PROBLEM = "dev.typegate/problem"
REPAIRED = "dev.typegate/repaired"
REVISIONS = tuple(VERSIONS)
Json = Any

every_revision = pytest.mark.parametrize("revision", REVISIONS)


def call(server: MCPServer, name: str, arguments: Json = None, revision: str = REVISIONS[-1]) -> CallResult:
    """What a call is answered with."""

    async def main() -> CallResult:
        async with server.client(revision) as client:
            return await client.call_tool(name, arguments or {})

    return asyncio.run(main())


def refused(server: MCPServer, method: str, params: Json, revision: str = REVISIONS[-1]) -> RequestFailed:
    """The JSON-RPC error of a request."""

    async def main() -> RequestFailed:
        async with server.client(revision) as client:
            with pytest.raises(RequestFailed) as caught:
                await client.request(method, params)
            return caught.value

    return asyncio.run(main())


def listed(server: MCPServer, revision: str = REVISIONS[-1]) -> dict[str, Json]:
    """The entries of the list of tools, by name."""

    async def main() -> dict[str, Json]:
        async with server.client(revision) as client:
            return {tool["name"]: tool for tool in (await client.request("tools/list"))["tools"]}

    return asyncio.run(main())


# --- A9: schemas of an author's own --------------------------------------------------------------

OUTSIDE = [
    "https://example.com/schema.json",
    "http://127.0.0.1:9/schema.json",
    "file:///etc/hostname",
    "other.json#/$defs/A",
    "urn:example:schema",
]


@pytest.mark.parametrize("reference", OUTSIDE)
@pytest.mark.parametrize("option", ["schema", "output_schema"])
def test_A9_nothing_outside_the_document_is_referred_to(option: str, reference: str) -> None:
    """Such a schema is refused when it is registered: no network, no file."""
    server = MCPServer("own")
    schema = {"type": "object", "properties": {"a": {"$ref": reference}}}
    with pytest.raises(RegistrationError, match=f"{option}= of 'find'"):
        server.add_tool("find", lambda **given: given, **{option: schema})


@pytest.mark.parametrize("option", ["schema", "output_schema"])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "description": "x" * 1_100_000},
        {"type": "object", "properties": {f"p{number}": {} for number in range(10_001)}},
        {"type": "object", "not": json.loads('{"not":' * 200 + "{}" + "}" * 200)},
        {"type": "object", "properties": {"a": {"type": "no such type"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "$schema": "https://example.com/dialect"},
    ],
    ids=["bytes", "subschemas", "levels", "type", "pattern", "dialect"],
)
def test_A9_a_schema_that_cannot_be_served_is_refused(option: str, schema: Json) -> None:
    """By its size, its depth, or because it is none."""
    with pytest.raises(RegistrationError, match=f"{option}= of 'find'"):
        MCPServer("own").add_tool("find", lambda **given: given, **{option: schema})


DIALECTS: list[tuple[str, Json, Json]] = [  # $schema, a schema in that dialect, what it refuses
    ("http://json-schema.org/draft-04/schema#", {"maximum": 5, "exclusiveMaximum": True}, 5),
    ("http://json-schema.org/draft-06/schema#", {"const": 4}, 5),
    ("http://json-schema.org/draft-07/schema#", {"if": {"minimum": 5}, "then": {"multipleOf": 2}}, 5),
    ("http://json-schema.org/draft-07/schema#", {"items": [{"type": "string"}]}, [5]),
    ("https://json-schema.org/draft/2019-09/schema", {"items": [{}], "unevaluatedItems": False}, [1, 2]),
    ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "string"}]}, [5]),
]


@pytest.mark.parametrize(("dialect", "schema", "wrong"), DIALECTS)
def test_A9_a_schema_may_be_written_in_another_dialect(dialect: str, schema: Json, wrong: Json) -> None:
    """It is published as given, and judged by the rules of its dialect."""
    server = MCPServer("own")
    whole = {"$schema": dialect, "type": "object", "properties": {"a": schema}}
    server.add_tool("find", lambda **given: "found", schema=whole)
    assert listed(server)["find"]["inputSchema"] == whole
    result = call(server, "find", {"a": wrong})
    assert result.is_error
    assert result.problem is not None
    assert result.problem["issues"][0]["path"][0] == "a"


ONE_OF = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["card", "iban"]},
        "number": {"$ref": "#/$defs/Number"},
        "amount": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.01},
    },
    "required": ["kind", "number"],
    "oneOf": [
        {"properties": {"kind": {"const": "card"}, "number": {"pattern": "^[0-9]{16}$"}}},
        {"properties": {"kind": {"const": "iban"}, "number": {"pattern": "^[A-Z]{2}[0-9]{2}"}}},
    ],
    "$defs": {"Number": {"type": "string", "maxLength": 34}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"kind": "card", "number": "1" * 16}, set()),
        ({"kind": "iban", "number": "DE89370400440532013000", "amount": 1.25}, set()),
        ({"kind": "card", "number": "12"}, {("number",)}),
        ({"kind": "cash", "number": "12"}, {("kind",)}),
        ({"kind": "iban", "number": "DE89", "amount": 0, "not": 1}, {("amount",), ("not",)}),
        ({"number": "1" * 40}, {("kind",), ("number",)}),
    ],
)
def test_A9_every_keyword_is_judged_and_every_issue_told(arguments: Json, found: set[Any]) -> None:
    """Branches, references, patterns and bounds together, in the one shape."""
    server = MCPServer("own")
    server.add_tool("pay", lambda **given: "paid", schema=ONE_OF)
    result = call(server, "pay", arguments)
    assert result.is_error is bool(found)
    issues = result.problem["issues"] if result.problem else []
    assert {tuple(issue["path"]) for issue in issues} >= found
    assert all(issue["message"].count("'") >= 2 for issue in issues)


# --- B3, B8: rules that no schema holds ----------------------------------------------------------


class Stay(BaseModel):
    """A stay in an hotel."""

    arrival: date
    departure: date
    guests: int = 1

    @field_validator("guests")
    @classmethod
    def check_guests(cls, value: int) -> int:
        if value == 13:
            raise ValueError("there is no room for thirteen")
        return value

    @model_validator(mode="after")
    def check_days(self) -> "Stay":
        if self.departure <= self.arrival:
            raise ValueError("the departure must lie after the arrival")
        return self


def hotel() -> MCPServer:
    """A server whose model has rules of its own."""
    server = MCPServer("hotel")

    @server.tool
    def book(stay: Stay, others: tuple[Stay, ...] = ()) -> str:
        return "booked"

    return server


GOOD = {"arrival": "2026-12-01", "departure": "2026-12-02"}
TURNED = {"arrival": "2026-12-02", "departure": "2026-12-01"}


@pytest.mark.parametrize(
    ("arguments", "path", "words"),
    [
        ({"stay": TURNED}, ["stay"], "'stay': the departure must lie after the arrival"),
        ({"stay": {**GOOD, "guests": 13}}, ["stay", "guests"], "there is no room for thirteen"),
        ({"stay": GOOD, "others": [GOOD, TURNED]}, ["others", 1], "'others[1]': the departure must lie"),
    ],
)
def test_B3_validators_of_a_model_report_under_the_right_path(
    arguments: Json, path: list[Any], words: str
) -> None:
    """With the author's message, before the function runs."""
    result = call(hotel(), "book", arguments)
    assert result.is_error
    assert result.problem is not None
    (issue,) = result.problem["issues"]
    assert (issue["path"], issue["code"]) == (path, "value")
    assert words in issue["message"]
    assert words in result.text


@pytest.mark.parametrize("as_error", [None, True, False])
@pytest.mark.parametrize("by_gate", [True, False])
def test_B3_the_raise_decides_before_the_gate(by_gate: bool, as_error: bool | None) -> None:
    """And its issues travel with it."""
    server = MCPServer("shop", gate=Gate(rejected_as_error=by_gate))
    issue = Issue(path=("to",), code="before", message="'to' lies before 'from'", expected="a later day")

    @server.tool
    def report(to: str) -> dict:  # type: ignore[type-arg]
        raise Rejected(
            "INVALID_RANGE", "the range is empty", hint="swap them", issues=[issue], as_error=as_error
        )

    result = call(server, "report", {"to": "x"})
    assert result.is_error is (by_gate if as_error is None else as_error)
    assert result.problem == {
        "code": "INVALID_RANGE",
        "message": "the range is empty",
        "hint": "swap them",
        "issues": [{"path": ["to"], "code": "before", "message": issue.message, "expected": "a later day"}],
    }


def test_B4_the_author_may_say_when_to_try_again() -> None:
    """In seconds; where nothing is said there is no such member."""
    server = MCPServer("shop")
    server.add_tool("wait", lambda: reject("BUSY", "come back later", retry_after=2.5))
    problem = call(server, "wait").problem
    assert problem is not None
    assert problem["retry_after"] == 2.5


def fail_with_reject() -> str:
    """Says so in one line."""
    reject("OUT_OF_STOCK", "there is none left", hint="try again tomorrow")


def fail_with_error() -> str:
    """Says so in one line."""
    raise ToolError("there is none left; try again tomorrow")


def fail_by_returning() -> dict:  # type: ignore[type-arg]
    """Says so without raising."""
    return {"ok": False, "error": {"code": "OUT_OF_STOCK", "message": "there is none left"}}


def break_the_schema() -> Annotated[int, Field(le=5)]:
    """Gives what the schema does not admit."""
    return 6


@pytest.mark.parametrize("function", [fail_with_reject, fail_with_error, fail_by_returning, break_the_schema])
def test_B8_a_failure_is_never_a_success(function: Callable[..., Any]) -> None:
    """However the function says that it cannot answer, the result is flagged."""
    server = MCPServer("shop")
    server.add_tool("buy", function)
    for revision in REVISIONS:
        assert call(server, "buy", revision=revision).raw["isError"] is True


# --- B4: one shape -------------------------------------------------------------------------------

WRONG: list[tuple[str, Json, str]] = [  # a method, its params; the code of the problem
    ("tools/call", {"name": "no_such"}, "unknown_tool"),
    ("tools/call", {"name": 5}, "invalid_params"),
    ("tools/call", {"name": "strict", "arguments": []}, "invalid_params"),
    ("tools/call", {"name": "strict", "arguments": {}}, "invalid_arguments"),
    ("prompts/get", {"name": "no_such"}, "unknown_prompt"),
    ("prompts/get", {"name": "greet"}, "invalid_arguments"),
    ("resources/read", {"uri": "no://such"}, "unknown_resource"),
    ("resources/read", {"uri": "data://broken"}, "failed"),
    ("tools/list", {"cursor": "x"}, "invalid_cursor"),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}}, "invalid_params"),
    ("no/such", {}, "unknown_method"),
]


def everything(form: Any = "typegate") -> MCPServer:
    """A server with one of each."""
    server = MCPServer("all", gate=Gate(problem_format=form))

    @server.tool(gate=Gate(failure="protocol_error"))
    def strict(count: int) -> int:
        return count

    @server.prompt
    def greet(name: str) -> str:
        return name

    @server.completion(greet, "name")
    def names(typed: str) -> list[str]:
        return []

    @server.resource("data://broken")
    def broken() -> str:
        raise OSError("secret")

    return server


@every_revision
@pytest.mark.parametrize(("method", "params", "code"), WRONG)
def test_B4_every_error_carries_its_problem(method: str, params: Json, code: str, revision: str) -> None:
    """The same object in the data of a JSON-RPC error, whoever refuses."""
    problem = refused(everything(), method, params, revision).data[PROBLEM]
    assert problem["code"] == code
    assert {"code", "message", "hint", "issues"} <= problem.keys()
    assert "secret" not in json.dumps(problem)


@pytest.mark.parametrize(
    ("name", "suggested"), [("find_ordr", "find_order"), ("Find_Order", "find_order"), ("hidden_toll", None)]
)
def test_B4_the_closest_name_that_the_caller_may_see_is_suggested(name: str, suggested: str | None) -> None:
    """A tool that is hidden from the caller is never given away."""
    server = MCPServer("shop")
    server.add_tool("find_order", lambda: "found")
    server.add_tool("hidden_tool", lambda: "found", scopes=["admin"])
    error = refused(server, "tools/call", {"name": name})
    assert ("did you mean" in error.message.lower()) is (suggested is not None)
    assert suggested is None or f"'{suggested}'" in error.message
    assert "hidden_tool" not in json.dumps(error.data)


# --- C10: JSON that arrives as text --------------------------------------------------------------


def basket(**settings: Any) -> tuple[MCPServer, list[Any]]:
    """A server that takes lists and numbers, and what its function received."""
    server, received = MCPServer("shop", gate=Gate(**settings)), []

    @server.tool
    def order(skus: list[str], amounts: dict[str, int] | None = None, note: str = "", rush: int = 1) -> str:
        received.append((skus, amounts, note, rush))
        return "ordered"

    return server, received


@every_revision
def test_C10_json_text_is_read_where_no_string_is_admitted(revision: str) -> None:
    """And the result says where; a string that is admitted is not touched."""
    server, received = basket()
    sent = {"skus": '["a"]', "amounts": '{"a": 2}', "note": '["a"]'}
    result = call(server, "order", sent, revision)
    assert (result.is_error, received) == (False, [(["a"], {"a": 2}, '["a"]', 1)])
    assert result.raw["_meta"][REPAIRED] == [["skus"], ["amounts"]]


def test_C10_what_was_right_as_it_came_is_not_looked_at() -> None:
    """No word of repairs then."""
    server, received = basket()
    result = call(server, "order", {"skus": ["[1]", "{}"]})
    assert received[0][0] == ["[1]", "{}"]
    assert REPAIRED not in result.raw.get("_meta", {})


@pytest.mark.parametrize(
    ("mode", "sent", "taken"),
    [
        ("containers", {"skus": "[]"}, True),
        ("containers", {"skus": [], "rush": "2"}, False),
        ("all", {"skus": "[]", "rush": "2"}, True),
        ("all", {"skus": "[]", "rush": "two"}, False),
        ("none", {"skus": "[]"}, False),
        ("none", {"skus": [], "rush": 2.0}, True),
    ],
)
def test_C10_one_setting_decides(mode: str, sent: Json, taken: bool) -> None:
    """`3.0` for 3 is no repair and always taken."""
    server, received = basket(repair=mode)
    assert call(server, "order", sent).is_error is not taken
    assert len(received) == taken


@pytest.mark.parametrize(
    ("nulls", "sent", "taken"),
    [
        ("refuse", {"skus": [], "rush": None}, False),
        ("default", {"skus": [], "rush": None, "note": None}, True),
        ("default", {"skus": None}, False),
        ("default", {"skus": [], "no_such": None}, False),
        ("refuse", {"skus": [], "amounts": None}, True),
    ],
)
def test_C10_null_for_what_has_a_default_is_one_setting(nulls: str, sent: Json, taken: bool) -> None:
    """It never reaches the function as `None` where the type does not allow it."""
    server, received = basket(nulls=nulls)
    assert call(server, "order", sent).is_error is not taken
    assert received == ([([], None, "", 1)] if taken else [])


# --- D1: the hook --------------------------------------------------------------------------------


def asking(hook: Any, **settings: Any) -> MCPServer:
    """A server with a hook, and a tool that has an output schema."""
    server = MCPServer("shop", gate=Gate(on_invalid=hook, **settings))

    @server.tool
    def order(sku: str, amount: Annotated[int, Field(ge=1)] = 1) -> int:
        return amount

    return server


def as_async(hook: Callable[[InvalidArguments], Any]) -> Callable[[InvalidArguments], Any]:
    """The same hook as a coroutine function."""

    async def asked(error: InvalidArguments) -> Any:
        await asyncio.sleep(0)
        return hook(error)

    return asked


KINDS: list[Callable[[Any], Any]] = [lambda hook: hook, as_async]
either_kind = pytest.mark.parametrize("kind", KINDS, ids=["sync", "async"])


@either_kind
def test_D1_the_hook_learns_everything(kind: Any) -> None:
    """The tool, the issues with path, code, message and expected, the arguments, and what was repaired."""
    seen: list[InvalidArguments] = []
    call(asking(kind(seen.append), repair="all"), "order", {"sku": 5, "amount": "0", "x": None})
    (error,) = seen
    assert error.tool == "order"
    assert error.arguments == {"sku": 5, "amount": "0", "x": None}
    assert {(issue.path, issue.code) for issue in error.issues} == {
        (("sku",), "type"),
        (("amount",), "greater_than_equal"),
        (("x",), "unexpected"),
    }
    assert all(issue.message and issue.expected for issue in error.issues)
    assert error.repaired == (("amount",),)
    assert "5" not in str(error)


ANSWERS: list[tuple[Any, Json]] = [  # what a hook returns; what of it the client sees
    ("in my words", {"content": [{"type": "text", "text": "in my words"}], "isError": True}),
    (
        ToolResult([Text("as you like")], structured=7, is_error=False),
        {"content": [{"type": "text", "text": "as you like"}], "structuredContent": 7, "isError": False},
    ),
    (ToolResult([Text("no")], is_error=True), {"content": [{"type": "text", "text": "no"}], "isError": True}),
    (
        Problem(code="MINE", message="mine", hint="do this"),
        {"content": [{"type": "text", "text": "mine\ndo this"}], "isError": True},
    ),
]


@either_kind
@pytest.mark.parametrize(("returned", "answer"), ANSWERS, ids=range(len(ANSWERS)))
@pytest.mark.parametrize("failure", ["tool_error", "protocol_error"])
def test_D1_what_the_hook_returns_is_what_is_sent(
    kind: Any, failure: str, returned: Any, answer: Json
) -> None:
    """Text, structured content and flag, whatever else the gate says."""
    server = asking(kind(lambda error: returned), failure=failure)
    raw = call(server, "order", {}).raw
    assert {key: raw.get(key) for key in answer} == answer


def broken(error: InvalidArguments) -> Any:
    """A hook that fails."""
    raise KeyError("mine")


FAULTS: list[tuple[str, Any]] = [
    ("fails", broken),
    ("gives no answer", lambda error: 5),
    ("breaks the schema", lambda error: ToolResult([Text("x")], structured="no integer")),
]


@either_kind
@pytest.mark.parametrize("hook", [hook for _, hook in FAULTS], ids=[name for name, _ in FAULTS])
def test_D1_a_hook_that_fails_is_a_logged_fault(
    kind: Any, hook: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """And the usual refusal goes out."""
    with caplog.at_level(logging.ERROR, "typegate"):
        result = call(asking(kind(hook)), "order", {})
    assert result.text == call(asking(None), "order", {}).text
    assert "on_invalid of 'order' failed" in caplog.text
    assert "mine" not in json.dumps(result.raw)


def test_D1_the_hook_of_a_tool_goes_before_the_servers() -> None:
    """`None` switches it off for one tool; one that returns `None` leaves the refusal as it is."""
    server = asking(lambda error: "the server's")
    server.add_tool("own", lambda sku: sku, gate=Gate(on_invalid=lambda error: "its own"))
    server.add_tool("off", lambda sku: sku, gate=Gate(on_invalid=None))
    server.add_tool("silent", lambda sku: sku, gate=Gate(on_invalid=lambda error: None))
    texts = {
        name: call(server, name, {}).text.partition(":")[0] for name in ("order", "own", "off", "silent")
    }
    assert texts == {
        "order": "the server's",
        "own": "its own",
        "off": "Invalid arguments for 'off'",
        "silent": "Invalid arguments for 'silent'",
    }


def test_D1_the_hook_is_asked_about_arguments_alone() -> None:
    """Not about a tool that fails, nor about one that is not there."""
    server = asking(broken)
    server.add_tool("fail", fail_with_error)
    assert call(server, "fail").text.startswith("there is none left")
    assert refused(server, "tools/call", {"name": "no_such"}).code == -32602


# --- D2: where the data travels ------------------------------------------------------------------


class Book(BaseModel):
    """A book."""

    author: str


def find_text(isbn: Annotated[str, Field(min_length=3)]) -> dict:  # type: ignore[type-arg]
    """A tool without an output schema."""
    return {}


def find_book(isbn: Annotated[str, Field(min_length=3)]) -> Book:
    """A tool whose output schema has no room for a problem."""
    return Book(author="a")


def find_either(isbn: Annotated[str, Field(min_length=3)]) -> Book | Problem:
    """A tool whose output schema has room for one."""
    return Book(author="a")


FORMS: list[tuple[Callable[..., Any], Callable[[Json], Json]]] = [  # a tool, its structured content
    (find_text, lambda problem: {"error": problem}),
    (find_book, lambda problem: None),
    (find_either, lambda problem: problem),
]


@every_revision
@pytest.mark.parametrize("form", ["typegate", "rfc9457"])
@pytest.mark.parametrize(("function", "structured"), FORMS, ids=["none", "narrow", "open"])
def test_D2_the_output_schema_alone_decides_where_the_data_travels(
    function: Callable[..., Any], structured: Callable[[Json], Json], form: str, revision: str
) -> None:
    """Always in `_meta`; in the structured content only where that stays valid."""
    server = MCPServer("books", gate=Gate(problem_format=form))  # type: ignore[arg-type]
    server.add_tool("find", function)
    raw = call(server, "find", {"isbn": "1"}, revision).raw
    problem = raw["_meta"][PROBLEM]
    assert problem["issues"][0]["path"] == ["isbn"]
    if revision not in ("2024-11-05", "2025-03-26"):
        assert raw.get("structuredContent") == structured(problem)


# --- D3: problem details -------------------------------------------------------------------------

DETAILS = {"type", "title", "status", "detail", "code", "hint", "issues"}


@every_revision
@pytest.mark.parametrize(("method", "params", "code"), WRONG)
def test_D3_every_refusal_is_written_as_problem_details(
    method: str, params: Json, code: str, revision: str
) -> None:
    """RFC 9457: type, title, status, detail, and the rest as extension members."""
    problem = refused(everything("rfc9457"), method, params, revision).data[PROBLEM]
    assert problem.keys() >= DETAILS
    assert "message" not in problem
    assert problem["type"] == f"urn:typegate:problem:{code}"
    assert 400 <= problem["status"] < 600


def test_D3_result_and_problem_are_published_together() -> None:
    """The output schema admits both, and a refusal satisfies it."""
    server = MCPServer("books", gate=Gate(problem_format="rfc9457"))
    server.add_tool("find", find_either)
    schema = listed(server)["find"]["outputSchema"]
    forms = [branch.get("required") for branch in schema["anyOf"]]
    assert ["author"] in forms
    assert any(set(form) >= DETAILS for form in forms)
    structured = call(server, "find", {}).structured
    assert structured["type"] == "urn:typegate:problem:invalid_arguments"
    assert structured["status"] == 422


def test_D3_the_author_s_own_refusal_takes_the_same_form() -> None:
    """Under the author's code; the text for the model is as it was."""
    server = MCPServer("shop", gate=Gate(problem_format="rfc9457"))
    server.add_tool("buy", fail_with_reject)
    result = call(server, "buy")
    assert result.text == "there is none left\ntry again tomorrow"
    assert result.problem == {
        "type": "urn:typegate:problem:OUT_OF_STOCK",
        "title": "The tool refused the call",
        "status": 422,
        "detail": "there is none left",
        "code": "OUT_OF_STOCK",
        "hint": "try again tomorrow",
        "issues": [],
    }


# --- D4: the listing -----------------------------------------------------------------------------


def test_D4_no_setting_changes_what_is_published() -> None:
    """The `inputSchema` is the same whatever becomes of a refusal."""
    settings = {
        "repair": ("containers", "all", "none"),
        "nulls": ("refuse", "default"),
        "failure": ("tool_error", "protocol_error"),
        "problem_format": ("typegate", "rfc9457"),
        "rejected_as_error": (True, False),
        "on_invalid": (None, broken),
    }

    def published(**chosen: Any) -> Json:
        server = MCPServer("books", gate=Gate(**chosen))
        for function in (find_book, find_either):
            server.add_tool(function)
        return [tool["inputSchema"] for tool in listed(server).values()]

    usual = published()
    for name, values in settings.items():
        for value in values:
            assert published(**{name: value}) == usual
    for chosen in itertools.islice(itertools.product(*settings.values()), 0, None, 7):
        assert published(**dict(zip(settings, chosen, strict=True))) == usual


def even(value: int) -> int:
    """A rule of the author's."""
    if value % 2:
        raise ValueError("must be even")
    return value


@pytest.mark.parametrize("form", ["typegate", "rfc9457"])
@pytest.mark.parametrize("failure", ["tool_error", "protocol_error"])
@pytest.mark.parametrize("repair", ["containers", "all", "none"])
def test_B4_no_setting_lets_a_value_out(repair: Any, failure: Any, form: Any) -> None:
    """Whatever form a refusal takes, what was sent is not in it."""
    server = MCPServer("shop", gate=Gate(repair=repair, failure=failure, problem_format=form))

    @server.tool
    def order(
        sku: Annotated[str, Field(pattern="^[A-Z]{2}$")], n: Annotated[int, AfterValidator(even)]
    ) -> int:
        return n

    sent = {"sku": "hunter2-secret", "n": 7_777_777, "when": "hunter3-secret"}
    if failure == "protocol_error":
        answer = json.dumps(refused(server, "tools/call", {"name": "order", "arguments": sent}).data)
    else:
        answer = json.dumps(call(server, "order", sent).raw)
    assert "hunter" not in answer
    assert "7777777" not in answer
