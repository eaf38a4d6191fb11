"""A docstring → what the tool does, and what each parameter means (requirement A5).

The law of the file: docstring-parser does the parsing; here its answer is made one text per thing.
"""

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from docstring_parser import Docstring, ParseError, google, numpydoc, rest

__all__ = ["Documentation", "document"]

_SECTION: Final = re.compile(
    r"^\s*(?:(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments)\s*:?\s*$|:\w+ \w+[^:]*:)",
    re.MULTILINE,
)
"""What a parameter section looks like in any of the three styles; without one there is nothing to parse."""

_KEYWORDS: Final = [
    google.Section(title, "param", google.SectionType.MULTIPLE)
    for title in ("Keyword Args", "Keyword Arguments")
]
_READERS: Final[tuple[Callable[[str], Docstring], ...]] = (
    google.GoogleParser([*google.DEFAULT_SECTIONS, *_KEYWORDS]).parse,
    rest.parse,
    numpydoc.parse,
)


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
    parsed = max(_readings(text), key=lambda reading: len(reading.params), default=None)
    if parsed is None or not parsed.params:
        return Documentation(text.strip(), {})
    described = {
        name.strip().lstrip("*"): " ".join(param.description.split())
        for param in parsed.params
        for name in param.arg_name.split(",")
        if param.description
    }
    head = (parsed.description or "").strip()
    return Documentation(head or None, described)


def _readings(text: str) -> Iterator[Docstring]:
    """What each style makes of a docstring; the line before it keeps its first one from standing out."""
    for read in _READERS:
        with contextlib.suppress(ParseError):
            yield read(f"\n{text}")
