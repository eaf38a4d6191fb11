"""The settings of the gate, for the server and for single tools."""

from pydantic import BaseModel

from typegate import Gate, MCPServer, Problem, reject

# region server
server = MCPServer("settings", gate=Gate(unknown="ignore"))
# endregion


class Address(BaseModel):
    street: str
    city: str = "Oslo"


# region tools
@server.tool
def tolerant(address: Address) -> str:
    """Drop what is not known, as the server says."""
    return f"{address.street}, {address.city}"


@server.tool(gate=Gate(unknown="forbid", failure="protocol_error"))
def strict(address: Address) -> str:
    """Refuse what is not known, with a JSON-RPC error."""
    return tolerant(address)


@server.tool(gate=Gate(rejected_as_error=False))
def polite(day: str) -> str | Problem:
    """Say no without a flag."""
    reject("CLOSED", f"The shop is closed on {day}.", hint="Ask for a weekday.")


# endregion

if __name__ == "__main__":
    server.run()
