"""RFC 6570 URI templates: parsed once, then `match` reads a URI and `expand` writes one.

The law of this file:

- `expand` is RFC 6570, all four levels, with one addition: a plain `{x*}` given a string keeps its
  slashes, because `match` reads `{x*}` as the path wildcard that authors mean by it. Two things
  that the RFC allows are refused: a variable twice, and percent escapes in a variable's name.
- `match` reads back the form that `expand` writes, with any characters percent-encoded and query
  keys in any order. It takes O(length of the URI x number of variables): a URI has one split, the
  one that the rules below give, and no value makes `match` try another.
- The raw text is split first; then every value is decoded, once; then it is judged. A value that
  is badly encoded, too long for its `{x:n}` or unsafe means no match, as for an unknown resource.

What a variable may take, in raw text:

    {x} {/x} {.x} {;x}    one segment: no `/ ? #` (nor `&`, where the template has a `?` before it)
    {x*}                  a path in one string: no `? #`
    {+x} {#x}             anything
    {/x*} {.x*} {;x*}     a list of segments
    {?x} {&x}             a query value; may be absent; `{?x*}` repeats its key and gives a list

Path variables are never empty (RFC 6570 writes nothing for an undefined one), except `{;x}`.

Who gets which character, when two variables could share the text:

- Variables go from left to right, and each takes the shortest text with which the rest still fits:
  `{a}-{b}` reads `x-y-z` as `x` and `y-z`; `{+a}/{b}` reads `x/y/z` as `x/y` and `z`.
- Refused by `parse`: two variables with no text between them (`{a}{b}`), and two that may both hold
  slashes with only slashes fixed between them (`{+a}/{+b}`, `{p*}/{id}/{q*}`).
- `{?...}` begins at the first `?`. `{&...}` takes the last pairs, as long as it knows their keys.
  A key that is unknown, repeated without `*`, or without `=` means no match.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Self, cast
from urllib.parse import quote, unquote

import msgspec

__all__ = ["MAX_URI", "TemplateError", "UriTemplate", "is_template"]

MAX_URI: Final = 8_192
"""The longest URI that can match, in characters, with its non-ASCII ones percent-encoded."""


class TemplateError(ValueError):
    """A template, or a value to expand, that this module will not guess about."""


class _Writing(msgspec.Struct, frozen=True):
    """One row of RFC 6570 appendix A: how `expand` writes an operator.

    `if_empty` follows a key without value; where variables are not `named`, only the keys of a
    mapping are, and section 3.2.1 always gives them their `=`.
    """

    first: str
    separator: str
    named: bool
    if_empty: str
    kept: str


class _Reading(msgspec.Struct, frozen=True):
    """What `match` lets a variable take: see the table at the head of the file."""

    barred: str  # not in the raw text
    spans: bool = False  # may hold slashes once decoded
    listed: bool = False


_RESERVED: Final = ":/?#[]@!$&'()*+,;="  # RFC 3986 section 2.2
_NOT_YET_OPERATORS: Final = "=,!@|"  # RFC 6570 section 2.2, op-reserve

_WRITINGS: Final = {
    "": _Writing(first="", separator=",", named=False, if_empty="=", kept=""),
    "+": _Writing(first="", separator=",", named=False, if_empty="=", kept=_RESERVED),
    "#": _Writing(first="#", separator=",", named=False, if_empty="=", kept=_RESERVED),
    ".": _Writing(first=".", separator=".", named=False, if_empty="=", kept=""),
    "/": _Writing(first="/", separator="/", named=False, if_empty="=", kept=""),
    ";": _Writing(first=";", separator=";", named=True, if_empty="", kept=""),
    "?": _Writing(first="?", separator="&", named=True, if_empty="=", kept=""),
    "&": _Writing(first="&", separator="&", named=True, if_empty="=", kept=""),
}

_READINGS: Final = {  # operator -> what {x} takes, what {x*} takes
    "": (_Reading("/?#"), _Reading("?#", spans=True)),
    "+": (_Reading("", spans=True), _Reading("", spans=True)),
    "#": (_Reading("", spans=True), _Reading("", spans=True)),
    ".": (_Reading("/?#"), _Reading("/?#", listed=True)),
    "/": (_Reading("/?#"), _Reading("?#", listed=True)),
    ";": (_Reading("/?#"), _Reading("/?#", listed=True)),
    "?": (_Reading("", spans=True), _Reading("", spans=True, listed=True)),
    "&": (_Reading("", spans=True), _Reading("", spans=True, listed=True)),
}

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_VARIABLE: Final = re.compile(
    r"(?P<name>[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)(?:(?P<explode>\*)|:(?P<limit>[1-9][0-9]{0,3}))?"
)
_ESCAPE: Final = re.compile(r"(%[0-9A-Fa-f]{2})")
_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NOT_LITERAL: Final = re.compile(r"[\x00-\x20\x7f-\x9f\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")
_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_NEVER_SAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\\]|\A[A-Za-z]:")


class _Variable(msgspec.Struct, frozen=True):
    """One variable of an expression; `reading` depends on what stands before it."""

    name: str
    operator: str
    explode: bool
    limit: int | None
    reading: _Reading

    @property
    def writing(self) -> _Writing:
        return _WRITINGS[self.operator]


class _Expression(msgspec.Struct, frozen=True):
    """The inside of one pair of braces."""

    operator: str
    variables: tuple[_Variable, ...]


_Parts = tuple[str | _Expression, ...]


class _Pattern(msgspec.Struct, frozen=True):
    """Fixed texts and the variables between them: one more text than variables."""

    literals: tuple[str, ...]
    variables: tuple[_Variable, ...]

    def split(self, text: str) -> list[str] | None:
        """Give each variable the shortest raw text with which the rest still fits.

        One pass from the right finds where each variable would end from every position, and one
        from the left picks; neither ever goes back.
        """
        first, last = self.literals[0], self.literals[-1]
        if not self.variables:
            return [] if text == first else None
        if not (text.startswith(first) and text.endswith(last)):
            return None
        tables = [_stops(text, self.variables[-1], {len(text) - len(last)})]
        inner = zip(self.variables[:-1], self.literals[1:-1], strict=True)
        for variable, literal in reversed(tuple(inner)):
            tables.append(_stops(text, variable, _ends(text, literal, tables[-1])))
        position, pieces = len(first), list[str]()
        for table, literal in zip(reversed(tables), self.literals[1:], strict=True):
            stop = table[position]
            if stop < 0:
                return None
            pieces.append(text[position:stop])
            position = stop + len(literal)
        return pieces


class _Query(msgspec.Struct, frozen=True):
    """The `{?...}` and `{&...}` of a template: how it begins, and its variables by key."""

    mark: str
    variables: Mapping[str, _Variable]

    def cut(self, text: str) -> tuple[str, list[str]]:
        """Divide a URI without fragment into what stands before the query, and its pairs."""
        if self.mark == "?":
            head, mark, query = text.partition("?")
            return head, query.split("&") if mark else []
        pieces = text.split("&")
        first = len(pieces)
        while first > 1 and pieces[first - 1].partition("=")[0] in self.variables:
            first -= 1
        return "&".join(pieces[:first]), pieces[first:]

    def read(self, pairs: list[str]) -> list[tuple[_Variable, list[str]]] | None:
        """Collect the raw values of each key, or None for a pair that no expansion writes."""
        found: dict[str, list[str]] = {}
        for pair in pairs:
            key, equals, raw = pair.partition("=")
            variable = self.variables.get(key)
            if variable is None or not equals or (key in found and not variable.explode):
                return None
            found.setdefault(key, []).append(raw)
        return [(self.variables[key], raws) for key, raws in found.items()]


class _Plan(msgspec.Struct, frozen=True):
    """What `parse` has worked out: the parts for `expand`, the sections for `match`."""

    parts: _Parts
    head: _Pattern
    query: _Query | None
    tail: _Pattern


class UriTemplate(msgspec.Struct, frozen=True, eq=False):
    """A URI template (RFC 6570), made by `UriTemplate.parse`; frozen and hashable.

    Attributes:
        text: The template as it was written.
        variables: The names of its variables, in order of appearance.
        required: Those that every match has: all but the ones of `{?...}` and `{&...}`.
        exploded: Those written with the explode modifier, `{x*}` (section 2.4.2).
        allow_unsafe: Those whose values are delivered without the safety rules of `match`.
    """

    text: str
    variables: tuple[str, ...]
    required: frozenset[str]
    exploded: frozenset[str]
    allow_unsafe: frozenset[str]
    _plan: _Plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UriTemplate) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"UriTemplate({self.text!r})"

    @property
    def _identity(self) -> tuple[str, frozenset[str]]:
        return self.text, self.allow_unsafe

    @classmethod
    def parse(cls, text: str, unsafe: Iterable[str] = ()) -> Self:
        """Read a template, and refuse what could not be matched in exactly one way.

        Args:
            text: The template (RFC 6570 section 2), e.g. `"orders://{order_id}"`.
            unsafe: Names of variables whose values may be any text at all, such as `..` or an
                absolute path. The function that receives them must check them itself.

        Returns:
            The template, ready to match and expand.

        Raises:
            TemplateError: It is malformed, uses an operator that RFC 6570 only reserves, names a
                variable twice, or is ambiguous. The text says what to write instead.
        """
        parts = tuple(_parts(text))
        found = [token for token in _tokens(parts) if not isinstance(token, str)]
        names = tuple(variable.name for variable in found)
        allow_unsafe = frozenset(unsafe)
        _refuse_odd_names(text, names, allow_unsafe)
        head, query, tail = _sections(text, parts)
        plan = _Plan(parts, _pattern(text, head), _query(query), _pattern(text, tail))
        optional = {variable.name for part in query for variable in part.variables}
        return cls(
            text=text,
            variables=names,
            required=frozenset(names) - optional,
            exploded=frozenset(variable.name for variable in found if variable.explode),
            allow_unsafe=allow_unsafe,
            _plan=plan,
        )

    def match(self, uri: str) -> dict[str, str | list[str]] | None:
        """Read the variables out of a URI (RFC 6570 section 1.4 leaves the way open).

        Fixed text matches exactly; its non-ASCII characters match raw and percent-encoded. Values
        are percent-decoded once, as UTF-8. By default a value does not match when it has a control
        character or a backslash, begins with a drive (`C:`), is `.` or `..`, or has a `/`. Those of
        `{x*}`, `{+x}`, `{#x}` and of a query may have a `/`, but not at the start, and no whole
        segment `.` or `..`.

        Args:
            uri: The URI as the client sent it. One over `MAX_URI` characters does not match.

        Returns:
            Every required variable and each optional one that is there: a string, or a list for
            `{/x*}`, `{.x*}`, `{;x*}`, `{?x*}` and `{&x*}`. None if the URI is not of this template.
        """
        text = _normal(uri) if len(uri) <= MAX_URI else None
        if text is None or len(text) > MAX_URI:
            return None
        raw = _split(self._plan, text)
        if raw is None:
            return None
        values: dict[str, str | list[str]] = {}
        for variable, pieces in raw:
            trusted = variable.name in self.allow_unsafe
            read = (_value(variable, piece, trusted=trusted) for piece in pieces)
            known = [value for value in read if value is not None]
            if not known or len(known) < len(pieces):
                return None
            values[variable.name] = known if variable.reading.listed else known[0]
        return values

    def expand(self, values: Mapping[str, object]) -> str:
        """Write the URI for these values (RFC 6570 section 3.2).

        Args:
            values: By name: a string, a number, a boolean (`true`, `false`), a list or a mapping
                of these. A name that is missing or None is undefined, and writes nothing; other
                names are ignored.

        Returns:
            The URI, in ASCII.

        Raises:
            TemplateError: A value has no text form here, or a list or mapping is given to `{x:n}`.
        """
        written = (part if isinstance(part, str) else _expanded(part, values) for part in self._plan.parts)
        return "".join(written)


def is_template(text: str) -> bool:
    """Say whether a text has at least one `{expression}`, well-formed or not (section 2)."""
    return _EXPRESSION.search(text) is not None


# Parsing


def _error(text: str, fault: str, advice: str) -> TemplateError:
    return TemplateError(f"URI template {text!r}: {fault}. {advice}.")


def _parts(text: str) -> Iterator[str | _Expression]:
    for index, piece in enumerate(_EXPRESSION.split(text)):
        if index % 2:
            yield _expression(text, piece)
        elif piece:
            yield _literal(text, piece)


def _literal(text: str, piece: str) -> str:
    bad = _NOT_LITERAL.search(piece)
    if bad and bad[0] in "{}":
        raise _error(text, f"the {bad[0]!r} has no partner", "Write each variable as {name}")
    encoded = _normal(piece)
    if bad or encoded is None:
        fault = f"{bad[0] if bad else piece!r} cannot stand in a URI (RFC 6570 section 2.1)"
        raise _error(text, fault, "Percent-encode it as UTF-8: %20 for a space, %25 for a percent")
    return encoded


def _expression(text: str, body: str) -> _Expression:
    mark = body[:1]
    if mark and mark in _NOT_YET_OPERATORS:
        fault = f"the operator {mark!r} of {{{body}}} has no meaning yet (RFC 6570 section 2.2)"
        raise _error(text, fault, "Use {x}, or one of the operators + # . / ; ? &")
    operator = mark if mark in _WRITINGS else ""
    specs = body.removeprefix(operator).split(",")
    return _Expression(operator, tuple(_variable(text, operator, spec) for spec in specs))


def _variable(text: str, operator: str, spec: str) -> _Variable:
    found = _VARIABLE.fullmatch(spec)
    if found is None:
        advice = "Write a name of letters, digits, '_' and inner dots; then nothing, or '*', or ':'"
        fault = f"{spec!r} is not a variable (RFC 6570 sections 2.3 and 2.4)"
        raise _error(text, fault, f"{advice} and the greatest length, 1 to 9999")
    explode = found["explode"] is not None
    limit = int(found["limit"]) if found["limit"] else None
    return _Variable(found["name"], operator, explode, limit, _READINGS[operator][explode])


def _refuse_odd_names(text: str, names: tuple[str, ...], unsafe: frozenset[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        fault = f"the variable {twice[0]!r} appears twice"
        raise _error(text, fault, "Give each variable a name of its own")
    unknown = sorted(unsafe.difference(names))
    if unknown:
        fault = f"{unknown[0]!r} is to be unsafe but is not a variable here"
        raise _error(text, fault, f"The variables are {', '.join(names) or 'none'}")


def _sections(text: str, parts: _Parts) -> tuple[_Parts, list[_Expression], _Parts]:
    """Divide the parts at the query, which RFC 3986 puts after the path, before the fragment."""
    query = [part for part in parts if not isinstance(part, str) and part.operator in ("?", "&")]
    if not query:
        return parts, [], ()
    start = parts.index(query[0])
    stop = start + len(query)
    head, tail = parts[:start], parts[stop:]
    before, marks = "".join(_texts(head)), [part.operator for part in query]
    if parts[start:stop] != tuple(query) or (tail and next(_texts(tail))[:1] != "#"):
        raise _error(text, "something follows the query", "Put {?...} and {&...} last")
    if "#" in before:
        raise _error(text, "the query follows a fragment", "Put {?...} and {&...} before the '#'")
    if "?" in (marks if "?" in before else marks[1:]):
        raise _error(text, "the query begins twice", "Go on with {&...} after the first '?'")
    return head, query, tail


def _texts(parts: Iterable[str | _Expression]) -> Iterator[str]:
    return (token for token in _tokens(parts) if isinstance(token, str))


def _query(expressions: list[_Expression]) -> _Query | None:
    if not expressions:
        return None
    variables = [variable for part in expressions for variable in part.variables]
    return _Query(expressions[0].operator, {variable.name: variable for variable in variables})


def _tokens(parts: Iterable[str | _Expression]) -> Iterator[str | _Variable]:
    """Lay the parts out as fixed texts and variables, in the order of the URI."""
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        writing = _WRITINGS[part.operator]
        for index, variable in enumerate(part.variables):
            yield (writing.separator if index else writing.first) + (variable.name if writing.named else "")
            yield variable


def _pattern(text: str, parts: Iterable[str | _Expression]) -> _Pattern:
    literals, variables = [""], list[_Variable]()
    for token in _tokens(parts):
        if isinstance(token, str):
            literals[-1] += token
            continue
        if variables and not literals[-1]:
            fault = f"nothing tells where {variables[-1].name!r} ends and {token.name!r} begins"
            raise _error(text, fault, "Put fixed text between them, such as '/' or '-'")
        in_query = any("?" in literal for literal in literals)
        variables.append(_without_ampersand(token) if in_query else token)
        literals.append("")
    pattern = _Pattern(tuple(literals), tuple(variables))
    _refuse_twin_spans(text, pattern)
    return pattern


def _without_ampersand(variable: _Variable) -> _Variable:
    """Keep a value in a fixed query, `?id={id}`, from taking the pair behind it."""
    reading = variable.reading
    if not reading.barred:
        return variable
    narrower = msgspec.structs.replace(reading, barred=reading.barred + "&")
    return msgspec.structs.replace(variable, reading=narrower)


def _refuse_twin_spans(text: str, pattern: _Pattern) -> None:
    """Two paths side by side share their slashes: only other fixed text can tell them apart."""
    before, between = "", ""
    for literal, variable in zip(pattern.literals, pattern.variables, strict=False):
        between += literal
        if "/" in variable.reading.barred:
            continue
        if before and not between.strip("/"):
            fault = f"{before!r} and {variable.name!r} may both hold slashes, and share them"
            raise _error(text, fault, "Make one a single segment, {x}, or put a word between them")
        before, between = variable.name, ""


# Matching


def _normal(text: str) -> str | None:
    """Percent-encode non-ASCII characters and write escapes in capitals (RFC 3986 section 6.2.2).

    None if the text has no UTF-8 form (a lone surrogate).
    """
    try:
        if not text.isascii():
            text = _NON_ASCII.sub(lambda found: quote(found[0]), text)
    except UnicodeEncodeError:
        return None
    return _ESCAPE.sub(lambda found: found[0].upper(), text) if "%" in text else text


def _stops(text: str, variable: _Variable, ends: set[int]) -> list[int]:
    """For every position: the nearest of `ends` that the variable reaches from there, or -1."""
    barred, may_be_empty = variable.reading.barred, variable.writing.named
    stops = [-1] * (len(text) + 1)
    nearest = -1
    for position in range(len(text), -1, -1):
        if text[position : position + 1] in barred:
            nearest = -1
        is_end = position in ends
        stops[position] = position if is_end and may_be_empty else nearest
        if is_end:
            nearest = position
    return stops


def _ends(text: str, literal: str, stops: list[int]) -> set[int]:
    """Where the fixed text stands with a variable behind it that can go on to the end."""
    ends: set[int] = set()
    position = text.find(literal)
    while position >= 0:
        if stops[position + len(literal)] >= 0:
            ends.add(position)
        position = text.find(literal, position + 1)
    return ends


def _split(plan: _Plan, text: str) -> list[tuple[_Variable, list[str]]] | None:
    """Cut a URI into the raw pieces of each variable."""
    fragment = ""
    pairs: list[str] = []
    if plan.query:
        text, mark, rest = text.partition("#")
        fragment = mark + rest
        text, pairs = plan.query.cut(text)
    head, tail = plan.head.split(text), plan.tail.split(fragment)
    query = plan.query.read(pairs) if plan.query else []
    if head is None or tail is None or query is None:
        return None
    variables = plan.head.variables + plan.tail.variables
    return [
        (variable, _pieces(variable, raw)) for variable, raw in zip(variables, head + tail, strict=True)
    ] + query


def _pieces(variable: _Variable, raw: str) -> list[str]:
    """Take a path variable's raw text apart: the items of a list, the `x=` of `{;x}`.

    Empty if it is not what the operator writes.
    """
    writing = variable.writing
    whole = variable.name + raw if writing.named else raw
    pieces = whole.split(writing.separator) if variable.reading.listed else [whole]
    if not writing.named:
        return pieces if all(pieces) else []
    named = [piece.partition("=") for piece in pieces]
    is_whole = all(name == variable.name for name, _, _ in named)
    return [value for _, _, value in named] if is_whole else []


def _value(variable: _Variable, raw: str, *, trusted: bool) -> str | None:
    """Decode one raw piece, once, and judge it."""
    try:
        value = unquote(raw, errors="strict")
    except UnicodeDecodeError:
        return None
    if _BROKEN_ESCAPE.search(raw) or (variable.limit and len(value) > variable.limit):
        return None
    return value if trusted or _is_safe(value, spans=variable.reading.spans) else None


def _is_safe(value: str, *, spans: bool) -> bool:
    """Judge a value as if it were to be pasted into a file name, since that is what is done."""
    if _NEVER_SAFE.search(value):
        return False
    segments = value.split("/")
    if len(segments) > 1 and not (spans and segments[0]):
        return False
    return "." not in segments and ".." not in segments


# Expanding


def _expanded(expression: _Expression, values: Mapping[str, object]) -> str:
    writing = _WRITINGS[expression.operator]
    first, separator = writing.first, writing.separator
    written = [
        text for variable in expression.variables for text in _written(variable, values.get(variable.name))
    ]
    return first + separator.join(written) if written else ""


def _written(variable: _Variable, value: object) -> list[str]:
    """Write one variable (section 3.2.1): the texts that the operator's separator joins."""
    if value is None:
        return []
    if not isinstance(value, list | tuple | Mapping):
        kept = "/" if variable.explode and not variable.operator else variable.writing.kept
        text = _text(variable, value)[: variable.limit]
        return [_labelled(variable, _quoted(variable, text, kept))]
    if variable.limit:
        fault = f"{{{variable.name}:{variable.limit}}} takes a string, not a list or mapping"
        raise TemplateError(f"{fault} (RFC 6570 section 2.4.1).")
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        pairs = [(_item(variable, key), _item(variable, at)) for key, at in items if at is not None]
        if variable.explode:
            return [_pair(variable, key, text) for key, text in pairs]
        texts = [text for pair in pairs for text in pair]
    else:
        values = cast("list[object] | tuple[object, ...]", value)
        texts = [_item(variable, item) for item in values if item is not None]
        if variable.explode:
            return [_labelled(variable, text) for text in texts]
    return [_labelled(variable, ",".join(texts))] if texts else []


def _labelled(variable: _Variable, text: str) -> str:
    return _pair(variable, variable.name, text) if variable.writing.named else text


def _pair(variable: _Variable, key: str, text: str) -> str:
    return f"{key}={text}" if text else key + variable.writing.if_empty


def _item(variable: _Variable, value: object) -> str:
    return _quoted(variable, _text(variable, value), variable.writing.kept)


def _text(variable: _Variable, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    fault = f"the variable {variable.name!r} cannot be written from a {type(value).__name__}"
    raise TemplateError(f"{fault}. Give it a string, a number, or a list or mapping of these.")


def _quoted(variable: _Variable, text: str, kept: str) -> str:
    """Percent-encode all but the unreserved and the kept characters (section 3.2.1).

    Where reserved characters are kept, so are the escapes that are already in the text.
    """
    pieces = _ESCAPE.split(text) if kept == _RESERVED else [text]
    try:
        return "".join(piece if index % 2 else quote(piece, safe=kept) for index, piece in enumerate(pieces))
    except UnicodeEncodeError as error:
        fault = f"the variable {variable.name!r} has a lone surrogate, which UTF-8 cannot write"
        raise TemplateError(f"{fault}. Give it well-formed text.") from error
