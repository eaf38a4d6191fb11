"""Who may use what: names, URIs, scopes, arguments, and a person who must say yes."""

from collections.abc import Mapping
from typing import Any

from typegate import AccessPolicy, ApprovalRequest, Decision, MCPServer, Principal


# region where
def within_budget(principal: Principal | None, arguments: Mapping[str, Any]) -> bool | Decision:
    """A rule on what the function will get: validated, with defaults."""
    if arguments["amount"] <= 100:
        return True
    return Decision(False, "Refunds above 100 are made by the finance team.")


policy = AccessPolicy(
    allow=["orders.*", "resource:orders://*"],
    deny=["orders.delete", "resource:orders://internal*"],
    where={"orders.refund": within_budget},
)
# endregion

# region server
server = MCPServer("orders", access=policy)


@server.tool(name="orders.find")
def find(order_id: int) -> str:
    """Find an order."""
    return f"order {order_id}"


@server.tool(name="orders.delete")
def delete(order_id: int) -> str:
    """Delete an order: nobody learns that this exists."""
    return f"deleted {order_id}"


# endregion


@server.tool(name="orders.refund")
def refund(order_id: int, amount: int = 10) -> str:
    """Give money back."""
    return f"refunded {amount}"


@server.resource("orders://{name}")
def order(name: str) -> str:
    """One order."""
    return f"order {name}"


# region approve
async def ask_the_team(request: ApprovalRequest) -> Decision:
    """Ask somebody, however you do that; this one only approves single orders."""
    return Decision(len(request.arguments["order_ids"]) == 1, by="ann@example.com")


@server.tool(name="orders.archive", approve=ask_the_team)
def archive(order_ids: list[int]) -> str:
    """Archive orders."""
    return f"archived {len(order_ids)}"


# endregion


# region decide
def decide(
    principal: Principal | None, action: str, target: str, arguments: Mapping[str, Any] | None
) -> bool:
    """Where a policy engine is asked; here, everybody may look, and only Ann may act."""
    return action.endswith("/list") or (principal is not None and principal.subject == "ann")


engine = MCPServer("engine", access=AccessPolicy(decide=decide))
# endregion


@engine.tool
def look() -> str:
    """Look."""
    return "looked"
