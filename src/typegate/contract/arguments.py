"""Raw arguments → the values a function is called with, or everything that is wrong with them.

The law of the file: the published schema is the gate. A full JSON Schema validator judges the decoded
arguments against it; only then does pydantic build the values, straight from the request's bytes. So
nothing gets in that the schema refuses, and what the schema admits reaches the function in the declared
type. The one difference between the gate and the listing: for `T | None` the gate takes null although
the compact listing does not offer it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from typegate.contract import problems
from typegate.contract.adapter import (
    Adapter,
    Fault,
    Unreadable,
    adapt_fields,
    adapt_values,
    described,
    faults,
    json_form,
)
from typegate.contract.gate import INHERIT, Gate
from typegate.contract.problems import Path
from typegate.contract.repair import Mender
from typegate.contract.schema import SchemaStyle, publish, without_bad_defaults
from typegate.contract.signature import EMPTY, Parameter, Signature
from typegate.contract.validator import Validator, accepts, check_bounds
from typegate.errors import InvalidArguments, RegistrationError
from typegate.types import Issue, Json

__all__ = ["Arguments", "StringParameter", "Strings", "plan_arguments", "plan_strings"]


Bound = tuple[dict[str, Any], tuple[Path, ...]]
"""The values of a call, and the places of its arguments that were repaired."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """How the arguments of one function are judged and read; made once, at registration.

    Attributes:
        schema: what is published as `inputSchema`.
        judges: the schemas that the arguments must satisfy: the author's own first, then the signature's.
        reader: bytes → keyword values.
        known: the names that a caller may use; others go to `extra`.
        extra: bytes of an object → the values of `**kwargs`; `None` where there is none.
        mender: the second reading of what was refused.
    """

    schema: dict[str, Json]
    judges: tuple[Validator, ...]
    reader: Adapter
    known: frozenset[str]
    extra: Adapter | None = None
    mender: Mender | None = None

    def bind(self, tree: dict[str, Json], raw: Callable[[], bytes]) -> Bound:
        """The keyword values for a call, and the places that were repaired.

        Args:
            tree: the arguments, decoded.
            raw: gives the same as the client wrote them.

        Raises:
            InvalidArguments: with every issue, each once.
        """
        for judge in self.judges:
            if not judge.is_valid(tree):
                return self._mended(tree, raw)
        return self._read(tree, raw), ()

    def _read(self, tree: dict[str, Json], raw: Callable[[], bytes]) -> dict[str, Any]:
        """The values of arguments that the schemas admit."""
        reader = self.reader
        try:
            values: dict[str, Any] = reader.read_tree(tree) if reader.from_tree else reader.read(raw())
            if self.extra is not None:
                values.update(self._extra(tree))
        except Unreadable as error:
            exact = _with_long_integers(tree, error)
            if exact is not tree:
                return self._read(exact, lambda: msgspec.json.encode(exact))
            raise self._refusal(tree, raw) from None
        return values

    def _refusal(
        self, tree: dict[str, Json], raw: Callable[[], bytes], places: tuple[Path, ...] = ()
    ) -> InvalidArguments:
        """Everything that is wrong; that nothing is found where something is cannot be."""
        return InvalidArguments(self._issues(tree, raw) or [_UNFIT], places)

    def _mended(self, tree: dict[str, Json], raw: Callable[[], bytes]) -> Bound:
        """The same for arguments that were refused as they came, if they can be repaired."""
        mended, places = self.mender.mend(tree) if self.mender is not None else (tree, ())
        if not places:
            raise self._refusal(tree, raw)

        def rewritten() -> bytes:
            return msgspec.json.encode(mended)

        if all(judge.is_valid(mended) for judge in self.judges):
            return self._read(mended, rewritten), places
        raise self._refusal(mended, rewritten, places)

    def _extra(self, tree: dict[str, Json]) -> dict[str, Any]:
        others = {name: value for name, value in tree.items() if name not in self.known}
        if self.extra is None or not others:
            return {}
        found: dict[str, Any] = self.extra.read(msgspec.json.encode(others))
        return found

    def _issues(self, tree: dict[str, Json], raw: Callable[[], bytes]) -> list[Issue]:
        """All that is wrong at once: what the schemas refuse, and what the types refuse elsewhere."""
        issues = [issue for judge in self.judges for issue in judge.issues(tree)]
        covered = {issue.path for issue in issues}
        if not issues or not (self.reader.described or any(issue.code == "pattern" for issue in issues)):
            issues += [
                issue
                for issue in self._unread(tree, raw)
                if not any(_overlap(issue.path, path) for path in covered)
            ]
        return issues if len(issues) == 1 else self._ordered(issues)

    def _ordered(self, issues: list[Issue]) -> list[Issue]:
        """Each issue once: what is missing first, then as the schema lists the arguments."""
        order = {name: index for index, name in enumerate(self.schema.get("properties", ()))}
        once = {(issue.path, issue.code): issue for issue in issues}.values()
        return sorted(
            once,
            key=lambda each: (
                each.code != "missing",
                order.get(_first(each), len(order)),
                [(isinstance(step, str), step) for step in each.path],
            ),
        )

    def _unread(self, tree: dict[str, Json], raw: Callable[[], bytes]) -> list[Issue]:
        """What only the types refuse: dates that do not exist, the author's own validators."""
        found: list[Issue] = []
        for read in (lambda: self.reader.read(raw()), lambda: self._extra(tree)):
            try:
                read()
            except Unreadable as error:
                found.extend(_issue(fault, tree, self.judges[-1]) for fault in faults(error))
        return found


_UNFIT: Final = Issue(
    path=(), code="value", message="the arguments are not what this function takes", expected=None
)


def _with_long_integers(tree: dict[str, Json], error: Unreadable) -> dict[str, Json]:
    """The arguments with an integer in the place of each 1e19, which is one too but too long for pydantic."""
    for fault in faults(error):
        if fault.kind == "int_parsing_size":
            tree = _changed_at(tree, _path(fault.location, tree, keep_last=False))
    return tree


def _changed_at(node: Json, path: Path) -> Any:
    """A copy in which the number at *path* is an integer; the same where there is none."""
    if not path:
        return int(node) if isinstance(node, float) and node.is_integer() else node
    inner = _changed_at(node[path[0]], path[1:])
    if inner is node[path[0]]:
        return node
    if isinstance(node, list):
        return [inner if index == path[0] else item for index, item in enumerate(node)]
    return {**node, path[0]: inner}


class StringParameter(msgspec.Struct, frozen=True, kw_only=True):
    """How the text of one parameter is read.

    Attributes:
        name: the function's own; `wire_name` as it travels.
        judge: what an object with this member alone must satisfy.
        mender: decodes JSON where no text can be meant.
        reader: reads the text of numbers, dates and booleans as people write them.
    """

    name: str
    wire_name: str
    judge: Validator
    mender: Mender
    reader: Adapter

    def meant(self, value: Json) -> Json:
        """The value that a text, or a list of texts, stands for.

        Args:
            value: what the schema admits as it is stays so. Else it is read as JSON, and then as a number,
                a date or a boolean in any form that pydantic knows.

        Raises:
            InvalidArguments: it stands for nothing that the schema admits.
        """
        given = {self.wire_name: value}
        if self.judge.is_valid(given):
            return value
        for decoded in (self.mender.mend(given)[0], {self.wire_name: _decoded(value)}):
            if self.judge.is_valid(decoded):
                return decoded[self.wire_name]
        try:
            read = self.reader.read_tree if isinstance(value, list) else self.reader.read_strings
            written = {self.wire_name: json_form(read(given)[self.name])}
        except Unreadable as error:
            raise InvalidArguments(self._issues(value, error)) from None
        if not self.judge.is_valid(written):
            raise InvalidArguments(self.judge.issues(written))
        return written[self.wire_name]

    def _issues(self, value: Json, error: Unreadable) -> list[Issue]:
        """What is wrong, by the schema where JSON is wanted, else by the type."""
        path = (self.wire_name,)
        expected = self.judge.expected(path)
        decoded = _decoded(value)
        if isinstance(decoded, list | dict) and not isinstance(value, list):
            return self.judge.issues({self.wire_name: decoded})
        wanted = (expected or "").split(" ")[0]
        if isinstance(value, list) and wanted != "array":
            said = f"'{self.wire_name}' is given as a list, so its parameter must be one, such as list[str]"
            return [Issue(path=path, code="type", message=said, expected=expected)]
        if isinstance(value, str) and wanted in ("array", "object"):
            expected = f"JSON text of {expected}"
            said = f"{problems.quoted(path)} must be {expected}"
            return [Issue(path=path, code="type", message=said, expected=expected)]
        return [_issue(fault, {self.wire_name: value}, self.judge) for fault in faults(error)]


def _decoded(value: Json) -> Json:
    """A text as JSON, where it is any."""
    try:
        return msgspec.json.decode(value) if isinstance(value, str) else value
    except (ValueError, msgspec.DecodeError, RecursionError):
        return value


class Strings(msgspec.Struct, frozen=True, kw_only=True):
    """How values that are always strings are read: prompt arguments and template variables.

    Attributes:
        reader: values as the schema wants them → keyword values.
        parameters: how the text of each is read, by the name under which it travels.
        required: the names that must be given.
        open: whether other names are passed on as they are.
    """

    reader: Adapter
    parameters: Mapping[str, StringParameter]
    required: frozenset[str]
    open: bool

    def bind(self, given: Mapping[str, Json]) -> dict[str, Any]:
        """The keyword values for a call.

        Args:
            given: texts, and lists of texts where a variable may be repeated.

        Raises:
            InvalidArguments: with every issue.
        """
        strangers = [name for name in given if name not in self.parameters]
        issues = [problems.missing((name,)) for name in sorted(self.required - given.keys())]
        if not self.open:
            issues += [problems.unexpected((name,), sorted(self.parameters)) for name in strangers]
        tree: dict[str, Json] = {}
        found: list[Issue] = []
        for name, parameter in self.parameters.items():
            try:
                if name in given:
                    tree[name] = parameter.meant(given[name])
            except InvalidArguments as error:
                found += error.issues
        values: dict[str, Any] = {}
        try:
            values = self._read(tree)
        except Unreadable as error:
            wrong = {issue.path[:1] for issue in found}
            found += [each for each in self._unread(error, tree) if each.path[:1] not in wrong]
        if issues or found:
            order = {name: index for index, name in enumerate(self.parameters)}
            issues += sorted(found, key=lambda each: order.get(str(_first(each)), 0))
            raise InvalidArguments(list({issue.path: issue for issue in issues}.values()))
        return {**{name: given[name] for name in strangers}, **values}

    def _read(self, tree: dict[str, Json]) -> dict[str, Any]:
        try:
            values: dict[str, Any] = self.reader.read(msgspec.json.encode(tree))
        except Unreadable as error:
            exact = _with_long_integers(tree, error)
            if exact is tree:
                raise
            return self._read(exact)
        return values

    def _unread(self, error: Unreadable, tree: dict[str, Json]) -> Iterator[Issue]:
        for fault in faults(error):
            known = self.parameters.get(str(fault.location[0])) if fault.location else None
            if known is not None:
                yield _issue(fault, tree, known.judge)


def plan_strings(label: str, signature: Signature, required: frozenset[str]) -> Strings:
    """Work out, once, how the strings for a function are read."""
    fields = {each.name: _field(each) for each in signature.parameters}
    reader = adapt_fields(label, fields, "forbid")
    schema = without_bad_defaults(reader.json_schema("validation", "forbid"), accepts)
    return Strings(
        reader=reader,
        parameters={
            each.wire_name: _string_parameter(label, each, fields[each.name], schema)
            for each in signature.parameters
        },
        required=required,
        open=signature.extra is not EMPTY,
    )


def _string_parameter(
    label: str, parameter: Parameter, field: Any, schema: dict[str, Json]
) -> StringParameter:
    """How one is read: *schema* is that of them all."""
    name = parameter.wire_name
    alone = {
        "type": "object",
        "properties": {name: schema["properties"][name]},
        "$defs": schema.get("$defs", {}),
    }
    return StringParameter(
        name=parameter.name,
        wire_name=name,
        judge=Validator(alone, f"the schema of '{label}'"),
        mender=Mender(alone, "all", nulls=False),
        reader=adapt_fields(label, {parameter.name: field}),
    )


def _first(issue: Issue) -> str | int:
    return issue.path[0] if issue.path else ""


def _overlap(one: Path, other: Path) -> bool:
    """Whether one place lies in the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


# --- registration --------------------------------------------------------------------------------


def plan_arguments(
    label: str,
    signature: Signature,
    gate: Gate,
    style: SchemaStyle = "compact",
    explicit: Mapping[str, Json] | None = None,
) -> Arguments:
    """Work out, once, how the arguments of a function are judged and read.

    Args:
        label: the tool's name, for error texts.
        signature: what the function takes.
        gate: `unknown` decides whether names that it does not take are refused.
        style: how the schema is published.
        explicit: the author's own schema: published as given, and judged first.

    Raises:
        RegistrationError: a type cannot be expressed, or the explicit schema does not fit the function.
    """
    if len({parameter.wire_name for parameter in signature.parameters}) != len(signature.parameters):
        raise RegistrationError(f"'{label}' has two parameters that travel under the same name")
    forbids = gate.unknown != "ignore"
    unknown: Literal["forbid", "ignore"] = "forbid" if forbids else "ignore"
    fields = {each.name: _field(each) for each in signature.parameters}
    reader = adapt_fields(label, fields, unknown)
    extra = None
    if signature.extra is EMPTY:
        derived = reader.json_schema("validation", unknown)
        derived.setdefault("properties", {})
        if not forbids or explicit is not None:
            derived.pop("additionalProperties", None)
    else:
        values: Any = signature.extra
        extra = adapt_values(dict[str, values], unknown)
        derived = _open_schema(label, {**fields, _EXTRA: dict[str, values]}, unknown, _taken(signature))
    derived = without_bad_defaults(derived, accepts)
    judges = [Validator(derived, f"the schema of '{label}'")]
    published = publish(derived, style, "input")
    if style != "pydantic" and "$defs" in derived:  # a default may hold a null that is no longer offered
        published = without_bad_defaults(published, accepts)
    if explicit is not None:
        published = dict(explicit)
        _check_explicit(label, signature, published)
        judges.insert(0, Validator(published, f"schema= of '{label}'"))
    return Arguments(
        schema=published,
        judges=tuple(judges),
        reader=reader,
        known=frozenset(parameter.wire_name for parameter in signature.parameters),
        extra=extra,
        mender=_mender(judges[0].schema, gate),
    )


def _mender(schema: dict[str, Json], gate: Gate) -> Mender | None:
    """What repairs arguments, where the gate wants any of it."""
    mode: Any = "containers" if gate.repair is INHERIT else gate.repair
    nulls = gate.nulls == "default"
    return Mender(schema, mode, nulls) if nulls or mode != "none" else None


_EXTRA: Final = "**"
"""The member under which `**kwargs` stand while the schema of all arguments is made."""


def _open_schema(
    label: str, fields: Mapping[str, Any], unknown: Literal["forbid", "ignore"], taken: list[str]
) -> dict[str, Json]:
    """The schema of a function with `**kwargs`, whose values are a member of *fields* here."""
    schema = adapt_fields(label, fields, unknown).json_schema("validation", unknown)
    properties = dict(schema["properties"])
    schema["additionalProperties"] = properties.pop(_EXTRA).get("additionalProperties", True)
    schema["properties"] = properties
    schema["required"] = [name for name in schema["required"] if name != _EXTRA]
    if not schema["required"]:
        del schema["required"]
    if taken:
        schema["propertyNames"] = {"not": {"enum": taken}}
    return schema


def _taken(signature: Signature) -> list[str]:
    """The function's own names that are not the caller's to use: through `**kwargs` they would be set."""
    known = {each.wire_name for each in signature.parameters}
    own = [*signature.injected, *(each.name for each in signature.parameters)]
    return [name for name in own if name not in known]


def _field(parameter: Parameter) -> Any:
    """A parameter as a member of an object: its hint with all that is known of it."""
    hint = Any if parameter.hint is EMPTY else parameter.hint
    if parameter.field is not None:
        hint = Annotated[hint, parameter.field]
    alias = parameter.wire_name if parameter.wire_name != parameter.name else None
    default = ... if parameter.default is EMPTY else parameter.default
    return described(hint, parameter.description, default, alias)


def _check_explicit(label: str, signature: Signature, schema: dict[str, Json]) -> None:
    check_bounds(schema, f"schema= of '{label}'")
    if schema.get("type") != "object":
        raise RegistrationError(f'schema= of \'{label}\' must have "type": "object" at its root')
    names = {parameter.wire_name for parameter in signature.parameters}
    strangers = [name for name in schema.get("properties", {}) if name not in names]
    if strangers and signature.extra is EMPTY:
        raise RegistrationError(
            f"schema= of '{label}' has the property '{strangers[0]}', which the function does not take; "
            f"add the parameter, or take **kwargs"
        )


# --- what pydantic refuses -----------------------------------------------------------------------

_MISSING: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})

_CODES: Final = {
    **dict.fromkeys(("value_error", "assertion_error"), "value"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float", "float_parsing", "float_type"), "type"),
    **dict.fromkeys(
        ("bool_parsing", "bool_type", "string_type", "decimal_type", "list_type", "dict_type"), "type"
    ),
    **dict.fromkeys(("enum", "literal_error"), "enum"),
    **dict.fromkeys(("date_parsing", "date_from_datetime_parsing", "date_type"), "format"),
    **dict.fromkeys(("datetime_parsing", "datetime_from_date_parsing", "datetime_type"), "format"),
    **dict.fromkeys(("time_parsing", "time_type", "time_delta_parsing", "time_delta_type"), "format"),
    **dict.fromkeys(("uuid_parsing", "uuid_type", "uuid_version", "decimal_parsing"), "format"),
    **dict.fromkeys(("bytes_invalid_encoding", "json_invalid"), "format"),
    "string_pattern_mismatch": "pattern",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
}
"""pydantic's name → ours, for what a schema would have refused under that name; others keep pydantic's."""

_OWN_WORDS: Final = frozenset({"value_error", "assertion_error"})

_EXPECTED: Final = {
    "timezone_naive": "a date and time without a time zone, for example 2026-11-30T14:05:00",
    "timezone_aware": "a date and time with a time zone, for example 2026-11-30T14:05:00Z",
    "date_past": "a date in the past, in the form YYYY-MM-DD",
    "date_future": "a date in the future, in the form YYYY-MM-DD",
    "datetime_past": "a date and time in the past, in the form YYYY-MM-DDTHH:MM:SSZ",
    "datetime_future": "a date and time in the future, in the form YYYY-MM-DDTHH:MM:SSZ",
    "finite_number": "a number that fits 64-bit floating point",
    "union_tag_not_found": "one of the forms, with the member that tells which",
    "union_tag_invalid": "one of the forms, by the member that tells which",
}
"""pydantic's name → what it wants beyond the schema."""


def _issue(fault: Fault, tree: Json, judge: Validator) -> Issue:
    path = _path(fault.location, tree, keep_last=fault.kind in _MISSING)
    if fault.kind in _MISSING:
        return problems.missing(path)
    code = _CODES.get(fault.kind, fault.kind)
    expected = judge.expected(path) if path else None
    expected = expected and expected.removesuffix(" or null")  # which the listing need not offer
    said = fault.text or "is refused by a rule of the tool"
    if fault.kind in _EXPECTED:
        expected = _EXPECTED[fault.kind]
        said = f"must be {expected}"
    elif fault.kind in ("string_too_short", "string_too_long"):
        said += ", white space around it not counted"
    elif fault.kind in _CODES and fault.kind not in _OWN_WORDS and expected is not None:
        said = f"must be {expected}"
    elif fault.kind == "url_scheme":
        scheme = said.removeprefix("must be ")
        said = f"must have the scheme {scheme}"
        expected = f"{expected}, with the scheme {scheme}"
    elif said.startswith("must be ") and expected is not None:
        expected = f"{expected}, {said.removeprefix('must be ')}"
    elif expected is not None and not expected.startswith(("a ", "an ")):
        expected = None  # a mere type is there already, and to say it again would not help
    subject = problems.quoted(path) if path else "the arguments"
    joint = " " if said.startswith(("must ", "is ")) else ": "
    return Issue(path=path, code=code, message=f"{subject}{joint}{said}", expected=expected)


def _path(location: Sequence[str | int], tree: Json, keep_last: bool) -> Path:
    """Pydantic's location without the names of union branches, which are no part of the arguments."""
    path: list[str | int] = []
    for index, step in enumerate(location):
        if not _has(tree, step):
            if not keep_last or index < len(location) - 1:
                continue
            tree = {step: None}
        tree = tree[step]
        path.append(step)
    return tuple(path)


def _has(tree: Json, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(tree, list) and step < len(tree)
    return isinstance(tree, Mapping) and step in tree
