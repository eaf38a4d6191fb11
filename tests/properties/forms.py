"""Type hints of every kind, each with what its values are: the family that the property tests draw from.

The law of the file: a form knows its hint, how to tell that a Python value is of it, exactly, and how to
make such values. It knows nothing of JSON Schema.
"""

import collections.abc
import dataclasses
import datetime as dt
import enum
import re
import sys
import types
import typing
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import pydantic
import typing_extensions
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

__all__ = ["NAMES", "UNSET", "Form", "forms", "is_json", "key_token", "open_models", "token"]

UNSET = dataclasses.MISSING


@dataclasses.dataclass(frozen=True)
class Form:
    """A type hint.

    Attributes:
        hint: as an author writes it.
        holds: whether a value is of it, as the function must receive it.
        values: Python values of it.
        hashable: whether its values can be in a set.
        nullable: whether it allows None.
        marks: what is in it that cannot stand everywhere. pydantic cannot read an `opaque` class nor, below
            Python 3.12, an `old table`; a `table` in a model that allows unknown keys keeps them as well;
            JSON may not tell the members of an `ambiguous` union apart.
    """

    hint: Any
    holds: Callable[[Any], bool]
    values: st.SearchStrategy[Any]
    hashable: bool = False
    nullable: bool = False
    marks: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Form({self.hint})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def marks(forms_: Iterable[Form]) -> frozenset[str]:
    return frozenset().union(*(form.marks for form in forms_))


token = st.text("abcdefgh0123", min_size=3, max_size=8).map("zq{}".format)
"""Strings that are found again wherever they are repeated."""
key_token = st.text("abcdefgh0123", min_size=1, max_size=4).map("kx{}".format)
texts = token | token | st.text(max_size=6)


def exactly(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is kind


def is_json(value: Any) -> bool:
    """Whether a value is what a JSON decoder gives."""
    if isinstance(value, dict):
        return all(type(key) is str and is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_json, value))
    return value is None or type(value) in (bool, int, float, str)


# --- scalars

whole = st.integers(-(2**40), 2**40) | st.integers() | st.integers(-100, 100).map(lambda number: number * 10)
finite = st.floats(allow_nan=False, allow_infinity=False)
offsets = st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
zones = st.none() | st.just(dt.UTC) | offsets
decimals = st.decimals(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [Decimal("1E+2"), Decimal("0E-10"), Decimal("-0"), Decimal("1.10"), Decimal("1E-7")]
)
SCALARS = {
    int: whole,
    float: finite,
    bool: st.booleans(),
    str: texts,
    dt.date: st.dates(),
    dt.datetime: st.datetimes(timezones=zones),
    dt.time: st.times(timezones=zones),
    dt.timedelta: st.timedeltas(),
    uuid.UUID: st.uuids(),
    Decimal: decimals,
    bytes: st.binary(max_size=8) | st.sampled_from([b"abcd", b"hi", b"\x80"]),
}
plain_scalars = st.sampled_from(
    [Form(kind, exactly(kind), values, hashable=True) for kind, values in SCALARS.items()]
)


@st.composite
def constrained(draw: st.DrawFn) -> Form:
    """A number, string or bytes with bounds."""
    return draw(draw(st.sampled_from([bounded_integers, bounded_floats, bounded_texts, multiples]))())


@st.composite
def bounded_integers(draw: st.DrawFn) -> Form:
    low = draw(st.integers(-1000, 1000))
    high = low + draw(st.integers(0, 50))
    bounds = draw(st.sampled_from([{"ge": low, "le": high}, {"gt": low - 1, "lt": high + 1}, {"ge": low}]))
    return Form(Annotated[int, Field(**bounds)], exactly(int), st.integers(low, high), hashable=True)


@st.composite
def bounded_floats(draw: st.DrawFn) -> Form:
    low = draw(st.integers(-8, 8)) / 4
    bounds = draw(
        st.sampled_from([{"ge": low, "le": low + 2}, {"gt": low - 1, "lt": low + 3}, {"le": low + 2}])
    )
    return Form(Annotated[float, Field(**bounds)], exactly(float), st.floats(low, low + 2), hashable=True)


@st.composite
def multiples(draw: st.DrawFn) -> Form:
    kind, step = draw(
        st.sampled_from([(int, 5), (int, 2), (float, 0.5), (float, 0.01), (Decimal, Decimal("0.01"))])
    )
    values = st.integers(-50, 50).map(lambda count: kind(Decimal(count) * Decimal(str(step))))
    return Form(Annotated[kind, Field(multiple_of=step)], exactly(kind), values, hashable=True)


PATTERNS = (
    r"^[a-z]{2,5}$",
    r"^\d{4}-\d{2}$",
    r"[A-Z]",
    r"^(?:red|green)-[0-9]+$",
    r"^$|^x",
    r"^zq\w*$",
    "é$",
)


@st.composite
def bounded_texts(draw: st.DrawFn) -> Form:
    if draw(st.booleans()):
        pattern = draw(st.sampled_from(PATTERNS))
        values = st.from_regex(re.compile(pattern.replace("$", r"\Z"), re.ASCII))
        return Form(Annotated[str, Field(pattern=pattern)], exactly(str), values, hashable=True)
    low = draw(st.integers(0, 4))
    bounds = draw(
        st.sampled_from([{"min_length": low, "max_length": low + 3}, {"min_length": low}, {"max_length": 3}])
    )
    values = st.text(min_size=bounds.get("min_length", 0), max_size=bounds.get("max_length", low + 3))
    return Form(Annotated[str, Field(**bounds)], exactly(str), values, hashable=True)


# --- choices

OPTIONS = ("red", "green", "blue", "1", "true", "null", "", "2026-11-01", 0, 1, 2, -7, True, False)


@st.composite
def literals(draw: st.DrawFn) -> Form:
    """Strings, integers, booleans, or all of them; 1 and True are two options."""
    pool = draw(st.sampled_from([OPTIONS[:8], OPTIONS[8:12], OPTIONS[12:], OPTIONS]))
    options = draw(
        st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique_by=lambda each: (type(each), each))
    )
    hint: Any = Literal[tuple(options)]
    return Form(hint, one_of_exactly(options), st.sampled_from(options), hashable=True)


def one_of_exactly(options: list[Any]) -> Callable[[Any], bool]:
    return lambda value: any(type(value) is type(option) and value == option for option in options)


@st.composite
def enums(draw: st.DrawFn) -> Form:
    """Enumerations of strings, of integers, of both; and their special kinds."""
    base, pool = draw(
        st.sampled_from(
            [
                (enum.Enum, ["red", "green", "blue"]),
                (enum.StrEnum, ["red", "green", "blue"]),
                (enum.IntEnum, [0, 1, 2, 40]),
                (enum.Enum, [0, 1, 2, 40]),
                (enum.Enum, ["red", 2, "2", 0]),
                (enum.Enum, [0.5, 1.5]),
                (enum.Enum, [True, "yes"]),
                (enum.Enum, [dt.date(2026, 1, 3), dt.timedelta(minutes=5), "red"]),
                (enum.Enum, [Decimal("1.50"), b"\xfb\xff", (1, "x"), 2]),
            ]
        )
    )
    chosen = draw(st.lists(st.sampled_from(pool), min_size=1, unique=True))
    made: Any = base(draw(class_names), {f"M{index}": value for index, value in enumerate(chosen)})
    return Form(made, exactly(made), st.sampled_from(list(made)), hashable=True)


class_names = st.sampled_from(["Color", "Order", "Item", "a_b", "Type"])  # few, so that they collide


# --- containers


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """Lists, sets and tuples, some with bounds on their length."""
    kind = draw(st.sampled_from([list, tuple, set, frozenset, collections.abc.Sequence]))
    item = draw(inner.filter(in_sets) if kind in (set, frozenset) else inner)
    low = 0 if kind in (set, frozenset) else draw(st.integers(0, 2))  # some items have one value only
    bounds = draw(st.sampled_from([{}, {}, {"min_length": low, "max_length": low + 2}, {"max_length": 2}]))
    hint: Any = kind[item.hint, ...] if kind is tuple else kind[item.hint]
    if bounds:
        hint = Annotated[hint, Field(**bounds)]
    made = list if kind is collections.abc.Sequence else kind
    least, most = bounds.get("min_length", 0), bounds.get("max_length", 3)
    lists = st.lists(item.values, min_size=least, max_size=most, unique=kind in (set, frozenset))
    return Form(
        hint,
        lambda value: type(value) is made and all(map(item.holds, value)),
        lists.map(made),
        hashable=item.hashable and kind in (tuple, frozenset),
        marks=item.marks,
    )


def in_sets(form: Form) -> bool:
    """Whether two members of a set are two items in JSON, where a set is an array of unique items."""
    return form.hashable and "ambiguous" not in form.marks


@st.composite
def pairs(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """A tuple of fixed length."""
    items = draw(st.lists(inner, min_size=1, max_size=3))
    return Form(
        tuple[tuple(item.hint for item in items)],
        lambda value: type(value) is tuple and len(value) == len(items) and holds_each(items, value),
        st.tuples(*(item.values for item in items)),
        hashable=all(item.hashable for item in items),
        marks=marks(items),
    )


def holds_each(items: list[Form], values: Any) -> bool:
    return all(item.holds(value) for item, value in zip(items, values, strict=True))


def are_keys(values: list[Any]) -> bool:
    """Whether these can be the keys of one object: strings and integers, no two the same as text."""
    return {type(value) for value in values} <= {str, int} and len(set(map(str, values))) == len(values)


keys = st.one_of(
    st.just(Form(str, exactly(str), key_token, hashable=True)),
    st.sampled_from(
        [Form(kind, exactly(kind), SCALARS[kind], hashable=True) for kind in (int, dt.date, uuid.UUID)]
    ),
    enums().filter(lambda form: are_keys([member.value for member in form.hint])),
    st.sampled_from(["a", "b"]).map(
        lambda text: Form(Literal["a", "b"], one_of_exactly(["a", "b"]), st.just(text))
    ),
)


@st.composite
def mappings(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """Objects whose keys are data: strings, numbers, dates or members of an enumeration."""
    key, item = draw(keys), draw(inner)
    kind = draw(st.sampled_from([dict, dict, collections.abc.Mapping]))
    return Form(
        kind[key.hint, item.hint],
        lambda value: (
            type(value) is dict and all(map(key.holds, value)) and all(map(item.holds, value.values()))
        ),
        st.dictionaries(key.values, item.values, max_size=2),
        marks=item.marks,
    )


# --- unions


NONE = Form(None, lambda value: value is None, st.none(), hashable=True, nullable=True)


def nullable(form: Form) -> Form:
    return Form(
        Optional[form.hint],  # noqa: UP045  (None | None is no type)
        lambda value: value is None or form.holds(value),
        st.none() | form.values,
        hashable=form.hashable,
        nullable=True,
        marks=form.marks,
    )


@st.composite
def unions(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """Two or three forms, of which a value is one."""
    members = draw(st.lists(inner, min_size=2, max_size=3))
    return Form(
        Union[tuple(member.hint for member in members)],  # noqa: UP007
        lambda value: any(member.holds(value) for member in members),
        st.one_of(member.values for member in members),
        hashable=all(member.hashable for member in members),
        nullable=any(member.nullable for member in members),
        marks=marks(members) | {"ambiguous"},
    )


# --- objects

NAMES = (
    *(
        "query",
        "limit",
        "json",
        "model_config",
        "type",
        "title",
        "default",
        "properties",
        "self_",
        "_x",
        "items",
    ),
    *(
        "schema",
        "copy",
        "required",
        "kwargs",
        "args",
        "name",
        "arguments",
        "validate",
        "cls_",
        "f",
        "values",
        "é",
    ),
)
"""Names of parameters."""

FIELD_NAMES = ("alpha", "beta", "type", "title", "items", "default", "properties", "required", "enum", "ref")
ALIASES = ("fromDate", "$ref", "first name", "x-é", "const")


TABLE = frozenset({"table"})
UNREADABLE = frozenset({"opaque", "old table"})


class Member(NamedTuple):
    """A field of an object: its form, its default if it has one, and its name as it travels."""

    form: Form
    default: Any = UNSET
    alias: str | None = None


@st.composite
def members(
    draw: st.DrawFn,
    inner: st.SearchStrategy[Form],
    aliased: bool = False,
    refused: Collection[str] = UNREADABLE,
) -> dict[str, Member]:
    """The fields of an object, those without a default first."""
    inner = inner.filter(lambda form: form.marks.isdisjoint(refused))
    names = draw(st.lists(st.sampled_from(FIELD_NAMES), min_size=1, max_size=3, unique=True))
    aliases = dict(zip(names, draw(st.permutations(ALIASES)), strict=False))
    made = {}
    for name in names:
        form = draw(inner)
        default = draw(form.values) if draw(st.booleans()) else UNSET
        alias = aliases[name] if aliased and draw(st.integers(0, 3)) == 0 else None
        made[name] = Member(form, default, alias)
    return dict(sorted(made.items(), key=lambda item: item[1].default is not UNSET))


def optional(found: Mapping[str, Member]) -> set[str]:
    return {name for name, member in found.items() if member.default is not UNSET}


def built(
    make: Callable[..., Any], found: Mapping[str, Member], by_alias: bool = False
) -> st.SearchStrategy[Any]:
    """Instances that *make* makes, with and without the fields that have a default."""
    named = {(member.alias or name if by_alias else name): member for name, member in found.items()}
    return st.fixed_dictionaries(
        {name: member.form.values for name, member in named.items() if member.default is UNSET},
        optional={name: member.form.values for name, member in named.items() if member.default is not UNSET},
    ).map(lambda values: make(**values))


def instance_of(kind: type, found: Mapping[str, Member]) -> Callable[[Any], bool]:
    return lambda value: (
        type(value) is kind and all(member.form.holds(getattr(value, name)) for name, member in found.items())
    )


@st.composite
def dataclass_forms(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    found = draw(members(inner))
    fields = [(name, member.form.hint, *dataclass_default(member.default)) for name, member in found.items()]
    made = dataclasses.make_dataclass(draw(class_names), fields, kw_only=draw(st.booleans()))
    return Form(made, instance_of(made, found), built(made, found), marks=members_marks(found))


def members_marks(found: Mapping[str, Member]) -> frozenset[str]:
    return marks(member.form for member in found.values())


def dataclass_default(default: Any) -> tuple[Any, ...]:
    if default is UNSET:
        return ()
    if type(default).__hash__ is None:
        return (dataclasses.field(default_factory=lambda: default),)
    return (dataclasses.field(default=default),)


@st.composite
def model_forms(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """A pydantic model: with aliases, defaults, and any rule for unknown keys."""
    extra = draw(st.sampled_from([None, "forbid", "ignore", "allow"]))
    found = draw(members(inner, aliased=True, refused=UNREADABLE | TABLE if extra == "allow" else UNREADABLE))
    made = make_model(draw(class_names), found, extra)
    return Form(made, instance_of(made, found), built(made, found, by_alias=True), marks=members_marks(found))


def make_model(name: str, found: Mapping[str, Member], extra: Any = None, **tags: Any) -> Any:
    fields: dict[str, Any] = {}
    for key, member in found.items():
        options = {} if member.alias is None else {"alias": member.alias}
        default = ... if member.default is UNSET else member.default
        fields[key] = (member.form.hint, Field(default, **options))
    config = ConfigDict(extra=extra) if extra is not None else None
    return pydantic.create_model(name, __config__=config, **fields, **tags)


@st.composite
def open_models(draw: st.DrawFn) -> Form:
    """A model of scalars that drops unknown keys, some of it left out: many values fit several of them."""
    found = draw(members(scalars, refused=UNREADABLE))
    made = make_model(draw(class_names), found, draw(st.sampled_from(["ignore", None])))
    return Form(made, instance_of(made, found), built(made, found))


@st.composite
def table_forms(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """A TypedDict of either kind, with keys that need not be there."""
    maker: Any = draw(st.sampled_from([typing.TypedDict, typing_extensions.TypedDict]))
    old = frozenset({"old table"} if maker is typing.TypedDict and sys.version_info < (3, 12) else ())
    found = draw(members(inner, refused=UNREADABLE - old))
    total = draw(st.booleans())
    marks = {True: typing_extensions.Required, False: typing_extensions.NotRequired}
    fields = {
        name: member.form.hint if total == needed else marks[needed][member.form.hint]
        for name, member in found.items()
        for needed in [member.default is UNSET]
    }
    made = maker(draw(class_names), fields, total=total)
    needed = set(found) - optional(found)

    def holds(value: Any) -> bool:
        known = type(value) is dict and needed <= value.keys() <= found.keys()
        return known and all(found[key].form.holds(item) for key, item in value.items())

    return Form(made, holds, built(dict, found), marks=TABLE | old | members_marks(found))


@st.composite
def row_forms(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """A NamedTuple, which travels as an array."""
    found = draw(members(inner))
    body = {name: member.default for name, member in found.items() if member.default is not UNSET}
    body["__module__"] = __name__
    body["__annotations__"] = {name: member.form.hint for name, member in found.items()}
    made: Any = types.new_class(draw(class_names), (NamedTuple,), {}, lambda space: space.update(body))
    hashable = all(member.form.hashable for member in found.values())
    return Form(
        made, instance_of(made, found), built(made, found), hashable=hashable, marks=members_marks(found)
    )


@st.composite
def tagged_unions(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    """A union of models that a field tells apart."""
    count = draw(st.integers(2, 3))
    members_ = []
    for index in range(count):
        found = draw(members(inner).map(lambda made: {key: made[key] for key in made if key != "type"}))
        default = draw(st.sampled_from([..., f"k{index}"]))
        made = make_model(f"Kind{index}", found, kind=(Literal[f"k{index}"], default))
        values = built(lambda made=made, index=index, **fields: made(kind=f"k{index}", **fields), found)
        members_.append(Form(made, instance_of(made, found), values, marks=members_marks(found)))
    hint: Any = Union[tuple(member.hint for member in members_)]  # noqa: UP007
    hint = Annotated[hint, Field(discriminator="kind")]
    return Form(
        hint,
        lambda value: any(member.holds(value) for member in members_),
        st.one_of(member.values for member in members_),
        marks=marks(members_),
    )


# --- classes that are written down: generic, recursive, opaque

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """A page of things."""

    items: list[T]
    total: int = 0


@dataclasses.dataclass
class Pair(Generic[T]):
    """Two of a kind."""

    left: T
    right: T


class Box(typing_extensions.TypedDict, Generic[T]):
    """Something in a box."""

    content: T


@st.composite
def generics(draw: st.DrawFn, inner: st.SearchStrategy[Form]) -> Form:
    item = draw(inner.filter(lambda form: form.marks.isdisjoint(UNREADABLE)))
    values = item.values
    return draw(
        st.sampled_from(
            [
                Form(
                    Page[item.hint],  # type: ignore[name-defined]
                    lambda page: (
                        isinstance(page, Page)
                        and all(map(item.holds, page.items))
                        and type(page.total) is int
                    ),
                    st.lists(values, max_size=2).map(lambda items: Page[item.hint](items=items)),  # type: ignore[name-defined]
                    marks=item.marks,
                ),
                Form(
                    Pair[item.hint],  # type: ignore[name-defined]
                    lambda pair: type(pair) is Pair and item.holds(pair.left) and item.holds(pair.right),
                    st.tuples(values, values).map(lambda two: Pair(*two)),
                    marks=item.marks,
                ),
                Form(
                    Box[item.hint],  # type: ignore[name-defined]
                    lambda box: (
                        type(box) is dict and box.keys() == {"content"} and item.holds(box["content"])
                    ),
                    values.map(lambda value: {"content": value}),
                    marks=TABLE | item.marks,
                ),
            ]
        )
    )


class Tree(BaseModel):
    """A model that holds its own kind."""

    value: int
    children: list["Tree"] = []


@dataclasses.dataclass
class Chain:
    """A dataclass that holds its own kind."""

    label: str
    next: "Chain | None" = None


class Menu(typing_extensions.TypedDict):
    """A TypedDict that holds its own kind."""

    label: str
    entries: typing_extensions.NotRequired[list["Menu"]]


Nested = typing_extensions.TypeAliasType("Nested", "list[Nested] | int")


def is_tree(value: Any) -> bool:
    return type(value) is Tree and type(value.value) is int and all(map(is_tree, value.children))


def is_chain(value: Any) -> bool:
    return type(value) is Chain and type(value.label) is str and (value.next is None or is_chain(value.next))


def is_menu(value: Any) -> bool:
    known = type(value) is dict and {"label"} <= value.keys() <= {"label", "entries"}
    return known and type(value["label"]) is str and all(map(is_menu, value.get("entries", ())))


def is_nested(value: Any) -> bool:
    return type(value) is int or (type(value) is list and all(map(is_nested, value)))


class Opaque:
    """Nothing that pydantic or JSON know of."""


json_values = st.recursive(
    st.none() | st.booleans() | whole | finite | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(key_token, inner, max_size=2),
    max_leaves=5,
)
written = st.sampled_from(
    [
        Form(
            Tree,
            is_tree,
            st.recursive(
                whole.map(lambda value: Tree(value=value)),
                lambda inner: st.lists(inner, max_size=2).map(lambda trees: Tree(value=1, children=trees)),
                max_leaves=4,
            ),
        ),
        Form(
            Chain,
            is_chain,
            st.recursive(
                texts.map(Chain), lambda inner: inner.map(lambda rest: Chain("x", rest)), max_leaves=4
            ),
        ),
        Form(
            Menu,
            is_menu,
            st.recursive(
                texts.map(lambda label: {"label": label}),
                lambda inner: st.lists(inner, max_size=2).map(lambda menus: {"label": "m", "entries": menus}),
                max_leaves=4,
            ),
            marks=TABLE,
        ),
        Form(Nested, is_nested, st.recursive(whole, lambda inner: st.lists(inner, max_size=2), max_leaves=4)),
        Form(pydantic.JsonValue, is_json, json_values),
    ]
)
loose = st.sampled_from(
    [
        Form(Any, is_json, json_values),
        Form(object, is_json, json_values),
        Form(Opaque, is_json, json_values, marks=frozenset({"opaque"})),
        Form(dict, lambda value: type(value) is dict, st.dictionaries(key_token, json_values, max_size=2)),
        Form(list, lambda value: type(value) is list, st.lists(json_values, max_size=2)),
    ]
)

scalars = plain_scalars | plain_scalars | constrained() | literals() | enums() | plain_scalars.map(nullable)


NESTED = (
    *(arrays, pairs, mappings, unions, dataclass_forms, model_forms, table_forms, row_forms),
    *(tagged_unions, generics, lambda inner: inner.map(nullable)),
)


@st.composite
def forms(draw: st.DrawFn, depth: int = 2) -> Form:
    """Hints of every kind, nested up to *depth* levels."""
    if depth and draw(st.booleans()):
        return draw(draw(st.sampled_from(NESTED))(forms(depth - 1)))
    return draw(st.one_of(scalars, scalars, scalars, written, loose, st.just(NONE)))
