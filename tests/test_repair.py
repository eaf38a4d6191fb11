"""What `typegate.contract.repair` promises: where a string may be meant, nothing is touched."""

import json
from typing import Any

import pytest

from typegate.contract.repair import Mender
from typegate.types import Json

TEXT = {"type": "string"}
COUNT = {"type": "integer"}
COUNTS = {"type": "array", "items": COUNT}
BOX = {"type": "object", "properties": {"sizes": COUNTS}, "required": ["sizes"]}
Schema = dict[str, Any]


def taking(schema: Json, **more: Any) -> Schema:
    """Arguments with one member, `x`."""
    return {"type": "object", "properties": {"x": schema}, **more}


def mended(schema: Schema, value: Json, mode: Any = "containers", nulls: bool = False) -> tuple[Json, Any]:
    """What becomes of `x`, and the places that were changed."""
    tree, places = Mender(schema, mode, nulls).mend({"x": value})
    return tree.get("x", ...), list(places)


READ: list[tuple[Json, Json, Json]] = [  # a schema, a text; what it stands for
    (COUNTS, "[1, 2]", [1, 2]),
    (COUNTS, " [1]\n", [1]),
    (COUNTS, '["a"]', ["a"]),
    (BOX, '{"sizes": [1]}', {"sizes": [1]}),
    ({"anyOf": [COUNTS, {"type": "null"}]}, "[1]", [1]),
    ({"anyOf": [COUNTS, BOX]}, '{"sizes": []}', {"sizes": []}),
    ({"oneOf": [COUNTS, COUNT]}, "[1]", [1]),
    ({"allOf": [{"type": ["array", "string"]}, COUNTS]}, "[1]", [1]),
    ({"type": ["array", "null"]}, "[]", []),
    ({"$ref": "#/$defs/Box"}, '{"sizes": [1]}', {"sizes": [1]}),
    ({"$ref": "#/properties/x/anyOf/0", "anyOf": [COUNTS]}, "[1]", [1]),
    ({"enum": [[1], [2]]}, "[1]", [1]),
    ({"const": {"a": 1}}, '{"a": 1}', {"a": 1}),
]


@pytest.mark.parametrize(("schema", "text", "meant"), READ, ids=range(len(READ)))
@pytest.mark.parametrize("mode", ["containers", "all"])
def test_a_container_that_came_as_text_is_read(mode: Any, schema: Json, text: str, meant: Json) -> None:
    """Through unions, references and lists of types."""
    found = mended(taking(schema, **{"$defs": {"Box": BOX}}), text, mode)
    assert found == (meant, [("x",)])


KEPT: list[tuple[Json, str]] = [  # a schema, a text that stays as it is
    (TEXT, "[1]"),
    ({}, "[1]"),
    (True, "[1]"),
    ({"type": ["array", "string"]}, "[1]"),
    ({"anyOf": [COUNTS, TEXT]}, "[1]"),
    ({"anyOf": [COUNTS, {"enum": ["a"]}]}, "[1]"),
    ({"anyOf": [COUNTS, {"const": "a"}]}, "[1]"),
    ({"anyOf": [COUNTS, {}]}, "[1]"),
    ({"anyOf": [COUNTS, {"$ref": "#/$defs/Text"}]}, "[1]"),
    ({"oneOf": [COUNTS, {"allOf": [TEXT]}]}, "[1]"),
    ({"$ref": "https://example.com/elsewhere"}, "[1]"),
    ({"$ref": "#/$defs/Nothing"}, "[1]"),
    ({"$ref": "#anchor"}, "[1]"),
    ({"$ref": "#/$defs/Loop"}, "[1]"),
    ({"$dynamicRef": "#x"}, "[1]"),
    (COUNTS, "1, 2"),
    (COUNTS, '"[1]"'),
    (COUNTS, '{"a": 1}'),
    (COUNTS, "[1"),
    (COUNTS, ""),
    (COUNTS, "[NaN]"),
    (COUNTS, "[1e999]"),
    (COUNTS, "[1" + "0" * 400 + "]"),
    (COUNTS, "[0.12345678901234567890]"),
    (COUNTS, '["\\ud800"]'),
    (BOX, '{"a": 1, "a": 2}'),
    (COUNTS, "[" * 64 + "]" * 64),
    (COUNTS, "[" * 100_000),
    (COUNT, "5"),
    ({"type": "boolean"}, "true"),
]


@pytest.mark.parametrize(("schema", "text"), KEPT, ids=range(len(KEPT)))
def test_a_text_that_may_be_meant_as_one_is_not_touched(schema: Json, text: str) -> None:
    """Nor is one that is no JSON by the rules of a message, or would lose something."""
    definitions = {"Text": TEXT, "Loop": {"$ref": "#/$defs/Loop"}}
    assert mended(taking(schema, **{"$defs": definitions}), text) == (text, [])


@pytest.mark.parametrize(
    ("schema", "text", "meant"),
    [
        (COUNT, "5", 5),
        ({"type": "number"}, "5", 5),
        ({"type": "number"}, "-1.5", -1.5),
        ({"type": "boolean"}, "true", True),
        ({"anyOf": [COUNT, {"type": "null"}]}, "5", 5),
        (COUNTS, '["1", "2"]', [1, 2]),
    ],
)
def test_numbers_and_booleans_are_read_where_the_author_says_so(schema: Json, text: str, meant: Json) -> None:
    """With `all`."""
    assert mended(taking(schema), text, "all")[0] == meant


@pytest.mark.parametrize("text", ["true", "1.5", "yes", "5 ", "0x5", "null", "True", "٥"])
def test_what_is_no_such_number_is_not_read(text: str) -> None:
    """White space around it is JSON, anything else is not."""
    assert mended(taking(COUNT), text, "all")[0] == (5 if text == "5 " else text)


@pytest.mark.parametrize("mode", ["none"])
def test_nothing_is_read_where_the_author_says_so(mode: Any) -> None:
    """With `none`."""
    assert mended(taking(COUNTS), "[1]", mode) == ("[1]", [])


DEEP = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": BOX},
        "pair": {"type": "array", "prefixItems": [TEXT, COUNTS]},
        "open": {"type": "object", "additionalProperties": COUNTS},
        "way": {"anyOf": [{"properties": {"kind": {"const": "a"}, "v": COUNTS}, "type": "object"},
                          {"properties": {"kind": {"const": "b"}, "v": TEXT}, "type": "object"}]},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "meant", "places"),
    [
        ({"rows": [{"sizes": "[1]"}]}, {"rows": [{"sizes": [1]}]}, [("x", "rows", 0, "sizes")]),
        (
            {"rows": '[{"sizes": "[1]"}]'},
            {"rows": [{"sizes": [1]}]},
            [("x", "rows"), ("x", "rows", 0, "sizes")],
        ),
        ({"pair": ["[1]", "[1]"]}, {"pair": ["[1]", [1]]}, [("x", "pair", 1)]),
        ({"open": {"a": "[1]"}}, {"open": {"a": [1]}}, [("x", "open", "a")]),
        ({"way": {"kind": "a", "v": "[1]"}}, {"way": {"kind": "a", "v": [1]}}, [("x", "way", "v")]),
        ({"way": {"kind": "b", "v": "[1]"}}, {"way": {"kind": "b", "v": "[1]"}}, []),
        ({"way": {"v": "[1]"}}, {"way": {"v": "[1]"}}, []),
        ({"unknown": "[1]"}, {"unknown": "[1]"}, []),
    ],
)
def test_it_reaches_every_depth(value: Json, meant: Json, places: list[Any]) -> None:
    """In members, items and tagged branches, and in what was read itself."""
    before = json.dumps(value)
    assert mended(taking(DEEP), value) == (meant, places)
    assert json.dumps(value) == before


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        (taking(COUNT), ...),
        (taking(COUNT, required=["x"]), None),
        (taking({"anyOf": [COUNT, {"type": "null"}]}), None),
        (taking({}), None),
        ({"type": "object"}, None),
        ({"type": "object", "patternProperties": {"^x": COUNT}}, None),
        ({"type": "object", "additionalProperties": False}, None),
        ({"type": "object", "additionalProperties": COUNT}, None),
    ],
)
def test_null_is_taken_for_leaving_out_where_the_author_says_so(schema: Schema, kept: Json) -> None:
    """What must be given, may be null or is not known stays."""
    assert mended(schema, None, "none", nulls=True) == (kept, [("x",)] if kept is ... else [])
    assert mended(schema, None, "none", nulls=False) == (None, [])


def test_members_of_a_model_may_be_left_out_in_the_same_way() -> None:
    """At every depth."""
    schema = taking({"type": "object", "properties": {"a": COUNT, "b": COUNT}, "required": ["a"]})
    assert mended(schema, {"a": None, "b": None}, nulls=True) == ({"a": None}, [("x", "b")])
