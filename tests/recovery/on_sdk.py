"""The tools on a server of the official SDK, with its defaults: `python -m tests.recovery.on_sdk`."""

from typing import NoReturn

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from .tools import tools

__all__ = ["server"]


def _refuse(message: str, hint: str) -> NoReturn:
    raise ToolError(f"{message}\n{hint}")


def server() -> MCPServer:
    """A new server."""
    made = MCPServer("recovery")
    for tool in tools(_refuse):
        made.add_tool(tool)
    return made


if __name__ == "__main__":
    server().run()
