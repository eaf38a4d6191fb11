"""Methods of an object as tools."""

from functools import partial

from typegate import MCPServer, ToolAnnotations, tool

server = MCPServer("warehouse")


# region class
class Warehouse:
    """A stock of things."""

    def __init__(self, stock: dict[str, int]) -> None:
        self.stock = stock

    @tool(name="stock.count", annotations=ToolAnnotations(read_only_hint=True))
    def count(self, sku: str) -> int:
        """Count what is in stock."""
        return self.stock.get(sku, 0)

    @tool
    def take(self, sku: str, amount: int = 1) -> int:
        """Take something out of stock."""
        self.stock[sku] = self.count(sku) - amount
        return self.stock[sku]

    def audit(self) -> str:
        """Not marked, and so no tool."""
        return repr(self.stock)


warehouse = Warehouse({"tea": 12})
server.add_tools(warehouse)
# endregion

# region single
server.add_tool("take_tea", partial(warehouse.take, sku="tea"), description="Take tea out of stock.")
server.add_tool(warehouse.audit)
# endregion

if __name__ == "__main__":
    server.run()
