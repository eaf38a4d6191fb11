"""TG301 to TG305: failures that the model takes for a success, or that it cannot mend.

The law of the file: only the function itself is read, without those inside it; an exception that means
"there is none" (`KeyError`, `FileNotFoundError`) may be answered with nothing.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

from typegate.check.findings import Hit, Rule
from typegate.check.subjects import Code, Component

__all__ = ["RULES"]

_BROAD: Final = frozenset({"Exception", "BaseException", "builtins.Exception", "builtins.BaseException"})
_FAILURES: Final = re.compile(
    r"(\w+\.)*(OSError|IOError|EnvironmentError|ConnectionError|TimeoutError|RuntimeError|HTTPError|URLError"
    r"|HTTPStatusError|RequestException|RequestError|ClientError|SubprocessError|CalledProcessError"
    r"|DatabaseError|OperationalError|SQLAlchemyError|sqlite3\.Error|psycopg2?\.Error)"
)
_MASKED: Final = frozenset({"Exception", "BaseException", "ValueError"})
_ERROR_TEXT: Final = re.compile(r"\W*((error|failed|failure|exception)\s*[:!]|failed to\b)", re.IGNORECASE)
_ERROR_KEYS: Final = frozenset(f"'{key}'" for key in ("error", "message", "status", "success", "code"))
_LOGS: Final = re.compile(r"debug|info|warn|warning|error|exception|critical|log|print|progress")
_EMPTY_CALLS: Final = frozenset({"list", "dict", "set", "tuple", "str"})


# --- reading handlers ----------------------------------------------------------------------------


def _handlers(component: Component) -> Iterator[tuple[Code, ast.ExceptHandler]]:
    if component.code is not None:
        for node in component.code.own():
            if isinstance(node, ast.ExceptHandler):
                yield component.code, node


def _caught(code: Code, handler: ast.ExceptHandler) -> list[str]:
    """The full names of what it catches; a bare `except` catches everything."""
    if handler.type is None:
        return ["BaseException"]
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [code.called(kind) for kind in kinds]


def _is_broad(code: Code, handler: ast.ExceptHandler) -> bool:
    return not _BROAD.isdisjoint(_caught(code, handler))


def _is_failure(code: Code, handler: ast.ExceptHandler) -> bool:
    return _is_broad(code, handler) or any(map(_FAILURES.fullmatch, _caught(code, handler)))


def _is_silent(statement: ast.stmt) -> bool:
    """Whether it does nothing at all."""
    alone = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return alone or isinstance(statement, ast.Pass | ast.Continue)


def _does_nothing(statement: ast.stmt) -> bool:
    """Whether it only logs, or not even that."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    value = value.value if isinstance(value, ast.Await) else value
    logs = isinstance(value, ast.Call) and _LOGS.fullmatch(ast.unparse(value.func).rpartition(".")[2])
    return bool(logs) or _is_silent(statement)


def _is_empty(node: ast.expr | None) -> bool:
    """Whether an expression is nothing: `None`, `""`, `[]`, `{}`, `dict()`."""
    if node is None or (isinstance(node, ast.Constant) and node.value in (None, "")):
        return True
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return not node.elts
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _EMPTY_CALLS and not node.args
    return isinstance(node, ast.Dict) and not node.keys


def _empties(code: Code, handler: ast.ExceptHandler) -> bool:
    """Whether it makes an empty result of the failure, and says nothing to the caller."""
    *before, last = handler.body
    kinds = ast.Return | ast.Assign if _is_broad(code, handler) else ast.Return
    return isinstance(last, kinds) and _is_empty(last.value) and all(map(_does_nothing, before))


# --- the rules -----------------------------------------------------------------------------------


def _swallowed(component: Component) -> Iterator[Hit]:
    code = component.code
    nodes = tuple(code.own()) if code else ()
    cleaning = {id(each) for node in nodes if isinstance(node, ast.Try) for each in _within(node.finalbody)}
    for owner, handler in _handlers(component):
        if _is_broad(owner, handler) and all(map(_is_silent, handler.body)) and id(handler) not in cleaning:
            yield Hit(
                owner.at(handler), "an exception is dropped, and the function goes on as if nothing were"
            )
    for node in nodes:
        if code and isinstance(node, ast.With | ast.AsyncWith):
            yield from (
                Hit(code.at(node), "suppress drops every exception") for _ in _suppressing(code, node)
            )


def _suppressing(code: Code, node: ast.With | ast.AsyncWith) -> Iterator[ast.expr]:
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and code.called(call.func) == "contextlib.suppress":
            yield from (each for each in call.args if code.called(each) in _BROAD)


def _emptied(component: Component) -> Iterator[Hit]:
    for code, handler in _handlers(component):
        if _is_failure(code, handler) and _empties(code, handler):
            yield Hit(
                code.at(handler), "a failure becomes an empty result, which reads as 'there is nothing'"
            )


def _told_as_result(component: Component) -> Iterator[Hit]:
    code = component.code
    for node in code.own() if code and component.kind == "tool" else ():
        if code and isinstance(node, ast.Return) and node.value is not None and _is_error(node.value):
            yield Hit(
                code.at(node), "an error is returned as a result, so no client knows that the call failed"
            )


def _is_error(value: ast.expr) -> bool:
    """A text that begins with 'Error', or a dict of an error that is not the form the gate knows."""
    if isinstance(value, ast.JoinedStr) and value.values:
        return _is_error(value.values[0])
    if isinstance(value, ast.BinOp):
        return _is_error(value.left)
    if isinstance(value, ast.Dict):
        members = {ast.unparse(key): each for key, each in zip(value.keys, value.values, strict=True) if key}
        return members.keys() <= _ERROR_KEYS and _is_told(members.get("'error'"))
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, str)
        and _ERROR_TEXT.match(value.value) is not None
    )


def _is_told(node: ast.expr | None) -> bool:
    """Whether it is a text or an object: a number may be an error of another kind."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(node.value)
    named = isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "repr")
    return named or isinstance(node, ast.JoinedStr | ast.Dict)


def _masked(component: Component) -> Iterator[Hit]:
    code = component.code
    if code is None or component.kind != "tool":
        return
    caught = {id(each) for node in code.own() if isinstance(node, ast.Try) for each in _within(node.body)}
    for node in code.own():
        call = node.exc if isinstance(node, ast.Raise) else None
        if (
            isinstance(call, ast.Call)
            and code.called(call.func) in _MASKED
            and call.args
            and id(node) not in caught
        ):
            name = code.called(call.func)
            yield Hit(code.at(node), f"the model never reads the text of this {name}, only its type")


def _within(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)


def _unmasked(component: Component) -> Iterator[Hit]:
    for code, handler in _handlers(component):
        if component.kind != "tool" or handler.name is None or not _is_broad(code, handler):
            continue
        for node in _within(handler.body):
            call = node.exc if isinstance(node, ast.Raise) else None
            told = isinstance(call, ast.Call) and code.called(call.func).rpartition(".")[2] == "ToolError"
            if told and call is not None and _names(call, handler.name):
                yield Hit(code.at(node), "the model reads the text of any exception, whatever stands in it")


def _names(node: ast.AST, name: str) -> bool:
    """Whether a value stands in an expression; its type does no harm."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        return False
    if isinstance(node, ast.Name):
        return node.id == name
    return any(_names(child, name) for child in ast.iter_child_nodes(node))


RULES: Final[tuple[Rule[Component], ...]] = (
    Rule(
        id="TG301",
        severity="error",
        title="an exception that is dropped",
        reason="The call looks like a success, and neither the model nor the log learns that it was none.",
        mend="catch what you expect and let the rest go, which masks and logs it; or raise ToolError(...)",
        bad='''
@server.tool
def ring_bell() -> str:
    """Ring the bell at the counter."""
    try:
        bell.ring()
    except Exception:
        pass
    return "rung"
''',
        good='''
@server.tool
def ring_bell() -> str:
    """Ring the bell at the counter."""
    bell.ring()
    return "rung"
''',
        find=_swallowed,
    ),
    Rule(
        id="TG302",
        severity="error",
        title="a failure that becomes an empty result",
        reason="'There are no orders' is not 'the database is down', and the model acts on what it reads.",
        mend="raise ToolError('what failed, and what to do next'), or let the exception go",
        bad='''
@server.tool
def open_orders() -> list[str]:
    """List the orders that are not shipped yet."""
    try:
        return database.orders()
    except ConnectionError:
        return []
''',
        good='''
@server.tool
def open_orders() -> list[str]:
    """List the orders that are not shipped yet."""
    try:
        return database.orders()
    except ConnectionError:
        raise ToolError("The order books cannot be reached. Try again in a minute.") from None
''',
        find=_emptied,
    ),
    Rule(
        id="TG303",
        severity="warning",
        title="an error that is returned as a result",
        reason="Only isError tells a client that a call failed; a text in its place passes for an answer.",
        mend="raise ToolError(...) with the same text, or reject(...)",
        bad='''
@server.tool
def ship(order_id: Annotated[int, "The number of the order."]) -> str:
    """Send the parcel off."""
    if order_id not in books:
        return f"Error: there is no order {order_id}"
    return "shipped"
''',
        good='''
@server.tool
def ship(order_id: Annotated[int, "The number of the order."]) -> str:
    """Send the parcel off."""
    if order_id not in books:
        raise ToolError(f"There is no order {order_id}. Call open_orders for the numbers.")
    return "shipped"
''',
        find=_told_as_result,
    ),
    Rule(
        id="TG304",
        severity="warning",
        title="an error text that the model never reads",
        reason="Exceptions are masked: from 'ValueError' and a number no model learns how to mend its call.",
        mend="raise ToolError(...) or reject(...) where the text is meant for the model",
        bad='''
@server.tool
def wrap(paper: Annotated[str, "The colour of the paper."]) -> str:
    """Wrap a present."""
    if paper not in shelf:
        raise ValueError(f"there is no {paper} paper")
    return "wrapped"
''',
        good='''
@server.tool
def wrap(paper: Annotated[str, "The colour of the paper."]) -> str:
    """Wrap a present."""
    if paper not in shelf:
        raise ToolError(f"There is no {paper} paper; there is {', '.join(shelf)}.")
    return "wrapped"
''',
        find=_masked,
    ),
    Rule(
        id="TG305",
        severity="warning",
        title="the text of any exception, told to the model",
        reason="It may hold a path, a query or a password: that is what masking is for.",
        mend="catch the exceptions whose text you know, or write the text yourself",
        bad='''
@server.tool
def balance() -> float:
    """Tell what is in the till."""
    try:
        return till.count()
    except Exception as error:
        raise ToolError(f"counting failed: {error}") from error
''',
        good='''
@server.tool
def balance() -> float:
    """Tell what is in the till."""
    try:
        return till.count()
    except TimeoutError:
        raise ToolError("The till does not answer. Try again in a minute.") from None
''',
        find=_unmasked,
    ),
)
