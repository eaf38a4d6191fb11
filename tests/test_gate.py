"""What `typegate.contract.gate` promises: one frozen value, laid over another field by field."""

from typing import Any

import msgspec
import pytest

from typegate.contract.gate import DEFAULT_GATE, INHERIT, Gate, Inherit
from typegate.errors import ConfigurationError

ALLOWED: dict[str, tuple[Any, ...]] = {
    "unknown": ("forbid", "ignore"),
    "failure": ("tool_error", "protocol_error"),
    "rejected_as_error": (True, False),
    "repair": ("containers", "all", "none"),
    "nulls": ("refuse", "default"),
    "problem_format": ("typegate", "rfc9457"),
    "on_invalid": (None, print),
}
"""Field → what it may be, the default first."""

SETTINGS = [
    pytest.param(name, value, id=f"{name}-{number}")
    for name, values in ALLOWED.items()
    for number, value in enumerate(values)
]
REFUSED: list[tuple[str, Any, str]] = [
    ("unknown", "allow", "Gate(unknown=) must be 'forbid' or 'ignore'"),
    ("unknown", "Forbid", "Gate(unknown=) must be 'forbid' or 'ignore'"),
    ("unknown", "", "Gate(unknown=) must be 'forbid' or 'ignore'"),
    ("unknown", None, "Gate(unknown=) must be 'forbid' or 'ignore'"),
    ("failure", "forbid", "Gate(failure=) must be 'tool_error' or 'protocol_error'"),
    ("failure", ["tool_error"], "Gate(failure=) must be 'tool_error' or 'protocol_error'"),
    ("rejected_as_error", "yes", "Gate(rejected_as_error=) must be True or False"),
    ("rejected_as_error", None, "Gate(rejected_as_error=) must be True or False"),
    ("repair", True, "Gate(repair=) must be 'containers' or 'all' or 'none'"),
    ("nulls", None, "Gate(nulls=) must be 'refuse' or 'default'"),
    ("problem_format", "rfc7807", "Gate(problem_format=) must be 'typegate' or 'rfc9457'"),
    ("on_invalid", "hook", "Gate(on_invalid=) must be a function or None"),
]


def values(gate: Gate) -> dict[str, Any]:
    """Every field of a gate."""
    return msgspec.structs.asdict(gate)


def test_what_is_left_out_is_left_to_the_next_gate() -> None:
    """Every field of a new gate is the one marker, which says so by its name."""
    assert values(Gate()) == dict.fromkeys(ALLOWED, INHERIT)
    assert isinstance(INHERIT, Inherit)
    assert repr(INHERIT) == "INHERIT"


def test_where_nobody_says_otherwise_the_gate_is_shut() -> None:
    """Unknown arguments are refused, and a refusal is a result flagged as an error."""
    assert values(DEFAULT_GATE) == {name: allowed[0] for name, allowed in ALLOWED.items()}


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_a_field_takes_its_words(name: str, value: Any) -> None:
    """The others stay unset."""
    assert values(Gate(**{name: value})) == {**values(Gate()), name: value}


@pytest.mark.parametrize(("name", "value", "text"), REFUSED)
def test_a_field_takes_nothing_else(name: str, value: Any, text: str) -> None:
    """The error names the field and what it may be."""
    with pytest.raises(ConfigurationError) as caught:
        Gate(**{name: value})
    assert str(caught.value) == text


def test_a_gate_is_made_by_name() -> None:
    """What a value is for is written beside it."""
    with pytest.raises(TypeError):
        Gate("forbid")  # type: ignore[misc]


def test_a_gate_is_frozen() -> None:
    """It may be shared: nobody can change it."""
    gate = Gate(unknown="ignore")
    with pytest.raises(AttributeError):
        gate.unknown = "forbid"  # type: ignore[misc]
    assert gate == Gate(unknown="ignore")


@pytest.mark.parametrize(("name", "value"), SETTINGS)
@pytest.mark.parametrize("outer", [None, 0, 1])
def test_what_is_set_goes_before_what_is_further_out(name: str, value: Any, outer: int | None) -> None:
    """Whatever the outer gate says of the field, and its other fields are kept."""
    others = {key: allowed[0] for key, allowed in ALLOWED.items() if key != name}
    below = Gate(**others, **({} if outer is None else {name: ALLOWED[name][outer]}))
    assert Gate(**{name: value}).over(below) == Gate(**others, **{name: value})


def test_an_empty_gate_changes_nothing() -> None:
    """Over another one or under it."""
    gate = Gate(failure="protocol_error", rejected_as_error=False)
    assert Gate().over(gate) == gate
    assert gate.over(Gate()) == gate
    assert Gate().over(Gate()) == Gate()


def test_the_order_in_which_gates_are_laid_makes_no_difference() -> None:
    """A tool's over the server's over the defaults, from either end."""
    tool, server = Gate(unknown="ignore"), Gate(unknown="forbid", failure="protocol_error")
    wanted = Gate(unknown="ignore", failure="protocol_error").over(DEFAULT_GATE)
    assert tool.over(server).over(DEFAULT_GATE) == wanted
    assert tool.over(server.over(DEFAULT_GATE)) == wanted
    assert (tool, server) == (Gate(unknown="ignore"), Gate(unknown="forbid", failure="protocol_error"))
