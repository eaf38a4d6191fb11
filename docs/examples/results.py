"""What a tool returns, and what becomes of it."""

from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import BaseModel

from typegate import MCPServer

server = MCPServer("results")


# region specific
class Book(BaseModel):
    title: str
    published: date
    isbn: str | None = None


@dataclass
class Loan:
    book: str
    days: timedelta


@server.tool
def find_book() -> Book:
    """Find a book."""
    return Book(title="Salt and Tide", published=date(1987, 5, 2))


@server.tool
def count_books() -> int:
    """Count the books."""
    return 3


@server.tool
def list_titles() -> list[str]:
    """List the titles."""
    return ["Salt and Tide"]


@server.tool
def next_loan() -> Loan | None:
    """Find the loan that ends next."""
    return None


# endregion


# region unspecific
@server.tool
def greet():
    """Say hello."""
    return "Hello."


@server.tool
def settings() -> dict:
    """Show the settings."""
    return {"open": True, "until": date(2026, 12, 24)}


@server.tool
def close() -> None:
    """Close the shop."""


# endregion


# region bytes
@server.tool
def checksum() -> bytes:
    """Compute a checksum."""
    return b"\x00\xff\x10"


# endregion


# region switch
@server.tool(structured_output=False)
def find_quietly() -> Book:
    """Find a book; text only."""
    return find_book()


@server.tool(output_schema={"type": "object", "properties": {"open": {"type": "boolean"}}})
def settings_by_hand():
    """Show the settings, with a schema that is written by hand."""
    return settings()


# endregion

if __name__ == "__main__":
    server.run()
