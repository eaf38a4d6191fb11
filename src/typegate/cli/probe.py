"""`typegate probe`: attack a server with calls made from its own schemas, and say whether it held.

    python -m typegate.cli.probe TARGET sentinel|live RECORD

serves a typegate server for the probe: the same server, its functions replaced or counted.
"""

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Final, Literal

from typegate.cli.target import load
from typegate.cli.terminal import print_table, progress
from typegate.errors import ConfigurationError
from typegate.probe.driver import Options, Target, run_probe
from typegate.probe.report import COLUMNS, Report, as_json, as_junit, cells, lines, summary
from typegate.probe.sentinel import arm
from typegate.types import Principal

__all__ = ["probe", "serve"]

Format = Literal["text", "json", "junit"]


def probe(
    *target: str,
    seed: int = 0,
    max: int = 1_000,  # noqa: A002  (the option's name)
    timeout: float = 10.0,
    tool: tuple[str, ...] = (),
    live: bool = False,
    format: Format = "text",  # noqa: A002
) -> int:
    """Call every tool of TARGET with malformed and boundary arguments, and judge the answers.

    Exit status: 0 where every malformed call was refused before the function ran, by a text that names
    the argument, and nothing crashed; 1 where not; 2 where there is nothing to probe.

    Args:
        target: `file.py`, `file.py:server` or `package.module:server`; or `-- COMMAND ...` for a server of
            any make, whose functions then really run.
        seed: the same seed makes the same calls.
        max: the most calls for one tool.
        timeout: seconds that an answer may take.
        tool: only this tool; may be given more than once.
        live: let the functions of a typegate server run.
        format: `text`, `json` or `junit`.
    """
    options = Options(seed=seed, most=max, seconds=timeout, tools=tool)
    with progress("typegate probe") as tell:
        report = asyncio.run(run_probe(_target(target, live), options, tell))
    _show(report, format)
    return report.status


def _target(words: tuple[str, ...], live: bool) -> Target:
    """A typegate server to be loaded, or the command of any server."""
    first = next(iter(words), None)
    if first is None:
        raise ConfigurationError("probe what? A file or module with a server, or -- and a command")
    if len(words) > 1 or _is_program(first):
        return Target(label=" ".join(words), command=words, own=False, live=True)
    mode = "live" if live else "sentinel"
    command = (sys.executable, "-P", "-m", "typegate.cli.probe", first, mode)
    return Target(label=first, command=command, own=True, live=live)


def _is_program(word: str) -> bool:
    return Path(word).suffix != ".py" and shutil.which(word) is not None


def _show(report: Report, format: Format) -> None:  # noqa: A002
    if format != "text":
        print(as_json(report) if format == "json" else as_junit(report))  # noqa: T201
        return
    print_table(COLUMNS, [*map(cells, report.tools), cells(report.total)])
    for line in (*lines(report), summary(report)):
        print(line)  # noqa: T201


# --- the server's side ---------------------------------------------------------------------------

_MODES: Final = {"sentinel": False, "live": True}


def serve(target: str, mode: str, record: str) -> None:
    """Serve *target* with its tools armed, to somebody who may see all of them."""
    server = load(target).server
    arm(server, Path(record), _MODES[mode])
    scopes = frozenset(scope for plan in server.catalogue.tools for scope in plan.options.scopes)
    server.run(principal=Principal(subject="typegate probe", scopes=scopes))


if __name__ == "__main__":
    try:
        serve(*sys.argv[1:])
    except ConfigurationError as error:
        sys.exit(str(error))
