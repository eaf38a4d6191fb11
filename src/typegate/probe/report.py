"""What a probe found: figures per tool, the calls that went wrong, and both as text, JSON or JUnit XML.

The law of the file: data and text only. Every call that went wrong is there with its tool, its label and
its arguments, so that it can be sent again; what is long is cut.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree import ElementTree as ET

import msgspec

from typegate.probe.calls import Case
from typegate.probe.judgement import Answer, Judgement, Verdict

__all__ = ["COLUMNS", "Finding", "Report", "ToolReport", "as_json", "as_junit", "cells", "lines", "summary"]

_CUT: Final = 300
_SHOWN: Final = 10
"""How many calls that went wrong are shown of one tool as text; JSON and JUnit have them all."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A call whose answer was not as it must be, or a valid one that was turned away.

    Attributes:
        arguments: as they were sent, cut.
        size: how many bytes they have.
        text: what was answered, cut.
    """

    kind: str
    label: str
    verdict: Verdict
    named: bool | None
    arguments: str
    size: int
    text: str

    @classmethod
    def of(cls, case: Case, answer: Answer, judgement: Judgement) -> "Finding":
        """One call as it is reported."""
        sent = case.arguments.decode(errors="backslashreplace")
        return cls(
            kind=case.kind,
            label=case.label,
            verdict=judgement.verdict,
            named=judgement.named,
            arguments=_cut(sent),
            size=len(case.arguments),
            text=_cut(answer.text),
        )

    @property
    def is_fault(self) -> bool:
        """Whether the server failed this call; it may turn valid ones away."""
        return self.verdict != "turned away"

    @property
    def fault(self) -> str:
        """What is wrong, in words."""
        return "the argument is not named" if self.verdict == "refused" else self.verdict


class ToolReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one tool did with its calls.

    Attributes:
        malformed: how many calls break its schema; of these,
        refused: before the function ran (of a foreign server: refused),
        late: refused by the function,
        nameable: refused although there is something to name, and
        named: the refusals that do.
        valid: how many calls are to be taken; `taken` of them reached the function.
        ruled: rule -> how many of these are valid only by that rule.
        slowest: the time of the slowest answer in seconds; `slow` says to which call.
        longest: the characters of the longest refusal.
        kinds: kind -> malformed calls, and how many were refused.
        note: why there are no calls, or fewer.
    """

    name: str
    calls: int = 0
    malformed: int = 0
    refused: int = 0
    late: int = 0
    nameable: int = 0
    named: int = 0
    accepted: int = 0
    valid: int = 0
    taken: int = 0
    crashed: int = 0
    unanswered: int = 0
    slowest: float = 0.0
    slow: str | None = None
    longest: int = 0
    kinds: dict[str, tuple[int, int]] = {}
    ruled: dict[str, int] = {}
    findings: tuple[Finding, ...] = ()
    note: str | None = None

    @classmethod
    def of(
        cls, name: str, answered: Sequence[tuple[Case, Answer, Judgement]], note: str | None = None
    ) -> "ToolReport":
        """Count what one tool did."""
        verdicts = [judgement.verdict for _, _, judgement in answered]
        named = [judgement.named for _, _, judgement in answered]
        malformed = [(case, judgement) for case, _, judgement in answered if not case.valid]
        wrong = (each for each in answered if each[2].is_fault or each[2].verdict == "turned away")
        kinds: dict[str, tuple[int, int]] = {}
        slow = max(answered, key=lambda each: each[1].seconds, default=None)
        for case, judgement in malformed:
            sent, refused = kinds.get(case.kind, (0, 0))
            kinds[case.kind] = sent + 1, refused + (judgement.verdict == "refused")
        return cls(
            name=name,
            calls=len(answered),
            malformed=len(malformed),
            refused=verdicts.count("refused"),
            late=verdicts.count("refused late"),
            nameable=sum(each is not None for each in named),
            named=named.count(True),
            accepted=verdicts.count("accepted"),
            valid=len(answered) - len(malformed),
            taken=verdicts.count("taken"),
            crashed=verdicts.count("crashed"),
            unanswered=verdicts.count("unanswered"),
            slowest=slow[1].seconds if slow else 0.0,
            slow=f"{slow[0].kind}, {slow[0].label}" if slow else None,
            longest=max((len(each.text) for _, each, _ in answered if each.failed), default=0),
            kinds=kinds,
            ruled=dict(Counter(case.rule for case, _, _ in answered if case.rule is not None)),
            findings=tuple(Finding.of(*each) for each in wrong),
            note=note,
        )


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole server did.

    Attributes:
        target: what was probed, as it was named.
        server: the name and version that it gives itself.
        own: whether it is a typegate server, of which is known when a function runs.
        live: whether the real functions ran.
        noise: lines on its standard output that were no messages.
    """

    target: str
    server: str
    own: bool
    live: bool
    seed: int
    seconds: float
    noise: int
    tools: tuple[ToolReport, ...]

    @property
    def total(self) -> ToolReport:
        """All tools as one."""
        summed = (
            *("calls", "malformed", "refused", "late", "nameable", "named", "accepted", "valid", "taken"),
            *("crashed", "unanswered"),
        )
        kinds: dict[str, tuple[int, int]] = {}
        for tool in self.tools:
            for kind, (sent, refused) in tool.kinds.items():
                before = kinds.get(kind, (0, 0))
                kinds[kind] = before[0] + sent, before[1] + refused
        ruled = sum((Counter(tool.ruled) for tool in self.tools), Counter[str]())
        sums = {field: sum(getattr(tool, field) for tool in self.tools) for field in summed}
        slowest = max(self.tools, key=lambda tool: tool.slowest)
        whole = ToolReport(
            name="all",
            slowest=slowest.slowest,
            slow=f"{slowest.name}: {slowest.slow}",
            longest=max(tool.longest for tool in self.tools),
            kinds=kinds,
            ruled=dict(ruled),
        )
        return msgspec.structs.replace(whole, **sums)

    @property
    def status(self) -> int:
        """The exit status: 0 where everything malformed was refused in time and by name, 2 for no calls."""
        total = self.total
        if not total.calls:
            return 2
        held = total.refused == total.malformed and total.named == total.nameable
        unread = any(tool.note for tool in self.tools)
        return 0 if held and not (total.crashed or total.unanswered or unread) else 1


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[:_CUT]}…"


# --- text ----------------------------------------------------------------------------------------

COLUMNS: Final = (
    *("tool", "calls", "malformed", "refused", "named", "accepted", "valid", "taken"),
    *("crashed", "unanswered", "slowest"),
)


def cells(tool: ToolReport) -> tuple[str, ...]:
    """One tool as a row under `COLUMNS`."""
    counts = (tool.calls, tool.malformed, tool.refused)
    more = (tool.accepted + tool.late, tool.valid, tool.taken, tool.crashed, tool.unanswered)
    return (
        _escaped(tool.name),
        *map(str, counts),
        f"{tool.named}/{tool.nameable}",
        *map(str, more),
        f"{tool.slowest * 1000:.1f} ms",
    )


def lines(report: Report) -> Iterator[str]:
    """What is said below the table: kinds that got through, calls that went wrong, what was turned away.

    Whatever a terminal would not show as it stands is written as an escape.
    """
    return map(_escaped, _lines(report))


def _escaped(text: str) -> str:
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _lines(report: Report) -> Iterator[str]:
    leaks = {kind: counts for kind, counts in report.total.kinds.items() if counts[0] != counts[1]}
    if leaks:
        yield "not refused, by kind: " + ", ".join(
            f"{kind} {sent - refused} of {sent}" for kind, (sent, refused) in leaks.items()
        )
    if ruled := report.total.ruled:
        counts = ", ".join(f"{rule} {count}" for rule, count in ruled.items())
        yield f"valid only by a documented rule of the gate: {counts}"
    for tool in report.tools:
        if tool.note:
            yield f"{tool.name}: {tool.note}"
        faults = [each for each in tool.findings if each.is_fault]
        for finding in faults[:_SHOWN]:
            yield from _told(tool.name, finding)
        if len(faults) > _SHOWN:
            yield f"{tool.name}: {len(faults) - _SHOWN} more like these; --format json has them all"
        turned = [each for each in tool.findings if not each.is_fault]
        for finding in turned[:1]:
            yield f"{tool.name}: {len(turned)} of {tool.valid} valid calls were turned away, the first one:"
            yield from _told(tool.name, finding)


def _told(tool: str, finding: Finding) -> Iterator[str]:
    cut = f" ({finding.size} bytes)" if finding.arguments.endswith("…") else ""
    yield f"{tool}: {finding.fault}: {finding.kind}, {finding.label}"
    yield f"    sent {finding.arguments}{cut}"
    yield f"    read {json.dumps(finding.text, ensure_ascii=False)}"


def summary(report: Report) -> str:
    """The verdict in one sentence, with what it takes to repeat it."""
    total = report.total
    where = "before the function ran" if report.own else "as far as the answers tell"
    parts = [
        f"{report.target} ({report.server}): {total.calls} calls in {report.seconds:.1f} s",
        f"{total.refused} of {total.malformed} malformed calls refused {where}",
        f"{total.named} of {total.nameable} refusals name the argument",
        f"{total.taken} of {total.valid} valid calls taken",
        f"{total.crashed} crashes, {total.unanswered} unanswered",
        f"the longest refusal has {total.longest} characters",
        f"the slowest answer took {total.slowest * 1000:.1f} ms ({total.slow})",
        f"seed {report.seed}",
    ]
    return _escaped("; ".join(parts))


# --- for programs --------------------------------------------------------------------------------


def as_json(report: Report) -> str:
    """The whole report, with its sums and its exit status."""
    total = {key: value for key, value in msgspec.to_builtins(report.total).items() if key != "findings"}
    made = {**msgspec.to_builtins(report), "total": total, "status": report.status}
    return json.dumps(made, ensure_ascii=True, indent=2)


def as_junit(report: Report) -> str:
    """A test suite for each tool and a test for each kind of call."""
    root = ET.Element("testsuites", name=f"typegate probe {report.target}", time=f"{report.seconds:.3f}")
    for tool in report.tools:
        suite = ET.SubElement(root, "testsuite", name=_printable(tool.name))
        faults = [each for each in tool.findings if each.is_fault]
        kinds = dict.fromkeys((*tool.kinds, *(each.kind for each in faults)))
        for kind in kinds:
            test = ET.SubElement(suite, "testcase", classname=_printable(tool.name), name=kind)
            _fail(test, [each for each in faults if each.kind == kind])
        if tool.note:
            test = ET.SubElement(suite, "testcase", classname=_printable(tool.name), name="note")
            ET.SubElement(test, "error", message=_printable(tool.note))
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len({each.kind for each in faults})))
        suite.set("errors", str(int(bool(tool.note))))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _fail(test: ET.Element, findings: Sequence[Finding]) -> None:
    if findings:
        told: Iterable[str] = (line for each in findings for line in _told("", each))
        failure = ET.SubElement(test, "failure", message=f"{len(findings)} calls: {findings[0].fault}")
        failure.text = _printable("\n".join(line.removeprefix(": ") for line in told))


def _printable(text: str) -> str:
    """The text without what XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
