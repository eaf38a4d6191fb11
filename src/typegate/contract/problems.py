"""The texts of refusals: one shape, whoever refuses (requirement B4).

The law of the file: a text names the argument, says what was expected and what to send instead. It never
repeats the value that was sent; an unknown name is repeated, cut short and made printable, since without
it nobody could mend the call.
"""

import difflib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from typegate.text import shown
from typegate.types import Issue, Json, Problem

__all__ = [
    "MAX_ISSUES",
    "Path",
    "ProblemFormat",
    "closest",
    "describe",
    "invalid_arguments",
    "missing",
    "problem_text",
    "quoted",
    "rendered",
    "type_name",
    "unexpected",
    "unknown",
    "violated",
    "with_closest",
]

Path = tuple[str | int, ...]
ProblemFormat = Literal["typegate", "rfc9457"]

_MAX_CHOICES: Final = 20
_MAX_TOLD: Final = 200  # characters that are spent on the members of an object

_FORMATS: Final = {
    "date": "a date in the form YYYY-MM-DD, for example 2026-11-30",
    "date-time": "a date and time in the form YYYY-MM-DDTHH:MM:SSZ, for example 2026-11-30T14:05:00Z",
    "time": "a time in the form HH:MM:SS, for example 14:05:00",
    "duration": "a duration in the form PnDTnHnMnS, for example PT5M",
    "uuid": "a UUID, for example 123e4567-e89b-12d3-a456-426614174000",
    "uuid1": "a UUID of version 1, for example 2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d",
    "uuid3": "a UUID of version 3, for example 6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "uuid4": "a UUID of version 4, for example 123e4567-e89b-42d3-a456-426614174000",
    "uuid5": "a UUID of version 5, for example 886313e1-3b8a-5372-9b90-0c9aee199e5d",
    "uuid6": "a UUID of version 6, for example 1ec9414c-232a-6b00-b3c8-9f6bdeced846",
    "uuid7": "a UUID of version 7, for example 017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "uuid8": "a UUID of version 8, for example 320c3d4d-cc00-875b-8ec9-32d5f69181c0",
    "email": "an email address, for example name@example.com",
    "uri": "a URI, for example https://example.com/",
    "ipv4": "an IPv4 address, for example 192.0.2.1",
    "ipv6": "an IPv6 address, for example 2001:db8::1",
}


# --- words ---------------------------------------------------------------------------------------


def quoted(path: Path) -> str:
    """A path as it is written for the model: `'filters.tags[2]'`."""
    text = ""
    for index, step in enumerate(path):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{shown(step)}" if index else shown(step)
    return f"'{text}'"


def type_name(value: Json) -> str:
    """The JSON type of a decoded value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "number"


def _choices(options: Sequence[Json]) -> str:
    words = [f"'{option}'" if isinstance(option, str) else _json_word(option) for option in options]
    return ", ".join(words if len(words) <= _MAX_CHOICES else [*words[:_MAX_CHOICES], "…"])


def _json_word(value: Json) -> str:
    if isinstance(value, dict | list):
        return type_name(value)
    return json.dumps(value)


def describe(schema: Json) -> str:
    """What a schema accepts, in words."""
    if not isinstance(schema, Mapping):
        return "nothing" if schema is False else "any value"
    if "enum" in schema:
        options = schema["enum"]
        return f"one of {_choices(options)}" if len(options) > 1 else _choices(options)
    if "const" in schema:
        return _choices([schema["const"]])
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(describe(branch) for branch in schema[key]))
    return _described_type(schema)


def _described_type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "any value")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if words == "object" and schema.get("properties"):
        words = f"object with {_members(schema)}"
    for lower, upper, counted in _BOUNDS:
        words += _range(_bound(schema, lower), _bound(schema, upper), counted)
    if "multipleOf" in schema:
        words += f", a multiple of {schema['multipleOf']}"
    if "pattern" in schema:
        words += f" matching {schema['pattern']}"
    if schema.get("contentEncoding") == "base64":
        words = "base64 text, for example aGVsbG8="
    elif schema.get("contentMediaType") == "application/json":
        words = f"JSON text of {describe(schema.get('contentSchema', True))}"
    elif words.startswith("array"):
        words += _items(schema, words == "array")
    example = next(iter(schema.get("examples", ())), None)
    if isinstance(example, str | int | float) and "for example" not in words:
        words += f", for example {example if isinstance(example, str) else _json_word(example)}"
    return words


def _members(schema: Mapping[str, Any]) -> str:
    """The members that must be given, with what they are where that is short."""
    properties = schema["properties"]
    names = schema.get("required") or list(properties)
    told = ", ".join(f"'{name}' ({describe(properties.get(name, True))})" for name in names)
    return told if schema.get("required") and len(told) <= _MAX_TOLD else _choices(names)


def _items(schema: Mapping[str, Any], unbounded: bool) -> str:
    """What stands in an array, after how many."""
    item = schema.get("items")
    if schema.get("prefixItems"):
        rest = f", then {describe(item)} any number of times" if item else ""
        return f": {', '.join(describe(each) for each in schema['prefixItems'])}{rest}"
    if not isinstance(item, Mapping) or not item:
        return ""
    return f" of {describe(item)}" if unbounded else f", each {describe(item)}"


_BOUNDS: Final = (
    (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"), ""),
    (("minLength",), ("maxLength",), "character"),
    (("minItems",), ("maxItems",), "item"),
    (("minProperties",), ("maxProperties",), "entry"),
)
"""Lower and upper keywords, and what they count."""


_EXCLUSIVE: Final = {"exclusiveMinimum": "more than", "exclusiveMaximum": "less than"}


def _bound(schema: Mapping[str, Any], keywords: tuple[str, ...]) -> Json:
    """The narrowest of the bounds that are given; an exclusive one is words."""
    given = [(schema[keyword], keyword in _EXCLUSIVE, keyword) for keyword in keywords if keyword in schema]
    if not given:
        return None
    narrowest = max if keywords[0].startswith("min") else min
    value = narrowest(entry[0] for entry in given)
    exclusive = next((keyword for bound, is_out, keyword in given if is_out and bound == value), None)
    return f"{_EXCLUSIVE[exclusive]} {value}" if exclusive else value


def _range(low: Json, high: Json, counted: str) -> str:
    if low is None and high is None:
        return ""
    if counted:
        counted = f" {counted}" if high == 1 or (high is None and low == 1) else f" {_plural(counted)}"
    if low is not None and low == high:
        return f" with exactly {low}{counted}" if counted else f" equal to {low}"
    if low is not None and high is not None:
        return f" with {low} to {high}{counted}" if counted else f" from {low} to {high}"
    if high is None:
        end = str(low) if str(low).startswith("more") else f"at least {low}"
    else:
        end = str(high) if str(high).startswith("less") else f"at most {high}"
    return f" with {end}{counted}" if counted else f" of {end}"


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def closest(name: str, known: Iterable[Json]) -> str | None:
    """The name that was probably meant, if one is near enough."""
    by_folded = {each.casefold(): each for each in known if isinstance(each, str)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return by_folded[found[0]] if found else None


# --- issues --------------------------------------------------------------------------------------


def missing(path: Path, expected: str | None = None, word: str = "argument") -> Issue:
    """Something required is not there; *word* says what a top-level one is called."""
    word = word if len(path) == 1 else "field"
    return Issue(
        path=path,
        code="missing",
        message=f"missing required {word} {quoted(path)}",
        expected=expected,
    )


def unexpected(path: Path, known: Iterable[str], word: str = "argument") -> Issue:
    """A name that does not exist here; the closest real one is suggested."""
    names = list(known)
    word = word if len(path) == 1 else "field"
    close = closest(str(path[-1]), names)
    hint = _did_you_mean(close)
    expected = f"'{close}'" if close else (f"one of {_choices(names)}" if names else "no arguments")
    return Issue(
        path=path, code="unexpected", message=f"unexpected {word} {quoted(path)}{hint}", expected=expected
    )


def violated(
    keyword: str, path: Path, fact: Json, expected: str, value: Json, whole: str = "the arguments"
) -> Issue:
    """A value breaks one keyword of its schema.

    Args:
        keyword: the JSON Schema keyword.
        path: where.
        fact: the keyword's own value.
        expected: what its schema accepts, in words.
        value: what was sent: only its type, or a close match to it, is said.
        whole: what the value at the root is called.
    """
    code, say = _RULES.get(keyword, (keyword, None))
    said = f"must be {expected}" if say is None else say(fact, value)
    return Issue(path=path, code=code, message=f"{quoted(path) if path else whole} {said}", expected=expected)


def with_closest(issue: Issue, value: Json, options: Sequence[Json]) -> Issue:
    """The same, with the option that was probably meant."""
    close = closest(value, options) if isinstance(value, str) else None
    return (
        issue
        if close is None
        else msgspec.structs.replace(issue, message=f"{issue.message}{_did_you_mean(close)}")
    )


def _did_you_mean(close: str | None) -> str:
    return f"; did you mean '{close}'?" if close else ""


def _number(phrase: str) -> Callable[[Json, Json], str]:
    return lambda fact, value: f"must be {phrase} {fact}"


def _count(phrase: str, word: str) -> Callable[[Json, Json], str]:
    return lambda fact, value: f"must have {phrase} {fact} {word if fact == 1 else _plural(word)}"


def _type(fact: Json, value: Json) -> str:
    words = " or ".join(fact) if isinstance(fact, list) else fact
    return f"must be {words}, got {type_name(value)}"


def _enum(fact: Json, value: Json) -> str:
    options = fact if isinstance(fact, list) else [fact]
    close = closest(value, options) if isinstance(value, str) else None
    hint = _did_you_mean(close)
    return f"must be {'one of ' if len(options) > 1 else ''}{_choices(options)}{hint}"


def _format(fact: Json, value: Json) -> str:
    return f"must be {_FORMATS.get(fact, f'in the format {fact}')}"


def _fixed(text: str) -> Callable[[Json, Json], str]:
    return lambda fact, value: text


_RULES: Final[dict[str, tuple[str, Callable[[Json, Json], str]]]] = {
    "type": ("type", _type),
    "enum": ("enum", _enum),
    "const": ("enum", _enum),
    "format": ("format", _format),
    "pattern": ("pattern", lambda fact, value: f"must match the pattern {fact}"),
    "minimum": ("greater_than_equal", _number("greater than or equal to")),
    "maximum": ("less_than_equal", _number("less than or equal to")),
    "exclusiveMinimum": ("greater_than", _number("greater than")),
    "exclusiveMaximum": ("less_than", _number("less than")),
    "multipleOf": ("multiple_of", _number("a multiple of")),
    "minLength": ("too_short", _count("at least", "character")),
    "maxLength": ("too_long", _count("at most", "character")),
    "minItems": ("too_few", _count("at least", "item")),
    "maxItems": ("too_many", _count("at most", "item")),
    "minProperties": ("too_few", _count("at least", "entry")),
    "maxProperties": ("too_many", _count("at most", "entry")),
    "uniqueItems": ("unique", _fixed("must not hold the same item twice")),
    "contains": ("contains", _fixed("lacks an item that it must hold")),
    "maxContains": ("too_many", lambda fact, value: f"holds more than {fact} of the items that it must hold"),
    "contentEncoding": ("format", _fixed("must be base64 text")),
    "not": ("not", _fixed("has a form that is not allowed")),
    "oneOf": ("one_of", _fixed("fits more than one of the forms, of which it must fit exactly one")),
    "range": ("out_of_range", _fixed("must be a number that fits 64-bit floating point")),
    "false": ("unexpected", _fixed("is not allowed here")),
}
"""JSON Schema keyword -> our code, and what the text says after the argument's name."""


# --- problems ------------------------------------------------------------------------------------


MAX_ISSUES: Final = 100
"""How many issues a refusal has at most."""

_MAX_SAID: Final = 20
"""How many of them its text says: who mends these learns of the others next."""


def invalid_arguments(name: str, issues: Sequence[Issue]) -> Problem:
    """The refusal of a call whose arguments were judged and found wrong."""
    said = issues[:_MAX_SAID]
    words = [issue.message for issue in said]
    if len(issues) > len(said):
        more = len(issues) - len(said)
        words.append(f"and {more} more" if len(issues) < MAX_ISSUES else f"and at least {more} more")
    message = f"Invalid arguments for '{shown(name)}': {'; '.join(words)}"
    return Problem(code="invalid_arguments", message=message, hint=_mend(said), issues=tuple(issues))


def _mend(issues: Sequence[Issue]) -> str:
    """What to send instead, argument by argument."""
    renamed = {quoted(_better(issue)) for issue in issues if issue.code == "unexpected"}
    wanted = [each for each in issues if each.code != "missing" or quoted(each.path) not in renamed]
    changes = list(dict.fromkeys(filter(None, map(_change, wanted))))
    return f"Call again with {'; '.join(changes)}." if changes else "Correct the arguments and call again."


def _better(issue: Issue) -> Path:
    """The path of the name that was meant by one that does not exist; empty where none is known."""
    expected = issue.expected or ""
    return (*issue.path[:-1], expected[1:-1]) if expected.startswith("'") else ()


def _change(issue: Issue) -> str | None:
    where = quoted(issue.path) if issue.path else "the arguments"
    if issue.code == "unexpected":
        better = _better(issue)
        return f"{quoted(better)} in place of {where}" if better else f"{where} left out"
    if issue.expected is None:
        return f"{where} given" if issue.code == "missing" else None
    return f"{where} as {issue.expected}"


def problem_text(problem: Problem) -> str:
    """A problem as the model reads it: what is wrong, and what to do."""
    return f"{problem.message}\n{problem.hint}" if problem.hint else problem.message


def unknown(kind: str, name: str, known: Iterable[str], method: str) -> Problem:
    """A name that the caller cannot have: the closest of those that exist for it is suggested.

    Args:
        kind: `tool`, `prompt` or `resource`.
        name: what was asked for.
        known: the names that this caller may know of.
        method: what lists them.
    """
    close = closest(name, known)
    hint = f"Did you mean '{close}'? " if close else ""
    return Problem(
        code=f"unknown_{kind}",
        message=f"Unknown {kind}: {shown(name)}",
        hint=f"{hint}{method} has the names.",
    )


_TITLES: Final = {
    "invalid_arguments": ("Invalid arguments", 422),
    "invalid_result": ("The tool gave a result that its schema does not admit", 500),
    "tool_failed": ("The tool failed", 500),
    "failed": ("The server failed", 500),
    "parse_error": ("The message is not JSON", 400),
    "invalid_request": ("The message is no request", 400),
    "invalid_params": ("Invalid params", 400),
    "invalid_cursor": ("Invalid cursor", 400),
    "unsupported_protocol_version": ("Unsupported protocol version", 400),
    "unknown_method": ("There is no such method", 404),
    "denied": ("Not allowed", 403),
    "not_approved": ("Not approved", 403),
    "too_large": ("Too large", 413),
    "rate_limited": ("Too many calls", 429),
    "busy": ("The server is busy", 503),
    "timed_out": ("The function took too long", 504),
    "unknown_tool": ("There is no such tool", 404),
    "unknown_prompt": ("There is no such prompt", 404),
    "unknown_resource": ("There is no such resource", 404),
}
"""Code of a problem -> its title and status as RFC 9457 wants them; those of authors are at the end."""

_OF_AUTHORS: Final = ("The tool refused the call", 422)


def rendered(problem: Problem, form: ProblemFormat = "typegate") -> dict[str, Json]:
    """A problem as it travels: in our own form, or as problem details (RFC 9457, section 3)."""
    made: dict[str, Json] = msgspec.to_builtins(problem)
    if form == "typegate":
        return made
    title, status = _TITLES.get(problem.code, _OF_AUTHORS)
    detail = made.pop("message")
    kind = f"urn:typegate:problem:{problem.code}"
    return {"type": kind, "title": title, "status": status, "detail": detail, **made}
