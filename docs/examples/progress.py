"""What a tool can say while it works."""

import asyncio

from typegate import Context, MCPServer

server = MCPServer("progress")


# region tools
@server.tool
async def import_files(names: list[str], ctx: Context) -> int:
    """Import files, one after the other."""
    for number, name in enumerate(names, start=1):
        await asyncio.sleep(0)
        await ctx.progress(number, total=len(names), message=f"imported {name}")
        ctx.info({"file": name, "rows": 12})
    return len(names)


@server.tool
def import_file(name: str, ctx: Context) -> int:
    """Import one file, on a worker thread."""
    ctx.progress(1, message="reading")
    ctx.log("notice", f"{name} is empty", logger="import")
    return 0


# endregion

if __name__ == "__main__":
    server.run()
