"""Values that are taken or refused: the table in docs/refusals.md is made from this file."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from typegate import MCPServer

server = MCPServer("rules")


class Box(BaseModel):
    width: int
    label: str | None = None


@server.tool
def rules(  # noqa: PLR0913
    count: int = 0,
    price: float = 0.0,
    sold: bool = False,
    name: str = "",
    top: int | None = None,
    numbers: list[int] = [],  # noqa: B006
    box: Box = Box(width=0),
    day: date = date.min,
    moment: datetime = datetime.min,
    wait: timedelta = timedelta.min,
    key: UUID = UUID(int=0),
    state: Literal["open", "done"] = "open",
    limit: Annotated[int, Field(le=100)] = 0,
    raw: bytes = b"",
    unique: set[int] = set(),  # noqa: B006
    pair: tuple[int, str] = (0, ""),
    either: int | str = 0,
) -> dict[str, str]:
    """Show what arrived."""
    return {name: repr(value) for name, value in locals().items()}


TRIED: list[tuple[str, Any]] = [
    ("count", 3),
    ("count", 3.0),
    ("count", 3.5),
    ("count", "3"),
    ("count", True),
    ("count", None),
    ("price", 1),
    ("price", "1.5"),
    ("sold", 1),
    ("sold", "true"),
    ("name", 5),
    ("name", "null"),
    ("top", None),
    ("numbers", [1, "2"]),
    ("numbers", "[1, 2]"),
    ("box", {"width": 1, "label": None}),
    ("box", {"width": 1, "lable": "tea"}),
    ("box", {"label": 5}),
    ("box", '{"width": 1}'),
    ("day", "2026-11-30"),
    ("day", "today"),
    ("day", "2026-02-30"),
    ("day", 1764460800),
    ("moment", "2026-11-30T14:05:00Z"),
    ("moment", "2026-11-30"),
    ("wait", "PT5M"),
    ("wait", 300),
    ("key", "123e4567"),
    ("state", "opne"),
    ("limit", 999),
    ("raw", "aGk="),
    ("raw", "é"),
    ("unique", [1, 1]),
    ("pair", [1]),
    ("either", True),
]

if __name__ == "__main__":
    server.run()
