"""A library, with mistakes that `typegate check` finds."""

from pathlib import Path

from typegate import MCPServer

server = MCPServer("library")


@server.tool
def find_loans(due_date: str, limit: int = 20) -> list[str]:
    """Say who has which book.

    Args:
        due_date: When the books are to be back.
    """
    try:
        return Path("loans", due_date).read_text().splitlines()[:limit]
    except OSError:
        return []


@server.tool  # typegate: ignore[TG204]
def delete_loan(loan_id: int) -> str:
    """Forget a loan.

    Args:
        loan: The number of the loan.
    """
    return f"{loan_id} is forgotten"
