"""What `typegate.server.components` promises: a function is read once, and its plan says all there is."""

import functools
from typing import Annotated, Any, Required

import pytest
from pydantic import Field
from typing_extensions import TypedDict, Unpack

from typegate import Annotations, Icon, PromptArgument, ToolAnnotations
from typegate.contract.gate import DEFAULT_GATE, Gate
from typegate.errors import InvalidArguments, RegistrationError
from typegate.server.components import (
    Callback,
    Shared,
    plan_completion,
    plan_prompt,
    plan_resource,
    plan_template,
    plan_tool,
)
from typegate.server.options import Options
from typegate.types import Prompt, Resource, ResourceTemplate


class Here:
    """What the server supplies."""


SHARED = Shared(gate=DEFAULT_GATE, style="compact", indent=2, injectable=(Here,))


def find(order_id: str, limit: int = 3) -> str:
    """Find an order.

    Args:
        order_id: Which one.
        limit: How many lines.
    """
    return f"{order_id} {limit}"


def nothing() -> None:
    """Give nothing."""


def here_only(here: Here) -> None:
    """Take nothing that a caller could give."""


def everything(**values: Any) -> None:
    """Take whatever there is."""


KINDS: dict[str, Any] = {
    "tool": (plan_tool, find, ""),
    "resource": (plan_resource, nothing, "a://b"),
    "template": (plan_template, find, "a://{order_id}{?limit}"),
    "prompt": (plan_prompt, find, ""),
}


def made(kind: str, function: Any = None, /, **options: Any) -> Any:
    """The plan of a component of this kind."""
    planner, sample, uri = KINDS[kind]
    return planner(function or sample, Options(**{"uri": uri, **options}), SHARED)


tool, resource, template, prompt = (functools.partial(made, kind) for kind in KINDS)
every_kind = pytest.mark.parametrize("kind", KINDS)


# --- calling a function --------------------------------------------------------------------------


def strict(one: Any, two: Any = 2, /, three: Any = 3, **more: Any) -> Any:
    """Two by position."""
    return one, two, three, more


CALLS = [
    (find, (), {"limit": 5, "order_id": "7"}, "7 5"),
    (everything, (), {"a": 1}, None),
    (strict, ("one", "two"), {"two": "b", "one": "a"}, ("a", "b", 3, {})),
    (strict, ("one", "two"), {"one": None}, (None, 2, 3, {})),
    (strict, ("one", "two"), {"three": "c", "two": "b", "one": "a", "x": 4}, ("a", "b", "c", {"x": 4})),
    (nothing, (), {}, None),
]


@pytest.mark.parametrize(("function", "positional", "values", "result"), CALLS)
def test_a_function_gets_its_values_by_name_or_by_position(
    function: Any, positional: tuple[str, ...], values: dict[str, Any], result: Any
) -> None:
    """By position in the function's order, whatever order the values came in; the rest by name."""
    assert Callback(function=function, positional=positional)(values) == result


class Orders:
    """Functions in other forms."""

    def method(self, order_id: str, here: Here) -> str:
        return order_id

    async def later(self, order_id: str) -> str:
        return order_id

    async def __call__(self, order_id: str) -> str:
        return order_id


def mixed(order_id: str, limit: int, /, here: Here, there: Here | None = None) -> None:
    """All ways to take a value."""


def strictly(here: Here, order_id: str, limit: int = 3, /) -> list[Any]:
    """Take all by position."""
    return [here, order_id, limit]


CALLBACKS = [  # a function; injected, positional, is_async
    (find, ((), (), False)),
    (mixed, (("here", "there"), ("order_id", "limit"), False)),
    (strictly, (("here",), ("here", "order_id", "limit"), False)),
    (Orders().method, (("here",), (), False)),
    (Orders().later, ((), (), True)),
    (Orders(), ((), (), True)),
]


@pytest.mark.parametrize(("function", "expected"), CALLBACKS)
def test_a_plan_knows_how_its_function_is_called(function: Any, expected: Any) -> None:
    """What is injected, what goes by position, and whether there is something to wait for."""
    callback = tool(function, name="other").callback
    assert callback.function == function
    assert (callback.injected, callback.positional, callback.is_async) == expected


@pytest.mark.parametrize("kind", ["tool", "template", "prompt"])
def test_every_kind_passes_by_position_what_must_be(kind: str) -> None:
    """What is injected too, in the order of the function."""
    plan, here = made(kind, strictly), Here()
    given = {"order_id": "7"}
    values = plan.arguments.bind(given, bytes)[0] if kind == "tool" else plan.strings.bind(given)
    assert plan.callback({"here": here, **values}) == [here, "7", 3]
    completion = plan_completion(lambda typed, others, /: [typed, others], SHARED)
    assert completion.callback({"others": {}, "typed": "a"}) == ["a", {}]


@pytest.mark.parametrize("inline", [False, True])
@every_kind
def test_every_kind_knows_where_its_function_runs(kind: str, inline: bool) -> None:
    """On the event loop only where the author says so."""
    assert made(kind, inline=inline).callback.inline is inline


# --- what all kinds share ------------------------------------------------------------------------


def test_a_plan_is_found_by_what_a_client_asks_for() -> None:
    """Tools and prompts by their name, resources by their URI."""
    keys = ["other", "a://b", "a://{order_id}{?limit}", "other"]
    assert [made(kind, name="other").key for kind in KINDS] == keys


def test_what_is_listed_comes_from_the_function() -> None:
    """Name, description and arguments; nothing is made up beside them."""
    assert resource().listed == Resource(uri="a://b", name="nothing", description="Give nothing.")
    uri = "a://{order_id}{?limit}"
    assert template().listed == ResourceTemplate(uri_template=uri, name="find", description="Find an order.")
    order_id = PromptArgument(name="order_id", description="Which one.", required=True)
    limit = PromptArgument(name="limit", description="How many lines.", required=False)
    assert prompt().listed == Prompt(name="find", description="Find an order.", arguments=(order_id, limit))
    assert prompt(nothing).listed == Prompt(name="nothing", description="Give nothing.")


LISTED: list[tuple[str, str, Any]] = [
    *((kind, "name", "other") for kind in KINDS),
    *((kind, "title", "Other") for kind in KINDS),
    *((kind, "description", "Another text.") for kind in KINDS),
    *((kind, "description", "") for kind in KINDS),
    *((kind, "icons", (Icon(src="https://example.com/a.png"),)) for kind in KINDS),
    *((kind, "meta", {"dev.example/key": 1}) for kind in KINDS),
    *((kind, "mime_type", "a/b") for kind in ("resource", "template")),
    *((kind, "annotations", Annotations(priority=1.0)) for kind in ("resource", "template")),
    ("resource", "size", 5),
    ("tool", "annotations", ToolAnnotations(read_only_hint=True)),
]


@pytest.mark.parametrize(("kind", "option", "value"), LISTED)
def test_what_a_decorator_was_told_is_listed(kind: str, option: str, value: Any) -> None:
    """It goes before what the function says, and the plan keeps it."""
    plan = made(kind, **{option: value})
    assert getattr(plan.listed, option) == getattr(plan.options, option) == value


@every_kind
def test_tags_stand_in_meta(kind: str) -> None:
    """Sorted, under a key of their own, beside what the author has there, whose dict is left alone."""
    meta, tags = {"dev.example/key": 1}, frozenset({"b", "c", "a"})
    sorted_tags = {"dev.typegate/tags": ["a", "b", "c"]}
    assert made(kind, tags=tags).listed.meta == sorted_tags
    assert made(kind, tags=tags, meta=meta).listed.meta == {"dev.example/key": 1, **sorted_tags}
    assert meta == {"dev.example/key": 1}
    assert made(kind).listed.meta is None


@every_kind
def test_a_plan_cannot_be_changed(kind: str) -> None:
    """What was worked out at registration holds."""
    plan = made(kind)
    for holder, name in ((plan, "key"), (plan.callback, "function"), (plan.options, "scopes")):
        with pytest.raises(AttributeError):
            setattr(holder, name, None)


@every_kind
def test_what_has_no_name_of_its_own_needs_one(kind: str) -> None:
    """The text says what is missing; an empty name is none."""
    function = (lambda: "") if kind == "resource" else (lambda order_id, limit=3: "")
    word = "resource" if kind == "template" else kind
    for options in ({}, {"name": ""}):
        with pytest.raises(RegistrationError, match=f"^this {word} has no name of its own; give name=$"):
            made(kind, function, **options)
    assert made(kind, function, name="other").listed.name == "other"


@every_kind
def test_hints_may_name_what_is_local_to_the_decorator(kind: str) -> None:
    """The names of its frame come with the options."""

    def local(here: "Local") -> str:  # type: ignore[name-defined]  # noqa: F821
        return ""

    uri = {"uri": "a://b"} if kind == "template" else {}
    assert made(kind, local, local_names={"Local": Here}, **uri).callback.injected == ("here",)
    with pytest.raises(RegistrationError, match="names 'Local', which cannot be resolved"):
        made(kind, local, **uri)


# --- tools ---------------------------------------------------------------------------------------

GOOD_NAMES = ["a", "Z", "0", "_", "-", ".", "orders.find-one_2", "a" * 128]
BAD_NAMES = ["a" * 129, "a b", "a/b", "a\n", "é", "٣", "ª", "a:b", "{a}", " a"]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_tool_may_be_called(name: str) -> None:
    """As the specification says: 1 to 128 of A-Z a-z 0-9 _ - . (server/tools)."""
    plan = tool(name=name)
    assert plan.key == plan.listed.name == name


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_a_tool_may_not_be_called(name: str) -> None:
    """Anything else; the text shows the name and says what is allowed. Other kinds are free."""
    with pytest.raises(RegistrationError) as refused:
        tool(name=name)
    assert str(refused.value).startswith(f"tool name '{name}' must be 1 to 128 of A-Z a-z 0-9 _ - .")
    assert [made(kind, name=name).listed.name for kind in KINDS if kind != "tool"] == [name] * 3


def test_the_gate_of_a_tool_is_laid_over_the_servers() -> None:
    """What it leaves open is the server's, and the arguments are judged by the whole."""
    outer = Gate(failure="protocol_error").over(DEFAULT_GATE)
    shared = Shared(gate=outer, style="compact", indent=2, injectable=())
    plan = plan_tool(find, Options(gate=Gate(unknown="ignore")), shared)
    assert plan.gate == Gate(unknown="ignore").over(outer)
    assert "additionalProperties" not in plan.listed.input_schema
    assert plan_tool(find, Options(), shared).gate == outer


def test_a_tool_takes_the_style_and_the_indent_of_its_server() -> None:
    """Both schemas and the text of results follow them."""

    def give(value: int) -> dict[str, list[int]]:
        return {"a": [value]}

    shared = Shared(gate=DEFAULT_GATE, style="pydantic", indent=None, injectable=())
    plan = plan_tool(give, Options(), shared)
    assert plan.listed.input_schema["properties"]["value"] == {"type": "integer", "title": "Value"}
    (block,) = plan.results.shape({"a": [1]}).content
    assert getattr(block, "text", None) == '{"a":[1]}'
    assert getattr(tool(give).results.shape({"a": [1]}).content[0], "text", "").count("\n") == 4


def test_a_tool_publishes_what_it_judges() -> None:
    """Its schemas are those of its arguments and results; handshake clients see an object."""
    plan = tool(output_schema={"type": "string", "maxLength": 5})
    assert plan.listed.input_schema == plan.arguments.schema
    assert plan.listed.output_schema == plan.results.schema == {"type": "string", "maxLength": 5}
    assert plan.listed.object_output_schema["properties"] == {"result": {"type": "string", "maxLength": 5}}
    assert plan.arguments.bind({"order_id": "7"}, lambda: b"{}") == ({"order_id": "7", "limit": 3}, ())
    given = {"type": "object", "maxProperties": 1}
    assert tool(schema=given).listed.input_schema == given
    assert tool(structured_output=False).listed.output_schema is None


class Filters(TypedDict, total=False):
    """What to look for."""

    status: Required[Annotated[str, Field(min_length=2)]]
    limit: Annotated[int, Field(alias="max")]
    note: str | None


def choose(shelf: str, /, **filters: Unpack[Filters]) -> dict[str, Any]:
    """Take the keys of a table."""
    return {"shelf": shelf, **filters}


CHOSEN: list[tuple[dict[str, Any], dict[str, Any]]] = [  # what is sent, what the function then has
    ({"shelf": "a", "status": "open"}, {"shelf": "a", "status": "open"}),
    (
        {"shelf": "a", "status": "open", "max": 5, "note": None},
        {"shelf": "a", "status": "open", "limit": 5, "note": None},
    ),
]


@pytest.mark.parametrize(("sent", "given"), CHOSEN)
def test_the_keys_of_a_TypedDict_are_arguments(sent: dict[str, Any], given: dict[str, Any]) -> None:
    """A key that may be missing is missing in the call when it was not sent."""
    plan = tool(choose)
    assert plan.callback(plan.arguments.bind(sent, lambda: b"")[0]) == given
    strings = prompt(choose).strings.bind({key: value for key, value in sent.items() if key != "note"})
    assert strings.items() <= given.items()


def test_the_keys_of_a_TypedDict_are_published_and_judged() -> None:
    """As if they were parameters; no other names are taken."""
    plan = tool(choose)
    schema = plan.listed.input_schema
    assert list(schema["properties"]) == ["shelf", "status", "max", "note"]
    assert (schema["required"], schema["additionalProperties"]) == (["shelf", "status"], False)
    with pytest.raises(InvalidArguments) as refused:
        plan.arguments.bind({"shelf": "a", "status": "x", "limit": 1}, lambda: b"{}")
    assert {(issue.path, issue.code) for issue in refused.value.issues} == {
        (("status",), "too_short"),
        (("limit",), "unexpected"),
    }
    listed = [(each.name, each.required) for each in prompt(choose).listed.arguments]
    assert listed == [("shelf", True), ("status", True), ("max", False), ("note", False)]


# --- resources -----------------------------------------------------------------------------------


def test_a_fixed_URI_leaves_nothing_to_fill() -> None:
    """A function that takes something is refused with the template it could have; the context is nothing."""
    with pytest.raises(RegistrationError, match=r"takes 'order_id'.*such as 'a://b/\{order_id\}'$"):
        resource(find)
    assert resource(here_only).callback.injected == ("here",)


def show(order_id: str, here: Here) -> None:
    """Take something that is injected."""


def renamed(number: Annotated[int, Field(alias="order-id")]) -> None:
    """Take what travels under another name."""


def paged(page: int = Field(1), *, size: Annotated[int, Field(default=10)]) -> None:
    """Have the defaults in fields."""


FITS = [  # a function, a URI of it; a URI that is read, and the values that the function gets
    (find, "a://{order_id}", "a://7", {"order_id": "7", "limit": 3}),
    (find, "a://{order_id}{?limit}", "a://7?limit=5", {"order_id": "7", "limit": 5}),
    (find, "a://{order_id}{?limit}", "a://7", {"order_id": "7", "limit": 3}),
    (everything, "a://{x}/{y}", "a://1/2", {"x": "1", "y": "2"}),
    (show, "a://{order_id}", "a://7", {"order_id": "7"}),
    (paged, "a://list{?page,size}", "a://list", {"page": 1, "size": 10}),
    (paged, "a://list{?page}", "a://list?page=2", {"page": 2, "size": 10}),
]


@pytest.mark.parametrize(("function", "uri", "read", "values"), FITS)
def test_the_variables_of_a_URI_are_the_parameters(
    function: Any, uri: str, read: str, values: dict[str, Any]
) -> None:
    """They are read as the declared types, and what is left out has its default."""
    plan = template(function, uri=uri)
    assert plan.strings.bind(plan.template.match(read)) == values


MISFITS = [  # a function, a URI that does not fit it, what is said
    (find, "a://{order_id}/{x}", "resource '{}' has the variable 'x', which its function does not take"),
    (nothing, "a://{x}", "resource '{}' has the variable 'x', which its function does not take"),
    (show, "a://{order_id}/{here}", "resource '{}' has the variable 'here', which its function does not"),
    (renamed, "a://{number}", "resource '{}' has the variable 'number', which its function does not take"),
    (find, "a://{limit}", "parameter 'order_id' is not in the URI '{}', so it needs a default"),
    (find, "a://b{?order_id}", "parameter 'order_id' is optional in the URI '{}', so it needs a default"),
    (find, "a://{order_id", "resource '{}': URI template"),
]


@pytest.mark.parametrize(("function", "uri", "said"), MISFITS)
def test_a_URI_that_does_not_fit_its_function_is_refused(function: Any, uri: str, said: str) -> None:
    """The text names the variable or the parameter, and the URI."""
    with pytest.raises(RegistrationError) as refused:
        template(function, uri=uri)
    assert str(refused.value).startswith(said.replace("{}", uri))


def test_a_variable_may_be_declared_unsafe() -> None:
    """Only then does it take a way out of its folder."""
    uri = "a://{order_id}"
    assert template(uri=uri).template.match("a://..") is None
    assert template(uri=uri, unsafe=frozenset({"order_id"})).template.match("a://..") == {"order_id": ".."}


# --- prompts -------------------------------------------------------------------------------------


def defaults(
    a: str,
    b: str = "",
    c: str = Field("x"),
    d: str = Field(alias="4"),
    e: str | None = None,
    f: str | None = Field(min_length=1),
    *,
    g: Annotated[int, Field(default=1)],
    h: Annotated[list[int], Field(default_factory=list)],
) -> None:
    """Have defaults in several places."""


def test_an_argument_with_a_default_is_not_required() -> None:
    """Wherever the default stands; each goes by the name that travels."""
    arguments = [(each.name, each.required) for each in prompt(defaults).listed.arguments]
    required = [("a", True), ("4", True)]
    assert [each for each in arguments if each[1]] == required
    assert [name for name, needed in arguments if not needed] == ["b", "c", "e", "f", "g", "h"]
    by_hand = prompt(defaults, arguments=tuple(PromptArgument(name=name) for name, _ in required))
    assert [each.name for each in by_hand.listed.arguments] == ["a", "4"]


def test_arguments_listed_by_hand_are_listed_as_they_are() -> None:
    """In their order; an empty list is one too."""
    order_id = PromptArgument(name="order_id", title="Order", description="By hand.", required=True)
    limit = PromptArgument(name="limit")
    assert prompt(arguments=(limit, order_id)).listed.arguments == (limit, order_id)
    assert prompt(lambda limit=3: "", name="other", arguments=()).listed.arguments is None


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["order_id", "b", "a"], "lists 'a', which its function does not take"),
        (["limit"], "does not list 'order_id', which it needs"),
        ([], "does not list 'order_id', which it needs"),
    ],
)
def test_arguments_listed_by_hand_must_fit_the_function(names: list[str], said: str) -> None:
    """The text names the prompt and the argument; **kwargs take any."""
    given = tuple(PromptArgument(name=name) for name in names)
    with pytest.raises(RegistrationError, match=f"^prompt 'find' {said}$"):
        prompt(arguments=given)
    assert [each.name for each in prompt(everything, arguments=given).listed.arguments or ()] == names


# --- completions ---------------------------------------------------------------------------------


async def suggest(here: Here, typed: str, others: dict[str, str]) -> list[str]:
    """Suggest something."""
    return [typed]


COMPLETIONS = [  # a function; value, others, injected, is_async
    (lambda typed: [], ("typed", None, (), False)),
    (lambda a, b: [], ("a", "b", (), False)),
    (lambda a, b=None: [], ("a", "b", (), False)),
    (suggest, ("typed", "others", ("here",), True)),
]


@pytest.mark.parametrize(("function", "expected"), COMPLETIONS)
def test_a_completion_takes_what_was_typed_and_may_take_the_rest(function: Any, expected: Any) -> None:
    """In that order, whatever they are called; what is injected does not count."""
    plan = plan_completion(function, SHARED)
    assert plan.callback.function is function
    assert (plan.value, plan.others, plan.callback.injected, plan.callback.is_async) == expected


@pytest.mark.parametrize("function", [nothing, here_only, everything, lambda a, b, c=None: []])
def test_a_completion_that_takes_anything_else_is_refused(function: Any) -> None:
    """The text says what it would get."""
    with pytest.raises(RegistrationError, match=r"^a completion takes the value typed so far"):
        plan_completion(function, SHARED)


def test_a_completion_may_name_what_is_local_to_its_decorator() -> None:
    """As every other kind."""

    def local(here: "Local", typed: str) -> list[str]:  # type: ignore[name-defined]  # noqa: F821
        return []

    assert plan_completion(local, SHARED, {"Local": Here}).callback.injected == ("here",)
    with pytest.raises(RegistrationError, match="names 'Local', which cannot be resolved"):
        plan_completion(local, SHARED)
