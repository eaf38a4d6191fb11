"""TG5xx: the server as a whole: what its tools look like beside one another, and what they cost together.

The law of the file: a model tells tools apart by name and description only; tokens are estimated as four
bytes of the listing each.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from typegate.check.findings import Hit, Rule
from typegate.check.subjects import Component, Server
from typegate.check.words import words

__all__ = ["BYTES_PER_TOKEN", "RULES", "tokens"]

BYTES_PER_TOKEN: Final = 4
_TOKENS: Final = 10_000
"""A twentieth of a context of 200,000."""

_SYNONYMS: Final = (
    "get fetch read retrieve load show",
    "delete remove erase",
    "create add make new",
    "update edit modify change",
    "search find query lookup",
    "list enumerate",
    "run execute",
    "send post submit",
)
_MEANING: Final = {verb: row.split()[0] for row in _SYNONYMS for verb in row.split()}


def tokens(server: Server) -> int:
    """About how many tokens the listing of the tools has."""
    return sum(tool.size for tool in server.tools) // BYTES_PER_TOKEN


def _alike(server: Server) -> Iterator[Hit]:
    parts = [(tool, words(tool.name)) for tool in server.tools]
    for (first, some), (second, others) in combinations(parts, 2):
        if some != others and _same(some, others):
            yield Hit(second.place, f"'{first.name}' and '{second.name}' read as the same thing", second.name)


def _same(some: list[str], others: list[str]) -> bool:
    """Whether two names differ in a plural, a synonym or one letter of a long word."""
    if len(some) != len(others):
        return "".join(some) == "".join(others)
    differing = [(a, b) for a, b in zip(some, others, strict=True) if a != b]
    if len(differing) != 1:
        return False
    [(a, b)] = differing
    is_verb = some[0] == a and len(some) > 1
    return (is_verb and _MEANING.get(a, a) == _MEANING.get(b, b)) or _nearly(a, b)


def _nearly(a: str, b: str) -> bool:
    """Whether one is the plural of the other."""
    short, long = sorted((a, b), key=len)
    return len(short) > 2 and long in (f"{short}s", f"{short}es")


def _twins(server: Server) -> Iterator[Hit]:
    seen: dict[str, Component] = {}
    for tool in server.tools:
        said = " ".join(words(tool.description or ""))
        if not said:
            continue
        first = seen.setdefault(said, tool)
        if first is not tool:
            yield Hit(tool.place, f"it is described in the same words as '{first.name}'", tool.name)


def _heavy(server: Server) -> Iterator[Hit]:
    total = tokens(server)
    if total > _TOKENS:
        largest = sorted(server.tools, key=lambda tool: -tool.size)[:3]
        names = ", ".join(f"'{tool.name}' {tool.size // BYTES_PER_TOKEN:,}" for tool in largest)
        yield Hit(server.place, f"the listing of the tools has about {total:,} tokens; most in {names}")


def _mixed(server: Server) -> Iterator[Hit]:
    styles: dict[str, list[Component]] = defaultdict(list)
    for tool in server.tools:
        for style, pattern in _STYLES.items():
            if re.search(pattern, tool.name):
                styles[style].append(tool)
    if len(styles) > 1:
        usual = max(styles, key=lambda style: len(styles[style]))
        odd = [tool for style, tools in styles.items() if style != usual for tool in tools]
        names = ", ".join(f"'{tool.name}'" for tool in odd[:3])
        yield Hit(odd[0].place, f"{names}: the other tools are named in {usual}", odd[0].name)


_STYLES: Final = {
    "snake_case": r"[a-z0-9]_[a-z0-9]",
    "camelCase": r"[a-z0-9][A-Z]",
    "kebab-case": r"[a-z0-9]-[a-z0-9]",
}

RULES: Final[tuple[Rule[Server], ...]] = (
    Rule(
        id="TG501",
        severity="warning",
        title="names that a model confuses",
        reason="Between `get_order` and `fetch_order` a model can only guess.",
        mend="keep one of them, or name the difference: get_order, search_orders",
        bad='''
@server.tool
def get_order() -> str:
    """Look at the order that is being served."""
    return "tea"


@server.tool
def fetch_order() -> str:
    """Bring the order to the table."""
    return "tea"
''',
        good='''
@server.tool
def get_order() -> str:
    """Look at the order that is being served."""
    return "tea"


@server.tool
def serve_order() -> str:
    """Bring the order to the table."""
    return "tea"
''',
        find=_alike,
    ),
    Rule(
        id="TG502",
        severity="warning",
        title="two tools described in the same words",
        reason="The description is what a model chooses by, and these two are the same to it.",
        mend="say in each when to use it and not the other",
        bad='''
@server.tool
def weigh() -> float:
    """Tell how much tea is left."""
    return 1.5


@server.tool
def count_bags() -> int:
    """Tell how much tea is left."""
    return 3
''',
        good='''
@server.tool
def weigh() -> float:
    """Tell how much loose tea is left, in kilograms."""
    return 1.5


@server.tool
def count_bags() -> int:
    """Tell how many bags of tea are left."""
    return 3
''',
        find=_twins,
    ),
    Rule(
        id="TG503",
        severity="warning",
        title="a listing that fills the context",
        reason="Every definition is in the model's context in every conversation, before anything is said.",
        mend="shorten descriptions, publish fewer enum values, split the server",
        bad="""
for number in range(40):

    @server.tool(name=f"tea_{number}", description=f"Pour tea {number}. " + "It is good. " * 99)
    def tea() -> str:
        return "tea"
""",
        good='''
@server.tool
def pour_tea(number: Annotated[int, Field(ge=0, le=39), "Which one."]) -> str:
    """Pour a cup of one of the forty teas."""
    return "tea"
''',
        find=_heavy,
    ),
    Rule(
        id="TG504",
        severity="note",
        title="names in more than one style",
        reason="A model that has learnt `list_orders` asks for `get_order`, not for `getOrder`.",
        mend="use snake_case throughout",
        bad='''
@server.tool
def open_till() -> str:
    """Let the cashier count."""
    return "open"


@server.tool
def closeTill() -> str:
    """Lock the money away."""
    return "closed"
''',
        good='''
@server.tool
def open_till() -> str:
    """Let the cashier count."""
    return "open"


@server.tool
def close_till() -> str:
    """Lock the money away."""
    return "closed"
''',
        find=_mixed,
    ),
)
