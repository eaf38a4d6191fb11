"""A server with one tool for each form that a schema can take, to be probed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

from pydantic import BaseModel, Field

from typegate import Context, MCPServer, ToolError


class Address(BaseModel):
    """Where somebody lives."""

    street: Annotated[str, Field(min_length=2, max_length=40)]
    zip: Annotated[str, Field(pattern="^[0-9]{4}$")] | None = None


class Person(BaseModel):
    """Somebody."""

    kind: Literal["person"] = "person"
    name: str
    born: date | None = None
    homes: Annotated[list[Address], Field(min_length=1, max_length=3)]


class Firm(BaseModel):
    """A company."""

    kind: Literal["firm"]
    vat: Annotated[str, Field(pattern="^[A-Z]{2}[0-9]{8}$")]
    staff: list[Person] = []


class Folder(BaseModel):
    """A folder, which may hold folders."""

    name: str
    children: list["Folder"] = []


class Filters(TypedDict, total=False):
    """What to look for."""

    tags: list[str]
    since: datetime


@asynccontextmanager
async def opened(server: MCPServer) -> AsyncIterator[str]:
    """Add a tool when the server starts."""
    server.add_tool("late", late)
    yield "open"


def late(count: Annotated[int, Field(gt=0, lt=10, multiple_of=3)]) -> str:
    """Was added when the server started; it must never run with bad arguments."""
    raise RuntimeError("the real function ran")


server = MCPServer("rich", version="1.2.3", lifespan=opened)


@server.tool
def party(who: Person | Firm, backup: Person | None = None) -> str:
    """Take a union of models."""
    raise RuntimeError("the real function ran")


@server.tool
async def everything(
    ctx: Context,
    number: Annotated[float, Field(ge=0.5, le=9.5)],
    flag: bool,
    price: Decimal,
    key: UUID,
    pairs: dict[str, int],
    point: tuple[int, str],
    choices: set[Literal["a", "b"]],
    mixed: int | str | None = None,
    anything: Any = None,
    filters: Filters | None = None,
    raw: bytes = b"",
) -> str:
    """Take one of each."""
    raise ToolError("the real function ran")


@server.tool
def tree(root: Folder) -> Folder:
    """Take a recursive type."""
    raise RuntimeError("the real function ran")


@server.tool(scopes=["admin"])
def open_ended(title: str, **labels: int) -> dict[str, int]:
    """Take what is not known too."""
    raise RuntimeError("the real function ran")


@server.tool(
    schema={
        "type": "object",
        "properties": {
            "way": {"enum": ["phone", "email"]},
            "phone": {"type": "string", "pattern": "^[+][0-9]{6,15}$"},
            "email": {"type": "string", "format": "email"},
        },
        "required": ["way"],
        "if": {"properties": {"way": {"const": "phone"}}},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
def reach(way: str, phone: str | None = None, email: str | None = None) -> str:
    """Take arguments that depend on one another."""
    raise RuntimeError("the real function ran")


if __name__ == "__main__":
    server.run()
