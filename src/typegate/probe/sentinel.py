"""A server whose tools only tell that they were reached.

The law of the file: everything before an author's function stays as it is, from the transport to the gate.
Each time a function would run, one byte is appended to a file, which the probe looks at after every answer.
"""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from typegate.app import MCPServer
from typegate.contract.results import plan_results
from typegate.server.components import Callback, ToolPlan
from typegate.server.registry import Registry
from typegate.types import Json

__all__ = ["REACHED", "RULES_KEY", "arm"]

RULES_KEY: Final = "dev.typegate/rules"
"""Where the listing of an armed tool holds what its gate takes although it is not published."""

REACHED: Final = "reached"
"""What a sentinel returns."""


def arm(server: MCPServer, record: Path, live: bool) -> None:
    """Put a sentinel in the place of every tool's function, of later tools as well.

    Args:
        server: the server; it is changed.
        record: the file that tells how often a function was reached.
        live: let the function run after all.
    """
    armed = _Armed(record, live)
    for plan in server.catalogue.tools:
        armed.add(plan)
    server.catalogue.tools = armed


class _Armed(Registry[ToolPlan]):
    """A registry in which every tool is armed."""

    def __init__(self, record: Path, live: bool) -> None:
        super().__init__("tool", "replace")
        self._record = record
        self._live = live

    def add(self, plan: ToolPlan) -> bool:
        """Register *plan*, armed."""
        reach = functools.partial(_append, self._record)
        changes: dict[str, Json] = {"listed": _with_rules(plan)}
        if self._live:
            changes["callback"] = _counted(plan.callback, reach)
        else:
            changes["callback"] = Callback(function=_sentinel(reach), inline=True)
            changes["results"] = plan_results(plan.key, str, wanted=False)
        return super().add(msgspec.structs.replace(plan, **changes))


def _with_rules(plan: ToolPlan) -> Json:
    rules: dict[str, Json] = {"repair": plan.gate.repair, "nulls": plan.gate.nulls, "types": None}
    if plan.options.schema is None:  # a schema of the author's own offers all of its nulls itself
        rules["types"] = plan.arguments.reader.json_schema("validation")
    return msgspec.structs.replace(plan.listed, meta={**(plan.listed.meta or {}), RULES_KEY: rules})


def _append(record: Path) -> None:
    descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b".")
    finally:
        os.close(descriptor)


def _sentinel(reach: Callable[[], None]) -> Callable[..., str]:
    def sentinel(**_: Json) -> str:
        reach()
        return REACHED

    return sentinel


def _counted(callback: Callback, reach: Callable[[], None]) -> Callback:
    """The callback of a function that is counted before it runs."""

    @functools.wraps(callback.function)
    def counted(*args: Json, **kwargs: Json) -> Json:
        reach()
        return callback.function(*args, **kwargs)

    return msgspec.structs.replace(callback, function=counted)
