"""Any value → strict JSON, or the place where it is none and why.

The law of the file: a value is written once, and never with a silent loss: no null for a NaN, no text for a
number without end, no key over another.
"""

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec

from typegate.contract import problems
from typegate.contract.adapter import foreign, has_endless_decimal, has_non_finite, is_non_finite
from typegate.errors import InvalidResult
from typegate.text import without_surrogates
from typegate.types import Json

__all__ = [
    "ENDLESS",
    "Encode",
    "encode",
    "encode_with_numbers",
    "refuse_endless_decimals",
    "refuse_lost_keys",
    "refuse_streaming",
    "sound_meta",
    "to_json",
    "to_text",
    "unwritable",
    "written",
]

Encode = Callable[[Any], bytes]


def to_json(value: Any) -> bytes:
    """Any value as compact JSON: dates in ISO form, bytes as base64, dataclasses and models as objects.

    Raises:
        InvalidResult: it cannot be written; the text names the place.
    """
    raw = written(value, encode)
    refuse_lost_keys(raw)
    refuse_endless_decimals(raw, value)
    return raw


def written(value: Any, encoder: Encode) -> bytes:
    """The same, where what the two last steps look for cannot be, or will be looked for."""
    try:
        raw = encoder(value)
    except UnicodeEncodeError:
        return written(without_surrogates(_as_tree(value)), encoder)
    except _NonFiniteError:
        raise _non_finite(value) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise unwritable(value, error) from None
    if b"null" in raw and has_non_finite(value):
        raise _non_finite(value)
    return raw


def refuse_endless_decimals(raw: bytes, value: object) -> None:
    """A `Decimal` without an end is written as a text, which no reader would take for a number."""
    if (b"NaN" in raw or b"Infinity" in raw) and has_endless_decimal(value):
        raise _non_finite(value)


_NUMBER_KEY: Final = re.compile(rb'"-?[0-9][^"]*":')


def refuse_lost_keys(raw: bytes) -> None:
    """Keys that are no strings, such as 1 beside "1", may become the same text."""
    if _NUMBER_KEY.search(raw) is None:
        return
    if msgspec.json.encode(msgspec.json.decode(raw)).count(b":") < raw.count(b":"):
        raise InvalidResult("returned an object with two keys that are the same as text, such as 1 and '1'")


def _as_tree(value: Any) -> Json:
    return msgspec.to_builtins(value, enc_hook=foreign, str_keys=True)


ENDLESS: Final = "returned a value that contains itself, or is nested too deeply"


def to_text(raw: bytes, indent: int | None) -> str:
    """Compact JSON as the model reads it: a string as itself, all else indented."""
    if raw[:1] == b'"':
        return str(msgspec.json.decode(raw))
    if indent is None or raw[:1] not in (b"{", b"["):
        return raw.decode()
    return msgspec.json.format(raw, indent=indent).decode()


class _NonFiniteError(Exception):
    pass


def _hook(value: Any) -> Any:
    """What msgspec does not write by itself; a NaN inside would become a silent null."""
    refuse_streaming(value)
    known = foreign(value)
    if isinstance(known, dict | list) and has_non_finite(known):
        raise _NonFiniteError
    return known


encode = msgspec.json.Encoder(enc_hook=_hook).encode
encode_with_numbers = msgspec.json.Encoder(enc_hook=_hook, decimal_format="number").encode


def refuse_streaming(value: object) -> None:
    """A generator would be lost: it gives its items once, and has no length."""
    if isinstance(value, _STREAMING):
        if isinstance(value, types.GeneratorType | types.CoroutineType):
            value.close()
        raise InvalidResult("returned a generator or an iterator; collect it into a list")


_STREAMING: Final = (types.GeneratorType, types.AsyncGeneratorType, types.CoroutineType, map, filter, zip)


# --- what is wrong, and where --------------------------------------------------------------------


def _non_finite(value: Any) -> InvalidResult:
    place = _place_without_end(value)
    return InvalidResult(_WITHOUT_END if place is None else f"{_WITHOUT_END}, at {place}")


_WITHOUT_END: Final = "returned NaN or an infinity, which JSON cannot hold"


def _place_without_end(value: Any) -> str | None:
    """Where a NaN or an infinity stands, if one does."""
    found = (place for place, _, item in _places(value) if is_non_finite(item))
    return next(found, None)


_MAX_PLACES: Final = 64
"""How deep a value is looked into for what is wrong with it."""


def unwritable(value: Any, error: Exception) -> InvalidResult:
    """The first place that cannot be written, without its value."""
    for place, depth, item in _places(value):
        if is_non_finite(item):
            return InvalidResult(f"{_WITHOUT_END}, at {place}")
        failed = _failure(item)
        if failed is not None:
            said = _what_is_wrong(item)
            endless = depth == _MAX_PLACES or (
                isinstance(failed, RecursionError) and not said.startswith("a key ")
            )
            return InvalidResult(ENDLESS if endless else f"returned what is no JSON: {said} at {place}")
    return InvalidResult(f"returned what is no JSON ({type(error).__name__})")


def _failure(value: object) -> Exception | None:
    """Why a value cannot be written, if it cannot."""
    try:
        encode(value)
    except Exception as error:  # noqa: BLE001  (whatever it is, this is the place)
        return error
    return None


def _what_is_wrong(value: object) -> str:
    """Why a value whose parts can all be written cannot be written itself."""
    if isinstance(value, int):
        return "a number of too many digits"
    if isinstance(value, Mapping):
        wrong = [type(key).__name__ for key in value if _failure({key: None}) is not None]
        if wrong:
            return f"a key of type {wrong[0]}"
    return f"a value of type {type(value).__name__}"


def _places(value: Any, place: str = "$", depth: int = 0) -> Iterator[tuple[str, int, Any]]:
    """Every place inside a value, the innermost first."""
    if depth < _MAX_PLACES:
        for name, item in _inside(value):
            yield from _places(item, place + name, depth + 1)
    yield place, depth, value


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple | AbstractSet):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
        return
    if not isinstance(value, Mapping):
        known = hasattr(type(value), "__pydantic_fields__") or hasattr(type(value), "__dataclass_fields__")
        value = getattr(value, "__dict__", {}) if known else {}
    for key, item in value.items():
        name = f".{problems.quoted((key,))[1:-1]}" if type(key) is str else f"[{type(key).__name__}]"
        yield name, item


# --- _meta ---------------------------------------------------------------------------------------


def sound_meta(meta: Mapping[str, Json]) -> dict[str, Json]:
    """What an author hangs on a result, as JSON.

    Raises:
        InvalidResult: it is none, or is nested deeper than a message may be; the text names the place.
    """
    try:
        made: dict[str, Json] = msgspec.json.decode(to_json(meta))
        if not isinstance(made, dict) or _is_deep(made):
            raise InvalidResult(ENDLESS if isinstance(made, dict) else "returned what is no object at $")
    except (InvalidResult, RecursionError) as error:
        said = ENDLESS if isinstance(error, RecursionError) else str(error)
        place = said.replace("$", "_meta", 1) if "$" in said else f"{said}, in _meta"
        raise InvalidResult(place) from None
    return made


def _is_deep(value: Json) -> bool:
    """Whether more than `_MAX_PLACES` containers lie in one another."""
    level = [value]
    for _ in range(_MAX_PLACES):
        level = [item for node in level for item in _parts(node)]
        if not level:
            return False
    return True


def _parts(node: Json) -> Iterable[Json]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
