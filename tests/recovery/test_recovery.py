"""Requirement B4, measured: a mechanical caller gets its call right after one refusal.

The inner loop asks our server in the same process; the peers are processes (`clients`), and `make recovery`
prints all of them side by side.
"""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from . import caller, values
from .caller import DROP, MISSING, UNEXPECTED, WRONG, Fault, mended, read_problem, read_text, read_words
from .corpus import CORPUS, KINDS, WrongCall, read
from .measure import (
    DOCUMENT,
    MODES,
    PROBLEM_KEY,
    ROOT,
    TARGET,
    TITLES,
    Ask,
    Found,
    Outcome,
    measured,
    outcome,
    share,
    table,
    written,
)
from .mutation import kept
from .on_typegate import server
from .tools import VALID

TOOLS = sorted({call.tool for call in CORPUS})
DEFAULT = "containers"
"""What is repaired by default; without repair every call of the corpus is refused."""

modes = pytest.mark.parametrize("mode", sorted(MODES))
tools = pytest.mark.parametrize("tool", TOOLS)


# --- our server, in this process --------------------------------------------------------------------


@contextmanager
def inside(repair: str) -> Iterator[Ask]:
    """Ask a server without a process."""
    with asyncio.Runner() as runner:
        connection = server(repair=repair).client()
        client = runner.run(connection.__aenter__())
        yield lambda tool, arguments: runner.run(client.call_tool(tool, arguments)).raw
        runner.run(connection.__aexit__(None, None, None))


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """What our server lists."""

    async def listed() -> dict[str, dict[str, Any]]:
        async with server().client() as client:
            return {tool.name: tool.input_schema for tool in await client.list_tools()}

    return asyncio.run(listed())


@cache
def outcomes(mode: str, repair: str = DEFAULT, with_schema: bool = True) -> list[Outcome]:
    """What came of each wrong call."""
    with inside(repair) as ask:
        return [
            outcome(call, ask, schemas()[call.tool] if with_schema else {}, MODES[mode]) for call in CORPUS
        ]


@cache
def answers() -> dict[str, list[dict[str, Any]]]:
    """The answers to the wrong calls without repair, by tool."""
    with inside("none") as ask:
        return {tool: [ask(tool, call.arguments) for call in CORPUS if call.tool == tool] for tool in TOOLS}


# --- the corpus -------------------------------------------------------------------------------------


def test_the_corpus_is_large_varied_and_without_repetition() -> None:
    """At least 200 different wrong calls of at least 15 tools, of every kind, each with its reason."""
    assert len({call.key for call in CORPUS}) == len(CORPUS) >= 200
    assert len(TOOLS) >= 15
    assert {call.kind for call in CORPUS} == set(KINDS)
    assert all(call.why for call in CORPUS)
    assert set(TOOLS) == set(VALID) == set(schemas())


def test_the_mutations_are_what_the_seed_gives() -> None:
    """The mechanical part can be made again; `python -m tests.recovery.mutation` writes it."""
    assert tuple(asyncio.run(kept())) == read("mutated.jsonl")


def test_the_valid_calls_are_taken() -> None:
    """What the mutations are made from is right."""
    with inside(DEFAULT) as ask:
        told = [ask(tool, call) for tool, calls in VALID.items() for call in calls]
    assert not [answer for answer in told if answer["isError"]]


# --- our refusals -----------------------------------------------------------------------------------


@tools
def test_every_wrong_call_is_refused_in_the_one_shape(tool: str) -> None:
    """The flag, a text that is message and hint, and the same as data, with all fields of an issue."""
    for answer in answers()[tool]:
        problem = answer["_meta"][PROBLEM_KEY]
        assert answer["isError"], answer
        assert problem.keys() == {"code", "message", "hint", "issues"}
        assert answer["content"] == [{"type": "text", "text": f"{problem['message']}\n{problem['hint']}"}]
        assert (problem["code"] == "NOT_POSSIBLE") == (problem["issues"] == [])
        for issue in problem["issues"]:
            assert issue.keys() == {"path", "code", "message", "expected"}
            assert issue["message"] in problem["message"]
            assert issue["path"]


@modes
@pytest.mark.parametrize("repair", ["none", DEFAULT])
def test_the_second_call_succeeds(mode: str, repair: str) -> None:
    """After one refusal at least 95 % are right; what is not refused at first was repaired."""
    found = outcomes(mode, repair)
    repaired = [each for each in found if each.first is None]
    assert share(found) >= TARGET, [each.call for each in found if not each.recovered]
    assert not repaired if repair == "none" else all(_has_json_text(each.call) for each in repaired)


def _has_json_text(call: WrongCall) -> bool:
    return call.kind == "json text" or call.why.endswith("as JSON text")


@modes
def test_a_refusal_tells_most_of_it_by_itself(mode: str) -> None:
    """A caller that does not even have the schema mends at least 85 %."""
    assert share(outcomes(mode, "none", with_schema=False)) >= 85


@modes
def test_what_was_meant_is_kept(mode: str) -> None:
    """Where the wrong call still says what was meant, at least 90 % of the second calls are just that."""
    known = [each for each in outcomes(mode, "none") if each.call.meant is not None]
    assert sum(each.as_meant for each in known) >= 0.9 * len(known) >= 40


def test_no_refusal_repeats_a_value() -> None:
    """Every text and number of the wrong calls is planted anew, and found again in no refusal of the gate."""
    with inside("none") as ask:
        told = [ask(call.tool, planted(call.arguments)) for call in CORPUS]
    refusals = [json.dumps(answer) for answer in told if "invalid_arguments" in json.dumps(answer)]
    assert len(refusals) > 0.9 * len(CORPUS)
    assert not [refusal for refusal in refusals if re.search("zebra|31337", refusal)]


def planted(value: Any) -> Any:
    """The same with other leaves: texts and numbers that are not met by chance."""
    if isinstance(value, dict):
        return {key: planted(each) for key, each in value.items()}
    if isinstance(value, list):
        return [planted(each) for each in value]
    if isinstance(value, str):
        return f"zebra {value}"
    return value if value is None or isinstance(value, bool) else 31337.5


# --- the caller -------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [caller, values], ids=["caller", "values"])
def test_the_caller_knows_no_tool(module: Any) -> None:
    """No tool of the corpus is named in its code, outside of what it imports and calls."""
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    words = {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not (words | names) & set(TOOLS)


@pytest.mark.parametrize(
    ("words", "node"),
    [
        ("integer from 1 to 100", {"type": "integer", "minimum": 1, "maximum": 100}),
        ("number of more than 0", {"type": "number", "exclusiveMinimum": 0}),
        ("number of at most 0.5", {"type": "number", "maximum": 0.5}),
        ("string with 2 to 4 characters", {"type": "string", "minLength": 2, "maxLength": 4}),
        ("string matching ^[A-Z; ]{3}$", {"type": "string", "pattern": "^[A-Z; ]{3}$"}),
        ("integer from 16 to 32, a multiple of 16",
         {"type": "integer", "minimum": 16, "maximum": 32, "multipleOf": 16}),
        ("one of 'it's', 2, null", {"enum": ["it's", 2, None]}),
        ("'a'", {"enum": ["a"]}),
        ("a UUID, for example 7-a", {"type": "string", "format": "uuid", "examples": ["7-a"]}),
        ("array of string with at least 1 item",
         {"type": "array", "minItems": 1, "items": {"type": "string"}}),
        ("array of array with exactly 2 items with at most 3 items",
         {"type": "array", "maxItems": 3, "items": {"type": "array", "minItems": 2, "maxItems": 2}}),
        ("array with 1 to 3 items, each an email address, for example a@b.no",
         {"type": "array", "minItems": 1, "maxItems": 3,
          "items": {"type": "string", "format": "email", "examples": ["a@b.no"]}}),
        ("array with exactly 2 items: integer, number from 0 to 1",
         {"type": "array", "minItems": 2, "maxItems": 2,
          "prefixItems": [{"type": "integer"}, {"type": "number", "minimum": 0, "maximum": 1}]}),
        ("object with 'a', 'b'",
         {"type": "object", "required": ["a", "b"], "properties": {"a": {}, "b": {}}}),
        ("object with 'a' (integer or string), 'b' (one of 'x', 'y')",
         {"type": "object", "required": ["a", "b"],
          "properties": {
              "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "b": {"enum": ["x", "y"]}}}),
        ("string matching ^[A-Z]{3}$, for example OSL",
         {"type": "string", "pattern": "^[A-Z]{3}$", "examples": ["OSL"]}),
        ("integer or string", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ("base64 text", {"type": "string", "contentEncoding": "base64"}),
        ("any value", {}),
    ],
)  # fmt: skip
def test_words_are_read_as_a_schema(words: str, node: dict[str, Any]) -> None:
    """What a refusal expects becomes a piece of JSON Schema."""
    assert read_words(words) == node


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("Invalid arguments for 't': missing required field 'a.b[1].c'\nCall again with 'a.b[1].c' given.",
         [Fault(("a", "b", 1, "c"), MISSING)] * 2),
        ("unexpected argument 'x'; did you mean 'y'?\nCall again with 'y' in place of 'x'.",
         [Fault(("x",), UNEXPECTED, better="y")]),
        ("unexpected argument 'x'\nCall again with 'x' left out.",
         [Fault(("x",), UNEXPECTED), Fault(("x",), UNEXPECTED, better=DROP)]),
        ("No.\nCall again with 'x' as integer.", [Fault(("x",), WRONG, {"type": "integer"})]),
        ("1 error\na.b.1.c\n  Field required [type=missing, input_value={}, input_type=dict]",
         [Fault(("a", "b", 1, "c"), MISSING)]),
        ("1 error\na.int\n  Input should be 'p' or 'q' [type=enum, input_value=1, input_type=int]",
         [Fault(("a",), WRONG, {"enum": ["p", "q"]})]),
        ("1 error\nx\n  Unexpected keyword argument [type=extra_forbidden, input_value=1]",
         [Fault(("x",), UNEXPECTED)]),
    ],
)  # fmt: skip
def test_a_text_is_read_as_faults(text: str, faults: list[Fault]) -> None:
    """Our sentences, the words of an author, and pydantic's list."""
    assert read_text(text, {"a": {"b": [{}, {}]}, "x": 1}) == faults


def test_data_is_read_as_faults() -> None:
    """An issue has its path and what is expected; a problem without issues has its hint."""
    issue = {"path": ["a", 0], "code": "less_than", "message": "", "expected": "integer of less than 3"}
    problem = {"issues": [issue], "hint": None}
    assert read_problem(problem, {}) == [Fault(("a", 0), WRONG, {"type": "integer", "exclusiveMaximum": 3})]
    hint = {"issues": [], "hint": "Call again with 'a' as 'b'."}
    assert read_problem(hint, {"a": 1}) == [Fault(("a",), WRONG, {"enum": ["b"]})]


def test_only_the_places_that_are_named_are_changed() -> None:
    """The caller does not mend on its own what a refusal does not say."""
    schema = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    assert mended(schema, {"a": "1", "b": "2"}, [Fault(("a",), WRONG)]) == {"a": 1, "b": "2"}
    assert mended(schema, {"a": "1"}, []) == {"a": "1"}


@pytest.mark.parametrize(
    ("sent", "node", "made"),
    [
        ("5", {"type": "integer"}, 5),
        ("five", {"type": "integer", "minimum": 2}, 2),
        (500, {"type": "integer", "maximum": 100}, 100),
        (500, {"type": "integer", "multipleOf": 16}, 496),
        (0, {"type": "number", "exclusiveMinimum": 0}, 0.001),
        ("yes", {"type": "boolean"}, True),
        (7, {"type": "string"}, "7"),
        ("osl", {"type": "string", "pattern": "^[A-Z]{3}$"}, "OSL"),
        ("Oslo", {"type": "string", "pattern": "^[A-Z]{3}$"}, "AAA"),
        ("In Progress", {"enum": ["open", "in_progress"]}, "in_progress"),
        ("today", {"type": "string", "format": "date", "examples": ["2026-11-30"]}, "2026-11-30"),
        ("[1, \"2\"]", {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ("a", {"type": "array", "items": {"type": "string"}}, ["a"]),
        ("{\"a\": 1}", {"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "1"}),
        (None, {"type": "integer", "default": 3}, 3),
    ],
)  # fmt: skip
def test_a_value_is_turned_into_what_is_wanted(sent: Any, node: dict[str, Any], made: Any) -> None:
    """By its text where that can be done, else what the schema offers, else the smallest value."""
    assert values.conformed(sent, node, node) == made


# --- the document -----------------------------------------------------------------------------------


@pytest.mark.parametrize("with_schema", [True, False], ids=["with schema", "alone"])
def test_the_document_has_our_numbers(with_schema: bool) -> None:
    """Our columns of docs/recovery.md are what is measured now; `scripts/recovery --write` writes them."""
    found: Found = {("typegate", mode): outcomes(mode, DEFAULT, with_schema) for mode in MODES}
    shown = written(TITLES[with_schema], DOCUMENT.read_text("utf-8"))
    assert shown is not None
    ours = [cells(line)[: 2 + 2 * len(found)] for line in table(found).splitlines()]
    assert [cells(line)[: 2 + 2 * len(found)] for line in shown["table"].splitlines()[2:]] == ours[2:]


def cells(line: str) -> list[str]:
    """The cells of a row."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


# --- the peers --------------------------------------------------------------------------------------


@cache
def interpreter(name: str) -> str:
    """One that has a framework; it is installed where there is none."""
    for path in (sys.executable, *(ROOT / "build" / each / "bin" / "python" for each in ENVIRONMENTS)):
        code = f"import importlib.util as u, sys; sys.exit(u.find_spec({name!r}) is None)"
        if Path(path).exists() and subprocess.run([path, "-c", code], check=False).returncode == 0:
            return str(path)
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run([ROOT / "scripts" / "recovery", "--install"], check=True, env=environment)
    return str(ROOT / "build" / "recovery" / "bin" / "python")


ENVIRONMENTS = ("recovery", "bench/envs/fastmcp")


@pytest.mark.clients
@pytest.mark.parametrize(("name", "package"), [("sdk", "mcp"), ("fastmcp", "fastmcp")])
def test_the_caller_does_its_best_with_the_texts_of_a_peer(name: str, package: str) -> None:
    """With the schema at hand it mends at least 95 % of what a peer refuses: the comparison is fair."""
    python = interpreter(package)
    valid = [WrongCall(tool, "missing", call, "right") for tool, calls in VALID.items() for call in calls]
    [right] = measured(name, str(python), True, valid).values()
    assert [each.first for each in right] == [None] * len(valid)
    [found] = measured(name, str(python), True).values()
    assert share(found) >= TARGET, [each.call for each in found if each.first and not each.recovered]


@pytest.mark.clients
def test_over_stdio_it_is_the_same() -> None:
    """The numbers that `make recovery` prints of ours are those of the inner loop."""
    found = measured("typegate", sys.executable, True)
    assert found == {("typegate", mode): outcomes(mode) for mode in MODES}
