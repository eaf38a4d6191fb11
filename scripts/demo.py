"""Four calls to a real server, and exactly what a model reads back.

    python scripts/demo.py        (or: make demo)

Starts `examples/tasks_server.py` as its own process, connects the official Python MCP client to it
over stdin and stdout, and prints one good call and three that are refused. It checks what came back
and exits with 1 if anything was not as it should be.
"""

import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "examples" / "tasks_server.py"
PROBLEM = "dev.typegate/problem"
WIDTH = 96
SECONDS = 30.0

Check = Callable[[CallToolResult], bool]


@dataclass(frozen=True)
class Scene:
    """One call, why it is shown, and what must be true of the answer."""

    title: str
    story: str
    arguments: dict[str, Any]
    checks: dict[str, Check]


def text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def problem(result: CallToolResult) -> dict[str, Any] | None:
    return (result.meta or {}).get(PROBLEM)


def succeeded(result: CallToolResult) -> bool:
    return not result.is_error and problem(result) is None


def refused(result: CallToolResult) -> bool:
    return result.is_error and problem(result) is not None


def rows(result: CallToolResult) -> list[dict[str, Any]]:
    """The tasks a program reads; a handshake-era client finds them under `result`."""
    data = result.structured_content
    found = data.get("result") if isinstance(data, dict) else data
    return found if isinstance(found, list) else []


def names(*words: str) -> Check:
    """The text for the model names all these words."""
    return lambda result: all(word in text(result) for word in words)


def points_at(*arguments: str) -> Check:
    """The machine-readable issues are about exactly these arguments."""

    def check(result: CallToolResult) -> bool:
        issues = (problem(result) or {}).get("issues") or []
        return {issue["path"][0] for issue in issues if issue["path"]} == set(arguments)

    return check


SCENES = (
    Scene(
        title="A good call",
        story="The types fit, the range fits, the rules hold: the function runs.",
        arguments={"due_from": "2026-12-01", "due_to": "2026-12-07", "limit": 2},
        checks={
            "it is no error and carries no problem": succeeded,
            "one or two tasks came back, as data": lambda r: 1 <= len(rows(r)) <= 2,
            "the text shows the same tasks": lambda r: all(row["title"] in text(r) for row in rows(r)),
        },
    ),
    Scene(
        title="Refused by its type",
        story="A date is asked for and a word arrives. The function never runs.",
        arguments={"due_from": "today"},
        checks={
            "it is flagged as an error, with a problem": refused,
            "the text names the argument and the form 'YYYY-MM-DD'": names("due_from", "YYYY-MM-DD"),
            "the issue points at 'due_from'": points_at("due_from"),
        },
    ),
    Scene(
        title="Refused by its range, and for a name the model made up",
        story="Two mistakes in one call: both are reported, so that one more try is enough.",
        arguments={"limit": 999, "stauts": "open"},
        checks={
            "it is flagged as an error, with a problem": refused,
            "the text says 'less than or equal to 100'": names("limit", "less than or equal to 100"),
            "the text suggests 'status' for 'stauts'": names("'stauts'", "'status'"),
            "the issues point at 'limit' and 'stauts'": points_at("limit", "stauts"),
        },
    ),
    Scene(
        title="Refused by the tool itself",
        story="Each date is fine, together they make no sense: no schema says so, the tool does.",
        arguments={"due_from": "2027-01-31", "due_to": "2026-12-01"},
        checks={
            "it is flagged as an error, with a problem": refused,
            "its code is INVALID_RANGE": lambda r: (problem(r) or {}).get("code") == "INVALID_RANGE",
            "the text says what to do instead": names("send the earlier date as due_from"),
        },
    ),
)


def show(label: str, content: str) -> None:
    """Print a labelled block; a line too long for the page goes on below, further to the right."""
    print(f"\n  {label}")
    for line in content.splitlines() or [""]:
        indent = " " * (len(line) - len(line.lstrip()))
        pieces = textwrap.wrap(line, WIDTH - 6, subsequent_indent=f"{indent}  ", tabsize=4)
        for piece in pieces or [""]:
            print(f"    | {piece}".rstrip())


def as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def report(number: int, scene: Scene, result: CallToolResult) -> int:
    """Print one scene and return how many of its checks failed."""
    print(f"\n{'=' * WIDTH}\n{number}. {scene.title}\n{'=' * WIDTH}\n{scene.story}")
    show("The model calls", f"list_tasks {json.dumps(scene.arguments)}")
    show(f"The model reads (isError: {json.dumps(bool(result.is_error))})", text(result))
    if (found := problem(result)) is not None:
        show(f'A program reads (_meta["{PROBLEM}"])', as_json(found))
    failures = 0
    print("\n  Checked")
    for claim, holds in scene.checks.items():
        good = holds(result)
        failures += not good
        print(f"    {'ok        ' if good else 'UNEXPECTED'}  {claim}")
    return failures


async def play(errors: Path, database: Path) -> int:
    """Run every scene against one server process and return how many checks failed."""
    server = StdioServerParameters(
        command=sys.executable, args=[str(SERVER)], env={**os.environ, "TASKS_DB": str(database)}
    )
    with errors.open("w", encoding="utf-8") as errlog, anyio.fail_after(SECONDS):
        async with Client(stdio_client(server, errlog=errlog), read_timeout_seconds=SECONDS) as client:
            print(f"{SERVER.relative_to(ROOT)} over stdio, MCP {client.protocol_version}")
            print("Shown word for word; a line too long for the page goes on below, indented.")
            failures = 0
            for number, scene in enumerate(SCENES, start=1):
                result = await client.call_tool("list_tasks", scene.arguments)
                failures += report(number, scene, result)
    return failures


def first_cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def main() -> int:
    """Play the scenes in a folder of their own, so that every run starts from the same tasks."""
    with tempfile.TemporaryDirectory(prefix="typegate-demo-") as folder:
        errors = Path(folder, "stderr.txt")
        try:
            failures = anyio.run(play, errors, Path(folder, "tasks.db"))
        except Exception as error:
            cause = first_cause(error)
            print(f"\nThe demo stopped: {type(cause).__name__}: {cause}", file=sys.stderr)
            said = errors.read_text(encoding="utf-8").splitlines() if errors.exists() else []
            print("\n".join(["The server wrote:", *said[-20:]]), file=sys.stderr)
            raise SystemExit(1) from error
    total = sum(len(scene.checks) for scene in SCENES)
    print(f"\n{'=' * WIDTH}\n{total - failures} of {total} checks hold.")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
