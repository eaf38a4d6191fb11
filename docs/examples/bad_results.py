"""What cannot be sent, and what is sent in its place."""

from typing import Any

from pydantic import BaseModel

from typegate import MCPServer

server = MCPServer("bad results")


class Book(BaseModel):
    title: str
    year: int


# region bad
@server.tool
def wrong_year() -> Book:
    """Return what the declared type does not allow."""
    return Book.model_construct(title="Salt and Tide", year="1987")


@server.tool
def not_a_number() -> dict[str, list[float]]:
    """Return NaN."""
    return {"prices": [9.5, float("nan")]}


@server.tool
def not_json() -> dict[str, Any]:
    """Return something that JSON has no word for."""
    return {"connection": object()}


@server.tool
def not_a_list() -> Any:
    """Return a generator."""
    return (number for number in range(3))


@server.tool
def broken_text() -> list[str]:
    """Return a file name that is no UTF-8."""
    return [b"report-\xff.csv".decode("utf-8", "surrogateescape")]


# endregion

if __name__ == "__main__":
    server.run()
