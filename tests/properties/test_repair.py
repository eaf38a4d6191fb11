"""What repair promises for any signature: no text is touched that may be meant, and what is read fits."""

import copy
import json
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from typegate.contract.repair import Mender

from .instances import instances
from .judges import errors, is_certain
from .lengths import holds_for
from .signatures import Made, functions
from .test_gate import STYLES, answer, published

Json = Any


@st.composite
def stringified(draw: st.DrawFn, value: Json, chance: int = 3) -> Json:
    """The same value with some of its parts, at any depth, as JSON text."""
    if isinstance(value, dict):
        value = {name: draw(stringified(item)) for name, item in value.items()}
    elif isinstance(value, list):
        value = [draw(stringified(item)) for item in value]
    return json.dumps(value) if draw(st.integers(0, chance)) == 0 else value


def put(tree: Json, path: tuple[str | int, ...], value: Json) -> Json:
    """A copy of the tree with another value at a place."""
    made = copy.deepcopy(tree)
    node = made
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return made


def at(tree: Json, path: tuple[str | int, ...]) -> Json:
    """What stands at a place, through the texts on the way to it."""
    for step in path:
        tree = (json.loads(tree) if isinstance(tree, str) else tree)[step]
    return tree


@holds_for(functions(), st.sampled_from(STYLES), st.sampled_from(["containers", "all"]), st.data())
def test_what_is_read_could_not_be_meant_as_a_text(
    made: Made, style: str, mode: Any, data: st.DataObject
) -> None:
    """With the text back in its place, arguments that are otherwise right are refused by the schema."""
    _, schema = published(made, style)
    note(json.dumps(schema))
    right = data.draw(instances(schema))
    sent = {name: data.draw(stringified(value)) for name, value in right.items()}
    note(json.dumps(sent))
    mended, places = Mender(schema, mode, nulls=False).mend(sent)
    note(repr(places))
    if not is_certain(schema, mended):
        return
    for path in places:
        assert errors(schema, put(mended, path, at(sent, path))), path


@holds_for(functions(), st.sampled_from(STYLES), st.data(), quick=40)
def test_what_the_gate_takes_satisfies_the_schema(made: Made, style: str, data: st.DataObject) -> None:
    """Repaired or not: the function runs with what the listing describes, or not at all."""
    server, schema = published(made, style)
    note(json.dumps(schema))
    sent = {name: data.draw(stringified(value)) for name, value in data.draw(instances(schema)).items()}
    note(json.dumps(sent))
    result = answer(server, json.dumps(sent).encode())
    if result["isError"]:
        return
    repaired = result.get("_meta", {}).get("dev.typegate/repaired", [])
    mended, places = Mender(schema, "containers", nulls=False).mend(sent)
    assert repaired == ([] if not errors(schema, sent) else [list(path) for path in places])
    assert not made.faults(mended if repaired else sent)
