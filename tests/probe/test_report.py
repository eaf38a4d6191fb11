"""What is said of a probe: figures, the calls that went wrong, and the three formats."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from typegate.cli.terminal import plain_table
from typegate.probe.calls import Case
from typegate.probe.faults import KINDS
from typegate.probe.judgement import VERDICTS, Answer, judge
from typegate.probe.report import COLUMNS, Report, ToolReport, as_json, as_junit, cells, lines, summary

PAGE = Path(__file__).parents[2] / "docs" / "probe.md"

BAD = Case(
    kind="type", label="limit: true instead", arguments=b'{"limit":true}', valid=False, places=(("limit",),)
)
GOOD = Case(kind="valid", label="valid arguments", arguments=b"{}", valid=True)
RULED = Case(kind="null", label="limit: null", arguments=b'{"limit":null}', valid=True, rule="null")
WIRE = Case(kind="wire", label="half a pair", arguments=b'{"limit":"\xff"}', valid=False)

REFUSED = Answer(form="result", text="'limit' must be integer", failed=True, ran=False, seconds=0.25)
UNNAMED = Answer(form="result", text="no \x00 and ]]> <b>", failed=True, ran=False)
RAN = Answer(form="result", text="reached", ran=True, seconds=0.5)
ENDED = Answer(form="end", text="the server ended")


def tool(*pairs: tuple[Case, Answer], name: str = "find", note: str | None = None) -> ToolReport:
    """What a tool did with some calls."""
    return ToolReport.of(
        name, [(case, answer, judge(case, answer, strict=True)) for case, answer in pairs], note
    )


def report(*tools: ToolReport) -> Report:
    """What a server did."""
    return Report(
        target="shop.py", server="shop 1", own=True, live=False, seed=7, seconds=1.5, noise=0, tools=tools
    )


HELD = report(
    tool((GOOD, RAN), (RULED, RAN), (BAD, REFUSED), (WIRE, UNNAMED)), tool((BAD, REFUSED), name="get")
)
BROKE = report(tool((GOOD, RAN), (BAD, RAN), (BAD, UNNAMED), (BAD, ENDED), (WIRE, RAN), (GOOD, REFUSED)))


def test_the_figures_of_a_tool() -> None:
    """Every call is counted once, by what it was and by what became of it."""
    found = HELD.tools[0]
    assert (found.calls, found.malformed, found.refused, found.valid, found.taken) == (4, 2, 2, 2, 2)
    assert (found.nameable, found.named, found.accepted, found.crashed) == (1, 1, 0, 0)
    assert found.kinds == {"type": (1, 1), "wire": (1, 1)}
    assert (found.ruled, found.slowest, found.slow) == ({"null": 1}, 0.5, "valid, valid arguments")
    assert found.findings == ()


def test_the_sums() -> None:
    """All tools together."""
    total = HELD.total
    assert (total.calls, total.malformed, total.refused, total.ruled) == (5, 3, 3, {"null": 1})
    assert total.kinds == {"type": (2, 2), "wire": (1, 1)}


@pytest.mark.parametrize(
    ("pair", "status"),
    [
        ((BAD, REFUSED), 0),
        ((GOOD, REFUSED), 0),  # a valid call may be turned away
        ((WIRE, UNNAMED), 0),
        ((BAD, UNNAMED), 1),
        ((BAD, RAN), 1),
        ((BAD, ENDED), 1),
        ((GOOD, ENDED), 1),
        ((GOOD, Answer(form="silence", ran=False)), 1),
    ],
)
def test_the_exit_status(pair: tuple[Case, Answer], status: int) -> None:
    """Nothing malformed got through, every refusal names the argument, every call was answered."""
    assert report(tool(pair)).status == status


def test_the_exit_status_without_calls() -> None:
    """A tool that could not be probed is no success, and no calls at all are no answer."""
    assert report(tool(name="odd", note="its schema is none")).status == 2
    assert report(tool((BAD, REFUSED)), tool(name="odd", note="its schema is none")).status == 1


def test_text_tells_how_to_repeat_a_call() -> None:
    """What went wrong, the kind and the label, the arguments, the answer, and the seed."""
    text = "\n".join([*lines(BROKE), summary(BROKE)])
    assert 'find: accepted: type, limit: true instead\n    sent {"limit":true}' in text
    assert "find: the argument is not named: type" in text
    assert "find: crashed: type" in text
    assert "not refused, by kind: type 2 of 3, wire 1 of 1" in text
    assert "1 of 2 valid calls were turned away" in text
    assert "seed 7" in text


def test_text_says_what_was_taken_by_a_rule() -> None:
    """What only a rule makes valid is not hidden among the valid calls."""
    assert list(lines(HELD)) == ["valid only by a documented rule of the gate: null 1"]


def test_what_a_terminal_does_not_show_is_escaped() -> None:
    """Marks of direction, escape codes in a tool's name and in its answers do nothing to the screen."""
    odd = Case(kind="unicode", label="x", arguments='{"x":"\u202e"}'.encode(), valid=False, places=(("x",),))
    made = report(tool((odd, Answer(form="result", text="\x1b[2J\u202e", ran=True)), name="\x1b[31mx"))
    text = "".join([*lines(made), *cells(made.tools[0]), summary(made)])
    assert text.isprintable()
    assert 'sent {"x":"\\u202e"}' in text


def test_long_arguments_are_cut() -> None:
    """The size is told instead, and JSON and text are cut alike."""
    long = Case(kind="huge", label="x", arguments=b'"' + b"a" * 5_000 + b'"', valid=False, places=(("x",),))
    made = report(tool((long, RAN)))
    assert '…" (5002 bytes)'.replace('"', "") in "\n".join(lines(made))
    assert len(as_json(made)) < 3_000


def test_many_faults_are_counted_not_listed() -> None:
    """Text shows ten of a tool; JSON has them all."""
    made = report(tool(*[(BAD, RAN)] * 30))
    assert "find: 20 more like these" in "\n".join(lines(made))
    assert len(json.loads(as_json(made))["tools"][0]["findings"]) == 30


def test_the_table_is_in_columns() -> None:
    """Each row has a cell for each column, and plain text lines them up."""
    rows = [cells(each) for each in (*HELD.tools, HELD.total)]
    assert {len(row) for row in rows} == {len(COLUMNS)}
    text = plain_table(COLUMNS, rows).splitlines()
    assert text[0].split() == list(COLUMNS)
    assert text[1].split()[:5] == ["find", "4", "2", "2", "1/1"]
    assert len({line.index(" ms") for line in text[1:]}) == 1


def test_json_is_json() -> None:
    """With the sums, the status and every fault."""
    data = json.loads(as_json(BROKE))
    assert (data["status"], data["seed"], data["total"]["calls"]) == (1, 7, 6)
    verdicts = [finding["verdict"] for finding in data["tools"][0]["findings"]]
    assert verdicts == ["accepted", "refused", "crashed", "accepted", "turned away"]


def test_junit_is_well_formed() -> None:
    """A suite for each tool, a test for each kind, a failure where it went wrong."""
    root = ET.fromstring(as_junit(report(*BROKE.tools, tool(name="odd", note="no schema"))))
    suites = {suite.get("name"): suite for suite in root}
    assert (suites["find"].get("tests"), suites["find"].get("failures")) == ("2", "2")
    assert suites["odd"].get("errors") == "1"
    [kinds, failed] = [
        [test.get("name") for test in suites["find"]],
        [test.get("name") for test in suites["find"] if test.find("failure") is not None],
    ]
    assert kinds == failed == ["type", "wire"]


def test_junit_of_what_held_has_no_failure() -> None:
    """A valid call that was turned away is none."""
    root = ET.fromstring(as_junit(report(tool((GOOD, REFUSED), (BAD, REFUSED)))))
    assert list(root.iter("failure")) == []


def test_the_page_has_every_kind_verdict_and_column() -> None:
    """What a report says is explained."""
    text = PAGE.read_text("utf-8")
    for word in (*KINDS, *VERDICTS, *COLUMNS):
        assert f"| `{word}` |" in text, word
