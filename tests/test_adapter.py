"""What `typegate.contract.adapter` promises: one type, read and written by rules that hold at every depth."""

import datetime as dt
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from typegate.contract.adapter import adapt_fields, described


class Stamp(BaseModel):
    mark: bytes = b"\xfb\xff"


class Letter(TypedDict):
    stamp: Stamp


def published(hint: Any, default: Any = ..., name: str = "x") -> Any:
    """The schema of one member of an object."""
    fields = {name: described(hint, None, default, None)}
    return adapt_fields("tool", fields).json_schema("validation")["properties"][name]


@pytest.mark.parametrize(
    ("hint", "default", "written"),
    [
        (Stamp, Stamp(), {"mark": "+/8="}),
        (Letter, {"stamp": Stamp()}, {"stamp": {"mark": "+/8="}}),
        (list[Letter], [{"stamp": Stamp()}], [{"stamp": {"mark": "+/8="}}]),
        (tuple[bytes, ...], (b"\xfb",), ["+w=="]),
        (dict[dt.date, dt.timedelta], {dt.date(2026, 1, 3): dt.timedelta(minutes=5)}, {"2026-01-03": "PT5M"}),
    ],
    ids=repr,
)
def test_a_default_is_published_as_a_caller_would_send_it(hint: Any, default: Any, written: Any) -> None:
    """However deep a part of it lies, it is written by the rules of its type."""
    assert published(hint, default)["default"] == written
