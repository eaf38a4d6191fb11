"""What `typegate.wire.framing` promises: lines of bounded size, however the bytes are cut."""

import tracemalloc

import pytest

from typegate.wire.framing import MAX_LINE, LineDecoder, TooLong

BOM = b"\xef\xbb\xbf"
LIMIT = 8
LONG = "too long"

STREAMS = [  # bytes, the lines in them
    (b"", []),
    (b"one\n", [b"one"]),
    (b"one\ntwo\n", [b"one", b"two"]),
    (b"one\ntwo", [b"one", b"two"]),
    (b"\n\none\n\n\ntwo\n\n", [b"one", b"two"]),
    (b"one\r\n\r\ntwo\r\n", [b"one", b"two"]),
    (b"one\r\ntwo\r", [b"one", b"two"]),
    (b"a\rb\n", [b"a\rb"]),
    (b" \n\t\n", [b" ", b"\t"]),
    (b"a\x00b\x0bc\xc2\x85\n", [b"a\x00b\x0bc\xc2\x85"]),
    (BOM + b"one\n", [b"one"]),
    (BOM + b"\none\n", [b"one"]),
    (BOM, []),
    (BOM + BOM + b"1\n", [BOM + b"1"]),
    (b"one\n" + BOM + b"\n", [b"one", BOM]),
    (b"1234567\n12345678\n", [b"1234567", b"12345678"]),
    (b"123456789\none\n", [LONG, b"one"]),
    (b"123456789", [LONG]),
    (b"one\n" + b"x" * 100 + b"\n" + b"y" * 100 + b"\ntwo\n", [b"one", LONG, LONG, b"two"]),
    (b"one\n" + b"x" * 100 + b"\r\n\r\ntwo", [b"one", LONG, b"two"]),
    (b"x" * 100 + b"\n" + BOM + b"\n", [LONG, BOM]),
]


def fed(*chunks: bytes) -> list[bytes | str]:
    """The lines of a stream that comes in these chunks; white space at their ends is JSON's business."""
    decoder = LineDecoder(LIMIT)
    lines = [line for chunk in chunks for line in decoder.feed(chunk)] + decoder.end()
    return [LONG if isinstance(line, TooLong) else line.removesuffix(b"\r") for line in lines]


@pytest.mark.parametrize(("stream", "lines"), STREAMS)
def test_a_stream_is_cut_into_lines(stream: bytes, lines: list[bytes | str]) -> None:
    """LF ends a line; empty ones, CR and a byte order mark at the start are no trouble."""
    assert fed(stream) == lines


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 50])
@pytest.mark.parametrize(("stream", "lines"), STREAMS)
def test_the_chunks_make_no_difference(stream: bytes, lines: list[bytes | str], size: int) -> None:
    """The same bytes in pieces are the same lines."""
    assert fed(*(stream[start : start + size] for start in range(0, len(stream), size))) == lines


def test_a_line_comes_as_soon_as_it_ends() -> None:
    """Nothing waits for the line behind it."""
    decoder = LineDecoder()
    assert decoder.feed(b"o") == []
    assert decoder.feed(b"ne\ntw") == [b"one"]
    assert decoder.feed(b"o\n\nthree\n") == [b"two", b"three"]
    assert decoder.end() == []


def test_a_line_that_is_too_long_is_reported_once_where_it_ends() -> None:
    """It is not known before what comes after it, so nothing is said twice or too early."""
    decoder = LineDecoder(LIMIT)
    assert [decoder.feed(b"x" * 5) for _ in range(10)] == [[]] * 10
    (found,) = decoder.feed(b"\n")
    assert isinstance(found, TooLong)
    assert decoder.feed(b"one\n") == [b"one"]


def test_a_line_that_is_too_long_costs_no_memory() -> None:
    """What is over the limit is thrown away as it arrives."""
    decoder = LineDecoder(1024)
    tracemalloc.start()
    try:
        for _ in range(1000):
            decoder.feed(b"x" * 1024)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 64 * 1024


def test_the_limit_is_16_MiB_where_none_is_given() -> None:
    """A line of exactly that size is taken, and one byte more is too many."""
    decoder = LineDecoder()
    line = b"x" * MAX_LINE
    assert MAX_LINE == 16 * 1024 * 1024
    assert decoder.feed(line + b"\n") == [line]
    (found,) = decoder.feed(line + b"x\n")
    assert isinstance(found, TooLong)
