"""How arguments are judged, as one frozen value (requirements A8, A16, B3, C10, D1, D3).

The law of the file: an unset field is `INHERIT`; a tool's gate is laid over the server's, and that over
the defaults, once, at registration.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, get_args

import msgspec

from typegate.contract.problems import ProblemFormat
from typegate.contract.repair import RepairMode
from typegate.errors import ConfigurationError, InvalidArguments

__all__ = ["DEFAULT_GATE", "INHERIT", "Gate", "Inherit"]


class Inherit:
    """The type of `INHERIT`: a field that was left to the next gate out."""

    def __repr__(self) -> str:
        return "INHERIT"


INHERIT: Final = Inherit()


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """How the arguments of a call are judged, for the server or for one tool.

    Attributes:
        unknown: `"forbid"` refuses an argument that the tool does not have, at every depth;
            `"ignore"` drops it, and the published schema allows it.
        failure: `"tool_error"` answers refused arguments with a result flagged `isError`, as the
            newest specification asks; `"protocol_error"` with JSON-RPC error -32602.
        rejected_as_error: whether a `Rejected` is flagged `isError`.
        repair: what is decoded that arrived as JSON text where the schema admits no string:
            `"containers"` (arrays and objects), `"all"` (numbers and booleans too) or `"none"`.
        nulls: `"refuse"` refuses a null that the schema does not admit; `"default"` takes it for leaving
            out what may be left out, as clients in OpenAI's strict mode mean it.
        problem_format: `"typegate"`, or `"rfc9457"` for problem details.
        on_invalid: asked before arguments are refused: takes the `InvalidArguments` and returns what to
            answer (a `ToolResult`, a `Problem`, or a text) or `None` for the usual refusal; sync or async.

    Raises:
        ConfigurationError: a field has a value that it cannot have.
    """

    unknown: Literal["forbid", "ignore"] | Inherit = INHERIT
    failure: Literal["tool_error", "protocol_error"] | Inherit = INHERIT
    rejected_as_error: bool | Inherit = INHERIT
    repair: RepairMode | Inherit = INHERIT
    nulls: Literal["refuse", "default"] | Inherit = INHERIT
    problem_format: ProblemFormat | Inherit = INHERIT
    on_invalid: Callable[[InvalidArguments], Any] | Inherit | None = INHERIT

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value is not INHERIT and value not in allowed:
                raise ConfigurationError(f"Gate({name}=) must be {' or '.join(map(repr, allowed))}")
        hook = self.on_invalid
        if not (hook is INHERIT or hook is None or callable(hook)):
            raise ConfigurationError("Gate(on_invalid=) must be a function or None")

    def over(self, outer: "Gate") -> "Gate":
        """This gate, with what it leaves unset taken from *outer*."""
        own = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(
            outer, **{name: value for name, value in own.items() if value is not INHERIT}
        )


_ALLOWED: Final[dict[str, tuple[Any, ...]]] = {
    "unknown": ("forbid", "ignore"),
    "failure": ("tool_error", "protocol_error"),
    "rejected_as_error": (True, False),
    "repair": get_args(RepairMode),
    "nulls": ("refuse", "default"),
    "problem_format": get_args(ProblemFormat),
}

DEFAULT_GATE: Final = Gate(
    unknown="forbid",
    failure="tool_error",
    rejected_as_error=True,
    repair="containers",
    nulls="refuse",
    problem_format="typegate",
    on_invalid=None,
)
"""What holds where nobody said otherwise."""
