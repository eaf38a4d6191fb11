"""What a command is pointed at: a file or a module, and the server in it.

The law of the file: the author's code is imported as `python FILE` would import it, but it is not the
`__main__`; what it prints goes to standard error, since standard output belongs to the command.
"""

import contextlib
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from typegate.app import MCPServer
from typegate.errors import ConfigurationError

__all__ = ["Target", "load"]

_USUAL: Final = ("server", "mcp", "app")


class Target(NamedTuple):
    """A server and where it was found; *path* is the file of its module."""

    server: MCPServer
    path: Path
    name: str


def load(target: str) -> Target:
    """Import what *target* names and find the server in it.

    Args:
        target: `file.py`, `file.py:name`, `package.module` or `package.module:name`. The name is that of a
            server, or of a function without parameters that makes one; without it the module must hold one
            server only, or one that is called `server`, `mcp` or `app`.

    Raises:
        ConfigurationError: there is no such thing, or the code cannot be imported.
    """
    where, name = _split(target)
    module = _imported(where)
    server = _named(module, name, target) if name else _only(module, target)
    return Target(server, Path(module.__file__ or where), name or server.name)


def _split(target: str) -> tuple[str, str]:
    """The file or module, and the name in it; a drive letter is no file."""
    if Path(target).is_file():
        return target, ""
    where, colon, name = target.rpartition(":")
    return (where, name) if colon and not name.startswith(("\\", "/")) else (target, "")


def _imported(where: str) -> ModuleType:
    path = Path(where)
    is_file = path.suffix == ".py" or path.is_file()
    if is_file and not path.is_file():
        raise ConfigurationError(f"there is no file '{where}'")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return _executed(path.resolve()) if is_file else _found(where)
    except Exception as error:
        raise ConfigurationError(f"'{where}' cannot be imported: {_told(error)}") from error
    except SystemExit as error:
        raise ConfigurationError(f"'{where}' ends the process when it is imported") from error


def _executed(path: Path) -> ModuleType:
    """The module of a file, under the name of the file, with its folder first on the path."""
    sys.path.insert(0, str(path.parent))
    name = path.stem if path.stem not in sys.modules else f"{path.stem}__target"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # hints are resolved through it
    spec.loader.exec_module(module)
    return module


def _found(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module(name)


def _told(error: Exception) -> str:
    """The error and the line of the author's code that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename][1:]  # the first one is this module
    place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{place}"


def _named(module: ModuleType, name: str, target: str) -> MCPServer:
    found = getattr(module, name, None)
    if callable(found) and not isinstance(found, MCPServer):
        found = found()
    if not isinstance(found, MCPServer):
        servers = ", ".join(f"'{each}'" for each in _servers(module)) or "none"
        raise ConfigurationError(f"'{target}' is no MCPServer; the module's servers: {servers}")
    return found


def _only(module: ModuleType, target: str) -> MCPServer:
    servers = _servers(module)
    for name in _USUAL:
        if name in servers:
            return servers[name]
    if len({id(each) for each in servers.values()}) == 1:
        return next(iter(servers.values()))
    if not servers:
        raise ConfigurationError(f"'{target}' holds no MCPServer; name what makes one: '{target}:NAME'")
    names = " or ".join(f"'{target}:{name}'" for name in servers)
    raise ConfigurationError(f"'{target}' holds several servers; say which: {names}")


def _servers(module: ModuleType) -> dict[str, MCPServer]:
    return {name: each for name, each in vars(module).items() if isinstance(each, MCPServer)}
