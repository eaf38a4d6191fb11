"""TG306 to TG312: what a function does beside its result, and with what the model sent.

The law of the file: a call is known by its full name, imports followed; an argument counts as free text
only where its published schema takes any text.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

from typegate.check.findings import Hit, Rule
from typegate.check.subjects import Code, Component
from typegate.check.words import is_text

__all__ = ["RULES"]

_BLOCKS: Final = re.compile(
    r"time\.sleep|os\.(system|popen|wait|waitpid)|subprocess\.(run|call|check_call|check_output|getoutput)"
    r"|requests\.(get|post|put|patch|delete|head|options|request)"
    r"|httpx2?\.(get|post|put|patch|delete|head|options|request|stream)"
    r"|urllib\.request\.(urlopen|urlretrieve)|socket\.(create_connection|getaddrinfo|gethostbyname)"
    r"|psycopg2?\.connect|pymysql\.connect|shutil\.(copytree|rmtree|make_archive)"
)
_ASKS: Final = re.compile(
    r"input|getpass\.getpass|click\.(prompt|confirm)|typer\.(prompt|confirm)"
    r"|sys\.stdin\.(read|readline|readlines)|sys\.stdin\.buffer\.(read|readline)|(rich\.prompt\.)?\w*Prompt\.ask"
)
_PRINTS: Final = re.compile(r"print|pprint\.pprint|rich\.print|sys\.stdout\.(write|writelines)")
_SHELLS: Final = re.compile(
    r"os\.(system|popen)|subprocess\.get(output|statusoutput)|asyncio\.create_subprocess_shell"
)
_WITH_SHELL: Final = re.compile(r"subprocess\.(run|call|check_call|check_output|Popen)")
_EVALUATES: Final = frozenset({"eval", "exec", "builtins.eval", "builtins.exec"})
_EXECUTES: Final = frozenset({"execute", "executemany", "executescript", "raw", "text"})
_SQL: Final = re.compile(
    r"\s*(select\b.*\bfrom|insert\s+(or\s+\w+\s+)?into|update\s+\S+\s+set|delete\s+from|with\s+\w+\s+as)\b",
    re.IGNORECASE | re.DOTALL,
)
_CHANGES: Final = re.compile(
    r"\s*(insert\s+(or\s+\w+\s+)?into|replace\s+into|update\s+\S+\s+set|delete\s+from|truncate\s+table"
    r"|(drop|alter|create)\s+(table|index|view|database))\b",
    re.IGNORECASE,
)
_CHANGERS: Final = re.compile(
    r"os\.(remove|unlink|rmdir|removedirs|rename|replace|mkdir|makedirs)|shutil\.(rmtree|move|copy\w*)"
    r"|.*\.(write_text|write_bytes|unlink|rmtree)"
)


def _calls(component: Component) -> Iterator[tuple[Code, ast.Call, str]]:
    """Every call in the function's own body, with its full name."""
    if component.code is not None:
        for node in component.code.own():
            if isinstance(node, ast.Call):
                yield component.code, node, component.code.called(node.func)


def _prints(component: Component) -> Iterator[Hit]:
    for code, call, name in _calls(component):
        if _PRINTS.fullmatch(name) and not any(each.arg == "file" for each in call.keywords):
            yield Hit(
                code.at(call), f"{name}(...) goes to the server's log, where no model or client reads it"
            )


def _blocks(component: Component) -> Iterator[Hit]:
    for code, call, name in _calls(component) if component.on_loop else ():
        if _BLOCKS.fullmatch(name):
            yield Hit(code.at(call), f"{name} holds up every other call until it is done")


def _asks(component: Component) -> Iterator[Hit]:
    for code, call, name in _calls(component):
        if _ASKS.fullmatch(name):
            yield Hit(code.at(call), f"{name} waits for a person, and finds the end of its input")


# --- what the model sent -------------------------------------------------------------------------


def _free(component: Component) -> frozenset[str]:
    """The function's names for what may be any text."""
    if component.kind == "tool":
        return frozenset(each.parameter for each in component.properties if is_text(each.node))
    return frozenset(each.parameter for each in component.properties)


def _pastes(node: ast.expr, names: frozenset[str]) -> str | None:
    """The first of *names* that is pasted into a text: f-string, `+`, `%` or `.format`."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        parts = [node.left, *(node.right.elts if isinstance(node.right, ast.Tuple) else [node.right])]
        inner = [found for part in (node.left,) if (found := _pastes(part, names))]
        if inner:
            return inner[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        parts = [*node.args, *(each.value for each in node.keywords)]
    else:
        return None
    return next((part.id for part in parts if isinstance(part, ast.Name) and part.id in names), None)


def _text_of(node: ast.expr) -> str:
    """The fixed text that an expression begins with."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "?" for each in node.values)
    if isinstance(node, ast.BinOp):
        return _text_of(node.left) + _text_of(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _text_of(node.func.value)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "?"


def _assigned(code: Code, node: ast.expr) -> ast.expr:
    """What a name was last given in this function, where that is plain to see."""
    if not isinstance(node, ast.Name):
        return node
    given = [
        each.value
        for each in code.own()
        if isinstance(each, ast.Assign) and [ast.unparse(target) for target in each.targets] == [node.id]
    ]
    return given[0] if len(given) == 1 else node


def _pasted_sql(component: Component) -> Iterator[Hit]:
    free = _free(component)
    for code, call, _ in _calls(component) if free else ():
        method = ast.unparse(call.func).rpartition(".")[2]
        query = _assigned(code, call.args[0]) if call.args and method in _EXECUTES else None
        name = _pastes(query, free) if query is not None else None
        if query is not None and name and _SQL.match(_text_of(query)):
            yield Hit(code.at(query), f"'{name}' is pasted into an SQL statement, and may hold another one")


def _run_text(component: Component) -> Iterator[Hit]:
    free = _free(component)
    for code, call, name in _calls(component) if free else ():
        if not call.args:
            continue
        first = _assigned(code, call.args[0])
        shell = any(each.arg == "shell" and ast.unparse(each.value) == "True" for each in call.keywords)
        by_shell = _SHELLS.fullmatch(name) or (shell and _WITH_SHELL.fullmatch(name))
        given = first.id if isinstance(first, ast.Name) and first.id in free else _pastes(first, free)
        if given and (by_shell or name in _EVALUATES):
            what = "a shell" if by_shell else "Python"
            yield Hit(code.at(call), f"'{given}' is run by {what}, whatever it says")


def _asserts(component: Component) -> Iterator[Hit]:
    code = component.code
    names = {each.parameter for each in component.properties}
    for node in code.own() if code and component.kind == "tool" else ():
        if not code or not isinstance(node, ast.Assert) or _narrows(node.test):
            continue
        found = [each.id for each in ast.walk(node.test) if isinstance(each, ast.Name) and each.id in names]
        if found:
            yield Hit(
                code.at(node), f"an assert judges '{found[0]}', and the model reads only 'AssertionError'"
            )


def _narrows(test: ast.expr) -> bool:
    """Whether it only tells a type checker something: `x is not None`, `isinstance(x, str)`."""
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.IsNot)
    return isinstance(test, ast.Call) and ast.unparse(test.func) == "isinstance"


def _secretly_writes(component: Component) -> Iterator[Hit]:
    hints = component.annotations
    if hints is None or not hints.read_only_hint or component.code is None:
        return
    code = component.code
    if any(name.startswith("tempfile.") for _, _, name in _calls(component)):
        return  # what it writes is its own
    for _, call, name in _calls(component):
        full = name or f".{ast.unparse(call.func).rpartition('.')[2]}"
        if _CHANGERS.fullmatch(full) or (name == "open" and _opens_to_write(call)):
            yield Hit(code.at(call), f"it is marked read-only, and {ast.unparse(call.func)} changes a file")
    for node in code.own():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CHANGES.match(node.value):
            yield Hit(code.at(node), "it is marked read-only, and holds a statement that changes data")


def _opens_to_write(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    texts = [each.value for each in modes if isinstance(each, ast.Constant)]
    return any(isinstance(text, str) and set(text) & set("wax+") for text in texts)


RULES: Final[tuple[Rule[Component], ...]] = (
    Rule(
        id="TG306",
        severity="note",
        title="a print in a tool",
        reason="It is kept out of the protocol and goes to standard error, where the caller never looks.",
        mend="ctx.info(...) tells the client, logging tells you, the result tells the model",
        bad='''
@server.tool
def sweep() -> str:
    """Sweep the floor of the shop."""
    print("sweeping")
    return "clean"
''',
        good='''
@server.tool
def sweep(ctx: Context) -> str:
    """Sweep the floor of the shop."""
    ctx.info("sweeping")
    return "clean"
''',
        find=_prints,
    ),
    Rule(
        id="TG307",
        severity="error",
        title="a blocking call on the event loop",
        reason="While it waits, the server answers nobody: no other call, no ping, no cancellation.",
        mend="write a plain def, which runs on a thread, or await the asynchronous form",
        bad='''
@server.tool
async def steep() -> str:
    """Let the tea steep."""
    time.sleep(180)
    return "ready"
''',
        good='''
@server.tool
async def steep() -> str:
    """Let the tea steep."""
    await asyncio.sleep(180)
    return "ready"
''',
        find=_blocks,
    ),
    Rule(
        id="TG308",
        severity="error",
        title="a question on standard input",
        reason="Standard input belongs to the protocol; nobody sits there, so the call fails or hangs.",
        mend="make the answer a parameter",
        bad='''
@server.tool
def choose_tea() -> str:
    """Choose the tea of the day."""
    return input("Which one? ")
''',
        good='''
@server.tool
def choose_tea(tea: Annotated[str, "The tea that the guest asked for."]) -> str:
    """Choose the tea of the day."""
    return tea
''',
        find=_asks,
    ),
    Rule(
        id="TG309",
        severity="error",
        title="an argument pasted into SQL",
        reason="A model repeats what it read, and what it read may hold a statement of somebody else's.",
        mend="bind it: execute('... WHERE name = ?', (name,))",
        bad='''
@server.tool
def find_guest(name: Annotated[str, "The family name."]) -> list[str]:
    """Look somebody up in the guest book."""
    return database.execute(f"SELECT entry FROM guests WHERE name = '{name}'")
''',
        good='''
@server.tool
def find_guest(name: Annotated[str, "The family name."]) -> list[str]:
    """Look somebody up in the guest book."""
    return database.execute("SELECT entry FROM guests WHERE name = ?", (name,))
''',
        find=_pasted_sql,
    ),
    Rule(
        id="TG310",
        severity="error",
        title="an argument run as code",
        reason="Whoever can put words before the model can run them on your machine.",
        mend="pass a list of arguments without a shell, or offer what may be done as a Literal",
        bad='''
@server.tool
def print_label(text: Annotated[str, "What to print."]) -> str:
    """Print a label for a jar."""
    subprocess.run(f"lp -o raw {text}", shell=True)
    return "printed"
''',
        good='''
@server.tool
def print_label(text: Annotated[str, "What to print."]) -> str:
    """Print a label for a jar."""
    subprocess.run(["lp", "-o", "raw", "--", text])
    return "printed"
''',
        find=_run_text,
    ),
    Rule(
        id="TG311",
        severity="warning",
        title="an assert that judges an argument",
        reason="It is gone under `python -O`, and its text is masked.",
        mend="put the rule into the type, or call reject(...)",
        bad='''
@server.tool
def pour(cups: Annotated[int, "How many."]) -> str:
    """Pour tea for the guests."""
    assert cups > 0, "at least one"
    return "poured"
''',
        good='''
@server.tool
def pour(cups: Annotated[int, Field(ge=1), "How many."]) -> str:
    """Pour tea for the guests."""
    return "poured"
''',
        find=_asserts,
    ),
    Rule(
        id="TG312",
        severity="warning",
        title="a read-only tool that writes",
        reason="Clients run what is marked read-only without asking anybody.",
        mend="take the hint away, or the writing",
        bad='''
@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def visitors() -> str:
    """Count who came in today."""
    Path("visitors.txt").write_text("0")
    return "0"
''',
        good='''
@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def visitors() -> str:
    """Count who came in today."""
    return Path("visitors.txt").read_text()
''',
        find=_secretly_writes,
    ),
)
