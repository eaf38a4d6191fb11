"""Tables and progress: drawn on a terminal, plain text elsewhere."""

import io
import sys

import pytest

from typegate.cli.terminal import plain_table, print_table, progress

HEADS = ("tool", "calls")
ROWS = (("find", "12"), ("all", "120"))


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_plain_columns_line_up() -> None:
    """Texts to the left, numbers to the right, nothing at the end of a line."""
    assert plain_table(HEADS, ROWS) == "tool  calls\nfind     12\nall     120"


def test_a_table_is_plain_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe or a file gets text without lines drawn."""
    print_table(HEADS, ROWS)
    assert capsys.readouterr().out == plain_table(HEADS, ROWS) + "\n"


def test_a_table_is_drawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """With lines, and the last row set off; what looks like markup is none."""
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    print_table(HEADS, [("[red]find", "12"), *ROWS])
    drawn = sys.stdout.getvalue()  # type: ignore[attr-defined]
    assert "[red]find" in drawn
    assert drawn.count("────") >= 2


def test_a_table_without_room_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is folded or cut in a narrow terminal."""
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "12")
    print_table(HEADS, ROWS)
    assert sys.stdout.getvalue() == plain_table(HEADS, ROWS) + "\n"  # type: ignore[attr-defined]


def test_without_rich_everything_is_plain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The extra is missing: no bar, no lines, no error."""
    monkeypatch.setitem(sys.modules, "rich.table", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table(HEADS, ROWS)
    with progress("probe") as tell:
        tell(1, 2, "find")
    assert capsys.readouterr() == (plain_table(HEADS, ROWS) + "\n", "")


def test_no_bar_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error that is a file stays empty."""
    with progress("probe") as tell:
        tell(1, 2, "find")
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names what is under way, and goes away at the end."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress("probe") as tell:
        tell(1, 2, "find")
    assert "probe" in screen.getvalue()
