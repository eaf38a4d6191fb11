"""`MCPServer`: what an author writes; everything else happens behind it.

The law of the file: it collects and hands over. A decorator makes one `Options` value and gives it to the
room that knows what to do with it; nothing is decided here.
"""

import asyncio
import contextlib
import functools
import logging
import re
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import FrameType
from typing import Any, Final, Literal, TypeVar, get_args, overload

from typegate.contract.gate import DEFAULT_GATE, Gate
from typegate.contract.problems import rendered
from typegate.contract.schema import SchemaStyle
from typegate.errors import ConfigurationError, RegistrationError
from typegate.guards.calls import Guard, compose
from typegate.server.bus import Bus, Change
from typegate.server.components import (
    Options,
    Shared,
    plan_completion,
    plan_prompt,
    plan_resource,
    plan_template,
    plan_tool,
)
from typegate.server.context import Context
from typegate.server.handlers import Service, dispatcher
from typegate.server.registry import Catalogue, OnDuplicate, Plan, Registry
from typegate.transports import memory, stdio
from typegate.transports.runner import Serving
from typegate.transports.stdio import StdioOptions
from typegate.transports.workers import DEFAULT_THREADS, Workers
from typegate.types import (
    Annotations,
    Icon,
    Implementation,
    Json,
    LogLevel,
    Principal,
    PromptArgument,
    ToolAnnotations,
)
from typegate.versions import LATEST_MODERN
from typegate.wire.connection import Terms
from typegate.wire.shapes import Identity

__all__ = ["MCPServer", "tool"]

log: Final = logging.getLogger("typegate")

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=Plan)
Lifespan = Callable[["MCPServer"], AbstractAsyncContextManager[Any]]

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+\Z")

MARK: Final = "__typegate_tool__"


def _options(kind: str, values: Mapping[str, Any], frame: FrameType | None = None) -> Options:
    """The options of a decorator as one value; collections become frozen, unset ones stay out.

    Raises:
        ConfigurationError: an option does not exist in this version, or is of the wrong kind.
    """
    made: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _BELONGS[kind]:
            raise ConfigurationError(f"{key}= is no option of a {kind} in this version of typegate")
        if value is None:
            continue
        if key in _COLLECTIONS and isinstance(value, str):
            raise ConfigurationError(f"{key}= takes a list: {key}=[{value!r}]")
        if key == "gate" and not isinstance(value, Gate):
            raise ConfigurationError("gate= takes a Gate(...)")
        made[key] = _COLLECTIONS[key](value) if key in _COLLECTIONS else value
    return Options(**made, local_names=dict(frame.f_locals) if frame is not None else {})


_COLLECTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "scopes": frozenset,
    "tags": frozenset,
    "unsafe": frozenset,
    "icons": tuple,
}
_OPTIONS: Final = frozenset(Options.__struct_fields__) - {"local_names"}
_BELONGS: Final = {
    "tool": _OPTIONS - {"uri", "mime_type", "size", "unsafe", "arguments"},
    "resource": _OPTIONS - {"schema", "output_schema", "structured_output", "gate", "arguments"},
    "prompt": _OPTIONS
    - {"uri", "mime_type", "size", "unsafe", "schema", "output_schema", "structured_output"}
    - {"gate", "annotations"},
}
"""Which options belong to which decorator."""


def _caller(depth: int = 2) -> FrameType:
    """The frame that decorates or registers: hints may name what is local to it."""
    return sys._getframe(depth)


class MCPServer:
    """An MCP server: register functions, then `run()`.

    Attributes:
        name: what clients see.
        catalogue: everything that is registered, as frozen plans, for programs that read servers.

    Args:
        name: the only required argument.
        version: of your server, as clients see it.
        title: for people; `description`, `website_url` and `icons` likewise (from 2025-11-25 on).
        instructions: what a model should know of the server.
        lifespan: `lifespan(server)` gives an async context manager that is open while the server runs;
            what it yields is `ctx.lifespan`.
        redactor: not part of this version, nor are `audit`, `access`, `rate_limit`, `limits` and `auth`:
            `None` only.
        on_missing_scope: `hide`: who lacks a scope of a component does not learn that it exists.
        gate: how arguments are judged.
        schema_style: `compact`, `inline` or `pydantic`; see `Schemas` in the documentation.
        on_duplicate: what happens when a name is registered again: `warn` keeps the first.
        json_indent: of JSON in text blocks; `None`: compact.
        page_size: how many entries a page of a listing has; `None`: all in one.
        threads: how many plain functions run at once at most.

    Raises:
        ConfigurationError: an option cannot work, or its feature is not part of this version.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.1.0",
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Icon] = (),
        instructions: str | None = None,
        lifespan: Lifespan | None = None,
        redactor: None = None,
        audit: None = None,
        access: None = None,
        rate_limit: None = None,
        limits: None = None,
        auth: None = None,
        on_missing_scope: Literal["hide"] = "hide",
        gate: Gate = Gate(),  # noqa: B008  (frozen)
        schema_style: SchemaStyle = "compact",
        on_duplicate: OnDuplicate = "warn",
        json_indent: int | None = 2,
        page_size: int | None = None,
        threads: int = DEFAULT_THREADS,
    ) -> None:
        unbuilt = {"redactor": redactor, "audit": audit, "access": access, "rate_limit": rate_limit}
        for option, value in {**unbuilt, "limits": limits, "auth": auth}.items():
            if value is not None:
                raise ConfigurationError(f"{option}= is not part of this version of typegate; leave it out")
        _check_choice("on_missing_scope", on_missing_scope, ("hide",))
        _check_choice("schema_style", schema_style, get_args(SchemaStyle))
        _check_choice("on_duplicate", on_duplicate, get_args(OnDuplicate))
        if not isinstance(gate, Gate):
            raise ConfigurationError("gate= takes a Gate(...)")
        if page_size is not None and page_size < 1:
            raise ConfigurationError("page_size must be at least 1, or None for all in one page")
        if threads < 1:
            raise ConfigurationError("threads must be at least 1")
        self.name = name
        self.catalogue: Final = Catalogue(on_duplicate)
        self._implementation = Implementation(
            name=name,
            version=version,
            title=title,
            description=description,
            website_url=website_url,
            icons=tuple(icons) or None,
        )
        self._instructions = instructions
        self._lifespan = lifespan
        self._shared = Shared(
            gate=gate.over(DEFAULT_GATE), style=schema_style, indent=json_indent, injectable=(Context,)
        )
        self._page_size = page_size
        self._threads = threads
        self._bus = Bus()
        self._guards: tuple[Guard, ...] = ()  # the outermost first; redaction and audit are the runner's
        self._key = secrets.token_bytes(32)

    # --- tools

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        scopes: Iterable[str] = (),
        annotations: ToolAnnotations | None = None,
        icons: Sequence[Icon] | None = None,
        meta: Mapping[str, Json] | None = None,
        tags: Iterable[str] = (),
        schema: Mapping[str, Json] | None = None,
        output_schema: Mapping[str, Json] | None = None,
        structured_output: bool | None = None,
        inline: bool = False,
        gate: Gate | None = None,
    ) -> Callable[[F], F]: ...

    def tool(self, function: Any = None, /, **options: Any) -> Any:
        """Register a function as a tool: `@server.tool` or `@server.tool(...)`; it is returned unchanged.

        Args:
            function: the function, where the decorator is used bare.
            **options: as listed here.
            name: defaults to the function's name.
            title: for people.
            description: defaults to the docstring above its parameter section.
            scopes: what the caller must have.
            annotations: hints on what the tool does.
            icons: images for a list.
            meta: its `_meta`; `tags` are listed under `dev.typegate/tags`.
            schema: a JSON Schema of your own: published as given and judged in full.
            output_schema: the same for results.
            structured_output: `None` decides by the return annotation.
            inline: run a quick plain function on the event loop, not on a worker thread.
            gate: how its arguments are judged; unset fields are the server's.

        Raises:
            RegistrationError: the function cannot be a tool; the text says what to change.
        """
        made = _options("tool", options, _caller())

        def register(decorated: F) -> F:
            if not callable(decorated):
                raise RegistrationError("tool takes keyword options: @server.tool(name=...)")
            self._add_tool(decorated, made)
            return decorated

        return register if function is None else register(function)

    def add_tool(
        self, name: str | Callable[..., Any], handler: Callable[..., Any] | None = None, /, **options: Any
    ) -> None:
        """Register a tool at run time: `add_tool(handler)` or `add_tool("orders.lookup", handler, ...)`.

        Takes the options of `tool`. Clients that asked to know are told.
        """
        if handler is None:
            if not callable(name):
                raise RegistrationError(
                    "add_tool takes a function: add_tool(handler) or add_tool(name, handler)"
                )
            self._add_tool(name, _options("tool", options, _caller()))
        else:
            self._add_tool(handler, _options("tool", {**options, "name": name}, _caller()))

    def add_tools(self, source: object) -> None:
        """Register the public methods of *source* that are marked with `@typegate.tool`."""
        frame = _caller()
        plans = [
            plan_tool(getattr(source, name), _options("tool", options, frame), self._shared)
            for name, options in _marked(source).items()
        ]
        if not plans:
            raise RegistrationError(
                f"{type(source).__name__} has no methods marked with @typegate.tool; mark the ones to serve"
            )
        for plan in plans:
            self._register(self.catalogue.tools, plan, "tools")

    def remove_tool(self, name: str) -> None:
        """Take a tool away. Clients that asked to know are told.

        Raises:
            RegistrationError: there is none of this name.
        """
        if self.catalogue.tools.remove(name) is None:
            raise RegistrationError(f"there is no tool '{name}' to remove")
        self.notify_tools_changed()

    def _add_tool(self, function: Callable[..., Any], options: Options) -> None:
        self._register(self.catalogue.tools, plan_tool(function, options, self._shared), "tools")

    def _register(
        self, registry: Registry[P], plan: P, kind: Literal["tools", "resources", "prompts"]
    ) -> None:
        if registry.add(plan):
            self._bus.publish(Change(kind))

    # --- resources, prompts, completions

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        scopes: Iterable[str] = (),
        annotations: Annotations | None = None,
        icons: Sequence[Icon] | None = None,
        meta: Mapping[str, Json] | None = None,
        tags: Iterable[str] = (),
        inline: bool = False,
        unsafe: Iterable[str] = (),
        **unbuilt: Any,
    ) -> Callable[[F], F]:
        """Register a function as a resource; with `{variables}` in the URI, as a family of them.

        Args:
            uri: `config://limits`, or a template as of RFC 6570: `orders://{order_id}`.
            name: defaults to the function's name.
            title: for people.
            description: defaults to the docstring.
            mime_type: defaults to that of what is returned: text, JSON or bytes.
            size: in bytes, where it is known.
            scopes: what the caller must have.
            annotations: for whom it is, how important it is, when it changed.
            icons: images for a list.
            meta: its `_meta`.
            tags: listed under `dev.typegate/tags`.
            inline: run a quick plain function on the event loop.
            unsafe: variables that may hold `..`, absolute paths and the like.
            **unbuilt: refused: other options are not part of this version.
        """
        options = {key: value for key, value in locals().items() if key not in ("self", "unbuilt")}
        made = _options("resource", {**options, **unbuilt}, _caller())

        def register(function: F) -> F:
            if _URI.match(uri) is None:
                raise RegistrationError(
                    f"resource '{uri}' needs a URI with a scheme, such as 'config://limits'"
                )
            if "{" in uri or "}" in uri:
                template = plan_template(function, made, self._shared)
                self._register(self.catalogue.templates, template, "resources")
            else:
                resource = plan_resource(function, made, self._shared)
                self._register(self.catalogue.resources, resource, "resources")
            return function

        return register

    def prompt(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        arguments: Sequence[Mapping[str, Any] | PromptArgument] | None = None,
        scopes: Iterable[str] = (),
        icons: Sequence[Icon] | None = None,
        meta: Mapping[str, Json] | None = None,
        tags: Iterable[str] = (),
        inline: bool = False,
        **unbuilt: Any,
    ) -> Any:
        """Register a function as a prompt: `@server.prompt` or `@server.prompt(...)`.

        Args:
            function: the function, where the decorator is used bare.
            name: defaults to the function's name.
            title: for people.
            description: defaults to the docstring above its parameter section.
            arguments: listed by hand; they come from the signature otherwise.
            scopes: what the caller must have.
            icons: images for a list.
            meta: its `_meta`.
            tags: listed under `dev.typegate/tags`.
            inline: run a quick plain function on the event loop.
            **unbuilt: refused: other options are not part of this version.
        """
        given = {key: value for key, value in locals().items() if key not in ("self", "function", "unbuilt")}
        made = _options("prompt", {**given, **unbuilt}, _caller())

        def register(decorated: F) -> F:
            self._register(self.catalogue.prompts, plan_prompt(decorated, made, self._shared), "prompts")
            return decorated

        return register if function is None else register(function)

    def completion(self, target: str | Callable[..., Any], argument: str) -> Callable[[F], F]:
        """Register what suggests values for a prompt's argument or a template's variable.

        Args:
            target: the prompt's name, the template's URI, or the function of either.
            argument: the argument or variable.

        The function takes what was typed so far and, if it wants, a dict of the other arguments; it gives
        strings, of which 100 are sent.
        """
        key = self._completion_key(target, argument)

        def register(function: F) -> F:
            self.catalogue.completions[key] = plan_completion(function, self._shared)
            return function

        return register

    def _completion_key(self, target: str | Callable[..., Any], argument: str) -> tuple[str, str, str]:
        for prompt in self.catalogue.prompts:
            if target in (prompt.key, prompt.callback.function):
                names = [each.name for each in prompt.listed.arguments or ()]
                return self._checked(("prompt", prompt.key, argument), names)
        for template in self.catalogue.templates:
            if target in (template.key, template.callback.function):
                return self._checked(("resource", template.key, argument), template.template.variables)
        raise RegistrationError(
            f"there is no prompt and no template '{target}' to complete; register it first"
        )

    @staticmethod
    def _checked(key: tuple[str, str, str], names: Iterable[str]) -> tuple[str, str, str]:
        if key[2] not in names:
            raise RegistrationError(f"{key[0]} '{key[1]}' has no '{key[2]}' to complete")
        return key

    # --- composition and changes

    def include(self, other: "MCPServer", prefix: str = "") -> None:
        """Serve another server's components too; *prefix* goes before the names of tools and prompts."""
        for tool_plan in other.catalogue.tools:
            self._add_tool(tool_plan.callback.function, _renamed(tool_plan.options, prefix + tool_plan.key))
        for resource in other.catalogue.resources:
            self._register(self.catalogue.resources, resource, "resources")
        for template in other.catalogue.templates:
            self._register(self.catalogue.templates, template, "resources")
        for prompt in other.catalogue.prompts:
            renamed = _renamed(prompt.options, prefix + prompt.key)
            plan = plan_prompt(prompt.callback.function, renamed, self._shared)
            self._register(self.catalogue.prompts, plan, "prompts")
        for (kind, name, argument), completion in other.catalogue.completions.items():
            key = (kind, prefix + name if kind == "prompt" else name, argument)
            self.catalogue.completions[key] = completion

    def notify_tools_changed(self) -> None:
        """Tell the clients that asked that the list of tools has changed; from any thread."""
        self._bus.publish(Change("tools"))

    def notify_prompts_changed(self) -> None:
        """Tell the clients that asked that the list of prompts has changed; from any thread."""
        self._bus.publish(Change("prompts"))

    def notify_resources_changed(self) -> None:
        """Tell the clients that asked that the list of resources has changed; from any thread."""
        self._bus.publish(Change("resources"))

    def notify_resource_updated(self, uri: str) -> None:
        """Tell the clients that asked that a resource has changed; from any thread."""
        self._bus.publish(Change("resource", uri))

    # --- serving

    def run(
        self,
        transport: Literal["stdio"] = "stdio",
        *,
        grace: float = 5.0,
        principal: Principal | None = None,
        **unbuilt: Any,
    ) -> None:
        """Serve on standard input and output until the input ends or a signal comes.

        Args:
            transport: `stdio`; HTTP is not part of this version.
            grace: seconds that calls under way have to end.
            principal: who is at the other end.
            **unbuilt: refused: `host`, `port` and the like come with HTTP.

        Raises:
            SystemExit: with status 130 after SIGINT, 143 after SIGTERM.
            ConfigurationError: another transport was asked for.
        """
        if transport != "stdio":
            raise ConfigurationError(f"transport '{transport}' is not part of this version; use 'stdio'")
        for option in unbuilt:
            raise ConfigurationError(f"{option}= is no option of run() in this version of typegate")
        status = stdio.run(self._open, StdioOptions(grace=grace, principal=principal))
        if status:
            raise SystemExit(status)

    def client(
        self,
        protocol_version: str = LATEST_MODERN.name,
        principal: Principal | None = None,
        log_level: LogLevel | None = None,
    ) -> AbstractAsyncContextManager[memory.Client]:
        """A client in the same process: `async with server.client() as client: ...`.

        Args:
            protocol_version: the revision that it speaks.
            principal: as whom it calls.
            log_level: from which level on it wants log messages.
        """
        return memory.connect(self._open, protocol_version, principal, log_level)

    @contextlib.asynccontextmanager
    async def _open(self) -> AsyncIterator[Serving]:
        """Start: open the lifespan, settle what is advertised, build the chain."""
        workers = Workers(self._threads)
        lifespan = self._lifespan(self) if self._lifespan is not None else contextlib.nullcontext()
        async with lifespan as state:
            service = Service(
                catalogue=self.catalogue,
                capabilities=_capabilities(self.catalogue),
                instructions=self._instructions,
                bus=self._bus,
                workers=workers,
                key=self._key,
                page_size=self._page_size,
                lifespan=state,
                closing=asyncio.Event(),
            )
            handle = compose(self._guards, dispatcher(service))
            form: Any = self._shared.gate.problem_format
            render = functools.partial(rendered, form=form)
            terms = Terms(Identity(self._implementation), service.capabilities, render)
            try:
                yield Serving(service, handle, terms)
            finally:
                workers.close()


def tool(function: Any = None, /, **options: Any) -> Any:
    """Mark a method for `server.add_tools(obj)`; takes the options of `MCPServer.tool`."""
    _options("tool", options)

    def mark(method: F) -> F:
        setattr(method, MARK, options)
        return method

    return mark if function is None else mark(function)


def _marked(source: object) -> dict[str, Mapping[str, Any]]:
    """The public members that carry the mark, in the order in which they were written."""
    found: dict[str, Mapping[str, Any]] = {}
    for owner in (*reversed(type(source).__mro__), source):
        for name, member in getattr(owner, "__dict__", {}).items():
            options = getattr(member, MARK, getattr(getattr(member, "__func__", None), MARK, None))
            if options is not None and not name.startswith("_"):
                found[name] = options
    return found


def _check_choice(option: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{option}= must be {' or '.join(map(repr, allowed))}")


def _renamed(options: Options, name: str) -> Options:
    values = {field: getattr(options, field) for field in options.__struct_fields__}
    return Options(**{**values, "name": name})


def _capabilities(catalogue: Catalogue) -> dict[str, Json]:
    """What is advertised: only what is registered (requirement A15)."""
    found: dict[str, Json] = {}
    if len(catalogue.tools):
        found["tools"] = {"listChanged": True}
    if len(catalogue.resources) or len(catalogue.templates):
        found["resources"] = {"subscribe": True, "listChanged": True}
    if len(catalogue.prompts):
        found["prompts"] = {"listChanged": True}
    if catalogue.completions:
        found["completions"] = {}
    plans = (*catalogue.tools, *catalogue.resources, *catalogue.templates, *catalogue.prompts)
    if any(plan.callback.injected for plan in plans):
        found["logging"] = {}
    return found
