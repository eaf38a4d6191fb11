"""How arguments are judged, as one frozen value (requirements A8, A16, B3).

The law of the file: an unset field is `INHERIT`; a tool's gate is laid over the server's, and that over
the defaults, once, at registration.
"""

from typing import Any, Final, Literal

import msgspec

from typegate.errors import ConfigurationError

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
        repair: not part of this version.
        problem_format: not part of this version.
        on_invalid: not part of this version.

    Raises:
        ConfigurationError: a field has a value that it cannot have.
    """

    unknown: Literal["forbid", "ignore"] | Inherit = INHERIT
    failure: Literal["tool_error", "protocol_error"] | Inherit = INHERIT
    rejected_as_error: bool | Inherit = INHERIT
    repair: Inherit = INHERIT
    problem_format: Inherit = INHERIT
    on_invalid: Inherit = INHERIT

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value is not INHERIT and value not in allowed:
                words = " or ".join(map(repr, allowed)) or "left out: it is not part of this version"
                raise ConfigurationError(f"Gate({name}=) must be {words}")

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
    "repair": (),
    "problem_format": (),
    "on_invalid": (),
}

DEFAULT_GATE: Final = Gate(unknown="forbid", failure="tool_error", rejected_as_error=True)
"""What holds where nobody said otherwise."""
