"""Functions whose hints are all strings (case O-SCH-4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional

from pydantic import BaseModel, Field

from typegate import Context, MCPServer


def pick(
    ctx: Context,
    mode: Annotated[Literal["fast", "slow"], Field(description="speed")],
    note: Optional[str] = None,  # noqa: UP045  (the form that the case is about)
) -> str:
    """Pick a mode."""
    assert isinstance(ctx, Context)
    return mode


def build(server: MCPServer, wrapper: Callable[[Any], Any]) -> None:
    """Register a tool whose hint names a class that only this function knows."""

    class Row(BaseModel):
        v: int

    @server.tool
    @wrapper
    def take(row: Row, ctx: Context | None = None) -> str:
        assert isinstance(ctx, Context)
        return type(row).__name__


def lost(row: Nowhere, ctx: Context | None = None) -> str:  # type: ignore[name-defined]  # noqa: F821
    """Name a class that does not exist."""
    return ""
