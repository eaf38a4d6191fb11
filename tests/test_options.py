"""What `typegate.server.options` promises: a wrong option is refused by name, and what is kept can travel."""

import contextlib
import functools
import math
from collections.abc import AsyncIterator, Iterator
from typing import Any, get_args

import msgspec
import pytest

from typegate import Annotations, Icon, MCPServer, Principal, PromptArgument, ToolAnnotations
from typegate.contract.gate import Gate
from typegate.errors import ConfigurationError, RegistrationError
from typegate.server.options import (
    Options,
    ServerOptions,
    Target,
    check_function,
    read_options,
    read_run_options,
    read_server_options,
    target_of,
)
from typegate.types import Issue

TARGETS: tuple[Target, ...] = get_args(Target)
SERVER = {
    "name": "x",
    "version": "1",
    "on_missing_scope": "hide",
    "gate": Gate(),
    "schema_style": "compact",
    "on_duplicate": "warn",
    "threads": 1,
}
ICON = Icon(src="https://example.com/a.png")


def refusal(target: Target, option: str, value: Any) -> str:
    """What is said to an option of a decorator."""
    with pytest.raises(RegistrationError) as refused:
        read_options(target, {option: value}, {})
    return str(refused.value)


def kept(target: Target, option: str, value: Any) -> Any:
    """How an option of a decorator is kept."""
    return getattr(read_options(target, {option: value}, {}), option)


# --- decorators ----------------------------------------------------------------------------------

ENDLESS: dict[str, Any] = {}
ENDLESS["again"] = ENDLESS
NO_JSON = [  # a dict that cannot travel, what it holds
    ({"x": object()}, "what is no JSON: a value of type object at $.x"),
    ({"x": [math.nan]}, "NaN or an infinity, which JSON cannot hold, at $.x[0]"),
    ({"x": -math.inf}, "NaN or an infinity, which JSON cannot hold, at $.x"),
    (ENDLESS, "a value that contains itself, or is nested too deeply"),
    ({1: "a", "1": "b"}, "an object with two keys that are the same as text, such as 1 and '1'"),
]
WRONG: list[tuple[tuple[Target, ...], str, Any, str]] = [  # whose, which option, a value; what is said
    *((TARGETS, option, 5, "takes a str, not 5") for option in ("name", "title", "description")),
    (TARGETS, "title", b"x", "takes a str, not a value of type bytes"),
    (("resource", "template"), "mime_type", 5, "takes a str, not 5"),
    *((TARGETS, option, 5, "takes a list of str, not 5") for option in ("scopes", "tags")),
    *((TARGETS, option, "admin", "takes a list of str; write ['admin']") for option in ("scopes", "tags")),
    (TARGETS, "scopes", ["a", 5], "takes a list of str; [1] is 5"),
    (TARGETS, "scopes", b"ab", "takes a list of str; [0] is 97"),
    (("template",), "unsafe", "path", "takes a list of str; write ['path']"),
    (TARGETS, "inline", "no", "takes True or False, not 'no'"),
    (TARGETS, "inline", 1, "takes True or False, not 1"),
    (("tool",), "structured_output", "auto", "takes True or False, not 'auto'"),
    (TARGETS, "icons", "abc", "takes a list of Icon(...), not 'abc'"),
    (TARGETS, "icons", ICON, "takes a list of Icon(...), not a value of type Icon"),
    (TARGETS, "icons", [{"src": 3}], "takes a list of Icon(...); [0] is a value of type dict"),
    (TARGETS, "icons", [Icon(src=3)], "takes a list of Icon(...); [0]: its src is int where str belongs"),
    (("tool",), "annotations", Annotations(), "takes ToolAnnotations(...), not a value of type Annotations"),
    (("tool",), "annotations", {"title": "x"}, "takes ToolAnnotations(...), not a value of type dict"),
    (
        ("tool",),
        "annotations",
        ToolAnnotations(read_only_hint="maybe"),  # type: ignore[arg-type]
        "takes ToolAnnotations(...); its read_only_hint is str where bool | null belongs",
    ),
    (
        ("resource", "template"),
        "annotations",
        ToolAnnotations(),
        "takes Annotations(...), not a value of type ToolAnnotations",
    ),
    (
        ("resource", "template"),
        "annotations",
        Annotations(priority=math.nan),
        "takes Annotations(...); it holds NaN or an infinity, which JSON cannot hold, at $.priority",
    ),
    (("tool",), "gate", {"unknown": "ignore"}, "takes a Gate(...), not a value of type dict"),
    (("tool",), "limits", 5, "takes a Limits(...), not 5"),
    (("tool",), "approve", True, "takes a function of the request, or an Approver(...), not True"),
    *((TARGETS, "timeout", value, f"takes a number of seconds above 0, not {value!r}")
      for value in (0, -1, True, "5", math.inf)),
    (TARGETS, "meta", [("a", 1)], "takes a dict of JSON values, not a value of type list"),
    (("tool",), "schema", "no", "takes a JSON Schema as a dict, not 'no'"),
    (("tool",), "output_schema", "no", "takes a JSON Schema as a dict, not 'no'"),
    (("tool",), "schema", True, "takes a JSON Schema as a dict, not True"),
    *((TARGETS, "meta", value, f"takes a dict of JSON values; it holds {found}") for value, found in NO_JSON),
    *(
        (("tool",), name, value, f"takes a JSON Schema as a dict; it holds {found}")
        for value, found in NO_JSON
        for name in ("schema", "output_schema")
    ),
    (("resource",), "size", -1, "takes an integer of at least 0, not -1"),
    (("resource",), "size", "big", "takes an integer of at least 0, not 'big'"),
    (("resource",), "size", True, "takes an integer of at least 0, not True"),
    (("template",), "size", 5, "is for one resource; a template stands for many; leave it out"),
    (("resource",), "unsafe", ["a"], "is for the variables of a template; this URI has none; leave it out"),
]  # fmt: skip


@pytest.mark.parametrize(("targets", "option", "value", "said"), WRONG)
def test_an_option_of_the_wrong_kind_is_refused(
    targets: tuple[Target, ...], option: str, value: Any, said: str
) -> None:
    """With its name, what it takes, and what is wrong with what was given."""
    assert [refusal(target, option, value) for target in targets] == [f"{option}= {said}"] * len(targets)


SUCH = "takes a list of dicts or PromptArgument(...), such as [{'name': 'order_id', 'required': True}]"
ARGUMENTS = [
    ("a", f"{SUCH}, not 'a'"),
    (5, f"{SUCH}, not 5"),
    (["a"], f"{SUCH}; [0] is 'a'"),
    ([{"name": "a", "requird": True}], f"{SUCH}; [0]: there is no 'requird' in one, only name, title, "),
    ([{"name": "a"}, {"name": "a"}], f"{SUCH}; 'a' is there twice"),
    ([{"name": "a"}, PromptArgument(name="a")], f"{SUCH}; 'a' is there twice"),
    ([{"name": "a"}, {"name": 5}], f"{SUCH}; [1]: its name is int where str belongs"),
    ([{"name": "a", "required": "yes"}], f"{SUCH}; [0]: its required is str where bool | null belongs"),
    ([PromptArgument(name=5)], f"{SUCH}; [0]: its name is int where str belongs"),  # type: ignore[arg-type]
    ([{}], f"{SUCH}; [0]: Object missing required field `name`"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), ARGUMENTS)
def test_arguments_that_are_listed_wrongly_are_refused(arguments: Any, said: str) -> None:
    """With an example of how they are listed, and the place."""
    assert refusal("prompt", "arguments", arguments).startswith(f"arguments= {said}")


RIGHT: list[tuple[Target, str, Any, Any]] = [  # whose, which option, a value; how it is kept
    *(("tool", option, ("a", "a", "b"), frozenset({"a", "b"})) for option in ("scopes", "tags")),
    ("tool", "scopes", (each for each in "ab"), frozenset({"a", "b"})),
    ("tool", "icons", [ICON], (ICON,)),
    ("tool", "annotations", ToolAnnotations(read_only_hint=False), ToolAnnotations(read_only_hint=False)),
    ("resource", "annotations", Annotations(audience=["user"]), Annotations(audience=("user",))),  # type: ignore[arg-type]
    ("tool", "schema", {"maximum": 2**70, "minimum": 1.0}, {"maximum": 2**70, "minimum": 1.0}),
    ("tool", "meta", {"a": ("x", {"b": None})}, {"a": ["x", {"b": None}]}),
    ("tool", "structured_output", False, False),
    ("resource", "size", 0, 0),
    ("resource", "unsafe", (), frozenset()),
    ("template", "unsafe", {"a"}, frozenset({"a"})),
    ("prompt", "arguments", [{"name": "a", "required": True}], (PromptArgument(name="a", required=True),)),
    ("prompt", "arguments", (PromptArgument(name="a"),), (PromptArgument(name="a"),)),
    ("prompt", "arguments", [], ()),
]  # fmt: skip


@pytest.mark.parametrize(("target", "option", "value", "expected"), RIGHT)
def test_an_option_is_kept_in_one_form(target: Target, option: str, value: Any, expected: Any) -> None:
    """Frozen, and as it will travel."""
    assert kept(target, option, value) == expected


def test_what_an_author_gave_may_change_later() -> None:
    """What was kept does not."""
    meta: dict[str, Any] = {"a": [1]}
    found = kept("tool", "meta", meta)
    meta["a"].append(object())
    assert found == {"a": [1]}


@pytest.mark.parametrize("target", TARGETS)
def test_an_option_that_is_none_is_unset(target: Target) -> None:
    """All of a decorator's options can be left open, and stand at the same as without them."""
    names = [name for name in Options.__struct_fields__ if name != "local_names"]
    known = [name for name in names if not _is_stranger(target, name)]
    assert "name" in known
    assert read_options(target, dict.fromkeys(known), {}) == read_options(target, {}, {}) == Options()


def _is_stranger(target: Target, option: str) -> bool:
    try:
        read_options(target, {option: None}, {})
    except RegistrationError as error:
        assert str(error) == f"{option}= is no option of a {target} in this version of typegate"  # noqa: PT017
        return True
    return False


# --- servers and run() ---------------------------------------------------------------------------


async def undecorated(server: MCPServer) -> AsyncIterator[None]:
    """A lifespan that misses its decorator."""
    yield


def plain(server: MCPServer) -> Iterator[None]:
    """A lifespan that is not async."""
    yield


async def coroutine(server: MCPServer) -> None:
    """A lifespan that gives a coroutine."""


@contextlib.asynccontextmanager
async def lifespan(server: MCPServer) -> AsyncIterator[None]:
    """A lifespan."""
    yield


@contextlib.asynccontextmanager
async def without_server() -> AsyncIterator[None]:
    """A lifespan that does not take the server."""
    yield


LIFESPAN = "takes a function that gives an async context manager"
WRONG_SERVER = [
    *(("name", value, f"takes a str that is not empty, not {value!r}") for value in (3, "", None)),
    *(("version", value, f"takes a str that is not empty, not {value!r}") for value in (3, "", None)),
    *((name, 3, "takes a str, not 3") for name in ("title", "description", "website_url", "instructions")),
    ("icons", [{"src": "a"}], "takes a list of Icon(...); [0] is a value of type dict"),
    *(("page_size", value, f"takes an integer of at least 1, or None for all in one page, not {value!r}")
      for value in (0, -1, "5", True, 1.0)),
    *(("threads", value, f"takes an integer of at least 1, not {value!r}") for value in (0, "a", None, True)),
    *(("json_indent", value, f"takes an integer of at least 0, or None for compact JSON, not {value!r}")
      for value in (-1, "5", False)),
    ("schema_style", "tiny", "takes 'compact' or 'inline' or 'pydantic', not 'tiny'"),
    ("schema_style", [], "takes 'compact' or 'inline' or 'pydantic', not a value of type list"),
    ("on_duplicate", "keep", "takes 'warn' or 'error' or 'replace' or 'ignore', not 'keep'"),
    ("on_duplicate", None, "takes 'warn' or 'error' or 'replace' or 'ignore', not None"),
    ("on_missing_scope", "challenge", "takes 'hide', not 'challenge'"),
    ("gate", None, "takes a Gate(...), not None"),
    ("gate", {"unknown": "ignore"}, "takes a Gate(...), not a value of type dict"),
    *((name, 5, "is not part of this version of typegate; leave it out")
      for name in ("auth",)),
    ("access", ["orders.*"], "takes an AccessPolicy(...), not a value of type list"),
    ("rate_limit", 5, "takes a RateLimit(...), not 5"),
    ("limits", 5, "takes a Limits(...), not 5"),
    ("lifespan", 3, f"{LIFESPAN}, not 3"),
    ("lifespan", contextlib.nullcontext(), f"{LIFESPAN}, not a value of type nullcontext"),
    ("lifespan", undecorated, f"{LIFESPAN}; decorate it with @contextlib.asynccontextmanager"),
    ("lifespan", plain, f"{LIFESPAN}; write an async def that yields, and decorate it with @contextlib."),
    ("lifespan", coroutine, f"{LIFESPAN}; write an async def that yields, and decorate it with @contextlib."),
    ("lifespan", without_server, f"{LIFESPAN}; it takes the server: def lifespan(server)"),
    ("lifespan", lambda server, more: None, f"{LIFESPAN}; it takes the server: def lifespan(server)"),
    ("port", 80, "is no option of a server in this version of typegate"),
]  # fmt: skip


@pytest.mark.parametrize(("option", "value", "said"), WRONG_SERVER)
def test_a_wrong_option_of_a_server_is_refused(option: str, value: Any, said: str) -> None:
    """In the same words as those of a decorator."""
    with pytest.raises(ConfigurationError) as refused:
        read_server_options({**SERVER, option: value})
    assert str(refused.value).startswith(f"{option}= {said}")


@pytest.mark.parametrize(
    "function",
    [lifespan, lambda server: lifespan(server), lambda *given: None, functools.partial(lifespan), print],
)
def test_a_lifespan_is_whatever_takes_the_server(function: Any) -> None:
    """What it gives is seen when the server starts."""
    assert read_server_options({**SERVER, "lifespan": function}).lifespan is function


def test_an_option_of_a_server_may_be_left_open() -> None:
    """Where it says so."""
    opens = ("title", "description", "website_url", "icons", "instructions", "lifespan", "page_size", "auth")
    assert read_server_options({**SERVER, **dict.fromkeys(opens)}) == ServerOptions(**SERVER)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grace": "5"}, "grace= takes a number of seconds, not '5'"),
        ({"grace": None}, "grace= takes a number of seconds, not None"),
        ({"grace": -1}, "grace= takes a number of seconds, not -1"),
        ({"grace": math.nan}, "grace= takes a number of seconds, not nan"),
        ({"principal": "ada"}, "principal= takes a Principal(...), not 'ada'"),
        ({"port": None}, "port= is no option of run() in this version of typegate"),
    ],
)
def test_a_wrong_option_of_run_is_refused(options: dict[str, Any], said: str) -> None:
    """Before anything is read or written."""
    with pytest.raises(ConfigurationError) as refused:
        read_run_options(options)
    assert str(refused.value) == said


def test_the_options_of_run_are_kept() -> None:
    """Whole seconds are seconds too."""
    ada = Principal(subject="ada")
    made = read_run_options({"grace": 0, "principal": ada})
    assert (made.grace, made.principal) == (0, ada)


# --- what is decorated ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "target"),
    [("a:b", "resource"), ("a://{b}", "template"), ("a://{b", "template"), ("a://b}", "template")],
)
def test_a_URI_says_what_it_stands_for(uri: str, target: str) -> None:
    """With a brace in it, for a family; one that has no partner is looked at later."""
    assert target_of(uri) == target


@pytest.mark.parametrize("given", [check_function, None, 5, b"a:b"])
def test_a_resource_takes_its_URI_first(given: object) -> None:
    """A decorator without its parentheses gets the function there."""
    with pytest.raises(
        RegistrationError, match=r"^resource takes its URI first: @server\.resource\('config:"
    ):
        target_of(given)


def test_only_what_can_be_called_is_a_function() -> None:
    """The refusal shows how the decorator is written."""
    assert check_function(print, "write it so") is print
    for other in (None, "name", 5, classmethod(print)):
        with pytest.raises(RegistrationError, match=r"^write it so$"):
            check_function(other, "write it so")


def test_options_are_values() -> None:
    """What was read does not change, and the names of the frame come with it."""
    made = read_options("tool", {"name": "a"}, {"Local": Issue})
    assert (made.name, made.local_names) == ("a", {"Local": Issue})
    with pytest.raises(AttributeError):
        made.name = "b"  # type: ignore[misc]
    assert msgspec.structs.replace(made, name="b").name == "b"
