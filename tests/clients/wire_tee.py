"""Recording wrapper for a stdio server: put it in front of the server's command.

    python wire_tee.py messages.jsonl -- COMMAND ARG...

Copies stdin to the server and its stdout back unchanged, and writes one line per message:
``{"from": "client" | "server", "message": {...}}``. A line of the server that is not JSON is
recorded as ``{"from": "server", "garbage": "..."}``: stdout must carry nothing else. ``{pid}``
in the file's name becomes this process's id: a client that starts the server twice (the
TypeScript client's ``auto``) then leaves two files. Ends with the server's exit status.
Check a file with ``python wire_schema.py REVISION messages.jsonl``.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any


def entry(who: str, raw: bytes) -> dict[str, Any]:
    """The record of one line: a message, or what stood there in its place."""
    try:
        return {"from": who, "message": json.loads(raw)}
    except ValueError:
        return {"from": who, "garbage": raw.decode("utf-8", "replace")}


def pump(source: IO[bytes], sink: IO[bytes], record: Callable[[bytes], None]) -> None:
    """Copy lines until either end is closed, recording each before it is passed on."""
    with contextlib.suppress(BrokenPipeError, ValueError):
        for raw in iter(source.readline, b""):
            record(raw)  # first, so that an answer never stands before its request
            sink.write(raw)
            sink.flush()


def main(path: str, command: list[str]) -> int:
    """Run *command* between this process's stdin and stdout; return its exit status."""
    lock = threading.Lock()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin
    assert server.stdout
    to_server, from_server = server.stdin, server.stdout
    # A client that gives up ends the wrapper: the server goes with it.
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())

    with Path(path.replace("{pid}", str(os.getpid()))).open("w", encoding="utf-8") as log:

        def recorder(who: str) -> Callable[[bytes], None]:
            def record(raw: bytes) -> None:
                with lock:
                    log.write(json.dumps(entry(who, raw)) + "\n")
                    log.flush()

            return record

        def upstream() -> None:
            pump(sys.stdin.buffer, to_server, recorder("client"))
            with contextlib.suppress(BrokenPipeError):
                to_server.close()  # the client closed: so does the server's stdin

        threading.Thread(target=upstream, daemon=True).start()
        pump(from_server, sys.stdout.buffer, recorder("server"))
        return server.wait()


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        raise SystemExit("usage: wire_tee.py FILE -- COMMAND ARG...")
    raise SystemExit(main(sys.argv[1], sys.argv[3:]))
