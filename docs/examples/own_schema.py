"""A JSON Schema of one's own, in the place of the one that is made from the signature."""

from datetime import date
from typing import Literal

from typegate import MCPServer

server = MCPServer("contacts")

# region schema
REACH = {
    "type": "object",
    "properties": {
        "way": {"enum": ["phone", "email"]},
        "phone": {"type": "string", "pattern": "^[+][0-9]{6,15}$"},
        "email": {"type": "string", "format": "email"},
        "since": {"type": "string", "format": "date"},
    },
    "required": ["way"],
    "if": {"properties": {"way": {"const": "phone"}}},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool(schema=REACH)
def reach(
    way: Literal["phone", "email"],
    phone: str | None = None,
    email: str | None = None,
    since: date = date(2026, 1, 1),
) -> str:
    """Say how somebody is to be reached."""
    return f"{phone if way == 'phone' else email} since {since:%d %B %Y}"


# endregion

if __name__ == "__main__":
    server.run()
