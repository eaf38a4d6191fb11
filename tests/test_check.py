"""`typegate check`: every rule by its own examples, comments, formats, the exit status, the pages.

    python tests/test_check.py        # writes docs/rules and the blocks of docs/check.md anew

The law of the file: what a page of the documentation says of a rule is what is tested here.
"""

import contextlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from typegate.check import report as reports
from typegate.check.engine import RULES, Report, check
from typegate.check.evidence import EVIDENCE
from typegate.check.findings import SEVERITIES, Finding
from typegate.check.pages import FAMILIES, page, table
from typegate.cli.main import main as run_command
from typegate.cli.target import load

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "rules"
DOCUMENT = ROOT / "docs" / "check.md"

IMPORTS = """\
import asyncio, contextlib, functools, os, subprocess, sys, time
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from pydantic import AnyUrl, BaseModel, Field
from typegate import Context, MCPServer, ToolAnnotations, ToolError, reject

server = MCPServer("shop")
"""


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a command adds to the path and to the modules goes away again."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith(("shop_", "bad_server", "to_check")):
            del sys.modules[name]


def written(folder: Path, code: str) -> Path:
    """A file that holds the server of *code*."""
    path = folder / f"shop_{len(list(folder.iterdir()))}.py"
    path.write_text(IMPORTS + code, encoding="utf-8")
    return path


def examined(folder: Path, code: str) -> Report:
    """What is found in the server of *code*."""
    path = written(folder, code)
    return check(load(f"{path}:server").server, path)


def ids(report: Report) -> list[str]:
    """The rules that found something."""
    return [finding.rule for finding in report.findings]


def command(*arguments: str) -> tuple[int, str, str]:
    """The exit status of `typegate check …`, and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
        run_command(["check", *arguments])
    return int(str(end.value.code)), out.getvalue(), err.getvalue()


# --- every rule, by its own examples


@pytest.mark.parametrize("name", RULES)
def test_a_rule_finds_what_its_page_says(name: str, tmp_path: Path) -> None:
    """The example of a mistake is reported once, by this rule and by no other."""
    assert ids(examined(tmp_path, RULES[name].bad)) == [name]


@pytest.mark.parametrize("name", RULES)
def test_what_is_mended_is_not_reported(name: str, tmp_path: Path) -> None:
    """The mended example is clean by every rule."""
    assert ids(examined(tmp_path, RULES[name].good)) == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_it_must(name: str) -> None:
    """A rule has its texts, on one line each, and belongs to a family."""
    rule = RULES[name]
    assert re.fullmatch(r"TG[1-9]\d\d", name)
    assert name[:3] in FAMILIES
    assert rule.severity in SEVERITIES
    assert all(text and "\n" not in text for text in (rule.title, rule.reason, rule.mend))
    assert rule.reason.endswith(".")
    assert not rule.mend.endswith(".")


def test_there_are_enough_rules() -> None:
    """There are 20 at least, and each has an id of its own."""
    assert len(RULES) >= 20


def test_every_client_has_a_report() -> None:
    """Who refuses what can be read somewhere."""
    assert {name[:5] for name in EVIDENCE} == {name for name in RULES if name.startswith("TG4")}
    rows = [row for some in EVIDENCE.values() for row in some]
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", row.seen) for row in rows)


# --- more of what is found, and of what is not

TOOL = '''
@server.tool
{sort}def look({parameters}) -> str:
    """Say what is in the drawer."""
    {body}
'''


def tool(parameters: str = "", body: str = "return ''", sort: str = "") -> str:
    """A server of one tool, which is in order but for what is given."""
    return TOOL.format(parameters=parameters, body=body.replace("\n", "\n    "), sort=sort)


def described(name: str, hint: str, text: str = "What it is.", default: str = "") -> str:
    """One parameter with a description."""
    return f"{name}: Annotated[{hint}, {text!r}]{default}"


FOUND = [
    ("TG101", tool(described("x", "Any"))),
    ("TG101", tool(described("x", "dict[str, Any]"))),
    ("TG101", tool(described("x", "list[dict] | None", default=" = None"))),
    ("TG101", tool(described("x", "object"))),
    ("TG101", "class Order(BaseModel):\n    lines: list\n" + tool(described("x", "Order"))),
    ("TG101", tool("**more: Any")),
    (
        "TG101",
        "ROWS = {'type': 'array', 'items': True, 'description': 'Which.'}\n"
        "OWN = {'type': 'object', 'properties': {'rows': ROWS}}\n"
        + tool("**more: str").replace("@server.tool", "@server.tool(schema=OWN)"),
    ),
    ("TG103", tool(described("when", "str", "A day as YYYY-MM-DD."))),
    ("TG103", tool(described("dueDate", "str"))),
    ("TG105", tool(described("x", "str", "'new' or 'old'"))),
    ("TG105", tool(described("x", "str", 'How; one of "asc", "desc".'))),
    ("TG105", tool(described("x", "str"), "if x not in ('a', 'b'):\n    raise ToolError('no')\nreturn x")),
    ("TG105", tool(described("x", "str"), "if x not in ['a', 'b']:\n    reject('NO', 'no')\nreturn x")),
    ("TG106", tool(described("limit", "int", default=" = 5"))),
    ("TG106", tool(described("page_size", "Annotated[int, Field(ge=1)]"))),
    ("TG110", tool(described("password", "str", default=" = 'hunter2'"))),
    ("TG301", tool(body="try:\n    look()\nexcept:\n    pass\nreturn ''")),
    (
        "TG301",
        tool(body="try:\n    look()\nexcept (OSError, Exception):\n    ...\nreturn ''"),
    ),
    ("TG301", tool(body="with contextlib.suppress(Exception):\n    look()\nreturn ''")),
    ("TG302", tool(body="try:\n    return look()\nexcept Exception:\n    return ''")),
    ("TG302", tool(body="try:\n    x = look()\nexcept Exception as e:\n    x = {}\nreturn str(x)")),
    ("TG302", tool(body="try:\n    return look()\nexcept subprocess.CalledProcessError:\n    return None")),
    ("TG303", tool(body="try:\n    return look()\nexcept KeyError as e:\n    return f'Error: {e}'")),
    ("TG303", tool(body="return {'error': 'none', 'message': 'of these'}")),
    ("TG303", tool(body="return {'error': str(look()), 'success': False}")),
    ("TG304", tool(body="raise Exception('there is none')")),
    ("TG305", tool(body="try:\n    return look()\nexcept Exception as e:\n    raise ToolError(str(e))")),
    ("TG307", tool(body="from requests import get\nreturn get('http://shop').text", sort="async ")),
    ("TG307", tool(body="import time as clock\nclock.sleep(1)\nreturn ''", sort="async ")),
    ("TG309", tool(described("x", "str"), "q = 'SELECT a FROM b WHERE c = %s' % x\nreturn db.execute(q)")),
    ("TG309", tool(described("x", "str"), "return db.execute('DELETE FROM b WHERE c = ' + x)")),
    ("TG309", tool(described("x", "str"), "return db.execute('SELECT a FROM b WHERE c = {}'.format(x))")),
    ("TG310", tool(described("x", "str"), "return str(eval(x))")),
    ("TG310", tool(described("x", "str"), "os.system(x)\nreturn ''")),
    ("TG401", tool().replace("@server.tool", "@server.tool(name='2nd_drawer')")),
    ("TG402", tool().replace("@server.tool", f"@server.tool(name='a{'b' * 64}')")),
    ("TG501", tool() + tool().replace("look", "looks").replace("drawer", "box")),
]
"""Rule → a server in which it finds something, beside the one on its page."""


@pytest.mark.parametrize(("name", "code"), FOUND)
def test_it_finds(name: str, code: str, tmp_path: Path) -> None:
    """Each of these is reported once."""
    assert ids(examined(tmp_path, code)) == [name]


IN_ORDER = [
    tool(described("x", "dict[str, int]")),
    tool(described("x", "str | None", default=" = None")),
    tool(described("update", "str")),
    tool(described("port", "str")),
    tool(described("x", "str", "A text in which 'colour' or 'color' is found.")),
    tool("**more: int"),
    tool(described("date_format", "str")),
    tool(described("x", "str", "A colour, such as 'red' or 'blue'.")),
    tool(described("x", "str"), "if x in ('a', 'b'):\n    return 'known'\nreturn x"),
    tool(described("limit", "Literal[10, 100]")),
    tool(described("limit", "Annotated[int, Field(gt=0, lt=9)]")),
    tool(described("page_token", "str | None", default=" = None")),
    tool(described("x", "str", default=" = None")),
    tool(body="try:\n    return look()\nexcept KeyError:\n    return ''"),
    tool(body="try:\n    tidy()\nexcept Exception:\n    log.exception('no')\nreturn ''"),
    tool(described("timeout", "str", "A duration, such as 5m0s.")),
    tool(body="try:\n    go()\nfinally:\n    try: end()\n    except Exception: pass\nreturn ''"),
    tool(body="try:\n    return look()\nexcept FileNotFoundError:\n    return ''"),
    tool(body="try:\n    x = look()\nexcept OSError:\n    x = None\nreturn str(x)"),
    tool(body="try:\n    return look()\nexcept Exception:\n    log.exception('no')\n    raise"),
    tool(
        body="try:\n    return look()\nexcept Exception as e:\n    raise ToolError(type(e).__name__) from e"
    ),
    tool(body="with contextlib.suppress(KeyError):\n    return look()\nreturn ''"),
    tool(body="return {'ok': False, 'error': {'code': 'NO', 'message': 'no'}}"),
    tool(body="return 'erroneous'"),
    tool(body="return f'Failed orders: {look()}'"),
    tool(body="return {'error': 0.25}"),
    tool(body="raise RuntimeError('an invariant is broken')"),
    tool(body="try:\n    raise ValueError('x')\nexcept ValueError:\n    return 'y'"),
    tool(body="print('sweeping', file=sys.stderr)\nreturn ''"),
    tool(body="time.sleep(1)\nreturn ''"),
    tool(body="def later():\n    time.sleep(1)\nreturn await asyncio.to_thread(later)", sort="async "),
    tool(described("x", "int"), "return db.execute(f'SELECT a FROM b WHERE c = {x}')"),
    tool(described("x", "Literal['a', 'b']"), "return db.execute(f'SELECT {x} FROM b')"),
    tool(described("x", "str"), "return db.execute(f'SELECT a FROM b WHERE c = ?', (x,))"),
    tool(described("x", "str"), "return f'SELECT your tea FROM {x}'"),
    tool(described("x", "str"), "subprocess.run([x])\nreturn ''"),
    tool(described("x", "str"), "assert isinstance(x, str)\nassert x is not None\nreturn x"),
    "READS = ToolAnnotations(read_only_hint=True)\n"
    + tool(
        body="import tempfile\npath = Path(tempfile.mkstemp()[1])\npath.write_text('a')\nreturn ''"
    ).replace("@server.tool", "@server.tool(annotations=READS)"),
    tool().replace("look", "drop_rate"),
    tool() + tool().replace("look", "unlock").replace("drawer", "box"),
    tool().replace("look", "get_1") + tool().replace("look", "get_2").replace("drawer", "box"),
    '@server.prompt\ndef ask(api: Annotated[str, "Which."] = "") -> str:\n    """Ask."""\n    return api\n',
    '@server.resource("shop://{id}{?limit}")\ndef order(id: int, limit: int = 3) -> str:\n    "By id."\n',
]
"""Servers in which there is nothing to find."""


@pytest.mark.parametrize("code", IN_ORDER)
def test_it_leaves_alone(code: str, tmp_path: Path) -> None:
    """None of these is reported."""
    assert [(found.rule, found.message) for found in examined(tmp_path, code).findings] == []


# --- where there is no source

SOURCELESS = '''
import operator

class Shelf:
    """Where jars stand."""
    def __call__(self, row: Annotated[int, "Which."]) -> int:
        """Count the jars of a row."""
        return row
    def clear(self, row: Annotated[int, "Which."]) -> int:
        """Take the jars of a row away."""
        return row

def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

@wrapped
def weigh(jar: Annotated[int, "Which."], unit: Annotated[str, "Of what."]) -> float:
    """Weigh a jar."""
    return 1.0

made = {}
exec('def bake(x):\\n    try: return 1\\n    except Exception: pass', made)
server.add_tool("lamb", lambda: "", description="Say nothing at all.")
server.add_tool("sum", operator.add, description="Add the jars of two rows.")
server.add_tool("bake", made["bake"], description="Put something into the oven.")
server.add_tool("count", Shelf())
server.add_tool(Shelf().clear)
server.add_tool("weigh_small", functools.partial(weigh, unit="g"))
'''


def test_functions_without_source_do_no_harm(tmp_path: Path) -> None:
    """What is published is read all the same, and the finding stands where the server or the function is."""
    report = examined(tmp_path, SOURCELESS)
    assert report.counts["tool"] == 6
    by_name = {
        name: [f.rule for f in report.findings if f.name == name] for name in ("lamb", "sum", "bake", "count")
    }
    assert by_name["lamb"] == ["TG107"]
    assert set(by_name["bake"]) == {"TG101", "TG102", "TG107"}  # what it swallows nobody can read
    assert set(by_name["sum"]) >= {"TG101", "TG102"}
    assert by_name["count"] == []
    assert {f.line for f in report.findings if f.name == "bake"} == {IMPORTS.count("\n")}


def test_a_function_under_several_names_is_read_once(tmp_path: Path) -> None:
    """Its source is one place."""
    code = tool(body="print('!')\nreturn ''") + "server.add_tool('peep', look, description='Look again.')\n"
    assert ids(examined(tmp_path, code)) == ["TG306"]


def test_a_column_counts_characters(tmp_path: Path) -> None:
    """Not bytes: an editor opens the right place."""
    [found] = examined(tmp_path, tool(body="'äöü'; print('!')\nreturn ''")).findings
    assert (found.rule, found.column) == ("TG306", 12)


# --- comments

SPOTS = {
    "the parameter": ("", "  # typegate: ignore[TG106]", ""),
    "the decorator": ("  # typegate: ignore[TG106]", "", ""),
    "the end of the signature": ("", "", "  # typegate: ignore[TG106]  # why"),
}


@pytest.mark.parametrize("spot", SPOTS)
def test_a_comment_silences(spot: str, tmp_path: Path) -> None:
    """On the line of the finding, on the decorator, and on the `def`."""
    decorator, parameter, end = SPOTS[spot]
    code = (
        f"@server.tool{decorator}\ndef look(\n    limit: Annotated[int, 'How many.'],{parameter}\n"
        f') -> str:{end}\n    """Say what is in the drawer."""\n    return ""\n'
    )
    assert ids(examined(tmp_path, code)) == []


def test_a_comment_is_for_its_own_line(tmp_path: Path) -> None:
    """That of one parameter does not silence another."""
    code = (
        "@server.tool\ndef look(\n    limit: Annotated[int, 'How many.'],  # typegate: ignore[TG106]\n"
        "    page_size: Annotated[int, 'How many.'],\n) -> str:\n"
        '    """Say what is in the drawer."""\n    return ""\n'
    )
    [found] = examined(tmp_path, code).findings
    assert (found.rule, found.message) == ("TG106", "'page_size' has no minimum and no maximum")


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        ("# typegate: ignore", "TG901"),
        ("# typegate: ignore[]", "TG901"),
        ("# typegate: ignore[TG999]", "TG901"),
        ("# typegate: ignore[TG201]", "TG902"),
    ],
)
def test_a_comment_without_effect_is_reported(comment: str, rule: str, tmp_path: Path) -> None:
    """One that names no rule, and one whose rule finds nothing there."""
    assert ids(examined(tmp_path, tool() + f"\n{comment}\n")) == [rule]


def test_a_text_is_no_comment(tmp_path: Path) -> None:
    """The words in a string mean nothing."""
    assert ids(examined(tmp_path, tool(body="return '# typegate: ignore'"))) == []


# --- formats

FINDING = Finding(
    rule="TG101",
    severity="error",
    path=ROOT / "a,b:c%.py",
    line=3,
    column=5,
    name="look",
    message="100 % wrong:\nsee, there",
    mend="mend it",
)
REPORT = Report(
    findings=(FINDING,), counts={"tool": 1, "resource": 0, "template": 2, "prompt": 0}, tokens=1234
)


@pytest.fixture
def _at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("_at_root")
def test_text_is_plain_without_a_terminal() -> None:
    """Place, rule, what, and how to mend it; then a summary."""
    assert reports.text(REPORT, color=False) == (
        "a,b:c%.py:3:5 error TG101 look: 100 % wrong:\nsee, there\n    mend it\n\n"
        "1 error in 1 tool, 2 resources (the tools: about 1,234 tokens)\n"
    )
    assert "\x1b[31merror TG101\x1b[0m" in reports.text(REPORT, color=True)


@pytest.mark.usefixtures("_at_root")
def test_json_has_every_field() -> None:
    """A program finds what a person reads."""
    whole = json.loads(reports.json(REPORT, "server.py"))
    assert whole["target"] == "server.py"
    assert whole["tokens"] == 1234
    assert whole["findings"] == [
        {
            "rule": "TG101",
            "severity": "error",
            "path": "a,b:c%.py",
            "line": 3,
            "column": 5,
            "name": "look",
            "message": "100 % wrong:\nsee, there",
            "mend": "mend it",
        }
    ]


@pytest.mark.usefixtures("_at_root")
def test_github_is_escaped() -> None:
    """Percent signs and line ends everywhere; colons and commas in properties."""
    assert reports.github(REPORT) == (
        "::error file=a%2Cb%3Ac%25.py,line=3,col=5,title=TG101::"
        "look: 100 %25 wrong:%0Asee, there. To mend it: mend it\n"
    )


@pytest.mark.usefixtures("_at_root")
def test_sarif_has_the_shape_of_2_1_0() -> None:
    """One run, every rule described, and results that point at them."""
    log = json.loads(reports.sarif(REPORT, "1.0"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert all(rule["defaultConfiguration"]["level"] in ("error", "warning", "note") for rule in rules)
    assert all(rule["shortDescription"]["text"] and rule["help"]["markdown"] for rule in rules)
    [result] = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "TG101"
    assert result["level"] == "error"
    assert result["message"]["text"]
    [location] = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "a%2Cb%3Ac%25.py"},
        "region": {"startLine": 3, "startColumn": 5},
    }
    assert location["logicalLocations"] == [{"name": "look", "kind": "function"}]


def test_a_path_elsewhere_is_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What does not lie below is written in full, and as a URI in SARIF."""
    monkeypatch.chdir(tmp_path)
    assert reports.shown_path(FINDING.path) == FINDING.path.as_posix()
    assert '"uri":"file:///' in reports.sarif(REPORT, "1.0")


# --- the command


def test_the_status_is_1_from_a_warning_on(tmp_path: Path) -> None:
    """Notes do not fail a build, unless that is asked for."""
    path = str(written(tmp_path, tool(body="print('!')\nreturn ''")))
    assert command(path)[0] == 0
    assert command(path, "--fail-on", "note")[0] == 1
    warned = str(written(tmp_path, tool("x: str")))
    assert command(warned)[0] == 1
    assert command(warned, "--fail-on", "error")[0] == 0
    assert command(warned, "--fail-on", "never")[0] == 0


def test_what_matters_less_can_be_left_out(tmp_path: Path) -> None:
    """By severity, or by rule."""
    path = str(written(tmp_path, tool("x: str", "print('!')\nreturn ''")))
    assert re.findall("TG[0-9]+", command(path)[1]) == ["TG102", "TG306"]
    assert re.findall("TG[0-9]+", command(path, "--severity", "warning")[1]) == ["TG102"]
    status, out, _ = command(path, "--ignore", "tg102,TG306")
    assert (status, re.findall("TG[0-9]+", out)) == (0, [])


def test_a_rule_that_did_not_run_leaves_its_comments_alone(tmp_path: Path) -> None:
    """They are not unused."""
    path = str(written(tmp_path, tool("x: str").replace("tool\n", "tool  # typegate: ignore[TG102]\n")))
    assert command(path, "--ignore", "TG102")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [["no_such_file.py"], ["no.such.module"], [], ["--explain", "TG000"], ["x.py", "--ignore", "E501"]],
)
def test_a_question_without_sense_is_2(arguments: list[str]) -> None:
    """A target that cannot be loaded, none at all, a rule that does not exist."""
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("typegate: ")


def test_a_module_is_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module, and a server in it by name."""
    path = written(tmp_path, tool())
    monkeypatch.chdir(tmp_path)
    assert command(path.stem)[0] == 0
    importlib.invalidate_caches()
    assert command(f"{path.stem}:server")[0] == 0
    assert command(f"{path}:server")[0] == 0


def test_the_author_s_code_is_not_called(tmp_path: Path) -> None:
    """Nothing but the import runs."""
    assert command(str(written(tmp_path, tool(body="raise SystemExit"))))[0] == 0


def test_a_rule_explains_itself() -> None:
    """`--explain` prints the page of the documentation."""
    status, out, _ = command("--explain", "tg101")
    assert status == 0
    assert out == (PAGES / "TG101.md").read_text("utf-8")


def test_it_is_a_command_of_the_shell() -> None:
    """As a process: plain text, status 1, no colours in a pipe."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from typegate.cli.main import main; main()",
            "check",
            "docs/examples/to_check.py",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert done.stdout == reported("docs/examples/to_check.py")


# --- the examples


@pytest.mark.usefixtures("_at_root")
def test_the_bad_server_breaks_every_rule_once() -> None:
    """Each rule is reported exactly once."""
    status, out, _ = command("examples/bad_server.py", "--format", "json")
    assert status == 1
    assert sorted(found["rule"] for found in json.loads(out)["findings"]) == list(RULES)


@pytest.mark.usefixtures("_at_root")
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_the_good_server_breaks_none(form: str) -> None:
    """There is nothing to report of the server to read first, in any form."""
    status, out, _ = command("examples/tasks_server.py", "--format", form)
    assert status == 0
    assert "TG" not in out or form == "sarif"
    if form == "sarif":
        assert json.loads(out)["runs"][0]["results"] == []


B6 = '''
class Order(BaseModel):
    amount: int

@server.tool
def add_order(order: dict, extra: Any) -> str:
    """Put an order on the books.

    Args:
        order: The order.
        extra: The rest.
    """
    return "added"

@server.tool
def find(
    customer,
    due_date: Annotated[str, "When."],
    mode: Annotated[str, "'new' or 'old'"],
    year: Annotated[str, "Since when."],
) -> str:
    return ""

@server.tool(name="stock.count")
def stock(limit: Annotated[int, "The most."]) -> list[str]:
    """Count what lies on the shelves."""
    try:
        return database.rows(limit)
    except Exception:
        return []

@server.tool(description="Count what lies on the shelves.")
def get_stock() -> int:
    return 1

@server.tool
def fetch_stock() -> int:
    """Carry everything here."""
    return 1
'''


def test_B6_a_server_is_read_as_a_reviewer_would(tmp_path: Path) -> None:
    """Each of the things that the requirement lists is found, and told in every form with a status for CI."""
    path = str(written(tmp_path, B6))
    clauses = {
        "a bare dict or Any": "TG101",
        "a parameter without a description": "TG102",
        "a date": "TG103",
        "a bounded number": "TG104",
        "a Literal": "TG105",
        "an unbounded integer limit": "TG106",
        "a swallowed error": "TG302",
        "a tool without a description": "TG201",
        "what some clients refuse": "TG401",
        "names that a model confuses": "TG501",
        "descriptions that a model confuses": "TG502",
    }
    for form in ("text", "json", "github"):
        status, out, _ = command(path, "--format", form)
        assert status == 1
        assert {clause for clause, rule in clauses.items() if rule not in out} == set()


# --- the documentation


def reported(target: str) -> str:
    """What the command prints of a file."""
    with contextlib.chdir(ROOT):
        loaded = load(target)
        return reports.text(check(loaded.server, loaded.path), color=False)


BLOCKS = {
    "rules": lambda _: table(RULES.values()),
    "check": lambda target: f"```text\n$ typegate check {target}\n{reported(target)}```\n",
}
_BLOCK = re.compile(r"(<!-- made: (\w+) ?(\S*) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(text: str) -> str:
    """The document with its blocks as the code gives them now."""
    return _BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found[2]](found[3])}{found[4]}", text)


PEERS = """
    INIT-001 INIT-002 INIT-003 INIT-004 TOOL-001 TOOL-002 TOOL-003 TOOL-004 TOOL-005 RES-001 ERR-001
    SEC-001 SEC-002 SEC-003 SEC-004 SEC-005 SEC-006 SEC-007 SEC-008 PERF-001 PERF-002 PERF-003
    PERF-004

    no-required-false no-content-encoding description-exists no-empty-enum max-depth
    no-recursive-refs valid-json-schema-subset no-unsupported-formats claude/no-type-array
    continue/no-default-values cursor/no-default-without-type cursor/no-missing-title
    gemini/no-optional-without-default gemini/no-nested-objects vscode/max-params
    windsurf/no-union-types cline/description-max-length openai/no-additional-properties
    openai/strict-types

    annotations-bad context-budget desc-long desc-missing desc-short hint-mismatch hint-not-bool
    name-bad-chars name-casing name-duplicate name-missing name-too-long no-tools param-no-desc
    param-no-type schema-invalid schema-missing schema-not-object no-server-info no-protocol-version
    no-tools-capability bad-tools-list spawn-failed

    annotation-coherence annotation-type app-tool-resource-pairing auth-scope-format auth-type
    canvas-consumer-missing capped-list-no-truncation definition-invalid describe-on-fields
    description-required enrichment- error-contract- format-parity format-parity-threw
    format-parity-walk-failed generate-required handler-required meta-ui- name-format name-required
    name-unique no-stringify-upstream-error prefer-error-factory prefer-mcp-error-in-handler
    preserve-cause-on-rethrow resource-name-not-uri schema-anyof-needs-type schema-dialect-tag
    schema-format-portability schema-is-object schema-no-defs schema-no-discriminator-keyword
    schema-serializable template-params-align uri-template-required uri-template-valid server-json-
    landing-
"""
"""The rules of the four other linters, as their packages name them; a dash at the end stands for a family."""


def test_the_rules_of_other_linters_are_all_answered() -> None:
    """The document says of each whether it is here, and it names only rules of ours that exist."""
    text = DOCUMENT.read_text("utf-8")
    assert {name for name in PEERS.split() if f"`{name}`" not in text} == set()
    assert set(re.findall(r"TG\d{3}", text)) == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_the_page_of_a_rule_is_up_to_date(name: str) -> None:
    """It says what the rule says; if not, see the head of this file."""
    assert (PAGES / f"{name}.md").read_text("utf-8") == page(RULES[name])


def test_there_is_no_page_too_many() -> None:
    """A rule that is gone takes its page along."""
    assert {path.stem for path in PAGES.glob("*.md")} == set(RULES)


def test_the_document_is_up_to_date() -> None:
    """Its table of rules and its example are made from the code."""
    text = DOCUMENT.read_text("utf-8")
    assert text == renewed(text)
    assert len(_BLOCK.findall(text)) == len(BLOCKS)


def write() -> None:
    """Write the pages and the blocks anew."""
    PAGES.mkdir(exist_ok=True)
    for old in PAGES.glob("*.md"):
        old.unlink()
    for name, rule in RULES.items():
        (PAGES / f"{name}.md").write_text(page(rule), encoding="utf-8")
    DOCUMENT.write_text(renewed(DOCUMENT.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
