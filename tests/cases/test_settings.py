"""Cases O-ARG-1 to O-ARG-7, O-ERR-1 and O-ERR-2 under every combination of the gate's settings."""

import asyncio
import itertools
import json
import math
from typing import Any, Optional

import pytest
from pydantic import BaseModel

from typegate import Gate, MCPServer, RequestFailed
from typegate.transports.memory import Client

SETTINGS: dict[str, tuple[Any, ...]] = {
    "unknown": ("forbid", "ignore"),
    "repair": ("containers", "all", "none"),
    "nulls": ("refuse", "default"),
    "failure": ("tool_error", "protocol_error"),
    "problem_format": ("typegate", "rfc9457"),
    "on_invalid": (None, lambda refused: None),
}
COMBINATIONS = [dict(zip(SETTINGS, values, strict=True)) for values in itertools.product(*SETTINGS.values())]
REFUSED = object()
SECRET = "postgres://user:hunter2@db"
Calls = list[tuple[str, dict[str, Any], Any]]


class Filter(BaseModel):
    field: str
    value: int


def served(gate: Gate) -> MCPServer:
    """The functions of the cases; each gives back what it received."""
    server = MCPServer("t", gate=gate)

    @server.tool
    def keep(a: str, b: Optional[str] = None, c: str | list[str] = "", d: str | int = "") -> Any:  # noqa: UP045
        return [a, b, c, d]

    @server.tool
    def search(where: Filter, ids: list[str], extra: Optional[dict[str, int]] = None) -> Any:  # noqa: UP045
        return [where.field, where.value, ids, extra]

    @server.tool
    def lookup(guid: str, limit: int = 10) -> Any:
        return [guid, limit]

    @server.tool
    def numbers(i: int = 0, f: float = 0.0, flag: bool = False) -> Any:
        return [i, f, flag]

    @server.tool
    def projects(name: str = None, limit: int = 10, tag: Optional[str] = None) -> Any:  # type: ignore[assignment]  # noqa: RUF013, UP045
        return [name, limit, tag]

    @server.tool
    def crash() -> Any:
        raise ConnectionError(SECRET)

    return server


def expected(gate: dict[str, Any]) -> Calls:
    """Calls of the cases, and what comes back: the values that the function got, or a refusal."""
    reads, reads_all = gate["repair"] != "none", gate["repair"] == "all"
    drops, nulls = gate["unknown"] == "ignore", gate["nulls"] == "default"
    as_text = {"where": '{"field": "age", "value": 3}', "ids": '["a"]', "extra": '{"n": 1}'}
    return [
        (
            "keep",
            {"a": '{"k": 1}', "b": "null", "c": '["x"]', "d": "00123"},
            ['{"k": 1}', "null", '["x"]', "00123"],
        ),
        ("keep", {"a": "1e400", "c": "true", "d": " 7 "}, ["1e400", None, "true", " 7 "]),
        ("search", as_text, ["age", 3, ["a"], {"n": 1}] if reads else REFUSED),
        ("search", {**as_text, "ids": "a,b"}, REFUSED),
        ("lookup", {"guid": "g", "toolCallId": "c"}, ["g", 10] if drops else REFUSED),
        ("lookup", {"guid": "g", "limits": 3}, ["g", 10] if drops else REFUSED),
        ("lookup", {}, REFUSED),
        ("numbers", {}, [0, 0.0, False]),
        ("numbers", {"i": 9007199254740993}, [9007199254740993, 0.0, False]),
        ("numbers", {"i": 3.0}, [3, 0.0, False]),
        ("numbers", {"i": True}, REFUSED),
        ("numbers", {"flag": 1}, REFUSED),
        ("numbers", {"i": "5"}, [5, 0.0, False] if reads_all else REFUSED),
        ("numbers", {"flag": "true"}, [0, 0.0, True] if reads_all else REFUSED),
        ("numbers", {"f": "NaN"}, REFUSED),
        ("numbers", {"i": "five"}, REFUSED),
        ("projects", {"name": None, "tag": None}, [None, 10, None]),
        ("projects", {"limit": None}, [None, 10, None] if nulls else REFUSED),
    ]


async def outcome(client: Client, name: str, arguments: dict[str, Any]) -> tuple[Any, str]:
    """What the function received, or `REFUSED`; and all that was said."""
    try:
        result = await client.call_tool(name, arguments)
    except RequestFailed as error:
        return REFUSED, f"{error.message} {json.dumps(error.data)}"
    said = json.dumps(result.raw)
    return (REFUSED, said) if result.is_error else (json.loads(result.text), said)


@pytest.mark.parametrize("settings", COMBINATIONS, ids=range(len(COMBINATIONS)))
def test_the_cases_hold_under_every_setting(settings: dict[str, Any]) -> None:
    """The function gets what its types say or is not called; a refusal names each argument."""

    async def main() -> None:
        async with served(Gate(**settings)).client() as client:
            for name, arguments, wanted in expected(settings):
                got, said = await outcome(client, name, arguments)
                assert got == wanted or (got is wanted), (name, arguments, said)
                if wanted is REFUSED:
                    assert "'" in said
                else:
                    assert [type(each) for each in got] == [type(each) for each in wanted]
                    assert not any(isinstance(each, float) and math.isnan(each) for each in got)

    asyncio.run(main())


@pytest.mark.parametrize("settings", COMBINATIONS, ids=range(len(COMBINATIONS)))
def test_no_setting_lets_the_text_of_an_exception_out(settings: dict[str, Any]) -> None:
    """O-ERR-1: its type and a reference; O-ERR-2: what the gate says is said in full all the same."""

    async def main() -> None:
        async with served(Gate(**settings)).client() as client:
            _, said = await outcome(client, "crash", {})
            assert "ConnectionError (reference " in said
            assert "hunter2" not in said
            _, said = await outcome(client, "lookup", {"limit": "many"})
            assert "missing required argument 'guid'" in said
            assert "'limit' must be integer, got string" in said
            assert "many" not in said

    asyncio.run(main())
