"""The mechanical part of the corpus: valid calls with one change each.

    python -m tests.recovery.mutation        # writes mutated.jsonl anew

The law of the file: the seed decides everything. A mutation is kept where two judges find it wrong: the
`jsonschema` package, by the schema that we publish, and our server, without repair.
"""

import asyncio
import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from .corpus import WRITTEN, WrongCall
from .on_typegate import server
from .tools import VALID

SEED: Final = 2026
PER_TOOL: Final = 5

Place = tuple[str | int, ...]
Mutation = Callable[[Any, Any, random.Random], str]


def _remove(holder: Any, key: Any, chance: random.Random) -> str:
    del holder[key]
    return "taken away"


def _misspell(holder: Any, key: Any, chance: random.Random) -> str:
    cut = chance.randrange(len(key))
    wrong = f"{key}_" if len(key) < 4 else key[:cut] + key[cut + 1 :]
    holder[wrong] = holder.pop(key)
    return f"misspelt {wrong}"


def _add(holder: Any, key: Any, chance: random.Random) -> str:
    holder[f"{key}_id"] = chance.choice([1, "x", True])
    return "a name beside it that does not exist"


def _empty(holder: Any, key: Any, chance: random.Random) -> str:
    holder[key] = None
    return "null"


def _wrap(holder: Any, key: Any, chance: random.Random) -> str:
    holder[key] = [holder[key]]
    return "in a list"


def _write(holder: Any, key: Any, chance: random.Random) -> str:
    holder[key] = json.dumps(holder[key])
    return "as JSON text"


def _exceed(holder: Any, key: Any, chance: random.Random) -> str:
    value = holder[key]
    holder[key] = -987654321 if isinstance(value, int | float) else {"value": value}
    return "far out of range" if isinstance(value, int | float) else "in an object"


_OF_NAMES: Final = (_misspell, _add)
"""Changes that only the members of an object can have."""

_KEEPING: Final = (*_OF_NAMES, _wrap, _write)
"""Changes after which it can still be seen what was meant."""

_MUTATIONS: Final[tuple[Mutation, ...]] = (_remove, *_OF_NAMES, _empty, _wrap, _write, _exceed)


def _places(value: Any, path: Place = ()) -> Iterator[Place]:
    members: Any = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else members:
        yield (*path, key)
        yield from _places(inner, (*path, key))


def mutated() -> Iterator[WrongCall]:
    """Every call with one mutation at one place, in an order that the seed decides; some are still valid."""
    chance = random.Random(SEED)
    for tool, calls in VALID.items():
        pairs = [(call, place, change) for call in calls for place in _places(call) for change in _MUTATIONS]
        for call, place, change in chance.sample(pairs, len(pairs)):
            arguments = copy.deepcopy(call)
            holder: Any = arguments
            for step in place[:-1]:
                holder = holder[step]
            if not isinstance(holder, list) or change not in _OF_NAMES:
                where = ".".join(map(str, place))
                why = f"{where}: {change(holder, place[-1], chance)}"
                yield WrongCall(tool, "mutated", arguments, why, call if change in _KEEPING else None)


async def kept() -> list[WrongCall]:
    """The first of each tool that are wrong; the judges differ only by the null rule (docs/schemas.md)."""
    found: list[WrongCall] = []
    seen = {call.key for call in WRITTEN}
    left = dict.fromkeys(VALID, PER_TOOL)
    async with server(repair="none").client() as client:
        listed = {tool.name: tool.input_schema for tool in await client.list_tools()}
        judges = {name: Draft202012Validator(schema) for name, schema in listed.items()}
        for call in mutated():
            if not left[call.tool] or call.key in seen or judges[call.tool].is_valid(call.arguments):
                continue
            if not (await client.call_tool(call.tool, call.arguments)).is_error:
                assert call.why.endswith("null"), call
                continue
            left[call.tool] -= 1
            seen.add(call.key)
            found.append(call)
    return found


if __name__ == "__main__":
    calls = [
        {key: value for key, value in call._asdict().items() if value is not None}
        for call in asyncio.run(kept())
    ]
    lines = [json.dumps(call, ensure_ascii=False) + "\n" for call in calls]
    Path(__file__).with_name("mutated.jsonl").write_text("".join(lines), encoding="utf-8")
