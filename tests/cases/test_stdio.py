"""Cases O-STD: a server process on its standard streams."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .process import DEADLINE, Process, Serve, call, request, started, strict, write_script

# --- O-STD-1: anything printed lands in the protocol stream --------------------------------------

NOISE = """
    import logging, os, subprocess, sys

    @server.tool
    def noisy() -> str:
        print("hello from print")
        sys.stdout.write("no newline")
        os.write(1, b"native write\\n")
        subprocess.run(["echo", "from child"])
        logging.getLogger("lib").warning("a log line")
        sys.__stdout__.write("via dunder\\n")
        return "done"

    @server.tool
    async def noisy_too() -> str:
        print("hello from the loop", end="")
        return "done"
"""
BANNER = 'print("banner before run")\nserver.run()'
TEXTS = [
    "hello from print",
    "no newline",
    "native write",
    "from child",
    "a log line",
    "via dunder",
    "hello from the loop",
]


def test_O_STD_1_only_messages_are_on_standard_output(serve: Serve) -> None:
    """Each line is one valid message, and what was printed is on standard error, all of it."""
    server = serve(NOISE, run=BANNER).handshake()
    assert server.ask(call(2, "noisy"))["result"]["content"][0]["text"] == "done"
    assert server.ask(call(3, "noisy_too"))["result"]["content"][0]["text"] == "done"
    assert server.ask(request(4, "ping"))["result"] == {}
    assert server.end() == 0
    assert [message["id"] for message in server.messages] == [2, 3, 4]
    assert all(server.stderr.count(text) == 1 for text in ["banner before run", *TEXTS]), server.stderr


def test_O_STD_1_unbuffered_output_is_kept_apart_too(serve: Serve) -> None:
    """With `python -u` only what was printed before `run` goes to the client."""
    server = serve(NOISE, "-u", run=BANNER)
    assert server.line() == b"banner before run\n"
    server.handshake()
    server.send(call(2, "noisy"), call(3, "noisy_too"), request(4, "ping"))
    assert server.end() == 0
    assert sorted(message["id"] for message in server.messages) == [2, 3, 4]
    assert all(server.stderr.count(text) == 1 for text in TEXTS), server.stderr


RESTORED = """
    def streams():
        facts = [os.fstat(n) for n in range(3)]
        return [(fact.st_dev, fact.st_ino, os.get_blocking(n)) for n, fact in enumerate(facts)]

    before = streams()
    server.run()
    print("after run")
    print(before == streams(), file=sys.stderr)
"""


def test_O_STD_1_the_descriptors_are_as_before_afterwards(serve: Serve) -> None:
    """When `run` has returned, 0, 1 and 2 are what they were, and a print goes to standard output again."""
    server = serve(NOISE, run=RESTORED).handshake()
    server.ask(call(2, "noisy"))
    server.close_input()
    assert server.line() == b"after run\n"
    assert server.wait() == 0
    assert server.stderr.endswith("True\n")


# --- O-STD-2: a synchronous function freezes the server ------------------------------------------

BLOCKING = """
    import asyncio, contextvars, threading, time
    who = contextvars.ContextVar("who", default="nobody")
    released, counting = threading.Event(), threading.Lock()
    at_once = most = 0

    async def watch(call, handler):
        who.set("somebody")
        return await handler(call)

    server = MCPServer("t", threads=THREADS)
    server._guards = (watch,)

    def block():
        global at_once, most
        with counting:
            at_once += 1
            most = max(most, at_once)
        released.wait()
        with counting:
            at_once -= 1

    @server.tool
    def slow(ctx: Context) -> str:
        block()
        ctx.progress(1, total=1)
        return f"{who.get()}:{bool(ctx)}:{ctx.request_id}"

    @server.resource("slow://x")
    def resource() -> str:
        block()
        return who.get()

    @server.prompt
    def prompt() -> str:
        block()
        return who.get()

    @server.tool
    async def crowd(size: int) -> int:
        while at_once < size:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)  # for as many more as there might be
        return at_once

    @server.tool
    async def release() -> int:
        released.set()
        return most

    barrier, bell = threading.Barrier(2), threading.Event()

    @server.tool
    def nap() -> None:
        time.sleep(0.002)

    @server.tool
    def hear() -> bool:
        return bell.wait(10)

    @server.tool
    def ring() -> None:
        bell.set()

    @server.tool
    def meet() -> str:
        barrier.wait(60)
        return "met"
"""


def test_O_STD_2_a_ping_overtakes_slow_functions(serve: Serve) -> None:
    """While tools, a resource and a prompt block, a ping is answered; then they are, from their threads."""
    server = serve(BLOCKING.replace("THREADS", "8")).handshake()
    server.send(call(2, "slow"), call(3, "slow"), request(4, "resources/read", uri="slow://x"))
    server.send(request(5, "prompts/get", name="prompt"), request(6, "ping"))
    assert server.read() == {"jsonrpc": "2.0", "id": 6, "result": {}}
    server.send(call(7, "release"))
    answers = {message["id"]: message["result"] for message in (server.read() for _ in range(5))}
    assert [answers[n]["content"][0]["text"] for n in (2, 3)] == ["somebody:True:2", "somebody:True:3"]
    assert answers[4]["contents"][0]["text"] == "somebody"
    assert answers[5]["messages"][0]["content"]["text"] == "somebody"


def test_O_STD_2_slow_functions_run_side_by_side(serve: Serve) -> None:
    """Two calls that wait for one another both end."""
    server = serve(BLOCKING.replace("THREADS", "2")).handshake()
    server.send(call(2, "meet"), call(3, "meet"))
    answers = [server.read(), server.read()]
    assert [answer["result"]["content"][0]["text"] for answer in answers] == ["met", "met"]


@pytest.mark.parametrize("quick", [1, 6, 12, 30])
def test_O_STD_2_a_slow_function_behind_quick_ones_holds_nobody_up(serve: Serve, quick: int) -> None:
    """A call that comes in behind a burst and one that blocks gets a thread of its own."""
    server = serve(BLOCKING.replace("THREADS", "8")).handshake()
    server.send(*(call(number, "nap") for number in range(100, 100 + quick)))
    server.send(call(2, "hear"), call(3, "ring"))
    assert server.answer(2)["result"]["structuredContent"] == {"result": True}


def test_O_STD_2_the_context_works_from_the_thread(serve: Serve) -> None:
    """A report of progress from a worker thread arrives before the answer."""
    server = serve(BLOCKING.replace("THREADS", "2")).handshake()
    server.send(call(9, "release"), request(2, "tools/call", name="slow", _meta={"progressToken": "p"}))
    server.answer(2)
    progress = {"progressToken": "p", "progress": 1, "total": 1}
    assert [m["params"] for m in server.messages if m.get("method") == "notifications/progress"] == [progress]


@pytest.mark.parametrize(("threads", "calls"), [(1, 20), (3, 200)])
def test_O_STD_2_threads_are_bounded_and_do_not_starve_the_loop(
    serve: Serve, threads: int, calls: int
) -> None:
    """However many calls wait for a thread, no more run at once than were set, and a ping is answered."""
    server = serve(BLOCKING.replace("THREADS", str(threads))).handshake()
    server.send(*(call(number, "slow") for number in range(100, 100 + calls)), request(2, "ping"))
    assert server.read()["id"] == 2
    server.ask(call(3, "crowd", size=threads))
    server.ask(call(4, "release"))
    while len(server.received) < calls + 3:
        server.read()
    assert sorted(message["id"] for message in server.messages) == [2, 3, 4, *range(100, 100 + calls)]
    assert server.ask(call(5, "release"))["result"]["structuredContent"] == {"result": threads}


# --- O-STD-3: a child process reads the server's own input ---------------------------------------

CHILDREN = """
    import subprocess, sys

    @server.tool
    def child(code: str) -> str:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, close_fds=False)
        return done.stdout.strip()

    @server.tool
    def ask() -> str:
        return input("name? ")

    @server.tool
    async def ask_too() -> str:
        return sys.stdin.readline() + sys.stdin.read() + sys.__stdin__.read()
"""
COUNT = "import sys; print(len(sys.stdin.read()))"
INODES = """
import os
for n in range(256):
    try: print(os.fstat(n).st_ino)
    except OSError: pass
"""


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server process for all of O-STD-3: no request may be eaten."""
    with started(tmp_path_factory.mktemp("children"), CHILDREN) as server:
        yield server.handshake()


def test_O_STD_3_a_child_sees_an_empty_input(children: Process) -> None:
    """The child reads nothing, and the requests behind its call are all answered."""
    children.send(call(2, "child", code=COUNT), *(request(number, "ping") for number in range(3, 23)))
    answers = {message["id"]: message["result"] for message in (children.read() for _ in range(21))}
    assert answers.pop(2)["content"][0]["text"] == "0"
    assert answers == {number: {} for number in range(3, 23)}


def test_O_STD_3_asking_the_user_is_a_tool_error(children: Process) -> None:
    """`input` meets the end of the input at once, and eats no request."""
    children.send(call(2, "ask"), request(3, "ping"))
    answers = {message["id"]: message["result"] for message in (children.read(), children.read())}
    assert answers[2]["isError"]
    assert "EOF" in answers[2]["content"][0]["text"]
    assert answers[3] == {}


def test_O_STD_3_reading_the_stream_gives_nothing(children: Process) -> None:
    """Python's own stream is at its end too."""
    assert children.ask(call(2, "ask_too"))["result"]["content"][0]["text"] == ""


@pytest.mark.skipif(os.name != "posix", reason="descriptors are inherited otherwise there")
def test_O_STD_3_the_protocol_is_not_inherited(children: Process) -> None:
    """No descriptor of a child, even of one that closes none, is a pipe of the protocol."""
    text = children.ask(call(2, "child", code=INODES))["result"]["content"][0]["text"]
    found = {int(line) for line in text.split()}
    assert len(found) >= 3
    assert not found & children.pipes


# --- O-STD-4: one bad line, or a byte order mark -------------------------------------------------

OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "w", "version": "0"}}
LINES = [
    b"\xef\xbb\xbf" + json.dumps(request(1, "initialize", **OPENING)).encode() + b"\r\n",
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\r\n',
    b"not json at all\n",
    b'{"id":7,"method":"tools/list","params":{}}\n',
    b'{"jsonrpc":"2.0","id":8,"method":"","params":{}}\n',
    b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"\xff\xfe"}}\n',
    b"[]\n",
    b"\n",
    b'{"jsonrpc":"2.0","id":10,"method":"ping"}\r\n',
]


def in_one(text: bytes) -> Iterator[bytes]:
    """All lines in one write."""
    yield text


def in_pieces(text: bytes) -> Iterator[bytes]:
    """A few bytes at a time."""
    yield from (text[start : start + 7] for start in range(0, len(text), 7))


@pytest.mark.parametrize("cut", [in_one, in_pieces])
def test_O_STD_4_bad_lines_are_answered_and_end_nothing(serve: Serve, cut: Any) -> None:
    """Each line of the case gets the answer it should, however the bytes are cut."""
    server = serve("server.tool(name='x')(lambda: 0)")
    server.send(*cut(b"".join(LINES)))
    assert server.end() == 0
    answers = {message["id"]: message for message in server.messages if message["id"] is not None}
    assert {number: message.get("error", {}).get("code") for number, message in answers.items()} == {
        1: None,
        7: -32600,
        8: -32600,
        10: None,
    }
    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
    unnamed = [message["error"]["code"] for message in server.messages if message["id"] is None]
    assert unnamed == [-32700, -32700, -32600]


def test_O_STD_4_lines_end_with_LF_alone(serve: Serve) -> None:
    """CR is read, and never written."""
    server = serve("server.tool(name='x')(lambda: 0)")
    server.send(*LINES)
    assert server.end() == 0
    assert all(line.endswith(b"}\n") and b"\r" not in line for line in server.received)


@pytest.mark.parametrize("times", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_O_STD_4_any_number_of_bad_lines_is_survived(serve: Serve, times: int) -> None:
    """Every bad line of many is answered, and so is the request after the last."""
    server = serve("server.tool(name='x')(lambda: 0)")
    server.send(*LINES[:2], *LINES[2:-1] * times, LINES[-1])
    assert server.end() == 0
    assert len(server.received) == 5 * times + 2
    assert server.messages[-1]["id"] == 10


def test_O_STD_4_a_last_line_without_its_end_is_read(serve: Serve) -> None:
    """The end of the input ends the line too."""
    server = serve("server.tool(name='x')(lambda: 0)")
    server.send(request(1, "ping"), b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
    assert server.end() == 0
    assert [message["id"] for message in server.messages] == [1, 2]


# --- O-STD-5: the end of the input ---------------------------------------------------------------

ENDINGS = """
    import asyncio, atexit, contextlib, sys, time

    @contextlib.asynccontextmanager
    async def lifespan(server):
        yield
        print("lifespan is over", file=sys.stderr)

    server = MCPServer("t", lifespan=lifespan)
    atexit.register(lambda: print("atexit has run", file=sys.stderr))

    @server.tool
    async def soon() -> str:
        await asyncio.sleep(0.1)
        return "made it"

    @server.tool
    def soon_too() -> str:
        time.sleep(0.1)
        return "made it"

    @server.tool
    def stuck() -> str:
        time.sleep(3600)
        return "never"

    @server.tool
    async def stuck_task() -> str:
        await asyncio.sleep(3600)
        return "never"

    @server.tool
    async def stuck_thread() -> str:
        await asyncio.to_thread(time.sleep, 3600)
        return "never"

    @server.tool
    async def stubborn() -> str:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
"""
HOOKS = ("lifespan is over", "atexit has run")
STUCK = ["stuck", "stuck_task", "stuck_thread", pytest.param("stubborn", marks=pytest.mark.slow)]


def is_quiet(server: Process) -> bool:
    """Whether no traceback and no complaint of the interpreter is on standard error."""
    words = ("Traceback", "Fatal Python error", "Exception ignored", "never retrieved", "was destroyed")
    return not any(word in server.stderr for word in words)


@pytest.mark.parametrize("name", ["soon", "soon_too"])
def test_O_STD_5_what_is_under_way_is_answered(serve: Serve, name: str) -> None:
    """At the end of the input a running call still ends and is answered; then the process does, with 0."""
    server = serve(ENDINGS).handshake()
    server.send(call(2, name))
    assert server.end() == 0
    assert [message["result"]["content"][0]["text"] for message in server.messages] == ["made it"]
    assert all(hook in server.stderr for hook in HOOKS)
    assert is_quiet(server)


def test_O_STD_5_a_file_of_requests_is_answered_to_the_end(serve: Serve) -> None:
    """Requests that are all there at once, with the end behind them, are answered one and all."""
    server = serve(ENDINGS).handshake()
    server.send(*(call(number, "soon" if number % 2 else "soon_too") for number in range(2, 42)))
    assert server.end() == 0
    assert sorted(message["id"] for message in server.messages) == list(range(2, 42))


@pytest.mark.parametrize("ends", [b"\n", b""])
def test_O_STD_5_files_in_the_place_of_pipes_are_answered_too(tmp_path: Path, ends: bytes) -> None:
    """With standard input and output redirected to files, every request has its answer in the one."""
    script = write_script(tmp_path, ENDINGS)
    opening = request(1, "initialize", **OPENING)
    lines = [json.dumps(message).encode() for message in (opening, call(2, "soon"), call(3, "soon_too"))]
    (tmp_path / "in").write_bytes(b"\n".join(lines) + ends)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        subprocess.run(
            [sys.executable, str(script)], stdin=source, stdout=target, timeout=DEADLINE, check=True
        )
    answers = [strict(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]
    assert all("result" in answer for answer in answers)


@pytest.mark.parametrize("name", STUCK)
def test_O_STD_5_a_stuck_call_does_not_hold_the_process(serve: Serve, name: str) -> None:
    """When the grace period is over the process ends with 0, quietly; nothing that never ends can hold it."""
    server = serve(ENDINGS, run="server.run(grace=0.3)").handshake()
    server.send(call(2, name), request(3, "ping"))
    assert server.answer(3)["result"] == {}
    assert server.end() == 0
    assert is_quiet(server), server.stderr


@pytest.mark.parametrize("name", STUCK)
def test_O_STD_5_the_shutdown_hooks_run_all_the_same(serve: Serve, name: str) -> None:
    """Whatever is left behind, the lifespan is closed and `atexit` has its turn."""
    server = serve(ENDINGS, run="server.run(grace=0.1)").handshake()
    server.send(call(2, name), request(3, "ping"))
    server.answer(3)
    assert server.end() == 0
    assert [hook for hook in HOOKS if hook not in server.stderr] == []


@pytest.mark.slow
def test_O_STD_5_the_default_grace_is_bounded(serve: Serve) -> None:
    """With nothing set, the process is gone long before the deadline of this test."""
    server = serve(ENDINGS).handshake()
    server.send(call(2, "stuck"))
    assert server.end() == 0
    assert is_quiet(server)


@pytest.mark.parametrize("name", ["soon", "stuck", "stuck_task"])
def test_O_STD_5_when_the_reader_is_gone_too_it_ends_at_once(serve: Serve, name: str) -> None:
    """With nobody left to read an answer there is no grace period, and no complaint."""
    server = serve(ENDINGS, run="server.run(grace=3600)").handshake()
    server.send(call(2, name), request(3, "ping"))
    server.answer(3)
    server.close_output()
    server.close_input()
    assert server.wait() == 0
    assert is_quiet(server), server.stderr


def test_O_STD_5_a_lost_reader_alone_ends_it_too(serve: Serve) -> None:
    """An answer that cannot be written ends the process, although its input is still open."""
    server = serve(ENDINGS, run="server.run(grace=3600)").handshake()
    server.send(call(2, "stuck"), request(3, "ping"))
    server.answer(3)
    server.close_output()
    server.send(request(4, "ping"))
    assert server.wait() == 0
    assert is_quiet(server), server.stderr


def test_O_STD_5_an_idle_server_ends_with_its_input(serve: Serve) -> None:
    """With nothing under way the end is immediate, and the hooks run."""
    server = serve(ENDINGS, run="server.run(grace=3600)").handshake()
    assert server.end() == 0
    assert all(hook in server.stderr for hook in HOOKS)
    assert strict(b"[]") == server.messages
