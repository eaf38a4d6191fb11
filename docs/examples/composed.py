"""Two servers in one."""

from typegate import MCPServer

# region include
billing = MCPServer("billing")


@billing.tool
def open_invoices(customer: str) -> list[str]:
    """List the numbers of the invoices that a customer has not paid."""
    return ["2026-0117"] if customer == "acme" else []


server = MCPServer("office")
server.include(billing, prefix="billing.")
# endregion

if __name__ == "__main__":
    server.run()
