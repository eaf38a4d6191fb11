"""What was found, as text for people, JSON for programs, annotations for GitHub, SARIF for code scanning.

The law of the file: a format is a function of the report; none of them knows where its text goes.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from typegate.check.engine import RULES, Report
from typegate.check.findings import SEVERITIES, Finding, Severity
from typegate.check.pages import page
from typegate.types import Json
from typegate.wire.jsonrpc import dumps

__all__ = ["Format", "at_least", "github", "json", "sarif", "shown_path", "text"]

Format = Literal["text", "json", "github", "sarif"]

_COLORS: Final[dict[Severity, str]] = {"error": "31", "warning": "33", "note": "36"}
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def shown_path(path: Path) -> str:
    """A path as a person would write it from here: relative, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def _said(finding: Finding) -> str:
    return f"{finding.name}: {finding.message}" if finding.name else finding.message


# --- text ----------------------------------------------------------------------------------------


def text(report: Report, color: bool) -> str:
    """Two lines for each finding, the second once for each rule, and a summary."""
    lines: list[str] = []
    explained: set[str] = set()
    for each in report.findings:
        where = f"{shown_path(each.path)}:{each.line}:{each.column}"
        rule = _painted(f"{each.severity} {each.rule}", _COLORS[each.severity] if color else "")
        lines.append(f"{where} {rule} {_said(each)}")
        if each.rule not in explained:
            lines.append(_painted(f"    {each.mend}", "2" if color else ""))
        explained.add(each.rule)
    return "\n".join([*lines, *([""] if lines else []), _summary(report), ""])


def _painted(words: str, code: str) -> str:
    return f"\x1b[{code}m{words}\x1b[0m" if code else words


def _summary(report: Report) -> str:
    kinds = dict.fromkeys(reversed(SEVERITIES), 0)
    for each in report.findings:
        kinds[each.severity] += 1
    found = ", ".join(_number(count, kind) for kind, count in kinds.items() if count) or "nothing found"
    counts = {**report.counts, "resource": report.counts["resource"] + report.counts["template"]}
    read = ", ".join(_number(counts[kind], kind) for kind in ("tool", "resource", "prompt") if counts[kind])
    size = f" (the tools: about {report.tokens:,} tokens)" if counts["tool"] else ""
    return f"{found} in {read or 'an empty server'}{size}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


# --- for programs --------------------------------------------------------------------------------


def json(report: Report, target: str) -> str:
    """One JSON object; its form is stable."""
    findings: list[Json] = [
        {
            "rule": each.rule,
            "severity": each.severity,
            "path": shown_path(each.path),
            "line": each.line,
            "column": each.column,
            "name": each.name or None,
            "message": each.message,
            "mend": each.mend,
        }
        for each in report.findings
    ]
    whole = {"target": target, "read": report.counts, "tokens": report.tokens, "findings": findings}
    return dumps(whole).decode() + "\n"


_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "notice"}


def github(report: Report) -> str:
    """Workflow commands that GitHub Actions shows beside the lines."""
    return "".join(
        f"::{_LEVELS[each.severity]} file={_property(shown_path(each.path))},line={each.line},"
        f"col={each.column},title={_property(each.rule)}::"
        f"{_data(f'{_said(each)}. To mend it: {each.mend}')}\n"
        for each in report.findings
    )


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def sarif(report: Report, version: str) -> str:
    """A SARIF 2.1.0 log, as code scanning takes it."""
    ids = list(RULES)
    driver = {
        "name": "typegate",
        "version": version,
        "rules": [_descriptor(name) for name in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, ids.index(each.rule)) for each in report.findings],
    }
    return dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}).decode() + "\n"


def _descriptor(name: str) -> Json:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.reason},
        "help": {"text": f"To mend it: {rule.mend}.", "markdown": page(rule)},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, index: int) -> Json:
    region = {"startLine": finding.line, "startColumn": finding.column}
    artifact = {"uri": _uri(finding.path)}
    location: dict[str, Json] = {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    if finding.name:
        location["logicalLocations"] = [{"name": finding.name, "kind": "function"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{_said(finding)}. To mend it: {finding.mend}."},
        "locations": [location],
    }


def _uri(path: Path) -> str:
    shown = shown_path(path)
    return path.as_uri() if Path(shown).is_absolute() else quote(shown)


def at_least(findings: Iterable[Finding], severity: Severity) -> tuple[Finding, ...]:
    """The findings that matter as much or more."""
    return tuple(each for each in findings if SEVERITIES.index(each.severity) >= SEVERITIES.index(severity))
