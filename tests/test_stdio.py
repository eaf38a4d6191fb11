"""What `typegate.transports.stdio` promises: real processes over real pipes, and an end in any case."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cases.process import DEADLINE, Message, Process, Serve, call, request, serve, write_script

__all__ = ["serve"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors and signals of POSIX")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

SERVER = """
    import asyncio, contextlib, os, sys, time

    @contextlib.asynccontextmanager
    async def lifespan(server):
        print("opened", file=sys.stderr, flush=True)
        try:
            yield
        finally:
            print("closed", file=sys.stderr, flush=True)

    server = MCPServer("t", lifespan=lifespan)

    def say(word):
        print(word, file=sys.stderr, flush=True)

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    async def fill(size: int) -> str:
        return "x" * size

    @server.tool
    def fill_plainly(size: int) -> str:
        return "x" * size

    @server.tool
    def shout(times: int, ctx: Context) -> str:
        for number in range(times):
            ctx.error("x" * 100)
        say("hoarse")
        return "done"

    @server.tool
    def sleep_plainly() -> None:
        say("stuck")
        time.sleep(3600)

    @server.tool(inline=True)
    def sleep_inline() -> None:
        say("stuck")
        time.sleep(3600)

    @server.tool
    async def sleep() -> None:
        say("stuck")
        await asyncio.sleep(3600)

    @server.tool
    async def sleep_in_executor() -> None:
        say("stuck")
        await asyncio.to_thread(time.sleep, 3600)

    @server.tool
    async def swallow() -> None:
        say("stuck")
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
"""

BAD_WORDS = ("Traceback", "Fatal Python error", "Exception ignored", "never retrieved", "was destroyed")


def is_quiet(server: Process) -> bool:
    """Whether nothing on standard error looks like an accident."""
    return not any(word in server.stderr for word in BAD_WORDS)


def until(condition: Callable[[], Any], what: str) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)


def send_signal(server: Process, number: int) -> None:
    """Send a signal to the server's process."""
    os.kill(server._process.pid, number)


def listen(number: Any) -> Message:
    """The opening of a stream of changes."""
    wanted = {"toolsListChanged": True}
    return request(number, "subscriptions/listen", notifications=wanted, _meta=ENVELOPE)


# --- the descriptors -----------------------------------------------------------------------------

FACTS = """
    def facts():
        streams = [os.fstat(number) for number in range(3)]
        return (
            [(each.st_dev, each.st_ino, os.get_blocking(number)) for number, each in enumerate(streams)],
            sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else [],
        )

    before = facts()
    try:
        RUN
    except BaseException as error:
        say(f"ended with {type(error).__name__}")
    print("to standard output", flush=True)
    say(f"restored: {facts() == before}")
    say(f"empty input: {sys.stdin.read()!r}")
"""
FAILING = """
    @contextlib.asynccontextmanager
    async def lifespan(server):
        if WHEN == "opening":
            raise RuntimeError("mine")
        yield
        raise RuntimeError("mine")

    server = MCPServer("t", lifespan=lifespan)
"""

RUNS: dict[str, tuple[str, str, str]] = {  # what is added to the server, what runs, how it ends
    "once": ("", "server.run()", ""),
    "twice": ("", "server.run(); server.run()", ""),
    "on a thread": (
        "    import threading",
        "thread = threading.Thread(target=server.run); thread.start(); thread.join()",
        "",
    ),
    "failing to open": (FAILING.replace("WHEN", "'opening'"), "server.run()", "ended with RuntimeError"),
    "failing to close": (FAILING.replace("WHEN", "'closing'"), "server.run()", "ended with RuntimeError"),
    "under a limit": (
        "    from typegate.transports import stdio",
        "stdio.run(server._open, stdio.StdioOptions(max_line=100))",
        "",
    ),
}


@pytest.mark.parametrize("row", RUNS)
def test_the_descriptors_are_given_back(serve: Serve, row: str) -> None:
    """However a run ends, 0, 1 and 2 are as before, and no descriptor is left over."""
    more, run, ends = RUNS[row]
    server = serve(SERVER + more, run=FACTS.replace("RUN", run))
    server.close_input()
    assert server.line() == b"to standard output\n"
    assert server.wait() == 0
    assert "restored: True" in server.stderr
    assert "empty input: ''" in server.stderr
    assert ends in server.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_descriptors_are_given_back_after_a_signal(serve: Serve, number: int) -> None:
    """And so are the signal handlers: the next signal does what it would have done before."""
    run = FACTS.replace("RUN", "server.run()") + "    import signal; say(signal.getsignal(signal.SIGTERM))"
    server = serve(SERVER, run=run).handshake()
    send_signal(server, number)
    assert server.end() == 0
    assert "ended with SystemExit" in server.stderr
    assert "restored: True" in server.stderr
    assert str(signal.SIG_DFL) in server.stderr or "Handlers.SIG_DFL" in server.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_without_streams_there_is_a_word_of_what_is_missing(tmp_path: Path, closed: str) -> None:
    """No traceback of an operating system error."""
    script = write_script(tmp_path, SERVER)
    command = ["/bin/sh", "-c", f'exec "{sys.executable}" "{script}" {closed}']
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert done.returncode != 0
    assert "ConfigurationError: stdio needs an open standard input and output" in done.stderr


def test_what_is_printed_does_not_get_into_the_protocol_where_both_go_one_way(tmp_path: Path) -> None:
    """With `2>&1` a print has nowhere to go, and is dropped."""
    noise = "server.tool(name='noise')(lambda: print('noise', flush=True) or os.write(1, b'noise'))"
    script = write_script(tmp_path, SERVER.replace("file=sys.stderr", "file=None") + f"\n    {noise}")
    lines = b"".join(
        json.dumps(each).encode() + b"\n" for each in (*OPENING, call(2, "noise"), request(3, "ping"))
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        input=lines,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 2, 3]


INFO = {"name": "c", "version": "1"}
OPENING = (
    request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=INFO),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


@pytest.mark.parametrize("sockets", [1, 2])
def test_sockets_serve_as_well_as_pipes(tmp_path: Path, sockets: int) -> None:
    """Some hosts give one or two of them instead; each way may be closed for itself."""
    pairs = [socket.socketpair() for _ in range(sockets)]
    (ours_in, theirs_in), (ours_out, theirs_out) = pairs[0], pairs[-1]
    script = write_script(tmp_path, SERVER)
    with subprocess.Popen([sys.executable, str(script)], stdin=theirs_in, stdout=theirs_out) as process:
        for _, theirs in pairs:
            theirs.close()
        try:
            text = "x" * 3_000_000
            ours_in.sendall(
                b"".join(json.dumps(each).encode() + b"\n" for each in (*OPENING, call(2, "echo", text=text)))
            )
            ours_in.shutdown(socket.SHUT_WR)
            ours_out.settimeout(DEADLINE)
            with ours_out.makefile("rb") as answers:
                received = [json.loads(line) for line in answers]
            assert [each["id"] for each in received] == [1, 2]
            assert received[1]["result"]["content"][0]["text"] == text
            assert process.wait(DEADLINE) == 0
        finally:
            process.kill()
            for ours, _ in pairs:
                ours.close()


# --- a file in the place of a pipe ---------------------------------------------------------------


def run_on_file(folder: Path, text: bytes, source: str = SERVER) -> tuple[int, list[Message], str]:
    """The exit status, the answers and the words of a server that reads a regular file."""
    requests = folder / "requests.jsonl"
    requests.write_bytes(text)
    with requests.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, str(write_script(folder, source))],
            stdin=stream,
            capture_output=True,
            timeout=2 * DEADLINE,
            check=False,
        )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def lines(*messages: Message) -> bytes:
    """Messages as they stand in a file."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


FILES = {
    "nothing": (b"", []),
    "blank lines": (b"\n\r\n\n", []),
    "one request": (lines(request(1, "ping")), [1]),
    "no end of the last line": (lines(request(1, "ping"), request(2, "ping"))[:-1], [1, 2]),
    "a session": (lines(*OPENING, call(2, "echo", text="x"), request(3, "ping")), [1, 2, 3]),
    "more than one read": (
        lines(*OPENING, *(call(n, "echo", text="x" * 9000) for n in range(2, 200))),
        list(range(1, 200)),
    ),
}


@pytest.mark.parametrize("row", FILES)
def test_a_regular_file_may_be_the_input(tmp_path: Path, row: str) -> None:
    """All of it is answered, and then the process ends with 0."""
    text, expected = FILES[row]
    status, answers, said = run_on_file(tmp_path, text)
    assert status == 0
    assert sorted(answer["id"] for answer in answers) == expected
    assert said.split() == ["opened", "closed"]


# --- a reader that is gone -----------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 1000])
def test_a_reader_that_goes_away_ends_the_server_quietly(serve: Serve, count: int) -> None:
    """Nobody wants the answers any more: no traceback, and the lifespan is closed."""
    server = serve(SERVER).handshake()
    server.close_output()
    with suppress(BrokenPipeError):  # it was faster
        server.send(*(call(number, "fill", size=1000) for number in range(2, 2 + count)))
    assert server.wait() == 0
    assert server.stderr.split() == ["opened", "closed"]


@pytest.mark.parametrize("name", ["sleep", "sleep_plainly"])
def test_it_does_not_wait_for_calls_whose_answers_nobody_takes(serve: Serve, name: str) -> None:
    """What is under way is cancelled, without a grace period."""
    server = serve(SERVER, run="server.run(grace=3600)").handshake()
    server.send(call(2, name))
    until(lambda: "stuck" in server.stderr, "the call has begun")
    server.close_output()
    with suppress(BrokenPipeError):
        server.send(request(3, "ping"))
    assert server.wait() == 0
    assert server.stderr.count("closed") == 1
    assert is_quiet(server)


# --- a reader that is slow -----------------------------------------------------------------------

MEBI = 1024 * 1024


def resident(server: Process) -> int:
    """The memory of the server's process, in bytes."""
    status = Path(f"/proc/{server._process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


class Feeder:
    """Writes to a server on a thread, since a server that is not read from takes no more at some point."""

    def __init__(self, server: Process, messages: list[Any]) -> None:
        self._server = server
        self._messages = messages
        self.sent = 0
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def _feed(self) -> None:
        for message in self._messages:
            self._server.send(message)
            self.sent += 1

    def stalls(self) -> bool:
        """Wait until the server takes no more, or has taken all; whether the former."""
        before, still = -1, 0
        while self._thread.is_alive() and still < 20:
            still = still + 1 if self.sent == before else 0
            before = self.sent
            time.sleep(0.05)
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait until all is sent."""
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()


@on_linux
@pytest.mark.slow
def test_a_slow_reader_does_not_grow_the_memory_of_the_server(serve: Serve) -> None:
    """At some point it takes no more; when it is read from again, everything is answered."""
    server = serve(SERVER).handshake()
    server.ask(call(2, "echo", text="x" * 10_000))
    before = resident(server)
    feeder = Feeder(server, [call(number, "echo", text="x" * 10_000) for number in range(3, 8003)])
    assert feeder.stalls()
    assert resident(server) - before < 40 * MEBI  # of 80
    answered = [server.read()["id"] for _ in range(8000)]
    feeder.join()
    assert sorted(answered) == list(range(3, 8003))
    assert server.ask(request(8003, "ping"))["result"] == {}


@on_linux
@pytest.mark.slow
def test_nor_do_short_requests_with_long_answers(serve: Serve) -> None:
    """It is the answers that count: what came with one read is not all worked through at once."""
    server = serve(SERVER).handshake()
    server.ask(call(2, "fill", size=100_000))
    before = resident(server)
    feeder = Feeder(server, [lines(*(call(number, "fill", size=100_000) for number in range(3, 2003)))])
    feeder.stalls()
    time.sleep(1)
    assert resident(server) - before < 100 * MEBI  # of 200
    assert sorted(server.read()["id"] for _ in range(2000)) == list(range(3, 2003))
    assert server.ask(request(2003, "ping"))["result"] == {}


@on_linux
@pytest.mark.slow
def test_nor_does_a_function_that_will_not_stop_talking(serve: Serve) -> None:
    """What the client does not take is left out; its answer comes all the same."""
    server = serve(SERVER).handshake()
    server.ask(call(2, "shout", times=10))
    before = resident(server)
    server.send(call(3, "shout", times=200_000))
    until(lambda: server.stderr.count("hoarse") == 2, "the function has ended")
    assert resident(server) - before < 20 * MEBI  # of 35
    assert server.answer(3)["result"]["content"][0]["text"] == "done"
    assert len(server.received) < 200_000


@on_linux
@pytest.mark.slow
def test_nor_does_a_file_that_is_always_ready(tmp_path: Path, serve: Serve) -> None:
    """A regular file is not read ahead of its answers."""
    asked = tmp_path / "requests.jsonl"
    asked.write_bytes(
        lines(*OPENING, *(call(number, "echo", text="x" * 10_000) for number in range(2, 8002)))
    )
    server = serve(SERVER, run=f"os.dup2(os.open({str(asked)!r}, os.O_RDONLY), 0)\nserver.run()")
    until(lambda: "opened" in server.stderr, "the server has started")
    before, peak = resident(server), 0
    for _ in range(40):
        time.sleep(0.05)
        peak = max(peak, resident(server))
    assert peak - before < 50 * MEBI  # of 80


@pytest.mark.slow
def test_answers_are_kept_for_a_reader_that_takes_its_time(serve: Serve) -> None:
    """Within the grace period they are not thrown away when the input ends, and no line is cut."""
    server = serve(SERVER, run="server.run(grace=30)").handshake()
    server.send(*(call(number, "fill", size=100_000) for number in range(2, 27)))
    server.close_input()
    time.sleep(3)
    answered = []
    while line := server.line():
        answered.append(json.loads(line)["id"])
    assert sorted(answered) == list(range(2, 27))
    assert server.wait() == 0


@on_linux
@pytest.mark.slow
def test_plain_functions_do_not_fill_the_memory_either(serve: Serve) -> None:
    """What waits for a thread begins only when the client takes answers."""
    server = serve(SERVER).handshake()
    server.ask(call(2, "fill_plainly", size=1_000_000))
    before = resident(server)
    server.send(*(call(number, "fill_plainly", size=1_000_000) for number in range(3, 303)))
    time.sleep(2)
    assert resident(server) - before < 150 * MEBI  # of 300
    assert sorted(server.read()["id"] for _ in range(300)) == list(range(3, 303))


# --- a line that is too long ---------------------------------------------------------------------

LIMITED = "from typegate.transports import stdio\nstdio.run(server._open, stdio.StdioOptions(max_line=1000))"


def padded(number: int, size: int) -> bytes:
    """A ping whose line has exactly this size, without its end."""
    line = json.dumps(request(number, "ping", pad="")).encode()
    return line.replace(b'""', b'"%b"' % (b"x" * (size - len(line))))


def test_a_line_over_the_limit_is_refused_and_the_next_one_served(serve: Serve) -> None:
    """One byte makes the difference; there is one error for it, without an id."""
    server = serve(SERVER, run=LIMITED)
    sizes = {2: 999, 3: 1000, 4: 1001, 5: 300_000, 6: 1000}
    server.send(*(padded(number, size) + b"\n" for number, size in sizes.items()))
    assert server.end() == 0
    answers = Counter((message["id"], message.get("error", {}).get("code")) for message in server.messages)
    assert answers == {(2, None): 1, (3, None): 1, (None, -32600): 2, (6, None): 1}


@pytest.mark.slow
def test_a_message_may_have_16_MiB(serve: Serve) -> None:
    """And not one byte more."""
    server = serve(SERVER).handshake("2025-06-18")
    server.send(padded(2, 16 * MEBI) + b"\n")
    assert server.read() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    server.send(padded(3, 16 * MEBI + 1) + b"\n")
    assert server.read()["error"]["code"] == -32600
    assert server.ask(request(4, "ping"))["result"] == {}


# --- signals -------------------------------------------------------------------------------------

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
STUCK = ["sleep", "sleep_plainly", "sleep_in_executor", "swallow"]

either_signal = pytest.mark.parametrize("number", STATUS)


def stuck(server: Process, *names: str) -> Process:
    """A server that is busy with calls of these tools."""
    server.handshake()
    server.send(*(call(number, name) for number, name in enumerate(names, 2)))
    until(lambda: server.stderr.count("stuck") == len(names), "the calls have begun")
    return server


@either_signal
def test_a_signal_ends_an_idle_server(serve: Serve, number: int) -> None:
    """With the status of that signal; the lifespan is closed, once."""
    server = serve(SERVER).handshake()
    send_signal(server, number)
    assert server.end() == STATUS[number]
    assert server.stderr.split() == ["opened", "closed"]


@either_signal
@pytest.mark.parametrize("name", STUCK)
def test_a_signal_ends_a_server_that_is_stuck(serve: Serve, name: str, number: int) -> None:
    """Whatever it is stuck in: nothing is answered, and the lifespan is closed, once."""
    server = stuck(serve(SERVER, run="server.run(grace=0.3)"), name)
    send_signal(server, number)
    assert server.end() == STATUS[number]
    assert server.received == []
    assert server.stderr.count("closed") == 1
    assert is_quiet(server)


def test_a_signal_ends_a_server_with_all_of_them(serve: Serve) -> None:
    """Together they take no longer."""
    server = stuck(serve(SERVER, run="server.run(grace=0.3)"), *STUCK, *STUCK)
    send_signal(server, signal.SIGTERM)
    assert server.end() == 143
    assert server.stderr.count("closed") == 1


@pytest.mark.parametrize(("first", "second"), [(2, 2), (2, 15), (15, 2), (15, 15)])
@pytest.mark.parametrize("name", ["swallow", "sleep_inline"])
def test_a_second_signal_ends_it_at_once(serve: Serve, name: str, first: int, second: int) -> None:
    """Though the calls have an hour to end, or the loop itself stands still."""
    server = stuck(serve(SERVER, run="server.run(grace=3600)"), name)
    send_signal(server, first)
    until(lambda: is_pending(server, first), "the first signal was taken")
    send_signal(server, second)
    assert server.end() == STATUS[signal.Signals(first)]
    assert is_quiet(server)


def is_pending(server: Process, number: int) -> bool:
    """Whether a signal has been handed over; where that cannot be seen, a moment is enough."""
    try:
        status = Path(f"/proc/{server._process.pid}/status").read_text()
    except FileNotFoundError:
        time.sleep(0.5)
        return True
    pending = sum(int(found, 16) for found in re.findall(r"(?:Sig|Shd)Pnd:\s+([0-9a-f]+)", status))
    time.sleep(0.2)  # the handler of Python runs a little later
    return not pending >> (number - 1) & 1


@either_signal
def test_a_signal_while_the_server_starts_ends_it(serve: Serve, number: int) -> None:
    """At the second one, where opening the lifespan does not end."""
    slow = """
    @contextlib.asynccontextmanager
    async def lifespan(server):
        say("opening")
        await asyncio.sleep(3600)
        yield

    server = MCPServer("t", lifespan=lifespan)
    """
    server = serve(SERVER + slow)
    until(lambda: "opening" in server.stderr, "the server has begun to start")
    send_signal(server, number)
    until(lambda: is_pending(server, number), "the first signal was taken")
    send_signal(server, number)
    assert server.end() == STATUS[number]


@either_signal
def test_a_signal_ends_a_stream_of_changes_with_a_result(serve: Serve, number: int) -> None:
    """The client is told that there is nothing more to come."""
    server = serve(SERVER)
    server.send(listen("l"))
    assert server.read()["method"] == "notifications/subscriptions/acknowledged"
    send_signal(server, number)
    assert server.end() == STATUS[number]
    assert [message.get("id") for message in server.messages] == [None, "l"]
    assert server.messages[1]["result"]["resultType"] == "complete"


# --- the end of the input ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*STUCK[:3], pytest.param(STUCK[3], marks=pytest.mark.slow)])
def test_the_end_of_the_input_ends_a_server_that_is_stuck(serve: Serve, name: str) -> None:
    """When the grace period is over, with 0; what did not end is not answered."""
    server = stuck(serve(SERVER, run="server.run(grace=0.3)"), name)
    assert server.end() == 0
    assert server.received == []
    assert server.stderr.count("closed") == 1
    assert is_quiet(server)


@pytest.mark.parametrize("reason", ["input", "signal"])
def test_a_function_that_blocks_the_event_loop_does_not_keep_the_process(serve: Serve, reason: str) -> None:
    """It cannot be ended in order, so it is ended without that, a moment after the grace period."""
    server = stuck(serve(SERVER, run="server.run(grace=0.1)"), "sleep_inline")
    if reason == "signal":
        send_signal(server, signal.SIGTERM)
    else:
        server.close_input()
    assert server.wait() == (143 if reason == "signal" else 0)
    assert "blocks the event loop" in server.stderr


def test_the_end_of_the_input_ends_a_stream_of_changes_with_a_result(serve: Serve) -> None:
    """At once, whatever the grace period is."""
    server = serve(SERVER, run="server.run(grace=3600)")
    server.send(listen(1), listen("1"))
    assert server.end() == 0
    assert [message.get("id") for message in server.messages] == [None, None, 1, "1"]


def test_a_signal_cuts_the_grace_period_short(serve: Serve) -> None:
    """The input has ended, and the calls under way have an hour; the signal means now."""
    server = stuck(serve(SERVER, run="server.run(grace=3600)"), "sleep")
    server.close_input()
    time.sleep(0.2)  # the server may have seen the end of its input
    send_signal(server, signal.SIGTERM)
    assert server.wait() == 143
    assert server.stderr.count("closed") == 1
