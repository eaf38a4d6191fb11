"""What `wire` promises: nothing but sound JSON gets in, lines do not depend on cuts, and seals hold."""

import json
import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import strategies as st

from typegate.errors import InvalidRequest, ParseError
from typegate.wire import jsonrpc
from typegate.wire.framing import LineDecoder, TooLong
from typegate.wire.jsonrpc import MAX_DEPTH, ErrorResponse, Notification, Request, Response
from typegate.wire.seal import SealError, open_sealed, seal

from .lengths import holds_for

BEYOND = "a number beyond Python"

# --- a strict reader of JSON-RPC, written from the law of `jsonrpc` alone


def strict_loads(text: str) -> Any:
    """Read JSON with the standard library: no key twice, no NaN, no half pairs, no deep nesting."""
    tree = json.loads(
        text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_float, parse_int=_int
    )
    _check(tree, 0)
    return tree


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _float(text: str) -> Any:
    return float(text) if math.isfinite(float(text)) else BEYOND


def _int(text: str) -> Any:
    return int(text) if len(text) <= 4300 else BEYOND


def _check(tree: Any, depth: int) -> None:
    if isinstance(tree, str):
        tree.encode()  # half of a surrogate pair is a UnicodeEncodeError, which is a ValueError
    if isinstance(tree, dict | list) and depth == MAX_DEPTH:
        raise ValueError("nested too deeply")
    for item in [*tree, *tree.values()] if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        _check(item, depth + 1)


def strict_message(line: bytes) -> Any:
    """The message that the bytes are, as a comparable value; raises `ValueError` where they are none."""
    tree = strict_loads(line.decode())
    if isinstance(tree, list):
        return ("batch", *map(str, tree)) if tree else _refuse("empty")
    if not isinstance(tree, dict) or tree.get("jsonrpc") != "2.0":
        raise ValueError("no message")
    id_, method, params = tree.get("id"), tree.get("method"), tree.get("params")
    known = (type(id_) is int and abs(id_) < 2**63) or (isinstance(id_, str) and len(id_) <= 256)
    if not known and "id" in tree and (id_ is not None or "method" in tree or "error" not in tree):
        raise ValueError("bad id")
    if method is None:
        return _strict_answer(tree, id_)
    if not isinstance(method, str) or not method:
        raise ValueError("bad method")
    if not isinstance(params, dict | None):
        if id_ is not None:
            raise ValueError("bad params")
        params = {}  # a notification is never answered
    return ("call", id_, method, shown(params or {}))


def _strict_answer(tree: dict[str, Any], id_: Any) -> Any:
    if "error" in tree:
        return ("error", id_, shown(tree["error"]))
    if "result" not in tree or id_ is None:
        raise ValueError("no message")
    return ("result", id_, shown(tree["result"]))


def shown(tree: Any) -> str:
    """A decoded value with its types: 1, 1.0 and true are three things."""
    return repr(tree)


def decoded(line: bytes) -> Any:
    """What `jsonrpc.decode` makes of the bytes, in the form of `strict_message`."""
    message = jsonrpc.decode(line)
    if isinstance(message, list):
        return ("batch", *(str(strict_loads(member.decode())) for member in message))
    if isinstance(message, Request):
        return ("call", message.id, message.method, shown(marked(message.params)))
    if isinstance(message, Notification):
        return ("call", None, message.method, shown(marked(message.params)))
    if isinstance(message, Response):
        return ("result", message.id, shown(marked(message.result)))
    assert isinstance(message, ErrorResponse)
    return ("error", message.id, shown(marked(message.error)))


def marked(tree: Any) -> Any:
    """The tree with every `Unrepresentable` as the reference marks it."""
    if isinstance(tree, dict):
        return {key: marked(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [marked(item) for item in tree]
    return BEYOND if isinstance(tree, jsonrpc.Unrepresentable) else tree


# --- messages, sound and broken

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
envelopes = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2])},
    optional={
        "id": st.integers() | st.text(max_size=5) | st.text(min_size=255, max_size=258) | values,
        "method": st.sampled_from(["ping", "tools/call", ""]) | values,
        "params": st.dictionaries(st.text(max_size=5), values, max_size=3) | values,
        "result": values,
        "error": values,
    },
)
FRAGMENTS = (
    *(
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"-0",
        b"1e999",
        b"-1e400",
        b"1E5",
        b"1" * 4301,
    ),
    *(
        b'"\\ud800"',
        b'"\\ud83d\\ude00"',
        b'"\\udc00\\ud800"',
        b'"\\u003a"',
        b'"\\u0000"',
        b"\\",
        b'"',
        b"\x00",
        b"\x7f",
    ),
    *(
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xc0\x80",
        b"\xe2\x80\xa8",
        b" ",
        b"\t\r\n",
        b"\x0b",
        b"//",
        b"null",
    ),
    *(
        b'"id":1,',
        b'"i\\u0064":1,',
        b'"a":{"b":1,"b":2},',
        b'{"a":1,"\\u0061":2}',
        b'{"::":1}',
        b":",
        b",",
        b"{}",
        b"[]",
    ),
    *(
        b"[" * 63 + b"]" * 63,
        b"[" * 64 + b"]" * 64,
        b'{"a":' * 62 + b"1" + b"}" * 62,
        b"[" * 5000,
        b"[[" * 30,
    ),
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """The bytes of a message or a batch, with up to three places broken."""
    tree = draw(envelopes | st.lists(envelopes, max_size=3) | values)
    line = json.dumps(tree, ensure_ascii=draw(st.booleans())).encode()
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, min(start + 4, len(line))))
        line = line[:start] + draw(st.sampled_from(FRAGMENTS) | st.binary(max_size=2)) + line[end:]
    return line


@holds_for(st.binary() | lines(), quick=150)
def test_decode_accepts_what_a_strict_reader_accepts(line: bytes) -> None:
    """The fast reader and a strict slow one agree on every message, and on what is none."""
    try:
        expected = strict_message(line)
    except (ValueError, RecursionError):
        expected = None
    try:
        found = decoded(line)
    except (ParseError, InvalidRequest):
        found = None
    assert found == expected


@holds_for(st.integers(1, 70), st.sampled_from(["[", '{"a":', '{"[{":']), st.booleans())
def test_nesting_is_counted_in_brackets_outside_strings(depth: int, opening: str, noise: bool) -> None:
    """A message is refused exactly where more than `MAX_DEPTH` containers lie in one another."""
    closing = "]" if opening == "[" else "}"
    inner = opening * depth + "1" + closing * depth
    params = f'{{"s":{json.dumps("[{" * 99 * noise)},"v":{inner}}}'
    line = f'{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}'.encode()
    if depth + 2 <= MAX_DEPTH:
        assert isinstance(jsonrpc.decode(line), Request)
        return
    with pytest.raises(InvalidRequest) as caught:
        jsonrpc.decode(line)
    assert caught.value.request_id == 1


@holds_for(values.filter(lambda value: isinstance(value, dict)), st.booleans())
def test_the_raw_arguments_are_the_arguments(arguments: dict[str, Any], ascii_only: bool) -> None:
    """The bytes that the types read hold the same values as the tree that the schema judges."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "t", "arguments": arguments},
    }
    request = jsonrpc.decode(json.dumps(message, ensure_ascii=ascii_only).encode())
    assert isinstance(request, Request)
    assert shown(json.loads(jsonrpc.raw_arguments(request))) == shown(request.params["arguments"])


# --- lines

BOM = b"\xef\xbb\xbf"
LIMIT = 16

pieces = st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"\t", BOM, b"{}", b"abcdefgh"]) | st.binary(
    max_size=9
)
streams = st.lists(pieces, max_size=30).map(b"".join)


def fed(chunks: list[bytes]) -> list[bytes | str]:
    """The lines that a decoder gives for these chunks."""
    decoder = LineDecoder(LIMIT)
    found = [line for chunk in chunks for line in decoder.feed(chunk)] + decoder.end()
    return ["too long" if isinstance(line, TooLong) else line for line in found]


@holds_for(streams, st.data(), quick=100)
def test_lines_do_not_depend_on_how_the_bytes_are_cut(stream: bytes, data: st.DataObject) -> None:
    """However a stream is cut, the decoder gives the lines of the whole."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert fed(chunks) == fed([stream])


@holds_for(streams.filter(lambda stream: BOM not in stream), quick=100)
def test_a_line_ends_at_a_line_feed_and_nowhere_else(stream: bytes) -> None:
    """The lines are those between line feeds, without empty ones; white space at their end says nothing."""
    expected = ["too long" if len(line) > LIMIT else line.rstrip() for line in stream.split(b"\n")]
    found = [line if line == "too long" else line.rstrip() for line in fed([stream])]
    assert [line for line in found if line] == [line for line in expected if line]


@holds_for(streams.filter(lambda stream: BOM not in stream and len(stream) < LIMIT - 3), st.booleans())
def test_a_byte_order_mark_at_the_start_is_no_part_of_a_line(stream: bytes, alone: bool) -> None:
    """One mark at the very start changes nothing, whether it comes alone or with the first bytes."""
    assert fed([BOM, stream] if alone else [BOM + stream]) == fed([stream])


@pytest.mark.parametrize("size", [2, 8, 1024])
def test_memory_is_bounded_by_the_limit_however_small_the_pieces(size: int) -> None:
    """A line that never ends costs no more than a few times the size limit, even in tiny pieces."""
    limit = 32 * 1024
    decoder = LineDecoder(limit)
    tracemalloc.start()
    try:
        for index in range(limit // size):
            decoder.feed(bytes([index % 7 + 65]) * size)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held <= 4 * limit


# --- seals

keys = st.binary(min_size=32, max_size=40)
sealable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def is_opened(token: str, key: bytes, purpose: str) -> bool:
    """Whether a token opens; any failure but `SealError` is a failure of the test."""
    try:
        open_sealed(token, key, purpose)
    except SealError:
        return False
    return True


@holds_for(sealable, keys, st.text())
def test_what_was_sealed_comes_back_as_it_went(value: Any, key: bytes, purpose: str) -> None:
    """A token opens to the very value, with its key and for its purpose."""
    token = seal(value, key, purpose)
    assert shown(open_sealed(token, key, purpose)) == shown(value)
    assert token.replace("-", "").replace("_", "").isalnum()


@holds_for(sealable, keys, st.data())
def test_a_token_with_any_bit_changed_is_refused(value: Any, key: bytes, data: st.DataObject) -> None:
    """No single bit of a token can be changed, no character added, and none taken away."""
    token = seal(value, key, "cursor")
    index = data.draw(st.integers(0, len(token) - 1))
    bit = data.draw(st.integers(0, 7))
    changed = token[:index] + chr(ord(token[index]) ^ 1 << bit) + token[index + 1 :]
    others = [
        changed,
        token[:-1],
        token + "=",
        token + "A",
        token + "\n",
        " " + token,
        token[:index] + token[index + 1 :],
    ]
    for other in others:
        assert other == token or not is_opened(other, key, "cursor"), other


@holds_for(sealable, keys, keys, st.text(), st.text())
def test_a_token_opens_for_its_own_key_and_purpose_only(
    value: Any, key: bytes, other_key: bytes, purpose: str, other: str
) -> None:
    """Another key or another purpose refuses, and so does any text that is no token."""
    token = seal(value, key, purpose)
    assert is_opened(token, key, other) == (purpose == other)
    assert is_opened(token, other_key, purpose) == (key == other_key)
    assert not is_opened(other, key, purpose)
