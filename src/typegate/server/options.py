"""What an author may say to a server and to its decorators: each option, what it takes, how it is kept.

The law of the file: the tables say which option belongs where and what it takes, and one function walks
them. What is wrong is refused on the author's own line, with the name of the option and what it takes; what
is kept can be written as strict JSON, so that no listing fails later.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Literal, NamedTuple, cast, get_args

import msgspec

from typegate.contract.gate import Gate
from typegate.contract.results import to_json
from typegate.contract.schema import SchemaStyle
from typegate.errors import ConfigurationError, InvalidResult, RegistrationError
from typegate.guards.access import AccessPolicy
from typegate.guards.approval import Approver, approver_of
from typegate.guards.audit import AuditLog
from typegate.guards.limits import Limits
from typegate.guards.ratelimit import RateLimit
from typegate.guards.redaction import Redactor
from typegate.types import Annotations, Icon, Json, Principal, PromptArgument, ToolAnnotations

__all__ = [
    "OnDuplicate",
    "Options",
    "RunOptions",
    "ServerOptions",
    "Target",
    "check_function",
    "read_options",
    "read_run_options",
    "read_server_options",
    "target_of",
]

Keep = Callable[[Any], Any]
OnDuplicate = Literal["warn", "error", "replace", "ignore"]
Target = Literal["tool", "resource", "template", "prompt"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a decorator was told, as one value from there to the plan."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    scopes: frozenset[str] = frozenset()
    annotations: ToolAnnotations | Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Mapping[str, Json] | None = None
    tags: frozenset[str] = frozenset()
    schema: Mapping[str, Json] | None = None
    output_schema: Mapping[str, Json] | None = None
    structured_output: bool | None = None
    inline: bool = False
    gate: Gate = Gate()
    limits: Limits | None = None
    timeout: float | None = None
    approve: Approver | None = None
    uri: str = ""
    mime_type: str | None = None
    size: int | None = None
    unsafe: frozenset[str] = frozenset()
    arguments: tuple[PromptArgument, ...] | None = None
    local_names: Mapping[str, Any] = {}

    @property
    def own_limits(self) -> Limits:
        """`limits=` and `timeout=` as one value."""
        own = Limits() if self.limits is None else self.limits
        return own if self.timeout is None else msgspec.structs.replace(own, timeout=self.timeout)


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a server was told; `MCPServer` says what each option means."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: tuple[Icon, ...] = ()
    instructions: str | None = None
    lifespan: Callable[..., AbstractAsyncContextManager[Any]] | None = None
    audit: AuditLog | None = None
    redactor: Redactor | None = None
    on_missing_scope: Literal["hide"]
    gate: Gate
    schema_style: SchemaStyle
    on_duplicate: OnDuplicate
    json_indent: int | None = None
    page_size: int | None = None
    threads: int
    access: AccessPolicy | None = None
    rate_limit: RateLimit | None = None
    limits: Limits = Limits()


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `run()` was told."""

    grace: float
    principal: Principal | None = None


# --- what an option may take ---------------------------------------------------------------------


class Kind(NamedTuple):
    """What an option takes.

    Attributes:
        says: in words that follow its name: `takes a str`.
        keep: a value → how it is kept; raises `_Refused`.
    """

    says: str
    keep: Keep


class _Refused(Exception):
    """It is not what the option takes; the text, where there is one, says what is wrong with it."""


def _a(*classes: type) -> Keep:
    """An instance of one of these; a bool is no number."""

    def keep(value: object) -> object:
        if not isinstance(value, classes) or (isinstance(value, bool) and bool not in classes):
            raise _Refused
        return value

    return keep


def _such(keep_one: Keep, test: Callable[[Any], bool]) -> Keep:
    """What *keep_one* takes, if it passes *test*."""

    def keep(value: object) -> object:
        kept = keep_one(value)
        if not test(kept):
            raise _Refused
        return kept

    return keep


def _each(keep_one: Keep, collect: Keep) -> Keep:
    """A collection of what *keep_one* takes; a text would be one of single letters."""

    def keep(values: Any) -> object:
        if isinstance(values, str):
            raise _Refused(f"write [{keep_one(values)!r}]")
        if not isinstance(values, Iterable):
            raise _Refused
        return collect([_item(keep_one, index, value) for index, value in enumerate(values)])

    return keep


def _item(keep_one: Keep, index: int, value: object) -> object:
    try:
        return keep_one(value)
    except _Refused as refused:
        reason = str(refused)
        raise _Refused(f"[{index}]: {reason}" if reason else f"[{index}] is {_shown(value)}") from None


def _choice(*allowed: str) -> Kind:
    return Kind(f"takes {' or '.join(map(repr, allowed))}", _such(_a(str), allowed.__contains__))


def _struct(kind: type[msgspec.Struct]) -> Keep:
    """One of our values, whose members are what they are declared to be."""

    def keep(value: object) -> object:
        if not isinstance(value, kind):
            raise _Refused
        _decoded(msgspec.structs.asdict(value))  # a NaN that is a member itself would become a null
        return _decoded(value, kind)

    return keep


def _decoded(value: object, kind: Any = Any) -> Any:
    """*value* as it will travel, read again: a copy that is strict JSON and of the declared types."""
    try:
        return msgspec.json.decode(to_json(value), type=kind)
    except InvalidResult as error:
        raise _Refused(f"it holds {str(error).removeprefix('returned ')}") from None
    except msgspec.ValidationError as error:
        raise _Refused(_in_words(str(error))) from None


_MISFIT: Final = re.compile(r"Expected `(.+)`, got `(.+)` - at `\$\.(.+)`")


def _in_words(misfit: str) -> str:
    """What msgspec says of a member, with the member's name in Python."""
    found = _MISFIT.fullmatch(misfit)
    if found is None:
        return misfit
    name = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", found[3])
    return f"its {name} is {found[2]} where {found[1]} belongs"


def _object(value: object) -> object:
    if not isinstance(value, Mapping):
        raise _Refused
    return _decoded(dict(value))


def _argument(entry: object) -> object:
    """An argument of a prompt; one that is written as a dict has no other keys than those it may have."""
    if isinstance(entry, Mapping):
        strangers = [key for key in entry if key not in PromptArgument.__struct_fields__]
        if strangers:
            known = ", ".join(PromptArgument.__struct_fields__)
            raise _Refused(f"there is no {strangers[0]!r} in one, only {known}")
        return _decoded(dict(entry), PromptArgument)
    return _struct(PromptArgument)(entry)


def _without_repeats(arguments: list[PromptArgument]) -> tuple[PromptArgument, ...]:
    seen: set[str] = set()
    for each in arguments:
        if each.name in seen:
            raise _Refused(f"'{each.name}' is there twice")
        seen.add(each.name)
    return tuple(arguments)


def _never(reason: str) -> Keep:
    """Nothing but what stands for nothing."""

    def keep(value: object) -> object:
        if value != ():
            raise _Refused(reason)
        return frozenset()

    return keep


def _lifespan(function: Any) -> object:
    if not callable(function):
        raise _Refused
    if inspect.isasyncgenfunction(function):
        raise _Refused("decorate it with @contextlib.asynccontextmanager")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise _Refused("write an async def that yields, and decorate it with @contextlib.asynccontextmanager")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise _Refused("it takes the server: def lifespan(server)") from None
    except ValueError:  # a builtin that does not tell
        return function
    return function


def _approver(value: object) -> Approver:
    if not callable(value) and not isinstance(value, Approver):
        raise _Refused
    return approver_of(value)


TEXT: Final = Kind("takes a str", _a(str))
NAME: Final = Kind("takes a str that is not empty", _such(_a(str), bool))
TEXTS: Final = Kind("takes a list of str", _each(_a(str), frozenset))
FLAG: Final = Kind("takes True or False", _a(bool))
ICONS: Final = Kind("takes a list of Icon(...)", _each(_struct(Icon), tuple))
META: Final = Kind("takes a dict of JSON values", _object)
SCHEMA: Final = Kind("takes a JSON Schema as a dict", _object)
GATE: Final = Kind("takes a Gate(...)", _a(Gate))
LIMITS: Final = Kind("takes a Limits(...)", _a(Limits))
SECONDS: Final = Kind(
    "takes a number of seconds above 0", _such(_a(int, float), lambda value: 0 < value < float("inf"))
)
UNBUILT: Final = Kind("is not part of this version of typegate", _never("leave it out"))


def _at_least(least: int, otherwise: str = "") -> Kind:
    enough = _such(_a(int), lambda value: value >= least)
    return Kind(f"takes an integer of at least {least}{otherwise}", enough)


# --- who takes what ------------------------------------------------------------------------------

_COMPONENT: Final = {
    "name": TEXT,
    "title": TEXT,
    "description": TEXT,
    "scopes": TEXTS,
    "icons": ICONS,
    "meta": META,
    "tags": TEXTS,
    "inline": FLAG,
    "timeout": SECONDS,
}
_READ: Final = {
    **_COMPONENT,
    "uri": TEXT,
    "mime_type": TEXT,
    "annotations": Kind("takes Annotations(...)", _struct(Annotations)),
}
_TAKES: Final[dict[Target, dict[str, Kind]]] = {
    "tool": {
        **_COMPONENT,
        "annotations": Kind("takes ToolAnnotations(...)", _struct(ToolAnnotations)),
        "schema": SCHEMA,
        "output_schema": SCHEMA,
        "structured_output": FLAG,
        "gate": GATE,
        "limits": LIMITS,
        "approve": Kind("takes a function of the request, or an Approver(...)", _approver),
    },
    "resource": {
        **_READ,
        "size": _at_least(0),
        "unsafe": Kind("is for the variables of a template", _never("this URI has none; leave it out")),
    },
    "template": {
        **_READ,
        "size": Kind("is for one resource", _never("a template stands for many; leave it out")),
        "unsafe": TEXTS,
    },
    "prompt": {
        **_COMPONENT,
        "arguments": Kind(
            "takes a list of dicts or PromptArgument(...), such as [{'name': 'order_id', 'required': True}]",
            _each(_argument, _without_repeats),
        ),
    },
}
_SERVER_TAKES: Final = {
    "name": NAME,
    "version": NAME,
    **dict.fromkeys(("title", "description", "website_url", "instructions"), TEXT),
    "icons": ICONS,
    "lifespan": Kind("takes a function that gives an async context manager", _lifespan),
    "auth": UNBUILT,
    "redactor": Kind("takes a Redactor(...), or None for none", _a(Redactor)),
    "access": Kind("takes an AccessPolicy(...)", _a(AccessPolicy)),
    "rate_limit": Kind("takes a RateLimit(...)", _a(RateLimit)),
    "limits": LIMITS,
    "audit": Kind("takes an AuditLog(...), or None for no log", _a(AuditLog)),
    "on_missing_scope": _choice("hide"),
    "gate": GATE,
    "schema_style": _choice(*get_args(SchemaStyle)),
    "on_duplicate": _choice(*get_args(OnDuplicate)),
    "json_indent": _at_least(0, ", or None for compact JSON"),
    "page_size": _at_least(1, ", or None for all in one page"),
    "threads": _at_least(1),
}
_RUN_TAKES: Final = {
    "grace": Kind("takes a number of seconds", _such(_a(int, float), lambda value: value >= 0)),
    "principal": Kind("takes a Principal(...)", _a(Principal)),
}
_NEVER_NONE: Final = frozenset(
    {"name", "version", "on_missing_scope", "gate", "schema_style", "on_duplicate", "threads", "grace"}
)
"""The options of a server and of `run()` that cannot be left open; a decorator's can, each of them."""


def read_options(target: Target, values: Mapping[str, Any], local_names: Mapping[str, Any]) -> Options:
    """The options of a decorator as one value; those that are `None` stay unset.

    Args:
        target: what the decorator makes.
        values: what it was told.
        local_names: the names of its frame, which hints may mean.

    Raises:
        RegistrationError: an option does not exist in this version, or is not what it takes.
    """
    made = _kept(_TAKES[target], values, f"a {target}", RegistrationError)
    return Options(**made, local_names=local_names)


def read_server_options(values: Mapping[str, Any]) -> ServerOptions:
    """The options of a server as one value.

    Raises:
        ConfigurationError: an option is not what it takes, or its feature is not part of this version.
    """
    return ServerOptions(**_kept(_SERVER_TAKES, values, "a server", ConfigurationError, _NEVER_NONE))


def read_run_options(values: Mapping[str, Any]) -> RunOptions:
    """The options of `run()` as one value.

    Raises:
        ConfigurationError: an option does not exist in this version, or is not what it takes.
    """
    return RunOptions(**_kept(_RUN_TAKES, values, "run()", ConfigurationError, _NEVER_NONE))


def _kept(
    takes: Mapping[str, Kind],
    values: Mapping[str, Any],
    whose: str,
    error: type[ConfigurationError],
    never_none: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Each option as it is kept; `None` leaves one unset where that is allowed."""
    made: dict[str, Any] = {}
    for option, value in values.items():
        kind = takes.get(option)
        if kind is None:
            raise error(f"{option}= is no option of {whose} in this version of typegate")
        if value is None and option not in never_none:
            continue
        try:
            made[option] = kind.keep(value)
        except _Refused as refused:
            said = f"; {refused}" if str(refused) else f", not {_shown(value)}"
            raise error(f"{option}= {kind.says}{said}") from None
    return made


def _shown(value: object) -> str:
    """What was given instead: a plain value as it is written, anything else by its class."""
    plain = value is None or isinstance(value, str | int | float)
    return repr(value)[:80] if plain else f"a value of type {type(value).__name__}"


# --- what is decorated ---------------------------------------------------------------------------

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+\Z")


def target_of(uri: object) -> Literal["resource", "template"]:
    """What a URI stands for: with a brace in it, a family of resources.

    Raises:
        RegistrationError: it is no URI.
    """
    if not isinstance(uri, str):
        raise RegistrationError("resource takes its URI first: @server.resource('config://limits')")
    if _URI.match(uri) is None:
        raise RegistrationError(f"resource '{uri}' needs a URI with a scheme, such as 'config://limits'")
    return "template" if "{" in uri or "}" in uri else "resource"


def check_function(function: Any, usage: str) -> Callable[..., Any]:
    """The function itself; what cannot be called is none.

    Args:
        function: what was decorated, or given in its place.
        usage: how the decorator is written.

    Raises:
        RegistrationError: with the usage.
    """
    if not callable(function):
        raise RegistrationError(usage)
    return cast("Callable[..., Any]", function)
