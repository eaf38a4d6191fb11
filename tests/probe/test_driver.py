"""Whole probes: a process is started, called, judged and ended (requirement B7)."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from typegate import ConfigurationError, MCPServer
from typegate.cli import probe as command
from typegate.cli.main import main
from typegate.probe.driver import Options, Target, run_probe
from typegate.probe.faults import KINDS
from typegate.probe.report import Report
from typegate.probe.sentinel import REACHED, RULES_KEY, arm

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
RICH = str(HERE / "rich_server.py")


def probed(target: str, live: bool = False, **options: Any) -> Report:
    """What a probe of a typegate server finds."""
    own = (sys.executable, "-P", "-m", "typegate.cli.probe", target, "live" if live else "sentinel")
    return run(Target(label=target, command=own, own=True, live=live), **options)


def foreign(mischief: str = "good", **options: Any) -> Report:
    """What a probe of a server of another make finds."""
    command = (sys.executable, str(HERE / "foreign_server.py"), mischief)
    return run(Target(label=mischief, command=command, own=False, live=True), **options)


def run(target: Target, **options: Any) -> Report:
    """What a probe finds."""
    return asyncio.run(
        run_probe(target, Options(**{"seconds": 30.0, **options}), lambda done, total, word: None)
    )


def assert_held(report: Report) -> None:
    """Everything malformed was refused before the function ran, by name, and nothing broke."""
    total = report.total
    faults = [finding for tool in report.tools for finding in tool.findings if finding.is_fault]
    assert faults == []
    assert (total.refused, total.named) == (total.malformed, total.nameable)
    assert (total.accepted, total.late, total.crashed, total.unanswered) == (0, 0, 0, 0)
    assert report.status == 0


def test_B7_every_malformed_call_is_refused_before_the_function_runs() -> None:
    """Calls of every kind, at every depth of every form of schema; each text names the argument."""
    report = probed(RICH, most=120)
    assert_held(report)
    total = report.total
    assert set(total.kinds) == set(KINDS)
    assert total.malformed > 500
    assert total.taken > 30
    assert {tool.name for tool in report.tools} >= {"open_ended", "reach", "late"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tasks_server.py", "everything_server.py"])
def test_B7_the_examples_hold(name: str) -> None:
    """At least 500 calls each; all malformed ones are refused, all refusals name the argument, no crash."""
    report = probed(str(EXAMPLES / name))
    assert_held(report)
    assert report.total.calls >= 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_form_of_schema_holds_at_length(seed: int) -> None:
    """With other seeds and without a bound on the calls."""
    assert_held(probed(RICH, seed=seed, most=5_000))


# --- servers of another make


def test_a_good_foreign_server_holds() -> None:
    """As far as its answers tell; its own way of naming arguments is understood."""
    report = foreign()
    assert report.status == 0
    assert report.total.named > 40


def test_a_lax_server_is_found_out() -> None:
    """Texts that it takes for numbers are shown with what was sent."""
    report = foreign("lax")
    accepted = [each for each in report.tools[0].findings if each.verdict == "accepted"]
    assert report.status == 1
    assert any(each.kind == "text" and each.arguments == '{"count":"3"}' for each in accepted)


def test_a_mute_server_is_found_out() -> None:
    """It refuses everything and names nothing."""
    report = foreign("mute")
    assert (report.status, report.total.named, report.total.accepted) == (1, 0, 0)


def test_a_server_that_ends_is_started_again() -> None:
    """The call that ended it is shown with its last words, and the others are made."""
    report = foreign("crash")
    [crash] = [each for each in report.tools[0].findings if each.verdict == "crashed"]
    assert crash.arguments == '{"count":""}'
    assert crash.text == "the server ended with status 1: count was empty"
    assert report.total.calls == foreign().total.calls


def test_a_server_that_hangs_is_given_up_in_time() -> None:
    """No answer within the time is a fault of its own, and the server is started anew."""
    report = foreign("hang", seconds=0.5)
    assert (report.total.unanswered, report.total.calls) == (1, foreign().total.calls)
    assert report.status == 1


def test_silence_about_no_json_is_found_out() -> None:
    """A ping behind the call shows that the server is there and says nothing."""
    report = foreign("silent", most=30)
    assert {each.kind for each in report.tools[0].findings if each.verdict == "unanswered"} <= {
        "wire",
        "number",
    }
    assert report.total.unanswered >= 1


def test_what_is_no_message_is_passed_over() -> None:
    """A greeting on standard output and a request of the server's own do no harm."""
    report = foreign("noise", most=30)
    assert (report.status, report.noise) == (0, 1)


def test_deaths_come_to_an_end() -> None:
    """A tool that ends its server at every call is left."""
    report = foreign("doomed")
    assert report.total.calls == 5
    assert "calls were left out" in (report.tools[0].note or "")


@pytest.mark.parametrize(
    ("mischief", "said"),
    [("empty", "nothing to probe"), ("stillborn", "status 3: it is too early"), ("deaf", "no answer within")],
)
def test_what_cannot_be_probed(mischief: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tools, no session: the reason is told."""
    monkeypatch.setattr("typegate.probe.session.HANDSHAKE", 0.5)
    with pytest.raises(ConfigurationError, match=said):
        foreign(mischief, seconds=1.0)


def test_only_the_tools_that_were_asked_for() -> None:
    """By name; an unknown one is an error."""
    assert [tool.name for tool in probed(RICH, most=20, tools=("late",)).tools] == ["late"]
    with pytest.raises(ConfigurationError, match="no tool 'gone'"):
        foreign(tools=("gone",))


# --- sentinels


def test_live_functions_run_and_are_counted(tmp_path: Path) -> None:
    """With `--live` the function itself runs for valid calls, and for none of the others."""
    witness = tmp_path / "witness"
    script = tmp_path / "server.py"
    script.write_text(
        "from typegate import MCPServer\n"
        "server = MCPServer('live')\n"
        "@server.tool\n"
        "async def note(x: int, /) -> int:\n"
        f"    open({str(witness)!r}, 'a').write('x')\n"
        "    raise RuntimeError('the function fails')\n"
    )
    report = probed(str(script), live=True)
    assert_held(report)
    assert len(witness.read_text()) == report.total.taken > 0


def test_a_gate_that_is_open_is_found_out(tmp_path: Path) -> None:
    """Where refused arguments get through after all, each is shown as accepted."""
    script = tmp_path / "server.py"
    script.write_text(
        "from typegate import InvalidArguments, MCPServer\n"
        "from typegate.contract.arguments import Arguments\n"
        "server = MCPServer('open')\n"
        "@server.tool\n"
        "def note(x: int) -> int: return x\n"
        "judged = Arguments.bind\n"
        "def bind(self, tree, raw):\n"
        "    try:\n"
        "        return judged(self, tree, raw)\n"
        "    except InvalidArguments:\n"
        "        return judged(self, {'x': 1}, lambda: b'{\"x\": 1}')\n"
        "Arguments.bind = bind\n"
    )
    report = probed(str(script))
    assert report.status == 1
    assert report.total.accepted > 40
    assert report.total.named == report.total.nameable  # of what never gets to the gate


def test_a_live_function_that_ends_the_process_is_found_out(tmp_path: Path) -> None:
    """Both valid calls end it, it is started again, and the gate goes on refusing the others."""
    script = tmp_path / "server.py"
    script.write_text(
        "import os\n"
        "from typegate import MCPServer\n"
        "server = MCPServer('fatal')\n"
        "@server.tool\n"
        "def leave(x: bool) -> None: os._exit(4)\n"
    )
    report = probed(str(script), live=True)
    assert (report.status, report.total.crashed) == (1, 2)
    assert report.total.refused == report.total.malformed


def test_an_armed_server_only_says_that_it_was_reached(tmp_path: Path) -> None:
    """The function does not run, its byte is written, and tools that come later are armed too."""
    server = MCPServer("armed")
    server.add_tool("early", lambda x: 1 / 0, description="Fail.")
    arm(server, tmp_path / "record", live=False)
    server.add_tool("late", lambda: 1 / 0, description="Fail.")

    async def ask() -> list[str]:
        async with server.client() as client:
            listed = (await client.request("tools/list"))["tools"]
            assert all(RULES_KEY in tool["_meta"] for tool in listed)
            return [
                (await client.call_tool("early", {"x": 1})).text,
                (await client.call_tool("late", {})).text,
            ]

    assert asyncio.run(ask()) == [REACHED, REACHED]
    assert (tmp_path / "record").read_bytes() == b".."


# --- the command


def status(*words: str) -> int:
    """The exit status of the command."""
    with pytest.raises(SystemExit) as ended:
        main(["probe", *words])
    return int(ended.value.code or 0)


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each tool, the sums, and the seed."""
    assert status(RICH, "--max", "20", "--seed", "5", "--tool", "late", "--tool", "tree") == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()[:4]] == ["tool", "tree", "late", "all"]
    assert said.rstrip().endswith("seed 5")


def test_the_command_takes_the_command_of_a_foreign_server(capsys: pytest.CaptureFixture[str]) -> None:
    """Behind `--`, options and all; JSON comes out alone."""
    script = str(HERE / "foreign_server.py")
    assert status("--format", "json", "--max", "20", "--", sys.executable, "-X", "utf8", script, "lax") == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["server"], data["own"], data["status"]) == ("foreign", False, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "probe what?"),
        (("nothing.py",), "there is no file 'nothing.py'"),
        (("no.such.module",), "cannot be imported"),
        (("--", "no-such-program", "x"), "cannot be started"),
    ],
)
def test_the_command_says_why_it_cannot(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on standard error, and status 2."""
    assert status(*words) == 2
    assert said in capsys.readouterr().err


def test_a_program_of_one_word_is_a_command() -> None:
    """A name on the path is a program, a file of Python is a target."""
    assert not command._target((sys.executable,), live=False).own
    assert command._target((RICH,), live=False).own
    assert command._target(("package.module:server",), live=False).own
