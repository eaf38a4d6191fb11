"""The orders of a small shop: the first server."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from typegate import MCPServer, ToolError

server = MCPServer("orders", version="1.0.0")

Status = Literal["open", "shipped", "cancelled"]


class Order(BaseModel):
    """An order as it stands now."""

    id: str
    placed: date
    status: Status
    total: float


ORDERS = [
    Order(id="A-1002", placed=date(2026, 11, 21), status="open", total=18.0),
    Order(id="A-1001", placed=date(2026, 11, 2), status="shipped", total=42.5),
]


@server.tool
def list_orders(
    status: Status | None = None,
    placed_from: date | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> list[Order]:
    """List orders, the newest first.

    Args:
        status: Only orders in this state.
        placed_from: Only orders placed on this day or later.
        limit: The most orders to return.
    """
    found = [order for order in ORDERS if status in (None, order.status)]
    return [order for order in found if placed_from is None or order.placed >= placed_from][:limit]


@server.tool
def get_order(order_id: Annotated[str, Field(pattern="^A-[0-9]{4}$")]) -> Order:
    """Read one order.

    Args:
        order_id: An id that list_orders gave.
    """
    for order in ORDERS:
        if order.id == order_id:
            return order
    raise ToolError(f"No order has the id {order_id}. Call list_orders for valid ids.")


if __name__ == "__main__":
    server.run()
