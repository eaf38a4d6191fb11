"""Calls that the client takes back."""

import asyncio
import time

from typegate import Context, MCPServer

server = MCPServer("cancelling")


# region tools
@server.tool
async def wait(seconds: float) -> str:
    """Wait; a cancelled call ends at the `await`."""
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        # Tidy up here, then let the cancellation go on.
        raise
    return "waited"


@server.tool
def crunch(rounds: int, ctx: Context) -> int:
    """Work on a thread; nobody can stop a thread, so it looks for itself."""
    for number in range(rounds):
        if ctx.cancelled:
            return number
        time.sleep(0.01)
    return rounds


# endregion

if __name__ == "__main__":
    server.run()
