"""Models, dataclasses, TypedDicts, unions and recursive types, in and out."""

from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypedDict, TypeVar

from pydantic import BaseModel, Field

from typegate import MCPServer

server = MCPServer("rich types")


# region models
class Card(BaseModel):
    kind: Literal["card"]
    number: Annotated[str, Field(pattern="^[0-9]{16}$")]


class Transfer(BaseModel):
    kind: Literal["transfer"]
    iban: str


@dataclass
class Line:
    sku: str
    amount: int = 1


class Note(TypedDict, total=False):
    text: str


@server.tool
def place_order(lines: list[Line], payment: Card | Transfer, note: Note | None = None) -> str:
    """Place an order."""
    return f"{lines[0]!r}, paid by {type(payment).__name__}, note {note!r}"


# endregion


# region recursive
class Folder(BaseModel):
    name: str
    children: list["Folder"] = []


@server.tool
def depth(folder: Folder) -> int:
    """Count the levels of a folder."""
    return 1 + max(map(depth, folder.children), default=0)


# endregion


# region generic
T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    more: bool = False


@server.tool
def numbers(upto: int) -> Page[int]:
    """List numbers."""
    return Page(items=list(range(upto)))


# endregion

if __name__ == "__main__":
    server.run()
