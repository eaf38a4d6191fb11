"""What `typegate.contract.problems` promises: one shape of words for every refusal, without what was sent."""

import json
from decimal import Decimal
from typing import Any, get_args

import pytest

from typegate.contract.problems import (
    ProblemFormat,
    describe,
    invalid_arguments,
    missing,
    problem_text,
    quoted,
    rendered,
    type_name,
    unexpected,
    unknown,
    violated,
)
from typegate.types import Issue, Problem

TEXT = {"type": "string"}
COUNT = {"type": "integer"}
NULL = {"type": "null"}
SECRET = "hunter2"


def other(code: str, *path: str | int, expected: str | None = None) -> Issue:
    """An issue whose text does not matter."""
    return Issue(path=path, code=code, message=f"about {code}", expected=expected)


# --- words ---------------------------------------------------------------------------------------

PATHS: list[tuple[tuple[str | int, ...], str]] = [
    (("limit",), "'limit'"),
    (("filters", "tags", 2), "'filters.tags[2]'"),
    (("rows", 0, 1, "name"), "'rows[0][1].name'"),
    ((3, "name"), "'[3].name'"),
    ((), "''"),
    (("a\nb\x1b",), "'a?b?'"),
    (("x" * 64,), f"'{'x' * 64}'"),
    (("a", "x" * 65), f"'a.{'x' * 64}…'"),
]


@pytest.mark.parametrize(("path", "text"), PATHS)
def test_a_path_is_written_as_programs_write_it(path: tuple[str | int, ...], text: str) -> None:
    """Keys with dots, indices in brackets; a key of the caller's own is cut short and printable."""
    assert quoted(path) == text


TYPES: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "boolean"),
    (False, "boolean"),
    (0, "integer"),
    (1.5, "number"),
    (3.0, "number"),
    (Decimal("1.5"), "number"),
    ("", "string"),
    ([], "array"),
    ({}, "object"),
]


@pytest.mark.parametrize(("value", "name"), TYPES)
def test_a_value_is_called_by_its_json_type(value: Any, name: str) -> None:
    """A boolean is no integer."""
    assert type_name(value) == name


DESCRIPTIONS: list[tuple[Any, str]] = [
    ({}, "any value"),
    (True, "any value"),
    ({"description": "x"}, "any value"),
    (TEXT, "string"),
    ({"type": ["string", "null"]}, "string or null"),
    ({"enum": ["a", 1, 1.5, True, None]}, "one of 'a', 1, 1.5, true, null"),
    ({"enum": [[1, 2], {"a": 1}]}, "one of array, object"),
    ({"enum": ["a"]}, "'a'"),
    ({"const": "a", "type": "string"}, "'a'"),
    ({"const": None}, "null"),
    ({"enum": list(range(20))}, f"one of {', '.join(map(str, range(20)))}"),
    ({"enum": list(range(21))}, f"one of {', '.join(map(str, range(20)))}, …"),
    ({"anyOf": [TEXT, NULL, TEXT]}, "string or null"),
    ({"oneOf": [COUNT, {"enum": ["a", "b"]}]}, "integer or one of 'a', 'b'"),
    ({"type": "array", "items": COUNT}, "array of integer"),
    ({"type": "array", "items": {"type": "array", "items": TEXT}}, "array of array of string"),
    ({"type": "array", "items": {}}, "array"),
    ({"type": "array", "items": True}, "array"),
    ({"type": "object"}, "object"),
    ({"type": "object", "properties": {}}, "object"),
    ({"type": "object", "properties": {"a": TEXT, "b": TEXT}}, "object with 'a', 'b'"),
    ({"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["b"]}, "object with 'b' (string)"),
    ({"type": "string", "pattern": "^a+$"}, "string matching ^a+$"),
    ({"type": "string", "contentEncoding": "base64"}, "base64 text, for example aGVsbG8="),
    ({"type": "string", "format": "our-own"}, "string"),
]


@pytest.mark.parametrize(("schema", "words"), DESCRIPTIONS)
def test_a_schema_is_put_into_words(schema: Any, words: str) -> None:
    """What it accepts: options before types, each form once, long lists cut short."""
    assert describe(schema) == words


BOUNDS = [
    ("integer", {"minimum": 1}, "integer of at least 1"),
    ("integer", {"maximum": 9}, "integer of at most 9"),
    ("integer", {"minimum": 0, "maximum": 9}, "integer from 0 to 9"),
    ("integer", {"minimum": 9, "maximum": 9}, "integer equal to 9"),
    ("number", {"exclusiveMinimum": 0}, "number of more than 0"),
    ("number", {"exclusiveMaximum": 1.5}, "number of less than 1.5"),
    ("number", {"exclusiveMinimum": 0, "maximum": 1}, "number from more than 0 to 1"),
    ("integer", {"multipleOf": 5}, "integer, a multiple of 5"),
    ("integer", {"minimum": 0, "multipleOf": 5}, "integer of at least 0, a multiple of 5"),
    ("string", {"minLength": 1}, "string with at least 1 character"),
    ("string", {"minLength": 2}, "string with at least 2 characters"),
    ("string", {"maxLength": 1}, "string with at most 1 character"),
    ("string", {"minLength": 1, "maxLength": 5}, "string with 1 to 5 characters"),
    ("string", {"minLength": 3, "maxLength": 3}, "string with exactly 3 characters"),
    ("string", {"minLength": 2, "pattern": "^a"}, "string with at least 2 characters matching ^a"),
    ("array", {"minItems": 1, "maxItems": 1}, "array with exactly 1 item"),
    ("array", {"minItems": 1}, "array with at least 1 item"),
    ("array", {"maxItems": 3}, "array with at most 3 items"),
    ("object", {"minProperties": 1}, "object with at least 1 entry"),
    ("object", {"maxProperties": 2}, "object with at most 2 entries"),
]


@pytest.mark.parametrize(("kind", "bounds", "words"), BOUNDS)
def test_bounds_are_put_into_words(kind: str, bounds: dict[str, Any], words: str) -> None:
    """What they count is named, in the singular or the plural; zero is a bound too."""
    assert describe({"type": kind, **bounds}) == words


FORMATS = [
    ("date", "YYYY-MM-DD", "2026-11-30"),
    ("date-time", "YYYY-MM-DDTHH:MM:SSZ", "2026-11-30T14:05:00Z"),
    ("time", "HH:MM:SS", "14:05:00"),
    ("duration", "PnDTnHnMnS", "PT5M"),
    ("uuid", "UUID", "123e4567-e89b-12d3-a456-426614174000"),
    ("email", "email address", "name@example.com"),
    ("uri", "URI", "https://example.com/"),
    ("ipv4", "IPv4", "192.0.2.1"),
    ("ipv6", "IPv6", "2001:db8::1"),
]


@pytest.mark.parametrize(("name", "form", "example"), FORMATS)
def test_a_format_is_shown_by_an_example(name: str, form: str, example: str) -> None:
    """In what is expected and in the refusal alike."""
    words = describe({"type": "string", "format": name})
    assert form in words
    assert words.endswith(f", for example {example}")
    found = violated("format", ("when",), name, words, SECRET)
    assert (found.code, found.message) == ("format", f"'when' must be {words}")


# --- issues --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "word", "text"),
    [
        (("a",), "argument", "missing required argument 'a'"),
        (("a",), "field", "missing required field 'a'"),
        (("a", "b"), "argument", "missing required field 'a.b'"),
        (("a", 0), "argument", "missing required field 'a[0]'"),
    ],
)
def test_what_is_missing_is_named(path: tuple[str | int, ...], word: str, text: str) -> None:
    """Only what stands at the top is an argument."""
    assert missing(path, "integer", word) == Issue(
        path=path, code="missing", message=text, expected="integer"
    )


def test_what_is_missing_is_an_argument_unless_otherwise_said() -> None:
    """And what it should be need not be known."""
    text = "missing required argument 'a'"
    assert missing(("a",)) == Issue(path=("a",), code="missing", message=text, expected=None)


UNEXPECTED = [
    (("limt",), ["id", "limit"], "unexpected argument 'limt'; did you mean 'limit'?", "'limit'"),
    (("LIMIT",), ["id", "limit"], "unexpected argument 'LIMIT'; did you mean 'limit'?", "'limit'"),
    (("orderid",), ["Order_ID"], "unexpected argument 'orderid'; did you mean 'Order_ID'?", "'Order_ID'"),
    (("page",), ["id", "limit"], "unexpected argument 'page'", "one of 'id', 'limit'"),
    (("page",), [], "unexpected argument 'page'", "no arguments"),
    (("rows", 0, "nam"), ["name"], "unexpected field 'rows[0].nam'; did you mean 'name'?", "'name'"),
    (("\x00" * 80,), ["name"], f"unexpected argument '{'?' * 64}…'", "one of 'name'"),
]


@pytest.mark.parametrize(("path", "known", "text", "expected"), UNEXPECTED)
def test_an_unknown_name_is_repeated_and_mended(
    path: tuple[str | int, ...], known: list[str], text: str, expected: str
) -> None:
    """With the closest real name, whatever its case; else with all of them."""
    assert unexpected(path, known) == Issue(path=path, code="unexpected", message=text, expected=expected)
    assert unexpected(("x",), iter(["a"]), "field").message == "unexpected field 'x'"


RULES: list[tuple[str, Any, Any, str, str]] = [  # keyword, its value, what was sent; code, text
    ("type", "integer", "a", "type", "must be integer, got string"),
    ("type", ["integer", "null"], True, "type", "must be integer or null, got boolean"),
    ("enum", ["red", "green"], 5, "enum", "must be one of 'red', 'green'"),
    ("enum", ["red", "green"], "Gren", "enum", "must be one of 'red', 'green'; did you mean 'green'?"),
    ("enum", [1, 2], "1", "enum", "must be one of 1, 2"),
    ("enum", ["red"], "blue", "enum", "must be 'red'"),
    ("const", "red", "rad", "enum", "must be 'red'; did you mean 'red'?"),
    ("const", None, 1, "enum", "must be null"),
    ("format", "our-own", "a", "format", "must be in the format our-own"),
    ("pattern", "^a", "b", "pattern", "must match the pattern ^a"),
    ("minimum", 1, 0, "greater_than_equal", "must be greater than or equal to 1"),
    ("maximum", 1.5, 2, "less_than_equal", "must be less than or equal to 1.5"),
    ("exclusiveMinimum", 0, 0, "greater_than", "must be greater than 0"),
    ("exclusiveMaximum", 9, 9, "less_than", "must be less than 9"),
    ("multipleOf", 5, 7, "multiple_of", "must be a multiple of 5"),
    ("minLength", 1, "", "too_short", "must have at least 1 character"),
    ("maxLength", 2, "abc", "too_long", "must have at most 2 characters"),
    ("minItems", 2, [], "too_few", "must have at least 2 items"),
    ("maxItems", 1, [1, 2], "too_many", "must have at most 1 item"),
    ("minProperties", 1, {}, "too_few", "must have at least 1 entry"),
    ("maxProperties", 2, {}, "too_many", "must have at most 2 entries"),
    ("uniqueItems", True, [1, 1], "unique", "must not hold the same item twice"),
    ("contains", {}, [], "contains", "lacks an item that it must hold"),
    ("contentEncoding", "base64", "?", "format", "must be base64 text"),
    ("not", {}, 1, "not", "has a form that is not allowed"),
    (
        "oneOf",
        None,
        1,
        "one_of",
        "fits more than one of the forms, of which it must fit exactly one",
    ),
    ("range", None, 1, "out_of_range", "must be a number that fits 64-bit floating point"),
    ("anyOf", None, 1, "anyOf", "must be what fits"),
    ("dependentRequired", None, {}, "dependentRequired", "must be what fits"),
]


@pytest.mark.parametrize(("keyword", "fact", "value", "code", "said"), RULES)
def test_each_keyword_has_its_code_and_its_words(
    keyword: str, fact: Any, value: Any, code: str, said: str
) -> None:
    """After the name of the argument, or the name of the whole; what is expected goes with it."""
    found = violated(keyword, ("a", 1), fact, "what fits", value)
    assert found == Issue(path=("a", 1), code=code, message=f"'a[1]' {said}", expected="what fits")
    assert violated(keyword, (), fact, "what fits", value).message == f"the arguments {said}"
    assert violated(keyword, (), fact, "what fits", value, "the result").message == f"the result {said}"


@pytest.mark.parametrize("keyword", sorted({rule[0] for rule in RULES}))
def test_what_was_sent_is_never_repeated(keyword: str) -> None:
    """Whichever rule it broke."""
    fact = {"type": "integer", "enum": ["a", "b"], "const": "a"}.get(keyword, 5)
    assert SECRET not in str(violated(keyword, ("a",), fact, "what fits", SECRET))


# --- problems ------------------------------------------------------------------------------------


def test_a_refusal_says_everything_at_once() -> None:
    """Its issues as they are, their texts in one line, and what to send instead in another."""
    issues = [missing(("id",), "string"), violated("type", ("limit",), "integer", "integer", "a")]
    assert invalid_arguments("search", issues) == Problem(
        code="invalid_arguments",
        message=(
            "Invalid arguments for 'search': missing required argument 'id'; "
            "'limit' must be integer, got string"
        ),
        hint="Call again with 'id' as string; 'limit' as integer.",
        issues=tuple(issues),
    )


def test_the_name_of_the_tool_is_made_safe_too() -> None:
    """A prompt or a tool may be called anything."""
    assert invalid_arguments("a\nb", []).message.startswith("Invalid arguments for 'a?b': ")


HINTS: list[tuple[list[Issue], str]] = [
    ([missing(("id",), "string")], "Call again with 'id' as string."),
    ([missing(("id",))], "Call again with 'id' given."),
    ([unexpected(("lmit",), ["limit"])], "Call again with 'limit' in place of 'lmit'."),
    ([unexpected(("page",), ["id", "limit"])], "Call again with 'page' left out."),
    ([unexpected(("page",), [])], "Call again with 'page' left out."),
    (
        [missing(("limit",), "integer"), unexpected(("lmit",), ["limit"])],
        "Call again with 'limit' in place of 'lmit'.",
    ),
    (
        [missing(("id",), "string"), unexpected(("lmit",), ["limit"])],
        "Call again with 'id' as string; 'limit' in place of 'lmit'.",
    ),
    ([other("value", "a", "b", expected="string")], "Call again with 'a.b' as string."),
    ([other("type", expected="object")], "Call again with the arguments as object."),
    (
        [other("too_short", "a", expected="text"), other("pattern", "a", expected="text")],
        "Call again with 'a' as text.",
    ),
    ([other("value", "a")], "Correct the arguments and call again."),
    ([other("value", "a"), missing(("id",))], "Call again with 'id' given."),
    ([], "Correct the arguments and call again."),
]


@pytest.mark.parametrize(("issues", "hint"), HINTS)
def test_the_hint_says_what_to_send_instead(issues: list[Issue], hint: str) -> None:
    """Argument by argument, each once: a misspelt one is renamed, not left out and added."""
    assert invalid_arguments("search", issues).hint == hint


def test_a_problem_is_read_in_two_lines() -> None:
    """What is wrong, and what to do; one line where nothing is known to do."""
    assert problem_text(Problem(code="c", message="It broke.", hint="Mend it.")) == "It broke.\nMend it."
    assert problem_text(Problem(code="c", message="It broke.")) == "It broke."


UNKNOWN = [
    ("tool", "serch", "Unknown tool: serch", "Did you mean 'search'? tools/list has the names."),
    ("prompt", "SEARCH", "Unknown prompt: SEARCH", "Did you mean 'search'? tools/list has the names."),
    ("tool", "a\nb", "Unknown tool: a?b", "tools/list has the names."),
    ("tool", "x" * 65, f"Unknown tool: {'x' * 64}…", "tools/list has the names."),
]


@pytest.mark.parametrize(("kind", "name", "message", "hint"), UNKNOWN)
def test_a_name_that_does_not_exist_is_mended(kind: str, name: str, message: str, hint: str) -> None:
    """By the closest of those that this caller may know of; what lists them is named."""
    wanted = Problem(code=f"unknown_{kind}", message=message, hint=hint)
    assert unknown(kind, name, iter(["find", "search"]), "tools/list") == wanted
    assert unknown(kind, name, (), "tools/list").hint == "tools/list has the names."


def as_json(value: Any) -> Any:
    """What a client reads."""
    return json.loads(json.dumps(value))


FULL = Problem(
    code="invalid_arguments",
    message="It broke.",
    hint="Mend it.",
    issues=(missing(("a", 0)),),
    retry_after=1.5,
    reference="r1",
)


def test_a_problem_travels_as_it_is() -> None:
    """What is not known of it is left out, but for its hint."""
    issue = {
        "path": ["a", 0],
        "code": "missing",
        "message": "missing required field 'a[0]'",
        "expected": None,
    }
    whole = {"code": "invalid_arguments", "message": "It broke.", "hint": "Mend it.", "issues": [issue]}
    assert as_json(rendered(FULL)) == {**whole, "retry_after": 1.5, "reference": "r1"}
    assert as_json(rendered(Problem(code="c", message="m"))) == {
        "code": "c",
        "message": "m",
        "hint": None,
        "issues": [],
    }


DETAILS = [
    ("invalid_arguments", "Invalid arguments", 422),
    ("tool_failed", "The tool failed", 500),
    ("parse_error", "The message is not JSON", 400),
    ("unknown_tool", "There is no such tool", 404),
    ("out_of_stock", "The tool refused the call", 422),
]


@pytest.mark.parametrize(("code", "title", "status"), DETAILS)
def test_a_problem_may_travel_as_problem_details(code: str, title: str, status: int) -> None:
    """With a title and a status for each code, and one of each for those of authors; the rest is kept."""
    made = rendered(Problem(code=code, message="It broke.", hint="Mend it.", reference="r1"), "rfc9457")
    assert as_json(made) == {
        "type": f"urn:typegate:problem:{code}",
        "title": title,
        "status": status,
        "detail": "It broke.",
        "code": code,
        "hint": "Mend it.",
        "issues": [],
        "reference": "r1",
    }


def test_the_forms_of_a_problem_are_named() -> None:
    """Two of them."""
    assert get_args(ProblemFormat) == ("typegate", "rfc9457")
