"""What a function may ask for: who calls, what the server holds, and words to the client on the way.

The law of the file: nothing here blocks and everything works on a worker thread; what says something to
the client may also be awaited, which waits until the client keeps up.
"""

import math
from collections.abc import Callable, Generator
from typing import Any, Final, Generic

import msgspec
from typing_extensions import TypeVar

from typegate.contract.results import to_json
from typegate.errors import InvalidResult
from typegate.guards.calls import Call
from typegate.types import Implementation, Json, LogLevel, Principal
from typegate.wire.connection import LEVEL_KEY, LEVELS
from typegate.wire.jsonrpc import Id

__all__ = ["Context"]

T = TypeVar("T", default=Any)

_RANK: Final = {level: rank for rank, level in enumerate(LEVELS)}


class Said:
    """What was said; awaiting it waits until the client has taken most of it."""

    __slots__ = ("_call",)

    def __init__(self, call: Call) -> None:
        self._call = call

    def __await__(self) -> Generator[Any, None, None]:
        return self._call.channel.drain().__await__()


class Context(Generic[T]):
    """The call that a function is answering; ask for it with a parameter of this type.

    `Context[AppState]` says what `ctx.lifespan` is. It is not part of the tool's schema.
    """

    __slots__ = ("_call", "_done", "_may_say", "lifespan")

    def __init__(
        self, call: Call, lifespan: T, may_say: Callable[[Principal | None], bool] | None = None
    ) -> None:
        self._call = call
        self._may_say = may_say
        self._done = -math.inf
        self.lifespan = lifespan
        """What the server's `lifespan` yielded."""

    # --- who and what

    @property
    def request_id(self) -> Id:
        """The id of the request."""
        return self._call.request.id

    @property
    def principal(self) -> Principal | None:
        """Who is calling, as far as it was verified."""
        return self._call.principal

    @property
    def client(self) -> Implementation | None:
        """What the client says of itself; never a ground for trust."""
        return self._call.peer.client

    @property
    def protocol_version(self) -> str:
        """The revision that the client speaks."""
        return self._call.peer.version.name

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more; a plain function should look now and then."""
        return not self._call.channel.waits(self._call.request)

    # --- progress

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> Said:
        """Report how far the work is; nothing is sent unless the client asked for it.

        Args:
            done: must grow from one report to the next; one that does not is dropped.
            total: the value of *done* at the end, where it is known.
            message: what is being done (clients from 2025-03-26 on).
        """
        token = self._meta().get("progressToken")
        if token.__class__ in (str, int) and self._done < done < math.inf:
            self._done = done
            params: dict[str, Json] = {"progressToken": token, "progress": done}
            if total is not None and math.isfinite(total):
                params["total"] = total
            if message is not None:
                params["message"] = message
            self._notify("notifications/progress", params)
        return Said(self._call)

    # --- log messages

    def log(self, level: LogLevel, data: Json, logger: str | None = None) -> Said:
        """Send a log message to the client, if it wants messages of this level.

        Args:
            level: how grave it is.
            data: any JSON value; never a secret.
            logger: the name of its source.
        """
        wanted = self._wanted_level()
        if level not in _RANK:
            raise ValueError(f"the level of a log message must be one of {', '.join(LEVELS)}")
        if wanted is not None and _RANK[level] >= _RANK[wanted]:
            params: dict[str, Json] = {"level": level, "data": _writable(data)}
            if logger is not None:
                params["logger"] = logger
            self._notify("notifications/message", params)
        return Said(self._call)

    def debug(self, data: Json) -> Said:
        """A log message of level `debug`."""
        return self.log("debug", data)

    def info(self, data: Json) -> Said:
        """A log message of level `info`."""
        return self.log("info", data)

    def warning(self, data: Json) -> Said:
        """A log message of level `warning`."""
        return self.log("warning", data)

    def error(self, data: Json) -> Said:
        """A log message of level `error`."""
        return self.log("error", data)

    def _wanted_level(self) -> LogLevel | None:
        """From which level on: per request for stateless clients, else as the session settled it."""
        if self._call.peer.version.modern:
            level = self._meta().get(LEVEL_KEY)
            return level if level in _RANK else None
        session = self._call.channel.session
        return session.log_level if session is not None else None

    def _meta(self) -> dict[str, Json]:
        meta = self._call.request.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    def _notify(self, method: str, params: dict[str, Json]) -> None:
        """Send it, unless the caller has had as many as it may have (requirement E3)."""
        if self._may_say is None or self._may_say(self._call.principal):
            self._call.channel.notify(self._call.peer, method, params, about=self._call.request)


def _writable(data: Any) -> Json:
    """A log message as strict JSON; one that cannot be says so, and the call goes on."""
    try:
        return msgspec.Raw(to_json(data))
    except InvalidResult as error:
        return f"[a log message {str(error).removeprefix('returned ')}]"
