"""What `typegate.contract.validator` promises: a schema judges a value, and says everything that is wrong."""

import time
from pathlib import Path
from typing import Any

import pytest

from typegate.contract.problems import quoted
from typegate.contract.validator import Validator, accepts, check_bounds
from typegate.errors import RegistrationError
from typegate.types import Issue

Schema = dict[str, Any]
Found = list[tuple[tuple[str | int, ...], str, str]]

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TEXT = {"type": "string"}
COUNT = {"type": "integer"}
NULL = {"type": "null"}
COLOR = {"type": "string", "enum": ["red", "green"]}


def table(*required: str, **properties: Any) -> Schema:
    """The schema of an object with these members."""
    return {"type": "object", "properties": properties, "required": list(required)}


def found(schema: Schema, value: Any, subject: Any = "arguments") -> Found:
    """What is wrong, without what is expected."""
    issues = Validator(schema, "the schema of 'x'", subject).issues(value)
    return [(issue.path, issue.code, issue.message) for issue in issues]


def refusal(schema: Schema) -> str:
    """What is said against a schema."""
    with pytest.raises(RegistrationError) as caught:
        Validator(schema, "the schema of 'search'")
    return str(caught.value)


def mistyped(wanted: str, got: str, *path: str | int) -> tuple[tuple[str | int, ...], str, str]:
    """What is said of a value of another type."""
    return path, "type", f"{quoted(path)} must be {wanted}, got {got}"


def lacking(word: str, *path: str | int) -> tuple[tuple[str | int, ...], str, str]:
    """What is said of something that is not there."""
    return path, "missing", f"missing required {word} {quoted(path)}"


# --- what is no schema ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"type": 5},
        {"minimum": "a"},
        {"properties": {"a": {"required": "b"}}},
        {"pattern": "("},
        {"$ref": "#/$defs/Missing"},
        {"$schema": "https://example.com/unknown"},
        {"items": [COUNT]},
    ],
)
def test_what_is_no_schema_is_refused_at_once(schema: Schema) -> None:
    """The text names whose it is and gives a reason; a reference may lead to nothing."""
    start, _, reason = refusal(schema).partition(": ")
    assert start == "the schema of 'search' is no JSON Schema that can be used"
    assert reason


@pytest.mark.parametrize("reference", ["https://example.com/a", "other.json", "//a/b"])
def test_no_reference_leaves_the_document(reference: str) -> None:
    """Wherever it stands, and whatever it leads to."""
    assert reference in refusal({"$ref": reference})
    assert reference in refusal(table(a={"anyOf": [NULL, {"$ref": reference}]}))


def test_a_reference_to_a_file_is_not_followed(tmp_path: Path) -> None:
    """Not even where there is one that holds a schema."""
    (tmp_path / "a.json").write_text("{}")
    reference = (tmp_path / "a.json").as_uri()
    assert reference in refusal({"$ref": reference})


def test_the_reason_is_one_short_line() -> None:
    """However much there would be to say."""
    text = refusal({"$ref": "https://example.com/" + "x" * 1_000})
    assert len(text) < 300
    assert len(refusal({"$ref": "a\nb"}).splitlines()) == 1


def test_the_dialect_is_the_newest_unless_the_schema_names_another() -> None:
    """A list of `items` is of draft 7."""
    schema = {"$schema": DRAFT_7, "items": [COUNT]}
    assert found(schema, ["a"]) == [((0,), "type", "'[0]' must be integer, got string")]
    assert found({"prefixItems": [COUNT]}, ["a"]) == found(schema, ["a"])


# --- is it valid ---------------------------------------------------------------------------------

FORMATS = {
    "date-time": (
        ["2026-11-30T14:05:00Z", "2026-11-30 14:05", "2026-11-30t14:05:00.5z", "2026-11-30T14:05-0200"],
        ["2026-11-30", "2026-13-30T14:05:00Z", "2026-11-30T24:00:00Z", "2026-11-30T14:05:00Z\n", "x"],
    ),
    "time": (["14:05", "14:05:00", "14:05:00.5+02:00", "14:05:00Z"], ["24:00", "4:05", "14:60", "14:05:60"]),
    "duration": (["PT5M", "-P1W2D", "+PT1,5S", "P1Y2M3W4DT5H6M7.5S"], ["P", "PT", "5M", "P1S", "P1DT", ""]),
    "date": (["2026-11-30"], ["2026-02-30", "2026-1-2"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123"]),
    "ipv4": (["192.0.2.1"], ["192.0.2"]),
    "ipv6": (["2001:db8::1"], ["2001"]),
    "email": (["name@example.com"], ["name"]),
    "uri": (["https://example.com/"], ["example"]),
    "regex": (["(", "a"], []),
    "our-own": (["anything"], []),
}
JUDGED = [
    (name, text, admitted)
    for name, (good, bad) in FORMATS.items()
    for texts, admitted in ((good, True), (bad, False))
    for text in texts
]


@pytest.mark.parametrize(("name", "text", "admitted"), JUDGED)
def test_formats_are_judged(name: str, text: str, admitted: bool) -> None:
    """As Python reads them where it is wider than the specification; one that nobody knows is no rule."""
    judge = Validator(table(a={"type": "string", "format": name}), "x")
    assert judge.is_valid({"a": text}) is admitted
    assert [issue.code for issue in judge.issues({"a": text})] == ([] if admitted else ["format"])


# --- everything that is wrong --------------------------------------------------------------------

COUNTS = {"type": "array", "items": COUNT}
REFERENCE = {"$ref": "#/$defs/Person"}
PERSON = {"Person": table("name", name=TEXT, parent=REFERENCE)}
OPEN = table(a=COUNT)
CLOSED = {**table(a=COUNT, limit=COUNT), "additionalProperties": False}

WRONG: list[tuple[Schema, Any, Found]] = [
    (table(a=TEXT), {"a": 5}, [mistyped("string", "integer", "a")]),
    (table(a=TEXT), {"a": {"": 5}}, [mistyped("string", "object", "a")]),
    (TEXT, 5, [((), "type", "the arguments must be string, got integer")]),
    (table("a", a=TEXT), {}, [lacking("argument", "a")]),
    (CLOSED, {"b": 1}, [(("b",), "unexpected", "unexpected argument 'b'")]),
    (CLOSED, {"lmit": 1}, [(("lmit",), "unexpected", "unexpected argument 'lmit'; did you mean 'limit'?")]),
    ({**OPEN, "unevaluatedProperties": False}, {"b": 1}, [(("b",), "unexpected", "unexpected argument 'b'")]),
    (
        table(a=TEXT, b=COUNTS),
        {"a": None, "b": [1, "x", 2, True]},
        [
            mistyped("string", "null", "a"),
            mistyped("integer", "string", "b", 1),
            mistyped("integer", "boolean", "b", 3),
        ],
    ),
    (
        table(a={"type": "string", "minLength": 3, "pattern": "^a"}),
        {"a": "b"},
        [
            (("a",), "too_short", "'a' must have at least 3 characters"),
            (("a",), "pattern", "'a' must match the pattern ^a"),
        ],
    ),
    (
        {**table(a=REFERENCE), "$defs": PERSON},
        {"a": {"name": "x", "parent": {"parent": {"name": 1}}}},
        [
            lacking("field", "a", "parent", "name"),
            mistyped("string", "integer", "a", "parent", "parent", "name"),
        ],
    ),
    (
        {"type": "object", "additionalProperties": COUNT},
        {"1": 1, "7": "a", "-1": "b", "": "c", "a/b~": "d"},
        [
            mistyped("integer", "string", "7"),
            mistyped("integer", "string", "-1"),
            mistyped("integer", "string", ""),
            mistyped("integer", "string", "a/b~"),
        ],
    ),
    (
        table(**{"": table(**{"": {"type": "array", "items": table(**{"": TEXT})}})}),
        {"": {"": [{"": 5}]}},
        [mistyped("string", "integer", "", "", 0, "")],
    ),
]


@pytest.mark.parametrize(("schema", "value", "issues"), WRONG)
def test_everything_that_is_wrong_is_said(schema: Schema, value: Any, issues: Found) -> None:
    """Each with its place, from the root down: a key is text, an index a number."""
    assert sorted(found(schema, value), key=str) == sorted(issues, key=str)


def test_an_issue_says_what_would_have_been_accepted() -> None:
    """As the schema at its place says it, also of what is missing."""
    issues = Validator(table("a", "b", a={"type": "integer", "minimum": 1}, b=COUNT), "x").issues({"a": 0})
    text = "'a' must be greater than or equal to 1"
    assert sorted(issues, key=lambda each: each.path) == [
        Issue(path=("a",), code="greater_than_equal", message=text, expected="integer of at least 1"),
        Issue(path=("b",), code="missing", message="missing required argument 'b'", expected="integer"),
    ]


def test_one_thing_is_said_once() -> None:
    """Two schemas may refuse the same, and another type or option makes the other rules pointless."""
    twice = {"allOf": [table(a=TEXT), table(a=TEXT)]}
    assert found(twice, {"a": 5}) == [mistyped("string", "integer", "a")]
    assert [issue[1] for issue in found(table(a=COLOR), {"a": 5})] == ["enum"]
    kinds = table(a={"allOf": [COUNT, {"not": TEXT}]}, b={"minLength": 2})
    assert [issue[1] for issue in found(kinds, {"a": "x", "b": "x"})] == ["type", "too_short"]


def test_a_result_has_no_arguments() -> None:
    """The words are those of what is judged."""
    assert found(TEXT, 5, "result") == [((), "type", "the result must be string, got integer")]
    assert found(table("a", a=COUNT), {}, "result")[0][2] == "missing required field 'a'"
    assert found(CLOSED, {"b": 1}, "result")[0][2] == "unexpected field 'b'"


KEYS: list[tuple[Schema, str, str]] = [
    ({"maxLength": 1}, "each key of 'a' must have at most 1 character", "strings with at most 1 character"),
    ({"pattern": "^b"}, "each key of 'a' must match the pattern ^b", "strings matching ^b"),
    ({"enum": ["x", "y"]}, "each key of 'a' must be one of 'x', 'y'", "one of 'x', 'y'"),
    ({"$ref": "#/$defs/Key"}, "each key of 'a' must be one of 'p', 'q'", "one of 'p', 'q'"),
]


@pytest.mark.parametrize(("names", "text", "keys"), KEYS)
def test_what_is_wrong_with_a_key_is_said_of_its_object(names: Schema, text: str, keys: str) -> None:
    """A key has no place of its own."""
    node = {"type": "object", "propertyNames": names}
    schema = {**table(a=node), "$defs": {"Key": {"enum": ["p", "q"]}}}
    (issue,) = Validator(schema, "x").issues({"a": {"cd": 1}})
    assert (issue.path, issue.message, issue.expected) == (("a",), text, f"object whose keys are {keys}")
    root = Validator({**node, "$defs": schema["$defs"]}, "x").issues({"cd": 1})
    assert [each.message for each in root] == [text.replace("'a'", "the arguments")]


def test_a_name_that_is_taken_is_not_known_here() -> None:
    """It is refused like any other that the caller may not use."""
    schema = {**table(limit=COUNT), "propertyNames": {"not": {"enum": ["ctx"]}}}
    assert found(schema, {"ctx": 1}) == [(("ctx",), "unexpected", "unexpected argument 'ctx'")]


# --- unions --------------------------------------------------------------------------------------

CAT = table("kind", "lives", "home", kind={"const": "cat"}, lives=COUNT)
DOG = table("kind", kind={"enum": ["dog", "wolf"]}, name=TEXT)
COLORS = "one of 'red', 'green' or integer"
UNIONS: list[tuple[list[Schema], Any, Found]] = [  # branches, a value; what is wrong with it
    ([TEXT, NULL], 5, [mistyped("string", "integer", "a")]),
    ([TEXT, COUNT], [], [mistyped("string or integer", "array", "a")]),
    ([COLOR, NULL], "gren", [(("a",), "enum", "'a' must be one of 'red', 'green'; did you mean 'green'?")]),
    ([COLOR, COUNT], "gren", [(("a",), "anyOf", f"'a' must be {COLORS}; did you mean 'green'?")]),
    ([COUNTS, TEXT], [1, "x"], [mistyped("integer", "string", "a", 1)]),
    ([REFERENCE, NULL], {}, [lacking("field", "a", "name")]),
    ([REFERENCE, NULL], 1, [mistyped("object", "integer", "a")]),
    ([CAT, DOG], {"kind": 5}, [(("a", "kind"), "enum", "'a.kind' must be one of 'cat', 'dog', 'wolf'")]),
    (
        [CAT, DOG],
        {"kind": "dgo"},
        [(("a", "kind"), "enum", "'a.kind' must be one of 'cat', 'dog', 'wolf'; did you mean 'dog'?")],
    ),
    ([CAT, DOG], {"kind": "cat"}, [lacking("field", "a", "lives"), lacking("field", "a", "home")]),
    ([CAT, DOG], {"kind": "dog", "name": 1}, [mistyped("string", "integer", "a", "name")]),
    ([table("x", "y", x=TEXT, y=TEXT), table("z", z=TEXT)], {}, [lacking("field", "a", "z")]),
    ([{"anyOf": [COUNTS, NULL]}, TEXT], [True], [mistyped("integer", "boolean", "a", 0)]),
]


@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
@pytest.mark.parametrize(("branches", "value", "issues"), UNIONS)
def test_the_branch_that_was_meant_is_the_one_that_is_told(
    branches: list[Schema], value: Any, issues: Found, union: str
) -> None:
    """By its tag, or the closest one; where none was meant, all the forms are named but null."""
    schema = {**table(a={union: branches}), "$defs": PERSON}
    assert found(schema, {"a": value}) == issues


def test_more_than_one_branch_may_be_too_many() -> None:
    """Where it must be exactly one."""
    text = "'a' fits more than one of the forms, of which it must fit exactly one"
    assert found(table(a={"oneOf": [TEXT, {"minLength": 1}]}), {"a": "x"}) == [(("a",), "one_of", text)]


ODD: list[tuple[Schema, Any, Found]] = [  # a schema, a value; what is wrong with it
    (
        {"unevaluatedItems": False, "prefixItems": [{}]},
        [1, "hunter2"],
        [((), "unexpected", "the arguments is not allowed here")],
    ),
    ({"properties": {"a": False}}, {"a": 1}, [(("a",), "unexpected", "'a' is not allowed here")]),
    ({"prefixItems": [{}], "items": False}, [1, 2], [((1,), "unexpected", "'[1]' is not allowed here")]),
    ({"properties": {"7": COUNT}}, {"7": "x"}, [mistyped("integer", "string", "7")]),
    ({"additionalProperties": COUNT}, {"07": 1, "7": "x"}, [mistyped("integer", "string", "7")]),
    (
        {"maxContains": 1, "contains": COUNT},
        [1, 2],
        [((), "too_many", "the arguments holds more than 1 of the items that it must hold")],
    ),
    ({"contains": COUNT}, ["a"], [((), "contains", "the arguments lacks an item that it must hold")]),
    (
        {"pattern": r"^((a|aa)+)+\1c$"},
        "a" * 60,
        [((), "pattern", r"the arguments must match the pattern ^((a|aa)+)+\1c$")],
    ),
]


@pytest.mark.parametrize(("schema", "value", "wanted"), ODD, ids=range(len(ODD)))
def test_rare_keywords_and_odd_keys_are_told_as_plainly(schema: Schema, value: Any, wanted: Found) -> None:
    """At the right place, in our words, and without the value."""
    assert found(schema, value) == wanted


MODELS = [
    table("id", id=COUNT) | {"additionalProperties": False},
    table("name", name=TEXT) | {"additionalProperties": False},
    table(limit=COUNT) | {"additionalProperties": False},
]


@pytest.mark.parametrize(
    ("value", "meant"),
    [({"idd": 7}, "id"), ({"nmae": "q"}, "name"), ({"limt": 7}, "limit"), ({"ID": 1}, "id")],
)
def test_a_slip_in_a_name_does_not_lead_to_another_form(value: Any, meant: str) -> None:
    """A form in which nothing must be given is not nearer than the one that has the name."""
    messages = [issue.message for issue in Validator({"anyOf": MODELS}, "x").issues(value)]
    assert any(message.endswith(f"did you mean '{meant}'?") for message in messages)


def test_there_is_an_end_to_what_is_said() -> None:
    """A hundred issues of one call are enough."""
    assert len(Validator({"items": COUNT}, "x").issues(["a"] * 5000)) == 100


# --- what is expected ----------------------------------------------------------------------------

TREE = {
    **table(
        x=REFERENCE,
        list={"type": "array", "prefixItems": [TEXT], "items": COUNT},
        union={"anyOf": [TEXT, table(a=COUNT)]},
        either={"oneOf": [NULL, REFERENCE]},
        any=True,
    ),
    "$defs": PERSON,
}
EXPECTED: list[tuple[tuple[str | int, ...], str | None]] = [
    ((), "object with 'x', 'list', 'union', 'either', 'any'"),
    (("x",), "object with 'name' (string)"),
    (("x", "parent", "parent", "name"), "string"),
    (("list",), "array: string, then integer any number of times"),
    (("list", 0), "string"),
    (("list", 1), "integer"),
    (("union",), "string or object with 'a'"),
    (("union", "a"), "integer"),
    (("either",), "null or object with 'name' (string)"),
    (("either", "parent", "name"), "string"),
    (("any",), None),
    (("other",), None),
    (("x", "name", "deeper"), None),
]


@pytest.mark.parametrize(("path", "words"), EXPECTED)
def test_what_is_expected_at_a_place_is_put_into_words(
    path: tuple[str | int, ...], words: str | None
) -> None:
    """Through references and unions; nothing where the schema does not say."""
    assert Validator(TREE, "x").expected(path) == words
    assert Validator({"additionalProperties": TREE, "$defs": PERSON}, "x").expected(("any", *path)) == words


# --- accepts -------------------------------------------------------------------------------------

ACCEPTED: list[tuple[Schema, Any, bool]] = [
    (TEXT, "a", True),
    (TEXT, 5, False),
    (COUNT, True, False),
    (COUNT, 3.0, True),
    ({}, None, True),
    ({"type": "integer", "minimum": 5}, 3, False),
    ({"type": "string", "title": "T", "description": "d", "$defs": {"A": COUNT}}, "a", True),
    ({"$ref": "#/$defs/A", "$defs": {"A": TEXT}}, "a", True),
    ({"type": "string", "$ref": "#/$defs/A", "$defs": {"A": COUNT}}, "a", False),
    ({"type": "strin"}, "a", False),
    ({"minLength": 1}, "\ud800", False),
]


@pytest.mark.parametrize(("schema", "value", "admitted"), ACCEPTED)
def test_whether_a_schema_admits_a_value(schema: Schema, value: Any, admitted: bool) -> None:
    """What is no schema admits nothing, and what cannot be written is not admitted."""
    assert accepts(schema, value) is admitted


# --- bounds --------------------------------------------------------------------------------------


def deep(levels: int) -> Schema:
    """A schema of so many levels."""
    made: Schema = {}
    for _ in range(levels - 1):
        made = {"not": made}
    return made


BOUNDS: list[tuple[str, Schema, Schema, str]] = [  # what fits, what does not, and the text
    ("levels", deep(128), deep(129), "has 129 levels; at most 128 can be served"),
    (
        "subschemas",
        {"anyOf": [{}] * 9_999},
        {"anyOf": [{}] * 10_000},
        "has 10,001 subschemas; at most 10,000 can be served",
    ),
    (
        "bytes",
        {"title": "x" * (1024 * 1024 - 12)},
        {"title": "x" * (1024 * 1024 - 11)},
        "has 1,048,577 bytes; at most 1,048,576 can be served",
    ),
    ("what is no JSON", {"default": 5}, {"default": object()}, "is no JSON, or contains itself"),
]


@pytest.mark.parametrize(
    ("small", "large", "text"), [case[1:] for case in BOUNDS], ids=[case[0] for case in BOUNDS]
)
def test_a_schema_of_an_author_s_has_bounds(small: Schema, large: Schema, text: str) -> None:
    """The text names the schema, what it has, and how much could be served."""
    check_bounds(small, "schema= of 'search'")
    with pytest.raises(RegistrationError) as caught:
        check_bounds(large, "schema= of 'search'")
    assert str(caught.value) == f"schema= of 'search' {text}"


def test_a_schema_that_contains_itself_is_refused() -> None:
    """It would have no end."""
    schema: Schema = {}
    schema["not"] = schema
    with pytest.raises(RegistrationError, match="contains itself"):
        check_bounds(schema, "x")


def test_a_pattern_that_looks_around_has_a_bound_too() -> None:
    """It is judged like any other; a text that takes too many steps does not match."""
    judge = Validator(table(a={"pattern": "^(?=a)[ab]+$"}, b={"pattern": r"^((a|aa)+)+\1c$"}), "x")
    assert judge.is_valid({"a": "ab"})
    for value in ({"a": "ba"}, {"b": "a" * 60}):
        assert not judge.is_valid(value)
        assert [issue.code for issue in judge.issues(value)] == ["pattern"]


RUNAWAYS = ["^(a+)+$", "^(a|aa)+$", r"^(?=(a+)+$)a", r"^((a|aa)+)+\1c$", "(.*)*=.*="]


@pytest.mark.parametrize("pattern", RUNAWAYS)
def test_no_pattern_runs_away(pattern: str) -> None:
    """Ten times the text takes no more than a hundred times as long, whatever the pattern is."""
    judge = Validator({"type": "string", "pattern": pattern}, "x")

    def spent(size: int) -> float:
        text = "a" * size + "!"
        began = time.process_time()
        for _ in range(20):
            judge.is_valid(text)
        return time.process_time() - began

    spent(1000)
    assert spent(10_000) < 100 * max(spent(1000), 1e-4)
