"""The house rules: who may import whom, how large things may grow, and what a module says of itself.

The law of the file: the rules are data, at the top; the code below walks them and names every offender as
`file:line`. A new module fails until it has its place in `ROOMS`.
"""

import ast
import builtins
import io
import re
import symtable
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"

# --- the rules

ROOMS = (
    ("typegate", "text types errors versions content"),
    ("typegate.wire", "jsonrpc methods shapes framing seal connection"),
    ("typegate.contract", "problems repair gate docstrings uritemplate signature schema validator"),
    ("typegate.contract", "cores forms generator hints reading adapter writing arguments results"),
    ("typegate.guards", "calls globs slots sizes approval access ratelimit limits"),
    ("typegate.guards", "records chain endings sinks tables writer audit archive exports"),
    (
        "typegate.guards",
        "checks hidden keys literals patterns detectors plans scanning rewriting redaction",
    ),
    ("typegate.server", "bus options components context registry failures handlers"),
    ("typegate.transports", "workers runner watchdog stdio memory"),
    ("typegate", "app __init__"),
    ("typegate.check", "findings words evidence subjects schemas texts failures effects clients servers"),
    ("typegate.check", "silences engine pages report"),
    ("typegate.probe", "patterns samples faults calls judgement report session sentinel driver"),
    ("typegate.cli", "terminal target run check probe audit main"),
)
"""Room and modules, in order: a module imports only from those that stand before it."""

STRANGERS = ("typegate.wire", "typegate.contract")
"""Two rooms that do not know each other, whatever the order allows."""

PURE = ("typegate.wire", "typegate.contract")
"""Rooms that wait for nothing and touch nothing outside: what they need of it is an argument."""

IMPURE = """
    asyncio http os random secrets selectors shutil socket ssl subprocess tempfile time urllib.request
"""
"""What a pure room does not import: clock, chance, files, processes, network."""

LIBRARIES = {
    "ahocorasick_rs": {"typegate.guards.literals"},
    "cyclopts": {"typegate.cli.main"},
    "docstring_parser": {"typegate.contract.docstrings"},
    "jsonschema_rs": {"typegate.contract.validator"},
    "pydantic": {
        f"typegate.contract.{name}"
        for name in ("signature", "forms", "generator", "hints", "reading", "adapter")
    },
    "pydantic_core": {
        f"typegate.contract.{name}" for name in ("cores", "forms", "generator", "reading", "adapter")
    },
    "rich": {"typegate.cli.terminal"},
}
"""Third-party library → the modules that may import it."""

EVERYWHERE = {"msgspec", "typing_extensions"}

OPTIONAL = {"cyclopts", "rich"}
"""Those of `LIBRARIES` that come with an extra: their module may import them inside a function."""

MODULE_LINES = 400  # of code: no blanks, comments, docstrings
FUNCTION_LINES = 60  # from `def` to the end, docstring and all
USUAL_LINES, USUAL_SHARE = 40, 0.95
PARAMETERS = 6
COMPLEXITY = 10
INHERITANCE = 2  # steps between two classes of this project
EXCEPTION_INHERITANCE = 3

OPTION_LISTS = {
    *(f"typegate.app.MCPServer.{name}" for name in ("__init__", "tool", "resource", "prompt")),
    "typegate.guards.audit.AuditLog.__init__",
    "typegate.cli.audit.show",
}
"""What authors call with keywords, as many as there are; from there on they are one value."""

ANY_EDGE = {
    "typegate.app",
    "typegate.contract.adapter",
    "typegate.contract.arguments",
    "typegate.contract.cores",
    "typegate.contract.forms",
    "typegate.contract.generator",
    "typegate.contract.hints",
    "typegate.contract.reading",
    "typegate.contract.results",
    "typegate.contract.signature",
    "typegate.contract.validator",
    "typegate.contract.writing",
    "typegate.server.components",
    "typegate.server.handlers",
    "typegate.server.options",
}
"""Where JSON, type hints and the values of authors are handled as such."""
ANY_INSIDE = 12  # per 1,000 lines of code, in all modules but those
ANY_OVERALL = 42

EXPORTS = """
    INHERIT AccessPolicy Annotations ApprovalRequest Approver Audio AuditLog BlobResourceContents
    ConfigurationError Context Decision EmbeddedResource File Gate Icon Image InvalidArguments
    InvalidResult Issue Limits MCPServer Principal Problem PromptArgument PromptMessage RateLimit Redactor
    RegistrationError Rejected RequestFailed ResourceLink Secret Text TextResourceContents ToolAnnotations
    ToolError ToolResult TypegateError __version__ reject tool
"""
"""The public names of `typegate`, every one of them a promise."""

TEXTS = ("src", "tests", "docs", "examples")
MACHINE = re.compile(r"(?<![\w.])/(?:root|work|home/\w+|Users/\w+)/")
UNFINISHED = re.compile(r"\b(?:[T]ODO|[F]IXME|[X]XX)\b")

ORDER = [f"{room}.{name}".removesuffix(".__init__") for room, names in ROOMS for name in names.split()]

# --- the code as data

Function = ast.FunctionDef | ast.AsyncFunctionDef
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}


class Module(NamedTuple):
    """One file of `src`; `code` holds the numbers of its lines that are code."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    code: frozenset[int]

    def at(self, line: int) -> str:
        """Where something is, as an editor opens it."""
        return f"{self.path.relative_to(ROOT)}:{line}"

    def within(self, room: str) -> bool:
        """Whether it lies in *room*."""
        return self.name.startswith(room + ".")


def is_room(name: str) -> bool:
    """Whether this is the `__init__` of a room below the package."""
    return modules()[name].path.stem == "__init__" and name not in ORDER


@cache
def modules() -> dict[str, Module]:
    """Every module by its dotted name."""
    return {module.name: module for module in map(read, sorted(SOURCE.rglob("*.py")))}


def read(path: Path) -> Module:
    """Parse one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    return Module(name, path, text, tree, frozenset(code_lines(text, tree)))


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """The lines that hold a token which is neither a comment nor part of a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = [(token.start[0], token.end[0]) for token in tokens if token.type not in LAYOUT]
    lines = {line for first, last in spans for line in range(first, last + 1)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Expr) and is_text(node.value))
    return lines.difference(*(range(node.lineno, (node.end_lineno or 0) + 1) for node in strings))


def is_text(node: ast.expr) -> bool:
    """Whether this is a string in the source."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def imports(module: Module, root: ast.AST | None = None) -> Iterator[tuple[int, str]]:
    """The line and dotted name of everything that is imported; a module is named in full."""
    for node in ast.walk(root or module.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            inner = [f"{source}.{alias.name}" for alias in node.names]
            yield from ((node.lineno, name if name in modules() else source) for name in inner)


def functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Every function by its full name, methods and inner ones too."""
    yield from functions_in(module.tree, module.name)


def functions_in(node: ast.AST, name: str) -> Iterator[tuple[str, Function]]:
    """Those below *node*, which is called *name*."""
    for child in ast.iter_child_nodes(node):
        inner = f"{name}.{child.name}" if isinstance(child, Function | ast.ClassDef) else name
        if isinstance(child, Function):
            yield inner, child
        yield from functions_in(child, inner)


def all_functions() -> Iterator[tuple[Module, str, Function]]:
    """The functions of the whole project."""
    for module in modules().values():
        yield from ((module, name, node) for name, node in functions(module))


def length(node: Function) -> int:
    """Lines from `def` to the end."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameters(node: Function) -> int:
    """How many parameters have a name of their own, `self` and `cls` left out."""
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return sum(each.arg not in ("self", "cls") for each in given)


def is_overload(node: Function) -> bool:
    """Whether this only declares another signature."""
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)


def branches(node: ast.AST) -> int:
    """How many turns the statements below *node* take, counted as ruff's C901 counts."""
    return sum(turns(child) + branches(child) for child in ast.iter_child_nodes(node))


def turns(node: ast.AST) -> int:
    """How many turns this one node adds."""
    if isinstance(node, ast.Match):
        return len(node.cases) - (ast.unparse(node.cases[-1]).split(":")[0] == "case _")
    if isinstance(node, ast.Try | ast.TryStar):
        return len(node.handlers) + bool(node.orelse)
    return isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While | Function)


def anys(tree: ast.Module) -> int:
    """How often `Any` is used."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


@cache
def classes() -> dict[str, tuple[str, list[str]]]:
    """Every class by its full name: where it is, and its bases by their full names."""
    found = {}
    for module in modules().values():
        known = dict(names_in(module))
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).partition("[")[0].partition(".") for base in node.bases]
                full = [known.get(head, f"{module.name}.{head}") + dot + rest for head, dot, rest in bases]
                found[f"{module.name}.{node.name}"] = module.at(node.lineno), full
    return found


def names_in(module: Module) -> Iterator[tuple[str, str]]:
    """Each imported or built-in name and the full name of what it stands for."""
    yield from ((name, name) for name in dir(builtins))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def depth(name: str) -> int:
    """How many steps of this project's classes lead up from *name*."""
    return max((depth(base) + 1 for base in classes()[name][1] if base in classes()), default=0)


def is_exception(name: str) -> bool:
    """Whether *name* is raised."""
    if name not in classes():
        return isinstance(found := getattr(builtins, name, None), type) and issubclass(found, BaseException)
    return any(map(is_exception, classes()[name][1]))


def exported(module: Module) -> tuple[int, list[str]] | None:
    """The line and the names of `__all__`."""
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return node.lineno, list(ast.literal_eval(node.value))
    return None


def isort_style(name: str) -> tuple[int, str]:
    """Ruff's order (RUF022): CONSTANTS, Classes, everything else."""
    constant = len(name) > 1 and name.isupper()
    return (0 if constant else 1 if name[:1].isupper() else 2), name


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file that people read, tests included."""
    for path in sorted(path for folder in TEXTS for path in (ROOT / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path, path.read_text(encoding="utf-8", errors="replace")


def mentions(pattern: re.Pattern[str]) -> Iterator[str]:
    """Every line of those files in which *pattern* is found."""
    for path, text in texts():
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                yield f"{path.relative_to(ROOT)}:{number} {line.strip()[:80]}"


def none(found: Iterable[str], rule: str) -> None:
    """Fail with the rule and every offender."""
    offenders = sorted(set(found))
    assert not offenders, f"{rule}\n  " + "\n  ".join(offenders)


# --- who may import whom


def test_every_module_has_its_room() -> None:
    """The table of rooms and the folder name the same modules, each once."""
    placed = [name for name in modules() if not is_room(name)]
    none(set(placed) ^ set(ORDER), "in ROOMS or in src, not in both")
    none((name for name in ORDER if ORDER.count(name) > 1), "twice in ROOMS")


def test_a_room_has_no_code_of_its_own() -> None:
    """The `__init__` of a room is no way round the table."""
    rooms = (module for name, module in modules().items() if is_room(name))
    none((module.at(min(module.code)) for module in rooms if module.code), "code in the __init__ of a room")


def test_imports_go_upwards() -> None:
    """A module imports only from those before it in the table, so there is no cycle either."""
    found = (
        f"{module.at(line)} {module.name} imports {name}"
        for module in modules().values()
        for line, name in imports(module)
        if name.startswith((".", "typegate"))
        if name not in ORDER[: ORDER.index(module.name) if module.name in ORDER else 0]
    )
    none(found, "imports of what does not stand before it in ROOMS")


def test_wire_and_contract_are_strangers() -> None:
    """Neither of the two imports the other."""
    found = (
        f"{module.at(line)} imports {name}"
        for here, there in (STRANGERS, STRANGERS[::-1])
        for module in modules().values()
        for line, name in imports(module)
        if module.within(here) and name.startswith(there)
    )
    none(found, "wire and contract do not know each other")


def test_no_import_inside_a_function() -> None:
    """Every import stands at the top, but for an optional library in its one module."""
    found = (
        f"{module.at(line)} imports {name} in {function}"
        for module, function, node in all_functions()
        for line, name in imports(module, node)
        if name.split(".")[0] not in OPTIONAL
    )
    none(found, "imports inside a function")


def test_a_library_has_one_home() -> None:
    """A third-party library is imported by the modules of its row, and an unknown one by none."""
    found = (
        f"{module.at(line)} imports {name}"
        for module in modules().values()
        for line, name in imports(module)
        if (library := name.split(".")[0]) not in {"", "typegate", *EVERYWHERE, *sys.stdlib_module_names}
        if module.name not in LIBRARIES.get(library, ())
    )
    none(found, "libraries outside their module (LIBRARIES)")


# --- what is pure


def test_pure_rooms_touch_nothing_outside() -> None:
    """There is no clock, chance, file or network in `wire` and `contract`."""
    found = (
        f"{module.at(line)} imports {name}"
        for module in modules().values()
        for line, name in imports(module)
        if any(map(module.within, PURE)) and {name, name.split(".")[0]} & set(IMPURE.split())
    )
    none(found, "imports that a pure room does not have")


def test_pure_rooms_never_wait() -> None:
    """There is no `async def` in `wire` and `contract`."""
    found = (
        f"{module.at(node.lineno)} async def {node.name}"
        for module, _, node in all_functions()
        if isinstance(node, ast.AsyncFunctionDef) and any(map(module.within, PURE))
    )
    none(found, "async def in a pure room")


# --- how large things may grow


def test_modules_are_short() -> None:
    """A module has at most 400 lines of code."""
    sizes = ((module, len(module.code)) for module in modules().values())
    found = (f"{module.at(1)} has {size}" for module, size in sizes if size > MODULE_LINES)
    none(found, f"modules of more than {MODULE_LINES} lines of code")


def test_functions_are_short() -> None:
    """A function has at most 60 lines."""
    sizes = ((module.at(node.lineno), name, length(node)) for module, name, node in all_functions())
    found = (f"{where} {name} has {size}" for where, name, size in sizes if size > FUNCTION_LINES)
    none(found, f"functions of more than {FUNCTION_LINES} lines")


def test_most_functions_are_shorter() -> None:
    """Of all functions, 95 % have at most 40 lines."""
    sizes = [length(node) for _, _, node in all_functions()]
    share = sum(size <= USUAL_LINES for size in sizes) / len(sizes)
    assert share >= USUAL_SHARE, f"only {share:.1%} of the functions have at most {USUAL_LINES} lines"


def test_parameters_are_few() -> None:
    """A function takes at most 6 parameters, but for the options that an author writes."""
    found = (
        f"{module.at(node.lineno)} {name} takes {parameters(node)}"
        for module, name, node in all_functions()
        if parameters(node) > PARAMETERS and name not in OPTION_LISTS and not is_overload(node)
    )
    none(found, f"functions of more than {PARAMETERS} parameters")


def test_option_lists_exist() -> None:
    """An exception that is not needed any more goes."""
    wide = {name for _, name, node in all_functions() if parameters(node) > PARAMETERS}
    none(OPTION_LISTS - wide, "OPTION_LISTS names what has few parameters, or is not there")


def test_functions_are_simple() -> None:
    """The cyclomatic complexity of a function is at most 10."""
    sizes = ((module.at(node.lineno), name, branches(node) + 1) for module, name, node in all_functions())
    found = (f"{where} {name} has {size}" for where, name, size in sizes if size > COMPLEXITY)
    none(found, f"functions of a complexity above {COMPLEXITY}")


def test_inheritance_is_shallow() -> None:
    """A class is at most two steps below the first of its line in this project, an exception three."""
    found = (
        f"{where} {name} is {depth(name)} deep"
        for name, (where, _) in classes().items()
        if depth(name) > (EXCEPTION_INHERITANCE if is_exception(name) else INHERITANCE)
    )
    none(found, "classes too deep below others")


def test_any_stays_at_the_edge() -> None:
    """`Any` is rare but where JSON, hints and the values of authors are handled as such."""
    for bar, names in ((ANY_INSIDE, set(modules()) - ANY_EDGE), (ANY_OVERALL, set(modules()))):
        found = {name: anys(modules()[name].tree) for name in names}
        share = 1000 * sum(found.values()) / sum(len(modules()[name].code) for name in names)
        most = ", ".join(f"{found[name]} in {name}" for name in sorted(found, key=found.__getitem__)[:-6:-1])
        assert share <= bar, f"{share:.1f} Any per 1,000 lines of code, {bar} at most: {most}"


# --- what a module says of itself


def test_every_module_says_its_job() -> None:
    """A module opens with a docstring whose first line is one sentence."""
    found = (
        f"{module.at(1)} {head or 'has no docstring'}"
        for module in modules().values()
        for head in [(ast.get_docstring(module.tree) or "").split("\n")[0]]
        if not head.endswith(".") or ". " in head
    )
    none(found, "modules that do not open with one sentence on one line")


def test_every_module_names_what_it_offers() -> None:
    """A module has `__all__`, but for the empty ones of the rooms."""
    found = (module.at(1) for name, module in modules().items() if not is_room(name) and not exported(module))
    none(found, "modules without __all__")


def test_what_is_offered_is_sorted() -> None:
    """Constants, then classes, then the rest, each by name and once."""
    found = (
        module.at(line)
        for module in modules().values()
        for line, names in [exported(module) or (1, [])]
        if names != sorted(set(names), key=isort_style)
    )
    none(found, "__all__ out of order (ruff check --fix)")


def test_what_is_offered_exists() -> None:
    """A name in `__all__` is bound in its module."""
    found = (
        f"{module.at(line)} {name}"
        for module in modules().values()
        for line, names in [exported(module) or (1, [])]
        for name in set(names) - bound(module)
    )
    none(found, "names in __all__ that are not there")


def bound(module: Module) -> set[str]:
    """The names that a module defines or imports at its top."""
    symbols = symtable.symtable(module.text, str(module.path), "exec").get_symbols()
    return {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}


def test_the_public_names() -> None:
    """The package exports these names and no others."""
    _, names = exported(modules()["typegate"]) or (1, [])
    assert names == EXPORTS.split(), f"not in both: {set(names) ^ set(EXPORTS.split())}"


def test_every_dependency_is_accounted_for() -> None:
    """Each requirement of `pyproject.toml` has its row, with its bound, in `docs/dependencies.md`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [
        project["build-system"]["requires"],
        project["project"]["dependencies"],
        *project["project"].get("optional-dependencies", {}).values(),
        *project["dependency-groups"].values(),
    ]
    needed = [each for group in groups for each in group if isinstance(each, str)]
    rows = [re.sub(r"(?:\[\w+\])?(?=[=>])", " | `", each, count=1) for each in needed]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    none((row for row in rows if f"\n| {row}` |" not in page), "docs/dependencies.md has no such row")


# --- what is in no file


def test_no_path_of_a_machine() -> None:
    """Nothing names a folder that only its author has."""
    none(mentions(MACHINE), "absolute paths")


def test_nothing_is_left_unfinished() -> None:
    """There are no notes to oneself; what is to be done stands in an issue."""
    none(mentions(UNFINISHED), "notes to oneself")
