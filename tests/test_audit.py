"""The audit log: one record for every call, however it ended, and no words that forge or leak."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest
from auditing import KEY, PEER, begun, call, close, events, one, outcomes, records, running, settled, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from typegate.errors import AuditFailed, ConfigurationError
from typegate.guards.archive import check_log, read_records
from typegate.guards.audit import AuditLog, read_key
from typegate.guards.calls import Call
from typegate.guards.records import OUTCOMES
from typegate.types import Implementation
from typegate.wire.connection import Peer
from typegate.wire.jsonrpc import Request, decode

ARGUMENTS = {"order_id": "ORD-1234", "limit": 5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a log may be."""
    return tmp_path / "calls.jsonl"


def hush(text: str) -> str:
    """A redactor."""
    return text.replace("hunter2", "[secret]")


# --- what a record says


def test_a_record_says_who_did_what_and_how_it_ended(path: Path) -> None:
    """All that is known, in a flat object."""
    record = one(
        call(ARGUMENTS, _meta={"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}), path=path, out_bytes=99
    )
    assert len(str(record)) < 1_000
    assert record["duration_ms"] >= 0
    for name in ("ts", "chain", "id", "duration_ms", "prev", "hash"):
        assert record.pop(name) is not None
    assert record == {
        "v": 1,
        "seq": 2,
        "phase": "outcome",
        "method": "tools/call",
        "target": "lookup_order",
        "outcome": "ok",
        "caller": {"sub": "alice", "iss": "https://id.example", "client_id": "desk"},
        "peer": "probe/1",
        "transport": "memory",
        "protocol": "2026-07-28",
        "request_id": 7,
        "trace_id": "ab" * 16,
        "args": ARGUMENTS,
        "out_bytes": 99,
    }


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_ending_is_recorded(path: Path, outcome: str) -> None:
    """Under its name."""
    assert one(call(ARGUMENTS), outcome, path=path)["outcome"] == outcome


@pytest.mark.parametrize(
    ("kept", "args"),
    [
        ("redacted", {"order_id": "ORD-1234", "limit": 5}),
        ("shape", {"order_id": "string of 8", "limit": "number"}),
        ("none", None),
    ],
)
def test_what_is_kept_of_the_arguments(path: Path, kept: str, args: Any) -> None:
    """Is one setting."""
    assert one(call(ARGUMENTS), path=path, options={"arguments": kept}).get("args") == args


def test_a_key_gives_fingerprints(path: Path) -> None:
    """The same arguments can be found again; without the key they cannot be guessed."""
    first = one(call(ARGUMENTS), path=path, options={"key": KEY, "arguments": "none"})
    again = one(call(ARGUMENTS), path=path, options={"key": KEY, "arguments": "none"})
    other = one(call({"order_id": "x"}), path=path, options={"key": KEY, "arguments": "none"})
    assert first["args_sha256"] == again["args_sha256"] != other["args_sha256"]
    assert len(first["args_sha256"]) == 64


def boom() -> Exception:
    """An exception with a secret in its text, its cause and a note."""
    try:
        try:
            raise ValueError("postgres://u:hunter2@db")
        except ValueError as cause:
            raise RuntimeError("hunter2") from cause
    except RuntimeError as error:
        error.add_note("hunter2")
        return error


def test_a_failure_has_its_traceback(path: Path) -> None:
    """Redacted, with its causes, and found by the number that the client was told."""
    record = one(call(), "failed", path=path, options={"redact": hush}, error=boom(), reference="7f3a9c12")
    assert (record["reference"], record["error"]) == ("7f3a9c12", "RuntimeError")
    assert "test_audit.py" in record["traceback"]
    assert record["traceback"].endswith("RuntimeError: [secret]\n[secret]\n")
    assert "ValueError: postgres://u:[secret]@db" in record["traceback"]
    assert "hunter2" not in path.read_text(encoding="utf-8")


class Awkward(Exception):
    """An exception that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError


def test_any_exception_can_be_recorded(path: Path) -> None:
    """One that cannot be written out, and one that is endless."""
    assert one(call(), "failed", path=path, error=Awkward())["error"] == "Awkward"
    record = one(call(), "failed", path=path, error=ValueError("x" * 1_000_000))
    assert len(record["traceback"]) < 9_000


WORDS: dict[str, Call] = {
    "tool": call(name="hunter2", target=None),
    "uri": Call(Request(1, "resources/read", {"uri": "x://hunter2"}), None, PEER, None, None),  # type: ignore[arg-type]
    "completion": Call(
        Request(
            1,
            "completion/complete",
            {"ref": {"name": "hunter2"}, "argument": {"name": "a", "value": "hunter2"}},
        ),
        None,
        PEER,
        None,
        None,  # type: ignore[arg-type]
    ),
    "id": call(id="hunter2"),
    "method": call(method="hunter2" + "/" * 40),
    "key": call({"hunter2": 1}),
    "value": call({"a": [{"b": "hunter2"}]}),
    "trace": call(_meta={"traceparent": "00-hunter2-1-01"}),
    "client": Call(
        Request(1, "tools/list", {}),
        None,
        Peer(version=PEER.version, client=Implementation(name="hunter2", version="hunter2")),
        None,
        None,  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("word", WORDS)
def test_a_clients_words_are_redacted(path: Path, word: str) -> None:
    """A secret that was sent as a name does not land in the log either."""
    one(WORDS[word], "unknown", path=path, options={"redact": hush}, reason="no tool hunter2")
    assert "hunter2" not in path.read_text(encoding="utf-8")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(word=st.text(max_size=60), value=st.text(max_size=60))
def test_no_word_forges_a_line(path: Path, word: str, value: str) -> None:
    """Whatever a client calls a tool, itself or an argument: one line, and it comes back as it was."""
    before = len(records(path)) if path.exists() else 0
    of = call({"k": value}, name=word, id=word, target=None)
    record = one(of, "unknown", path=path, reason=word)
    assert len(records(path)) == before + 3
    assert record.get("target", "") == record["request_id"] == record.get("reason", "") == word
    assert record["args"] == {"k": value}


def test_a_huge_call_has_a_small_record(path: Path) -> None:
    """Names, ids and arguments are cut, and it is said."""
    record = one(call({"x": "y" * 1_000_000}, name="n" * 100_000, target=None), "unknown", path=path)
    assert len(str(record)) < 3_000
    assert record["truncated"] is True


def test_numbers_beyond_range_are_recorded(path: Path) -> None:
    """As a client can send them."""
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"n":1e999}}}'
    request = decode(line)
    assert isinstance(request, Request)
    of = msgspec.structs.replace(call(), request=request)
    assert one(of, "invalid", path=path, options={"key": KEY})["args"] == {"n": "(a number beyond range)"}


def test_guards_add_what_they_know(path: Path) -> None:
    """Rule, cost, approval, redactions; the outcome that they name decides."""

    async def act() -> None:
        with running(AuditLog(path, redact=hush)) as log:
            opened = begun(log, call())
            opened.add(rule="deny orders.delete", cost=3, redactions={"iban": 2})
            opened.add(outcome="denied", approval={"by": "bob"})
            with pytest.raises(TypeError, match="no field nonsense"):
                opened.add(nonsense=1)
            await settled(log.close(opened, "tool_error", reason="hunter2"))

    asyncio.run(act())
    [record] = outcomes(path)
    assert (record["outcome"], record["rule"], record["cost"]) == ("denied", "deny orders.delete", 3)
    assert (record["redactions"], record["approval"], record["reason"]) == (
        {"iban": 2},
        {"by": "bob"},
        "[secret]",
    )


@pytest.mark.parametrize("fsync", ["each", "batch"])
def test_what_cannot_be_written_does_not_cost_the_record(path: Path, fsync: Any) -> None:
    """A guard may add anything."""
    endless: dict[str, Any] = {}
    endless["self"] = endless

    async def act() -> None:
        with running(AuditLog(path, fsync=fsync)) as log:
            for approval in (endless, {"by": object()}, {"n": 2**70}):
                opened = begun(log, call(ARGUMENTS))
                opened.add(approval=approval)
                await settled(log.close(opened, "ok"))

    asyncio.run(act())
    first, second, third = outcomes(path)
    assert first["reason"] == "what else is known cannot be written: RecursionError"
    assert second["approval"] == {"by": "(object)"}
    assert third["outcome"] == "ok"
    assert check_log(path).findings == ()


def test_what_is_no_request_is_noted(path: Path) -> None:
    """With no more of it than its size and why."""

    async def act() -> None:
        with running(AuditLog(path, redact=hush)) as log:
            await settled(log.note("unparseable", reason="no JSON: hunter2", in_bytes=17, transport="stdio"))

    asyncio.run(act())
    [record] = outcomes(path)
    assert (record["outcome"], record["reason"], record["in_bytes"]) == (
        "unparseable",
        "no JSON: [secret]",
        17,
    )


# --- destructive tools, and logs that cannot be written


def test_an_intent_comes_first(path: Path) -> None:
    """It has the id of its outcome; an intent alone is a crash during the call."""

    async def act() -> None:
        with running(AuditLog(path)) as log:
            opened = begun(log, call(ARGUMENTS))
            await opened.intent()
            await settled(log.close(opened, "ok"))

    asyncio.run(act())
    intent, outcome = (each for each in records(path) if "id" in each)
    assert (intent["phase"], outcome["phase"], intent["id"]) == ("intent", "outcome", outcome["id"])
    assert intent["destructive"] is outcome["destructive"] is True
    assert intent["args"] == ARGUMENTS


@pytest.mark.parametrize("fsync", ["each", "batch", "never"])
@pytest.mark.parametrize("on_failure", ["open", "closed"])
def test_what_happens_when_nothing_can_be_written(
    path: Path, fsync: Any, on_failure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A destructive call fails in any case, another one as was declared; the loss is told in the log."""

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    async def act() -> None:
        with running(AuditLog(path, fsync=fsync, on_failure=on_failure)) as log:
            with monkeypatch.context() as patch:
                patch.setattr("typegate.guards.sinks.os.write", full)
                opened = begun(log, call())
                with pytest.raises(AuditFailed):
                    await settled(log.intent(opened))
                with pytest.raises(AuditFailed):
                    await settled(log.close(opened, "failed"))
                plain = begun(log, call())
                if on_failure == "closed":
                    with pytest.raises(AuditFailed):
                        await settled(log.close(plain, "ok"))
                else:
                    await settled(log.close(plain, "ok"))
            await close(log, call())

    asyncio.run(act())
    assert [each["count"] for each in records(path) if each.get("event") == "lost"] == [3]
    assert check_log(path).findings == ()


def test_a_failure_says_nothing_of_the_disk() -> None:
    """The client reads that there is no record, not why."""
    failed = AuditFailed()
    assert (failed.code, failed.problem.code) == (-32603, "not_recorded")
    assert failed.message == "The call cannot be recorded"


# --- the beginning and the end


def test_nothing_is_opened_before_the_server_starts(path: Path) -> None:
    """A log is a value until then."""
    log = AuditLog(path, key="TYPEGATE_TEST_NO_SUCH_KEY")
    AuditLog.sqlite(path.with_name("calls.db"))
    assert list(path.parent.iterdir()) == []
    with pytest.raises(RuntimeError, match="not been started"):
        log.note("unparseable")
    with pytest.raises(ConfigurationError, match="should be in the environment variable"):
        log.start()


def test_a_log_can_be_started_again_and_shared(path: Path) -> None:
    """The chain goes on; two that share it open it once."""
    log = AuditLog(path)
    write(log, 1)
    log.start()
    log.start()
    log.stop()
    log.note("unparseable")
    log.stop()
    assert events(path) == ["started", "stopped", "started", "stopped"]
    assert check_log(path).findings == ()


def test_a_second_process_is_refused(path: Path) -> None:
    """With what to do."""
    with (
        running(AuditLog(path)),
        pytest.raises(ConfigurationError, match=f"process {os.getpid()}; a log has one"),
    ):
        AuditLog(path).start()
    with running(AuditLog(path.with_name("calls-{pid}.jsonl"))):
        assert path.with_name(f"calls-{os.getpid()}.jsonl").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Is told when the server starts."""
    with pytest.raises(ConfigurationError, match=r"cannot be opened.*No such file"):
        AuditLog(tmp_path / "no" / "calls.jsonl").start()


GAPS = {
    "cut": (lambda lines: lines[:2], None, "the log ended at record 2, and the head file knows of record 4"),
    "gone": (lambda lines: [], None, "there is no log, and the head file knows of record 4"),
    "headless": (lambda lines: lines, b"", "the head file is missing or spoiled"),
    "changed": (
        lambda lines: [*lines[:3], lines[3].replace(b'"hash":"', b'"hash":"0')],
        None,
        "record 4 is not",
    ),
}


@pytest.mark.parametrize("gap", GAPS)
def test_a_server_says_what_it_found(path: Path, gap: str) -> None:
    """A log that was tampered with while nobody wrote it says so from then on, and verification does."""
    write(AuditLog(path), 2)
    tamper, head, reason = GAPS[gap]
    path.write_bytes(b"".join(tamper(path.read_bytes().splitlines(keepends=True))))
    if head is not None:
        path.with_name("calls.jsonl.head").write_bytes(head)
    write(AuditLog(path), 1)
    [event] = [each for each in records(path) if each.get("event") == "gap"]
    assert event["reason"].startswith(reason)
    assert "gap" in {each.kind for each in check_log(path).findings}


def test_a_key_can_be_added(path: Path) -> None:
    """The log says up to where it had none; a change of the key is no addition."""
    write(AuditLog(path), 2)
    write(AuditLog(path, key=KEY), 2)
    verdict = check_log(path, KEY)
    assert (verdict.findings, verdict.unsigned, verdict.signed) == ((), 4, 10)
    write(AuditLog(path, key=b"another key, 16 bytes"), 1)
    assert "gap" in {each.kind for each in check_log(path, KEY).findings}


def test_a_torn_end_is_recorded(path: Path) -> None:
    """The chain goes on before it, and says how much was put aside."""
    write(AuditLog(path), 2)
    with path.open("ab") as file:
        file.write(b'{"v":1,"ts":')
    write(AuditLog(path), 1)
    assert [each["count"] for each in records(path) if each.get("event") == "torn"] == [12]
    assert check_log(path).findings == ()


def test_standard_error_is_the_default() -> None:
    """JSON lines, chained, with nothing beside them."""
    script = (
        "from typegate.guards.audit import AuditLog as A\nl = A()\nl.start()\nl.note('unparseable')\nl.stop()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=60)
    lines = [msgspec.json.decode(line) for line in done.stderr.splitlines()]
    assert [each.get("event") or each["outcome"] for each in lines] == ["started", "unparseable", "stopped"]
    assert done.stdout == b""


UNREAD = """
from typegate.guards.audit import AuditLog
log = AuditLog()
log.start()
for number in range(2_000):
    log.note("unparseable", in_bytes=number)
log.stop()
print("done", flush=True)
"""


def test_a_client_that_does_not_read_standard_error_blocks_nothing() -> None:
    """Not even by what is logged about it; what it reads later are whole lines."""
    command = [sys.executable, "-c", UNREAD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"done\n"
        lines = process.stderr.read().splitlines()
    assert [msgspec.json.decode(line)["seq"] for line in lines] == [*range(1, len(lines) + 1)]
    assert 10 < len(lines) < 2_000


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"arguments": "all"}, "AuditLog(arguments=) takes one of 'redacted', 'shape', 'none'"),
    ({"fsync": "always"}, "AuditLog(fsync=) takes one of 'each', 'batch', 'never'"),
    ({"on_failure": "ignore"}, "AuditLog(on_failure=) takes one of 'closed', 'open'"),
    ({"rotate_bytes": -1}, "AuditLog(rotate_bytes=) takes a number, 0 or more"),
    ({"keep": True}, "AuditLog(keep=) takes a number, 0 or more"),
    ({"key": b"short"}, "AuditLog(key=) takes at least 16 bytes"),
    ({"key": 5}, "AuditLog(key=) takes bytes, or the name of an environment variable"),
    ({"redact": "secrets"}, "AuditLog(redact=) takes a function from text to text"),
    ({"path": 5}, "AuditLog(path=) takes the name of a file, or None for standard error"),
    ({"path": ""}, "AuditLog(path=) takes the name of a file, or None for standard error"),
]


@pytest.mark.parametrize(("options", "told"), OPTIONS)
def test_options_are_checked_where_they_are_given(options: dict[str, Any], told: str) -> None:
    """In a sentence that names them."""
    with pytest.raises(ConfigurationError) as caught:
        AuditLog(**options)
    assert str(caught.value) == told


def test_a_key_may_stand_in_the_environment() -> None:
    """Where it is looked for when the server starts."""
    assert read_key("K", {"K": "a long enough secret"}.get) == b"a long enough secret"
    assert read_key(KEY) == KEY
    assert read_key(None) is None
    with pytest.raises(ConfigurationError, match="too short"):
        read_key("K", {"K": "short"}.get)


def test_the_settings_can_be_read() -> None:
    """In a log of the server's own, say; never the key."""
    assert repr(AuditLog("calls.jsonl", key=KEY)) == "<AuditLog 'calls.jsonl' arguments=redacted fsync=batch>"
    assert repr(AuditLog()) == "<AuditLog standard error arguments=redacted fsync=batch>"


# --- the end of the process

MOTHER = textwrap.dedent("""
    import asyncio, os, sys
    from auditing import KEY, begun, call, settled
    from typegate.guards.audit import AuditLog

    async def write(path, fsync):
        log = AuditLog.sqlite(path, key=KEY) if path.endswith(".db") else AuditLog(
            path, fsync=fsync, key=KEY, rotate_bytes=50_000)
        log.start()
        async def one(number):
            opened = begun(log, call({"n": number}, id=number))
            if number % 50 == 0:
                await settled(log.intent(opened))
            await settled(log.close(opened, "ok"))
            os.write(1, b"%d\\n" % number)
        number = 0
        while True:
            await asyncio.gather(*map(one, range(number, number + 5)))
            number += 5

    for line in sys.stdin:
        path, fsync = line.split()
        child = os.fork()
        if child == 0:
            asyncio.run(write(path, fsync))
        os.write(1, b"child %d\\n" % child)
        os.waitpid(child, 0)
        os.write(1, b"dead\\n")
""")


def kill_rounds(path: Path, rounds: int) -> list[set[int]]:
    """Kill a writer so many times; the calls that each acknowledged."""
    chance = random.Random(rounds)
    command = [sys.executable, "-c", MOTHER]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])}
    acknowledged = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as mother:
        assert mother.stdin is not None
        for _ in range(rounds):
            mother.stdin.write(f"{path} {chance.choice(['each', 'batch', 'never'])}\n".encode())
            mother.stdin.flush()
            acknowledged.append(kill_one(mother.stdout, chance.randrange(1, 400)))
        mother.stdin.close()
    return acknowledged


def kill_one(output: Any, after: int) -> set[int]:
    """Kill a child after so many acknowledgements; all that came until it was dead."""
    child, acknowledged = 0, set()
    for line in output:
        if line.startswith(b"child"):
            child = int(line.split()[1])
        elif line == b"dead\n":
            return acknowledged
        else:
            acknowledged.add(int(line))
        if child and len(acknowledged) >= after:
            os.kill(child, signal.SIGKILL)
            child = 0
    raise AssertionError("the process that forks has ended")


def check_after_kills(path: Path, rounds: int) -> None:
    """Every acknowledged call of every round is in the log, and the chain holds or its torn end is told."""
    acknowledged = kill_rounds(path, rounds)
    assert {each.kind for each in check_log(path, KEY).findings} <= {"torn"}
    recorded: list[set[int]] = []
    for each in read_records(path):
        assert each.get("event") not in ("gap", "lost")
        if each.get("event") == "started":
            recorded.append(set())
        elif each["phase"] == "outcome":
            recorded[-1].add(each["request_id"])
    assert len(recorded) == rounds
    assert all(mine <= theirs for mine, theirs in zip(acknowledged, recorded, strict=True))


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.db"])
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, name: str) -> None:
    """Ten times in a row, whatever `fsync` is; nothing but the line that was being written is lost."""
    check_after_kills(tmp_path / name, 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["calls.jsonl", "calls.db"])
def test_what_was_acknowledged_survives_kill_9_at_length(tmp_path: Path, name: str) -> None:
    """A hundred times."""
    check_after_kills(tmp_path / name, 100)
