"""The `typegate` command line (extra `cli`): commands by name, errors in one line, an exit status.

The law of the file: cyclopts is known here and nowhere else. A command is a plain function whose hints and
docstring are its options and its help; it returns the exit status: 0 for yes, 1 for no, 2 for a question
that makes no sense.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from typegate.cli.audit import export, show, verify
from typegate.cli.check import check
from typegate.cli.probe import probe
from typegate.cli.run import run
from typegate.errors import ConfigurationError

__all__ = ["COMMANDS", "GROUPS", "main"]

COMMANDS: Final[tuple[Callable[..., Any], ...]] = (run, check, probe)

GROUPS: Final[dict[str, tuple[str, tuple[Callable[..., Any], ...]]]] = {
    "audit": ("Verify, show and export an audit log.", (verify, show, export)),
}
"""Word → what commands below it are about, and these commands."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that *arguments* (default: those of the process) name, and end the process.

    Raises:
        SystemExit: always, with the status of the command.
    """
    try:
        import cyclopts  # noqa: PLC0415
    except ModuleNotFoundError:
        sys.exit("the typegate command needs an extra: pip install 'typegate[cli]'")
    app = cyclopts.App(
        "typegate",
        help="MCP servers in Python where the type hints are the gate.",
        result_action="return_value",
        exit_on_error=False,
    )
    for command in COMMANDS:
        app.command(command)
    for name, (about, commands) in GROUPS.items():
        group = cyclopts.App(name, help=about)
        for command in commands:
            group.command(command)
        app.command(group)
    try:
        status = app(arguments)
    except cyclopts.CycloptsError:  # it has said what is wrong
        status = 2
    except ConfigurationError as error:
        print(f"typegate: {error}", file=sys.stderr)  # noqa: T201
        status = 2
    sys.exit(status)
