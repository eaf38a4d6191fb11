"""Where a function runs, and what a Context gives it."""

import asyncio
import threading
import time

from typegate import Context, MCPServer

server = MCPServer("running", threads=8)


# region tools
@server.tool
def plain(seconds: float = 0.01) -> str:
    """Block a worker thread; the server goes on."""
    time.sleep(seconds)
    return threading.current_thread().name


@server.tool
async def awaited(seconds: float = 0.01) -> str:
    """Wait on the event loop."""
    await asyncio.sleep(seconds)
    return threading.current_thread().name


@server.tool(inline=True)
def quick(a: int, b: int) -> int:
    """Add on the event loop, without the hop to a thread."""
    return a + b


# endregion


# region context
@server.tool
def who(ctx: Context) -> dict[str, str]:
    """Tell what is known of the caller."""
    return {
        "client": ctx.client.name if ctx.client else "unknown",
        "revision": ctx.protocol_version,
        "principal": ctx.principal.subject if ctx.principal else "nobody",
    }


# endregion

if __name__ == "__main__":
    server.run()
