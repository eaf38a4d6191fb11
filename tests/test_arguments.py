"""What `typegate.contract.arguments` promises: the values of a call, or all that is wrong with them."""

import dataclasses
import datetime
import datetime as dt
import enum
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, Strict

from typegate.contract.arguments import Arguments, Strings, plan_arguments, plan_strings
from typegate.contract.gate import DEFAULT_GATE, Gate
from typegate.contract.signature import read
from typegate.errors import InvalidArguments, RegistrationError
from typegate.types import Issue

DAY = datetime.date(2026, 11, 30)
BOUND: Any = Field(5, ge=1)
DATE = "a date in the form YYYY-MM-DD, for example 2026-11-30"


class Session:
    """What a server supplies."""


class Place(BaseModel):
    """What an argument may be."""

    city: str
    size: int = 0


@dataclasses.dataclass
class Span:
    """What only its author can judge."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError("the end lies before the start")


def even(value: int) -> int:
    """A rule of the author's."""
    if value % 2:
        raise ValueError("it must be even")
    return value


Even = Annotated[int, AfterValidator(even)]


def search(id: str, limit: Annotated[int, Field(ge=1)] = 10, since: datetime.date | None = None) -> None:
    """Look.

    :param id: what for
    """


def anything(a: int, **more: int) -> None:
    """Take whatever is given."""


def bounded(a: int = BOUND) -> None:
    """Take a number with a rule in the place of its default."""


def planned(function: Callable[..., Any], gate: Gate = DEFAULT_GATE, **options: Any) -> Arguments:
    """How the arguments of a function are judged and read."""
    return plan_arguments("search", read(function, (Session,)), gate, **options)


def taking(hint: Any, **options: Any) -> Arguments:
    """The same for a function that takes one thing."""

    def function(a: Any) -> None: ...

    function.__annotations__["a"] = hint
    return planned(function, **options)


def bound(arguments: Arguments, tree: dict[str, Any]) -> dict[str, Any]:
    """The values of a call that needed no repair."""
    values, places = arguments.bind(tree, lambda: json.dumps(tree).encode())
    assert places == ()
    return values


def issues(arguments: Arguments, tree: dict[str, Any]) -> list[Issue]:
    """What is wrong with the arguments of a call."""
    with pytest.raises(InvalidArguments) as caught:
        arguments.bind(tree, lambda: json.dumps(tree).encode())
    return list(caught.value.issues)


def said(arguments: Arguments, tree: dict[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """The same in short: where, and what."""
    return [(issue.path, issue.code) for issue in issues(arguments, tree)]


# --- values --------------------------------------------------------------------------------------

VALUES: list[tuple[Any, Any, Any]] = [
    (int, 3.0, 3),
    (float, 3, 3.0),
    (bytes, "eA==", b"x"),
    (datetime.date, "2026-11-30", DAY),
    (Place, {"city": "Oslo"}, Place(city="Oslo")),
    (list[Place | None], [None, {"city": "Oslo", "size": 5}], [None, Place(city="Oslo", size=5)]),
    (Span, {"low": 1, "high": 2}, Span(1, 2)),
    (int | str, "3", "3"),
    (Literal["a"] | None, None, None),
    (dict[int, bytes], {"1": "eA=="}, {1: b"x"}),
    (Session | int, {"any": [1]}, {"any": [1]}),
    (Even, 4, 4),
]


@pytest.mark.parametrize("index", range(len(VALUES)))
def test_what_the_schema_admits_arrives_in_the_declared_type(index: int) -> None:
    """Built from the tree or from the bytes."""
    hint, sent, received = VALUES[index]
    values = bound(taking(hint), {"a": sent})
    assert values == {"a": received}
    assert type(values["a"]) is type(received)


def test_what_is_left_out_has_its_default() -> None:
    """And null is taken for what may be `None`, although it is not listed."""
    assert bound(planned(search), {"id": "x"}) == {"id": "x", "limit": 10, "since": None}
    assert bound(planned(search), {"id": "x", "since": None})["since"] is None
    assert planned(search).schema["properties"]["since"] == {"type": "string", "format": "date"}


def test_values_are_read_as_the_client_wrote_them() -> None:
    """Where the tree would not do, the bytes are read, and only then."""

    def raw() -> bytes:
        return b'{"a":"2026-11-30"}'

    assert taking(datetime.date).bind({"a": "2000-01-01"}, raw) == ({"a": DAY}, ())
    assert taking(str).bind({"a": "2000-01-01"}, raw) == ({"a": "2000-01-01"}, ())


def test_the_rest_goes_to_kwargs() -> None:
    """Each value in the type that is declared for them."""
    assert bound(planned(anything), {"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert bound(planned(anything), {"a": 1}) == {"a": 1}

    def dates(**more: datetime.date) -> None: ...

    assert bound(planned(dates), {"x": "2026-11-30"}) == {"x": DAY}


def test_a_parameter_under_another_name_arrives_under_its_own() -> None:
    """The caller knows the one, the function the other."""

    def function(a: Annotated[int, Field(alias="from")]) -> None: ...

    assert bound(planned(function), {"from": 1}) == {"a": 1}
    assert said(planned(function), {"a": 1}) == [(("from",), "missing"), (("a",), "unexpected")]


def test_what_is_known_of_the_names() -> None:
    """Those that the caller may use; others go to `**kwargs`, where there are any."""

    def function(a: int, b: Annotated[int, Field(alias="B")], /, c: int, session: Session) -> None: ...

    plan = planned(function)
    assert sorted(plan.known) == ["B", "a", "c"]
    assert (plan.extra, planned(anything).extra is None) == (None, False)


# --- everything that is wrong --------------------------------------------------------------------


def test_everything_is_said_at_once() -> None:
    """What is missing first, then in the order of the listing, then what is not known."""
    assert said(planned(search), {"other": 1, "since": "x", "limit": "y"}) == [
        (("id",), "missing"),
        (("limit",), "type"),
        (("since",), "format"),
        (("other",), "unexpected"),
    ]

    def function(a: int, b: int) -> None: ...

    assert said(planned(function), {"a": "x"}) == [(("b",), "missing"), (("a",), "type")]


def test_what_only_the_type_refuses_is_said_beside_what_the_schema_refuses() -> None:
    """The author's own words, and a schema's, but not both of one place."""

    def function(a: Even, b: str = "", c: Span | int | None = None) -> None: ...

    plan = planned(function)
    assert issues(plan, {"a": 3}) == [
        Issue(path=("a",), code="value", message="'a': it must be even", expected=None)
    ]
    assert said(plan, {"a": 3, "b": 5}) == [(("a",), "value"), (("b",), "type")]
    assert said(plan, {"a": 3, "c": {"low": "x", "high": 1}}) == [(("a",), "value"), (("c", "low"), "type")]


ONLY_TYPES: list[tuple[Any, Any, tuple[str | int, ...], str, str]] = [  # a hint, a value; path, code, message
    (datetime.date, "0000-11-30", ("a",), "format", f"'a' must be {DATE}"),
    (list[datetime.date | None], [None, "0000-11-30"], ("a", 1), "format", f"'a[1]' must be {DATE}"),
    (
        dict[str, Span | None],
        {"x": {"low": 2, "high": 1}},
        ("a", "x"),
        "value",
        "'a.x': the end lies before the start",
    ),
    (bytes, "%", ("a",), "format", "'a' must be base64 text, for example aGVsbG8="),
    (list[Even], [2, 3], ("a", 1), "value", "'a[1]': it must be even"),
]


@pytest.mark.parametrize("index", range(len(ONLY_TYPES)))
def test_a_place_is_named_as_the_caller_knows_it(index: int) -> None:
    """Without the branch of a union, and without what was sent."""
    hint, sent, path, code, message = ONLY_TYPES[index]
    (issue,) = issues(taking(hint), {"a": sent})
    assert (issue.path, issue.code, issue.message) == (path, code, message)


def test_what_is_wrong_with_the_rest_is_said_too() -> None:
    """The values of `**kwargs` are arguments like any other."""

    def function(a: int, **more: Even) -> None: ...

    assert said(planned(function), {"a": 1, "b": "x"}) == [(("b",), "type")]
    assert said(planned(function), {"a": 1, "b": 3}) == [(("b",), "value")]


# --- unknown names -------------------------------------------------------------------------------


@pytest.mark.parametrize(("unknown", "refused"), [("forbid", True), ("ignore", False)])
def test_the_gate_decides_on_unknown_names(unknown: Any, refused: bool) -> None:
    """At every depth; the schema says the same."""

    def function(place: Place) -> None: ...

    plan = planned(function, Gate(unknown=unknown).over(DEFAULT_GATE))
    tree = {"place": {"city": "Oslo", "x": 1}, "y": 1}
    if refused:
        assert said(plan, tree) == [(("place", "x"), "unexpected"), (("y",), "unexpected")]
    else:
        assert bound(plan, tree) == {"place": Place(city="Oslo")}
    nodes = (plan.schema, plan.schema["properties"]["place"])
    assert [node.get("additionalProperties") for node in nodes] == [False if refused else None] * 2


def test_kwargs_cannot_set_what_is_not_the_caller_s() -> None:
    """Neither what is injected nor a parameter under its own name."""

    def function(session: Session, a: Annotated[int, Field(alias="b")] = 1, **more: Any) -> None: ...

    plan = planned(function)
    assert bound(plan, {"b": 2, "c": [3]}) == {"a": 2, "c": [3]}
    assert said(plan, {"session": 1, "a": 2}) == [(("a",), "unexpected"), (("session",), "unexpected")]


# --- repair --------------------------------------------------------------------------------------


def test_what_arrived_as_text_is_read_again() -> None:
    """Only where it was refused; the places are told."""
    plan = taking(list[int])
    assert plan.bind({"a": "[1,2]"}, lambda: b'{"a":"[1,2]"}') == ({"a": [1, 2]}, (("a",),))
    assert bound(taking(list[int] | str), {"a": "[1,2]"}) == {"a": "[1,2]"}
    off = taking(list[int], gate=Gate(repair="none").over(DEFAULT_GATE))
    assert said(off, {"a": "[1,2]"}) == [(("a",), "type")]


def test_a_repair_that_does_not_do_is_told() -> None:
    """With what is wrong after it; the types have a word in it too."""
    plan = taking(list[Even])
    with pytest.raises(InvalidArguments) as caught:
        plan.bind({"a": '["x"]'}, lambda: b"{}")
    assert [issue.path for issue in caught.value.issues] == [("a", 0)]
    assert said(plan, {"a": "[1]"}) == [(("a", 0), "value")]


@pytest.mark.parametrize("repair", ["containers", "all", "none"])
def test_a_null_may_mean_that_something_is_left_out(repair: Any) -> None:
    """Where the gate says so, whatever else is repaired."""
    tree = {"id": "x", "limit": None}
    plan = planned(search, Gate(nulls="default", repair=repair).over(DEFAULT_GATE))
    values = {"id": "x", "limit": 10, "since": None}
    assert plan.bind(tree, lambda: json.dumps(tree).encode()) == (values, (("limit",),))
    assert said(planned(search), tree) == [(("limit",), "type")]


# --- registration --------------------------------------------------------------------------------


def test_the_schema_is_that_of_the_function() -> None:
    """Whatever it takes."""
    assert planned(search).schema == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "what for"},
            "limit": {"type": "integer", "minimum": 1, "default": 10},
            "since": {"type": "string", "format": "date"},
        },
        "required": ["id"],
        "additionalProperties": False,
    }
    assert planned(lambda: None).schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert planned(anything).schema["additionalProperties"] == {"type": "integer"}
    assert planned(lambda a: a).schema["properties"] == {"a": {}}
    assert planned(bounded).schema["properties"] == {"a": {"type": "integer", "minimum": 1, "default": 5}}
    assert planned(search, style="pydantic").schema["properties"]["id"]["title"] == "Id"


def test_a_default_that_its_schema_refuses_is_not_listed() -> None:
    """The caller could not send it; it arrives all the same."""

    def function(a: Annotated[int, Field(ge=1)] = 0) -> None: ...

    assert "default" not in planned(function).schema["properties"]["a"]
    assert bound(planned(function), {}) == {"a": 0}


OWN = {"type": "object", "properties": {"id": {"type": "string", "maxLength": 2}}, "title": "T"}


def test_a_schema_of_the_author_s_is_published_as_given() -> None:
    """It judges first, and the types of the function after it."""
    plan = planned(search, explicit=OWN)
    assert plan.schema == OWN
    assert bound(plan, {"id": "xy"})["limit"] == 10
    assert said(plan, {"id": "xyz", "limit": "x"}) == [(("id",), "too_long"), (("limit",), "type")]
    assert said(plan, {}) == [(("id",), "missing")]
    (late,) = issues(plan, {"id": "x", "since": "0000-11-30"})
    assert (late.path, late.expected) == (("since",), DATE)
    assert bound(plan, {"id": "x", "other": 1})["id"] == "x"
    more = {**OWN, "properties": {"b": {"type": "string"}}}
    assert said(planned(anything, explicit=more), {"a": 1, "b": 2}) == [(("b",), "type")]


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"type": "array"}, """schema= of 'search' must have "type": "object" at its root"""),
    ({}, """schema= of 'search' must have "type": "object" at its root"""),
    (
        {**OWN, "properties": {"x": {}}},
        "has the property 'x', which the function does not take; add the parameter",
    ),
    ({**OWN, "required": 5}, "schema= of 'search' is no JSON Schema that can be used"),
    ({**OWN, "title": "x" * 2_000_000}, "at most 1,048,576 can be served"),
]


@pytest.mark.parametrize("index", range(len(UNFIT)))
def test_a_schema_that_does_not_fit_the_function_is_refused(index: int) -> None:
    """With what to do."""
    schema, text = UNFIT[index]
    with pytest.raises(RegistrationError) as caught:
        planned(search, explicit=schema)
    assert text in str(caught.value)


def test_two_parameters_cannot_share_a_name() -> None:
    """One of them would never be set."""

    def function(a: Annotated[int, Field(alias="x")], x: int) -> None: ...

    with pytest.raises(
        RegistrationError, match="'search' has two parameters that travel under the same name"
    ):
        planned(function)


# --- strings -------------------------------------------------------------------------------------


def strings(function: Callable[..., Any], *required: str) -> Strings:
    """How strings for a function are read."""
    return plan_strings("find", read(function), frozenset(required))


def find(a: int, b: datetime.date | None = None, c: Even = 2, d: str = "5") -> None:
    """Look for it."""


def test_strings_are_read_as_what_is_declared() -> None:
    """What is not given has its default."""
    plan = strings(find, "a")
    assert plan.bind({"a": "5", "b": "2026-11-30"}) == {"a": 5, "b": DAY, "c": 2, "d": "5"}
    assert plan.bind({"a": "5", "d": "6"})["d"] == "6"

    def strict(n: Annotated[int, Strict()]) -> None: ...

    assert strings(strict).bind({"n": "5"}) == {"n": 5}
    assert (sorted(plan.parameters), sorted(plan.required), plan.open) == (["a", "b", "c", "d"], ["a"], False)


def test_a_variable_may_have_several_values() -> None:
    """They are given as a list."""

    def function(words: list[str], n: int = 0) -> None: ...

    assert strings(function, "words").bind({"words": ["a", "b"], "n": "5"}) == {"words": ["a", "b"], "n": 5}


def test_other_names_are_passed_on_as_they_are() -> None:
    """Where the function takes them; else they are refused."""
    assert strings(anything, "a").bind({"a": "1", "b": "2"}) == {"a": 1, "b": "2"}
    assert strings(anything).open is True


def test_everything_that_is_wrong_with_strings_is_said() -> None:
    """What is missing, what is not known, and what cannot be read; each place once."""
    with pytest.raises(InvalidArguments, match="missing required argument 'd'"):
        strings(find, "d").bind({"a": "1"})
    with pytest.raises(InvalidArguments) as caught:
        strings(find, "a").bind({"b": "x", "c": "3", "dd": "1"})
    found = {issue.path: (issue.code, issue.message) for issue in caught.value.issues}
    assert found == {
        ("a",): ("missing", "missing required argument 'a'"),
        ("dd",): ("unexpected", "unexpected argument 'dd'; did you mean 'd'?"),
        ("b",): ("format", f"'b' must be {DATE}"),
        ("c",): ("value", "'c': it must be even"),
    }
    assert len(caught.value.issues) == len(found)


# --- strings that stand for more ---


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"
    DAY = dt.date(2026, 1, 3)


class Filter(BaseModel):
    limit: int
    since: dt.date | None = None


def filled(hint: Any, text: Any) -> Any:
    """What a prompt gets for the text of one argument."""

    def prompt(x):
        return x

    prompt.__annotations__["x"] = hint
    return plan_strings("prompt", read(prompt), frozenset()).bind({"x": text})["x"]


def issue(hint: Any, text: Any) -> Issue:
    """What is wrong with a text."""
    with pytest.raises(InvalidArguments) as caught:
        filled(hint, text)
    [found] = caught.value.issues
    return found


@pytest.mark.parametrize(
    ("hint", "text", "expected"),
    [
        (str, "5", "5"),
        (int, "5", 5),
        (int, " 5 ", 5),
        (int, "1e30", int(1e30)),
        (float, "1.5", 1.5),
        (Decimal, "1.50", Decimal("1.50")),
        (bool, "yes", True),
        (bool, "false", False),
        (int | None, "null", None),
        (str | None, "null", "null"),
        (int | str, "5", "5"),
        (dt.date, "2026-01-03", dt.date(2026, 1, 3)),
        (dt.datetime | str, "20260103", "20260103"),
        (bytes, "aGk=", b"hi"),
        (Literal[1, 2], "1", 1),
        (Literal[1, "one"], "1", 1),
        (Literal["1", 1], "1", "1"),
        (Mixed, "1", Mixed.ONE),
        (Mixed, "two", Mixed.TWO),
        (Mixed, "2026-01-03", Mixed.DAY),
        (list[str], '["a"]', ["a"]),
        (list[str] | None, '["a"]', ["a"]),
        (list[str] | str, '["a"]', '["a"]'),
        (list[int], "[1,2]", [1, 2]),
        (tuple[int, str], '[1,"a"]', (1, "a")),
        (dict[str, int], '{"a":1}', {"a": 1}),
        (Filter, '{"limit":1,"since":"2026-01-03"}', Filter(limit=1, since=dt.date(2026, 1, 3))),
        (list[str], ["a", "b"], ["a", "b"]),
        (list[int], ["1", "2"], [1, 2]),
        (set[int], ["1", "1"], {1}),
        (list[dt.date], ["2026-01-03"], [dt.date(2026, 1, 3)]),
        (Any, ["a"], ["a"]),
    ],
    ids=repr,
)
def test_a_text_is_read_as_the_schema_means_it(hint: Any, text: Any, expected: Any) -> None:
    """As text where the schema admits one, else as JSON, else as people write numbers and dates."""
    found = filled(hint, text)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize(
    ("hint", "text", "path", "message"),
    [
        (int, "x", ("x",), "'x' must be integer"),
        (Annotated[int, Field(ge=5)], "3", ("x",), "'x' must be greater than or equal to 5"),
        (Literal[1, 2], "3", ("x",), "'x' must be one of 1, 2"),
        (list[str], "a", ("x",), "'x' must be JSON text of array of string"),
        (list[str], "[1]", ("x", 0), "'x[0]' must be string, got integer"),
        (dict[str, int], "a", ("x",), "'x' must be JSON text of object"),
        (Filter, "a", ("x",), "'x' must be JSON text of object with 'limit' (integer)"),
        (Filter, '{"limit":"a"}', ("x", "limit"), "'x.limit' must be integer, got string"),
        (
            Filter,
            '{"limit":1,"sinse":null}',
            ("x", "sinse"),
            "unexpected field 'x.sinse'; did you mean 'since'?",
        ),
        (list[int], ["a"], ("x", 0), "'x[0]' must be integer"),
        (str, ["a"], ("x",), "'x' is given as a list, so its parameter must be one, such as list[str]"),
        *(
            (hint, text, ("x",), "'x' must be a number that fits 64-bit floating point")
            for hint in (float, Decimal)
            for text in ("nan", "inf", "-Infinity")
        ),
        (float, "1e400", ("x",), "'x' must be a number that fits 64-bit floating point"),
    ],
    ids=repr,
)
def test_a_refusal_says_what_is_expected(hint: Any, text: Any, path: Any, message: str) -> None:
    """And where, inside of decoded JSON too."""
    found = issue(hint, text)
    assert (found.path, found.message) == (path, message)


def test_everything_that_is_wrong_comes_at_once() -> None:
    """What cannot be read, what is missing, and what is unknown."""

    def prompt(a: int, b: list[str], c: str, d: str = "d"):
        return a, b, c, d

    plan = plan_strings("prompt", read(prompt), frozenset({"c"}))
    with pytest.raises(InvalidArguments) as caught:
        plan.bind({"a": "x", "b": "y", "z": "1"})
    assert [each.path for each in caught.value.issues] == [("c",), ("z",), ("a",), ("b",)]
    assert plan.bind({"a": "1", "b": "[]", "c": "c"}) == {"a": 1, "b": [], "c": "c", "d": "d"}
