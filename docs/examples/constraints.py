"""What `Field` and `Annotated` add to a parameter."""

from typing import Annotated

from annotated_types import Gt
from pydantic import Field

from typegate import MCPServer

server = MCPServer("constraints")


# region tool
@server.tool
def search(
    text: Annotated[str, Field(min_length=2, max_length=80, description="Words to look for.")],
    order_id: Annotated[str, Field(pattern="^A-[0-9]{4}$")] = "A-1001",
    limit: Annotated[int, Field(ge=1, le=100), "The most hits to return."] = 20,
    weight: Annotated[float, Gt(0)] = 1.0,
    page: int = Field(1, ge=1),
    sort_by: Annotated[str, Field(alias="sortBy")] = "date",
) -> str:
    """Search the orders."""
    return f"{text} {order_id} {limit} {weight} {page} {sort_by}"


# endregion

if __name__ == "__main__":
    server.run()
