"""How often, how long, how many at once, how large."""

import asyncio

from typegate import Limits, MCPServer, RateLimit, Text, ToolResult

# region server
server = MCPServer(
    "reports",
    rate_limit=RateLimit(rate=5.0, burst=20, weights={"report": 5}, per_caller=(20.0, 50)),
    limits=Limits(timeout=30.0, concurrency=64, per_caller=8, max_result_bytes=256 * 1024),
)
# endregion


# region tools
@server.tool(timeout=0.05)
async def report(days: int) -> str:
    """Make a report: a call counts for five, and has 50 milliseconds."""
    await asyncio.sleep(days)
    return f"{days} days"


@server.tool(limits=Limits(concurrency=1, queue=4, max_result_bytes=2000))
def search(text: str, limit: int = 10) -> str:
    """Search, one call at a time, four may wait."""
    return text * limit


@server.tool(limits=Limits(max_result_bytes=2000, on_large="cut"), structured_output=False)
def pages(count: int) -> ToolResult:
    """Give pages, and as many as fit."""
    return ToolResult(content=[Text(f"page {number} " * 60) for number in range(count)])


# endregion
