"""Values from a JSON Schema, the same values as bytes, and values with something wrong in them.

The law of the file: only the schema is looked at, never the function that it came from.
"""

import datetime as dt
import json
import re
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from .forms import NAMES, key_token, texts, token
from .judges import resolved

__all__ = ["instances", "mutants", "wire"]

Json = Any
Path = tuple[str | int, ...]

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 1e2, -0.0]) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(key_token, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def instances(draw: st.DrawFn, root: Json, node: Json = True, fuel: int = 4) -> Json:
    """A value that the schema *node* admits; *fuel* bounds how deep it goes."""
    node = resolved(root, root if node is True and fuel == 4 else node)
    if node is True or not set(node) & KEYWORDS:
        return draw(anything)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return draw(st.sampled_from(node["enum"]))
    for key in ("anyOf", "oneOf"):
        if key in node:
            return draw(branches(root, node[key], fuel))
    return draw(MAKERS[node["type"]](root, node, fuel))


KEYWORDS = frozenset({"type", "enum", "const", "anyOf", "oneOf"})


@st.composite
def branches(draw: st.DrawFn, root: Json, options: list[Json], fuel: int) -> Json:
    """One branch of a union; where the fuel is low, one that ends soon."""
    if fuel <= 1:
        options = [each for each in options if ends(root, each)] or options
    chosen = draw(st.sampled_from(options))
    bounded = [each for each in options if each.get("type") == "number" and each.keys() > {"type"}]
    if bounded and "pattern" in chosen:  # a Decimal as text: its bound stands at the number beside it
        return repr(draw(instances(root, bounded[0], fuel - 1)))
    return draw(instances(root, chosen, fuel - 1))


def ends(root: Json, node: Json) -> bool:
    kind = resolved(root, node)
    return kind is not True and kind.get("type") in ("null", "integer", "number", "string", "boolean")


@st.composite
def objects(draw: st.DrawFn, root: Json, node: Json, fuel: int) -> Json:
    known, needed = node.get("properties", {}), node.get("required", ())
    others = [name for name in known if name not in needed]
    chosen = [] if fuel <= 0 or not others else draw(st.lists(st.sampled_from(others), unique=True))
    made = {name: draw(instances(root, known[name], fuel - 1)) for name in (*needed, *chosen)}
    more = node.get("additionalProperties", True)
    if more is False or (fuel <= 0 and more is not True):
        return made
    names = node.get("propertyNames")
    for _ in range(draw(st.integers(0, 2))):
        name = draw(
            key_token if names is None else instances(root, {"type": "string", **resolved(root, names)}, 1)
        )
        made.setdefault(str(name), draw(instances(root, more, fuel - 1)))
    return made


@st.composite
def arrays(draw: st.DrawFn, root: Json, node: Json, fuel: int) -> Json:
    first, rest = node.get("prefixItems", []), node.get("items", True)
    least = node.get("minItems", 0)
    most = min(node.get("maxItems", least + 2), least + 2)
    if rest is False:
        most = min(most, len(first))
    count = least if fuel <= 0 else draw(st.integers(least, max(least, most)))
    made: list[Json] = []
    for index in range(count):
        item = draw(instances(root, first[index] if index < len(first) else rest, fuel - 1))
        if not node.get("uniqueItems") or all(key_of(item) != key_of(other) for other in made):
            made.append(item)
    return made


def key_of(value: Json) -> str:
    """What JSON Schema compares: 1 and 1.0 are one number, and true is none."""
    return json.dumps(plain(value), sort_keys=True)


def plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(plain, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


@st.composite
def integers(draw: st.DrawFn, root: Json, node: Json, fuel: int) -> Json:
    low, high = bounds(node, 1)
    step = node.get("multipleOf", 1)
    wide = st.integers() | st.integers(-30, 30).map(lambda number: number * 10)
    if low is None and high is None:
        return draw(wide if step == 1 else st.integers(-(10**9), 10**9).map(lambda number: number * step))
    low = -(2**60) if low is None else low
    return draw(st.integers(low, low + 2**60 if high is None else high))


@st.composite
def numbers(draw: st.DrawFn, root: Json, node: Json, fuel: int) -> Json:
    low, high = bounds(node, 0.125)
    if "multipleOf" in node:
        count = Decimal(draw(st.integers(-5000, 5000)))
        return float(count * Decimal(str(node["multipleOf"])))
    if low is None and high is None:
        return draw(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53))
    return draw(st.floats(low, high, allow_nan=False, allow_infinity=False))


def bounds(node: Json, gap: float) -> tuple[Any, Any]:
    """The lowest and the highest value, exclusive bounds made inclusive with *gap* to spare."""
    low = node["exclusiveMinimum"] + gap if "exclusiveMinimum" in node else node.get("minimum")
    high = node["exclusiveMaximum"] - gap if "exclusiveMaximum" in node else node.get("maximum")
    return low, high


@st.composite
def strings(draw: st.DrawFn, root: Json, node: Json, fuel: int) -> Json:
    if "format" in node:
        return draw(FORMATS.get(node["format"], texts))
    if node.get("contentEncoding") == "base64":
        return draw(st.sampled_from(["", "aGk=", "AAAA", "+/+/", "enpxenE="]))
    low, high = node.get("minLength", 0), node.get("maxLength")
    if "pattern" in node:
        made = re.compile(node["pattern"].replace("$", r"\Z"), re.ASCII)
        return draw(st.from_regex(made).filter(lambda text: low <= len(text) <= (high or 999)))
    if low or high is not None:
        return draw(st.text(min_size=low, max_size=high))
    return draw(texts)


# --- formats

clock = st.builds(
    "{:02}:{:02}:{:02}{}{}".format,
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.sampled_from(["", ".5", ".123456", ".000000001"]),
    st.sampled_from(["Z", "+00:00", "-08:30", "+23:59"]),
)
dates = st.dates().map(dt.date.isoformat)
count = st.integers(0, 99)
days = st.one_of(
    st.builds("{}D".format, count),
    st.builds("{}M".format, count),
    st.builds("{}Y{}M".format, count, count),
    st.builds("{}Y{}M{}D".format, count, count, count),
)
hours = st.one_of(
    st.builds("T{}S".format, count),
    st.builds("T{}H".format, count),
    st.builds("T{}M{}S".format, count, count),
    st.builds("T{}H{}M{}S".format, count, count, count),
)
FORMATS = {
    "date": dates,
    "date-time": st.builds("{}{}{}".format, dates, st.sampled_from("TTt"), clock),
    "time": clock,
    "duration": st.one_of(days, hours, st.builds("{}{}".format, days, hours), count.map("{}W".format)).map(
        "P{}".format
    ),
    "uuid": st.uuids().map(str) | st.uuids().map(lambda value: str(value).upper()),
}
MAKERS: dict[str, Any] = {
    "object": objects,
    "array": arrays,
    "string": strings,
    "integer": integers,
    "number": numbers,
    "boolean": lambda root, node, fuel: st.booleans(),
    "null": lambda root, node, fuel: st.none(),
}


# --- bytes


@st.composite
def wire(draw: st.DrawFn, value: Json) -> bytes:
    """The value as a client might write it: 3 as `3.0`, 100 as `1e2`, text with or without escapes."""
    ascii_only = draw(st.booleans())

    def write(part: Json) -> str:
        if isinstance(part, dict):
            return (
                "{"
                + ",".join(f"{json.dumps(key, ensure_ascii=ascii_only)}:{write(part[key])}" for key in part)
                + "}"
            )
        if isinstance(part, list):
            return "[" + ", ".join(map(write, part)) + "]"
        if type(part) is int and abs(part) < 2**53:
            return draw(st.sampled_from(spellings(part)))
        return json.dumps(part, ensure_ascii=ascii_only, allow_nan=False)

    return write(value).encode()


def spellings(number: int) -> list[str]:
    """The ways to write one integer."""
    zeros = len(str(number)) - len(str(number).rstrip("0")) if number else 0
    short = [f"{number // 10**zeros}e{zeros}"] if zeros else []
    longer = [f"{number}0e-1"] if number else []
    return [str(number), str(number), f"{number}.0", f"{number}E+0", *short, *longer]


# --- something wrong

OTHERS: dict[str, st.SearchStrategy[Json]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "number": st.integers(-5, 5) | st.sampled_from([0.5, -1e300, 10**30, 2**63, 3.0]),
    "string": token
    | st.sampled_from(
        ["", "today", "2026-02-30", "2026-11-01", "2026-11-01T00:00:00Z", "12", "1.5", "true", "null"]
    )
    | st.sampled_from(
        ["[1,2]", '{"a":1}', "PT5M", "10:00", "1730000000", "2026-11-01\n", "é" * 5, "a-b-c-d-e"]
    ),
    "array": st.lists(token, max_size=2) | st.just([None]) | st.just([[1]]),
    "object": st.just({}) | st.dictionaries(key_token, token, min_size=1, max_size=2),
}
other_values = st.one_of(*OTHERS.values())


@st.composite
def mutants(draw: st.DrawFn, value: Json) -> Json:
    """The value with one, two or three places changed; nothing says that it is wrong."""
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        value = draw(mutant(value, ()))
    return value


@st.composite
def mutant(draw: st.DrawFn, value: Json, path: Path) -> Json:
    """Go down to some place and change what lies there; the root stays an object."""
    inside = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if inside and draw(st.integers(0, 2)):
        key = draw(st.sampled_from(inside))
        made = dict(value) if isinstance(value, dict) else list(value)
        made[key] = draw(mutant(value[key], (*path, key)))
        return made
    if isinstance(value, dict) and (not path or draw(st.booleans())):
        return draw(changed_object(value))
    if isinstance(value, list) and draw(st.booleans()):
        return draw(changed_array(value))
    if isinstance(value, int | float) and not isinstance(value, bool) and draw(st.booleans()):
        return draw(st.sampled_from([value + 1000, value - 1000, value + 0.5, -value, str(value)]))
    return draw(other_values)


@st.composite
def changed_object(draw: st.DrawFn, value: dict[str, Json]) -> dict[str, Json]:
    made = dict(value)
    if made and draw(st.booleans()):
        del made[draw(st.sampled_from(list(made)))]
    else:
        near = [name + "x" for name in made] + [name.upper() for name in made]
        name = draw(key_token | st.text(max_size=4) | st.sampled_from([*NAMES, *near]))
        made[name] = draw(other_values)
    return made


@st.composite
def changed_array(draw: st.DrawFn, value: list[Json]) -> list[Json]:
    if value and draw(st.booleans()):
        return draw(st.sampled_from([value[:-1], [*value, value[0]], [*value, value[-1]], value * 3]))
    return [*value, draw(other_values)]
