"""Three tools that refuse the same call: no output schema, a narrow one, and one that admits a problem."""

from typing import Annotated

from pydantic import BaseModel, Field

from typegate import MCPServer, Problem

server = MCPServer("refusing")
Isbn = Annotated[str, Field(min_length=10)]


class Book(BaseModel):
    """A book."""

    author: str


@server.tool
def find_text(isbn: Isbn) -> dict:  # type: ignore[type-arg]
    """Find a book, without an output schema."""
    return {"author": "a"}


@server.tool
def find_book(isbn: Isbn) -> Book:
    """Find a book, with an output schema that leaves no room for a refusal."""
    return Book(author="a")


@server.tool
def find_either(isbn: Isbn) -> Book | Problem:
    """Find a book, with an output schema that leaves room for one."""
    return Book(author="a")


if __name__ == "__main__":
    server.run()
