"""A JSON Schema as the judge of a value: is it valid, and if not, everything that is wrong.

The law of the file: jsonschema-rs is known here and nowhere else. No reference leaves the document: the
retriever refuses, so no network and no file is ever touched. Formats are judged, by the rules below where
Python types are wider than the specification's. Patterns run in linear time; one that looks around or back
takes a bounded number of steps, and a text for which these are too few does not match.
"""

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import jsonschema_rs
import msgspec
from jsonschema_rs import ValidationError

from typegate.contract import problems
from typegate.contract.problems import MAX_ISSUES, Path
from typegate.contract.schema import subschemas
from typegate.errors import RegistrationError
from typegate.types import Issue, Json

__all__ = ["Validator", "accepts", "check_bounds"]

_DATE_TIME: Final = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
).fullmatch
_TIME: Final = re.compile(
    r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
).fullmatch

_DURATION: Final = re.compile(
    r"[-+]?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d{1,9})?S)?)?",
    re.ASCII,
).fullmatch


def _is_date(text: str) -> bool:
    """A day of the calendar that Python knows: from year 1 on."""
    try:
        return len(text) == 10 and text[4] == text[7] == "-" and _read_date(text) is not None
    except ValueError:
        return False


_read_date: Final = datetime.date.fromisoformat

_FORMATS: Final = {
    "date": _is_date,
    "date-time": lambda text: _DATE_TIME(text) is not None,  # RFC 3339, the zone optional as in Python
    "time": lambda text: _TIME(text) is not None,
    "duration": lambda text: _DURATION(text) is not None,  # ISO 8601, with a sign and fractions of seconds
    "regex": lambda text: True,  # the author's own business
}


def _refuse(uri: str) -> Any:
    raise LookupError("references outside the document are not followed")


_PATTERNS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)

_MAX_BYTES: Final = 1024 * 1024
_MAX_LEVELS: Final = 128  # of JSON, about twice as many as of schemas
_MAX_SUBSCHEMAS: Final = 10_000

_MAX_DESCRIBED: Final = 1_000
"""How many descriptions of subschemas one validator keeps."""


class Validator:
    """One compiled schema.

    Args:
        schema: a JSON Schema object; the dialect is 2020-12 unless `$schema` names another.
        label: who it belongs to, for the error's text.
        subject: what it judges: the `arguments` of a call, or a `result`.

    Raises:
        RegistrationError: it is no schema, or refers to something outside itself.
    """

    def __init__(
        self, schema: dict[str, Json], label: str, subject: Literal["arguments", "result"] = "arguments"
    ) -> None:
        self.schema: Final = schema
        self._described: dict[int, str] = {}
        self._alive: list[Json] = []  # so that no id is used again
        self._whole = f"the {subject}"
        self._word = "argument" if subject == "arguments" else "field"
        formats: dict[str, Any] = {}
        if any("format" in node for node in subschemas(schema)):
            formats = {"formats": _FORMATS, "validate_formats": True}
        try:
            self._compiled = jsonschema_rs.validator_for(
                schema, retriever=_refuse, pattern_options=_PATTERNS, **formats
            )
        except (ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise RegistrationError(f"{label} is no JSON Schema that can be used: {_reason(error)}") from None
        self.is_valid: Any = self._compiled.is_valid

    def issues(self, instance: Json) -> list[Issue]:
        """What is wrong with *instance*, up to `MAX_ISSUES`; empty where it is valid."""
        found: list[Issue] = []
        for error in self._compiled.iter_errors(instance):
            found += self._translate(error, instance)
            if len(found) >= MAX_ISSUES:
                break
        if len(found) < 2:
            return found
        decided = {issue.path: issue.code for issue in found if issue.code == "type"}
        decided |= {issue.path: issue.code for issue in found if issue.code == "enum"}
        once = dict.fromkeys(each for each in found if decided.get(each.path, each.code) == each.code)
        return list(once)[:MAX_ISSUES]

    def expected(self, path: Path) -> str | None:
        """What the schema accepts at *path*, in words; `None` where it does not say."""
        node = self.schema
        for step in path:
            node = self._child(self._resolved(node), step)
            if not node:
                return None
        return self._words(node)

    def _words(self, node: Json) -> str:
        """What a schema accepts, in words that are found once."""
        known = self._described.get(id(node))
        if known is None:
            known = problems.describe(self._flat(node))
            if len(self._described) < _MAX_DESCRIBED:
                self._described[id(node)] = known
                self._alive.append(node)
        return known

    def _child(self, node: dict[str, Any], step: str | int) -> dict[str, Any]:
        """The schema of a member or an item, in whichever branch has one."""
        if isinstance(step, int):
            items = node.get("prefixItems", ())
            found = items[step] if step < len(items) else node.get("items")
        else:
            found = node.get("properties", {}).get(step, node.get("additionalProperties"))
        if isinstance(found, dict):
            return found
        branches = [*node.get("anyOf", ()), *node.get("oneOf", ())]
        return next(filter(None, (self._child(self._resolved(branch), step) for branch in branches)), {})

    # --- one error of jsonschema-rs is one issue, or several, or those of a union's best branch

    def _translate(self, error: ValidationError, root: Json) -> Iterable[Issue]:
        path = _path(error, root)
        keyword, facts = error.kind.name, error.kind.as_dict()
        node = self._node(error.schema_path)
        if keyword == "required":
            name = facts["property"]
            wanted = node.get("properties", {}).get(name)
            yield problems.missing((*path, name), self._words(wanted) if wanted else None, self._word)
        elif keyword in ("unevaluatedItems", "falseSchema"):
            yield self._violated("false", path, None, False, None)
        elif "unexpected" in facts:
            for name in facts["unexpected"]:
                given = error.instance if isinstance(error.instance, dict) else {}
                free = [known for known in node.get("properties", {}) if known not in given]
                yield problems.unexpected((*path, name), free, self._word)
        elif "context" in facts and any(facts["context"]):
            yield from self._union(error, root, facts["context"], node)
        elif keyword == "propertyNames":
            inner = facts["error"]
            if inner.kind.name == "not":
                yield problems.unexpected((*path, inner.instance), node.get("properties", {}), self._word)
                return
            names = self._resolved(node.get(keyword, node))
            issue = self._violated(inner.kind.name, path, _fact(inner), names, inner.instance)
            yield self._about_keys(issue, path)
        elif keyword == "contains" and "maxContains" in node and self._holds_some(node, error.instance):
            yield self._violated("maxContains", path, node["maxContains"], node, error.instance)
        else:
            fact = node["pattern"] if keyword == "pattern" and "pattern" in node else _fact(error)
            yield self._violated(keyword, path, fact, node, error.instance)

    def _union(
        self, error: ValidationError, root: Json, branches: Sequence[Sequence[ValidationError]], node: Json
    ) -> Iterable[Issue]:
        """A union failed: say what its closest branch lacks, or name all the forms it may take."""
        path = _path(error, root)
        inside = [
            branch for branch in branches if not any(_is_other_kind(each, root, path) for each in branch)
        ]
        schemas = node.get(error.kind.name, ()) if isinstance(node, dict) else ()
        offered = [schema for schema in schemas if schema != {"type": "null"}]
        if not inside or (len(offered) > 1 and _is_plain(error.instance)):
            yield self._no_branch(error, path, offered)
            return
        tag = _common_tag(inside, root)
        if tag is not None:
            options = [option for branch in inside for option in _tag_options(branch, root, tag)]
            yield self._violated(
                "enum", tag, options, {"enum": options}, _at(error.instance, tag[len(path) :])
            )
            return
        for each in min(inside, key=self._distance):
            yield from self._translate(each, root)

    def _no_branch(self, error: ValidationError, path: Path, schemas: list[Json]) -> Issue:
        """A value fits none of several forms, and none is nearer than the others."""
        kinds = [self._resolved(schema) for schema in schemas]
        value = error.instance
        union = {"anyOf": kinds} if len(kinds) > 1 else kinds[0]
        types = list(dict.fromkeys(name for kind in kinds for name in _types(kind)))
        if types and problems.type_name(value) not in types:
            return self._violated("type", path, types, union, value)
        options = [option for kind in kinds for option in kind.get("enum", ())]
        if len(kinds) == 1 and options:
            return self._violated("enum", path, options, union, value)
        issue = self._violated("anyOf", path, None, union, value)
        return problems.with_closest(issue, value, options)

    def _distance(self, branch: Sequence[ValidationError]) -> tuple[int, float]:
        """How far a value is from a branch: wrong tags first, then the errors; a slip in a name is less."""
        tags = sum(error.kind.name in ("const", "enum") for error in branch)
        facts = [(error, error.kind.as_dict()) for error in branch]
        lacking = [fact["property"] for error, fact in facts if error.kind.name == "required"]
        saved = 0.0
        for error, fact in facts:
            known = self._node(error.schema_path).get("properties", {})
            for name in fact.get("unexpected", ()):
                if problems.closest(name, lacking):
                    saved += 1.5  # two errors, one slip
                elif problems.closest(name, known):
                    saved += 0.5
        return tags, len(branch) - saved

    def _holds_some(self, node: dict[str, Any], value: Json) -> bool:
        """Whether an array holds one of what it must hold, so that it can only hold too many."""
        wanted = {key: item for key, item in node.items() if key == "contains"}
        return accepts({**wanted, "$defs": self.schema.get("$defs", {})}, value)

    def _violated(self, keyword: str, path: Path, fact: Json, schema: Json, value: Json) -> Issue:
        return problems.violated(keyword, path, fact, self._words(schema), value, self._whole)

    def _about_keys(self, issue: Issue, path: Path) -> Issue:
        where = problems.quoted(path) if path else self._whole
        said = issue.message.replace(where, f"each key of {where}", 1)
        expected = f"object whose keys are {(issue.expected or '').replace('any value', 'strings')}"
        return Issue(path=path, code=issue.code, message=said, expected=expected)

    # --- the schema around an error

    def _node(self, schema_path: Sequence[str | int]) -> dict[str, Any]:
        """The schema that holds the keyword at the end of *schema_path*."""
        node: Any = self.schema
        for step in schema_path[:-1]:
            key = _key(node, step)
            if key is None:
                return {}
            node = node[key]
        return node if isinstance(node, dict) else {}

    def _flat(self, schema: Json) -> dict[str, Any]:
        """The schema with the references at its surface followed, enough to describe it."""
        return self._inlined(schema, 3)

    def _inlined(self, schema: Json, levels: int) -> dict[str, Any]:
        made = self._resolved(schema)
        if not levels:
            return made
        for key in ("anyOf", "oneOf", "prefixItems"):
            if key in made:
                made = {**made, key: [self._inlined(branch, levels - 1) for branch in made[key]]}
        if isinstance(made.get("items"), dict):
            made = {**made, "items": self._inlined(made["items"], levels - 1)}
        if "properties" in made:
            members = {name: self._inlined(node, levels - 1) for name, node in made["properties"].items()}
            made = {**made, "properties": members}
        return made

    def _resolved(self, schema: Json) -> dict[str, Any]:
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if reference == "#":
            return self.schema
        if isinstance(reference, str) and reference.startswith("#/"):
            steps = (step.replace("~1", "/").replace("~0", "~") for step in reference[2:].split("/"))
            return self._node([*steps, ""])
        return schema if isinstance(schema, dict) else {}


def check_bounds(schema: Mapping[str, Json], label: str) -> None:
    """Refuse a schema of an author's own that is no JSON, or of a size that nobody writes by hand.

    Raises:
        RegistrationError: with the bound.
    """
    try:
        size = len(msgspec.json.encode(schema))
        levels = _levels(schema)
        count = sum(1 for _ in subschemas(dict(schema)))
    except (TypeError, ValueError, RecursionError):
        raise RegistrationError(f"{label} is no JSON, or contains itself") from None
    for found, most, what in (
        (size, _MAX_BYTES, "bytes"),
        (levels, _MAX_LEVELS, "levels"),
        (count, _MAX_SUBSCHEMAS, "subschemas"),
    ):
        if found > most:
            raise RegistrationError(f"{label} has {found:,} {what}; at most {most:,} can be served")


def _levels(node: Json) -> int:
    if isinstance(node, Mapping):
        return 1 + max(map(_levels, node.values()), default=0)
    if isinstance(node, list | tuple):
        return 1 + max(map(_levels, node), default=0)
    return 0


_SAYS_NO_MORE: Final = frozenset({"type", "title", "description", "$defs"})


def accepts(schema: dict[str, Json], value: Json) -> bool:
    """Whether *schema* admits *value*."""
    if schema.get("type") == problems.type_name(value) and schema.keys() <= _SAYS_NO_MORE:
        return True
    try:
        return bool(Validator(schema, "a default").is_valid(value))
    except (RegistrationError, ValueError):
        return False


def _fact(error: ValidationError) -> Json:
    """The value of the keyword that failed."""
    return next(iter(error.kind.as_dict().values()), None)


def _reason(error: Exception) -> str:
    text = str(getattr(error, "message", error)).splitlines()
    return text[0][:200] if text else type(error).__name__


def _types(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    if not kind and ("enum" in schema or "const" in schema):
        kind = [problems.type_name(option) for option in schema.get("enum", [schema.get("const")])]
    return [kind] if isinstance(kind, str) else list(kind)


def _path(error: ValidationError, root: Json) -> Path:
    """The place of an error in *root*: jsonschema-rs gives the key "7" as 7, and leaves out the key ""."""
    path: list[str | int] = []
    node: Any = root
    for given in (*error.instance_path, None):
        step: Any = given if isinstance(node, list) else _key(node, given)
        while step is None and isinstance(node, dict) and "" in node and node != error.instance:
            path.append("")
            node = node[""]
            step = _key(node, given)
        if step is None:
            break
        path.append(step)
        node = node[step]
    return tuple(path)


def _key(node: Any, step: str | int | None) -> str | int | None:
    """What a step of jsonschema-rs stands for in *node*; `None` where it does not lead on from there."""
    if not isinstance(node, dict):
        inside = isinstance(node, list) and isinstance(step, int) and step < len(node)
        return step if inside else None
    if isinstance(step, int):
        same = (key for key in node if key.lstrip("+").isdecimal() and int(key) == step)
        return str(step) if str(step) in node else next(same, None)
    return step if step in node else None


def _is_other_kind(error: ValidationError, root: Json, path: Path) -> bool:
    """Whether a branch was not meant at all: the value is of another type, or another constant."""
    return error.kind.name in ("type", "const", "enum") and _path(error, root) == path


def _is_plain(value: Json) -> bool:
    return not isinstance(value, dict | list)


def _common_tag(branches: Sequence[Sequence[ValidationError]], root: Json) -> Path | None:
    """The place where every branch of several wants another constant: the tag of the union."""
    if len(branches) < 2:
        return None
    places = [
        {_path(error, root) for error in branch if error.kind.name in ("const", "enum")}
        for branch in branches
    ]
    common = set.intersection(*places)
    return min(common, key=len) if common else None


def _tag_options(branch: Sequence[ValidationError], root: Json, tag: Path) -> list[Json]:
    for error in branch:
        if error.kind.name in ("const", "enum") and _path(error, root) == tag:
            fact = _fact(error)
            return list(fact) if isinstance(fact, list) else [fact]
    return []


def _at(value: Json, path: Path) -> Json:
    for step in path:
        value = value[step]
    return value
