"""What `typegate.wire.jsonrpc` promises: nothing but sound messages get in, and lines of JSON go out."""

import json
from typing import Any

import pytest

from typegate.errors import InvalidRequest, ParseError
from typegate.wire import jsonrpc
from typegate.wire.jsonrpc import (
    MAX_DEPTH,
    ErrorResponse,
    Notification,
    Request,
    Response,
    Unrepresentable,
    decode,
    encode_error,
    encode_notification,
    encode_response,
    raw_arguments,
    unrepresentable,
)

PARSE, INVALID = -32700, -32600


def line(**members: Any) -> bytes:
    """A JSON-RPC object with these members."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def refusal(message: bytes) -> tuple[int, Any]:
    """The code with which a line is refused, and the id that could be read in it."""
    with pytest.raises((ParseError, InvalidRequest)) as caught:
        decode(message)
    return caught.value.code, getattr(caught.value, "request_id", None)


# --- what a message is ---------------------------------------------------------------------------

MESSAGES = [
    (line(id=1, method="m"), Request(1, "m", {})),
    (line(id="1", method="m", params={"a": [1]}), Request("1", "m", {"a": [1]})),
    (line(id=1, method="m", params=None), Request(1, "m", {})),
    (line(id=1, method="m", stranger={"x": 1}, result=3), Request(1, "m", {})),
    (line(method="m"), Notification("m", {})),
    (line(method="m", params={"a": "é"}), Notification("m", {"a": "é"})),
    (line(id=1, result={}), Response(1, {})),
    (line(id="", result=None), Response("", None)),
    (line(id=1, error={"code": -1, "message": "no"}), ErrorResponse(1, {"code": -1, "message": "no"})),
    (line(id=None, error={}), ErrorResponse(None, {})),
    (line(error={}), ErrorResponse(None, {})),
]


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_a_message_is_told_by_its_members(message: bytes, expected: Any) -> None:
    """A method makes a request or, without an id, a notification; a result or an error is an answer."""
    found = decode(message)
    assert type(found) is type(expected)
    assert found == (expected if not isinstance(found, Request) else Request(*_fields(expected), message))


def _fields(request: Request) -> tuple[Any, ...]:
    return request.id, request.method, request.params


NOT_MESSAGES = [  # a line, the code, the id that can be read in it
    (b"", PARSE, None),
    (b"{", PARSE, None),
    (b"hello", PARSE, None),
    (line(id=1, method="m") + b"}", PARSE, None),
    (b"\xff" + line(id=1, method="m"), PARSE, None),
    (line(id=1, method="m").replace(b"m", b"\xff"), PARSE, None),
    (line(id=1, method="m").replace(b"1", b"NaN"), PARSE, None),
    (line(id=1, method="\ud800"), PARSE, None),
    (line(id=1, method="m", params={"\udc00": 1}), PARSE, None),
    (line(id=1, method="m", params={"a": [{"b": "\udc00\ud800"}]}), PARSE, None),
    (b"1", INVALID, None),
    (b"null", INVALID, None),
    (b'"text"', INVALID, None),
    (b"[]", INVALID, None),
    (b"{}", INVALID, None),
    (b'{"id":1,"method":"m"}', INVALID, 1),
    (b'{"jsonrpc":"1.0","id":"a","method":"m"}', INVALID, "a"),
    (b'{"jsonrpc":2.0,"id":1,"method":"m"}', INVALID, 1),
    (line(id=1), INVALID, 1),
    (line(id=1, method=None), INVALID, 1),
    (line(id=1, method=""), INVALID, 1),
    (line(id=1, method=["m"]), INVALID, 1),
    (line(id=1, method="m", params=[1]), INVALID, 1),
    (line(id=1, method="m", params="p"), INVALID, 1),
    (line(id=1, method="m", params=False), INVALID, 1),
    (line(result={}), INVALID, None),
    (line(id=None, result={}), INVALID, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":1}}', INVALID, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"\\u0061":1}}', INVALID, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"":{"a":1,"a":2}}}', INVALID, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\u003a","a":"\\u003A"}}', INVALID, 1),
    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}', INVALID, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}', INVALID, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e999,"a":1}}', INVALID, 1),
    (b'[{"a":1,"a":1}]', INVALID, None),
]


@pytest.mark.parametrize(("message", "code", "id_"), NOT_MESSAGES)
def test_what_is_no_message_is_refused(message: bytes, code: int, id_: Any) -> None:
    """Broken JSON is one error, sound JSON that is no message another, with the id where one was read."""
    assert refusal(message) == (code, id_)


@pytest.mark.parametrize("id_", [0, -1, 1, 2**63 - 1, -(2**63) + 1, "", "1", "é", "x" * 256, "null"])
def test_an_id_keeps_its_type(id_: int | str) -> None:
    """An integer of 64 bits or a string of 256 characters comes back as it went."""
    message = decode(line(id=id_, method="m"))
    assert isinstance(message, Request)
    assert (message.id, type(message.id)) == (id_, type(id_))
    assert json.loads(encode_response(message.id, [b"{}"]))["id"] == id_


IDS = [True, False, 1.0, 1.5, -0.0, 1e3, None, [], [1], {}, {"id": 1}, 2**63, -(2**63), 10**100, "x" * 257]


@pytest.mark.parametrize("id_", IDS, ids=lambda id_: repr(id_)[:20])
def test_what_is_no_id_is_refused(id_: Any) -> None:
    """Whatever an id is, it is neither a boolean, nor a fraction, nor null, nor huge."""
    assert refusal(line(id=id_, method="m")) == (INVALID, None)


@pytest.mark.parametrize("stranger", ["error", "result", "code"])
def test_a_null_id_makes_no_notification(stranger: str) -> None:
    """A notification has no id at all; a null one is refused, whatever else the message holds."""
    assert refusal(line(id=None, method="m", **{stranger: {}})) == (INVALID, None)


def test_a_batch_is_its_members_as_they_came() -> None:
    """Each is read for itself later, so that a bad one spoils none of the others."""
    assert decode(b'[{"a": 1} ,\t[2],"x" ]') == [b'{"a": 1}', b"[2]", b'"x"']


def test_a_request_keeps_the_bytes_that_it_came_as() -> None:
    """The gate reads the arguments from them."""
    message = b' {"id" : 7,"jsonrpc":"2.0", "method":"m" }\r'
    found = decode(message)
    assert isinstance(found, Request)
    assert (found.id, found.line, found.sound) == (7, message, True)


# --- depth ---------------------------------------------------------------------------------------


def nested(depth: int, head: bytes = b'"id":1,', tail: bytes = b"", inner: bytes = b"1") -> bytes:
    """A request whose deepest value lies in *depth* containers, the envelope and the params included."""
    value = b"[" * (depth - 2) + inner + b"]" * (depth - 2)
    return b'{"jsonrpc":"2.0",%b"method":"m","params":{"a":%b}%b}' % (head, value, tail)


@pytest.mark.parametrize("inner", [b"1", b'"[[[{{{"', b'"\\"[[["', b'"\\\\"', b"[],[],{}"])
def test_a_message_may_be_64_levels_deep(inner: bytes) -> None:
    """The envelope counts, and a bracket inside a string does not."""
    within = MAX_DEPTH if inner[:1] != b"[" else MAX_DEPTH - 1
    assert isinstance(decode(nested(within, inner=inner)), Request)
    assert refusal(nested(within + 1, inner=inner)) == (INVALID, 1)


TOO_DEEP = [
    (nested(65), 1),
    (nested(100_000), 1),
    (nested(65, head=b'"id":"a[",'), "a["),
    (nested(65, head=b'"id" : 12 ,'), 12),
    (nested(65, head=b"", tail=b',"id":1'), 1),
    (nested(65, head=b"", inner=b'{"id":1}'), None),
    (nested(65, head=b'"x":"id","y":1,'), None),
    (nested(65, head=b'"id":1.5,'), None),
    (nested(65, head=b'"id":"' + b"x" * 257 + b'",'), None),
    (nested(65, head=b'"id":"\\ud800",'), None),
    (nested(2, inner=b"[[]," * 63 + b"1" + b"]" * 63), 1),
    (nested(2, inner=b'{"a":{},"b":' * 63 + b"1" + b"}" * 63), 1),
    (b"[" * 65 + b"]" * 65, None),
    (b"[" * 1000, None),
    (b'{"a":' * 1000, None),
    (b"[]" * 60 + b"[" * 70, None),
]


@pytest.mark.parametrize(("message", "id_"), TOO_DEEP, ids=range(len(TOO_DEEP)))
def test_a_deeper_message_is_refused_under_its_id(message: bytes, id_: Any) -> None:
    """The id at the top is found without decoding what is too deep, and one further down is not taken."""
    assert refusal(message) == (INVALID, id_)


SHALLOW = [
    json.dumps({"a": [[]] * 500, "b": [{}] * 500}).encode(),
    b'{"a":%b1%b}' % (b"[[]," * 61, b"]" * 61),
    b'{"a":%b1%b}' % (b'{"a":{},"b":' * 61, b"}" * 61),
]


@pytest.mark.parametrize("params", SHALLOW, ids=range(3))
def test_many_brackets_side_by_side_are_not_deep(params: bytes) -> None:
    """It is the nesting that counts, not the number."""
    assert isinstance(decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % params), Request)


# --- numbers -------------------------------------------------------------------------------------

BEYOND = [
    (b'{"a":1e999}', [("a",)]),
    (b'{"a":[1,-1e400,{"b":1e309}]}', [("a", 1), ("a", 2, "b")]),
    (b'{"a":%b}' % (b"9" * 5000), [("a",)]),
    (b'{"a":-%b,"b":1e5}' % (b"9" * 5000), [("a",)]),
    (b'{"a":["\\ud83d\\ude00",1e999],"\\u0062":{"c":["\\u00e9"]}}', [("a", 1)]),
]


@pytest.mark.parametrize(("params", "paths"), BEYOND, ids=range(len(BEYOND)))
def test_a_number_beyond_Python_is_marked(params: bytes, paths: list[tuple[str | int, ...]]) -> None:
    """It becomes an issue of its argument, not a broken message."""
    found = decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % params)
    assert isinstance(found, Request)
    assert not found.sound
    assert list(unrepresentable(found.params)) == paths
    assert isinstance(found.params["a"], Unrepresentable | list)


@pytest.mark.parametrize(
    "number", ["0", "-0", "1.0", "1E5", "1e308", "123456789012345678901234567890", "1" * 4000]
)
def test_a_number_that_Python_holds_is_not(number: str) -> None:
    """However large an integer is, as long as Python reads it."""
    found = decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":%b}}' % number.encode())
    assert isinstance(found, Request)
    assert found.params == {"a": json.loads(number)}
    assert list(unrepresentable(found.params)) == []


# --- the arguments of a call ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "raw"),
    [
        (b"{}", b"{}"),
        (b'{"arguments":null}', b"{}"),
        (b'{"arguments":{}}', b"{}"),
        (b'{"name":"t","arguments": {"a" : 1.0,"b":"\\u0041"} ,"x":1}', b'{"a" : 1.0,"b":"\\u0041"}'),
        (b'{"\\u0061rguments":{"a":1}}', b'{"a":1}'),
        (b'{"x":{"arguments":{"a":2}},"arguments":{"a":1}}', b'{"a":1}'),
    ],
)
def test_the_arguments_are_read_as_they_were_written(params: bytes, raw: bytes) -> None:
    """Byte for byte, so that nothing is lost on the way to the gate."""
    found = decode(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}' % params)
    assert isinstance(found, Request)
    assert raw_arguments(found) == raw


# --- out -----------------------------------------------------------------------------------------

ERROR = {"code": -32603, "message": "no\nmore"}


def test_a_response_holds_the_result_as_it_is() -> None:
    """The pieces of an encoded result are joined and not touched."""
    assert encode_response(7, [b'{"a":', b"1.0}"]) == b'{"jsonrpc":"2.0","id":7,"result":{"a":1.0}}'
    assert encode_response('"\n', [b"{}"]) == b'{"jsonrpc":"2.0","id":"\\"\\n","result":{}}'


@pytest.mark.parametrize(
    ("id_", "null_id", "expected"),
    [(0, True, {"id": 0}), ("", False, {"id": ""}), (None, True, {"id": None}), (None, False, {})],
)
def test_an_unknown_id_is_null_or_left_out(id_: Any, null_id: bool, expected: dict[str, Any]) -> None:
    """As the revision wants it; a known one, however empty, is always there."""
    assert json.loads(encode_error(id_, ERROR, null_id)) == {"jsonrpc": "2.0", "error": ERROR, **expected}


def test_a_notification_has_no_id() -> None:
    """A method and its params."""
    made = encode_notification("m", {"a": None})
    assert json.loads(made) == {"jsonrpc": "2.0", "method": "m", "params": {"a": None}}


@pytest.mark.parametrize("text", ["\n", "\r\n", "\u2028", "\x00", "é\n"])
def test_a_message_is_one_line(text: str) -> None:
    """Line ends inside strings are escaped, so that framing cannot be broken from within."""
    made = [
        encode_error(text, text),
        encode_notification(text, text),
        encode_response(text, [jsonrpc.dumps(text)]),
    ]
    assert all(b"\n" not in message and b"\r" not in message for message in made)
    assert all(text in json.loads(message).values() for message in made)
