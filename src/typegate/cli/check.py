"""`typegate check`: read a server as a reviewer would, without calling any of it."""

import os
import sys
from collections.abc import Iterable
from typing import Literal

import msgspec

from typegate import __version__
from typegate.check import report as reports
from typegate.check.engine import RULES, Report
from typegate.check.engine import check as examine
from typegate.check.findings import Severity
from typegate.check.pages import page
from typegate.check.report import Format, at_least
from typegate.cli.target import load
from typegate.errors import ConfigurationError

__all__ = ["check"]


def check(
    target: str = "",
    *,
    format: Format = "text",  # noqa: A002  (the name of the option)
    severity: Severity = "note",
    fail_on: Severity | Literal["never"] = "warning",
    ignore: tuple[str, ...] = (),
    explain: str = "",
) -> int:
    """Read the server in TARGET as a reviewer would, and say what a model will stumble over.

    The exit status is 0 where nothing was found that matters, 1 where something was, and 2 where TARGET
    cannot be read.

    Args:
        target: `file.py`, `file.py:server` or `package.module:server`.
        format: for people, for programs, for GitHub Actions, for code scanning.
        severity: Leave out what matters less.
        fail_on: The least that makes the exit status 1.
        ignore: A rule to leave out, such as TG306; may be given several times.
        explain: Print the page of one rule, and do nothing else.
    """
    if explain:
        sys.stdout.write(page(RULES[_known([explain])[0]]))
        return 0
    if not target:
        raise ConfigurationError("say what to check, such as 'typegate check server.py'")
    found = load(target)
    full = examine(found.server, found.path, _known(ignore))
    shown = msgspec.structs.replace(full, findings=at_least(full.findings, severity))
    sys.stdout.write(_written(shown, format, target))
    return int(fail_on != "never" and bool(at_least(shown.findings, fail_on)))


def _known(names: Iterable[str]) -> tuple[str, ...]:
    """Rules by their ids, several of them with commas between."""
    found = tuple(part.strip().upper() for name in names for part in name.split(",") if part.strip())
    for name in found:
        if name not in RULES:
            raise ConfigurationError(f"there is no rule '{name}'; the rules are {min(RULES)} to {max(RULES)}")
    return found


def _written(report: Report, form: Format, target: str) -> str:
    if form == "json":
        return reports.json(report, target)
    if form == "github":
        return reports.github(report)
    if form == "sarif":
        return reports.sarif(report, __version__)
    return reports.text(report, color=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
