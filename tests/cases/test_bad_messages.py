"""One bad message, or one bad result, to a server process: the tables 1.4 and 6.1 of the security research.

All rows of a table go to one process, and each ends with a ping: whatever came, the server goes on.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .process import Message, Process, call, request, started, strict

TOOLS = r"""
    import os
    from typing import Any
    ran = []

    @server.tool
    def surrogate() -> str:
        return os.fsdecode(b"caf\xe9.txt")

    @server.tool
    def surrogate_typed() -> list[str]:
        return [os.fsdecode(b"caf\xe9.txt")]

    @server.tool
    def surrogate_key() -> dict[str, str]:
        return {"\ud800": "\udfff"}

    @server.tool
    def surrogate_block():
        return [Image(data=b"x"), "\ud800"]

    @server.tool
    def surrogate_said() -> str:
        raise ToolError("no file \udce9")

    @server.tool
    def surrogate_said_unsaid():
        raise ToolError("no file \udce9")

    @server.tool
    def surrogate_by_hand() -> ToolResult:
        return ToolResult(content=[Text("\ud800")])

    @server.tool
    def surrogate_logged(ctx: Context) -> str:
        ctx.warning({"file": "\udce9"})
        ctx.progress(1, message="\udce9")
        return "logged"

    @server.resource("surrogate://x")
    def surrogate_resource() -> str:
        return "\udce9"

    @server.prompt
    def surrogate_prompt() -> str:
        return "\udce9"

    @server.tool
    def nan() -> dict:
        return {"a": [float("nan")]}

    @server.tool
    def power(digits: int) -> int:
        return 10**digits

    @server.tool
    def power_unsaid(digits: int):
        return {"n": 10**digits}

    @server.tool
    def twins() -> dict[Any, Any]:
        return {1: "a", "1": "b"}

    @server.tool
    def broken() -> str:
        raise RuntimeError("postgres://u:hunter2@db")

    @server.tool
    def number(x: int) -> int:
        ran.append("number")
        return x

    @server.tool
    def anything(x: Any = None) -> str:
        ran.append("anything")
        return "ran"

    @server.tool
    def history() -> list[str]:
        return ran
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """The server of the table, in a session of 2025-06-18."""
    with started(tmp_path_factory.mktemp("bad"), TOOLS) as process:
        yield process.handshake("2025-06-18")


_numbers = itertools.count()  # so that a request without an answer spoils no other row


def met(server: Process, line: bytes | Message) -> Message:
    """The one answer to a message; after it a ping is answered, and nothing else comes."""
    server.send(line if isinstance(line, bytes) else {**line, "id": f"m{next(_numbers)}"})
    answer = server.read()
    server.send(request("alive", "ping"))
    assert server.read() == {"jsonrpc": "2.0", "id": "alive", "result": {}}
    return answer


def text_of(answer: Message) -> str:
    """The text of a tool's result."""
    (block,) = answer["result"]["content"]
    return str(block["text"])


def history(server: Process) -> list[str]:
    """Which functions have run."""
    found: list[str] = server.ask(call(90, "history"))["result"]["structuredContent"]["result"]
    return found


# --- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("surrogate", ["caf\ufffd.txt"]),
        ("surrogate_typed", ['[\n  "caf\ufffd.txt"\n]']),
        ("surrogate_key", ['{\n  "\ufffd": "\ufffd"\n}']),
        ("surrogate_block", ["\ufffd"]),
        ("surrogate_by_hand", ["\ufffd"]),
        ("surrogate_said", ["no file \ufffd"]),
        ("surrogate_said_unsaid", ["no file \ufffd"]),
    ],
)
def test_a_lone_surrogate_is_replaced(server: Process, name: str, found: list[str]) -> None:
    """Half a surrogate pair, as any file name can have, leaves as U+FFFD."""
    result = met(server, call(2, name))["result"]
    assert result["isError"] == name.startswith("surrogate_said")
    assert [block["text"] for block in result["content"] if block["type"] == "text"] == found


def test_a_lone_surrogate_in_a_resource_or_prompt_is_replaced(server: Process) -> None:
    """What is read and what is filled in are cleaned like what a tool returns."""
    read = met(server, request(2, "resources/read", uri="surrogate://x"))
    filled = met(server, request(2, "prompts/get", name="surrogate_prompt"))
    assert read["result"]["contents"][0]["text"] == "\ufffd"
    assert filled["result"]["messages"][0]["content"]["text"] == "\ufffd"


def test_a_lone_surrogate_in_a_log_message_is_replaced(server: Process) -> None:
    """What a function says on the way does not make it fail."""
    before = len(server.received)
    params = {"name": "surrogate_logged", "_meta": {"progressToken": 1}}
    answer = server.ask(request(2, "tools/call", **params))
    said = [message["params"] for message in server.messages[before:-1]]
    assert text_of(answer) == "logged"
    assert said[0]["data"] == {"file": "\ufffd"}
    assert said[1]["message"] == "\ufffd"


def test_NaN_is_refused_by_rule(server: Process) -> None:
    """A tool error that names the place."""
    answer = met(server, call(2, "nan"))
    assert answer["result"]["isError"]
    assert " at $.a[0] (" in text_of(answer)


@pytest.mark.parametrize(
    ("name", "digits"), [("power", 30), ("power", 400), ("power_unsaid", 30), ("power_unsaid", 400)]
)
def test_a_large_integer_is_exact(server: Process, name: str, digits: int) -> None:
    """Integers of any size that can be read back are sent to the last digit, in both channels."""
    result = met(server, call(2, name, digits=digits))["result"]
    assert not result["isError"]
    exact = 10**digits if name == "power" else {"n": 10**digits}
    assert strict(result["content"][0]["text"]) == exact
    assert name == "power_unsaid" or result["structuredContent"] == {"result": exact}


@pytest.mark.parametrize("name", ["power", "power_unsaid"])
def test_an_integer_beyond_reading_is_a_tool_error(server: Process, name: str) -> None:
    """What Python itself would not read back is refused, and the text says that the tool is at fault."""
    answer = met(server, call(2, name, digits=5_000))
    assert answer["result"]["isError"]
    assert f"'{name}' returned" in text_of(answer)


def test_keys_that_would_fall_together_are_not_sent_twice(server: Process) -> None:
    """`{1: ..., "1": ...}` is a tool error, or one of the two; never an object with the same key twice."""
    result = server.ask(call(2, "twins"))["result"]
    assert result["isError"] or len(re.findall(r'"1"\s*:', result["content"][0]["text"])) == 1
    assert result["isError"] or server.received[-1].count(b'"1":') == 1


def test_an_exception_is_masked_under_a_reference(server: Process) -> None:
    """The client reads a reference number; the log has the text under it."""
    answer = met(server, call(2, "broken"))
    assert "hunter2" not in str(answer)
    (reference,) = re.findall(r"reference (\w+)", text_of(answer))
    assert reference in server.stderr
    assert "hunter2" in server.stderr


# --- arguments -----------------------------------------------------------------------------------

SECRET = "sk-ant-SECRET" + "0" * 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"x": SECRET}, "'x' must be integer, got string"),
        ({"x": [SECRET]}, "'x' must be integer, got array"),
        ({"x": {SECRET: SECRET}}, "'x' must be integer, got object"),
        ({"x": True}, "'x' must be integer, got boolean"),
        ({"x": 1, "y": SECRET}, "unexpected argument 'y'"),
        ({"y": SECRET}, "missing required argument 'x'"),
    ],
)
def test_bad_arguments_are_refused_by_path_and_reason(
    server: Process, arguments: dict[str, Any], said: str
) -> None:
    """The function does not run, and no value is repeated to the client or in the log."""
    before = history(server)
    answer = met(server, call(2, "number", **arguments))
    assert answer["result"]["isError"]
    assert said in text_of(answer)
    assert "SECRET" not in str(answer)
    assert "SECRET" not in server.stderr
    assert history(server) == before


# --- messages ------------------------------------------------------------------------------------


def called(arguments: str, name: str = '"name":"anything"', number: str = "2") -> bytes:
    """A call, written by hand."""
    text = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s,"arguments":%s}}\n'
    return (text % (number, name, arguments)).encode()


PARSE, INVALID, PARAMS = -32700, -32600, -32602

BAD_LINES: dict[str, tuple[Callable[[], bytes], Any, int]] = {
    "a name twice": (lambda: called("{}", '"name":"number","name":"anything"'), 2, INVALID),
    "a name twice, one escaped": (
        lambda: called("{}", '"name":"number","n\\u0061me":"anything"'),
        2,
        INVALID,
    ),
    "an argument twice": (lambda: called('{"x":1,"x":2}'), 2, INVALID),
    "an argument twice, far down": (lambda: called('{"x":[{"a":{"b":1,"b":1}}]}'), 2, INVALID),
    "an argument twice, beside a colon": (lambda: called('{"x":":","x":"::"}'), 2, INVALID),
    "an argument twice, beside an escaped colon": (
        lambda: called('{"x":"\\u003a","x":"\\u003A"}'),
        2,
        INVALID,
    ),
    "the id twice": (lambda: called("{}", number='2,"id":3'), None, INVALID),
    "arguments 100,000 deep": (lambda: called('{"x":' + "[" * 100_000 + "]" * 100_000 + "}"), 2, INVALID),
    "arguments 100,000 deep, not closed": (lambda: called('{"x":' + "[" * 100_000), 2, INVALID),
    "a line 5,000 deep": (lambda: b"[" * 5_000 + b"]" * 5_000 + b"\n", None, INVALID),
    "hello": (lambda: b"hello\n", None, PARSE),
    "a lone surrogate": (lambda: called('{"x":"\\ud800"}'), None, PARSE),
    "a lone surrogate in a key": (lambda: called('{"x":{"\\udc00":1}}'), None, PARSE),
    "surrogates the wrong way round": (lambda: called('{"x":"\\udc00\\ud800"}'), None, PARSE),
    "an encoded surrogate": (lambda: called('{"x":"?"}').replace(b"?", b"\xed\xa0\x80"), None, PARSE),
    "bytes that are no UTF-8": (lambda: called('{"x":"?"}').replace(b"?", b"\xff\xfe"), None, PARSE),
    "an overlong form": (lambda: called('{"x":"?"}').replace(b"?", b"\xc0\xaf"), None, PARSE),
    "Latin-1": (lambda: called('{"x":"?"}').replace(b"?", b"\xe9"), None, PARSE),
    "UTF-16": (lambda: called("{}").decode().strip().encode("utf-16") + b"\n", None, PARSE),
    "a byte order mark in the middle": (lambda: b"\xef\xbb\xbf" + called("{}"), None, PARSE),
    "a control character": (lambda: called('{"x":"?"}').replace(b"?", b"\x01"), None, PARSE),
    "a zero byte": (lambda: called("{}")[:-1] + b"\x00\n", None, PARSE),
    "NaN": (lambda: called('{"x":NaN}'), None, PARSE),
    "-Infinity": (lambda: called('{"x":-Infinity}'), None, PARSE),
    "01": (lambda: called('{"x":01}'), None, PARSE),
    "a trailing comma": (lambda: called('{"x":1,}'), None, PARSE),
    "single quotes": (lambda: called("{'x':1}"), None, PARSE),
    "two messages": (lambda: called("{}")[:-1] + called("{}"), None, PARSE),
    "half a message": (lambda: called("{}")[:40] + b"\n", None, PARSE),
    "30 MB": (lambda: called('{"x":"' + "a" * 30_000_000 + '"}'), None, INVALID),
    "an id of 1 MB": (lambda: called("{}", number='"' + "a" * 1_000_000 + '"'), None, INVALID),
    "an id of 100 digits": (lambda: called("{}", number="1" * 100), None, INVALID),
    "an id that is no integer": (lambda: called("{}", number="1.5"), None, INVALID),
    "an id that is a boolean": (lambda: called("{}", number="true"), None, INVALID),
    "an id that is null": (lambda: called("{}", number="null"), None, INVALID),
    "an id that is an object": (lambda: called("{}", number="{}"), None, INVALID),
    "a string": (lambda: b'"hello"\n', None, INVALID),
    "a number": (lambda: b"17\n", None, INVALID),
    "null": (lambda: b"null\n", None, INVALID),
    "an empty batch": (lambda: b"[]\n", None, INVALID),
    "a batch": (lambda: b"[" + called("{}")[:-1] + b"]\n", None, INVALID),
    "an empty object": (lambda: b"{}\n", None, INVALID),
    "no version": (lambda: b'{"id":2,"method":"ping"}\n', 2, INVALID),
    "another version": (lambda: b'{"jsonrpc":"1.0","id":2,"method":"ping"}\n', 2, INVALID),
    "a method that is no string": (lambda: b'{"jsonrpc":"2.0","id":2,"method":3}\n', 2, INVALID),
    "params that are a list": (
        lambda: b'{"jsonrpc":"2.0","id":2,"method":"ping","params":[1]}\n',
        2,
        INVALID,
    ),
    "an unknown method": (lambda: b'{"jsonrpc":"2.0","id":2,"method":"no/such"}\n', 2, -32601),
    "an unknown tool": (lambda: called("{}", '"name":"no_such_tool"'), 2, PARAMS),
    "a tool without a name": (lambda: called("{}", '"x":1'), 2, PARAMS),
    "a tool whose name is a list": (lambda: called("{}", '"name":[]'), 2, PARAMS),
    "arguments that are a list": (lambda: called("[1]"), 2, PARAMS),
    "arguments that are JSON text": (lambda: called('"{}"'), 2, PARAMS),
}


@pytest.mark.parametrize("row", BAD_LINES)
def test_a_bad_message_has_one_error_for_an_answer(server: Process, row: str) -> None:
    """The code says what is wrong, the id is the request's where it can be told, and no function runs."""
    make, number, code = BAD_LINES[row]
    before = history(server)
    answer = met(server, make())
    assert "error" in answer, answer
    assert (answer["id"], answer["error"]["code"]) == (number, code)
    assert len(answer["error"]["message"]) < 300
    assert history(server) == before


@pytest.mark.parametrize(
    "arguments",
    [
        '{"x":{"a":1,"b":{"a":1}}}',
        '{"x":"a\\u003ab:c"}',
        '{ "x" : [ { "a" : ":" } , ":" ] }',
        '{"x":"\\ud83d\\ude00 \\u0000 \\u2028"}',
        '{"x":18446744073709551616}',
        '{"x":' + "1" * 100 + "}",
        '{"x":"' + "[" * 1_000 + '"}',
        '{"\\u0078":1e5}',
        '{"x":1}\r',
    ],
    ids=range(9),
)
def test_an_odd_message_that_is_sound_is_served(server: Process, arguments: str) -> None:
    """What only looks like one of the bad ones is taken."""
    assert text_of(met(server, called(arguments))) == "ran"


@pytest.mark.parametrize("number", ['"two"', "-1", "0", "9223372036854775807", '"' + "a" * 256 + '"', '""'])
def test_an_odd_id_that_is_allowed_comes_back(server: Process, number: str) -> None:
    """Integers of 64 bits and strings of 256 characters are ids."""
    assert met(server, called("{}", number=number))["id"] == strict(number)


@pytest.mark.parametrize("times", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_any_number_of_bad_messages_leaves_the_server_as_it_was(server: Process, times: int) -> None:
    """All of the small bad lines, over and over: one answer each, and a good call is served at the end."""
    lines = [line for make, *_ in BAD_LINES.values() if len(line := make()) < 10_000]
    for _ in range(times):
        server.send(*lines)
        for _ in lines:
            assert "error" in server.read()
    assert text_of(met(server, called("{}"))) == "ran"
