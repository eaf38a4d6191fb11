"""Prompts, and what completes their arguments."""

from datetime import date
from typing import Literal

from typegate import EmbeddedResource, MCPServer, PromptMessage

server = MCPServer("prompts")


# region derived
@server.prompt
def weekly_review(owner: str, until: date, tone: Literal["short", "full"] = "short") -> str:
    """Review what one person has to do.

    Args:
        owner: Whose tasks to review.
        until: The last day to look at.
        tone: How much to say.
    """
    return f"Give a {tone} review of the tasks of {owner} until {until:%d %B %Y}."


# endregion


# region listed
@server.prompt(title="Explain a delay", arguments=[{"name": "order_id", "required": True}])
def explain_delay(order_id: str) -> list[PromptMessage | str]:
    """Explain why an order is late."""
    terms = EmbeddedResource(uri="shop://terms", text="Delivery within 5 days.", mime_type="text/plain")
    return [
        PromptMessage(terms),
        "Explain the delay.",
        PromptMessage(f"Order {order_id} is", role="assistant"),
    ]


# endregion


# region completion
OWNERS = ["amara", "jonas", "priya"]


@server.completion(weekly_review, "owner")
def complete_owner(value: str) -> list[str]:
    """Complete the name of a team member."""
    return [name for name in OWNERS if name.startswith(value)]


@server.completion("weekly_review", "until")
async def complete_until(value: str, others: dict[str, str]) -> list[str]:
    """Complete a date; the other arguments are there too, as far as they are filled in."""
    return ["2026-12-04"] if others.get("owner") != "jonas" else []


# endregion

if __name__ == "__main__":
    server.run()
