"""What `typegate.guards.access` promises: who may know of a component, and nothing in between."""

import itertools

import pytest

from typegate.guards.access import admits
from typegate.types import Principal

SCOPES = ["read", "write", "orders:read"]
SETS = [frozenset(some) for count in range(4) for some in itertools.combinations(SCOPES, count)]


def caller(*scopes: str) -> Principal:
    """Somebody with these scopes."""
    return Principal(subject="c", scopes=frozenset(scopes))


@pytest.mark.parametrize("principal", [None, caller(), caller("read"), caller(*SCOPES)])
def test_what_asks_for_nothing_is_there_for_everyone(principal: Principal | None) -> None:
    """For nobody in particular too."""
    assert admits(frozenset(), principal) is True


@pytest.mark.parametrize("asked", SETS[1:], ids=sorted)
def test_nobody_in_particular_has_no_scopes(asked: frozenset[str]) -> None:
    """Whoever was not verified sees nothing that asks for one."""
    assert admits(asked, None) is False


@pytest.mark.parametrize("held", SETS, ids=sorted)
@pytest.mark.parametrize("asked", SETS, ids=sorted)
def test_a_caller_needs_every_scope(asked: frozenset[str], held: frozenset[str]) -> None:
    """One that is missing is enough to refuse, and more than are asked for do no harm."""
    assert admits(asked, caller(*held)) is all(scope in held for scope in asked)


NEARLY = [("read", "READ"), ("read", "rea"), ("read", "reads"), ("orders:read", "orders"), ("read", "*")]


@pytest.mark.parametrize(("asked", "held"), [*NEARLY, ("read", "orders:read"), ("read", "read write")])
def test_a_scope_is_a_whole_word(asked: str, held: str) -> None:
    """Nothing stands for another one: no part, no case, no pattern, no list in one string."""
    assert admits(frozenset({asked}), caller(held)) is False


def test_claims_are_no_scopes() -> None:
    """Only what was verified as a scope counts."""
    principal = Principal(subject="admin", client="admin", claims={"scopes": ["admin"], "scope": "admin"})
    assert admits(frozenset({"admin"}), principal) is False
