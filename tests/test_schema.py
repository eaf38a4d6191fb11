"""What `typegate.contract.schema` promises: small schemas that say the same, and resolve in themselves."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from typegate.contract.schema import as_object, is_object, publish, subschemas, without_bad_defaults

Schema = dict[str, Any]

NULL = {"type": "null"}
TEXT = {"type": "string"}
PLACE = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
}


def accepts(schema: Schema, value: Any) -> bool:
    """An independent judge."""
    return Draft202012Validator(schema).is_valid(value)


def compact(schema: Schema, side: Any = "input") -> Schema:
    """As it is published by default."""
    return publish(schema, "compact", side)


def taking(name: str, node: Any, **more: Any) -> Schema:
    """The schema of an object with one member."""
    return {"type": "object", "properties": {name: node}, **more}


def member(schema: Schema, name: str = "x") -> Any:
    """The schema of that member."""
    return schema["properties"][name]


# --- walking -------------------------------------------------------------------------------------

PLACES: list[Callable[[Any], Schema]] = [
    lambda inner: {"properties": {"title": inner}},
    lambda inner: {"patternProperties": {"^a": inner}},
    lambda inner: {"$defs": {"type": inner}},
    lambda inner: {"definitions": {"A": inner}},
    lambda inner: {"dependentSchemas": {"a": inner}},
    lambda inner: {"anyOf": [inner]},
    lambda inner: {"oneOf": [True, inner]},
    lambda inner: {"allOf": [inner]},
    lambda inner: {"prefixItems": [inner]},
    lambda inner: {"items": inner},
    lambda inner: {"additionalProperties": inner},
    lambda inner: {"not": inner},
    lambda inner: {"if": inner},
    lambda inner: {"then": inner},
    lambda inner: {"else": inner},
    lambda inner: {"contains": inner},
    lambda inner: {"propertyNames": inner},
    lambda inner: {"unevaluatedItems": inner},
    lambda inner: {"unevaluatedProperties": inner},
]

VALUE = {"const": 1, "items": {"const": 2}}
NO_PLACES: list[Schema] = [
    {"default": VALUE},
    {"const": VALUE},
    {"enum": [VALUE]},
    {"examples": [VALUE]},
    {"required": ["const", "items"]},
    {"x-own": VALUE},
    {"properties": {"a": True}},
    {"items": False},
]


@pytest.mark.parametrize("place", PLACES)
def test_a_schema_is_found_wherever_one_may_stand(place: Callable[[Any], Schema]) -> None:
    """The outer one first, at every depth."""
    schema = place(place(TEXT))
    assert list(subschemas(schema)) == [schema, place(TEXT), TEXT]


@pytest.mark.parametrize("schema", NO_PLACES)
def test_what_only_looks_like_a_schema_is_none(schema: Schema) -> None:
    """A value is a value, and the boolean schemas have nothing inside."""
    assert list(subschemas(schema)) == [schema]


@pytest.mark.parametrize("place", [place for place in PLACES if "$defs" not in place(TEXT)])
def test_a_change_is_made_wherever_a_schema_may_stand(place: Callable[[Any], Schema]) -> None:
    """Here the word for one value: the published form has one way to say it."""
    assert compact(place(place({"const": 1})), "output") == place(place({"enum": [1]}))


@pytest.mark.parametrize("schema", NO_PLACES)
def test_what_is_no_schema_is_left_as_it_is(schema: Schema) -> None:
    """Whatever it looks like."""
    assert compact(schema) == ({"enum": [VALUE]} if "const" in schema else schema)


@pytest.mark.parametrize("style", ["compact", "inline", "pydantic"])
@pytest.mark.parametrize("side", ["input", "output"])
def test_the_schema_that_was_given_is_left_alone(style: Any, side: Any) -> None:
    """What is published is a copy."""
    node = {"title": "X", "anyOf": [{"$ref": "#/$defs/Tree"}, NULL], "default": None, "const": 1}
    schema = taking("x", node, **{"$defs": {"Tree": TREE}})
    before = copy.deepcopy(schema)
    publish(schema, style, side)
    as_object(schema)
    without_bad_defaults(schema, accepts)
    assert schema == before


# --- compact: titles -----------------------------------------------------------------------------

TITLES = [  # a property, its title, whether it says more than the name
    ("first_name", "First Name", False),
    ("firstName", "firstname", False),
    ("first_name", "FIRST-NAME", False),
    ("x", "X", False),
    ("x", "The place", True),
    ("x", "", True),
    ("first_name", "Name", True),
]


@pytest.mark.parametrize(("name", "title", "kept"), TITLES)
def test_a_title_that_only_repeats_the_name_is_dropped(name: str, title: str, kept: bool) -> None:
    """One that an author wrote stays."""
    found = member(compact(taking(name, {"type": "string", "title": title})), name)
    assert found == ({"type": "string", "title": title} if kept else TEXT)


@pytest.mark.parametrize("name", ["Place", "my_module__Place", "Pl_ace"])
def test_the_title_of_a_definition_is_its_name(name: str) -> None:
    """Also where its module had to tell it from another one."""
    node = {"title": "Place", **PLACE}
    schema = {"type": "array", "prefixItems": [{"$ref": f"#/$defs/{name}"}] * 2, "$defs": {name: node}}
    assert compact(schema, "output")["$defs"] == {name: PLACE}
    kept = {**schema, "$defs": {name: {**node, "title": "A place"}}}
    assert compact(kept, "output")["$defs"][name]["title"] == "A place"


def test_the_title_of_the_root_is_dropped() -> None:
    """The component's own stands beside the schema."""
    assert "title" not in compact({"title": "Whatever it is", **PLACE})


def test_the_names_of_positions_do_not_travel() -> None:
    """The fields of a named tuple are told apart by their order."""
    found = compact({"type": "array", "prefixItems": [{"title": "Anything", "type": "string"}, True]})
    assert found["prefixItems"] == [TEXT, True]


def test_a_property_may_be_called_like_a_keyword() -> None:
    """No name is taken for one."""
    names = ("title", "const", "default", "$ref", "anyOf", "discriminator", "$defs", "enum")
    schema = {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": list(names)}
    assert compact(schema) == schema


def test_the_words_of_other_languages_are_dropped() -> None:
    """`discriminator` is of OpenAPI; `const` is written as `enum`, unless there is one already."""
    found = compact(taking("x", {"oneOf": [TEXT], "discriminator": {"propertyName": "a"}}))
    assert member(found) == {"oneOf": [TEXT]}
    assert member(compact(taking("x", {"const": "a", "type": "string"}))) == {"enum": ["a"], "type": "string"}
    assert member(compact(taking("x", {"const": None}))) == {"enum": [None]}
    assert member(compact(taking("x", {"const": 1, "enum": [1, 2]}))) == {"const": 1, "enum": [1, 2]}


# --- compact: nulls ------------------------------------------------------------------------------

NULLS: list[tuple[Schema, Schema]] = [
    ({"anyOf": [TEXT, NULL], "default": None}, TEXT),
    ({"anyOf": [TEXT, NULL]}, {"anyOf": [TEXT, NULL]}),
    ({"anyOf": [NULL, TEXT], "default": "a"}, {"type": "string", "default": "a"}),
    (
        {"anyOf": [TEXT, {"type": "integer"}, NULL], "default": 1},
        {"anyOf": [TEXT, {"type": "integer"}], "default": 1},
    ),
    (
        {
            "anyOf": [{"type": "string", "description": "inner"}, NULL],
            "description": "outer",
            "default": None,
        },
        {"type": "string", "description": "outer"},
    ),
    (
        {"anyOf": [TEXT, {"type": "integer"}], "default": None},
        {"anyOf": [TEXT, {"type": "integer"}], "default": None},
    ),
    ({"type": "string", "default": None}, {"type": "string", "default": None}),
    ({"oneOf": [TEXT, NULL]}, {"oneOf": [TEXT, NULL]}),
    (NULL, NULL),
]


@pytest.mark.parametrize(("given", "published"), NULLS)
def test_what_has_a_default_is_published_without_its_null(given: Schema, published: Schema) -> None:
    """A default that is null goes with it; where nothing says what leaving out means, the null stays."""
    assert member(compact(taking("x", given))) == published


def test_what_must_be_given_keeps_its_null() -> None:
    """There it is a value like any other, and so it is in a result, in an array and at the root."""
    union = {"anyOf": [TEXT, NULL]}
    assert member(compact(taking("x", union, required=["x"]))) == union
    assert member(compact(taking("x", union), "output")) == union
    assert compact({"type": "array", "items": union}) == {"type": "array", "items": union}
    assert compact(union) == union


def test_a_boolean_schema_of_a_property_is_left_as_it_is() -> None:
    """`true` has no null to drop."""
    assert member(compact(taking("x", True))) is True


def test_members_at_any_depth_lose_their_null() -> None:
    """Those of definitions too."""
    inner = taking("y", {"anyOf": [TEXT, NULL], "default": None})
    schema = taking("x", {"type": "array", "items": inner}, required=["x"])
    assert member(member(compact(schema))["items"], "y") == TEXT
    shared = {"$ref": "#/$defs/Inner"}
    schema = {"type": "object", "properties": {"x": shared, "y": shared}, "$defs": {"Inner": inner}}
    assert member(compact(schema)["$defs"]["Inner"], "y") == TEXT


# --- compact: definitions ------------------------------------------------------------------------


def using(definition: Schema, times: int, name: str = "Place") -> Schema:
    """A schema that refers to a definition so many times."""
    properties = {f"p{index}": {"$ref": f"#/$defs/{name}"} for index in range(times)}
    return {"type": "object", "properties": properties, "$defs": {name: definition}}


USES = [  # a definition, how often it is used; where it stays, by style
    (PLACE, 1, {"inline": False, "compact": False}),
    (PLACE, 2, {"inline": False, "compact": True}),
    ({"enum": ["a", "b"]}, 2, {"inline": False, "compact": False}),
    (TREE, 2, {"inline": True, "compact": True}),
    (TREE, 1, {"inline": True, "compact": True}),
]


@pytest.mark.parametrize("style", ["compact", "inline"])
@pytest.mark.parametrize(("definition", "times", "stays"), USES)
def test_a_definition_stays_where_it_saves_something(
    definition: Schema, times: int, stays: dict[str, bool], style: Any
) -> None:
    """What is used once and every enum is inlined; `inline` leaves only what is recursive."""
    name = "Tree" if definition is TREE else "Place"
    found = publish(using(definition, times, name), style, "input")
    wanted = {"$ref": f"#/$defs/{name}"} if stays[style] else definition
    assert found["properties"] == {f"p{index}": wanted for index in range(times)}
    assert found.get("$defs") == ({name: definition} if stays[style] else None)


def test_what_stands_beside_a_reference_goes_before_what_it_refers_to() -> None:
    """The description of a parameter is about that parameter."""
    schema = using({**PLACE, "description": "any place"}, 1)
    schema["properties"]["p0"].update(description="where", default={"city": "Oslo"})
    assert member(compact(schema), "p0") == {**PLACE, "description": "where", "default": {"city": "Oslo"}}


def test_definitions_are_inlined_into_one_another() -> None:
    """A chain of them disappears, and one that is still used keeps what it needs."""
    chain = {
        "A": {"type": "array", "items": {"$ref": "#/$defs/B"}},
        "B": taking("c", {"$ref": "#/$defs/C"}),
        "C": PLACE,
    }
    found = compact(taking("x", {"$ref": "#/$defs/A"}, **{"$defs": chain}))
    assert found == taking("x", {"type": "array", "items": taking("c", PLACE)})
    shared = {"type": "object", "properties": {key: {"$ref": "#/$defs/B"} for key in "xy"}, "$defs": chain}
    assert compact(shared)["$defs"] == {"B": taking("c", PLACE)}


def test_what_nothing_refers_to_is_dropped() -> None:
    """Also where it refers to itself."""
    assert compact({**PLACE, "$defs": {"Tree": TREE, "Place": PLACE}}) == PLACE


@pytest.mark.parametrize("style", ["compact", "inline"])
def test_a_ring_of_definitions_stays(style: Any) -> None:
    """Each refers to itself by way of the other."""
    ring = {"A": taking("b", {"$ref": "#/$defs/B"}), "B": taking("a", {"$ref": "#/$defs/A"})}
    schema = taking("x", {"$ref": "#/$defs/A"}, **{"$defs": ring})
    assert publish(schema, style, "input") == schema


def test_a_reference_to_what_is_no_definition_is_left_as_it_is() -> None:
    """To the root, or out of the document."""
    for reference in ("#", "#/properties/y", "https://example.com/x", 5):
        schema = taking("x", {"$ref": reference}, **{"$defs": {"Place": PLACE}})
        assert compact(schema) == taking("x", {"$ref": reference})


@pytest.mark.parametrize("style", ["compact", "inline", "pydantic"])
def test_a_root_that_is_a_reference_becomes_what_it_refers_to(style: Any) -> None:
    """Clients want a type there; the definition stays for the references inside."""
    found = publish({"$ref": "#/$defs/Tree", "$defs": {"Tree": TREE}, "description": "d"}, style, "output")
    assert found == {**TREE, "description": "d", "$defs": {"Tree": TREE}}


def test_the_pydantic_style_leaves_the_rest_as_it_was_generated() -> None:
    """Titles, nulls, constants, definitions."""
    node = {"title": "X", "anyOf": [{"$ref": "#/$defs/Place"}, NULL], "default": None}
    schema = {**taking("x", node, title="Anything"), "$defs": {"Place": {"const": 1, "title": "Place"}}}
    assert publish(schema, "pydantic", "input") == schema


@pytest.mark.parametrize("style", ["compact", "inline", "pydantic"])
def test_keywords_come_in_an_order_that_can_be_read(style: Any) -> None:
    """What it is comes first, its definitions last."""
    schema = {"$defs": {"Tree": TREE}, "x": 1, "required": ["t"], "additionalProperties": False}
    schema |= {"properties": {"t": {"$ref": "#/$defs/Tree"}}, "description": "d", "type": "object"}
    order = ["type", "description", "properties", "required", "additionalProperties", "x", "$defs"]
    assert list(publish(schema, style, "input")) == order
    assert "$defs" not in publish({**PLACE, "$defs": {}}, style, "input")


# --- the object form -----------------------------------------------------------------------------

OBJECTS: list[tuple[Schema, bool]] = [
    ({"type": "object"}, True),
    ({"type": "object", "anyOf": [TEXT]}, True),
    ({"anyOf": [PLACE, {"type": "object"}]}, True),
    ({"oneOf": [PLACE, {"type": "object"}]}, True),
    ({"anyOf": [{"$ref": "#/$defs/Place"}, {"oneOf": [PLACE]}]}, True),
    ({"anyOf": [PLACE, TEXT]}, False),
    ({"oneOf": [PLACE, NULL]}, False),
    ({"anyOf": [{"$ref": "#/$defs/Name"}]}, False),
    ({"anyOf": []}, False),
    ({"type": ["object", "null"]}, False),
    ({"type": "array"}, False),
    ({"properties": {}}, False),
    ({}, False),
]


@pytest.mark.parametrize(("schema", "expected"), OBJECTS)
def test_whether_all_that_a_schema_admits_is_an_object(schema: Schema, expected: bool) -> None:
    """By its type, or by that of all its branches."""
    root = {**schema, "$defs": {"Place": PLACE, "Name": TEXT}}
    assert is_object(schema, root) is expected


def test_an_object_is_left_as_it_is() -> None:
    """One whose branches are all objects gets the type at its root."""
    assert as_object(PLACE) == PLACE
    union = {"anyOf": [PLACE, {"type": "object"}]}
    assert as_object(union) == {"type": "object", **union}


@pytest.mark.parametrize("schema", [TEXT, {"type": "array", "items": PLACE}, {"anyOf": [PLACE, NULL]}, {}])
def test_what_is_no_object_is_put_into_one(schema: Schema) -> None:
    """As its only member, which is required."""
    made = as_object(schema)
    assert made == {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def test_definitions_stay_at_the_root_of_the_object() -> None:
    """So that the references to them still hold; `$schema` would be out of place inside."""
    schema = {"$schema": "s", "type": "array", "items": {"$ref": "#/$defs/Place"}, "$defs": {"Place": PLACE}}
    made = as_object(schema)
    assert made["properties"]["result"] == {"type": "array", "items": {"$ref": "#/$defs/Place"}}
    assert made["$defs"] == {"Place": PLACE}
    assert accepts(made, {"result": [{"city": "Oslo"}]})
    assert not accepts(made, {"result": [{}]})


def test_references_to_the_old_root_lead_one_level_down() -> None:
    """Also from inside a definition, and to a place below the root."""
    schema = {
        "type": "array",
        "items": {"anyOf": [TEXT, {"$ref": "#"}, {"$ref": "#/$defs/Box"}, {"$ref": "#/items/anyOf/0"}]},
        "$defs": {"Box": taking("x", {"$ref": "#"}, required=["x"])},
    }
    made = as_object(schema)
    for value, admitted in [
        (["a", ["b"], {"x": [[]]}], True),
        ([1], False),
        ([["a", [1]]], False),
        ([{"x": [1]}], False),
        ({"result": []}, False),
    ]:
        assert accepts(schema, value) is admitted
        assert accepts(made, {"result": value}) is admitted


# --- defaults ------------------------------------------------------------------------------------

ROW = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"a": {"type": "integer"}, "b": TEXT}}

DEFAULTS: list[tuple[Schema, Any, Any]] = [  # a schema, its default; what stays of it, or ... for nothing
    (TEXT, "a", "a"),
    (TEXT, None, ...),
    (TEXT, 5, ...),
    ({}, None, None),
    ({"type": "array", "items": TEXT}, ["a", 1], ...),
    (OPEN, {"a": 1, "b": None}, {"a": 1}),
    (OPEN, {"a": None, "b": None}, {}),
    (OPEN, {"a": "x", "b": None}, ...),
    (OPEN, {"a": 1, "c": None}, {"a": 1, "c": None}),
    (taking("x", {"type": "string", "default": "a"}), {"x": None}, ...),
    (ROW, {"a": None}, ...),
    (ROW, {"a": 1, "b": None}, ...),
    (taking("x", OPEN), {"x": {"b": None}}, {"x": {}}),
    ({"type": "array", "items": OPEN}, [{"b": None}, {"a": 1}], [{}, {"a": 1}]),
    ({"type": "array", "items": TEXT}, ["a", None], ...),
    (
        {"type": "array", "prefixItems": [OPEN, TEXT], "items": OPEN},
        [{"a": None}, "x", {"b": None}],
        [{}, "x", {}],
    ),
    ({"type": "array", "prefixItems": [OPEN, True]}, [{"a": None}, {"a": None}], [{}, {"a": None}]),
    ({"type": "object", "additionalProperties": OPEN}, {"k": {"b": None}}, {"k": {}}),
    ({"anyOf": [TEXT, OPEN]}, {"b": None}, {}),
    ({"oneOf": [TEXT, OPEN]}, {"b": None}, {}),
    ({"anyOf": [TEXT, ROW]}, {"a": None}, ...),
    ({"$ref": "#/$defs/Open"}, {"b": None}, {}),
    ({"$ref": "#/$defs/Open"}, {"b": 1}, ...),
    (
        {"type": "object", "properties": {"a": {"anyOf": [TEXT, NULL]}, "b": TEXT}},
        {"a": None, "b": None},
        {"a": None},
    ),
]


@pytest.mark.parametrize(("node", "default", "stays"), DEFAULTS)
def test_a_default_is_one_that_its_schema_admits(node: Schema, default: Any, stays: Any) -> None:
    """Nulls that are no longer offered are left out of it, which says the same; else it is dropped."""
    schema = taking("x", {**node, "default": default}, **{"$defs": {"Open": OPEN}})
    wanted = node if stays is ... else {**node, "default": stays}
    assert without_bad_defaults(schema, accepts) == taking("x", wanted, **{"$defs": {"Open": OPEN}})


def test_defaults_are_mended_wherever_they_stand() -> None:
    """In definitions too, and one whose own member is called `default` is none."""
    schema = taking("default", TEXT, **{"$defs": {"A": taking("x", {"type": "string", "default": None})}})
    assert without_bad_defaults(schema, accepts) == taking(
        "default", TEXT, **{"$defs": {"A": taking("x", TEXT)}}
    )


def test_a_default_is_judged_by_what_stands_beside_it() -> None:
    """With the definitions of the whole, and without the default itself."""
    asked: list[Schema] = []

    def accept(schema: Schema, value: Any) -> bool:
        asked.append(schema)
        return True

    without_bad_defaults(taking("x", {"type": "string", "default": "a"}, **{"$defs": {"A": TEXT}}), accept)
    assert asked == [{"type": "string", "$defs": {"A": TEXT}}]


# --- bounds --------------------------------------------------------------------------------------


def ladder(levels: int, step: Callable[[Any], Schema]) -> Schema:
    """Definitions of which each uses the one below twice."""
    made: Schema = {"L0": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    for level in range(1, levels):
        made[f"L{level}"] = step({"$ref": f"#/$defs/L{level - 1}"})
    return taking("x", {"$ref": f"#/$defs/L{levels - 1}"}, **{"$defs": made})


LADDERS: list[Callable[[Any], Schema]] = [
    lambda below: {"type": "object", "properties": {"a": below, "b": below}},
    lambda below: {"type": "array", "prefixItems": [below, below]},
]


@pytest.mark.parametrize("step", LADDERS, ids=["objects", "arrays"])
@pytest.mark.parametrize("style", ["compact", "inline"])
def test_definitions_stay_where_a_schema_would_grow_out_of_bounds(style: Any, step: Any) -> None:
    """What is used twice at each of forty levels would stand there a trillion times."""
    made = publish(ladder(40, step), style, "input")
    assert sum(1 for _ in subschemas(made)) <= 1_000
    assert "$defs" in made
    Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("step", LADDERS, ids=["objects", "arrays"])
def test_within_bounds_nothing_is_left_to_refer_to(step: Any) -> None:
    """The inline style has no references there."""
    assert "$defs" not in publish(ladder(6, step), "inline", "input")


def test_what_is_required_of_a_reference_is_required_where_it_is_inlined() -> None:
    """The tag of a branch stands beside its reference."""
    branch = {"$ref": "#/$defs/Place", "required": ["country"]}
    place = {**PLACE, "properties": {**PLACE["properties"], "country": {**TEXT, "default": "no"}}}
    made = compact(taking("x", {"oneOf": [branch]}, **{"$defs": {"Place": place}}))
    [found] = member(made)["oneOf"]
    assert found["required"] == ["city", "country"]
    assert found["properties"]["country"] == TEXT
