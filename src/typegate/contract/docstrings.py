"""A docstring → what the tool does, and what each parameter means (requirement A5).

The law of the file: docstring-parser does the parsing; here its answer is made one text per thing.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import docstring_parser

__all__ = ["Documentation", "document"]

_SECTION: Final = re.compile(
    r"^\s*(?:(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments)\s*:?\s*$|:\w+ \w+[^:]*:)",
    re.MULTILINE,
)
"""What a parameter section looks like in any of the three styles; without one there is nothing to parse."""


class Documentation(NamedTuple):
    """What a docstring says."""

    description: str | None
    parameters: dict[str, str]


def document(function: Callable[..., Any]) -> Documentation:
    """Read the docstring of *function*: Google, Sphinx or NumPy style, wrapped lines joined.

    The description is the text above the parameter section; one that cannot be parsed is taken whole.
    """
    text = inspect.getdoc(function)
    if not text:
        return Documentation(None, {})
    if _SECTION.search(text) is None:
        return Documentation(text.strip(), {})
    try:
        parsed = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return Documentation(text.strip(), {})
    if not parsed.params:
        return Documentation(text.strip(), {})
    described = {
        param.arg_name.lstrip("*"): " ".join(param.description.split())
        for param in parsed.params
        if param.description
    }
    head = (parsed.description or "").strip()
    return Documentation(head or None, described)
