"""The measurement: every wrong call, its refusal, the mended call, and the table of what came of it.

    python -m tests.recovery.measure [--verbose] [--write] [NAME=PYTHON …]

    NAME       typegate, sdk or fastmcp
    PYTHON     the interpreter that has it; without any, typegate alone, in this one

The law of the file: all servers are asked in the same way, over stdio, by this one process, which knows no
framework. A call that is not refused is neither a success nor a failure: it is counted apart.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from .caller import Arguments, mended, read_problem, read_text
from .corpus import CORPUS, KINDS, WrongCall
from .values import Node

__all__ = ["MODES", "Outcome", "Process", "measured", "table"]

PROBLEM_KEY: Final = "dev.typegate/problem"
REVISION: Final = "2025-11-25"
ROOT: Final = Path(__file__).resolve().parents[2]
Result = dict[str, Any]


class Outcome(NamedTuple):
    """What came of one wrong call.

    Attributes:
        call: the wrong call.
        first: the text that answered it; `None` where it was not refused.
        sent: the arguments of the second call.
        second: the text that refused the second call; `None` where it was taken.
    """

    call: WrongCall
    first: str | None
    sent: Arguments
    second: str | None

    @property
    def recovered(self) -> bool:
        """Whether it was refused, and then taken."""
        return self.first is not None and self.second is None

    @property
    def as_meant(self) -> bool:
        """Whether what was taken is what was meant; asked only where that is known."""
        return self.recovered and self.sent == self.call.meant


def by_text(schema: Node, arguments: Arguments, refusal: Result) -> Arguments:
    """The second arguments, after the text of the refusal."""
    return mended(schema, arguments, read_text(text_of(refusal), arguments))


def by_data(schema: Node, arguments: Arguments, refusal: Result) -> Arguments:
    """The second arguments, after the refusal as data."""
    return mended(schema, arguments, read_problem(refusal["_meta"][PROBLEM_KEY], arguments))


MODES: Final = {"text": by_text, "structured": by_data}


def text_of(result: Result) -> str:
    """What a model reads of a result."""
    return "\n".join(block.get("text", "") for block in result["content"])


def refused(result: Result) -> str | None:
    """The text of a refusal; `None` where the call was taken."""
    return text_of(result) if result.get("isError") else None


Ask = Callable[[str, Arguments], Result]
Mend = Callable[[Node, Arguments, Result], Arguments]


def outcome(call: WrongCall, ask: Ask, schema: Node, mend: Mend) -> Outcome:
    """Make one wrong call and, where it is refused, the mended one."""
    answer = ask(call.tool, call.arguments)
    first = refused(answer)
    if first is None:
        return Outcome(call, None, call.arguments, None)
    sent = mend(schema, call.arguments, answer)
    return Outcome(call, first, sent, refused(ask(call.tool, sent)))


# --- a server as a process -------------------------------------------------------------------------


class Process:
    """A server of one framework, in an interpreter that has it."""

    def __init__(self, name: str, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-m", f"tests.recovery.on_{name}"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._asked = 0
        self.schemas: dict[str, Node] = {}

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        self._asked += 1
        self._send(id=self._asked, method=method, params=params)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._asked and "method" not in message:
                return message
        raise RuntimeError(f"the server ended before it answered {method}")

    def call(self, tool: str, arguments: Arguments) -> Result:
        """The result of a call; an error of JSON-RPC is a refusal with its message."""
        answer = self.request("tools/call", name=tool, arguments=arguments)
        if "error" in answer:
            return {"isError": True, "content": [{"type": "text", "text": answer["error"]["message"]}]}
        found: Result = answer["result"]
        return found

    def _send(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        try:
            info = {"name": "recovery", "version": "0"}
            self.request("initialize", protocolVersion=REVISION, capabilities={}, clientInfo=info)
            self._send(method="notifications/initialized")
            listed = self.request("tools/list")["result"]["tools"]
        except BaseException:
            self.__exit__()
            raise
        self.schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


Column = tuple[str, str]
Found = dict[Column, list[Outcome]]


def measured(name: str, python: str, with_schema: bool, corpus: Iterable[WrongCall] = CORPUS) -> Found:
    """The outcomes of every mode that a framework has: ours has both, the others a text."""
    with Process(name, python) as server:
        modes = MODES if name == "typegate" else {"text": by_text}
        schemas = server.schemas if with_schema else {tool: {} for tool in server.schemas}
        return {
            (name, mode): [outcome(call, server.call, schemas[call.tool], mend) for call in corpus]
            for mode, mend in modes.items()
        }


# --- the table -------------------------------------------------------------------------------------

COLUMNS: Final[dict[Column, str]] = {
    ("typegate", "text"): "typegate, text",
    ("typegate", "structured"): "typegate, structured",
    ("sdk", "text"): "official SDK",
    ("fastmcp", "text"): "FastMCP",
}
PACKAGES: Final = {"typegate": "typegate", "sdk": "mcp", "fastmcp": "fastmcp"}
TITLES: Final = {True: "With the schema at hand", False: "From the refusal alone"}
TARGET: Final = 95.0
"""How many per cent of our refusals a caller must recover from, with the schema at hand."""


def table(found: Found) -> str:
    """Rows of kinds; in each column what recovered of what was refused, and what was not refused."""
    heads = ["what is wrong", "calls"]
    for column in found:
        heads += [COLUMNS[column], "not refused"]
    rows = [[says, *_cells(found, kind)] for kind, says in KINDS.items()]
    rows.append(["**all**", *_cells(found, None)])
    shares = [f"{share(outcomes):.1f} %" for outcomes in found.values()]
    rows.append(["", "", *(cell for each in shares for cell in (each, ""))])
    rows.append(
        [
            "as it was meant, where that is known",
            "",
            *(cell for each in found.values() for cell in (_meant(each), "")),
        ]
    )
    return _markdown([heads, *rows])


def _cells(found: Found, kind: str | None) -> list[str]:
    cells: list[str] = []
    for outcomes in found.values():
        mine = [each for each in outcomes if kind in (None, each.call.kind)]
        refusals = [each for each in mine if each.first is not None]
        cells = cells or [str(len(mine))]
        cells += [
            f"{sum(each.recovered for each in refusals)}/{len(refusals)}",
            str(len(mine) - len(refusals)),
        ]
    return cells


def share(outcomes: Sequence[Outcome]) -> float:
    """How many per cent of the refused calls were taken on the second try."""
    refusals = [each for each in outcomes if each.first is not None]
    return 100 * sum(each.recovered for each in refusals) / len(refusals)


def _meant(outcomes: Sequence[Outcome]) -> str:
    known = [each for each in outcomes if each.first is not None and each.call.meant is not None]
    return f"{sum(each.as_meant for each in known)}/{len(known)}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([lines[0], "| " + " | ".join("-" * width for width in widths) + " |", *lines[1:]])


def failures(found: Found) -> str:
    """Every call that did not recover: what was sent, what was said, and what was sent then."""
    return "\n".join(
        f"--- {COLUMNS[column]}: {each.call.tool} ({each.call.kind}: {each.call.why})\n"
        f"sent   {json.dumps(each.call.arguments, ensure_ascii=False)}\n"
        f"told   {each.first}\n"
        f"sent   {json.dumps(each.sent, ensure_ascii=False)}\n"
        f"told   {each.second}\n"
        for column, outcomes in found.items()
        for each in outcomes
        if each.first is not None and not each.recovered
    )


def versions(servers: Sequence[tuple[str, str]]) -> str:
    """What was measured, and on which Python."""
    code = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]), 'on', sys.version.split()[0])"
    found = []
    for name, python in servers:
        command = [python, "-c", code, PACKAGES[name]]
        found.append(f"{PACKAGES[name]} {subprocess.check_output(command, text=True).strip()}")
    return ", ".join(found)


def main() -> None:
    """Measure, print, and fail where ours does not reach its target."""
    parser = argparse.ArgumentParser(description="Who gets a call right after one refusal?")
    parser.add_argument("--verbose", action="store_true", help="show every call that did not recover")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/recovery.md")
    parser.add_argument("servers", nargs="*", metavar="NAME=PYTHON", default=[f"typegate={sys.executable}"])
    options = parser.parse_args()
    servers = [(name, python) for name, _, python in (each.partition("=") for each in options.servers)]
    tables: dict[str, str] = {}
    low: list[str] = []
    print(f"{len(CORPUS)} wrong calls over stdio: {versions(servers)}", end="\n\n")
    for with_schema, title in TITLES.items():
        found: Found = {}
        for name, python in servers:
            found |= measured(name, python, with_schema)
        tables[title] = table(found)
        print(f"{title}: succeeded on the second call / refused on the first\n\n{tables[title]}\n")
        if options.verbose:
            print(failures(found))
        mine = {column: outcomes for column, outcomes in found.items() if column[0] == "typegate"}
        low += [COLUMNS[column] for column, each in mine.items() if with_schema and share(each) < TARGET]
    if options.write:
        write(tables)
    sys.exit(f"below {TARGET} %: {'; '.join(low)}" if low else 0)


DOCUMENT: Final = ROOT / "docs" / "recovery.md"


def written(title: str, text: str) -> re.Match[str] | None:
    """The table below a heading of the document."""
    return re.search(rf"^## {title}\n.*?\n\n(?P<table>(?:\|[^\n]*\n)+)", text, re.MULTILINE | re.DOTALL)


def write(tables: dict[str, str]) -> None:
    """Put the tables into the document, each below the heading that is its title."""
    text = DOCUMENT.read_text("utf-8")
    for title, made in tables.items():
        found = written(title, text)
        assert found is not None, title
        text = f"{text[: found.start('table')]}{made}\n{text[found.end('table') :]}"
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
