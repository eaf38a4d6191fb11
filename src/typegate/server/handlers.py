"""One coroutine per MCP method, and the table of them.

The law of the file: a handler takes a call that has passed the guards and returns a result, or raises.
It knows nothing of revisions, transports or JSON-RPC.
"""

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from typegate.content import PromptMessage, ToolResult, block_of, encode_base64
from typegate.contract.arguments import Bound
from typegate.contract.problems import Path, unknown, violated
from typegate.contract.results import as_problem, to_json, to_text
from typegate.errors import InvalidArguments, InvalidParams, ResourceNotFound
from typegate.guards.calls import Admit, Call, Channel, Handler, caller_of
from typegate.server.bus import Bus, Change
from typegate.server.components import Callback, PromptPlan, ResourcePlan, TemplatePlan, ToolPlan
from typegate.server.context import Context
from typegate.server.failures import refusal
from typegate.server.registry import Catalogue, Registry
from typegate.text import shown
from typegate.types import (
    BlobResourceContents,
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    EmptyResult,
    GetPromptResult,
    InitializeResult,
    Issue,
    Json,
    ListResult,
    Principal,
    Problem,
    PromptMessageData,
    ReadResourceResult,
    ResourceContents,
    Result,
    SubscriptionEnded,
    TextContent,
    TextResourceContents,
)
from typegate.wire import jsonrpc
from typegate.wire.methods import (
    CompleteParams,
    GetPromptParams,
    ListenFilter,
    ListenParams,
    ListParams,
    PromptReference,
    ResourceParams,
    SetLevelParams,
    convert,
)
from typegate.wire.seal import SealError, open_sealed, seal

__all__ = ["CHANGES", "HANDLERS", "Service", "dispatcher", "find_target"]

log: Final = logging.getLogger("typegate")

REPAIRED_KEY: Final = "dev.typegate/repaired"
"""The key of a result's `_meta` under which the places stand that were repaired, as lists of steps."""

SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
MAX_COMPLETIONS: Final = 100


class Runs(Protocol):
    """What runs a plain function on a worker thread."""

    @property
    def full(self) -> bool:
        """Whether another function would have to wait."""
        ...

    async def turn(self) -> None:
        """Wait until one has ended."""

    def wake(self) -> None:
        """Give a turn that was not taken to the next who waits."""

    def run(self, function: Callable[[], Any]) -> Awaitable[Any]:
        """Call it there, with the context variables of the caller, and give its result back."""
        ...


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """What the handlers of a running server work with.

    Attributes:
        catalogue: what is offered.
        capabilities: what was advertised when the server started.
        instructions: what a model should know of the server.
        bus: where changes are told.
        workers: where plain functions run.
        key: what cursors are signed with.
        page_size: how many entries a page has; `None`: all of them.
        lifespan: what the author's lifespan yielded.
        closing: is set when the server goes away.
        admits: the steps between binding and running, in order.
        judges: whether they look at every call, not only at those of tools that must be approved.
        may_say: whether one more log or progress message goes to a caller; `None`: as many as there are.
    """

    catalogue: Catalogue
    capabilities: Mapping[str, Json]
    instructions: str | None
    bus: Bus
    workers: Runs
    key: bytes
    page_size: int | None
    lifespan: Any
    closing: asyncio.Event
    admits: tuple[Admit, ...] = ()
    judges: bool = False
    may_say: Callable[[Principal | None], bool] | None = None


def dispatcher(service: Service) -> Handler:
    """The handler behind the guards: it picks the coroutine of the method."""

    def dispatch(call: Call) -> Awaitable[Result]:
        return HANDLERS[call.request.method](service, call)

    return dispatch


def find_target(
    catalogue: Catalogue, request: jsonrpc.Request, principal: Principal | None
) -> tuple[Any, Mapping[str, Any]]:
    """The component that a request names, if this caller may know of it, and what its URI says."""
    names = NAMES.get(request.method)
    named = request.params.get(names) if names is not None else None
    if not isinstance(named, str):
        return None, _NO_VARIABLES
    if request.method == "tools/call":
        return catalogue.tools.get(named, principal), _NO_VARIABLES
    if request.method == "prompts/get":
        return catalogue.prompts.get(named, principal), _NO_VARIABLES
    return catalogue.find_resource(named, principal)


NAMES: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The member of the params that names a component."""

_NO_VARIABLES: Final[Mapping[str, Any]] = {}


# --- calling an author's function ----------------------------------------------------------------


async def admit(service: Service, call: Call, values: Mapping[str, Any]) -> None:
    """Let each step look at exactly what the function will get: it lets the call pass, or raises."""
    for step in service.admits:
        waiting = step(call, values)
        if waiting is not None:
            await waiting


def invoke(service: Service, call: Call, callback: Callback, values: dict[str, Any]) -> Awaitable[Any]:
    """Call a function with its values and, where it wants one, the context."""
    if callback.injected:
        context: Context[Any] = Context(call, service.lifespan, service.may_say)
        for name in callback.injected:
            values[name] = context
    if callback.is_async:
        coroutine: Awaitable[Any] = callback(values)
        return coroutine
    return _invoke_plain(service, call, callback, values)


async def _invoke_plain(service: Service, call: Call, callback: Callback, values: dict[str, Any]) -> Any:
    """Call a plain function; one that wraps a coroutine function gives something to wait for."""
    if callback.inline:
        value = callback(values)
    else:
        if service.workers.full or call.channel.full:
            await _turn(service.workers, call.channel)
        function, lease = functools.partial(callback, values), call.notes.lease
        value = await service.workers.run(function if lease is None else lease.held(function))
    return await value if inspect.isawaitable(value) else value


async def _turn(workers: Runs, channel: Channel) -> None:
    """Wait until a thread is free and the client takes answers, so that these do not pile up."""
    has_turn = False
    while True:
        if channel.full:
            if has_turn:  # somebody else's client may be quicker
                workers.wake()
            await channel.drain()
        elif workers.full:
            await workers.turn()
            has_turn = True
        else:
            return


# --- tools ---------------------------------------------------------------------------------------


async def call_tool(service: Service, call: Call) -> Result:
    """Judge the arguments, run the function, shape what it returns."""
    plan: ToolPlan | None = call.target
    request = call.request
    if plan is None:
        raise _unknown("tool", request.params.get("name"), service.catalogue.tools, call)
    try:
        values, repaired = _bound(plan, request)
    except InvalidArguments as error:
        answer = None if plan.gate.on_invalid is None else await _asked(service, plan, request, error)
        if answer is None:
            raise
        if call.record is not None:
            call.record.add(outcome="invalid")
        return answer
    if service.judges or plan.options.approve is not None:
        await admit(service, call, values)
    if call.record is not None:
        if repaired:
            call.record.add(repairs=len(repaired))
        if _is_destructive(plan):
            await call.record.intent()
    value = await invoke(service, call, plan.callback, values)
    problem = as_problem(value)
    result = plan.results.shape(value) if problem is None else _refused(plan, value, problem)
    return _with_repairs(result, repaired) if repaired else result


def _bound(plan: ToolPlan, request: jsonrpc.Request) -> Bound:
    """The values that the arguments of a request stand for."""
    tree = request.params.get("arguments")
    if tree is None:
        return plan.arguments.bind({}, lambda: b"{}")
    if tree.__class__ is not dict:
        raise InvalidParams("Invalid params: 'arguments' must be an object")
    if not request.sound and (paths := list(jsonrpc.unrepresentable(tree))):
        raise InvalidArguments([_out_of_range(path) for path in paths])
    return plan.arguments.bind(tree, lambda: jsonrpc.raw_arguments(request))


def _out_of_range(path: Path) -> Issue:
    return violated("range", path, None, "number", None)


def _with_repairs(result: CallToolResult, repaired: Sequence[Path]) -> CallToolResult:
    """The result of a call whose arguments were repaired says where (requirement C10)."""
    places = [list(path) for path in repaired]
    return msgspec.structs.replace(result, meta={**(result.meta or {}), REPAIRED_KEY: places})


async def _asked(
    service: Service, plan: ToolPlan, request: jsonrpc.Request, error: InvalidArguments
) -> CallToolResult | None:
    """What the author's hook answers in place of a refusal (requirement D1); `None`: the refusal stands."""
    hook: Any = plan.gate.on_invalid
    asked = InvalidArguments(error.issues, error.repaired, plan.key, request.params.get("arguments"))
    try:
        if inspect.iscoroutinefunction(hook):
            value = await hook(asked)
        else:
            value = await service.workers.run(functools.partial(hook, asked))
            value = await value if inspect.isawaitable(value) else value
        return None if value is None else _answer_of_hook(plan, value)
    except Exception:
        log.exception("on_invalid of '%s' failed; the usual refusal goes out", plan.key)
        return None


def _answer_of_hook(plan: ToolPlan, value: Any) -> CallToolResult:
    if isinstance(value, str):
        return CallToolResult(content=(TextContent(value),), is_error=True)
    if isinstance(value, ToolResult):
        return plan.results.shape(value)
    problem = as_problem(value)
    if problem is None:
        raise TypeError(f"it must return a ToolResult, a Problem, a str or None, not {type(value).__name__}")
    return refusal(problem, plan)


def _unknown(kind: str, name: Json, known: Registry[Any], call: Call) -> InvalidParams:
    """The error for a name that leads nowhere for this caller."""
    if not isinstance(name, str):
        return InvalidParams(f"Invalid params: 'name' must be the name of a {kind}")
    names = [plan.key for plan in known.visible(call.principal)]
    problem = unknown(kind, name, names, f"{kind}s/list")
    return InvalidParams(f"{problem.message}. {problem.hint}", problem=problem)


def _refused(plan: ToolPlan, value: Any, problem: Problem) -> CallToolResult:
    """A returned refusal; the dict form is sent as it is, where no output schema speaks against it."""
    made = refusal(problem, plan, flagged=bool(plan.gate.rejected_as_error))
    if plan.results.schema is not None or isinstance(value, Problem):
        return made
    raw = to_json(value)
    return CallToolResult(
        content=(TextContent(to_text(raw, plan.results.indent)),),
        structured=raw,
        is_error=made.is_error,
        meta=made.meta,
    )


# --- resources -----------------------------------------------------------------------------------


async def read_resource(service: Service, call: Call) -> Result:
    """Run the function behind a URI and shape its contents."""
    uri = convert(call.request.params, ResourceParams).uri
    plan: ResourcePlan | TemplatePlan | None = call.target
    if plan is None:
        raise ResourceNotFound(
            f"Resource not found: {shown(uri, 256)}", {"uri": uri}, hint="resources/list has the URIs."
        )
    values = plan.strings.bind(call.variables) if isinstance(plan, TemplatePlan) else {}
    if service.judges:
        await admit(service, call, values)
    value = await invoke(service, call, plan.callback, values)
    items = value if _is_contents(value) else [value]
    return ReadResourceResult(contents=tuple(_contents(item, uri, plan.listed.mime_type) for item in items))


def _is_contents(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], ResourceContents)


def _contents(value: Any, uri: str, mime_type: str | None) -> ResourceContents:
    if isinstance(value, ResourceContents):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return BlobResourceContents(
            uri=uri, blob=encode_base64(value), mime_type=mime_type or "application/octet-stream"
        )
    if value is None or isinstance(value, str):
        return TextResourceContents(uri=uri, text=value or "", mime_type=mime_type or "text/plain")
    text = to_text(to_json(value), 2)
    return TextResourceContents(uri=uri, text=text, mime_type=mime_type or "application/json")


async def subscribe(service: Service, call: Call) -> Result:
    """A handshake client wants to know when a resource changes."""
    uri = convert(call.request.params, ResourceParams).uri
    found, _ = service.catalogue.find_resource(uri, call.principal)
    if found is None:
        raise ResourceNotFound(
            f"Resource not found: {shown(uri, 256)}", {"uri": uri}, hint="resources/list has the URIs."
        )
    if call.channel.session is not None:
        call.channel.session.subscriptions.add(uri)
    return EmptyResult()


async def unsubscribe(service: Service, call: Call) -> Result:
    """A handshake client no longer wants to know."""
    uri = convert(call.request.params, ResourceParams).uri
    if call.channel.session is not None:
        call.channel.session.subscriptions.discard(uri)
    return EmptyResult()


# --- prompts and completions ---------------------------------------------------------------------


async def get_prompt(service: Service, call: Call) -> Result:
    """Fill a prompt in."""
    params = convert(call.request.params, GetPromptParams)
    plan: PromptPlan | None = call.target
    if plan is None:
        raise _unknown("prompt", params.name, service.catalogue.prompts, call)
    values = plan.strings.bind(params.arguments or {})
    if service.judges:
        await admit(service, call, values)
    value = await invoke(service, call, plan.callback, values)
    items = value if isinstance(value, list | tuple) else [value]
    return GetPromptResult(messages=tuple(map(_message, items)), description=plan.listed.description)


def _message(value: Any) -> PromptMessageData:
    if isinstance(value, PromptMessageData):
        return value
    message = value if isinstance(value, PromptMessage) else PromptMessage(value)
    content: Any = message.content
    block = block_of(content)
    if block is None:
        block = TextContent(content if isinstance(content, str) else to_text(to_json(content), 2))
    return PromptMessageData(role=message.role, content=block)


async def complete(service: Service, call: Call) -> Result:
    """Suggest values for an argument of a prompt or a variable of a template."""
    params = convert(call.request.params, CompleteParams)
    catalogue, name = service.catalogue, params.argument.name
    if isinstance(params.ref, PromptReference):
        key = ("prompt", params.ref.name, name)
        exists = catalogue.prompts.get(params.ref.name, call.principal) is not None
    else:
        plan = catalogue.find_completable(params.ref.uri, call.principal)
        key = ("resource", plan.key if plan is not None else "", name)
        exists = plan is not None
    if not exists:
        raise InvalidParams("Invalid params: 'ref' names nothing that this server has")
    found = catalogue.completions.get(key)
    if found is None:
        return CompleteResult(values=())
    given: dict[str, Any] = {found.value: params.argument.value}
    if found.others is not None:
        given[found.others] = (params.context.arguments if params.context else None) or {}
    values = [str(value) for value in await invoke(service, call, found.callback, given) or ()]
    first = tuple(values[:MAX_COMPLETIONS])
    return CompleteResult(values=first, total=len(values), has_more=len(values) > len(first))


# --- listings ------------------------------------------------------------------------------------


def _listing(kind: str, registry: Callable[[Catalogue], Registry[Any]]) -> Callable[[Service, Call], Any]:
    async def list_page(service: Service, call: Call) -> Result:
        cursor = convert(call.request.params, ListParams).cursor
        purpose = f"cursor:{kind}:{caller_of(call.principal)!r}"
        after = 0
        if cursor is not None:
            try:
                after = open_sealed(cursor, service.key, purpose)
            except SealError:
                raise InvalidParams(
                    "Invalid cursor; list again from the start, without one", problem="invalid_cursor"
                ) from None
        page = registry(service.catalogue).page(call.peer.version, call.principal, after, service.page_size)
        following = None if page.last is None else seal(page.last, service.key, purpose)
        return ListResult(items=page.items, next_cursor=following, private=page.private)

    list_page.__name__ = f"list_{kind}"
    return list_page


# --- the session ---------------------------------------------------------------------------------


async def initialize(service: Service, call: Call) -> Result:
    """Open a session (up to 2025-11-25)."""
    return InitializeResult(capabilities=service.capabilities, instructions=service.instructions)


async def discover(service: Service, call: Call) -> Result:
    """Say what the server is (from 2026-07-28 on)."""
    return DiscoverResult(capabilities=service.capabilities, instructions=service.instructions)


async def ping(service: Service, call: Call) -> Result:
    """Say that the server is there."""
    return EmptyResult()


async def set_level(service: Service, call: Call) -> Result:
    """Settle from which level on a handshake client wants log messages."""
    level = convert(call.request.params, SetLevelParams).level
    if call.channel.session is not None:
        call.channel.session.log_level = level
    return EmptyResult()


# --- changes -------------------------------------------------------------------------------------

CHANGES: Final = {
    "tools": ("notifications/tools/list_changed", "toolsListChanged", "tools_list_changed"),
    "prompts": ("notifications/prompts/list_changed", "promptsListChanged", "prompts_list_changed"),
    "resources": ("notifications/resources/list_changed", "resourcesListChanged", "resources_list_changed"),
}


async def listen(service: Service, call: Call) -> Result:
    """Carry changes to a stateless client until it or the server goes away (2026-07-28)."""
    asked = convert(call.request.params, ListenParams).notifications
    meta = {SUBSCRIPTION_KEY: call.request.id}
    honoured = _honoured(service, asked, call.principal)

    def tell(change: Change) -> None:
        method, params = _as_notification(change)
        if change.kind == "resource":
            wanted = change.uri in honoured.get("resourceSubscriptions", ())
        else:
            wanted = CHANGES[change.kind][1] in honoured
        if wanted:
            call.channel.notify(call.peer, method, {**params, "_meta": meta}, about=call.request)

    end = service.bus.subscribe(tell)
    acknowledged = {"notifications": honoured, "_meta": meta}
    call.channel.notify(
        call.peer, "notifications/subscriptions/acknowledged", acknowledged, about=call.request
    )
    try:
        await service.closing.wait()
    finally:
        end()
    return SubscriptionEnded(meta=meta)


def _honoured(service: Service, asked: ListenFilter, principal: Principal | None) -> dict[str, Json]:
    """What the server can tell of what the client wants to know."""
    found: dict[str, Json] = {
        name: True
        for kind, (_, name, attribute) in CHANGES.items()
        if getattr(asked, attribute) and kind in service.capabilities
    }
    find = service.catalogue.find_resource
    uris = [uri for uri in asked.resource_subscriptions if find(uri, principal)[0] is not None]
    if uris:
        found["resourceSubscriptions"] = uris
    return found


def _as_notification(change: Change) -> tuple[str, dict[str, Json]]:
    if change.kind == "resource":
        return "notifications/resources/updated", {"uri": change.uri}
    return CHANGES[change.kind][0], {}


HANDLERS: Final[dict[str, Callable[[Service, Call], Awaitable[Result]]]] = {
    "initialize": initialize,
    "server/discover": discover,
    "ping": ping,
    "tools/list": _listing("tools", lambda catalogue: catalogue.tools),
    "tools/call": call_tool,
    "resources/list": _listing("resources", lambda catalogue: catalogue.resources),
    "resources/templates/list": _listing("templates", lambda catalogue: catalogue.templates),
    "resources/read": read_resource,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "prompts/list": _listing("prompts", lambda catalogue: catalogue.prompts),
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "logging/setLevel": set_level,
    "subscriptions/listen": listen,
}


def _is_destructive(plan: ToolPlan) -> bool:
    """Whether the author says that the tool destroys something; silence is no such word."""
    hints = plan.listed.annotations
    return hints is not None and bool(hints.destructive_hint)
