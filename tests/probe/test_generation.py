"""What is made of a schema: patterns, valid arguments, mistakes, and the calls in which they travel."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from typegate import MCPServer
from typegate.cli.target import load
from typegate.errors import RegistrationError
from typegate.probe.calls import Case, Rules, Subject, make_cases
from typegate.probe.faults import GONE, KINDS, replaced
from typegate.probe.patterns import matching
from typegate.probe.samples import EXAMPLES, Sampler

HERE = Path(__file__).parent
SHOWN = [HERE.parents[1] / "examples" / f"{name}_server.py" for name in ("tasks", "everything")]

WIDE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
        "status": {"enum": ["open", "done"]},
        "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"},
        "title": {"type": "string", "minLength": 3, "maxLength": 20},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": True},
        "flag": {"type": "boolean"},
        "home": {"$ref": "#/$defs/Home"},
        "who": {"anyOf": [{"$ref": "#/$defs/Home"}, {"$ref": "#/$defs/Firm"}, {"type": "null"}]},
        "more": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["day", "limit", "home"],
    "additionalProperties": False,
    "$defs": {
        "Home": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "rooms": {"type": "integer", "minimum": 1}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "Firm": {
            "type": "object",
            "properties": {"vat": {"type": "string"}},
            "required": ["vat"],
            "additionalProperties": False,
        },
    },
}


def cases(schema: dict[str, Any], seed: int = 0, most: int = 10_000, rules: Rules = Rules()) -> list[Case]:  # noqa: B008
    """The calls for a schema."""
    return make_cases(Subject(name="tool", schema=schema, rules=rules), seed, most)


def tree(case: Case) -> Any:
    """The arguments of a call, decoded."""
    return json.loads(case.arguments)


def of(schema: dict[str, Any], **properties: Any) -> list[Case]:
    """The calls for a tool with these parameters, all required."""
    made = {"type": "object", "properties": properties, "required": list(properties), **schema}
    return cases({"additionalProperties": False, **made})


# --- patterns and samples


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "^[A-Z]{2}[0-9]{8}$",
            r"^\d{4}-\d\d$",
            "a|b",
            "^(?:x|y)+z?$",
            "[^abc]",
            r"\w+@\w+\.com",
            "^$",
            ".*",
        ),
        *("^[+][0-9]{6,15}$", "(?<year>[0-9]{4})", r"^\u0041\x42$", "[]a]", "^[a-z]([-a-z0-9]*[a-z0-9])?$"),
        *("^(?=.*)abc{2}$", r"\s\S", "a{0}b", "a{,2}", "^[\\w-]+$"),
    ],
)
def test_a_text_is_made_for_a_pattern(pattern: str) -> None:
    """The text matches."""
    assert re.search(pattern.replace("(?<y", "(?P<y"), matching(pattern))


@pytest.mark.parametrize("pattern", ["[a", "(", "\\", "a{x}", "a{2"])
def test_a_pattern_that_is_not_understood_gives_something(pattern: str) -> None:
    """Half a pattern is no reason to fail."""
    assert isinstance(matching(pattern), str)


def test_arguments_are_valid() -> None:
    """Every variant satisfies the schema, whichever branch of a union it takes."""
    made = [Sampler(WIDE, variant).arguments() for variant in range(2)]
    for arguments in made:
        jsonschema.Draft202012Validator(WIDE).validate(arguments)
    assert [list(each["who"]) for each in made] == [["city", "rooms"], ["vat"]]


def test_the_short_form_has_what_is_required() -> None:
    """Nothing that may be left out is given."""
    assert list(Sampler(WIDE, full=False).arguments()) == ["day", "limit", "home"]


def test_every_place_is_found() -> None:
    """Members, items and what lies behind a reference have their places."""
    sampler = Sampler(WIDE)
    paths = {spot.path for spot in sampler.spots(sampler.arguments())}
    assert {(), ("day",), ("home", "city"), ("tags", 0), ("who", "rooms"), ("more", "text")} <= paths


def test_recursion_ends() -> None:
    """A type that holds itself is followed, and not for ever."""
    folder = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    folder["properties"]["children"] = {"type": "array", "items": {"$ref": "#/$defs/Folder"}}  # type: ignore[index]
    schema = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Folder"}},
        "$defs": {"Folder": folder},
    }
    arguments = Sampler(schema).arguments()
    assert arguments["root"]["children"][0]["name"] == "text"
    assert cases(schema)


def test_a_type_that_cannot_end_is_no_trap() -> None:
    """A schema that nothing satisfies gives no calls."""
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert cases(endless) == []


@pytest.mark.parametrize("name", ["date", "uuid", "ipv4", "ipv6", "email"])
def test_an_example_is_in_its_format(name: str) -> None:
    """What is given for a format is of it."""
    checker = jsonschema.FormatChecker()
    jsonschema.validate(EXAMPLES[name], {"format": name}, format_checker=checker)


@pytest.mark.parametrize(
    "node",
    [
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10, "multipleOf": 3},
        {"type": "number", "maximum": -3},
        {"type": ["string", "null"], "minLength": 9},
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 2},
        {"type": "object", "propertyNames": {"enum": ["k"]}, "additionalProperties": {"type": "boolean"}},
        {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False},
        {"allOf": [{"type": "string"}, {"maxLength": 2}]},
        {"const": 5},
        {},
        True,
    ],
)
def test_a_value_is_made_for_every_form(node: Any) -> None:
    """The value is valid, so that what is done to it is the only mistake."""
    schema = {"type": "object", "properties": {"x": node}, "required": ["x"]}
    first = cases(schema)[0]
    assert first.valid
    jsonschema.validate(tree(first), schema)


# --- mistakes


def test_every_kind_of_mistake_is_made() -> None:
    """A schema that has everything gets every kind of call."""
    assert {case.kind for case in cases(WIDE)} == {*KINDS, "valid"}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "wire"])
def test_every_kind_is_malformed_somewhere(kind: str) -> None:
    """No kind of mistake only makes valid calls."""
    assert any(not case.valid for case in cases(WIDE) if case.kind == kind)


@pytest.mark.parametrize(
    "path", [("who", "city"), ("tags", 0), ("more", "text"), ("home", "rooms"), ("who", "vat")]
)
def test_every_depth_is_reached(path: tuple[str | int, ...]) -> None:
    """Wrong types are put behind references, into unions, lists and open objects."""
    assert any(case.kind == "type" and path in case.places for case in cases(WIDE))


def test_bounds_are_probed_from_both_sides() -> None:
    """At the bound is valid, one beyond is not."""
    made = of({}, x={"type": "integer", "minimum": 1, "maximum": 9})
    seen = {tree(case)["x"]: case.valid for case in made if case.kind in ("range", "valid")}
    assert (seen[1], seen[9], seen[0], seen[10]) == (True, True, False, False)


def test_sizes_are_probed_from_both_sides() -> None:
    """Texts and lists of the least and the greatest size are valid, one more or less is not."""
    text = of({}, x={"type": "string", "minLength": 2, "maxLength": 5})
    sizes = {len(tree(case)["x"]): case.valid for case in text if case.kind == "length"}
    assert sizes.items() >= {2: True, 5: True, 1: False, 6: False}.items()
    items = of({}, x={"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3})
    counts = {len(tree(case)["x"]): case.valid for case in items if case.kind == "length"}
    assert counts == {1: False, 3: True, 4: False}


def test_words_for_dates_are_tried() -> None:
    """What people and models say instead of a date."""
    made = of({}, day={"type": "string", "format": "date"})
    words = {tree(case)["day"] for case in made if case.kind == "format" and not case.valid}
    assert {"today", "tomorrow", "2026-13-40", "2026-02-30", "30.11.2026", "next week"} <= words


def test_names_are_tried() -> None:
    """A name near a real one, and names that are special somewhere."""
    made = of({}, due_from={"type": "string"})
    names = {name for case in made if case.kind == "unknown" for name in tree(case).keys() - {"due_from"}}
    assert {"dueFrom", "due_froms", "DUE_FROM", "__proto__", "", "a\u0000b", "\u202etxet"} <= names


def test_each_required_member_is_left_out() -> None:
    """One by one, at every depth, and the refusal must name it."""
    gone = {place for case in cases(WIDE) if case.kind == "missing" for place in case.places}
    assert {("day",), ("limit",), ("home",), ("home", "city"), ("who", "vat")} <= gone


def test_messages_that_are_no_json_are_made() -> None:
    """They cannot be decoded, or not into one meaning, and there is nothing that a refusal could name."""
    wire = [case for case in cases(WIDE) if case.kind == "wire"]
    assert all(any(part in case.arguments for case in wire) for part in (b"NaN", b":01", b"\\ud800"))
    assert sum("a key twice" in case.label for case in wire) == 3
    assert not any(case.valid or case.places for case in wire)


def test_replacing_leaves_the_original_alone() -> None:
    """A copy is changed, appended to, or loses a member."""
    value = {"a": [1, {"b": 2}]}
    assert replaced(value, ("a", 1, "b"), 3) == {"a": [1, {"b": 3}]}
    assert replaced(value, ("a", 2), 3) == {"a": [1, {"b": 2}, 3]}
    assert replaced(value, ("a", 1, "b"), GONE) == {"a": [1, {}]}
    assert replaced(value, (), 3) == 3
    assert value == {"a": [1, {"b": 2}]}


# --- calls


def test_the_seed_decides() -> None:
    """The same seed makes the same calls, another one others."""
    assert cases(WIDE, seed=1) == cases(WIDE, seed=1)
    assert cases(WIDE, seed=1) != cases(WIDE, seed=2)


def test_a_bound_on_the_calls_keeps_every_kind() -> None:
    """Of each kind as many as there can be, and the order stays."""
    everything, few = cases(WIDE), cases(WIDE, most=60)
    assert len(few) == 60
    assert {case.kind for case in few} == {case.kind for case in everything}
    places = [everything.index(case) for case in few]
    assert places == sorted(places)


def test_no_call_is_made_twice() -> None:
    """Every call says something new."""
    made = [case.arguments for case in cases(WIDE)]
    assert len(made) == len(set(made))


def servers() -> list[MCPServer]:
    """The servers whose schemas are looked at."""
    return [load(str(path)).server for path in (HERE / "rich_server.py", *SHOWN)]


def test_what_is_malformed_is_so_for_another_judge() -> None:
    """The `jsonschema` package agrees on every call, but where formats and texts are annotations to it."""
    checked = 0
    for server in servers():
        for plan in server.catalogue.tools:
            schema = plan.arguments.schema
            judge = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
            for case in make_cases(Subject(name=plan.key, schema=schema), 0, 400):
                if case.kind in ("wire", "number") or "format" in json.dumps(schema):
                    continue
                checked += 1
                assert judge.is_valid(tree(case)) == case.valid, (plan.key, case.label)
    assert checked > 1_000


def test_a_format_is_malformed_for_another_judge() -> None:
    """Words for a date are no date for the `jsonschema` package either."""
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    judge = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    for case in cases(schema):
        if case.kind == "format" and not case.valid:
            assert not judge.is_valid(tree(case)), case.label


def test_null_is_valid_where_the_types_have_it() -> None:
    """The null rule: the listing does not offer it, the gate takes it; elsewhere it is malformed."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    types = {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {"type": "string"}}}
    made = cases(schema, rules=Rules(types=types))
    nulls = {case.label: case.rule for case in made if case.kind == "null"}
    assert nulls == {"a: null": "null", "b: null": None}


def test_repair_is_valid_where_no_text_is_admitted() -> None:
    """A list as text is taken by the rule of repair, but not where a text may stand."""
    items = {"type": "array", "items": {"type": "integer"}}
    open_ = {"anyOf": [{"type": "string", "pattern": "^x"}, items]}
    made = cases({"type": "object", "properties": {"a": items, "b": open_}}, rules=Rules(repair="containers"))
    assert {case.rule for case in made if case.label.startswith("a: array as the text")} == {"repair", None}
    assert {case.rule for case in made if case.label.startswith("b: ")} == {None}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {}]},
        {"properties": {"a": {"enum": [[1]], "multipleOf": 2, "minimum": 1}}},
        {"properties": {"a": {"$ref": "#/$defs/gone~1a"}}, "$defs": {"gone/a": {"const": None}}},
        {"properties": {"a": {"$ref": "#here"}}, "$defs": {"b": {"$anchor": "here", "type": "integer"}}},
        {"properties": {"a": {"type": "array", "contains": {"const": 1}, "prefixItems": [{}]}}},
        {"properties": {"a": False}, "additionalProperties": True},
        {"propertyNames": {"pattern": "^k", "maxLength": 3}, "additionalProperties": {}, "minProperties": 2},
        {"properties": {"a": {"type": "number", "multipleOf": 0.1, "maximum": 0.5}}},
        {"properties": {"": {"type": "string"}, "$ref": {"type": "string"}}, "required": ["", "$ref"]},
        {"dependentRequired": {"a": ["b"]}, "properties": {"a": {}, "b": {}}},
        {"not": {"required": ["a"]}, "properties": {"a": {}}},
    ],
)
def test_odd_schemas_are_no_trap(schema: dict[str, Any]) -> None:
    """Whatever a server publishes, there is something to call it with."""
    made = cases({"type": "object", **schema})
    assert any(case.valid for case in made)
    assert any(not case.valid for case in made)


def test_what_is_no_schema_is_refused() -> None:
    """A reference out of the document is not followed."""
    with pytest.raises(RegistrationError):
        cases({"type": "object", "properties": {"a": {"$ref": "https://example.com/schema"}}})
