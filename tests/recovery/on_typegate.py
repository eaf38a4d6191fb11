"""The tools on a server of this project, with its defaults: `python -m tests.recovery.on_typegate`."""

from typing import Any, NoReturn

from typegate import Gate, MCPServer, reject

from .tools import tools

__all__ = ["server"]


def _refuse(message: str, hint: str) -> NoReturn:
    reject("NOT_POSSIBLE", message, hint=hint)


def server(**gate: Any) -> MCPServer:
    """A new server; *gate* has the settings of its gate that are not the default."""
    made = MCPServer("recovery", gate=Gate(**gate))
    for tool in tools(_refuse):
        made.tool(tool)
    return made


if __name__ == "__main__":
    server().run()
