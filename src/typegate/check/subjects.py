"""A server as its rules see it: what is published of each component, beside the function it is made from.

The law of the file: nothing of the author's is called. Where there is no source (a lambda, a C function,
code that was made at run time) there is a component without code, and no rule is the worse for it.
"""

import ast
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from typegate.app import MCPServer
from typegate.check.findings import Place
from typegate.contract import signature as signatures
from typegate.contract.docstrings import document
from typegate.contract.signature import EMPTY, Signature
from typegate.server.components import PromptPlan, ResourcePlan, TemplatePlan, ToolPlan
from typegate.server.context import Context
from typegate.types import Json, ToolAnnotations
from typegate.wire.jsonrpc import dumps

__all__ = ["Code", "Component", "Function", "Property", "Server", "Sources", "survey"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Plan = ToolPlan | ResourcePlan | TemplatePlan | PromptPlan


class Source(msgspec.Struct, frozen=True):
    """One file: its text by lines, its tree, and what its imports are called."""

    path: Path
    lines: tuple[str, ...]
    tree: ast.Module
    imported: Mapping[str, str]

    def column(self, line: int, offset: int) -> int:
        """The column in characters of an offset in bytes."""
        return len(self.lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


class Sources:
    """The files of a server, each read once; what cannot be read or parsed is not there."""

    def __init__(self) -> None:
        self._read: dict[str, Source | None] = {}

    def get(self, name: str) -> Source | None:
        """The file of this name."""
        if name not in self._read:
            self._read[name] = _source(Path(name))
        return self._read[name]

    def __iter__(self) -> Iterator[Source]:
        return (source for source in self._read.values() if source is not None)


def _source(path: Path) -> Source | None:
    try:
        text = path.read_text(encoding="utf-8-sig")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return None
    return Source(path, tuple(text.split("\n")), tree, dict(_imports(tree)))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The name that each import binds, and what it stands for in full."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                short = alias.asname or alias.name.partition(".")[0]
                yield short, alias.name if alias.asname else short
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


class Code(msgspec.Struct, frozen=True):
    """The function behind a component, as it is written."""

    source: Source
    node: Function
    head: frozenset[int]

    def at(self, node: ast.AST) -> Place:
        """Where a part of it stands."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last = getattr(node, "end_lineno", None) or line
        lines = range(line, last + 1) if isinstance(node, ast.expr | ast.arg) else (line, last)
        return Place(self.source.path, line, self.source.column(line, offset), self.head.union(lines))

    def called(self, node: ast.AST) -> str:
        """The full name of what an expression means, its imports followed; empty where it has none."""
        if isinstance(node, ast.Attribute):
            owner = self.called(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return self.source.imported.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def own(self) -> Iterator[ast.AST]:
        """Every node of its body but those of functions and classes inside it."""
        pending: list[ast.AST] = list(reversed(self.node.body))
        while pending:
            node = pending.pop()
            yield node
            if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
                pending.extend(reversed(list(ast.iter_child_nodes(node))))


class Property(msgspec.Struct, frozen=True, kw_only=True):
    """One argument as it is published.

    Attributes:
        name: as the caller writes it; `parameter` is the function's own name, or empty.
        node: its schema.
        description: of it, of what it refers to, or `None`.
        default: what the function gets without it, or `EMPTY`.
        place: where it stands.
    """

    name: str
    parameter: str
    node: dict[str, Json]
    description: str | None
    default: Any
    place: Place


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """A tool, resource, template or prompt.

    Attributes:
        kind: which of them.
        name: as a caller writes it: the URI of a resource.
        schema: of its arguments; that of a tool as it is published.
        output: the published output schema.
        returns: the resolved return annotation, or `EMPTY`.
        on_loop: whether it runs on the event loop.
        documented: the parameters that the docstring describes.
        takes: every name that the function takes.
        own_schema, own_output: whether the author wrote the schema by hand.
        size: of what a model is shown of it (name, description, arguments), in bytes.
        code: the function, where its source can be read.
        place: where that is, or where the server is.
    """

    kind: Literal["tool", "resource", "template", "prompt"]
    name: str
    description: str | None
    schema: dict[str, Json]
    output: dict[str, Json] | None
    properties: tuple[Property, ...]
    annotations: ToolAnnotations | None
    returns: Any
    on_loop: bool
    documented: tuple[str, ...]
    takes: frozenset[str]
    own_schema: bool
    own_output: bool
    size: int
    code: Code | None
    place: Place


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server and all that it offers."""

    name: str
    place: Place
    components: tuple[Component, ...]

    @property
    def tools(self) -> tuple[Component, ...]:
        """The tools, in order."""
        return tuple(each for each in self.components if each.kind == "tool")


def survey(server: MCPServer, path: Path, sources: Sources) -> Server:
    """Look at *server*, which was found in the file *path*."""
    place = _server_place(path, sources)
    catalogue = server.catalogue
    plans = (*catalogue.tools, *catalogue.resources, *catalogue.templates, *catalogue.prompts)
    components = tuple(_component(plan, place, sources) for plan in plans)
    return Server(name=server.name, place=place, components=components)


def _server_place(path: Path, sources: Sources) -> Place:
    """Where the server is made, or the top of its file."""
    source = sources.get(str(path))
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)] if source else []
    for node in calls:
        if source and ast.unparse(node.func).rpartition(".")[2] == "MCPServer":
            lines = frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            return Place(path, node.lineno, source.column(node.lineno, node.col_offset), lines)
    return Place(path, 1)


_KINDS: Final[dict[type, Literal["tool", "resource", "template", "prompt"]]] = {
    ToolPlan: "tool",
    ResourcePlan: "resource",
    TemplatePlan: "template",
    PromptPlan: "prompt",
}


def _component(plan: Plan, fallback: Place, sources: Sources) -> Component:
    function = plan.callback.function
    body = _body(function)
    signature = signatures.read(function, (Context,), plan.options.local_names)
    code = _code(body, sources)
    place = _place(body, code, fallback)
    schema = _schema(plan)
    is_tool = isinstance(plan, ToolPlan)
    return Component(
        kind=_KINDS[type(plan)],
        name=plan.key,
        description=plan.listed.description,
        schema=schema,
        output=_output(plan),
        properties=tuple(_properties(schema, signature, code, place)),
        annotations=plan.listed.annotations if isinstance(plan, ToolPlan) else None,
        returns=signature.returns,
        on_loop=plan.callback.is_async or plan.callback.inline,
        documented=tuple(document(body).parameters),
        takes=frozenset(inspect.signature(function).parameters),
        own_schema=is_tool and plan.options.schema is not None,
        own_output=is_tool
        and (plan.options.output_schema is not None or plan.options.structured_output is False),
        size=len(dumps({"name": plan.key, "description": plan.listed.description, "inputSchema": schema})),
        code=code,
        place=place,
    )


def _output(plan: Plan) -> dict[str, Json] | None:
    found = plan.listed.output_schema if isinstance(plan, ToolPlan) else None
    return None if found is None else dict(found)


def _schema(plan: Plan) -> dict[str, Json]:
    """The arguments as JSON Schema; prompts and templates take strings."""
    if isinstance(plan, ToolPlan):
        return dict(plan.listed.input_schema)
    if isinstance(plan, TemplatePlan):
        return {"properties": {name: {"type": "string"} for name in plan.template.variables}}
    if isinstance(plan, PromptPlan):
        members = {
            each.name: {"type": "string", **({"description": each.description} if each.description else {})}
            for each in plan.listed.arguments or ()
        }
        return {"properties": members}
    return {"properties": {}}


def _properties(
    schema: dict[str, Json], signature: Signature, code: Code | None, place: Place
) -> Iterator[Property]:
    known = {parameter.wire_name: parameter for parameter in signature.parameters}
    written = {each.arg: each for each in _arguments(code.node)} if code else {}
    for name, given in schema.get("properties", {}).items():
        parameter = known.get(name)
        own = parameter.name if parameter else ""
        node: dict[str, Json] = given if isinstance(given, dict) else {} if given else {"not": {}}
        yield Property(
            name=name,
            parameter=own,
            node=node,
            description=node.get("description") or _referred(node, schema).get("description"),
            default=parameter.default if parameter else EMPTY,
            place=code.at(written[own]) if code and own in written else place,
        )


def _referred(node: dict[str, Json], schema: dict[str, Json]) -> dict[str, Json]:
    name = str(node.get("$ref", "")).rpartition("/")[2]
    found = schema.get("$defs", {}).get(name)
    return found if isinstance(found, dict) else {}


# --- the source ----------------------------------------------------------------------------------


def _body(function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands under partials, bound methods, callable objects and well-made decorators."""
    if isinstance(function, functools.partial):
        return _body(function.func)
    if inspect.ismethod(function):
        return _body(function.__func__)
    if inspect.isroutine(function) or inspect.isclass(function):
        innermost: Callable[..., Any] = inspect.unwrap(function)
        return innermost
    return _body(type(function).__call__)


def _code(body: Callable[..., Any], sources: Sources) -> Code | None:
    compiled = getattr(body, "__code__", None)
    source = sources.get(compiled.co_filename) if compiled is not None else None
    if compiled is None or source is None:
        return None
    for node in ast.walk(source.tree):
        if isinstance(node, Function) and node.name == compiled.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == compiled.co_firstlineno:
                return Code(source, node, frozenset(_head(node, first)))
    return None


def _head(node: Function, first: int) -> Iterator[int]:
    """The lines that speak of the whole function: its decorators, its `def`, the end of its signature."""
    yield from range(first, node.lineno + 1)
    lines = [each.end_lineno or 0 for each in _arguments(node)]
    after = node.returns.lineno if node.returns else max([*lines, node.lineno]) + 1
    yield from range(after, node.body[0].lineno)


def _arguments(node: Function) -> tuple[ast.arg, ...]:
    return (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)


def _place(body: Callable[..., Any], code: Code | None, fallback: Place) -> Place:
    if code is not None:
        source, line = code.source, code.node.lineno
        return Place(source.path, line, source.column(line, code.node.col_offset), code.head)
    compiled = getattr(body, "__code__", None)
    if compiled is not None and Path(compiled.co_filename).is_file():
        return Place(Path(compiled.co_filename), compiled.co_firstlineno)
    return fallback
