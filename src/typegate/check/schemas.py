"""TG1xx: what a schema leaves open that the author could have said with a type.

The law of the file: the published schema is what is read, since it is what the gate enforces; names and
words are compared with the tables below, which hold only what is rarely meant otherwise.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, Final

from typegate.check.findings import Hit, Rule
from typegate.check.subjects import Component, Property
from typegate.check.words import is_text, plain, takes_anything
from typegate.contract.signature import EMPTY
from typegate.contract.validator import accepts
from typegate.errors import RegistrationError
from typegate.types import Json

__all__ = ["RULES"]

_DATES: Final = re.compile(
    r"(date|datetime|deadline|birthday|birth_?date|\w+_date|\w+_datetime|date_(from|to|after|before))"
)
_DATE_WORDS: Final = re.compile(r"\bYYYY\b|\bISO[ -]?8601\b|\bRFC[ -]?3339\b")
_NUMBERS: Final = re.compile(
    r"(limit|page_?size|per_page|count|quantity|year|age|latitude|longitude|top_[kn]|num_\w+"
    r"|\w+_count|(max|min)_(results|items|rows|tokens|length|count|price|age)|\w*(seconds|percent))"
)
_LIMITS: Final = re.compile(
    r"(limit|page_?size|per_page|top_?[kn]|num_results|(max_?)?(results|items|rows|entries|matches|hits))"
)
_SECRETS: Final = re.compile(
    r"(password|passwd|passphrase|secret|\w+_secret|api_?key|access_?key|private_?key|(access|auth|bearer)_?token"
    r"|credentials?)"
)
_TOKENS: Final = re.compile(
    r"sk-[\w-]{16,}|gh[pousr]_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|glpat-[\w-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\w+://[^/\s:@]+:[^/\s:@]+@"
)
_EXAMPLES: Final = re.compile(r"\b(such as|e\.g\.?|for example|for instance|like|including)\b", re.IGNORECASE)
_OFFER: Final = re.compile(
    r"(?:^|\b(?:one of|either|must be|can be|may be|is|allowed|options?|values?|choices?)\b[^.;\"'`]{0,20})$",
    re.IGNORECASE,
)
_CHOICE: Final = re.compile(r"([\"'`])[\w-]+\1(?:,? ?(?:or|/|\|),? ?|, ?)(?=[\"'`]\w)")

_BARE: Final = (dict, list, tuple, set, object, Any)
_MANY: Final = 100
"""From how many values on an enum is a list that the model reads in every conversation."""


def _texts(tool: Component) -> Iterator[Property]:
    return (each for each in tool.properties if tool.kind == "tool" and is_text(each.node))


# --- the rules -----------------------------------------------------------------------------------


def _anything(tool: Component) -> Iterator[Hit]:
    if tool.kind != "tool":
        return
    for each in tool.properties:
        where = takes_anything(each.node, each.name, tool.schema)
        if where is not None:
            yield Hit(each.place, f"'{where}' takes anything")
    if not tool.own_schema and tool.schema.get("additionalProperties") in (True, {}):
        yield Hit(tool.place, "its **keywords take anything")


def _undescribed(component: Component) -> Iterator[Hit]:
    for each in component.properties:
        if component.kind in ("tool", "prompt") and not (each.description or "").strip():
            yield Hit(each.place, f"'{each.name}' has no description")


def _date(tool: Component) -> Iterator[Hit]:
    for each in _texts(tool):
        if _DATES.fullmatch(plain(each.name)) or _DATE_WORDS.search(each.description or ""):
            yield Hit(each.place, f"'{each.name}' is a date by its name or description, and takes any text")


def _number(tool: Component) -> Iterator[Hit]:
    for each in _texts(tool):
        if _NUMBERS.fullmatch(plain(each.name)):
            yield Hit(each.place, f"'{each.name}' is a number by its name, and takes any text")


def _choice(tool: Component) -> Iterator[Hit]:
    refused = _refused_unless(tool)
    for each in _texts(tool):
        if each.parameter in refused or _offers(each.description or ""):
            yield Hit(each.place, f"'{each.name}' is one of a few words, and takes any text")


def _offers(told: str) -> bool:
    """Whether a description lists what may be sent, and not what might."""
    listed = _CHOICE.search(told)
    before = told[: listed.start()] if listed else "no"
    return _OFFER.search(before) is not None and _EXAMPLES.search(before) is None


def _refused_unless(tool: Component) -> frozenset[str]:
    """The parameters whose value must be in a row of texts, or the function raises."""
    found = set()
    for node in tool.code.own() if tool.code else ():
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        [operator, *_], [row, *_] = node.test.ops, node.test.comparators
        texts = isinstance(row, ast.Tuple | ast.List | ast.Set) and all(map(_is_constant_text, row.elts))
        ends = isinstance(node.body[-1], ast.Raise) or _calls_reject(node.body[-1])
        if isinstance(operator, ast.NotIn) and texts and ends and isinstance(node.test.left, ast.Name):
            found.add(node.test.left.id)
    return frozenset(found)


def _is_constant_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _calls_reject(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "reject"


def _limit(tool: Component) -> Iterator[Hit]:
    for each in tool.properties:
        node = each.node
        if node.get("type") != "integer" or "enum" in node or not _LIMITS.fullmatch(plain(each.name)):
            continue
        ends = {"minimum": {"minimum", "exclusiveMinimum"}, "maximum": {"maximum", "exclusiveMaximum"}}
        missing = [end for end, keys in ends.items() if not node.keys() & keys]
        if missing:
            yield Hit(each.place, f"'{each.name}' has no {' and no '.join(missing)}")


def _unreturned(tool: Component) -> Iterator[Hit]:
    if tool.kind == "tool" and tool.returns is EMPTY and not tool.own_output:
        yield Hit(tool.place, "it has no return annotation, so no outputSchema")


def _shapeless(tool: Component) -> Iterator[Hit]:
    if tool.kind != "tool" or tool.own_output:
        return
    where = takes_anything(tool.output, "result", tool.output) if tool.output else None
    if any(tool.returns is each for each in _BARE):
        yield Hit(tool.place, "the result may be anything, so there is no outputSchema")
    elif where is not None:
        yield Hit(tool.place, f"'{where}' may be anything")


def _default(tool: Component) -> Iterator[Hit]:
    for each in tool.properties:
        value = each.default
        if tool.own_schema or tool.kind != "tool" or type(value) not in (int, float, str):
            continue
        node = {key: item for key, item in each.node.items() if key != "default"}
        if not _accepts(node, value, tool.schema):
            yield Hit(each.place, f"'{each.name}' has a default that its own type refuses")


def _accepts(node: dict[str, Json], value: Json, root: dict[str, Json]) -> bool:
    try:
        return accepts({**node, "$defs": root.get("$defs", {})}, value)
    except RegistrationError:
        return True


def _published_secret(tool: Component) -> Iterator[Hit]:
    for each in tool.properties:
        value = each.node.get("default")
        named = _SECRETS.fullmatch(plain(each.name)) is not None
        if isinstance(value, str) and value and (named or _TOKENS.search(value)):
            yield Hit(each.place, f"the default of '{each.name}' looks like a secret")


def _asked_secret(tool: Component) -> Iterator[Hit]:
    for each in tool.properties:
        if _SECRETS.fullmatch(plain(each.name)) and not each.node.get("default"):
            yield Hit(each.place, f"'{each.name}' asks the model for a secret")


def _crowd(tool: Component) -> Iterator[Hit]:
    for each in tool.properties:
        nodes = [node for node in (each.node, each.node.get("items")) if isinstance(node, dict)]
        count = max(len(node.get("enum", ())) for node in nodes)
        if count > _MANY:
            yield Hit(each.place, f"'{each.name}' lists {count} values")


RULES: Final[tuple[Rule[Component], ...]] = (
    Rule(
        id="TG101",
        severity="warning",
        title="a parameter that takes anything",
        reason="A bare `dict`, `list` or `Any`, or no hint, tells the model nothing and lets everything in.",
        mend="say what is in it: a model, a TypedDict, list[...] or dict[str, ...] of a type",
        bad='''
@server.tool
def add_order(order: Annotated[dict, "The order."]) -> str:
    """Put an order on the books."""
    return "added"
''',
        good='''
class Order(BaseModel):
    sku: str
    amount: int


@server.tool
def add_order(order: Annotated[Order, "The order."]) -> str:
    """Put an order on the books."""
    return "added"
''',
        find=_anything,
    ),
    Rule(
        id="TG102",
        severity="warning",
        title="a parameter without a description",
        reason="The model fills an argument by what is said of it; a name alone leaves it to guess.",
        mend="say in the Args section of the docstring, or with Annotated[..., 'text'], what to send",
        bad='''
@server.tool
def find_orders(customer: str) -> list[str]:
    """List what somebody has ordered."""
    return []
''',
        good='''
@server.tool
def find_orders(customer: Annotated[str, "The e-mail address that the orders were made with."]) -> list[str]:
    """List what somebody has ordered."""
    return []
''',
        find=_undescribed,
    ),
    Rule(
        id="TG103",
        severity="warning",
        title="a date that takes any text",
        reason="A model sends 'tomorrow' or '12/11' to a `str`; to a `date` it sends a date, or is told how.",
        mend="use datetime.date or datetime.datetime",
        bad='''
@server.tool
def book_room(arrival_date: Annotated[str, "The day of arrival."]) -> str:
    """Reserve a room for one night."""
    return "booked"
''',
        good='''
@server.tool
def book_room(arrival_date: Annotated[date, "The day of arrival."]) -> str:
    """Reserve a room for one night."""
    return "booked"
''',
        find=_date,
    ),
    Rule(
        id="TG104",
        severity="warning",
        title="a number that takes any text",
        reason="A number that travels as text arrives as '3', 'three' or '3 nights', and no bound can hold.",
        mend="use int or float, with Field(ge=..., le=...)",
        bad='''
@server.tool
def reserve(guest_count: Annotated[str, "How many people come."]) -> str:
    """Keep a table free."""
    return "reserved"
''',
        good='''
@server.tool
def reserve(guest_count: Annotated[int, Field(ge=1, le=20), "How many people come."]) -> str:
    """Keep a table free."""
    return "reserved"
''',
        find=_number,
    ),
    Rule(
        id="TG105",
        severity="warning",
        title="a choice that takes any text",
        reason="Words that stand only in a description or in an `if` are neither offered nor enforced.",
        mend="use Literal[...] or an Enum",
        bad='''
@server.tool
def paint(color: Annotated[str, "Either 'red' or 'blue'."]) -> str:
    """Paint the fence."""
    return "painted"
''',
        good='''
@server.tool
def paint(color: Annotated[Literal["red", "blue"], "The colour."]) -> str:
    """Paint the fence."""
    return "painted"
''',
        find=_choice,
    ),
    Rule(
        id="TG106",
        severity="warning",
        title="a limit without bounds",
        reason="A model that wants everything asks for 1000000, and to most databases -1 is no limit.",
        mend="use Annotated[int, Field(ge=1, le=100)]",
        bad='''
@server.tool
def latest_orders(limit: Annotated[int, "The most to return."] = 20) -> list[str]:
    """List orders, the newest first."""
    return []
''',
        good='''
@server.tool
def latest_orders(limit: Annotated[int, Field(ge=1, le=100), "The most to return."] = 20) -> list[str]:
    """List orders, the newest first."""
    return []
''',
        find=_limit,
    ),
    Rule(
        id="TG107",
        severity="warning",
        title="a tool without a return annotation",
        reason="Without one there is no outputSchema, so no program can rely on it and no gate judges it.",
        mend="annotate what it returns",
        bad='''
@server.tool
def open_shop():
    """Open the doors for customers."""
    return "open"
''',
        good='''
@server.tool
def open_shop() -> str:
    """Open the doors for customers."""
    return "open"
''',
        find=_unreturned,
    ),
    Rule(
        id="TG108",
        severity="note",
        title="a result that may be anything",
        reason="`-> dict` or `-> Any` promises nothing, so nothing is published and nothing is judged.",
        mend="return a model, a TypedDict or a dataclass, or give output_schema=",
        bad='''
@server.tool
def stock_report() -> dict:
    """Count what lies in the store."""
    return {"tea": 3}
''',
        good='''
@server.tool
def stock_report() -> dict[str, int]:
    """Count what lies in the store."""
    return {"tea": 3}
''',
        find=_shapeless,
    ),
    Rule(
        id="TG109",
        severity="error",
        title="a default that its own type refuses",
        reason="The function runs with a value that no caller may send, and the default cannot be published.",
        mend="change the default or the type; T | None = None says that there may be none",
        bad='''
@server.tool
def brew(cups: Annotated[int, Field(ge=1), "How many cups."] = 0) -> str:
    """Make tea."""
    return "brewed"
''',
        good='''
@server.tool
def brew(cups: Annotated[int, Field(ge=1), "How many cups."] = 1) -> str:
    """Make tea."""
    return "brewed"
''',
        find=_default,
    ),
    Rule(
        id="TG110",
        severity="error",
        title="a secret in a default",
        reason="Defaults are published: every client and every model reads it.",
        mend="read it from the environment inside the function, and replace the one that was published",
        bad='''
@server.tool
def connect(dsn: Annotated[str, "The database."] = "postgresql://shop:hunter2@db/orders") -> str:
    """Connect to the books."""
    return "connected"
''',
        good='''
@server.tool
def connect() -> str:
    """Connect to the books."""
    return "connected" if os.environ.get("SHOP_DSN") else "SHOP_DSN is not set"
''',
        find=_published_secret,
    ),
    Rule(
        id="TG111",
        severity="warning",
        title="a secret that the model must know",
        reason="What a model sends stood in its context: logged, remembered, and easily talked out of it.",
        mend="keep it with the server: the environment, or the principal of the caller",
        bad='''
@server.tool
def sign_in(api_key: Annotated[str, "The key of the shop."]) -> str:
    """Sign in at the supplier's."""
    return "signed in"
''',
        good='''
@server.tool
def sign_in() -> str:
    """Sign in at the supplier's with the key of the shop."""
    return "signed in" if "SUPPLIER_KEY" in os.environ else "no key is set"
''',
        find=_asked_secret,
    ),
    Rule(
        id="TG112",
        severity="warning",
        title="an enum of very many values",
        reason="The whole list is in the model's context in every conversation, used or not.",
        mend="take a text, and offer a tool that searches the values; say that one exists in the refusal",
        bad='''
@server.tool
def price(sku: Annotated[Literal[tuple(f"sku-{n}" for n in range(150))], "The article."]) -> float:
    """Tell what an article costs."""
    return 1.0
''',
        good='''
@server.tool
def price(sku: Annotated[str, Field(pattern="^sku-[0-9]+$"), "An article."]) -> float:
    """Tell what an article costs."""
    return 1.0
''',
        find=_crowd,
    ),
)
