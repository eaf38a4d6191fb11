"""Every property at two lengths: a short one for the inner loop, and a thorough one marked `slow`."""

import functools
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

__all__ = ["holds_for"]

QUICK = 60
THOROUGH = 2000
COMMON: dict[str, Any] = {
    "deadline": None,
    "derandomize": bool(os.environ.get("CI")),  # there, the same code has the same outcome every time
    "suppress_health_check": (HealthCheck.too_slow, HealthCheck.data_too_large),
    "phases": tuple(phase for phase in Phase if phase is not Phase.explain),  # which takes minutes here
}


def holds_for(
    *strategies: st.SearchStrategy[Any], quick: int = QUICK
) -> Callable[[Callable[..., None]], Any]:
    """Make a test of *check*, which is called with one value of each strategy, again and again."""

    def decorate(check: Callable[..., None]) -> Any:

        @pytest.mark.parametrize("examples", [quick, pytest.param(THOROUGH, marks=pytest.mark.slow)])
        def test(examples: int) -> None:
            settings(max_examples=examples, **COMMON)(given(*strategies)(check))()

        functools.update_wrapper(test, check)
        del test.__wrapped__  # pytest would ask for the arguments of *check*
        test.check, test.strategies = check, strategies  # type: ignore[attr-defined]
        return test

    return decorate
