"""One tool, published in three styles."""

from pydantic import BaseModel

from typegate import MCPServer

compact = MCPServer("compact")
inline = MCPServer("inline", schema_style="inline")
pydantic = MCPServer("pydantic", schema_style="pydantic")


# region tool
class Address(BaseModel):
    """Where somebody lives."""

    city: str
    zip: str | None = None


@compact.tool
@inline.tool
@pydantic.tool
def move(origin: Address, target: Address | None = None, floor: int | None = 0) -> Address:
    """Move from one place to another."""
    return target or origin


# endregion
