"""One server process and one MCP session with it over stdio (specification: basic/lifecycle, 2025-11-25).

The law of the file: one request is under way at a time, so that an answer without an id, the end of the
process and the mark of a function that ran all belong to it. What a server writes that is no message is
counted and passed over.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from typegate.errors import ConfigurationError
from typegate.types import Json
from typegate.wire.framing import LineDecoder, TooLong

__all__ = ["HANDSHAKE", "IMPATIENCE", "PATIENCE", "REVISION", "Ended", "Reply", "Session", "Silence"]

REVISION: Final = "2025-11-25"

HANDSHAKE = 30.0
"""Seconds that a server has at least to start and answer the first request."""

_CHUNK: Final = 64 * 1024
_MAX_LINE: Final = 64 * 1024 * 1024
_MOMENT: Final = 0.3
"""Seconds that an answer may come after the answer to a later ping: servers answer in any order."""

PATIENCE: Final = 3.0
"""Seconds that a server has to end by itself, and again after SIGTERM."""

IMPATIENCE: Final = 0.2
"""The same for one that does not answer."""

_TAIL: Final = 2_000
"""How many bytes of its standard error are shown of a server that ended."""


class Silence(Exception):
    """No answer came in time."""


class Ended(Exception):
    """The server ended; the text is its exit status and the end of its standard error."""


class Reply(msgspec.Struct, frozen=True):
    """An answer and the seconds that it took."""

    message: dict[str, Json]
    seconds: float


class Session:
    """A server that runs.

    Args:
        command: the program and its arguments.
        seconds: how long an answer may take.
        errors: where its standard error goes.
    """

    def __init__(self, command: Sequence[str], seconds: float, errors: Path) -> None:
        self._command = command
        self._seconds = seconds
        self._errors = errors
        self._process: asyncio.subprocess.Process
        self._decoder = LineDecoder(_MAX_LINE)
        self._answers: asyncio.Queue[dict[str, Json] | None] = asyncio.Queue()
        self._reading: asyncio.Task[None]
        self._number = 0
        self.noise = 0
        self.info: dict[str, Json] = {}

    async def open(self) -> Self:
        """Start the process and shake hands.

        Raises:
            ConfigurationError: there is no such program, or it does not speak MCP.
        """
        try:
            with self._errors.open("ab") as errors:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=errors,
                )
        except OSError as error:
            raise ConfigurationError(f"'{self._command[0]}' cannot be started: {error.strerror}") from None
        self._reading = asyncio.create_task(self._read())
        try:
            await self._shake_hands()
        except (Silence, Ended) as error:
            await self.close(IMPATIENCE)
            raise ConfigurationError(f"the server did not open a session: {error}") from None
        return self

    async def _shake_hands(self) -> None:
        client = {"name": "typegate-probe", "version": "1"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}
        reply = await self.request("initialize", _bytes(params), seconds=max(self._seconds, HANDSHAKE))
        result = reply.message.get("result")
        if not isinstance(result, dict):
            raise ConfigurationError(f"the server did not open a session: {reply.message.get('error')}")
        self.info = result.get("serverInfo") or {}
        self._write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    async def tools(self) -> list[dict[str, Json]]:
        """What `tools/list` shows, all pages of it."""
        found: list[dict[str, Json]] = []
        params: dict[str, Json] = {}
        while True:
            reply = await self.request("tools/list", _bytes(params))
            result = reply.message.get("result")
            if not isinstance(result, dict):
                raise ConfigurationError(f"the server does not list its tools: {reply.message.get('error')}")
            found += result.get("tools", ())
            cursor = result.get("nextCursor")
            if cursor is None or cursor == params.get("cursor"):
                return found
            params = {"cursor": cursor}

    async def request(self, method: str, params: bytes, seconds: float | None = None) -> Reply:
        """Send a request whose params are these bytes, and wait for its answer.

        Raises:
            Silence: none came in time.
            Ended: the server ended instead.
        """
        begun = time.perf_counter()
        number = self._send(method, params)
        message = await self._answer((number, None), seconds or self._seconds)
        return Reply(message, time.perf_counter() - begun)

    async def request_broken(self, method: str, params: bytes) -> Reply:
        """The same for a message that is no sound JSON, to which some servers say nothing.

        A ping follows it; once that is answered, the silence before it is final.
        """
        begun = time.perf_counter()
        number = self._send(method, params)
        ping = self._send("ping", b"{}")
        wanted = (number, None)
        message = await self._answer((*wanted, ping), self._seconds)
        if message.get("id") != ping:
            seconds = time.perf_counter() - begun
            await self._answer((ping,), self._seconds)
            return Reply(message, seconds)
        message = await self._answer(wanted, _MOMENT)
        return Reply(message, time.perf_counter() - begun)

    def _send(self, method: str, params: bytes) -> int:
        self._number += 1
        head = f'{{"jsonrpc":"2.0","id":{self._number},"method":"{method}","params":'
        self._write(head.encode() + params + b"}")
        return self._number

    def _write(self, line: bytes) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + b"\n")

    async def _answer(self, wanted: tuple[int | None, ...], seconds: float) -> dict[str, Json]:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await self._answers.get()
                    if message is None:
                        raise Ended(await self._last_words())
                    if message.get("id") in wanted:
                        return message
        except TimeoutError:
            raise Silence(f"no answer within {seconds:g} seconds") from None

    # --- what comes

    async def _read(self) -> None:
        """Hand over every answer, and `None` at the end; answer what the server asks."""
        stream = self._process.stdout
        while stream is not None and (chunk := await stream.read(_CHUNK)):
            for line in self._decoder.feed(chunk):
                self._take(line)
        self._answers.put_nowait(None)

    def _take(self, line: bytes | TooLong) -> None:
        try:
            message = json.loads(line) if isinstance(line, bytes) else None
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self.noise += 1
        elif "method" not in message:
            self._answers.put_nowait(message)
        elif message.get("id") is not None:
            answer = {"result": {}} if message["method"] == "ping" else {"error": _NOT_HERE}
            self._write(_bytes({"jsonrpc": "2.0", "id": message["id"], **answer}))

    # --- the end

    async def _last_words(self) -> str:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), 5.0)
        size = self._errors.stat().st_size
        with self._errors.open("rb") as errors:
            errors.seek(max(size - _TAIL, 0))
            said = errors.read().decode(errors="replace").strip()
        status = self._process.returncode
        return f"the server ended with status {status}" + (f": {said}" if said else "")

    async def close(self, patience: float = PATIENCE) -> int | None:
        """End the input, give the process a moment, and end it; its exit status."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        for end in (None, self._process.terminate, self._process.kill):
            if self._process.returncode is None and end is not None:
                end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), patience)
                break
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
        return self._process.returncode


_NOT_HERE: Final = {"code": -32601, "message": "this client only probes"}


def _bytes(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
