"""What `typegate.contract.signature` promises: a callable is read once, or refused with advice."""

import functools
import inspect
import sys
import typing
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Generic, Literal, NotRequired, Optional, Required, TypeVar, Union

import pytest
from pydantic import AliasPath, Field
from typing_extensions import ReadOnly, Unpack

from typegate.contract.signature import EMPTY, Parameter, Signature, allows_none, read
from typegate.errors import RegistrationError

T = TypeVar("T")


class Session:
    """What a server supplies."""


class Special(Session):
    """More than that."""


class Typed(Session, Generic[T]):
    """The same, of something."""


class Place:
    """What hints may name."""


def places(a: "Place", b: "list[Place]", c: list["Place"]) -> "dict[str, Place]":
    """Look."""
    return {}


async def wait(a: int) -> None:
    """Wait."""


class Tools:
    """Ways to define a method."""

    Local = Literal["x", "y"]

    def plain(self, a: int) -> str:
        """A plain one."""
        return ""

    async def slow(self, a: int) -> str:
        """A slow one."""
        return ""

    def own(self, a: "Local") -> "Local":
        """One with a name of the class."""
        return a

    @classmethod
    def of_class(cls, a: int) -> str:
        """One of the class."""
        return ""

    @staticmethod
    def static(a: int) -> str:
        """One of nobody."""
        return ""

    def __call__(self, a: int) -> str:
        """The object itself."""
        return ""


class Waiting:
    async def __call__(self, a: int) -> str:
        """The object itself, slowly."""
        return ""


@functools.wraps(places)
def wrapping(*args: Any, **kwargs: Any) -> Any:
    """Never shown."""


def names(signature: Signature) -> list[str]:
    """The parameters that a caller fills."""
    return [each.name for each in signature.parameters]


def only(function: Callable[..., Any]) -> Parameter:
    """The one parameter of a function."""
    (found,) = read(function).parameters
    return found


def refusal(function: Any, **options: Any) -> str:
    """What is said against a callable."""
    with pytest.raises(RegistrationError) as caught:
        read(function, **options)
    return str(caught.value)


# --- what is called ------------------------------------------------------------------------------

CALLABLES: list[tuple[Callable[..., Any], str | None, bool, str]] = [  # its name, is it async, its text
    (wait, "wait", True, "Wait."),
    (Tools().plain, "plain", False, "A plain one."),
    (Tools().slow, "slow", True, "A slow one."),
    (Tools.of_class, "of_class", False, "One of the class."),
    (Tools().of_class, "of_class", False, "One of the class."),
    (Tools.static, "static", False, "One of nobody."),
    (Tools(), None, False, "The object itself."),
    (Tools().__call__, None, False, "The object itself."),
    (Waiting(), None, True, "The object itself, slowly."),
    (functools.partial(wait), "wait", True, "Wait."),
    (functools.partial(Tools().slow), "slow", True, "A slow one."),
    (functools.partial(Waiting()), None, True, "The object itself, slowly."),
    (functools.partial(functools.partial(wait)), "wait", True, "Wait."),
]


@pytest.mark.parametrize(("function", "name", "is_async", "text"), CALLABLES)
def test_whatever_can_be_called_is_read(
    function: Callable[..., Any], name: str | None, is_async: bool, text: str
) -> None:
    """Plain, bound, class or static method, partial or object: by its name, without its `self`."""
    found = read(function)
    assert (found.name, found.is_async, found.description) == (name, is_async, text)
    assert found.parameters == (Parameter(name="a", wire_name="a", hint=int, default=EMPTY, required=True),)


def test_a_lambda_has_no_name() -> None:
    """Nor has it hints, a text or a return annotation."""
    nothing = Parameter(name="a", wire_name="a", hint=EMPTY, default=EMPTY, required=True)
    assert read(lambda a: a) == Signature(
        name=None,
        parameters=(nothing,),
        injected={},
        positional=(),
        extra=EMPTY,
        returns=EMPTY,
        is_async=False,
        description=None,
    )


def test_a_wrapper_shows_what_it_wraps() -> None:
    """Its parameters and hints, which are resolved where the inner function stands."""
    assert read(wrapping) == read(places)
    assert [each.hint for each in read(wrapping).parameters] == [Place, list[Place], list[Place]]


def test_a_wrapper_is_async_by_itself() -> None:
    """What counts is what calling it gives."""

    @functools.wraps(wait)
    def started(*args: Any) -> Any: ...

    @functools.wraps(places)
    async def later(*args: Any) -> Any: ...

    assert (read(started).is_async, read(later).is_async) == (False, True)


def test_a_class_is_called_too() -> None:
    """Its parameters are those of its constructor."""

    class Made:
        """A thing."""

        def __init__(self, a: int, b: "str" = "") -> None: ...

    found = read(Made)
    assert (found.name, names(found), found.description) == ("Made", ["a", "b"], "A thing.")


def test_what_a_partial_has_settled_is_not_asked_for() -> None:
    """By position or by name, at whatever depth; the rest is."""

    def function(a: int, b: int, c: int = 3, *, d: int = 4) -> None: ...

    assert names(read(functools.partial(function, 1))) == ["b", "c", "d"]
    assert names(read(functools.partial(function, b=2))) == ["a", "c", "d"]
    assert names(read(functools.partial(functools.partial(function, 1), d=2))) == ["b", "c"]
    assert names(read(functools.partial(Tools().plain, a=1))) == []


def test_what_is_called_by_position_is_known() -> None:
    """A name before the slash cannot be used in the call; what is injected is one of them."""

    def function(a: int, here: Session, b: int = 1, /, c: int = 2, *, d: int) -> None: ...

    assert read(function, (Session,)).positional == ("a", "here", "b")
    assert read(functools.partial(function, 1), (Session,)).positional == ("here", "b")
    assert read(wait).positional == ()


def test_a_name_may_be_given_to_the_rest() -> None:
    """`**kwargs` are no parameter; their hint is kept, and `Any` where there is none."""

    def bare(a, **more): ...  # type: ignore[no-untyped-def]

    def hinted(**more: "list[Place]") -> None: ...

    assert (names(read(bare)), read(bare).extra) == (["a"], Any)
    assert (names(read(hinted)), read(hinted).extra) == ([], list[Place])
    assert read(wait).extra is EMPTY


REQUIRED: list[tuple[Any, Any, bool]] = [  # a hint, a default; must it be given
    (int, EMPTY, True),
    (EMPTY, EMPTY, True),
    (int, 1, False),
    (int, None, False),
    (int | None, EMPTY, False),
    (int, Field(1), False),
    (int, Field(default_factory=int), False),
    (int, Field(ge=1), True),
    (int | None, Field(ge=1), False),
    (Annotated[int, Field(default=1)], EMPTY, False),
    (Annotated[int, Field(default_factory=int)], EMPTY, False),
    (Annotated[int, Field(ge=1)], EMPTY, True),
    (Annotated[int, Field(ge=1)], 1, False),
]


@pytest.mark.parametrize(("hint", "default", "required"), REQUIRED)
def test_what_has_no_default_must_be_given(hint: Any, default: Any, required: bool) -> None:
    """Wherever the default stands."""
    assert annotated(hint, default).required is required


# --- keywords of a TypedDict ---------------------------------------------------------------------


class Paging(typing.TypedDict):
    """Which part."""

    size: Required["Annotated[int, Field(ge=1, alias='pageSize'), 'How many.']"]
    page: NotRequired["int | None"]


class Search(Paging, total=False):
    """What is looked for, and which part of it."""

    place: "Place"
    here: Session
    words: Required[Annotated[list[str], Field(min_length=1)]]
    note: ReadOnly[str]


def search(first: int, **options: Unpack[Search]) -> None:
    """Search.

    Args:
        first: The first.
        place: Where.
    """


def postponed(first: int, **options: "Unpack[Search]") -> None:
    """The same, with a hint as text."""


UNPACKED = [  # name, wire name, hint, required
    ("first", "first", int, True),
    ("size", "pageSize", Annotated[int, Field(ge=1, alias="pageSize"), "How many."], True),
    ("page", "page", NotRequired[int | None], False),
    ("place", "place", NotRequired[Place], False),
    ("words", "words", Annotated[list[str], Field(min_length=1)], True),
    ("note", "note", NotRequired[str], False),
]


@pytest.mark.parametrize("function", [search, postponed])
def test_the_keys_of_a_TypedDict_are_keywords(function: Any) -> None:
    """Each by itself, with what is known of it; nothing else may be given (PEP 692)."""
    found = read(function, (Session,))
    assert str([(each.name, each.wire_name, each.hint, each.required) for each in found.parameters]) == str(
        UNPACKED
    )
    assert (found.extra, dict(found.injected)) == (EMPTY, {"here": Session})
    assert {each.default for each in found.parameters} == {EMPTY}


def test_the_keys_of_a_TypedDict_are_described() -> None:
    """By their own hint, or by the docstring of the function."""
    described = {each.name: each.description for each in read(search).parameters}
    assert (described["first"], described["size"], described["place"]) == (
        "The first.",
        "How many.",
        "Where.",
    )
    assert names(read(functools.partial(search, size=1, note=""))) == [
        "first",
        "page",
        "place",
        "here",
        "words",
    ]


def test_the_hints_of_a_TypedDict_mean_what_they_mean_there() -> None:
    """Where it is local, those of the function that registers; never what only the caller calls so."""

    class Local(typing.TypedDict):
        key: "Inner"  # type: ignore[name-defined]  # noqa: F821

    def local(**options: Unpack[Local]) -> None: ...

    def outer(**options: Unpack[Search]) -> None: ...

    assert read(local, local_names={"Inner": Place}).parameters[0].hint is Place
    assert "names 'Inner', which cannot be resolved" in refusal(local)
    place = next(each for each in read(outer, local_names={"Place": int}).parameters if each.name == "place")
    assert place.hint == NotRequired[Place]


class Generic1(typing.TypedDict, Generic[T]):
    """One of something."""

    key: T


def twice(size: int, **options: Unpack[Paging]) -> None:  # type: ignore[misc]
    """Take a key a second time."""


def no_table(**options: Unpack[int]) -> None:  # type: ignore[misc]
    """Unpack a number."""


def marked(size: NotRequired[int]) -> None:  # type: ignore[valid-type]
    """Have a mark where none belongs."""


def generic(**options: Unpack[Generic1[int]]) -> None:
    """Unpack one of numbers."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (twice, "'twice' takes 'size' twice: as a parameter and in **options"),
        (no_table, "'no_table': **options unpacks what is no plain TypedDict; define one with the keys"),
        (
            marked,
            "'marked': the hint of 'size' is marked like a key of a TypedDict; what may be left out has",
        ),
        (generic, "'generic': **options unpacks what is no plain TypedDict; define one with the keys"),
    ],
)
def test_what_cannot_be_unpacked_is_refused(function: Any, said: str) -> None:
    """With the way out."""
    assert refusal(function).startswith(said)


# --- what is refused -----------------------------------------------------------------------------


def yields() -> Iterator[int]:
    """One by one."""
    yield 1


async def yields_slowly() -> AsyncIterator[int]:
    """One by one, slowly."""
    yield 1


class Yields:
    def __call__(self) -> Iterator[int]:
        yield 1

    def method(self) -> Iterator[int]:
        yield 1


YIELDING = [
    (yields, "yields"),
    (yields_slowly, "yields_slowly"),
    (Yields(), "Yields"),
    (Yields().method, "method"),
    (functools.partial(yields), "yields"),
    (functools.partial(Yields()), "partial"),
]


@pytest.mark.parametrize(("function", "label"), YIELDING)
def test_what_yields_is_refused(function: Any, label: str) -> None:
    """There are no streamed results: the advice is a list, and progress."""
    text = refusal(function)
    assert text.startswith(f"'{label}' yields")
    assert "Return a list" in text
    assert "ctx.progress(...)" in text


def test_what_is_passed_by_position_only_is_refused_with_advice() -> None:
    """`*args` have no name to be called by."""

    def function(*values: int) -> None: ...

    assert refusal(function) == (
        "'function' takes *values: a tool is called by name; write values: list[...]"
    )


@pytest.mark.parametrize("method", [Tools.plain, Tools.slow])
def test_a_method_without_its_instance_is_refused(method: Any) -> None:
    """The caller would be asked for `self`; three ways out are named."""
    text = refusal(method)
    for part in (f"'{method.__name__}' is a method", "'self'", f"server.add_tool(obj.{method.__name__})"):
        assert part in text
    assert "@typegate.tool and call server.add_tools(obj)" in text


def test_a_parameter_may_be_called_self() -> None:
    """Outside of a class body, or where it has a hint, it is one like any other."""

    def function(self: int) -> None: ...

    def bare(self): ...  # type: ignore[no-untyped-def]

    class Inside:
        def method(self: int) -> None: ...  # type: ignore[misc]

        @staticmethod
        def other(this: int) -> None: ...

    assert [names(read(each)) for each in (function, bare, Inside.method)] == [["self"]] * 3
    assert names(read(Inside.other)) == ["this"]


def test_a_class_method_that_was_not_bound_is_refused_too() -> None:
    """`cls` is no argument either."""

    class Inside:
        def make(cls, a: int) -> None: ...

    assert "asked for 'cls'" in refusal(Inside.make)


def test_what_has_no_signature_is_refused() -> None:
    """As some functions in C; one that is written around it has one."""

    class Strange:
        __signature__ = 5

        def __call__(self, a: int) -> None: ...

    assert refusal(Strange()) == "'Strange' has no signature that can be read; wrap it in a def"


# --- hints ---------------------------------------------------------------------------------------


def test_strings_in_hints_are_resolved_at_any_depth() -> None:
    """With the names of the module where the function stands."""
    found = read(places)
    assert [each.hint for each in found.parameters] == [Place, list[Place], list[Place]]
    assert found.returns == dict[str, Place]


def test_metadata_of_a_hint_is_kept() -> None:
    """What stands in `Annotated` is for others to read."""

    def function(a: "Annotated[int, 'text', 5]") -> "Annotated[str, 6]": ...  # type: ignore[empty-body]

    assert only(function).hint == Annotated[int, "text", 5]
    assert read(function).returns == Annotated[str, 6]


def test_a_return_annotation_of_None_is_one() -> None:
    """It is not the same as none at all."""
    assert read(wait).returns is type(None)
    assert read(lambda: None).returns is EMPTY


def test_names_of_the_class_are_known_to_its_methods() -> None:
    """Whether the method is bound to an instance or to the class."""
    assert only(Tools().own).hint == Tools.Local

    class Inside:
        class Inner: ...

        @classmethod
        def make(cls, a: "Inner") -> None: ...

    assert only(Inside.make).hint is Inside.Inner


def test_names_of_the_enclosing_function_are_known_where_they_are_used() -> None:
    """They are kept by the function itself."""

    class Here: ...

    def function(a: "Here") -> object:
        return Here

    assert only(function).hint is Here


def test_names_of_the_decorating_frame_may_be_given() -> None:
    """So that a hint may mean a class that is local to it."""

    class Here: ...

    def function(a: "Here") -> None: ...

    (found,) = read(function, local_names={"Here": Here}).parameters
    assert found.hint is Here
    assert "'Here', which cannot be resolved" in refusal(function)


def test_a_name_that_is_not_bound_yet_is_not_known() -> None:
    """A variable of the enclosing function that comes later is no type now."""

    def enclosing() -> str:
        def function(a: "Later") -> object:
            return Later

        text = refusal(function)
        Later = int
        return text

    assert "the hint of 'a' names 'Later'" in enclosing()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax of Python 3.12")
def test_type_parameters_are_known() -> None:
    """Those of `def f[T](...)`, also in a string."""
    scope: dict[str, Any] = {}
    exec("def function[Item](a: 'list[Item]') -> 'Item': ...", scope)
    function = scope["function"]
    (item,) = function.__type_params__
    assert only(function).hint == list[item]
    assert read(function).returns is item


@pytest.mark.parametrize("where", ["a", "return", "more"])
def test_a_name_that_cannot_be_resolved_is_refused(where: str) -> None:
    """The text has the function, the parameter, the name, and what to do."""

    def function(a: Any, **more: Any) -> Any: ...

    function.__annotations__[where] = "list[Missing | None]"
    assert refusal(function) == (
        f"'function': the hint of '{where}' names 'Missing', which cannot be resolved. "
        f"Import it at module level, or define it before the function in the same scope"
    )


@pytest.mark.parametrize(
    ("hint", "error"), [("a b", "SyntaxError"), ("int[5]", "TypeError"), ("typing.Nothing", "AttributeError")]
)
def test_what_is_no_type_is_refused(hint: Any, error: str) -> None:
    """The text names the parameter, and the kind of the error."""

    def function(a: int) -> None:
        assert typing

    function.__annotations__["a"] = hint
    assert refusal(function) == f"'function': the hint of 'a' is not a type ({error})"


NONE_ALLOWED = [
    (None, True),
    (type(None), True),
    (Optional[int], True),  # noqa: UP045
    (int | None, True),
    (Union[int, None, str], True),  # noqa: UP007
    (Annotated[int | None, 1], True),
    (Annotated[int, 1] | None, True),
    (int | Annotated[str | None, 1], True),
    (int, False),
    (int | str, False),
    (Annotated[int, None], False),
    (list[None], False),
    (Any, False),
    (EMPTY, False),
    ("None", False),
]


@pytest.mark.parametrize(("hint", "allowed"), NONE_ALLOWED)
def test_whether_None_is_allowed(hint: Any, allowed: bool) -> None:
    """By the hint itself, not by something inside it; metadata makes no difference."""
    assert allows_none(hint) is allowed


# --- what is injected ----------------------------------------------------------------------------

INJECTED = [
    (Session, Session),
    ("Session", Session),
    (Special, Session),
    (Typed, Session),
    (Typed[int], Session),
    (Session | None, Session),
    (Optional["Session"], Session),
    (Annotated[Session, "text"], Session),
    (Annotated[Typed[int] | None, "text"], Session),
    (Place, None),
    (Session | Place, None),
    (Session | Place | None, None),
    (list[Session], None),
    (type[Session], None),
    (None, None),
    (Any, None),
]


@pytest.mark.parametrize(("hint", "found"), INJECTED)
def test_what_the_server_supplies_is_found_by_its_annotation(hint: Any, found: type | None) -> None:
    """Whatever the parameter is called; the caller is not asked for it."""

    def function(a: int, b: Any = None, *, c: int = 0) -> None: ...

    function.__annotations__["b"] = hint
    signature = read(function, injectable=(Session,))
    assert signature.injected == ({} if found is None else {"b": found})
    assert names(signature) == (["a", "b", "c"] if found is None else ["a", "c"])


def test_the_first_of_several_classes_that_fits_is_injected() -> None:
    """And a function may ask for more than one thing."""

    def function(a: Special, b: Session, c: Place) -> None: ...

    assert read(function, (Place, Special, Session)).injected == {"a": Special, "b": Session, "c": Place}
    assert read(function, (Session, Special)).injected == {"a": Session, "b": Session}
    assert read(function).injected == {}


# --- parameters ----------------------------------------------------------------------------------


def test_a_parameter_has_the_default_of_the_function() -> None:
    """The very same object; there is none where it must be given."""
    default: list[int] = [1]

    def function(a: int, b: list[int] = default, c: str = "", d: bool = False) -> None: ...

    found = [each.default for each in read(function).parameters]
    assert found == [EMPTY, default, "", False]
    assert found[1] is default


def annotated(hint: Any, default: Any = EMPTY) -> Parameter:
    """The parameter of a function with this hint and this default."""

    def function(a: Any = default) -> None: ...

    function.__annotations__["a"] = hint
    if default is EMPTY:
        function.__defaults__ = None
    return only(function)


OPTIONAL_HINTS = [  # hint, default; hint and default as they are read
    (int, None, int | None, None),
    (int | None, None, int | None, None),
    (int | None, EMPTY, int | None, None),
    (int | None, 5, int | None, 5),
    (Annotated[int | None, 1], EMPTY, Annotated[int | None, 1], None),
    (None, EMPTY, type(None), None),
    (Annotated[int, 1], None, Optional[Annotated[int, 1]], None),  # noqa: UP045
    (int, EMPTY, int, EMPTY),
    (int, 0, int, 0),
    (Any, EMPTY, Any, EMPTY),
    (EMPTY, None, EMPTY, None),
]


@pytest.mark.parametrize(("hint", "default", "read_hint", "read_default"), OPTIONAL_HINTS)
def test_None_as_a_default_and_as_a_type_go_together(
    hint: Any, default: Any, read_hint: Any, read_default: Any
) -> None:
    """`x: int = None` means `int | None`, and what may be `None` may be left out."""
    found = annotated(hint, default)
    assert (found.hint, found.default) == (read_hint, read_default)


def test_a_field_stays_about_the_whole_of_an_optional_hint() -> None:
    """Other metadata goes with the type, where a bound does not meet `None`."""
    field = Field(description="text")
    found = annotated(Annotated[int, field, "note"], None)
    outer, *metadata = typing.get_args(found.hint)
    assert outer == Optional[Annotated[int, "note"]]  # noqa: UP045
    assert metadata == [field]
    assert typing.get_args(annotated(Annotated[int, field], None).hint)[0] == Optional[int]  # noqa: UP045


def test_a_field_in_the_place_of_the_default_is_no_default() -> None:
    """It is kept apart, and may say that there is one."""
    field = Field(5, ge=1)
    found = annotated(int, field)
    assert (found.field, found.default, found.hint) == (field, EMPTY, int)


@pytest.mark.parametrize(
    ("hint", "default"),
    [
        (int | None, Field(5)),
        (int | None, Field(default_factory=int)),
        (Annotated[int | None, Field(default=5)], EMPTY),
        (Annotated[int | None, Field(ge=1), Field(default_factory=int)], EMPTY),
    ],
)
def test_a_default_of_a_field_is_not_overruled(hint: Any, default: Any) -> None:
    """What may be `None` has `None` for a default only where nothing else was said."""
    assert annotated(hint, default).default is EMPTY
    assert annotated(int | None, Field(ge=1)).default is None


WIRE_NAMES = [
    (int, EMPTY, "a"),
    (int, Field(alias="b"), "b"),
    (int, Field(validation_alias="b"), "b"),
    (int, Field(alias="b", validation_alias="c"), "c"),
    (int, Field(serialization_alias="b"), "a"),
    (Annotated[int, Field(alias="b")], EMPTY, "b"),
    (Annotated[int, Field(ge=1), Field(alias="b")], EMPTY, "b"),
    (Annotated[int, Field(alias="b"), Field(ge=1)], EMPTY, "b"),
    (Annotated[int, Field(alias="b")], Field(ge=1), "b"),
    (Annotated[int, Field(alias="b")], Field(alias="c"), "c"),
    (int, Field(validation_alias=AliasPath("b", 0)), "a"),
]


@pytest.mark.parametrize(("hint", "default", "name"), WIRE_NAMES)
def test_the_caller_may_know_a_parameter_under_another_name(hint: Any, default: Any, name: str) -> None:
    """The alias of whichever field has one; that in the place of the default goes first."""
    found = annotated(hint, default)
    assert (found.name, found.wire_name) == ("a", name)


DESCRIPTIONS = [
    (int, EMPTY, "documented"),
    (int, Field(description="field"), "field"),
    (Annotated[int, Field(description="field")], EMPTY, "field"),
    (Annotated[int, Field(ge=1), Field(description="field")], EMPTY, "field"),
    (Annotated[int, "note"], EMPTY, "note"),
    (Annotated[int, 5, "note", "another"], EMPTY, "note"),
    (Annotated[int, "note", Field(description="field")], EMPTY, "field"),
    (Annotated[int, "note"], Field(description="field"), "field"),
    (Annotated[int, "note"], Field(ge=1), "note"),
    (Annotated[int, Field(ge=1)], EMPTY, "documented"),
]


@pytest.mark.parametrize(("hint", "default", "text"), DESCRIPTIONS)
def test_a_parameter_is_described_where_it_stands(hint: Any, default: Any, text: str) -> None:
    """`Field` goes before a text in `Annotated`, and that before the docstring."""

    def function(a: Any = default) -> None:
        """Do it.

        :param a: documented
        """

    function.__annotations__["a"] = hint
    assert only(function).description == text


def test_the_description_ends_where_the_parameters_begin() -> None:
    """What is said of them is not said twice."""

    def function(a: int, b: int) -> None:
        """Do it.

        :param a: the first
        """

    found = read(function)
    assert found.description == "Do it."
    assert [each.description for each in found.parameters] == ["the first", None]


# --- wrappers ------------------------------------------------------------------------------------


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as people write them."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Counted:
    """A decorator that is a class."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@pytest.mark.parametrize("wrap", [logged, functools.lru_cache, Counted], ids=["wraps", "cache", "class"])
def test_a_wrapped_method_without_its_instance_is_refused(wrap: Any) -> None:
    """The caller would be asked for `self`; bound, it is read as it is."""

    class Service:
        @wrap
        def greet(self, name: str) -> str:
            return name

    with pytest.raises(RegistrationError, match="without its instance"):
        read(Service.__dict__["greet"])
    if wrap is not Counted:  # which is no method, and stays unbound
        assert [each.name for each in read(Service().greet).parameters] == ["name"]


def test_hints_of_a_wrapped_function_mean_what_they_mean_where_it_stands() -> None:
    """Also where the decorator is a class of another module."""

    def find(where: "Special") -> None: ...

    namespace: dict[str, Any] = {"functools": functools, "__name__": "elsewhere"}
    exec(
        inspect.getsource(Counted).replace("Callable[..., Any]", "object").replace("Any", "object"), namespace
    )
    assert read(namespace["Counted"](find)).parameters[0].hint is Special


def test_what_chooses_by_the_type_of_its_first_argument_is_refused() -> None:
    """A tool is called by name."""

    @functools.singledispatch
    def find(key: int | str) -> str:
        return str(key)

    with pytest.raises(RegistrationError, match="singledispatch"):
        read(find)
