"""Who may know of what: the scopes that a component asks for.

The law of the file: a component that a caller may not use does not exist for that caller. Listings and
look-ups ask the same question, so that hidden and unknown cannot be told apart.
"""

from typegate.types import Principal

__all__ = ["admits"]


def admits(scopes: frozenset[str], principal: Principal | None) -> bool:
    """Whether a caller has all the *scopes*; nobody in particular has none."""
    return not scopes or (principal is not None and scopes <= principal.scopes)
