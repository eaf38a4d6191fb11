"""A real server process and the bytes that go in and out of it.

Nothing here waits for ever: a server that is silent for `DEADLINE` seconds fails the test.
"""

import json
import os
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest

Message = dict[str, Any]
Serve = Callable[..., "Process"]

DEADLINE = 30.0

PREAMBLE = "from typegate import *\n\nserver = MCPServer('t')\n"


def request(number: Any, method: str, **params: Any) -> Message:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: Any, name: str, **arguments: Any) -> Message:
    """A request that calls a tool."""
    return request(number, "tools/call", name=name, arguments=arguments)


def strict(text: str | bytes) -> Any:
    """Decode JSON; NaN and Infinity are no JSON."""

    def refuse(token: str) -> NoReturn:
        raise AssertionError(f"{token} is no JSON")

    return json.loads(text, parse_constant=refuse)


class Process:
    """A server process: lines out, lines in, its exit status and its standard error."""

    def __init__(self, script: Path, *options: str) -> None:
        self._errors = script.with_suffix(".stderr").open("a+b")
        self._process = subprocess.Popen(
            [sys.executable, *options, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        self._buffer = bytearray()
        self.received: list[bytes] = []

    def handshake(self, revision: str = "2025-11-25") -> Self:
        """Open a session, and forget the lines that it took."""
        info = {"name": "cases", "version": "0"}
        opening = request(1, "initialize", protocolVersion=revision, capabilities={}, clientInfo=info)
        assert self.ask(opening)["result"]["protocolVersion"] == revision
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.received.clear()
        return self

    def send(self, *lines: bytes | Message) -> None:
        """Send lines: bytes as they are, anything else as JSON with a line end."""
        for line in lines:
            self._stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self._stdin.flush()

    def line(self) -> bytes:
        """The next line with its line end; empty at the end of the output."""
        while (end := self._buffer.find(b"\n")) < 0:
            assert select.select([self._stdout], [], [], DEADLINE)[0], f"silence after {self.received}"
            chunk = os.read(self._stdout.fileno(), 1 << 20)
            if not chunk:
                assert not self._buffer, f"the output ends in the middle of a line: {self._buffer!r}"
                return b""
            self._buffer += chunk
        line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        return line

    def read(self) -> Message:
        """The next message."""
        line = self.line()
        assert line, f"the server ended its output after {self.received}; it said {self.stderr}"
        self.received.append(line)
        message: Message = strict(line)
        return message

    def answer(self, number: Any) -> Message:
        """The answer to a request; what comes before it is kept in `received`."""
        while (message := self.read()).get("id", ...) != number or "method" in message:
            pass
        return message

    def ask(self, message: Message) -> Message:
        """Send a request and read up to its answer."""
        self.send(message)
        return self.answer(message["id"])

    @property
    def messages(self) -> list[Message]:
        """All that was received, decoded."""
        return [strict(line) for line in self.received]

    def close_input(self) -> None:
        """Send no more."""
        self._stdin.close()

    def close_output(self) -> None:
        """Read no more: the server's next write fails."""
        self._stdout.close()

    def end(self) -> int:
        """End the input, read the rest, and give the exit status."""
        self.close_input()
        while line := self.line():
            self.received.append(line)
        return self.wait()

    def wait(self) -> int:
        """The exit status; negative after a signal."""
        return self._process.wait(DEADLINE)

    @property
    def stderr(self) -> str:
        """All that the process wrote to its standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode()

    @property
    def pipes(self) -> set[int]:
        """The inodes of the two pipes that carry the protocol."""
        return {os.fstat(stream.fileno()).st_ino for stream in (self._stdin, self._stdout)}

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    @property
    def _stdout(self) -> Any:
        return self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._stdout.close()
        with suppress(BrokenPipeError):  # of lines that it never took
            self._stdin.close()
        self._errors.close()


def write_script(folder: Path, source: str, run: str = "server.run()") -> Path:
    """A server with these tools, as a file to run."""
    script = folder / f"server{len(list(folder.glob('server*.py')))}.py"
    script.write_text(f"{PREAMBLE}\n{textwrap.dedent(source)}\n{textwrap.dedent(run)}\n")
    return script


@contextmanager
def started(folder: Path, source: str, *options: str, run: str = "server.run()") -> Iterator[Process]:
    """A server process that runs these tools; it ends with the block."""
    with Process(write_script(folder, source, run), *options) as process:
        yield process


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start server processes; all of them end with the test."""
    with ExitStack() as running:
        yield lambda source, *options, **run: running.enter_context(
            started(tmp_path, source, *options, **run)
        )
