"""What `typegate.wire.connection` promises: the right rules for every message, whatever came before it.

A client and a server stand back to back: bytes go in, the event is answered at once from a table of
outcomes, and bytes come out. An answer is written as `(id, "legacy" | "modern" | code)`.
"""

import json
from typing import Any

import pytest

from typegate.errors import InternalError, InvalidParams, InvalidRequest, ProtocolError, ResourceNotFound
from typegate.types import (
    PROBLEM_KEY,
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    EmptyResult,
    GetPromptResult,
    Implementation,
    InitializeResult,
    ListResult,
    ReadResourceResult,
    Result,
    SubscriptionEnded,
)
from typegate.versions import LEGACY, MODERN, VERSIONS
from typegate.wire.connection import (
    Batch,
    CancelRequested,
    Connection,
    Event,
    Ignored,
    Malformed,
    NotificationReceived,
    RequestReceived,
    Terms,
)
from typegate.wire.methods import METHODS
from typegate.wire.shapes import Identity

Message = dict[str, Any]
Brief = tuple[Any, Any]

PARSE, INVALID, METHOD, PARAMS, VERSION = -32700, -32600, -32601, -32602, -32022
NEWEST, BATCHED, LATEST = "2026-07-28", "2025-03-26", "2025-11-25"
NULL, NONE = None, ...  # the id of an error is null, or is not there

META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": NEWEST, META + "clientCapabilities": {}}

ALL = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}

OUTCOMES: dict[str, Result] = {
    **dict.fromkeys(METHODS, EmptyResult()),
    **{name: ListResult(items=b"[]") for name in METHODS if name.endswith("/list")},
    "initialize": InitializeResult(capabilities=ALL),
    "server/discover": DiscoverResult(capabilities=ALL),
    "tools/call": CallToolResult(content=()),
    "resources/read": ReadResourceResult(contents=()),
    "prompts/get": GetPromptResult(messages=()),
    "completion/complete": CompleteResult(values=()),
    "subscriptions/listen": SubscriptionEnded(),
}

every_revision = pytest.mark.parametrize("revision", VERSIONS)
every_session = pytest.mark.parametrize("revision", LEGACY)


# --- the client's words --------------------------------------------------------------------------


def reply(connection: Connection, received: RequestReceived, outcome: Any) -> bytes | None:
    """Encode an answer and settle its request, as whoever runs the connection does."""
    line = connection.encode(received, outcome)
    connection.settle(received)
    return line


def request(number: Any, method: str, **params: Any) -> Message:
    """A request without an envelope."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def stateless(number: Any, method: str, **params: Any) -> Message:
    """A request of 2026-07-28; `_meta` is laid over a good envelope, and `None` takes a key away."""
    meta = {**ENVELOPE, **params.pop("_meta", {})}
    return request(
        number, method, **params, _meta={key: item for key, item in meta.items() if item is not NONE}
    )


def initialize(version: Any, number: Any = 0, **params: Any) -> Message:
    """The opening of a session."""
    opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    return request(number, "initialize", **{**opening, **params})


def notification(method: str, **params: Any) -> Message:
    """A message that wants no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def cancelled(number: Any) -> Message:
    """The client takes a request back."""
    return notification("notifications/cancelled", requestId=number)


def asked(revision: str, number: Any, method: str, **params: Any) -> Message:
    """A request as a client of this revision makes it."""
    return (stateless if revision in MODERN else request)(number, method, **params)


# --- the two ends --------------------------------------------------------------------------------


class Pair:
    """A client and a server back to back, in a session where a revision is given."""

    def __init__(self, session: str | None = None, capabilities: dict[str, Any] = ALL) -> None:
        identity = Identity(Implementation(name="t", version="1"))
        self.connection = Connection(Terms(identity, capabilities))
        if session in LEGACY:
            self.say(initialize(session), notification("notifications/initialized"))

    def hear(self, message: Any) -> Any:
        """The event of a message; nothing is answered yet."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.connection.receive(line)

    def reply(self, event: Event) -> list[Any]:
        """What goes out for an event."""
        if isinstance(event, RequestReceived):
            line = reply(self.connection, event, OUTCOMES[event.method.name])
            return [json.loads(line)] if line is not None else []
        if isinstance(event, Malformed):
            return [json.loads(event.reply)]
        if isinstance(event, Batch):
            return [[answer for member in event.events for answer in self.reply(member)]]
        return []

    def say(self, *messages: Any) -> list[Any]:
        """All that comes of these messages, each answered at once."""
        return [answer for message in messages for answer in self.reply(self.hear(message))]


def brief(answer: Any) -> Any:
    """An answer in short."""
    if isinstance(answer, list):
        return list(map(brief, answer))
    if "error" in answer:
        return (answer.get("id", NONE), answer["error"]["code"])
    return (answer["id"], "modern" if "resultType" in answer["result"] else "legacy")


def briefs(*messages: Any, session: str | None = None, capabilities: dict[str, Any] = ALL) -> list[Any]:
    """What comes of a conversation, in short."""
    return list(map(brief, Pair(session, capabilities).say(*messages)))


# --- whose rules hold (checklist 1.3) ------------------------------------------------------------

READY = notification("notifications/initialized")
LIST = request(2, "tools/list")

ROUTES: dict[str, tuple[list[Any], list[Brief]]] = {
    "a stateless request comes first": ([stateless(1, "tools/list")], [(1, "modern")]),
    "discover comes first": ([stateless(1, "server/discover")], [(1, "modern")]),
    "initialize comes first": ([initialize(LATEST, 1)], [(1, "legacy")]),
    "initialize under an envelope": (
        [initialize(LATEST, 1, _meta=ENVELOPE), LIST],
        [(1, "legacy"), (2, "legacy")],
    ),
    "ping comes first": ([request(1, "ping")], [(1, "legacy")]),
    "ping opens nothing": ([request(1, "ping"), LIST], [(1, "legacy"), (2, PARAMS)]),
    "an unknown method comes first": ([request(1, "no/such")], [(1, METHOD)]),
    "a known method comes first": ([LIST], [(2, PARAMS)]),
    "params that are not there": ([{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}], [(2, PARAMS)]),
    "_meta without the version marks nothing": (
        [request(1, "tools/list", _meta={"progressToken": 1})],
        [(1, PARAMS)],
    ),
    "nor do the capabilities alone": (
        [request(1, "tools/list", _meta={META + "clientCapabilities": {}})],
        [(1, PARAMS)],
    ),
    "nor does _meta in a session": (
        [initialize(LATEST, 1), request(2, "tools/list", _meta={"progressToken": 1})],
        [(1, "legacy"), (2, "legacy")],
    ),
    "_meta that is no object": ([request(1, "tools/list", _meta=[META])], [(1, PARAMS)]),
    "the version beside _meta marks nothing": ([request(1, "tools/list", **ENVELOPE)], [(1, PARAMS)]),
    "a stateless request opens nothing": ([stateless(1, "tools/list"), LIST], [(1, "modern"), (2, PARAMS)]),
    "discover, then initialize": (
        [stateless(1, "server/discover"), initialize(LATEST, 2), request(3, "tools/list")],
        [(1, "modern"), (2, "legacy"), (3, "legacy")],
    ),
    "a refused version, then initialize": (
        [
            stateless(1, "server/discover", _meta={META + "protocolVersion": "2099-01-01"}),
            initialize(LATEST, 2),
        ],
        [(1, VERSION), (2, "legacy")],
    ),
    "both eras on one stream": (
        [
            initialize(LATEST, 1),
            stateless(2, "tools/list"),
            request(3, "tools/list"),
            stateless(4, "tools/call"),
        ],
        [(1, "legacy"), (2, "modern"), (3, "legacy"), (4, "modern")],
    ),
    "half an envelope in a session": (
        [initialize(LATEST, 1), request(2, "tools/list", _meta={META + "protocolVersion": NEWEST})],
        [(1, "legacy"), (2, PARAMS)],
    ),
    "initialized before anything": ([READY, stateless(1, "tools/list")], [(1, "modern")]),
    "a notification decides no era": ([READY, initialize(LATEST, 1), LIST], [(1, "legacy"), (2, "legacy")]),
    "not even one with an envelope": (
        [notification("notifications/initialized", _meta=ENVELOPE), LIST],
        [(2, PARAMS)],
    ),
    "a refused handshake opens nothing": ([request(1, "initialize"), LIST], [(1, PARAMS), (2, PARAMS)]),
    "a handshake after a refused one": (
        [request(1, "initialize"), initialize(LATEST, 1), LIST],
        [(1, PARAMS), (1, "legacy"), (2, "legacy")],
    ),
}


@pytest.mark.parametrize("row", ROUTES)
def test_the_rules_are_read_off_the_request_or_the_handshake(row: str) -> None:
    """The envelope makes a request stateless, `initialize` opens a session, and nothing else decides."""
    messages, expected = ROUTES[row]
    assert briefs(*messages) == expected


@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"initialize", "ping"}))
def test_a_known_method_before_any_handshake_is_refused(method: str) -> None:
    """The text names both ways to begin."""
    (answer,) = Pair().say(request(1, method))
    assert brief(answer) == (1, PARAMS)
    assert all(
        word in answer["error"]["message"] for word in ("_meta", META + "protocolVersion", "initialize")
    )


@every_session
def test_a_session_holds_its_revision(revision: str) -> None:
    """Requests without an envelope follow the handshake, also behind one with it."""
    pair = Pair(revision)
    pair.say(stateless(1, "tools/list"))
    assert pair.hear(request(2, "tools/list")).peer.version.name == revision


@every_revision
def test_a_request_says_who_asks(revision: str) -> None:
    """What the client can do and how it calls itself come with the handshake or with each request."""
    info, abilities = {"name": "n", "version": "v", "title": "T"}, {"sampling": {}}
    pair = Pair()
    if revision in LEGACY:
        pair.say(initialize(revision, capabilities=abilities, clientInfo=info))
        event = pair.hear(request(1, "tools/list"))
    else:
        envelope = {META + "clientCapabilities": abilities, META + "clientInfo": info}
        event = pair.hear(stateless(1, "tools/list", _meta=envelope))
    assert event.peer.capabilities == abilities
    assert event.peer.client == Implementation(name="n", version="v", title="T")


def test_each_stateless_request_speaks_for_itself() -> None:
    """What one of them says is not remembered for the next one, whether it says other things or nothing."""
    pair, peers = Pair(), []
    for number, abilities in enumerate([{}, {"roots": {}}, {}, {"roots": {"x": 1}}]):
        info = {META + "clientInfo": {"name": f"c{number}", "version": "1"}} if number else {}
        peers.append(
            pair.hear(
                stateless(number, "tools/list", _meta={META + "clientCapabilities": abilities, **info})
            ).peer
        )
    assert [peer.capabilities for peer in peers] == [{}, {"roots": {}}, {}, {"roots": {"x": 1}}]
    assert [peer.client.name if peer.client else None for peer in peers] == [None, "c1", "c2", "c3"]


# --- the ladder (checklist 1.5, rows 0 to 4) -----------------------------------------------------

TOLD, CAN, WHO = META + "protocolVersion", META + "clientCapabilities", META + "clientInfo"
LEVEL = META + "logLevel"

ENVELOPES: list[
    tuple[dict[str, Any], str, Any]
] = [  # what is laid over the envelope, the method, the outcome
    ({}, "tools/list", "modern"),
    ({WHO: {"name": "c", "version": "1"}}, "tools/list", "modern"),
    ({CAN: {"sampling": {}, "x/y": 1}, "other": [1]}, "tools/list", "modern"),
    ({CAN: NONE}, "tools/list", PARAMS),
    ({CAN: None}, "tools/list", PARAMS),
    ({CAN: []}, "tools/list", PARAMS),
    ({CAN: "{}"}, "tools/list", PARAMS),
    ({CAN: True}, "tools/list", PARAMS),
    ({TOLD: None}, "tools/list", PARAMS),
    ({TOLD: 20260728}, "tools/list", PARAMS),
    ({TOLD: [NEWEST]}, "tools/list", PARAMS),
    ({TOLD: {}}, "tools/list", PARAMS),
    ({WHO: "c"}, "tools/list", PARAMS),
    ({WHO: {}}, "tools/list", PARAMS),
    ({WHO: {"name": "c"}}, "tools/list", PARAMS),
    ({WHO: {"name": "c", "version": 1}}, "tools/list", PARAMS),
    ({WHO: [1]}, "tools/list", PARAMS),
    ({LEVEL: "notice"}, "tools/list", "modern"),
    ({LEVEL: "loud"}, "tools/list", PARAMS),
    ({LEVEL: "NOTICE"}, "tools/list", PARAMS),
    ({LEVEL: None}, "tools/list", PARAMS),
    ({LEVEL: ["notice"]}, "tools/list", PARAMS),
    ({TOLD: "2099-01-01"}, "tools/list", VERSION),
    ({TOLD: LATEST}, "tools/list", VERSION),
    ({TOLD: BATCHED}, "tools/list", VERSION),
    ({TOLD: ""}, "tools/list", VERSION),
    ({TOLD: NEWEST + " "}, "tools/list", VERSION),
    ({TOLD: "2099-01-01", CAN: NONE}, "tools/list", PARAMS),
    ({TOLD: "2099-01-01", WHO: []}, "tools/list", PARAMS),
    ({TOLD: "2099-01-01"}, "no/such", VERSION),
    ({TOLD: None}, "no/such", PARAMS),
    ({CAN: NONE}, "no/such", PARAMS),
    ({}, "no/such", METHOD),
    ({}, "ping", METHOD),
    ({}, "logging/setLevel", METHOD),
    ({}, "resources/subscribe", METHOD),
    ({}, "resources/unsubscribe", METHOD),
    ({}, "tasks/get", METHOD),
    ({}, "notifications/initialized", METHOD),
    ({}, "", INVALID),
]


@pytest.mark.parametrize("session", [None, *LEGACY])
@pytest.mark.parametrize(("over", "method", "outcome"), ENVELOPES)
def test_an_envelope_is_checked_in_this_order(
    over: dict[str, Any], method: str, outcome: Any, session: str | None
) -> None:
    """Its shape, then its revision, then the method: with a session on the stream as without one."""
    assert briefs(stateless("x", method, _meta=over), session=session) == [("x", outcome)]


@pytest.mark.parametrize("requested", ["2099-01-01", LATEST, "", "é\n"])
def test_a_revision_that_is_not_served_is_named(requested: str) -> None:
    """The error repeats what was asked for, and lists the stateless revisions that there are."""
    (answer,) = Pair().say(stateless(1, "tools/list", _meta={TOLD: requested}))
    data = answer["error"]["data"]
    assert data.pop(PROBLEM_KEY)["code"] == "unsupported_protocol_version"
    assert data == {"supported": [NEWEST], "requested": requested}


@pytest.mark.parametrize("session", [None, *LEGACY])
def test_the_codes_of_the_stateless_revision_stay_there(session: str | None) -> None:
    """No request without an envelope is ever answered with -32022."""
    wrong = [
        request(1, "no/such"),
        request(2, "tools/list"),
        initialize("2099-01-01", 3),
        initialize(1, 4),
        b"{",
    ]
    assert VERSION not in {code for _, code in briefs(*wrong, session=session)}


BROKEN = [
    (b"{", PARSE),
    (b"\xff", PARSE),
    (b"{}", INVALID),
    (b"3", INVALID),
    (b"[]", INVALID),
    (b"[1]", INVALID),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID),
]

ERROR_IDS = [  # what was said before, and what takes the place of the id
    ([], NULL),
    ([request(1, "ping")], NULL),
    ([initialize("2024-11-05")], NULL),
    ([initialize("2025-03-26")], NULL),
    ([initialize("2025-06-18")], NULL),
    ([initialize("2025-11-25")], NONE),
    ([stateless(1, "tools/list")], NONE),
    ([initialize("2024-11-05"), stateless(1, "tools/list")], NULL),
    ([initialize("2025-11-25"), stateless(1, "tools/list")], NONE),
    ([stateless(1, "tools/list"), initialize("2024-11-05", 2)], NULL),
]


@pytest.mark.parametrize(("line", "code"), [row for row in BROKEN if row[0] != b"[1]"])
@pytest.mark.parametrize(("before", "id_"), ERROR_IDS)
def test_an_error_without_an_id_says_so_as_the_revision_wants_it(
    before: list[Any], id_: Any, line: bytes, code: int
) -> None:
    """It is null up to 2025-06-18 and while nothing is known of the client, and left out from then on."""
    pair = Pair()
    pair.say(*before)
    assert list(map(brief, pair.say(line))) == [(id_, code)]


@pytest.mark.parametrize(("before", "id_"), ERROR_IDS)
def test_what_never_became_a_message_is_refused_too(before: list[Any], id_: Any) -> None:
    """A line that is too long is answered, without an id."""
    pair = Pair()
    pair.say(*before)
    event = pair.connection.refuse(InvalidRequest("too long"))
    assert brief(json.loads(event.reply)) == (id_, INVALID)


# --- the handshake (checklist 1.6) ---------------------------------------------------------------

NEGOTIATED = [
    *((revision, revision) for revision in LEGACY),
    *(
        (asked, LATEST)
        for asked in (NEWEST, "2024-10-07", "2025-03-27", "2099-12-31", "DRAFT-2026-v1", "", "é")
    ),
]


@pytest.mark.parametrize(("offered", "settled"), NEGOTIATED)
def test_a_revision_is_negotiated(offered: str, settled: str) -> None:
    """One that is served comes back, any other one becomes the latest that has a handshake."""
    pair = Pair()
    (answer,) = pair.say(initialize(offered))
    assert answer["result"]["protocolVersion"] == settled
    assert pair.hear(LIST).peer.version.name == settled


@pytest.mark.parametrize(
    "params",
    [
        {"protocolVersion": 1},
        {"protocolVersion": None},
        {"capabilities": None},
        {"capabilities": []},
        {"clientInfo": None},
        {"clientInfo": {"name": "c"}},
    ],
)
def test_a_handshake_needs_all_of_its_params(params: dict[str, Any]) -> None:
    """Without one of them it is -32602, and a session that there is goes on."""
    assert briefs(initialize(LATEST, 1, **params), LIST) == [(1, PARAMS), (2, PARAMS)]
    assert briefs(initialize(LATEST, 1, **params), LIST, session=BATCHED) == [(1, PARAMS), (2, "legacy")]


def test_a_session_is_ready_when_the_client_says_so() -> None:
    """Not when the handshake is answered."""
    pair = Pair()
    pair.say(READY, initialize(LATEST), notification("notifications/roots/list_changed"))
    assert pair.connection.session is not None
    assert not pair.connection.session.ready
    pair.say(READY)
    assert pair.connection.session.ready


# --- methods -------------------------------------------------------------------------------------

NEEDS = {  # method -> what must have been advertised
    **{name: "tools" for name in METHODS if name.startswith("tools/")},
    **{name: "resources" for name in METHODS if name.startswith("resources/")},
    **{name: "prompts" for name in METHODS if name.startswith("prompts/")},
    "completion/complete": "completions",
    "logging/setLevel": "logging",
}
FINDS_NOTHING = {("resources/read", revision) for revision in LEGACY}  # without it, rather (case O-ERR-3)
LEGACY_ONLY = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
MODERN_ONLY = {"server/discover", "subscriptions/listen"}
STRANGERS = [
    "no/such",
    "tasks/list",
    "roots/list",
    "sampling/createMessage",
    "notifications/cancelled",
    "Ping",
    "é",
]


@every_revision
@pytest.mark.parametrize("method", [*METHODS, *STRANGERS])
def test_a_method_exists_where_its_revision_has_it(method: str, revision: str) -> None:
    """Any other one is -32601, though every capability was advertised."""
    absent = LEGACY_ONLY - {"initialize"} if revision in MODERN else MODERN_ONLY
    message = initialize(revision, 7) if method == "initialize" else asked(revision, 7, method)
    served = "modern" if revision in MODERN and method != "initialize" else "legacy"
    expected = METHOD if method in {*STRANGERS, *absent} else served
    assert briefs(message, session=revision) == [(7, expected)]


@every_revision
@pytest.mark.parametrize("method", NEEDS)
def test_a_method_whose_capability_was_not_advertised_is_not_there(method: str, revision: str) -> None:
    """Without it, or with nothing at all, the method is -32601; with it alone, it is served."""
    message = asked(revision, 1, method)
    without = {key: item for key, item in ALL.items() if key != NEEDS[method]}
    alone = {NEEDS[method]: ALL[NEEDS[method]]}
    absent = [(1, "legacy" if (method, revision) in FINDS_NOTHING else METHOD)]
    assert briefs(message, session=revision, capabilities=without) == absent
    assert briefs(message, session=revision, capabilities={}) == absent
    served = briefs(message, session=revision, capabilities=alone)
    assert (served != [(1, METHOD)]) == METHODS[method].exists_in(VERSIONS[revision])


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
@pytest.mark.parametrize("resources", [{}, {"subscribe": False}, {"listChanged": True}])
@every_session
def test_subscribing_needs_a_capability_of_its_own(
    resources: dict[str, Any], method: str, revision: str
) -> None:
    """Resources alone do not bring it along."""
    message = request(1, method, uri="u")
    assert briefs(message, session=revision, capabilities={"resources": resources}) == [(1, METHOD)]


def test_what_is_repeated_of_a_method_is_harmless() -> None:
    """The text names it, cut short and without control characters."""
    (answer,) = Pair(LATEST).say(request(1, "x\x1b[31m\n" + "y" * 500))
    assert answer["error"]["message"].startswith("Method not found: x?[31m?yyy")
    assert len(answer["error"]["message"]) < 100


# --- ids -----------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("id_", [0, -1, "", "0", "é\n", 2**53 + 1, 2**63 - 1, -(2**63) + 1, "x" * 256])
def test_an_answer_has_the_id_of_its_request(id_: Any, revision: str) -> None:
    """With its type, in a result as in an error."""
    for method in ("tools/list", "no/such"):
        (answer,) = Pair(revision).say(asked(revision, id_, method))
        assert (answer["id"], type(answer["id"])) == (id_, type(id_))


@every_revision
@pytest.mark.parametrize(
    "id_", [True, False, 1.0, 1.5, 1e300, None, [1], {}, 2**63, 10**400, "x" * 257], ids=repr
)
def test_what_is_no_id_is_refused(id_: Any, revision: str) -> None:
    """It is not repeated, and nothing is under way under it."""
    pair = Pair(revision)
    ((found, code),) = map(brief, pair.say(asked(revision, id_, "tools/list")))
    assert (found in (NULL, NONE), code) == (True, INVALID)
    assert pair.say(asked(revision, 1, "tools/list"))[0]["id"] == 1


@every_revision
@pytest.mark.parametrize("id_", [1, "1", 0, ""])
def test_an_id_that_is_under_way_is_not_taken_again(id_: Any, revision: str) -> None:
    """The second request is refused and the first one still answered; then the id is free."""
    pair = Pair(revision)
    first = pair.hear(asked(revision, id_, "tools/list"))
    assert list(map(brief, pair.say(asked(revision, id_, "tools/call")))) == [(id_, INVALID)]
    assert len(pair.reply(first)) == 1
    assert len(pair.say(asked(revision, id_, "tools/list"))) == 1


def test_ids_of_two_types_are_two_ids() -> None:
    """`1` and `"1"` are under way side by side, and each is cancelled for itself."""
    pair = Pair(LATEST)
    number, text = pair.hear(request(1, "tools/list")), pair.hear(request("1", "tools/list"))
    assert pair.hear(cancelled("1")) == CancelRequested("1")
    assert pair.reply(text) == []
    assert brief(*pair.reply(number)) == (1, "legacy")


def test_a_refused_request_holds_no_id() -> None:
    """It was answered, so its id is free."""
    for _ in range(2):
        assert briefs(*[request(1, "no/such")] * 2, session=LATEST) == [(1, METHOD)] * 2


# --- cancellation --------------------------------------------------------------------------------

NOT_UNDER_WAY = [3, "1", "2", True, 1.0, 2.0, None, [1], [2], {"requestId": 2}, -2, 2**70]


@every_revision
def test_a_cancelled_request_is_not_answered(revision: str) -> None:
    """Its event comes once, whatever its outcome is, and its id is free again."""
    pair = Pair(revision)
    event = pair.hear(asked(revision, 2, "tools/call"))
    assert pair.connection.waits(event.request)
    assert pair.hear(cancelled(2)) == CancelRequested(2)
    assert not pair.connection.waits(event.request)
    assert pair.reply(event) == []
    assert reply(pair.connection, event, InternalError("late")) is None
    assert isinstance(pair.hear(asked(revision, 2, "tools/call")), RequestReceived)


@every_revision
@pytest.mark.parametrize("id_", NOT_UNDER_WAY, ids=repr)
def test_cancelling_what_is_not_under_way_does_nothing(id_: Any, revision: str) -> None:
    """Unknown or of another type: the requests that are under way are answered."""
    pair = Pair(revision)
    events = [pair.hear(asked(revision, number, "tools/call")) for number in (1, 2)]
    assert isinstance(pair.hear(cancelled(id_)), Ignored)
    assert [brief(*pair.reply(event))[0] for event in events] == [1, 2]


@pytest.mark.parametrize("params", [{}, {"reason": "no id"}, {"requestId": {}}, {"request_id": 2}])
def test_a_malformed_cancellation_does_nothing(params: dict[str, Any]) -> None:
    """It names nothing that could be cancelled."""
    pair = Pair(LATEST)
    event = pair.hear(request(2, "tools/call"))
    assert isinstance(pair.hear(notification("notifications/cancelled", **params)), Ignored)
    assert len(pair.reply(event)) == 1


@every_revision
def test_cancelling_twice_or_too_late_does_nothing(revision: str) -> None:
    """Only the first cancellation of a running request is an event."""
    pair = Pair(revision)
    pair.say(asked(revision, 1, "tools/call"))
    pair.hear(asked(revision, 2, "tools/call"))
    events = [pair.hear(cancelled(number)) for number in (1, 2, 2)]
    assert events == [Ignored(), CancelRequested(2), Ignored()]


@every_session
def test_a_handshake_cannot_be_cancelled(revision: str) -> None:
    """It is answered all the same."""
    pair = Pair()
    event = pair.hear(initialize(revision, 1))
    assert isinstance(pair.hear(cancelled(1)), Ignored)
    assert brief(*pair.reply(event)) == (1, "legacy")


def test_a_reason_makes_no_difference() -> None:
    """Whatever it is."""
    pair = Pair(LATEST)
    pair.hear(request(1, "tools/call"))
    event = pair.hear(notification("notifications/cancelled", requestId=1, reason=["odd"]))
    assert event == CancelRequested(1)


# --- answers that come late ----------------------------------------------------------------------


@every_revision
def test_an_answer_is_given_once(revision: str) -> None:
    """A second outcome of the same request is dropped, an error like a result."""
    pair = Pair(revision)
    event = pair.hear(asked(revision, 1, "tools/call"))
    assert len(pair.reply(event)) == 1
    assert pair.reply(event) == []
    assert reply(pair.connection, event, InternalError("again")) is None


def test_a_late_answer_does_not_meet_the_next_request_of_its_id() -> None:
    """The id was cancelled and taken again: only the second request is answered under it."""
    pair = Pair(LATEST)
    first = pair.hear(request(1, "tools/call"))
    pair.hear(cancelled(1))
    second = pair.hear(request(1, "tools/call"))
    assert pair.reply(first) == []
    assert not pair.connection.waits(first.request)
    assert pair.connection.waits(second.request)
    assert len(pair.reply(second)) == 1


def test_an_answer_that_cannot_be_written_leaves_room_for_another() -> None:
    """The request still waits, so that an error can take the place of the result."""
    pair = Pair(LATEST)
    event = pair.hear(request(1, "tools/call"))
    with pytest.raises(TypeError):
        reply(pair.connection, event, CallToolResult(content=(), meta={"a": object()}))
    line = reply(pair.connection, event, InternalError("no"))
    assert line is not None
    assert brief(json.loads(line)) == (1, -32603)


ERRORS: list[tuple[ProtocolError, int, int]] = [  # the error, its code up to 2025-11-25, its code since
    (InvalidParams("m", {"d": [1]}), -32602, -32602),
    (InternalError("m"), -32603, -32603),
    (ResourceNotFound("m", {"uri": "u"}), -32002, -32602),
]


@every_revision
@pytest.mark.parametrize(("error", "legacy", "modern"), ERRORS)
def test_an_error_has_the_code_of_its_revision(
    error: ProtocolError, legacy: int, modern: int, revision: str
) -> None:
    """A resource that is not there has another code since 2026-07-28; the data holds the problem too."""
    pair = Pair(revision)
    line = reply(pair.connection, pair.hear(asked(revision, 1, "tools/call")), error)
    code = modern if revision in MODERN else legacy
    problem = {"code": error.problem_code, "message": "m", "hint": None, "issues": []}
    expected = {"code": code, "message": "m", "data": {PROBLEM_KEY: problem, **(error.data or {})}}
    assert json.loads(line or b"") == {"jsonrpc": "2.0", "id": 1, "error": expected}


# --- batches -------------------------------------------------------------------------------------

PINGS = [request(1, "ping"), request(2, "ping")]

BATCHES: dict[str, tuple[list[Any], list[Any]]] = {
    "two requests": (PINGS, [(1, "legacy"), (2, "legacy")]),
    "one request": (PINGS[:1], [(1, "legacy")]),
    "a notification between": ([PINGS[0], READY, PINGS[1]], [(1, "legacy"), (2, "legacy")]),
    "an error between": (
        [PINGS[0], request(3, "no/such"), PINGS[1]],
        [(1, "legacy"), (3, METHOD), (2, "legacy")],
    ),
    "no message": ([1], [(NULL, INVALID)]),
    "a bad id beside a good one": ([request(True, "ping"), PINGS[0]], [(NULL, INVALID), (1, "legacy")]),
    "the same id twice": ([PINGS[0], PINGS[0]], [(1, "legacy"), (1, INVALID)]),
    "an answer to nothing": ([{"jsonrpc": "2.0", "id": 1, "result": {}}, PINGS[1]], [(2, "legacy")]),
    "a stateless request": ([PINGS[0], stateless(3, "tools/list")], [(1, "legacy"), (3, "modern")]),
}


@pytest.mark.parametrize("row", BATCHES)
def test_a_batch_is_answered_member_by_member(row: str) -> None:
    """In a session of 2025-03-26; a bad member is an error of its own."""
    batch, expected = BATCHES[row]
    pair = Pair(BATCHED)
    event = pair.hear(batch)
    assert isinstance(event, Batch)
    assert [brief(answer) for member in event.events for answer in pair.reply(member)] == expected


def test_a_batch_of_notifications_has_no_answer() -> None:
    """There is nothing in it to be answered."""
    pair = Pair(BATCHED)
    assert pair.say([READY, notification("notifications/roots/list_changed"), cancelled(1)]) == [[]]


def test_a_batch_may_cancel_what_is_under_way() -> None:
    """Its members are messages like any other."""
    pair = Pair(BATCHED)
    pair.hear(request(7, "tools/call"))
    event = pair.hear([cancelled(7), PINGS[0]])
    assert event.events[0] == CancelRequested(7)


NO_BATCHES: list[tuple[str | None, Any]] = [
    (None, PINGS),
    (None, [initialize(BATCHED, 1)]),
    ("2024-11-05", PINGS),
    ("2025-06-18", PINGS),
    (LATEST, PINGS),
    (BATCHED, []),
    (BATCHED, [initialize(BATCHED, 1)]),
    (BATCHED, [PINGS[0], initialize(LATEST, 3), PINGS[1]]),
    (BATCHED, [PINGS]),
    (BATCHED, [PINGS[0], [PINGS[1]]]),
]


@pytest.mark.parametrize(("session", "batch"), NO_BATCHES)
def test_a_batch_that_may_not_be_is_one_error(session: str | None, batch: Any) -> None:
    """It is refused as a whole: no member of it is answered."""
    expected = NONE if session == LATEST else NULL
    assert briefs(batch, session=session) == [(expected, INVALID)]


@pytest.mark.parametrize(("session", "batch"), NO_BATCHES)
def test_a_refused_batch_leaves_no_trace(session: str | None, batch: Any) -> None:
    """Session, subscriptions and ids are what they were, and what was under way is still answered."""
    pair = Pair(session)
    running = pair.hear(asked(NEWEST, 9, "tools/call"))
    before = pair.connection.session
    pair.say([*batch, cancelled(9)] if batch else batch)
    assert pair.connection.session is before
    assert len(pair.reply(running)) == 1
    assert [code for _, code in map(brief, pair.say(*(stateless(n, "tools/list") for n in (1, 2, 3))))] == [
        "modern"
    ] * 3


def test_a_batch_after_stateless_requests_is_refused() -> None:
    """The newest revision has no batches."""
    assert briefs(stateless(1, "tools/list"), [stateless(2, "tools/list")]) == [
        (1, "modern"),
        (NONE, INVALID),
    ]


# --- notifications and answers -------------------------------------------------------------------

SILENT: list[Any] = [
    READY,
    notification("notifications/roots/list_changed"),
    notification("notifications/progress", progressToken="x", progress=1),
    notification("notifications/progress"),
    notification("no/such"),
    notification("tools/call", name="t"),
    notification("ping"),
    notification("initialize"),
    notification("notifications/initialized", _meta={TOLD: 1}),
    notification("notifications/cancelled", requestId=True),
    {"jsonrpc": "2.0", "method": "no/such"},
    {"jsonrpc": "2.0", "method": "no/such", "params": None},
    {"jsonrpc": "2.0", "method": "no/such", "params": [1]},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": "x"},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "no"}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "no"}},
]


@pytest.mark.parametrize("session", [None, *VERSIONS])
@pytest.mark.parametrize("message", SILENT, ids=json.dumps)
def test_notifications_and_answers_are_never_answered(message: Any, session: str | None) -> None:
    """However wrong they are, and what comes behind them is served as if they had not been there."""
    ping = asked(session or LATEST, 1, "tools/list")
    assert briefs(message, session=session) == []
    assert briefs(message, ping, session=session) == briefs(ping, session=session)


def test_a_notification_is_passed_on() -> None:
    """Someone may want to act on it."""
    event = Pair(LATEST).hear(notification("notifications/roots/list_changed", a=1))
    assert isinstance(event, NotificationReceived)
    assert (event.notification.method, event.notification.params) == (
        "notifications/roots/list_changed",
        {"a": 1},
    )


@every_revision
def test_a_report_of_progress_is_in_the_words_of_the_revision(revision: str) -> None:
    """The first revision knows no text in it; everything else goes to everyone."""
    params = {"progressToken": 1, "progress": 2, "total": 3, "message": "m"}
    made = Pair().connection.notification("notifications/progress", params, VERSIONS[revision])
    known = {key: item for key, item in params.items() if key != "message" or revision != "2024-11-05"}
    assert json.loads(made) == {"jsonrpc": "2.0", "method": "notifications/progress", "params": known}
    other = Pair().connection.notification("notifications/message", {"message": "m"}, VERSIONS[revision])
    assert json.loads(other)["params"] == {"message": "m"}
