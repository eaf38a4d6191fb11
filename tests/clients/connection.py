"""A server process and its two pipes, with no MCP client in between."""

import json
import subprocess
import threading
from typing import Any, Self

Message = dict[str, Any]
PATIENCE = 20.0  # seconds until a silent server is given up, so that a test fails instead of hanging


def request(number: int, method: str, **params: Any) -> Message:
    """A JSON-RPC request; ``params`` is left out when there is none."""
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return {**message, "params": params} if params else message


def initialize(revision: str, number: int = 0) -> Message:
    """The request that opens a session at *revision*."""
    info = {"name": "bare", "version": "0"}
    return request(number, "initialize", protocolVersion=revision, capabilities={}, clientInfo=info)


class Connection:
    """Lines out, lines in."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.received: list[bytes] = []
        self._patience = threading.Timer(PATIENCE, self.process.kill)
        self._patience.start()

    def initialize(self, revision: str) -> None:
        """Open a session at *revision*, and forget the lines that it took."""
        self.send(initialize(revision))
        assert self.until(0)[-1]["result"]["protocolVersion"] == revision
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.received.clear()

    def send(self, *lines: Any) -> None:
        """Send lines: bytes as they are, anything else as JSON with a line end."""
        assert self.process.stdin
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    @property
    def messages(self) -> list[Message]:
        """All that was received, the members of batches one by one."""
        lines = [json.loads(line) for line in self.received]
        return [m for line in lines for m in (line if isinstance(line, list) else [line])]

    def until(self, *numbers: int) -> list[Message]:
        """Receive until each of these requests has its answer; return all messages so far."""
        assert self.process.stdout
        while not {m.get("id") for m in self.messages}.issuperset(numbers):
            line = self.process.stdout.readline()
            assert line, f"the server ended its output after {self.received}"
            self.received.append(line)
        return self.messages

    def close(self) -> int:
        """Close the server's input, read the rest, and return its exit status."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.received += self.process.stdout.readlines()
        return self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it is doing."""
        self._patience.cancel()
        self.process.kill()
        with self.process:  # closes the pipes, waits
            pass
