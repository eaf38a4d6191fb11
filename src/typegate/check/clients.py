"""TG4xx: what named clients refuse, cut off or drop, although the protocol allows it.

The law of the file: who refuses what, and where that was seen, stands in `evidence`; a rule only looks
it up.
"""

import re
from collections.abc import Iterator
from typing import Final

from typegate.check.evidence import EVIDENCE
from typegate.check.findings import Hit, Rule
from typegate.check.subjects import Component, Server
from typegate.contract.schema import subschemas
from typegate.types import Json

__all__ = ["RULES", "SERVER_RULES"]


_TOOLS: Final = 128

_NAMES: Final = ((re.compile(r"[A-Za-z0-9_-]*"), "TG401"), (re.compile(r"[A-Za-z_].*"), "TG401 first"))
_KEY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_NAME_LENGTH: Final = 64
_JOINED_LENGTH: Final = 60
_DESCRIPTION_LENGTH: Final = 2_048
_COMPOSERS: Final = ("anyOf", "oneOf", "allOf")
_UNKNOWN: Final = ("propertyNames", "patternProperties", "dependentSchemas", "unevaluatedProperties")
_LOOKAROUND: Final = re.compile(r"\(\?(?:[=!]|<[=!])")
_FORMATS: Final = re.compile(r"date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid")


def _clients(rule: str) -> str:
    return ", ".join(dict.fromkeys(each.client for each in EVIDENCE[rule]))


def _nodes(tool: Component) -> Iterator[dict[str, Json]]:
    """Every schema inside that of the arguments."""
    return subschemas(tool.schema) if tool.kind == "tool" else iter(())


def _where(tool: Component, node: dict[str, Json]) -> Hit:
    """The property that a node belongs to."""
    for each in tool.properties:
        if any(inner is node for inner in subschemas(each.node)):
            return Hit(each.place, each.name)
    return Hit(tool.place, "the schema")


def _strange_name(tool: Component) -> Iterator[Hit]:
    told = [row for pattern, row in _NAMES if tool.kind == "tool" and pattern.fullmatch(tool.name) is None]
    if told:
        yield Hit(tool.place, f"the name '{tool.name}' is refused by {', '.join(map(_clients, told))}")


def _long_name(server: Server) -> Iterator[Hit]:
    for tool in server.tools:
        length, joined = len(tool.name), len(server.name) + len(tool.name)
        if length > _NAME_LENGTH:
            yield Hit(
                tool.place, f"the name has {length} characters: {_clients('TG402')} refuse it", tool.name
            )
        elif joined >= _JOINED_LENGTH:
            told = (
                f"with the server's name it has {joined} characters; Cursor drops it from {_JOINED_LENGTH} on"
            )
            yield Hit(tool.place, told, tool.name)


def _strange_key(tool: Component) -> Iterator[Hit]:
    for each in tool.properties:
        if tool.kind == "tool" and _KEY.fullmatch(each.name) is None:
            yield Hit(each.place, f"the argument '{each.name}' is refused by {_clients('TG403')}")


def _composed(tool: Component) -> Iterator[Hit]:
    found = [key for key in _COMPOSERS if key in tool.schema]
    if tool.kind == "tool" and found:
        yield Hit(tool.place, f"{', '.join(found)} at the root of the schema: refused by {_clients('TG404')}")


def _references(tool: Component) -> dict[str, bool]:
    """The definitions that the arguments refer to, and whether each leads back to itself."""
    tables = {**tool.schema.get("$defs", {}), **tool.schema.get("definitions", {})}
    leads = {name: _targets(node) & tables.keys() for name, node in tables.items()}
    for _ in leads:
        leads = {name: to.union(*(leads[each] for each in to)) for name, to in leads.items()}
    root = {key: value for key, value in tool.schema.items() if key not in ("$defs", "definitions")}
    used = _targets(root) & tables.keys()
    return {name: name in leads[name] for name in used.union(*(leads[each] for each in used))}


def _targets(node: Json) -> frozenset[str]:
    nodes = subschemas(node) if isinstance(node, dict) else ()
    return frozenset(str(each["$ref"]).rpartition("/")[2] for each in nodes if "$ref" in each)


def _recursive(tool: Component) -> Iterator[Hit]:
    loops = [name for name, is_loop in _references(tool).items() if is_loop] if tool.kind == "tool" else []
    if loops:
        yield Hit(tool.place, f"'{min(loops)}' holds itself, which is refused by {_clients('TG405')}")


def _referring(tool: Component) -> Iterator[Hit]:
    found = _references(tool) if tool.kind == "tool" else {}
    if found and not any(found.values()):
        yield Hit(
            tool.place,
            f"the schema refers to '{min(found)}' in $defs, which {_clients('TG406')} cannot follow",
        )


def _unknown(tool: Component) -> Iterator[Hit]:
    for node in _nodes(tool):
        for key in _UNKNOWN:
            if key in node:
                place, name = _where(tool, node)[:2]
                yield Hit(place, f"'{name}' uses {key}, which is unknown to {_clients('TG407')}")


def _itemless(tool: Component) -> Iterator[Hit]:
    for node in _nodes(tool):
        if node.get("type") == "array" and "items" not in node:
            place, name = _where(tool, node)[:2]
            yield Hit(place, f"'{name}' is an array without items, which is refused by {_clients('TG408')}")


def _looking_around(tool: Component) -> Iterator[Hit]:
    for node in _nodes(tool):
        if _LOOKAROUND.search(str(node.get("pattern", ""))):
            place, name = _where(tool, node)[:2]
            yield Hit(place, f"the pattern of '{name}' looks around, which is refused by {_clients('TG409')}")


def _format(tool: Component) -> Iterator[Hit]:
    for node in _nodes(tool):
        if "format" in node and _FORMATS.fullmatch(str(node["format"])) is None:
            place, name = _where(tool, node)[:2]
            yield Hit(place, f"'{name}' has the format '{node['format']}', unknown to {_clients('TG410')}")


def _long_text(tool: Component) -> Iterator[Hit]:
    length = len(tool.description or "")
    if tool.kind == "tool" and length > _DESCRIPTION_LENGTH:
        told = f"of {length:,} characters of description {_clients('TG411')} keeps {_DESCRIPTION_LENGTH:,}"
        yield Hit(tool.place, told)


def _many(server: Server) -> Iterator[Hit]:
    count = len(server.tools)
    if count > _TOOLS:
        yield Hit(
            server.place, f"{count} tools, and {_clients('TG412')} takes {_TOOLS} of all servers together"
        )


RULES: Final[tuple[Rule[Component], ...]] = (
    Rule(
        id="TG401",
        severity="warning",
        title="a name that clients refuse",
        reason="The protocol allows dots and a digit first, and the APIs behind several clients do not.",
        mend="use letters, digits and _, a letter first",
        bad='''
@server.tool(name="stock.count")
def stock_count() -> int:
    """Count what is left of the house blend."""
    return 3
''',
        good='''
@server.tool
def stock_count() -> int:
    """Count what is left of the house blend."""
    return 3
''',
        find=_strange_name,
    ),
    Rule(
        id="TG403",
        severity="error",
        title="an argument name that clients refuse",
        reason="One such name, and the client cannot send any request at all while the server is connected.",
        mend="use at most 64 of A-Z a-z 0-9 _ . -",
        bad='''
@server.tool
def look(filter: Annotated[str, Field(alias="filter[name]"), "What to look for."]) -> str:
    """Look into the drawer."""
    return filter
''',
        good='''
@server.tool
def look(filter: Annotated[str, "What to look for."]) -> str:
    """Look into the drawer."""
    return filter
''',
        find=_strange_key,
    ),
    Rule(
        id="TG404",
        severity="warning",
        title="a schema that is a choice at its root",
        reason="It is valid JSON Schema, and the APIs of the two largest vendors refuse it there.",
        mend="put the choice into a parameter (a union of models), or call reject(...) for the rule",
        bad='''
@server.tool(
    schema={
        "type": "object",
        "properties": {"sku": {"type": "string", "description": "The article."}},
        "anyOf": [{"required": ["sku"]}, {"maxProperties": 0}],
    }
)
def restock(**given: str) -> str:
    """Fill the shelves."""
    return "full"
''',
        good='''
@server.tool
def restock(sku: Annotated[str | None, "The article; all of them when left out."] = None) -> str:
    """Fill the shelves."""
    return "full"
''',
        find=_composed,
    ),
    Rule(
        id="TG405",
        severity="warning",
        title="arguments that hold themselves",
        reason="A recursive schema cannot be unrolled, and some clients can send nothing else.",
        mend="take a flat list with parent ids, or end the depth with a model of its own for each level",
        bad='''
class Box(BaseModel):
    label: str
    inside: list["Box"] = []


@server.tool
def pack(box: Annotated[Box, "What to pack."]) -> str:
    """Pack a parcel."""
    return box.label
''',
        good='''
class Box(BaseModel):
    label: str
    inside_of: str | None = None


@server.tool
def pack(boxes: Annotated[list[Box], "What to pack."]) -> str:
    """Pack a parcel."""
    return boxes[0].label
''',
        find=_recursive,
    ),
    Rule(
        id="TG406",
        severity="note",
        title="arguments that refer to $defs",
        reason="What is used twice stands in $defs, which keeps the listing small, and loses some clients.",
        mend="MCPServer(..., schema_style='inline') writes it out",
        bad='''
class Address(BaseModel):
    city: str


@server.tool
def move(origin: Annotated[Address, "From."], target: Annotated[Address, "To."]) -> str:
    """Carry a parcel from one town to another."""
    return f"{origin.city} {target.city}"
''',
        good='''
server = MCPServer("shop", schema_style="inline")


class Address(BaseModel):
    city: str


@server.tool
def move(origin: Annotated[Address, "From."], target: Annotated[Address, "To."]) -> str:
    """Carry a parcel from one town to another."""
    return f"{origin.city} {target.city}"
''',
        find=_referring,
    ),
    Rule(
        id="TG407",
        severity="note",
        title="keywords that a client does not know",
        reason="A client that hands schemas on as they are gets the whole request refused.",
        mend="a list of models with a field for the key says the same: list[Line] for dict[int, str]",
        bad='''
@server.tool
def set_prices(prices: Annotated[dict[int, float], "Price by article number."]) -> str:
    """Change what articles cost."""
    return "set"
''',
        good='''
class Price(BaseModel):
    article: int
    price: float


@server.tool
def set_prices(prices: Annotated[list[Price], "The new prices."]) -> str:
    """Change what articles cost."""
    return "set"
''',
        find=_unknown,
    ),
    Rule(
        id="TG408",
        severity="warning",
        title="an array without items",
        reason="A tuple is published with prefixItems alone, which a client takes for an unfinished schema.",
        mend="use a model with a field for each part, or a list[...] of one type",
        bad='''
@server.tool
def place(at: Annotated[tuple[int, int], "Row and column."]) -> str:
    """Put a jar on the shelf."""
    return "placed"
''',
        good='''
class Spot(BaseModel):
    row: int
    column: int


@server.tool
def place(at: Annotated[Spot, "Where to put it."]) -> str:
    """Put a jar on the shelf."""
    return "placed"
''',
        find=_itemless,
    ),
    Rule(
        id="TG409",
        severity="warning",
        title="a pattern that looks around",
        reason="The regular expressions of several APIs have no lookahead and no lookbehind.",
        mend="write the pattern without (?=, (?!, (?<= and (?<!, or call reject(...) for the rule",
        bad='''
@server.tool(
    schema={
        "type": "object",
        "properties": {"mail": {"type": "string", "description": "Whom.", "pattern": "^(?!root@).+@.+$"}},
    }
)
def notify(**given: str) -> str:
    """Tell somebody that the parcel is here."""
    return "told"
''',
        good='''
@server.tool
def notify(mail: Annotated[str, Field(pattern="^[^@]+@[^@]+$"), "Whom."]) -> str:
    """Tell somebody that the parcel is here."""
    return "told"
''',
        find=_looking_around,
    ),
    Rule(
        id="TG410",
        severity="note",
        title="a format that a client does not know",
        reason="In strict mode only nine formats are known, and another one refuses the request.",
        mend="take a str with a pattern, and say in the description what it is",
        bad='''
@server.tool
def fetch_photo(photo: Annotated[AnyUrl, "Where it is."]) -> str:
    """Hang a photo in the window."""
    return str(photo)
''',
        good='''
@server.tool
def fetch_photo(photo: Annotated[str, Field(pattern="^https://"), "Where it is."]) -> str:
    """Hang a photo in the window."""
    return photo
''',
        find=_format,
    ),
    Rule(
        id="TG411",
        severity="warning",
        title="a description that is cut off",
        reason="What stands behind the cut the model never reads, and nobody is told.",
        mend="say what matters first and in fewer words; details belong to the parameters or a resource",
        bad="""
@server.tool(description="Sell tea. " + "Every sort has a story of its own. " * 60)
def sell() -> str:
    return "sold"
""",
        good="""
@server.tool(description="Sell tea; the resource shop://stories has the story of each sort.")
def sell() -> str:
    return "sold"
""",
        find=_long_text,
    ),
)

SERVER_RULES: Final[tuple[Rule[Server], ...]] = (
    Rule(
        id="TG402",
        severity="warning",
        title="a name that is too long for clients",
        reason="Clients put the server's name before the tool's, and drop what is longer than they allow.",
        mend="shorten the name; name= on the decorator leaves the function as it is",
        bad='''
@server.tool
def find_the_nearest_supplier_that_can_deliver_before_the_weekend() -> str:
    """Ask around."""
    return "nobody"
''',
        good='''
@server.tool(name="find_supplier")
def find_the_nearest_supplier_that_can_deliver_before_the_weekend() -> str:
    """Ask around."""
    return "nobody"
''',
        find=_long_name,
    ),
    Rule(
        id="TG412",
        severity="error",
        title="more tools than a client takes",
        reason="Above its limit the client refuses to send anything, and long before it models choose badly.",
        mend="make what differs a parameter, or serve part of the tools from another server",
        bad="""
for door in range(129):

    @server.tool(name=f"open_door_{door}", description=f"Let somebody in at door {door}.")
    def open_door() -> str:
        return "open"
""",
        good='''
@server.tool
def open_door(door: Annotated[int, Field(ge=0, le=128), "Which one."]) -> str:
    """Let somebody in."""
    return "open"
''',
        find=_many,
    ),
)
