"""A callable, read once: its parameters with resolved hints, what is injected, and how it is called.

The law of the file: every hint is resolved here or the registration fails, naming the function, the
parameter and the name that could not be found. What cannot be called by name is refused with advice.
"""

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin

import msgspec
import typing_extensions
from pydantic.fields import FieldInfo

from typegate.contract.docstrings import document
from typegate.errors import RegistrationError

__all__ = ["EMPTY", "Parameter", "Signature", "allows_none", "read"]

EMPTY: Final = inspect.Parameter.empty

_KINDS: Final = inspect.Parameter


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter that a caller fills.

    Attributes:
        name: as the function has it; `wire_name` as the caller writes it.
        hint: the resolved annotation with its metadata; `EMPTY` where there is none.
        default: what stands as its default in the signature; `EMPTY` where nothing does.
        required: whether a caller must give it: there is no default, in a `Field` neither.
        field: the `Field(...)` that stood in the place of the default.
        description: from `Field`, `Annotated[T, "text"]` or the docstring.
    """

    name: str
    wire_name: str
    hint: Any
    default: Any
    required: bool
    field: FieldInfo | None = None
    description: str | None = None


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """What a callable takes and gives.

    Attributes:
        name: the callable's own name, or `None`.
        parameters: those a caller fills, in order.
        injected: name -> the injectable class found in its annotation.
        positional: those of both that can only be passed by position, in order.
        extra: the hint of `**kwargs`, or `EMPTY` where it takes none.
        returns: the resolved return annotation, or `EMPTY`.
        is_async: whether calling it gives a coroutine.
        description: the docstring above its parameter section.
    """

    name: str | None
    parameters: tuple[Parameter, ...]
    injected: Mapping[str, type]
    positional: tuple[str, ...]
    extra: Any
    returns: Any
    is_async: bool
    description: str | None


def read(
    function: Callable[..., Any],
    injectable: tuple[type, ...] = (),
    local_names: Mapping[str, Any] | None = None,
) -> Signature:
    """Read *function*: plain, bound, class or static method, partial, callable object, or wrapped.

    Args:
        function: what will be called.
        injectable: classes whose instances the server supplies; found by annotation.
        local_names: names of the decorating frame, for hints that mean a class local to it.

    Raises:
        RegistrationError: it cannot be called by name, or a hint cannot be resolved.
    """
    body = _body(function)
    name = _name(function, body)
    label = name or type(function).__name__
    _refuse_dispatch(function, label)
    _refuse_unbound(function, label)
    _refuse_generators(body, label)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise RegistrationError(f"'{label}' has no signature that can be read; wrap it in a def") from None
    hints = _Hints(function, body, label, local_names or {})
    documentation = document(body)
    parameters: list[Parameter] = []
    injected: dict[str, type] = {}
    extra: Any = EMPTY
    for item in _items(signature, hints, label):
        found = _injected(item.hint, injectable)
        if item.kind is _KINDS.VAR_KEYWORD:
            extra = Any if item.hint is EMPTY else item.hint
        elif found is not None:
            injected[item.name] = found
        elif not _given_by_partial(function, item.name):
            parameters.append(_parameter(item, documentation.parameters.get(item.name)))
    return Signature(
        name=name,
        parameters=tuple(parameters),
        injected=injected,
        positional=tuple(
            name for name, item in signature.parameters.items() if item.kind is _KINDS.POSITIONAL_ONLY
        ),
        extra=extra,
        returns=hints.of("return", signature.return_annotation),
        is_async=inspect.iscoroutinefunction(body),
        description=documentation.description,
    )


# --- what is called ------------------------------------------------------------------------------


def _body(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under partials, bound methods and callable objects: where the code stands."""
    if isinstance(function, functools.partial):
        return _body(function.func)
    if inspect.ismethod(function):
        return _body(function.__func__)
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    return _body(type(function).__call__)


def _name(function: Callable[..., Any], body: Callable[..., Any]) -> str | None:
    """The name to go by; a callable object has none of its own."""
    holder = body if isinstance(function, functools.partial) else function
    name = getattr(holder, "__name__", None)
    return None if name in (None, "<lambda>", "__call__") else str(name)


def _given_by_partial(function: Callable[..., Any], name: str) -> bool:
    """Whether a partial has settled this one by keyword: the caller then has no say."""
    return isinstance(function, functools.partial) and name in function.keywords


def _refuse_unbound(function: Callable[..., Any], label: str) -> None:
    """An instance method decorated in its class body would ask the caller for `self`."""
    inner = function if inspect.ismethod(function) else inspect.unwrap(function)
    if not inspect.isfunction(inner):
        return
    code = inner.__code__
    first = code.co_varnames[0] if code.co_argcount else None
    owner = inner.__qualname__.rpartition(".")[0]
    inside_class = bool(owner) and not owner.endswith("<locals>")
    if inside_class and first in ("self", "cls") and first not in inner.__annotations__:
        raise RegistrationError(
            f"'{label}' is a method without its instance, so the caller would be asked for "
            f"'{first}'. Register the bound method, server.add_tool(obj.{label}), or mark it with "
            f"@typegate.tool and call server.add_tools(obj)"
        )


def _refuse_dispatch(function: Callable[..., Any], label: str) -> None:
    """`functools.singledispatch` wants its first argument by position, and a type that it can see."""
    if hasattr(function, "dispatch") and hasattr(function, "registry"):
        raise RegistrationError(
            f"'{label}' picks its code by the type of its first argument (singledispatch), and a tool is "
            f"called by name. Register a function that takes the union of the types"
        )


def _refuse_generators(body: Callable[..., Any], label: str) -> None:
    if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
        raise RegistrationError(
            f"'{label}' yields, and MCP has no streamed results. Return a list, and report what is done "
            f"so far with ctx.progress(...)"
        )


# --- what it takes -------------------------------------------------------------------------------


class _Item(NamedTuple):
    """A parameter as it stands in the signature, with its resolved hint."""

    name: str
    kind: Any
    hint: Any
    default: Any = EMPTY


def _items(signature: inspect.Signature, hints: "_Hints", label: str) -> Iterator[_Item]:
    """The parameters in order; the keys of `**options: Unpack[T]` are some, each by itself (PEP 692)."""
    for name, item in signature.parameters.items():
        if item.kind is _KINDS.VAR_POSITIONAL:
            raise RegistrationError(
                f"'{label}' takes *{name}: a tool is called by name; write {name}: list[...]"
            )
        hint = hints.of(name, item.annotation)
        if item.kind is not _KINDS.VAR_KEYWORD or get_origin(hint) not in _UNPACK:
            yield _Item(name, item.kind, hint, item.default)
            continue
        for key, inner in hints.inside(name, get_args(hint)[0]).items():
            if key in signature.parameters:
                raise RegistrationError(f"'{label}' takes '{key}' twice: as a parameter and in **{name}")
            yield _Item(key, _KINDS.KEYWORD_ONLY, inner)


_UNPACK: Final = (typing.Unpack, typing_extensions.Unpack)
_MARKS: Final[dict[Any, bool | None]] = {
    typing.Required: False,
    typing.NotRequired: True,
    typing_extensions.ReadOnly: None,
}
"""What may stand around the hint of a key → whether the key may be missing."""


def _unmarked(hint: Any, optional: bool) -> tuple[Any, bool]:
    """The hint of a key without its marks, and whether the key may be missing."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *metadata = get_args(hint)
        inner, optional = _unmarked(inner, optional)
        return Annotated[(inner, *metadata)], optional
    if origin in _MARKS:
        mark = _MARKS[origin]
        return _unmarked(get_args(hint)[0], optional if mark is None else mark)
    return hint, optional


# --- hints ---------------------------------------------------------------------------------------


class _Hints:
    """Resolves the annotations of one function, each by itself, so that an error names the parameter."""

    def __init__(
        self,
        function: Callable[..., Any],
        body: Callable[..., Any],
        label: str,
        local_names: Mapping[str, Any],
    ) -> None:
        self._label = label
        inner = inspect.unwrap(function if hasattr(function, "__wrapped__") else body)
        module = sys.modules.get(getattr(inner, "__module__", None) or "")
        self._globals = getattr(inner, "__globals__", None) or vars(module or types)
        self._locals = {**_owner(function), **local_names, **_closure(inner), **_type_parameters(inner)}

    def of(self, name: str, annotation: Any) -> Any:
        """The annotation of *name* with every string in it resolved."""
        if annotation is EMPTY:
            return EMPTY
        hint = self._resolved(name, types.SimpleNamespace(__annotations__={name: annotation}))[name]
        if get_origin(hint) in _MARKS:
            raise RegistrationError(
                f"'{self._label}': the hint of '{name}' is marked like a key of a TypedDict; what may be "
                f"left out has a default"
            )
        return hint

    def inside(self, name: str, table: Any) -> dict[str, Any]:
        """The annotations of the keys of a TypedDict, which *name* unpacks; `NotRequired` where they are."""
        if not typing_extensions.is_typeddict(table):
            raise RegistrationError(
                f"'{self._label}': **{name} unpacks what is no plain TypedDict; define one with the keys, or "
                f"write the keys as parameters"
            )
        found: dict[str, Any] = {}
        for key, marked in self._resolved(name, table).items():
            hint, optional = _unmarked(marked, key in table.__optional_keys__)
            found[key] = typing.NotRequired[hint] if optional else hint
        return found

    def _resolved(self, name: str, holder: Any) -> dict[str, Any]:
        """The annotations of *holder*; those of a class mean what they mean where the class stands."""
        outer: Any = self._globals
        inner: Any = self._locals
        if isinstance(holder, type):
            outer, inner = None, inner if "<locals>" in holder.__qualname__ else None
        try:
            return typing.get_type_hints(holder, outer, inner, include_extras=True)
        except NameError as error:
            raise RegistrationError(
                f"'{self._label}': the hint of '{name}' names '{error.name}', which cannot be resolved. "
                f"Import it at module level, or define it before the function in the same scope"
            ) from None
        except (SyntaxError, TypeError, AttributeError) as error:
            raise RegistrationError(
                f"'{self._label}': the hint of '{name}' is not a type ({type(error).__name__})"
            ) from None


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    found: dict[str, Any] = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return found


def _type_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The type parameters of `def f[T](...)` (Python 3.12)."""
    return {parameter.__name__: parameter for parameter in getattr(function, "__type_params__", ())}


def _owner(function: Callable[..., Any]) -> dict[str, Any]:
    """The names of the class that a bound method belongs to."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return {}
    return dict(vars(owner if isinstance(owner, type) else type(owner)))


def allows_none(hint: Any) -> bool:
    """Whether `None` is one of the things that *hint* allows."""
    if get_origin(hint) is Annotated:
        return allows_none(get_args(hint)[0])
    if get_origin(hint) in (typing.Union, types.UnionType):
        return any(map(allows_none, get_args(hint)))
    return hint is None or hint is type(None)


def _injected(hint: Any, injectable: tuple[type, ...]) -> type | None:
    """The injectable class in `C`, `C[X]`, `C | None`, `Annotated[C, ...]` or `NotRequired[C]`."""
    origin = get_origin(hint)
    if origin in (Annotated, typing.NotRequired):
        return _injected(get_args(hint)[0], injectable)
    if origin in (typing.Union, types.UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        return _injected(members[0], injectable) if len(members) == 1 else None
    candidate = origin or hint
    if not isinstance(candidate, type):
        return None
    return next((known for known in injectable if issubclass(candidate, known)), None)


# --- parameters ----------------------------------------------------------------------------------


def _parameter(item: _Item, documented: str | None) -> Parameter:
    optional = get_origin(item.hint) is typing.NotRequired
    hint = get_args(item.hint)[0] if optional else item.hint
    default, field = item.default, None
    if isinstance(default, FieldInfo):  # x: int = Field(5, ge=1)
        field, default = default, EMPTY
    fields = [field] if field is not None else []
    notes: list[str] = []
    if get_origin(hint) is Annotated:
        metadata = get_args(hint)[1:]
        fields += [entry for entry in metadata if isinstance(entry, FieldInfo)]
        notes = [entry for entry in metadata if isinstance(entry, str)]
    alias = next(filter(None, (entry.validation_alias or entry.alias for entry in fields)), None)
    described = next((entry.description for entry in fields if entry.description), None)
    if default is None and hint is not EMPTY and not allows_none(hint):
        hint = _or_none(hint)  # x: str = None means str | None
    given = default is not EMPTY or optional or any(not entry.is_required() for entry in fields)
    if not given and hint is not EMPTY and allows_none(hint):
        default, given = None, True
    return Parameter(
        name=item.name,
        wire_name=alias if isinstance(alias, str) else item.name,
        hint=typing.NotRequired[hint] if optional else hint,
        default=default,
        required=not given,
        field=field,
        description=described or (notes[0] if notes else documented),
    )


def _or_none(hint: Any) -> Any:
    """`T | None`; a `Field` of the parameter stays outside, since it is about the whole."""
    if get_origin(hint) is not Annotated:
        return typing.Optional[hint]  # noqa: UP045  (made at run time)
    inner, *metadata = get_args(hint)
    fields = [entry for entry in metadata if isinstance(entry, FieldInfo)]
    others = [entry for entry in metadata if not isinstance(entry, FieldInfo)]
    made: Any = typing.Optional[Annotated[(inner, *others)] if others else inner]  # noqa: UP045
    return Annotated[(made, *fields)] if fields else made
