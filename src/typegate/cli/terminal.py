"""What a person sees: a progress bar and tables on a terminal, the same as plain text elsewhere.

The law of the file: rich is known here and nowhere else. Without it, or where standard output is no
terminal, everything is plain text; progress goes to standard error and only where that is a terminal.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

__all__ = ["plain_table", "print_table", "progress"]

_LEFT: Final = 1
"""How many columns are texts; numbers stand to the right."""


@contextlib.contextmanager
def progress(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on standard error while the block runs; what it gives takes done, total and a word."""
    try:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415
    except ModuleNotFoundError:
        yield _nothing
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _nothing
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, total: int, word: str) -> None:
            bar.update(task, completed=done, total=total, description=word)

        yield tell


def _nothing(done: int, total: int, word: str) -> None:
    return


def print_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = _LEFT, total: bool = True
) -> None:
    """Print a table; the first *left* columns are texts.

    Where it is drawn and there is room, the last row is set off from the others if it is the *total*.
    """
    plain = plain_table(heads, rows, left)
    if sys.stdout.isatty():
        with contextlib.suppress(ModuleNotFoundError):
            if _print_rich(heads, rows, max(map(len, plain.splitlines())), left, total):
                return
    print(plain)  # noqa: T201


def _print_rich(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int, left: int, total: bool
) -> bool:
    """Draw a table, if one whose plain form has this width fits; whether it did."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console()
    if console.width < width + len(heads):
        return False
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, head in enumerate(heads):
        table.add_column(head, justify="left" if index < left else "right", no_wrap=True)
    for index, row in enumerate(rows):
        table.add_row(*map(Text, row), end_section=total and index == len(rows) - 2)
    console.print(table)
    return True


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = _LEFT) -> str:
    """A table in columns of spaces."""
    everything = [heads, *rows]
    widths = [max(len(row[index]) for row in everything) for index in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in everything
    )
