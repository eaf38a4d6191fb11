"""Tools, resources, templates and prompts as frozen plans, made once at registration.

The law of the file: everything that can be known of a component before it is called is worked out here;
a call only looks up.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, cast

import msgspec

from typegate.contract import signature as signatures
from typegate.contract.arguments import Arguments, Strings, plan_arguments, plan_strings
from typegate.contract.gate import Gate
from typegate.contract.hints import with_problem_details
from typegate.contract.problems import ProblemFormat
from typegate.contract.results import Results, plan_results
from typegate.contract.schema import SchemaStyle
from typegate.contract.signature import EMPTY, Signature
from typegate.contract.uritemplate import TemplateError, UriTemplate
from typegate.errors import RegistrationError
from typegate.guards.limits import DEFAULT_LIMITS, Limits
from typegate.guards.plans import marks_of
from typegate.guards.redaction import Plan
from typegate.server.options import Options
from typegate.types import (
    Annotations,
    Json,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    Tool,
    ToolAnnotations,
)

__all__ = [
    "Callback",
    "CompletionPlan",
    "PromptPlan",
    "ResourcePlan",
    "Shared",
    "TemplatePlan",
    "ToolPlan",
    "plan_completion",
    "plan_prompt",
    "plan_resource",
    "plan_template",
    "plan_tool",
]

TAGS_KEY = "dev.typegate/tags"


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What the server settles for all of its components."""

    gate: Gate
    style: SchemaStyle
    indent: int | None
    injectable: tuple[type, ...]
    limits: Limits = DEFAULT_LIMITS


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """An author's function and how it is called.

    Attributes:
        function: what to call.
        injected: the names that get the context.
        positional: the names that are passed by position, in order.
        is_async: whether it gives a coroutine.
        inline: whether a plain function runs on the event loop, not on a worker thread.
        defaults: what stands as defaults in its signature, by name.
    """

    function: Callable[..., Any]
    injected: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    is_async: bool = False
    inline: bool = False
    defaults: Mapping[str, Any] = {}

    def seen(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the function will get of *values*, defaults included; not to be changed."""
        return MappingProxyType({**self.defaults, **values})

    def __call__(self, values: dict[str, Any]) -> Any:
        """Call the function with its values."""
        if not self.positional:
            return self.function(**values)
        first = [values.pop(name) for name in self.positional if name in values]
        return self.function(*first, **values)


class ToolPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A tool: its description, its gate, its function and the shape of its results.

    Attributes:
        secrets: what its output schema marks as secret; `None`: nothing.
    """

    key: str
    listed: Tool
    callback: Callback
    arguments: Arguments
    results: Results
    gate: Gate
    limits: Limits
    options: Options
    secrets: Plan | None = None

    @property
    def problem_format(self) -> ProblemFormat:
        """How a refusal of this tool travels."""
        return "rfc9457" if self.gate.problem_format == "rfc9457" else "typegate"


class ResourcePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A resource: its description and the function that gives its contents."""

    key: str
    listed: Resource
    callback: Callback
    limits: Limits
    options: Options


class TemplatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A family of resources: which URIs belong to it, and how their variables are read."""

    key: str
    listed: ResourceTemplate
    callback: Callback
    template: UriTemplate
    strings: Strings
    limits: Limits
    options: Options


class PromptPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt: its arguments are strings on the wire and of the declared types in the function."""

    key: str
    listed: Prompt
    callback: Callback
    strings: Strings
    limits: Limits
    options: Options


class CompletionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What suggests values for one argument.

    Attributes:
        value: the name of the parameter that takes what was typed so far.
        others: the name of the one that takes the other arguments, if it wants them.
    """

    callback: Callback
    value: str
    others: str | None


# --- tools ---------------------------------------------------------------------------------------


def plan_tool(function: Callable[..., Any], options: Options, shared: Shared) -> ToolPlan:
    """Read a function once and for all as a tool.

    Raises:
        RegistrationError: it cannot be one; the text says what to change.
    """
    signature = signatures.read(function, shared.injectable, options.local_names)
    name = _named(options, signature, "tool")
    gate = options.gate.over(shared.gate)
    arguments = plan_arguments(name, signature, gate, shared.style, options.schema)
    results = plan_results(
        name,
        with_problem_details(signature.returns) if gate.problem_format == "rfc9457" else signature.returns,
        shared.style,
        shared.indent,
        options.output_schema,
        options.structured_output,
    )
    listed = Tool(
        name=name,
        title=options.title,
        description=_description(options, signature),
        input_schema=arguments.schema,
        output_schema=results.schema,
        object_output_schema=results.object_schema,
        annotations=cast(ToolAnnotations | None, options.annotations),
        icons=options.icons,
        meta=_meta(options),
    )
    return ToolPlan(
        key=name,
        listed=listed,
        callback=_callback(function, signature, options),
        arguments=arguments,
        results=results,
        gate=gate,
        limits=_limits(name, signature, options, shared),
        options=options,
        secrets=_secrets(results),
    )


def _secrets(results: Results) -> Plan | None:
    marks = marks_of(results.schema) if results.schema is not None else None
    return None if marks is None else Plan(marks=marks)


# --- resources -----------------------------------------------------------------------------------


def plan_resource(function: Callable[..., Any], options: Options, shared: Shared) -> ResourcePlan:
    """Read a function as a resource with a fixed URI."""
    signature = signatures.read(function, shared.injectable, options.local_names)
    name = _named(options, signature, "resource")
    if signature.parameters:
        raise RegistrationError(
            f"resource '{options.uri}' has no variables, but its function takes "
            f"'{signature.parameters[0].name}'; write the URI as a template, such as "
            f"'{options.uri}/{{{signature.parameters[0].name}}}'"
        )
    listed = Resource(
        uri=options.uri,
        name=name,
        title=options.title,
        description=_description(options, signature),
        mime_type=options.mime_type,
        size=options.size,
        annotations=cast(Annotations | None, options.annotations),
        icons=options.icons,
        meta=_meta(options),
    )
    callback = _callback(function, signature, options)
    limits = _limits(options.uri, signature, options, shared)
    return ResourcePlan(key=options.uri, listed=listed, callback=callback, limits=limits, options=options)


def plan_template(function: Callable[..., Any], options: Options, shared: Shared) -> TemplatePlan:
    """Read a function as a family of resources whose variables are its parameters."""
    signature = signatures.read(function, shared.injectable, options.local_names)
    name = _named(options, signature, "resource")
    try:
        template = UriTemplate.parse(options.uri, unsafe=tuple(options.unsafe))
    except TemplateError as error:
        raise RegistrationError(f"resource '{options.uri}': {error}") from None
    _check_variables(options.uri, template, signature)
    listed = ResourceTemplate(
        uri_template=options.uri,
        name=name,
        title=options.title,
        description=_description(options, signature),
        mime_type=options.mime_type,
        annotations=cast(Annotations | None, options.annotations),
        icons=options.icons,
        meta=_meta(options),
    )
    return TemplatePlan(
        key=options.uri,
        listed=listed,
        callback=_callback(function, signature, options),
        template=template,
        strings=plan_strings(name, signature, frozenset()),
        limits=_limits(options.uri, signature, options, shared),
        options=options,
    )


def _check_variables(uri: str, template: UriTemplate, signature: Signature) -> None:
    takes = {parameter.wire_name: parameter for parameter in signature.parameters}
    strangers = [name for name in template.variables if name not in takes]
    if strangers and signature.extra is EMPTY:
        raise RegistrationError(
            f"resource '{uri}' has the variable '{strangers[0]}', which its function does not take"
        )
    for name, parameter in takes.items():
        if parameter.required and name not in template.required:
            where = "is optional in" if name in template.variables else "is not in"
            raise RegistrationError(f"parameter '{name}' {where} the URI '{uri}', so it needs a default")


# --- prompts and completions ---------------------------------------------------------------------


def plan_prompt(function: Callable[..., Any], options: Options, shared: Shared) -> PromptPlan:
    """Read a function as a prompt; its arguments come from the signature, or are listed by hand."""
    signature = signatures.read(function, shared.injectable, options.local_names)
    name = _named(options, signature, "prompt")
    given = options.arguments
    if given is not None:
        _check_arguments(name, given, signature)
    derived = [
        PromptArgument(
            name=parameter.wire_name, description=parameter.description, required=parameter.required
        )
        for parameter in signature.parameters
    ]
    listed = Prompt(
        name=name,
        title=options.title,
        description=_description(options, signature),
        arguments=tuple(derived if given is None else given) or None,
        icons=options.icons,
        meta=_meta(options),
    )
    return PromptPlan(
        key=name,
        listed=listed,
        callback=_callback(function, signature, options),
        strings=plan_strings(name, signature, frozenset(each.name for each in given or () if each.required)),
        limits=_limits(name, signature, options, shared),
        options=options,
    )


def _check_arguments(name: str, given: tuple[PromptArgument, ...], signature: Signature) -> None:
    listed = {argument.name for argument in given}
    takes = {parameter.wire_name for parameter in signature.parameters}
    if signature.extra is EMPTY and listed - takes:
        raise RegistrationError(
            f"prompt '{name}' lists '{min(listed - takes)}', which its function does not take"
        )
    for parameter in signature.parameters:
        if parameter.required and parameter.wire_name not in listed:
            raise RegistrationError(f"prompt '{name}' does not list '{parameter.wire_name}', which it needs")


def plan_completion(
    function: Callable[..., Any], shared: Shared, local_names: Mapping[str, Any] | None = None
) -> CompletionPlan:
    """Read a function as a completion: it takes what was typed, and may take the other arguments."""
    signature = signatures.read(function, shared.injectable, local_names)
    names = [parameter.name for parameter in signature.parameters]
    if not 1 <= len(names) <= 2:
        raise RegistrationError(
            "a completion takes the value typed so far and, if it wants, a dict of the other arguments"
        )
    others = names[1] if len(names) == 2 else None
    return CompletionPlan(callback=_callback(function, signature, Options()), value=names[0], others=others)


# --- what they share -----------------------------------------------------------------------------


def _named(options: Options, signature: Signature, kind: Literal["tool", "resource", "prompt"]) -> str:
    name = options.name if options.name is not None else signature.name
    if not name:
        raise RegistrationError(f"this {kind} has no name of its own; give name=")
    if kind == "tool" and (
        len(name) > 128 or not all((char.isalnum() and char.isascii()) or char in "_-." for char in name)
    ):
        raise RegistrationError(
            f"tool name '{name[:130]}' must be 1 to 128 of A-Z a-z 0-9 _ - . (specification: server/tools)"
        )
    return name


def _description(options: Options, signature: Signature) -> str | None:
    return options.description if options.description is not None else signature.description


def _meta(options: Options) -> Mapping[str, Json] | None:
    if not options.tags:
        return options.meta
    return {**(options.meta or {}), TAGS_KEY: sorted(options.tags)}


def _limits(name: str, signature: Signature, options: Options, shared: Shared) -> Limits:
    """What holds for one component: its own limits, laid over those of the server."""
    own = options.own_limits
    if isinstance(own.timeout, int | float) and options.inline and not signature.is_async:
        raise RegistrationError(
            f"'{name}' runs on the event loop (inline=True), where nothing can end it: "
            f"leave out timeout= or inline="
        )
    return shared.limits if own == Limits() else own.over(shared.limits)


def _callback(function: Callable[..., Any], signature: Signature, options: Options) -> Callback:
    return Callback(
        function=function,
        injected=tuple(signature.injected),
        positional=signature.positional,
        is_async=signature.is_async,
        inline=options.inline,
        defaults={
            each.name: each.default
            for each in signature.parameters
            if each.default is not EMPTY and each.field is None
        },
    )
