"""`MCPServer`: what an author writes; everything else happens behind it.

The law of the file: it collects and hands over. A decorator makes one `Options` value and gives it to the
room that knows what to do with it; nothing is decided here.
"""

import asyncio
import contextlib
import functools
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Literal, TypeVar, overload

import msgspec

from typegate.contract.gate import DEFAULT_GATE, Gate
from typegate.contract.problems import rendered
from typegate.contract.schema import SchemaStyle
from typegate.errors import ConfigurationError, RegistrationError
from typegate.guards.access import Access, AccessPolicy
from typegate.guards.approval import APPROVAL_THREADS, ApprovalRequest, Approvals, Approver
from typegate.guards.audit import AuditLog
from typegate.guards.calls import Admit, Guard, compose
from typegate.guards.limits import DEFAULT_LIMITS, Limiter, Limits
from typegate.guards.ratelimit import RateLimit, RateLimiter
from typegate.guards.redaction import Redactor
from typegate.server.bus import Bus, Change
from typegate.server.components import (
    CompletionPlan,
    PromptPlan,
    Shared,
    TemplatePlan,
    plan_completion,
    plan_prompt,
    plan_resource,
    plan_template,
    plan_tool,
)
from typegate.server.context import Context
from typegate.server.handlers import Service, dispatcher
from typegate.server.options import (
    OnDuplicate,
    Options,
    check_function,
    read_options,
    read_run_options,
    read_server_options,
    target_of,
)
from typegate.server.registry import Catalogue, Completable, Plan, Registry, capabilities
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

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=Plan)
Lifespan = Callable[["MCPServer"], AbstractAsyncContextManager[Any]]

MARK: Final = "__typegate_tool__"


def _local_names() -> dict[str, Any]:
    """What the frame that decorates or registers holds: hints may name what is local to it."""
    return dict(sys._getframe(2).f_locals)


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
        redactor: takes secrets out of everything that leaves; `None`: nothing is taken out.
        auth: not part of this version: `None` only.
        access: who may use what; `None`: whoever has the scopes.
        rate_limit: how often a caller may call; `None`: as often as it likes.
        limits: how long, how many at once, and how large.
        audit: where every request is put on record before its answer leaves; see `Audit` in the
            documentation.
        on_missing_scope: `hide`: who lacks a scope of a component does not learn that it exists.
        gate: how arguments are judged.
        schema_style: `compact`, `inline` or `pydantic`; see `Schemas` in the documentation.
        on_duplicate: what happens when a name is registered again: `warn` keeps the first.
        json_indent: of JSON in text blocks; `None`: compact.
        page_size: how many entries a page of a listing has; `None`: all in one.
        threads: how many plain functions run at once at most.

    Raises:
        ConfigurationError: an option is not what it takes, or its feature is not part of this version.
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
        redactor: Redactor | None = None,
        audit: AuditLog | None = None,
        access: AccessPolicy | None = None,
        rate_limit: RateLimit | None = None,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        auth: None = None,
        on_missing_scope: Literal["hide"] = "hide",
        gate: Gate = Gate(),  # noqa: B008  (frozen)
        schema_style: SchemaStyle = "compact",
        on_duplicate: OnDuplicate = "warn",
        json_indent: int | None = 2,
        page_size: int | None = None,
        threads: int = DEFAULT_THREADS,
    ) -> None:
        given = {option: value for option, value in locals().items() if option != "self"}
        options = self._options = read_server_options(given)
        self.name = options.name
        self._access = None if options.access is None else Access(options.access)
        self.catalogue: Final = Catalogue(options.on_duplicate, self._access)
        self._implementation = Implementation(
            name=options.name,
            version=options.version,
            title=options.title,
            description=options.description,
            website_url=options.website_url,
            icons=options.icons or None,
        )
        self._shared = Shared(
            gate=options.gate.over(DEFAULT_GATE),
            style=options.schema_style,
            indent=options.json_indent,
            injectable=(Context,),
            limits=options.limits.over(DEFAULT_LIMITS),
        )
        self._bus = Bus()
        limit = options.rate_limit
        self._rates = None if limit is None else RateLimiter(limit, time.monotonic_ns)
        # the outermost first, with the limits behind them; redaction and audit are the runner's
        self._guards: tuple[Guard, ...] = () if self._rates is None else (self._rates.guard,)
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
        limits: Limits | None = None,
        timeout: float | None = None,
        approve: Callable[[ApprovalRequest], Any] | Approver | None = None,
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
            limits: its own limits; unset fields are the server's.
            timeout: seconds that it may take: short for `limits=Limits(timeout=...)`.
            approve: who must say yes before it runs; see `Approver`.

        Raises:
            RegistrationError: the function cannot be a tool; the text says what to change.
        """
        made = read_options("tool", options, _local_names())

        def register(decorated: F) -> F:
            check_function(decorated, "tool takes keyword options: @server.tool(name=...)")
            self._add_tool(decorated, made)
            return decorated

        return register if function is None else register(function)

    def add_tool(
        self, name: str | Callable[..., Any], handler: Callable[..., Any] | None = None, /, **options: Any
    ) -> None:
        """Register a tool at run time: `add_tool(handler)` or `add_tool("orders.lookup", handler, ...)`.

        Takes the options of `tool`. Clients that asked to know are told.
        """
        usage = "add_tool takes a function: add_tool(handler) or add_tool(name, handler)"
        function = check_function(name if handler is None else handler, usage)
        given = options if handler is None else {**options, "name": name}
        self._add_tool(function, read_options("tool", given, _local_names()))

    def add_tools(self, source: object) -> None:
        """Register the public methods of *source* that are marked with `@typegate.tool`."""
        names = _local_names()
        plans = [
            plan_tool(function, msgspec.structs.replace(options, local_names=names), self._shared)
            for function, options in _marked(source)
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
    ) -> bool:
        changed = registry.add(plan)
        if changed:
            self._bus.publish(Change(kind))
        return changed

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
        timeout: float | None = None,
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
            size: in bytes, where it is known; a template has none.
            scopes: what the caller must have.
            annotations: for whom it is, how important it is, when it changed.
            icons: images for a list.
            meta: its `_meta`.
            tags: listed under `dev.typegate/tags`.
            inline: run a quick plain function on the event loop.
            timeout: seconds that it may take.
            unsafe: variables of a template that may hold `..`, absolute paths and the like.
            **unbuilt: refused: other options are not part of this version.

        Raises:
            RegistrationError: the URI is none, or the function does not fit it; the text says what to change.
        """
        options = {key: value for key, value in locals().items() if key not in ("self", "unbuilt")}
        target = target_of(uri)
        made = read_options(target, {**options, **unbuilt}, _local_names())

        def register(function: F) -> F:
            check_function(function, "resource is a decorator: @server.resource('config://limits')")
            if target == "template":
                self._add_template(plan_template(function, made, self._shared))
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
        timeout: float | None = None,
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
            timeout: seconds that it may take.
            **unbuilt: refused: other options are not part of this version.
        """
        given = {key: value for key, value in locals().items() if key not in ("self", "function", "unbuilt")}
        made = read_options("prompt", {**given, **unbuilt}, _local_names())

        def register(decorated: F) -> F:
            check_function(decorated, "prompt takes keyword options: @server.prompt(name=...)")
            self._add_prompt(plan_prompt(decorated, made, self._shared))
            return decorated

        return register if function is None else register(function)

    def completion(self, target: str | Callable[..., Any], argument: str) -> Callable[[F], F]:
        """Register what suggests values for a prompt's argument or a template's variable.

        Args:
            target: the prompt's name, the template's URI, or the function of either.
            argument: the argument or variable.

        The function takes what was typed so far and, if it wants, a dict of the other arguments; it gives
        strings, of which 100 are sent. It goes with the prompt or template when another takes its place.

        Raises:
            RegistrationError: there is no such argument, or the function takes something else.
        """
        key, names = self._completable(target, argument), _local_names()

        def register(function: F) -> F:
            check_function(function, "completion is a decorator: @server.completion(target, argument)")
            self.catalogue.completions.add(key, plan_completion(function, self._shared, names))
            return function

        return register

    def _completable(self, target: str | Callable[..., Any], argument: str) -> Completable:
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
    def _checked(key: Completable, names: Iterable[str]) -> Completable:
        if key[2] not in names:
            raise RegistrationError(f"{key[0]} '{key[1]}' has no '{key[2]}' to complete")
        return key

    def _add_template(self, plan: TemplatePlan, completions: Mapping[str, CompletionPlan] = {}) -> None:
        if self._register(self.catalogue.templates, plan, "resources"):
            self.catalogue.completions.settle("resource", plan.key, completions)

    def _add_prompt(self, plan: PromptPlan, completions: Mapping[str, CompletionPlan] = {}) -> None:
        if self._register(self.catalogue.prompts, plan, "prompts"):
            self.catalogue.completions.settle("prompt", plan.key, completions)

    # --- composition and changes

    def include(self, other: "MCPServer", prefix: str = "") -> None:
        """Serve what another server has at this moment: tools, resources, prompts and their completions.

        Its tools are judged by their own gate, which is laid over that of their server, and that over this
        server's. Their schema style and the lifespan are this server's. What is registered here already
        stays or goes as `on_duplicate` says, and its completions with it.

        Args:
            other: the other server; it stays as it is.
            prefix: goes before the names of tools and prompts, not before URIs.

        Raises:
            RegistrationError: a name is taken and `on_duplicate` is "error", or cannot be one.
        """
        if not isinstance(other, MCPServer) or not isinstance(prefix, str):
            raise RegistrationError(
                "include takes a server and a str: server.include(other, prefix='other.')"
            )
        if other._options.access is not None or other._options.rate_limit is not None:
            raise RegistrationError(
                "the included server has access= or rate_limit=, which would not hold here; "
                "give them to this server"
            )
        there, gate = other.catalogue, other._options.gate
        for tool_plan in there.tools:
            said = tool_plan.options
            options = msgspec.structs.replace(
                said,
                name=prefix + tool_plan.key,
                gate=said.gate.over(gate),
                limits=said.own_limits.over(other._options.limits.uncounted),
            )
            self._add_tool(tool_plan.callback.function, options)
        for resource in there.resources:
            self._register(self.catalogue.resources, resource, "resources")
        for template in there.templates:
            self._add_template(template, there.completions.of("resource", template.key))
        for prompt in there.prompts:
            renamed = msgspec.structs.replace(prompt.options, name=prefix + prompt.key)
            plan = plan_prompt(prompt.callback.function, renamed, self._shared)
            self._add_prompt(plan, there.completions.of("prompt", prompt.key))

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
            ConfigurationError: another transport was asked for, or an option is not what it takes.
        """
        if transport != "stdio":
            raise ConfigurationError(f"transport '{transport}' is not part of this version; use 'stdio'")
        options = read_run_options({"grace": grace, "principal": principal, **unbuilt})
        status = stdio.run(self._open, StdioOptions(grace=options.grace, principal=options.principal))
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
        workers, askers = Workers(self._options.threads), Workers(APPROVAL_THREADS)
        async with contextlib.AsyncExitStack() as stack:
            audit, redactor = self._options.audit, self._options.redactor
            if audit is not None:
                clean = None if redactor is None else redactor.clean_text
                audit.start(f"{self.name} {self._options.version}", redact=clean)
                stack.callback(audit.stop)  # after the lifespan, workers and all calls
            state = await stack.enter_async_context(self._lifespan())
            service = Service(
                catalogue=self.catalogue,
                capabilities=capabilities(self.catalogue),
                instructions=self._options.instructions,
                bus=self._bus,
                workers=workers,
                key=self._key,
                page_size=self._options.page_size,
                lifespan=state,
                closing=asyncio.Event(),
                admits=self._admits(askers),
                judges=self._access is not None and (self._access.judges or self._access.asks),
                may_say=None if self._rates is None else self._rates.may_say,
            )
            handle = compose((*self._guards, Limiter(self._shared.limits).guard), dispatcher(service))
            form: Any = self._shared.gate.problem_format
            render = functools.partial(rendered, form=form)
            terms = Terms(Identity(self._implementation), service.capabilities, render)
            try:
                yield Serving(service, handle, terms, audit, redactor)
            finally:
                workers.close()
                askers.close()

    def _admits(self, askers: Workers) -> tuple[Admit, ...]:
        """What looks at the values between binding and running: rules first, people last."""
        access = self._access
        rules = () if access is None or not access.judges else (access.admit,)
        more = None if access is None or not access.asks else access.approvers
        return (*rules, Approvals(more, askers.run, time.time).admit)

    def _lifespan(self) -> AbstractAsyncContextManager[Any]:
        opens = self._options.lifespan
        lifespan = contextlib.nullcontext() if opens is None else opens(self)
        if not isinstance(lifespan, AbstractAsyncContextManager):
            raise ConfigurationError(
                f"lifespan= gave a value of type {type(lifespan).__name__}, no async context manager; "
                f"write an async def that yields, and decorate it with @contextlib.asynccontextmanager"
            )
        return lifespan


def tool(function: Any = None, /, **options: Any) -> Any:
    """Mark a method for `server.add_tools(obj)`; takes the options of `MCPServer.tool`."""
    made = read_options("tool", options, {})

    def mark(method: F) -> F:
        check_function(
            getattr(method, "__func__", method), "tool takes keyword options: @typegate.tool(name=...)"
        )
        try:
            setattr(method, MARK, made)
        except AttributeError:
            raise RegistrationError(
                "a bound or built-in method cannot be marked; register it: server.add_tool(obj.method)"
            ) from None
        return method

    return mark if function is None else mark(function)


def _marked(source: object) -> list[tuple[Callable[..., Any], Options]]:
    """The public members that carry the mark, in the order in which they were written."""
    found: dict[str, Options] = {}
    for owner in (*reversed(type(source).__mro__), source):
        for name, member in getattr(owner, "__dict__", {}).items():
            options = getattr(member, MARK, getattr(getattr(member, "__func__", None), MARK, None))
            if options is not None and not name.startswith("_"):
                found[name] = options
    members = ((getattr(source, name), options) for name, options in found.items())
    return [(member, options) for member, options in members if callable(member)]  # None takes one away
