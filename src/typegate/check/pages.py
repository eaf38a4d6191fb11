"""The page of a rule, for the documentation and for `--explain`, and the table of all of them.

The law of the file: everything that is said of a rule is said in the rule.
"""

from collections.abc import Iterable
from typing import Any, Final

from typegate.check.evidence import EVIDENCE
from typegate.check.findings import Rule

__all__ = ["FAMILIES", "page", "table"]

FAMILIES: Final = {
    "TG1": "what a schema leaves open",
    "TG2": "what names, descriptions and hints tell",
    "TG3": "what a function does",
    "TG4": "what clients refuse",
    "TG5": "the server as a whole",
    "TG9": "ignore comments",
}
"""The first digits of an id, and what the family looks at."""

_PAGE: Final = """\
# {id}: {title}

{severity} · {family}

{reason}

**To mend it:** {mend}.

## Reported

```python
{bad}
```

## Not reported

```python
{good}
```
{clients}
## To silence it

{silence}
"""


_BY_COMMENT: Final = """\
`# typegate: ignore[{id}]` on the line that is reported, on the decorator or on the `def`;
`--ignore {id}` for a whole run."""
_BY_OPTION: Final = "`--ignore {id}` for a whole run; no comment silences it."


def page(rule: Rule[Any]) -> str:
    """What there is to say of a rule, as Markdown."""
    return _PAGE.format(
        id=rule.id,
        title=rule.title,
        severity=rule.severity,
        family=FAMILIES[rule.id[:3]],
        reason=rule.reason,
        mend=rule.mend,
        bad=rule.bad.strip("\n"),
        good=rule.good.strip("\n"),
        clients=_clients(rule),
        silence=(_BY_OPTION if rule.id.startswith("TG9") else _BY_COMMENT).format(id=rule.id),
    )


def _clients(rule: Rule[Any]) -> str:
    rows = [row for name, some in EVIDENCE.items() if name.startswith(rule.id) for row in some]
    lines = [f"| {each.client} | {each.does} | [{each.seen}]({_address(each.seen)}) |" for each in rows]
    return (
        "\n".join(
            [
                "",
                "## Which clients",
                "",
                "| client | what it does | seen in |",
                "| --- | --- | --- |",
                *lines,
                "",
            ]
        )
        if rows
        else ""
    )


def _address(seen: str) -> str:
    repository, _, number = seen.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def table(rules: Iterable[Rule[Any]]) -> str:
    """Every rule in a row, with a link to its page."""
    rows = [
        f"[{each.id}](rules/{each.id}.md) | {each.severity} | {each.title} | {_cell(each.mend)}"
        for each in rules
    ]
    head = ["rule | severity | what is found | how to mend it", "--- | --- | --- | ---"]
    return "".join(f"| {row} |\n" for row in (*head, *rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
