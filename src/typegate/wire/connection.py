"""One client's conversation as a state machine: a message in, an event out; an outcome in, bytes out.

The law of the file: no waiting and no I/O. `Connection.receive` never raises for what a client sent; it
returns an event, and where the answer is already settled the event carries it. Which rules hold for a
request is read off the request (stateless, 2026-07-28) or off the handshake (up to 2025-11-25), never
guessed (specification: basic/versioning).
"""

from collections.abc import Callable, Mapping
from typing import Final, get_args

import msgspec

from typegate.errors import (
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ProtocolError,
    ResourceNotFound,
    UnsupportedProtocolVersion,
)
from typegate.text import shown
from typegate.types import PROBLEM_KEY, Implementation, Json, LogLevel, Problem, Result
from typegate.versions import LATEST_LEGACY, LATEST_MODERN, MODERN, SINCE, VERSIONS, Version
from typegate.wire import jsonrpc
from typegate.wire.jsonrpc import Id, Notification, Request
from typegate.wire.methods import METHODS, InitializeParams, Method, convert
from typegate.wire.shapes import Identity, encode_result

__all__ = [
    "CAPABILITIES_KEY",
    "CLIENT_KEY",
    "LEVELS",
    "LEVEL_KEY",
    "VERSION_KEY",
    "Batch",
    "CancelRequested",
    "Connection",
    "Event",
    "Ignored",
    "Malformed",
    "NotificationReceived",
    "Peer",
    "RequestReceived",
    "Session",
    "Terms",
]

PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = PREFIX + "protocolVersion"
CAPABILITIES_KEY: Final = PREFIX + "clientCapabilities"
CLIENT_KEY: Final = PREFIX + "clientInfo"
LEVEL_KEY: Final = PREFIX + "logLevel"

LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)
"""The levels of log messages, the gravest last."""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """The client as a request sees it: its revision, what it can do, and who it says it is."""

    version: Version
    capabilities: Mapping[str, Json] = {}
    client: Implementation | None = None


class Session:
    """What a handshake client has settled, for as long as it stays.

    Attributes:
        peer: the client.
        ready: whether `notifications/initialized` has come.
        log_level: from which level on it wants log messages.
        subscriptions: the URIs whose changes it asked for.
    """

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.ready = False
        self.log_level: LogLevel = "info"
        self.subscriptions: set[str] = set()


class Terms:
    """What a server brings to each of its connections: who it is, and what it advertised.

    Attributes:
        identity: its name and looks.
        methods: what may be called, by the rank of the client's revision.
        render: how a problem travels in an error's data.
    """

    def __init__(
        self,
        identity: Identity,
        capabilities: Mapping[str, Json],
        render: Callable[[Problem], Json] = msgspec.to_builtins,
    ) -> None:
        self.identity = identity
        self.render = render
        self.methods = [
            {
                name: method
                for name, method in METHODS.items()
                if method.exists_in(version)
                and (version.rank < method.asked_since or _advertised(method, capabilities))
            }
            for version in VERSIONS.values()
        ]


class RequestReceived(msgspec.Struct, frozen=True, gc=False):
    """A request to be answered."""

    request: Request
    method: Method
    peer: Peer


class NotificationReceived(msgspec.Struct, frozen=True):
    """A notification that someone may want to act on."""

    notification: Notification


class CancelRequested(msgspec.Struct, frozen=True):
    """The client no longer wants the answer to one of its requests that is under way."""

    id: Id


class Malformed(msgspec.Struct, frozen=True):
    """What came is answered already: no message, or a request that no handler will see."""

    reply: bytes
    error: ProtocolError
    request: Request | None = None


class Batch(msgspec.Struct, frozen=True):
    """The members of a batch, each an event, to be answered together (2025-03-26)."""

    events: tuple["Event", ...]


class Ignored(msgspec.Struct, frozen=True):
    """Nothing is to be done."""


Event = RequestReceived | NotificationReceived | CancelRequested | Malformed | Batch | Ignored

_IGNORED: Final = Ignored()


class Connection:
    """One client at the other end of a stream, or of one exchange.

    Args:
        terms: who serves.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._in_flight: dict[Id, RequestReceived] = {}
        self._told: tuple[Json, Json, Json] = (None, None, None)
        self._stateless_peer: Peer | None = None
        self._null_id = True
        self.session: Session | None = None

    # --- in

    def receive(self, line: bytes) -> Event:
        """What a message means."""
        try:
            message = jsonrpc.decode(line)
            if isinstance(message, Request):
                return self._request(message)
            if isinstance(message, list):
                return self._batch(message)
        except ParseError as error:
            return self._malformed(error, None)
        except InvalidRequest as error:
            return self._malformed(error, error.request_id)
        if isinstance(message, Notification):
            return self._notification(message)
        return _IGNORED  # an answer to a request that was never sent

    def refuse(self, error: ProtocolError) -> Malformed:
        """What never became a message, such as a line that is too long."""
        return self._malformed(error, None)

    def _batch(self, members: list[bytes]) -> Event:
        if self.session is None or not self.session.peer.version.batches:
            raise InvalidRequest("Batches exist only in sessions of revision 2025-03-26")
        if any(map(_must_not_be_in_a_batch, members)):
            raise InvalidRequest("A batch must hold neither 'initialize' nor another batch")
        return Batch(tuple(map(self.receive, members)))

    def _request(self, request: Request) -> Event:
        try:
            if request.id in self._in_flight:
                raise InvalidRequest("A request with this id is still under way", request.id)
            peer = self._peer(request)
            method = self._terms.methods[peer.version.rank].get(request.method)
            if method is None:
                raise MethodNotFound(f"Method not found: {shown(request.method)}")
        except ProtocolError as error:
            return self._malformed(error, request.id, request)
        received = RequestReceived(request, method, peer)
        self._in_flight[request.id] = received
        return received

    def _peer(self, request: Request) -> Peer:
        """Whose rules hold for this request (checklist 1.3)."""
        meta = request.params.get("_meta")
        if request.method == "initialize":
            return self._handshake(request)
        if isinstance(meta, dict) and VERSION_KEY in meta:
            return self._stateless(meta)
        if self.session is not None:
            return self.session.peer
        if request.method == "ping":
            return Peer(version=LATEST_LEGACY)
        if request.method not in METHODS:
            raise MethodNotFound(f"Method not found: {shown(request.method)}")
        raise InvalidParams(
            f"'params._meta' must hold '{VERSION_KEY}' and '{CAPABILITIES_KEY}', "
            "or the session must begin with 'initialize'"
        )

    def _handshake(self, request: Request) -> Peer:
        params = convert(request.params, InitializeParams)
        version = VERSIONS.get(params.protocol_version, LATEST_LEGACY)
        if version.modern:
            version = LATEST_LEGACY
        peer = Peer(version=version, capabilities=params.capabilities, client=params.client_info)
        self.session = Session(peer)
        self._null_id = version.null_id
        return peer

    def _stateless(self, meta: dict[str, Json]) -> Peer:
        """The client as its request describes it; one that was read before is not read again."""
        if LEVEL_KEY in meta and meta[LEVEL_KEY] not in LEVELS:
            raise InvalidParams(f"'{LEVEL_KEY}' must be one of {', '.join(LEVELS)}")
        told = (meta[VERSION_KEY], meta.get(CAPABILITIES_KEY), meta.get(CLIENT_KEY))
        if told == self._told and self._stateless_peer is not None:
            return self._stateless_peer
        peer = _read_peer(*told)
        self._told, self._stateless_peer = told, peer
        if self.session is None:
            self._null_id = peer.version.null_id
        return peer

    def _notification(self, notification: Notification) -> Event:
        if notification.method == "notifications/cancelled":
            id_ = notification.params.get("requestId")
            if id_.__class__ not in (int, str) or id_ not in self._in_flight:
                return _IGNORED
            if self._in_flight[id_].method.name == "initialize":
                return _IGNORED
            del self._in_flight[id_]
            return CancelRequested(id_)
        if notification.method == "notifications/initialized" and self.session is not None:
            self.session.ready = True
        return NotificationReceived(notification)

    # --- out

    def encode(self, received: RequestReceived, outcome: Result | ProtocolError) -> bytes | None:
        """The line that answers, or `None` where the request was cancelled and must not be answered.

        The request stays under way until it is settled, so that another line may take its place.
        """
        id_ = received.request.id
        if self._in_flight.get(id_) is not received:
            return None
        if isinstance(outcome, ProtocolError):
            return jsonrpc.encode_error(id_, self._error_object(outcome, received.peer.version))
        result = encode_result(outcome, received.method, received.peer.version, self._terms.identity)
        return jsonrpc.encode_response(id_, result)

    def settle(self, received: RequestReceived) -> None:
        """The request has its answer, or nobody wants it any more."""
        if self._in_flight.get(received.request.id) is received:
            del self._in_flight[received.request.id]

    def waits(self, request: Request) -> bool:
        """Whether the client still wants the answer to *request*."""
        received = self._in_flight.get(request.id)
        return received is not None and received.request is request

    def notification(self, method: str, params: dict[str, Json], version: Version) -> bytes:
        """A notification line for a client of *version*."""
        if method == "notifications/progress":
            since = SINCE["Progress"]
            params = {key: item for key, item in params.items() if since.get(key, 0) <= version.rank}
        return jsonrpc.encode_notification(method, params)

    def _malformed(self, error: ProtocolError, id_: Id | None, request: Request | None = None) -> Malformed:
        version = self.session.peer.version if self.session is not None else LATEST_MODERN
        reply = jsonrpc.encode_error(id_, self._error_object(error, version), self._null_id)
        return Malformed(reply, error, request)

    def _error_object(self, error: ProtocolError, version: Version) -> dict[str, Json]:
        """Every error carries its problem (requirement B4)."""
        code = error.code
        if isinstance(error, ResourceNotFound) and not version.modern:
            code = error.legacy_code
        data = {PROBLEM_KEY: self._terms.render(error.problem), **(error.data or {})}
        return {"code": code, "message": error.message, "data": data}


def _must_not_be_in_a_batch(member: bytes) -> bool:
    try:
        message = jsonrpc.decode(member)
    except (ParseError, InvalidRequest):
        return False  # answered by itself
    return isinstance(message, list) or (isinstance(message, Request) and message.method == "initialize")


def _advertised(method: Method, capabilities: Mapping[str, Json]) -> bool:
    place: Json = capabilities
    for key in method.capability:
        place = place.get(key)
        if place is None or place is False:
            return False
    return True


def _read_peer(name: Json, capabilities: Json, info: Json) -> Peer:
    """Check the stateless envelope (checklist 1.5, rows 1 to 3)."""
    if not isinstance(name, str):
        raise InvalidParams(f"'{VERSION_KEY}' must be a string")
    if not isinstance(capabilities, dict):
        raise InvalidParams(f"'params._meta' must hold '{CAPABILITIES_KEY}', an object")
    client = None
    if info is not None:
        try:
            client = msgspec.convert(info, Implementation)
        except msgspec.ValidationError:
            raise InvalidParams(f"'{CLIENT_KEY}' must hold a 'name' and a 'version'") from None
    if name not in MODERN:
        raise UnsupportedProtocolVersion(name, MODERN)
    return Peer(version=VERSIONS[name], capabilities=capabilities, client=client)
