"""A whole result made by hand."""

from typegate import MCPServer, ToolResult

server = MCPServer("whole results")


# region tool
@server.tool(output_schema={"type": "object", "properties": {"rows": {"type": "integer"}}})
def import_orders(text: str) -> ToolResult:
    """Import orders from CSV text."""
    rows = max(len(text.splitlines()) - 1, 0)
    if not rows:
        return ToolResult(content=["There is nothing to import."], is_error=True)
    return ToolResult(
        content=[f"{rows} orders were imported."],
        structured={"rows": rows},
        meta={"shop.example/batch": "2026-11-30/1"},
    )


# endregion

if __name__ == "__main__":
    server.run()
