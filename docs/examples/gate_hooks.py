"""A refusal in the author's own words, as problem details, and arguments that arrive as JSON text."""

import logging

from pydantic import BaseModel

from typegate import Gate, InvalidArguments, MCPServer, Problem, Text, ToolResult

log = logging.getLogger("shop")


# region hook
def explain(refused: InvalidArguments) -> ToolResult | None:
    """Count every refusal; say one of them in our own words."""
    log.info("%s: %s", refused.tool, [issue.code for issue in refused.issues])
    if any(issue.path == ("sku",) for issue in refused.issues):
        return ToolResult([Text("A SKU looks like AB-1234; find_product has them all.")], is_error=True)
    return None


server = MCPServer("shop", gate=Gate(on_invalid=explain))


# endregion


@server.tool
def stock(sku: str, warehouse: int = 1) -> int:
    """Count what is in stock."""
    return 7


# region details
class Book(BaseModel):
    """A book."""

    title: str


@server.tool(gate=Gate(problem_format="rfc9457", on_invalid=None))
def find_book(isbn: str) -> Book | Problem:
    """Find a book, or say why not."""
    return Book(title="Middlemarch")


# endregion


# region repair
@server.tool(gate=Gate(repair="all", nulls="default"))
def reorder(skus: list[str], amount: int = 10) -> str:
    """Order what is out of stock."""
    return f"{amount} of {', '.join(skus)}"


# endregion
