"""The documentation is true: its examples run, its answers are the server's, its links lead somewhere.

    python tests/test_docs.py        # writes every block that is made from the code anew

The law of the file: a comment says what the block below it is, and the block is made from the code.

    <!-- docs/examples/orders.py -->                 the whole file
    <!-- docs/examples/orders.py: region tool -->    from `# region tool` to `# endregion`
    <!-- docs/examples/orders.py: answers -->        a transcript; `answers from NAME` asks another server
    <!-- table: NAME -->                             the table that `TABLES` makes

A transcript is what was asked, after `>>>`, and what came back: see `ASK`. Where it is about an older
revision, the question ends with `at REVISION`.
"""

import ast
import asyncio
import importlib
import inspect
import json
import logging
import re
import subprocess
import sys
import textwrap
import tomllib
import typing
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

import typegate
from typegate import MCPServer, RequestFailed
from typegate.contract.problems import _RULES
from typegate.transports.memory import Client
from typegate.versions import SINCE, VERSIONS
from typegate.wire.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
OTHERS = {"requirements.md", "dependencies.md", "architecture.md", "performance.md"}
REVISIONS = tuple(VERSIONS)
WIDTH = 100

sys.path.append(str(EXAMPLES))  # an example may import another one

# --- documents and their blocks

DOCUMENTS = [
    path
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))
    if path.name not in OTHERS
]

_BLOCK = re.compile(
    r"^<!-- (?P<source>docs/examples/\w+\.py|table)(?:: (?P<what>[^\n]+))? -->\n"
    r"(?:(?P<fence>```\w*\n)(?P<body>.*?)^```$|(?P<table>(?:^\|[^\n]*\n)*))",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block that is made from the code."""

    document: str
    source: str
    what: str
    body: str


def block_of(path: Path, found: re.Match[str]) -> Block:
    """One block of a document."""
    body = found["body"] if found["fence"] else found["table"]
    return Block(path.name, found["source"], found["what"] or "", body or "")


def made(block: Block) -> str:
    """The content of a block as the code gives it now."""
    if block.source == "table":
        return TABLES[block.what]()
    if block.what.startswith("answers"):
        return transcript(block.source, block.what.partition(" from ")[2] or "server", block.body)
    text = (ROOT / block.source).read_text(encoding="utf-8")
    return region(text, block.what.removeprefix("region ")) if block.what else text


def region(text: str, name: str) -> str:
    """The lines between `# region NAME` and `# endregion`."""
    inside = re.search(rf"^ *# region {name}\n(.*?)^ *# endregion$", text, re.MULTILINE | re.DOTALL)
    assert inside is not None, f"there is no region {name!r}"
    return textwrap.dedent(inside[1]).strip("\n") + "\n"


def example(source: str) -> Any:
    """An example, imported."""
    return importlib.import_module(Path(source).stem)


# --- transcripts

PROMPT = ">>> "
_QUESTION = re.compile(r"(?P<verb>\w+) (?P<name>\S+)(?: (?P<rest>\{.*\}))?(?: at (?P<revision>[\d-]+))?")


def transcript(source: str, name: str, body: str) -> str:
    """The questions of a transcript with the answers that the server gives."""
    server = getattr(example(source), name)
    questions = [line.removeprefix(PROMPT) for line in body.splitlines() if line.startswith(PROMPT)]
    return "\n".join(f"{PROMPT}{question}\n{answer(server, question)}\n" for question in questions)


def answer(server: MCPServer, question: str) -> str:
    """What the server says to one question."""
    asked = _QUESTION.fullmatch(question)
    assert asked is not None, f"not a question: {question}"
    verb, rest = ASK[asked["verb"]], json.loads(asked["rest"] or "{}")

    async def ask() -> Any:
        async with server.client(protocol_version=asked["revision"] or REVISIONS[-1]) as client:
            try:
                return await verb(client, asked["name"], rest)
            except RequestFailed as error:
                known = {"error": {"code": error.code, "message": error.message, "data": error.data}}
                if error.data is None:
                    del known["error"]["data"]
                return known

    found = asyncio.run(ask())
    text = found if isinstance(found, str) else pretty(found)
    return re.sub(r"(reference(?:\": \"| ))[0-9a-f]{8}", r"\g<1>7f3a9c12", text)  # a new one each time


async def _call(client: Client, name: str, arguments: dict[str, Any]) -> str:
    return (await client.call_tool(name, arguments)).text


async def _result(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    raw = (await client.call_tool(name, arguments)).raw
    raw.pop("resultType", None)
    meta = raw.pop("_meta", {})
    meta.pop("io.modelcontextprotocol/serverInfo", None)
    return {**raw, "_meta": meta} if meta else raw


async def _problem(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    return (await client.call_tool(name, arguments)).problem


async def _progress(client: Client, name: str, arguments: dict[str, Any]) -> str:
    await client.request("tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": 1}})
    return lines({"method": method, "params": params} for method, params in client.notifications)


async def _tool(client: Client, name: str, _: Any = None) -> Any:
    return next(tool for tool in (await client.request("tools/list"))["tools"] if tool["name"] == name)


async def _input(client: Client, name: str, _: Any) -> Any:
    return (await _tool(client, name))["inputSchema"]


async def _output(client: Client, name: str, _: Any) -> Any:
    return (await _tool(client, name)).get("outputSchema", "(none)")


async def _listed(client: Client, method: str, _: Any) -> str:
    found = await client.request(method)
    return lines(next(value for value in found.values() if isinstance(value, list)))


async def _read(client: Client, uri: str, _: Any) -> str:
    return lines((await client.read_resource(uri)).contents)


async def _prompt(client: Client, name: str, arguments: dict[str, str]) -> str:
    return lines((await client.get_prompt(name, arguments)).messages)


async def _complete(client: Client, name: str, values: dict[str, str]) -> Any:
    [(argument, typed), *others] = values.items()
    return await client.complete({"type": "ref/prompt", "name": name}, argument, typed, dict(others))


ASK: dict[str, Callable[[Client, str, Any], Awaitable[Any]]] = {
    "call": _call,  # the text that the model reads
    "result": _result,  # the whole result, without what every result of 2026-07-28 has
    "problem": _problem,  # the refusal for programs
    "progress": _progress,  # what the tool says while it works
    "tool": _tool,  # its entry in tools/list
    "input": _input,
    "output": _output,
    "list": _listed,
    "read": _read,
    "prompt": _prompt,
    "complete": _complete,  # the first of the arguments; the others are settled
}
"""What a transcript can ask for, by the first word of the question."""


def lines(values: Iterable[Any]) -> str:
    """Several JSON values, one below the other."""
    return "\n".join(map(pretty, values)) or "(nothing)"


def pretty(value: Any, indent: int = 0) -> str:
    """JSON on one line where it fits, else a line for each member."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        inner = [f"{pad}{json.dumps(key)}: {pretty(item, indent + 2)}" for key, item in value.items()]
        return "\n".join(["{", ",\n".join(inner), " " * indent + "}"])
    inner = [f"{pad}{pretty(item, indent + 2)}" for item in value]
    return "\n".join(["[", ",\n".join(inner), " " * indent + "]"])


# --- tables


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    cells = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in cells)


def quoted(text: str) -> str:
    """Text as inline code."""
    return f"`{text}`"


def parameters(function: Callable[..., Any]) -> dict[str, str]:
    """The parameters of a function as they are written: name -> hint, with the default."""
    [tree] = ast.parse(inspect.getsource(function)).body
    assert isinstance(tree, ast.FunctionDef)
    ends = [""] * (len(tree.args.args) - len(tree.args.defaults))
    ends += [f" = {ast.unparse(default)}" for default in tree.args.defaults]
    hints = [ast.unparse(each.annotation) if each.annotation else "(nothing)" for each in tree.args.args]
    return {each.arg: hint + end for each, hint, end in zip(tree.args.args, hints, ends, strict=True)}


def types_table() -> str:
    """Annotation, what is published of it, a value that is sent and what the function receives."""
    module = example("every_type")
    published = json.loads(answer(module.server, "input every_type"))["properties"]
    received = json.loads(answer(module.server, f"result every_type {json.dumps(module.SENT)}"))
    return table(
        ("annotation", "published property", "sent", "received"),
        (
            (
                quoted(hint),
                quoted(json.dumps(published[name])),
                quoted(json.dumps(module.SENT[name])) if name in module.SENT else "left out",
                quoted(received["structuredContent"][name]),
            )
            for name, hint in parameters(module.every_type).items()
        ),
    )


def rules_table() -> str:
    """What the gate makes of the values of the example."""
    module = example("gate_rules")
    hints = {name: hint.partition(" = ")[0] for name, hint in parameters(module.rules).items()}
    rows = []
    for name, value in module.TRIED:
        result = json.loads(answer(module.server, f"result rules {json.dumps({name: value})}"))
        if result["isError"]:
            said = result["_meta"]["dev.typegate/problem"]["message"].partition(": ")[2]
        else:
            said = f"taken: {quoted(result['structuredContent'][name])}"
        rows.append((quoted(f"{name}: {hints[name]}"), quoted(json.dumps(value, ensure_ascii=False)), said))
    return table(("parameter", "sent", "what happens"), rows)


def issues_table() -> str:
    """Every code of an issue, with what the model reads."""
    module = example("issue_codes")
    asked = [f"problem {name} {json.dumps(arguments)}" for name, arguments in module.TRIED]
    issues = [issue for question in asked for issue in json.loads(answer(module.server, question))["issues"]]
    return table(
        ("code", "message", "expected"),
        ((quoted(each["code"]), each["message"], each.get("expected") or "") for each in issues),
    )


def methods_table() -> str:
    """Which method exists in which revision, and which capability it needs."""
    return table(
        ("method", *REVISIONS, "capability"),
        (
            (
                quoted(method.name),
                *("yes" if method.exists_in(version) else "" for version in VERSIONS.values()),
                quoted(".".join(method.capability)) if method.capability else "",
            )
            for method in METHODS.values()
        ),
    )


def fields_table() -> str:
    """The fields that came later, and since when they are sent."""
    return table(
        ("definition", "fields", "sent from"),
        (
            (definition, ", ".join(quoted(name) for name in fields if fields[name] == rank), REVISIONS[rank])
            for definition, fields in SINCE.items()
            for rank in sorted(set(fields.values()))
        ),
    )


PING = b'{"jsonrpc": "2.0", "id": "p", "method": "ping"%b}'
LINES = {
    "an empty line": b"",
    "no JSON": b"hello",
    "`NaN` anywhere": PING % b', "params": {"x": NaN}',
    "no UTF-8": PING % b', "params": {"x": "\xff"}',
    "half of a surrogate pair": PING % b', "params": {"x": "\\ud800"}',
    "a key twice in one object": PING % b', "params": {"x": 1, "x": 2}',
    "65 levels deep": PING % b', "params": {"x": %b}' % (b"[" * 63 + b"]" * 63),
    "longer than 16 MiB": PING % b', "params": {"x": "%b"}' % (b"x" * 2**24),
    "no object": b'"ping"',
    "no JSON-RPC 2.0": b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    "params that are no object": PING % b', "params": []',
    "`null` for an id": b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    "an id of 257 characters": b'{"jsonrpc": "2.0", "id": "%b", "method": "ping"}' % (b"x" * 257),
    "a batch outside 2025-03-26": b"[%b]" % (PING % b""),
    "an unknown method": b'{"jsonrpc": "2.0", "id": 1, "method": "nonsense"}',
    "neither a handshake nor `_meta`": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
    "an unknown notification": b'{"jsonrpc": "2.0", "method": "nonsense"}',
    "the answer to nothing": b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
}
"""What a bad line is called, and the line."""


def lines_table() -> str:
    """Bad lines, sent to a process one after the other, and the answer to each."""
    rows = []
    command = [sys.executable, str(EXAMPLES / "orders.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for name, line in LINES.items():
            process.stdin.write(line + b"\n" + b'{"jsonrpc": "2.0", "id": "good", "method": "ping"}\n')
            process.stdin.flush()
            replies = [json.loads(process.stdout.readline())]
            while replies[-1]["id"] != "good":
                replies.append(json.loads(process.stdout.readline()))
            error = replies[0].get("error")
            whose = "" if error is None else "null" if replies[0]["id"] is None else "of the request"
            rows.append(
                (name, f"{quoted(str(error['code']))} {error['message']}" if error else "none", whose)
            )
        process.stdin.close()
    return table(("line", "answer", "its id"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "types": types_table,
    "rules": rules_table,
    "issues": issues_table,
    "methods": methods_table,
    "fields": fields_table,
    "lines": lines_table,
}

# --- tests: blocks and examples

BLOCKS = [block_of(path, found) for path in DOCUMENTS for found in _BLOCK.finditer(path.read_text("utf-8"))]
FILES = sorted(EXAMPLES.glob("*.py"))


def name_of(value: Any) -> str:
    """What a parameter of a test is called."""
    if isinstance(value, Block):
        return f"{value.document}:{Path(value.source).stem}:{value.what}"
    return value.name if isinstance(value, Path) else str(value)


@pytest.mark.parametrize("block", BLOCKS, ids=name_of)
def test_a_block_is_what_the_code_gives(block: Block) -> None:
    """What a document shows is word for word so; if it is not, see the head of this file."""
    assert block.body == made(block)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_an_example_is_shown(path: Path) -> None:
    """Every example stands in a document, or a document leads to it."""
    texts = [each.read_text("utf-8") for each in DOCUMENTS]
    assert any(f"examples/{path.name}" in text for text in texts)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_an_example_runs(path: Path, revision: str) -> None:
    """It can be imported, its servers list what they have to clients of each revision, its tests pass."""
    module = example(path.stem)
    servers = [value for value in vars(module).values() if isinstance(value, MCPServer)]
    assert servers
    for server in servers:
        assert asyncio.run(list_all(server, revision))
    for name, value in list(vars(module).items()):
        if name.startswith("test_"):
            value()


async def list_all(server: MCPServer, revision: str) -> list[Any]:
    """Everything that a server lists."""
    found: list[Any] = []
    async with server.client(protocol_version=revision) as client:
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            try:
                page = await client.request(method)
            except RequestFailed as error:
                assert error.code == -32601  # noqa: PT017  (the capability is not advertised)
            else:
                found += next(value for value in page.values() if isinstance(value, list))
    return found


def test_the_script_of_the_readme_prints_what_it_shows() -> None:
    """The script that asks the first server is a program, and prints the refusal that the README shows."""
    command = [sys.executable, str(EXAMPLES / "try_orders.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() in (ROOT / "README.md").read_text("utf-8")


# --- tests: what the documents say

_LINK = re.compile(r"\[[^\]\n]*\]\((?P<path>[^)\s#]*)(?:#(?P<anchor>[^)\s]*))?\)")


def prose(path: Path) -> str:
    """A document without its blocks of code."""
    return _CODE.sub("", path.read_text("utf-8"))


def shown(path: Path, language: str) -> list[str]:
    """The blocks of code in one language."""
    return [
        found["body"] for found in _CODE.finditer(path.read_text("utf-8")) if found["language"] == language
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_long_code_is_a_file(path: Path) -> None:
    """Python of more than three lines is an example; JSON and TOML can be read."""
    files = {block.body for block in BLOCKS if block.document == path.name}
    for body in shown(path, "python"):
        assert body in files or body.count("\n") <= 3, body
        ast.parse(body)
    for body in shown(path, "json"):
        json.loads(body)
    for body in shown(path, "toml"):
        tomllib.loads(body)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link names a file, and every anchor a heading of it."""
    for found in _LINK.finditer(re.sub(r"`[^`\n]+`", "", prose(path))):
        if "://" in found["path"]:
            continue
        target = (path.parent / found["path"]).resolve() if found["path"] else path
        assert target.exists(), found[0]
        assert not found["anchor"] or found["anchor"] in anchors(target), found[0]


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_map_leads_to_every_document() -> None:
    """No document of ours is left out of the map."""
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    names = {path.name for path in DOCUMENTS if path.parent.name == "docs"} - {"index.md"}
    assert {name for name in names if f"]({name})" not in index} == set()


def test_the_readme_is_short_and_its_commands_exist() -> None:
    """It can be read in one sitting, and what it says to type can be typed."""
    text = (ROOT / "README.md").read_text("utf-8")
    rules = (ROOT / "Makefile").read_text("utf-8")
    assert text.count("\n") < 250
    for target in re.findall(r"\bmake ([a-z-]+)", text):
        assert re.search(rf"^{target}:", rules, re.MULTILINE), target


# --- tests: options and codes


def takes(owner: Any, *names: str) -> dict[str, set[str]]:
    """What some functions, classes or structs take: name -> its parameters."""
    found: dict[str, set[str]] = {}
    for name in names:
        function = getattr(owner, name)
        forms = [*typing.get_overloads(function), function]
        found[name] = set().union(*(inspect.signature(form).parameters for form in forms))
    return found


OPTIONS: dict[str, set[str]] = {
    **takes(MCPServer, "tool", "resource", "prompt", "completion", "include", "run", "client", "add_tools"),
    "add_tool": takes(MCPServer, "tool")["tool"],
    **takes(typegate, "AccessPolicy", "Approver", "Decision", "Limits", "RateLimit"),
    **takes(typegate, "MCPServer", "Gate", "ToolAnnotations", "Annotations", "Icon", "Principal"),
    **takes(typegate, "Rejected", "reject", "Problem", "Issue", "ToolResult", "Text", "ResourceLink"),
    **takes(typegate, "Image", "Audio", "EmbeddedResource", "PromptMessage", "PromptArgument"),
    **takes(typegate, "TextResourceContents", "BlobResourceContents"),
    "File": {*takes(typegate, "File")["File"], *takes(typegate, "Image")["Image"]},
    **takes(typegate.Context, "progress", "log", "debug", "info", "warning", "error"),
    **takes(Client, "call_tool", "read_resource", "get_prompt", "complete", "request", "notify"),
}
"""What can be called in a document, and the names that it takes."""


def calls(path: Path) -> Iterator[ast.Call]:
    """Every call in a document: in its Python, and in the Python between its backquotes."""
    spans = re.findall(r"`([^`\n]+)`", prose(path))
    for source in (*shown(path, "python"), *spans):
        try:
            tree = ast.parse(source.removeprefix("@").replace("…", "..."))
        except SyntaxError:
            continue
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_option_exists(path: Path) -> None:
    """What a document passes to a server, a decorator or a helper is a name that it takes."""
    for call in calls(path):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in OPTIONS:
            given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
            assert given <= OPTIONS[name], ast.unparse(call)
    alone = set(re.findall(r"`(\w+)=`", prose(path)))
    assert alone <= set().union(*OPTIONS.values())


def test_the_table_of_codes_has_them_all() -> None:
    """Each code of the code's own table has its row, but for the one of a number that Python cannot send."""
    listed = set(re.findall(r"^\| `(\w+)`", issues_table(), re.MULTILINE))
    assert {code for code, _ in _RULES.values()} | {"missing", "value"} == listed | {"out_of_range"}


def test_the_fields_of_a_problem_are_all_explained() -> None:
    """The document has a row for each field of a problem and of an issue."""
    text = (ROOT / "docs" / "problems.md").read_text("utf-8")
    fields = (*msgspec.structs.fields(typegate.Problem), *msgspec.structs.fields(typegate.Issue))
    assert {field.name for field in fields if f"| `{field.name}` |" not in text} == set()


# --- writing


def main() -> None:
    """Write every block that is made from the code anew."""
    logging.disable(logging.CRITICAL)
    for path in DOCUMENTS:
        before = path.read_text("utf-8")
        after = _BLOCK.sub(lambda found, path=path: renewed(block_of(path, found), found), before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")


def renewed(block: Block, found: re.Match[str]) -> str:
    """A block with its comment, as the code gives it now."""
    head = found[0].partition("\n")[0]
    return f"{head}\n{found['fence'] or ''}{made(block)}{'```' if found['fence'] else ''}"


if __name__ == "__main__":
    main()
