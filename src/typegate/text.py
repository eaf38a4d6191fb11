"""Words that come from outside, made safe to pass on.

The law of the file: pure functions on strings and on JSON values; what they return can be written as
UTF-8 and read by a person.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["shown", "without_surrogates"]

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def shown(name: str, limit: int = 64) -> str:
    """A client's own word, made safe to repeat: printable and cut short."""
    if len(name) <= limit and name.isprintable():
        return name
    printable = "".join(char if char.isprintable() else "?" for char in name[:limit])
    return f"{printable}…" if len(name) > limit else printable


def without_surrogates(value: Any) -> Any:
    """A plain copy in which U+FFFD stands for each half of a surrogate pair, which has no UTF-8 form.

    Strings with such halves come from file names that are not UTF-8 (`os.listdir`).
    """
    if isinstance(value, str):
        plain = str.__str__(value)
        return plain if plain.isascii() else _SURROGATES.sub("\ufffd", plain)
    if isinstance(value, Mapping):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [without_surrogates(item) for item in value]
    return value
