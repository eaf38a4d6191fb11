"""The calls go out, the answers come in, and a server that ends is started again.

The law of the file: it decides nothing. What is sent comes from `calls`, what it means from `judgement`;
here are the order of things, the clock, and the file in which a typegate server tells that a function ran.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from typegate.errors import ConfigurationError, RegistrationError
from typegate.probe.calls import Case, Rules, Subject, make_cases
from typegate.probe.judgement import Answer, Judgement, judge, read_answer
from typegate.probe.report import Report, ToolReport
from typegate.probe.sentinel import RULES_KEY
from typegate.probe.session import IMPATIENCE, PATIENCE, Ended, Session, Silence
from typegate.types import Json

__all__ = ["Options", "Target", "Tell", "run_probe"]

Tell = Callable[[int, int, str], None]
"""Hears of every call: how many were made, how many there are, and of which tool."""

_MOST_DEATHS: Final = 5
"""After so many ends or silences of one tool the rest of its calls is left out."""

_DOUBTFUL: Final = ("wire", "number")
"""Kinds of calls that some servers never answer."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is probed.

    Attributes:
        label: as it was named.
        command: what starts it; a typegate server is told the file of its record as the last argument.
        own: whether it is a typegate server with sentinels.
        live: whether its functions run after all.
    """

    label: str
    command: tuple[str, ...]
    own: bool
    live: bool = False


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How it is probed.

    Attributes:
        seed: the same seed makes the same calls.
        most: how many calls a tool gets at most.
        seconds: how long an answer may take.
        tools: the names of the tools to call; all of them where there are none.
    """

    seed: int = 0
    most: int = 1_000
    seconds: float = 10.0
    tools: tuple[str, ...] = ()


async def run_probe(target: Target, options: Options, tell: Tell) -> Report:
    """Probe a server.

    Raises:
        ConfigurationError: it cannot be started or spoken to, or has no tools.
    """
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="typegate-probe-") as folder:
        driver = _Driver(target, options, Path(folder), tell)
        try:
            tools = await driver.run()
        finally:
            await driver.close()
    return Report(
        target=target.label,
        server=driver.server,
        own=target.own,
        live=target.live,
        seed=options.seed,
        seconds=time.perf_counter() - begun,
        noise=driver.noise,
        tools=tuple(tools),
    )


class _Driver:
    """One probe from the first handshake to the last answer."""

    def __init__(self, target: Target, options: Options, folder: Path, tell: Tell) -> None:
        self._target = target
        self._options = options
        self._record = folder / "record"
        self._errors = folder / "stderr"
        self._record.touch()
        self._tell = tell
        self._session: Session | None = None
        self._reached = 0
        self._done, self._total = 0, 0
        self.noise = 0
        self.server = ""

    async def run(self) -> list[ToolReport]:
        """Make all calls, tool by tool."""
        session = await self._open()
        info = session.info
        self.server = " ".join(str(info[key]) for key in ("name", "version") if info.get(key))
        listed = await session.tools()
        wanted = self._options.tools
        unknown = set(wanted) - {str(tool.get("name")) for tool in listed}
        if unknown:
            raise ConfigurationError(f"the server has no tool '{min(unknown)}'")
        plans = [self._plan(tool) for tool in listed if not wanted or tool.get("name") in wanted]
        if not plans:
            raise ConfigurationError("the server has no tools: there is nothing to probe")
        self._total = sum(len(cases) for _, cases, _ in plans)
        return [await self._probe(*plan) for plan in plans]

    def _plan(self, tool: dict[str, Json]) -> tuple[str, Sequence[Case], str | None]:
        """A tool, its calls, and why it has none."""
        name = str(tool.get("name"))
        schema = tool.get("inputSchema")
        if not isinstance(schema, dict):
            return name, (), "its inputSchema is no object"
        meta = tool.get("_meta") or {}
        rules = Rules(**meta[RULES_KEY]) if self._target.own and RULES_KEY in meta else Rules()
        subject = Subject(name=name, schema=schema, rules=rules)
        try:
            cases = make_cases(subject, self._options.seed, self._options.most)
        except RegistrationError as error:
            return name, (), str(error)
        if not cases:
            return name, (), "no valid arguments were found for its schema, so nothing could be made of them"
        return name, cases, None

    async def _probe(self, name: str, cases: Sequence[Case], note: str | None) -> ToolReport:
        answered: list[tuple[Case, Answer, Judgement]] = []
        deaths = 0
        for index, case in enumerate(cases):
            answer = await self._ask(name, case)
            answered.append((case, answer, judge(case, answer, strict=self._target.own)))
            self._done += 1
            self._tell(self._done, self._total, name)
            deaths += answer.form == "end" or (answer.form == "silence" and case.kind not in _DOUBTFUL)
            if deaths >= _MOST_DEATHS:
                note = f"{len(cases) - index - 1} calls were left out after {deaths} without an answer"
                self._done += len(cases) - index - 1
                break
        return ToolReport.of(name, answered, note)

    async def _ask(self, name: str, case: Case) -> Answer:
        """Make one call; the server runs again afterwards, whatever became of it."""
        session = self._session or await self._open()
        params = msgspec.json.encode({"name": name})[:-1] + b',"arguments":' + case.arguments + b"}"
        begun = time.perf_counter()
        try:
            ask = session.request_broken if case.kind in _DOUBTFUL else session.request
            reply = await ask("tools/call", params)
        except Ended as error:
            await self.close()
            return Answer(form="end", text=str(error), ran=self._ran())
        except Silence as error:
            if case.kind not in _DOUBTFUL or time.perf_counter() - begun >= self._options.seconds:
                await self.close(IMPATIENCE)
            return Answer(form="silence", text=str(error), ran=self._ran())
        return read_answer(reply.message, self._ran(), reply.seconds)

    def _ran(self) -> bool | None:
        """Whether a function was reached since this was last asked."""
        if not self._target.own:
            return None
        reached = self._record.stat().st_size
        ran, self._reached = reached > self._reached, reached
        return ran

    async def _open(self) -> Session:
        command = self._target.command
        if self._target.own:
            command = (*command, str(self._record))
        self._session = await Session(command, self._options.seconds, self._errors).open()
        return self._session

    async def close(self, patience: float = PATIENCE) -> None:
        """End the server."""
        if self._session is not None:
            self.noise += self._session.noise
            await self._session.close(patience)
            self._session = None
