"""JSON-RPC 2.0 messages: bytes in, a message out, and back.

The law of the file: what leaves `decode` is sound JSON. The bytes are UTF-8, no object names a key
twice, nothing is nested deeper than `MAX_DEPTH`, no number is NaN and no string holds a lone surrogate.
A number that JSON allows and Python cannot hold is marked, so that it becomes an issue of its argument.

A sound message takes the fast way: it is decoded and encoded again, and where that gives other bytes the
two must at least have as many colons, or a key was lost. Only where this hesitates is the message read
again, slowly, to say what is wrong.
"""

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from typegate.errors import InvalidRequest, ParseError
from typegate.text import without_surrogates
from typegate.types import Json

__all__ = [
    "MAX_DEPTH",
    "ErrorResponse",
    "Id",
    "Message",
    "Notification",
    "Request",
    "Response",
    "Unrepresentable",
    "decode",
    "dumps",
    "encode_error",
    "encode_notification",
    "encode_response",
    "raw_arguments",
    "unrepresentable",
]

MAX_DEPTH: Final = 64
"""How many objects and arrays may lie inside one another in a message, the envelope included."""

MAX_ID: Final = 256
"""How many characters a request id may have."""

MAX_INT_ID: Final = 2**63 - 1

Id = int | str


class Unrepresentable:
    """Stands in a decoded message for a number beyond what Python computes with."""

    __slots__ = ()


class Request(msgspec.Struct, frozen=True, gc=False):
    """A call that wants an answer. `line` holds the bytes it came as."""

    id: Id
    method: str
    params: dict[str, Json]
    line: bytes = b""
    sound: bool = True
    """Whether every number of the params is one that Python can hold."""


class Notification(msgspec.Struct, frozen=True):
    """A message that wants no answer."""

    method: str
    params: dict[str, Json]


class Response(msgspec.Struct, frozen=True):
    """The other side's answer to a request of ours."""

    id: Id
    result: Json


class ErrorResponse(msgspec.Struct, frozen=True):
    """The other side's refusal of a request of ours."""

    id: Id | None
    error: Json


Message = Request | Notification | Response | ErrorResponse

loads = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def dumps(value: Any) -> bytes:
    """Any JSON value or MCP data as JSON; halves of surrogate pairs are replaced."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(without_surrogates(msgspec.to_builtins(value)))


# --- in ------------------------------------------------------------------------------------------


def decode(line: bytes) -> Message | list[bytes]:
    """Read one message, or the members of a batch as raw bytes (revision 2025-03-26).

    Raises:
        ParseError: the bytes are not JSON.
        InvalidRequest: JSON, but no message.
    """
    if len(line) > 2 * MAX_DEPTH and line.count(b"{") + line.count(b"[") > MAX_DEPTH and _too_deep(line):
        raise InvalidRequest(f"Message nested more than {MAX_DEPTH} levels deep", _top_level_id(line))
    sound = True
    try:
        tree = loads(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        tree, sound = _loads_slowly(line), False
    else:
        again = _encode(tree)
        if again != line and (again.count(b":") != line.count(b":") or b"\\u003" in line):
            _refuse_duplicates(line)
    if tree.__class__ is dict:
        return _message(tree, line, sound)
    if tree.__class__ is list:
        if not tree:
            raise InvalidRequest("An empty batch is not a message")
        return [bytes(member) for member in msgspec.json.decode(line, type=list[msgspec.Raw])]
    raise InvalidRequest("A message must be a JSON object")


def _message(tree: dict[str, Json], line: bytes, sound: bool) -> Message:
    id_ = tree.get("id")
    if not _is_id(id_):
        if "id" in tree and (id_ is not None or "method" in tree or "error" not in tree):
            raise InvalidRequest(f"'id' must be a 64-bit integer or a string of at most {MAX_ID} characters")
        id_ = None
    if tree.get("jsonrpc") != "2.0":
        raise InvalidRequest("'jsonrpc' must be \"2.0\"", id_)
    method = tree.get("method")
    if method is None:
        return _answer(tree, id_)
    if method.__class__ is not str or not method:
        raise InvalidRequest("'method' must be a non-empty string", id_)
    params = tree.get("params")
    if params is None:
        params = {}
    elif params.__class__ is not dict:
        if id_ is None:
            return Notification(method, {})  # wrong, but never answered
        raise InvalidRequest("'params' must be an object", id_)
    return Notification(method, params) if id_ is None else Request(id_, method, params, line, sound)


def _answer(tree: dict[str, Json], id_: Id | None) -> Message:
    if "error" in tree:
        return ErrorResponse(id_, tree["error"])
    if "result" in tree and id_ is not None:
        return Response(id_, tree["result"])
    raise InvalidRequest("A message needs a 'method', a 'result' or an 'error'", id_)


class _CallParams(msgspec.Struct):
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _CallLine(msgspec.Struct):
    params: _CallParams


_decode_call = msgspec.json.Decoder(_CallLine).decode


def raw_arguments(request: Request) -> bytes:
    """The bytes of `params.arguments`, as the client wrote them; `{}` where there are none."""
    raw = bytes(_decode_call(request.line).params.arguments)
    return b"{}" if raw == b"null" else raw


def unrepresentable(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places in a decoded value that hold a number beyond what Python computes with."""
    if isinstance(value, Unrepresentable):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from unrepresentable(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from unrepresentable(item, (*path, index))


# --- in, slowly ----------------------------------------------------------------------------------

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(?:[ \t\r\n]*:)?|[\[{]+|[\]}]+|-?\d[-+.\deE]*', re.DOTALL)
_MAX_TOKENS: Final = 500_000
"""How much of a message that is too deep is looked through for its id."""


def _too_deep(line: bytes) -> bool:
    """Take the innermost pairs of brackets away, level by level; what is left is too deep."""
    brackets = _STRING.sub(b"", line).translate(_ONE_KIND, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if b"[" * (MAX_DEPTH + 1) in brackets:
            return True
        if b"[" not in brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return b"[" in brackets


def _top_level_id(line: bytes) -> Id | None:
    """The request id of a message that is not decoded: the only `id` of the message itself."""
    depth, key = 0, b""
    found: list[Id | None] = []
    for match in itertools.islice(_TOKEN.finditer(line), _MAX_TOKENS):
        token = match[0]
        if token[0] in b"[{":
            depth += len(token)
        elif token[0] in b"]}":
            depth -= len(token)
        elif depth == 1 and key.startswith(b'"id"'):
            found.append(_plain_id(token))
            key = b""
        elif token.endswith(b":"):
            key = token if depth == 1 else b""
    return found[0] if len(found) == 1 else None


def _plain_id(token: bytes) -> Id | None:
    try:
        value = loads(token)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value if _is_id(value) else None


def _is_id(value: Json) -> bool:
    if value.__class__ is int:
        return -MAX_INT_ID <= value <= MAX_INT_ID
    return value.__class__ is str and len(value) <= MAX_ID


_TWICE: Final = "An object names the same key twice"


class _DuplicateKeyError(Exception):
    pass


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _DuplicateKeyError
    return made


def _refuse_duplicates(line: bytes) -> None:
    try:
        json.loads(line, object_pairs_hook=_unique)
    except _DuplicateKeyError:
        raise InvalidRequest(_TWICE, _top_level_id(line)) from None


def _refuse_constant(text: str) -> Json:
    raise ValueError(text)


def _float(text: str) -> Json:
    value = float(text)
    return value if math.isfinite(value) else Unrepresentable()


def _int(text: str) -> Json:
    try:
        return int(text)
    except ValueError:  # more than sys.get_int_max_str_digits() digits
        return Unrepresentable()


_slow = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_float, parse_int=_int, object_pairs_hook=_unique
)


def _loads_slowly(line: bytes) -> Json:
    """Read what the fast decoder refused: an out-of-range number is marked, all else is an error."""
    try:
        text = line.decode()
        tree: Any = _slow.decode(text)
    except _DuplicateKeyError:
        raise InvalidRequest(_TWICE, _top_level_id(line)) from None
    except (ValueError, RecursionError):
        raise ParseError("Parse error: the message is not valid JSON in UTF-8") from None
    if "\\u" in text and _has_surrogate(tree):
        raise ParseError("Parse error: a string holds half of a surrogate pair")
    return tree


def _has_surrogate(value: Json) -> bool:
    if isinstance(value, str):
        return not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, dict):
        return any(_has_surrogate(key) or _has_surrogate(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_has_surrogate, value))


# --- out -----------------------------------------------------------------------------------------


def encode_response(id_: Id, result: Iterable[bytes]) -> bytes:
    """A response line, without its line end, around the pieces of an encoded result."""
    return b"".join((b'{"jsonrpc":"2.0","id":', dumps(id_), b',"result":', *result, b"}"))


def encode_error(id_: Id | None, error: Json, null_id: bool = True) -> bytes:
    """An error response; an unknown id is `null` or, where the revision forbids that, left out."""
    if id_ is None and not null_id:
        return dumps({"jsonrpc": "2.0", "error": error})
    return dumps({"jsonrpc": "2.0", "id": id_, "error": error})


def encode_notification(method: str, params: Json) -> bytes:
    """A notification line, without its line end."""
    return dumps({"jsonrpc": "2.0", "method": method, "params": params})
