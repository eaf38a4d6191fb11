"""What is opened when the server starts and closed when it stops."""

# region lifespan
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from typegate import Context, MCPServer


@dataclass
class AppState:
    """What the server holds while it runs."""

    db: sqlite3.Connection


@asynccontextmanager
async def open_database(server: MCPServer) -> AsyncIterator[AppState]:
    """Open the database at the start, close it at the end."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as db:
        db.execute("CREATE TABLE items (name)")
        db.execute("INSERT INTO items VALUES ('tea')")
        yield AppState(db)


server = MCPServer("items", lifespan=open_database)


@server.tool
def list_items(ctx: Context[AppState]) -> list[str]:
    """List the items."""
    return [name for (name,) in ctx.lifespan.db.execute("SELECT name FROM items")]


# endregion

if __name__ == "__main__":
    server.run()
