"""The tools on a server of FastMCP, with its defaults: `python -m tests.recovery.on_fastmcp`."""

from typing import NoReturn

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

from .tools import tools

__all__ = ["server"]


def _refuse(message: str, hint: str) -> NoReturn:
    raise ToolError(f"{message}\n{hint}")


def server() -> FastMCP:
    """A new server."""
    made = FastMCP("recovery")
    for tool in tools(_refuse):
        made.tool(tool)
    return made


if __name__ == "__main__":
    server().run(show_banner=False)
