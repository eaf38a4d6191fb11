"""Families of resources: the variables of the URI are the parameters of the function."""

from datetime import date

from typegate import MCPServer, ToolError

server = MCPServer("templates")


# region templates
@server.resource("orders://{order_id}", mime_type="application/json")
def order(order_id: int) -> dict[str, int]:
    """One order."""
    if order_id > 999:
        raise ToolError(f"There is no order {order_id}.")
    return {"id": order_id}


@server.resource("orders://by-day/{day}{?limit}", mime_type="application/json")
def orders_of_day(day: date, limit: int = 20) -> dict[str, str | int]:
    """The orders of one day."""
    return {"weekday": f"{day:%A}", "limit": limit}


@server.resource("manual://{path*}")
def manual(path: str) -> str:
    """One page of the manual."""
    return f"the page {path}"


@server.resource("raw://{name}", unsafe=["name"])
def raw(name: str) -> str:
    """Whatever the URI says; this function must look at it itself."""
    return repr(name)


# endregion

if __name__ == "__main__":
    server.run()
