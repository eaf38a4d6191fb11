"""What the gate promises for any signature: the published schema is the gate, and refusals say where.

Nothing is looked at but what travels: the listing, and the answers to calls.
"""

import asyncio
import itertools
import json
from collections.abc import Collection, Iterator
from typing import Any, Union

import msgspec
from hypothesis import note
from hypothesis import strategies as st

from typegate import Gate, MCPServer

from .forms import Form, forms, open_models
from .instances import instances, mutants, wire
from .judges import errors, is_admitted, is_certain, problems_of_schema
from .lengths import holds_for
from .signatures import Made, functions, taking

STYLES = ("compact", "inline", "pydantic")
PATIENCE = 20  # seconds until a call without an answer fails, which would wait for ever
Json = Any
Path = tuple[str | int, ...]


def published(
    made: Made, style: str = "compact", unknown: str = "forbid", **gate: str
) -> tuple[MCPServer, Json]:
    """A server with the function as its one tool, and the schema that a client sees."""
    server = MCPServer("properties", schema_style=style, gate=Gate(unknown=unknown, **gate))
    server.add_tool("tool", made.function, inline=True)

    async def listed() -> Json:
        async with server.client() as client:
            return (await client.request("tools/list"))["tools"][0]["inputSchema"]

    return server, asyncio.run(listed())


def answer(server: MCPServer, arguments: bytes) -> Json:
    """What a call with these bytes is answered with."""

    async def call() -> Json:
        async with server.client() as client, asyncio.timeout(PATIENCE):
            return await client.request("tools/call", {"name": "tool", "arguments": msgspec.Raw(arguments)})

    return asyncio.run(call())


# --- the listing


@holds_for(functions(), st.sampled_from(STYLES))
def test_what_is_published_is_a_sound_schema(made: Made, style: str) -> None:
    """In every style the schema is 2020-12, whole in itself, and no default contradicts it."""
    _, schema = published(made, style)
    note(json.dumps(schema))
    found = problems_of_schema(schema)
    assert not found, found
    assert schema["type"] == "object"


@holds_for(functions(), st.sampled_from(STYLES))
def test_what_is_published_says_what_the_signature_says(made: Made, style: str) -> None:
    """Each parameter is a property under its own name, with its text, and required or with its default."""
    _, schema = published(made, style)
    note(json.dumps(schema))
    properties = schema.get("properties", {})
    assert list(properties) == [each.wire_name for each in made.parameters]
    needed = [each.wire_name for each in made.parameters if each.is_required]
    assert sorted(schema.get("required", [])) == sorted(needed), needed
    for each in made.parameters:
        told = properties[each.wire_name]
        assert each.description in (None, told.get("description"))
        no_default = '"$ref": {' in json.dumps([told, schema.get("$defs")])  # it would hold such a key
        no_null = style != "pydantic" and "None" in repr(each.default)  # one inside it may not be published
        assert each.is_required or each.default is None or "default" in told or no_default or no_null


# --- what the schema admits


@holds_for(functions(), st.sampled_from(STYLES), st.sampled_from(["forbid", "ignore"]), st.data())
def test_what_the_schema_describes_is_accepted(
    made: Made, style: str, unknown: str, data: st.DataObject
) -> None:
    """Arguments made from the schema alone reach the function, each in its declared type."""
    server, schema = published(made, style, unknown)
    note(json.dumps(schema))
    arguments = data.draw(instances(schema))
    assert errors(schema, arguments) == []
    raw = data.draw(wire(arguments))
    note(raw.decode())
    result = answer(server, raw)
    assert not result["isError"], result["content"][0]["text"]
    found = made.faults(arguments)
    assert not found, found


@holds_for(functions(most=3), st.sampled_from(STYLES), st.data(), quick=20)
def test_a_default_that_is_sent_is_as_good_as_one_left_out(
    made: Made, style: str, data: st.DataObject
) -> None:
    """The function gets the same value, whether the caller sends the published default or nothing."""
    server, schema = published(made, style)
    note(json.dumps(schema))
    told = {name: node["default"] for name, node in schema["properties"].items() if "default" in node}
    result = answer(server, json.dumps({**data.draw(instances(schema)), **told}).encode())
    assert not result["isError"], result["content"][0]["text"]
    sure = [each for each in made.parameters if each.wire_name in told and "ambiguous" not in each.form.marks]
    received = {each.name: made.calls[-1][each.name] for each in sure}
    assert received == {each.name: each.default for each in sure}


@holds_for(functions(most=3), st.data(), quick=20)
def test_a_parameter_is_reached_by_its_published_name_only(made: Made, data: st.DataObject) -> None:
    """The name that a parameter has in Python is nothing to a caller where it travels under another."""
    server, schema = published(made)
    arguments = data.draw(instances(schema))
    strangers = {each.name: "zqstranger" for each in made.parameters if each.name not in schema["properties"]}
    result = answer(server, json.dumps({**strangers, **arguments}).encode())
    note(result["content"][0]["text"])
    found = made.faults(arguments) if not result["isError"] else []
    assert not found, found


@st.composite
def unions(draw: st.DrawFn) -> tuple[Any, list[tuple[Made, Form]]]:
    """A parameter that is a union, and the same with each of its members alone."""
    members = draw(st.lists(forms(depth=1) | open_models(), min_size=2, max_size=3))
    whole: Any = Union[tuple(member.hint for member in members)]  # noqa: UP007
    return taking(whole), [(taking(member.hint), member) for member in members]


@holds_for(unions(), st.sampled_from(["forbid", "ignore"]), st.data(), quick=100)
def test_a_union_is_read_by_a_member_that_admits_the_value(
    union: tuple[Made, list[tuple[Made, Form]]], unknown: str, data: st.DataObject
) -> None:
    """What the function gets is of a member whose own schema admits what was sent."""
    made, members = union
    server, schema = published(made, "pydantic", unknown, repair="none")
    note(json.dumps(schema))
    value = data.draw(instances(schema))
    arguments = data.draw(st.just(value) | mutants(value))
    note(json.dumps(arguments))
    result = answer(server, json.dumps(arguments).encode())
    if result["isError"]:
        return
    received = made.calls[-1]["x"]
    note(repr(received))
    schemas = [(published(alone, "pydantic", unknown)[1], form) for alone, form in members]
    assert any(form.holds(received) and is_admitted(alone, arguments) for alone, form in schemas)


# --- what the schema refuses


@holds_for(functions(), st.sampled_from(STYLES), st.sampled_from(["forbid", "ignore"]), st.data())
def test_what_the_schema_refuses_is_refused(
    made: Made, style: str, unknown: str, data: st.DataObject
) -> None:
    """Changed arguments are accepted or refused as a full validator says; a refusal names the places."""
    server, schema = published(made, style, unknown, repair="none")
    _, full = published(made, "pydantic", unknown)
    note(json.dumps(schema))
    arguments = data.draw(mutants(data.draw(instances(schema))))
    note(json.dumps(arguments))
    result = answer(server, json.dumps(arguments).encode())
    note(result["content"][0]["text"])
    if is_certain(schema, arguments):
        assert not result["isError"]
    elif not is_admitted(schema, arguments) and not is_null_for_optional(schema, full, arguments):
        assert result["isError"]
        assert made.calls == []
        assert_names(result, places(full, arguments) or places(schema, arguments))
    if result["isError"]:
        assert_is_refusal(result, arguments.keys() | schema["properties"].keys())
        assert_no_echo(result, arguments)
    else:
        found = made.faults(arguments)
        assert not found, found


def is_null_for_optional(schema: Json, full: Json, arguments: Json) -> bool:
    """Whether all that a compact schema refuses is null where the signature says `T | None`."""
    nulls = list(null_members(arguments)) if is_admitted(full, arguments) else []
    sets = itertools.chain.from_iterable(
        itertools.combinations(nulls, count + 1) for count in range(len(nulls))
    )
    return any(is_admitted(schema, without(arguments, chosen)) for chosen in sets)


def null_members(value: Json, path: Path = ()) -> Iterator[Path]:
    """The places of the members that are null."""
    for key, item in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        if item is None and isinstance(value, dict):
            yield (*path, key)
        yield from null_members(item, (*path, key))


def without(value: Json, left_out: Collection[Path], path: Path = ()) -> Json:
    """The value without the members at these places."""
    if isinstance(value, dict):
        kept = [key for key in value if (*path, key) not in left_out]
        return {key: without(value[key], left_out, (*path, key)) for key in kept}
    if isinstance(value, list):
        return [without(item, left_out, (*path, index)) for index, item in enumerate(value)]
    return value


def places(schema: Json, arguments: Json) -> set[str]:
    """The arguments that are wrong, by name."""
    found: set[str] = set()
    for error in errors(schema, arguments):
        if error.absolute_path:
            found.add(str(error.absolute_path[0]))
        elif error.validator == "required":
            found |= {name for name in schema["required"] if name not in arguments}
        elif error.validator == "additionalProperties":
            found |= arguments.keys() - schema.get("properties", {}).keys()
    return found


def assert_is_refusal(result: Json, names: Collection[str]) -> None:
    """The gate itself has refused, and every issue lies in an argument that was sent or is wanted."""
    problem = result["_meta"]["dev.typegate/problem"]
    assert problem["code"] == "invalid_arguments"
    assert problem["issues"] != []
    assert heads(problem) <= set(names)


def heads(problem: Json) -> set[str]:
    """The arguments in which the issues lie."""
    return {head for issue in problem["issues"] for head in issue["path"][:1]}


def assert_names(result: Json, names: set[str]) -> None:
    """Each of these arguments is named in the text, in quotes, and at the head of a path."""
    text = result["content"][0]["text"]
    assert names <= heads(result["_meta"]["dev.typegate/problem"]), names
    unnamed = [
        name for name in names if not any(f"'{printable(name)}{end}" in text for end in ("'", ".", "["))
    ]
    assert not unnamed, unnamed


def printable(name: str) -> str:
    """A name as a refusal repeats it."""
    return "".join(char if char.isprintable() else "?" for char in name)


def assert_no_echo(result: Json, arguments: Json) -> None:
    """No string that was sent comes back in a refusal, unless as a name."""
    said = json.dumps([result["content"], result["_meta"]["dev.typegate/problem"]])
    names = set(keys(arguments))
    assert [
        text
        for text in strings(arguments)
        if len(text) > 3 and text.startswith("zq") and text not in names and text in said
    ] == []


def strings(value: Json) -> Iterator[str]:
    """Every string that is a value."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)


def keys(value: Json) -> Iterator[str]:
    """Every name of a member."""
    yield from value if isinstance(value, dict) else ()
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(item)
