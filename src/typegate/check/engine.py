"""A server and its file → everything that the rules find in it.

The law of the file: every rule runs; what a comment silences is taken away afterwards, so that a comment
without effect can be told.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from typegate.app import MCPServer
from typegate.check import clients, effects, failures, schemas, servers, silences, texts
from typegate.check.findings import Finding, Hit, Place, Rule
from typegate.check.servers import tokens
from typegate.check.silences import Comment, Comments, comments_of
from typegate.check.subjects import Component, Server, Sources, survey

__all__ = ["RULES", "Report", "check"]

_COMPONENT_RULES: Final[tuple[Rule[Component], ...]] = (
    *schemas.RULES,
    *texts.RULES,
    *failures.RULES,
    *effects.RULES,
    *clients.RULES,
)
_SERVER_RULES: Final[tuple[Rule[Server], ...]] = (*clients.SERVER_RULES, *servers.RULES)

_EVERY: Final[tuple[Rule[Any], ...]] = (*_COMPONENT_RULES, *_SERVER_RULES, *silences.RULES)
RULES: Final[dict[str, Rule[Any]]] = {rule.id: rule for rule in sorted(_EVERY, key=lambda rule: rule.id)}
"""Every rule by its id, in order."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and in what.

    Attributes:
        findings: by file and line.
        counts: how many tools, resources, templates and prompts were read.
        tokens: about how many the listing of the tools has.
    """

    findings: tuple[Finding, ...]
    counts: dict[str, int]
    tokens: int


class _Found(msgspec.Struct, frozen=True):
    """A hit and the rule that it belongs to; *name* is that of the component."""

    rule: Rule[Any]
    place: Place
    name: str
    message: str


def check(server: MCPServer, path: Path, without: Collection[str] = ()) -> Report:
    """Read *server*, which was found in the file *path*, by every rule but those in *without*."""
    sources = Sources()
    subject = survey(server, path, sources)
    found = [each for each in _all(subject) if each.rule.id not in without]
    comments = tuple(comment for source in sources for comment in comments_of(source))
    used = frozenset(_used(found, comments))
    loud = [
        each for each in found if not any(comment.covers(each.rule.id, each.place) for comment in comments)
    ]
    ran = frozenset(RULES) - frozenset(without)
    about = Comments(comments, used, frozenset(RULES), ran)
    loud += [
        _Found(rule, *_split(hit, ""))
        for rule in silences.RULES
        if rule.id in ran
        for hit in rule.find(about)
    ]
    return Report(
        findings=tuple(sorted(map(_finding, _once(loud, subject.place)), key=_order)),
        counts=_counts(subject),
        tokens=tokens(subject),
    )


def _all(server: Server) -> Iterator[_Found]:
    for component in server.components:
        for rule in _COMPONENT_RULES:
            yield from (_Found(rule, *_split(hit, component.name)) for hit in rule.find(component))
    for about in _SERVER_RULES:
        yield from (_Found(about, *_split(hit, "")) for hit in about.find(server))


def _split(hit: Hit, name: str) -> tuple[Place, str, str]:
    return hit.place, hit.name or name, hit.message


def _used(found: Iterable[_Found], comments: tuple[Comment, ...]) -> Iterator[tuple[Place, str]]:
    for each in found:
        for comment in comments:
            if comment.covers(each.rule.id, each.place):
                yield comment.place, each.rule.id


def _once(found: Iterable[_Found], shared: Place) -> Iterator[_Found]:
    """Each thing once, although a function may be registered under several names."""
    seen = set()
    for each in found:
        name = each.name if each.place == shared else ""
        key = (each.rule.id, each.place, name, each.message)
        if key not in seen:
            seen.add(key)
            yield each


def _finding(found: _Found) -> Finding:
    rule, place = found.rule, found.place
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        path=place.path,
        line=place.line,
        column=place.column,
        name=found.name,
        message=found.message,
        mend=rule.mend,
    )


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return str(finding.path), finding.line, finding.column, finding.rule


def _counts(server: Server) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(("tool", "resource", "template", "prompt"), 0)
    for component in server.components:
        counts[component.kind] += 1
    return counts
