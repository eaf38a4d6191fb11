"""What `typegate.wire.methods` promises: the table of methods is that of the published schemas."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from clients.conftest import absent, schemas
from clients.wire_schema import Spec

from typegate.errors import InvalidParams
from typegate.server.handlers import HANDLERS
from typegate.versions import VERSIONS
from typegate.wire.methods import METHODS, convert

__all__ = ["absent", "schemas"]

SECRET = "sk-SECRET"

every_revision = pytest.mark.parametrize("revision", VERSIONS)


def asked(spec: Spec) -> dict[str, dict[str, Any]]:
    """Every request that a client may send: its method and the definition of its params."""
    requests = {}
    for name in spec.sends["client"]:
        fields = spec.defs[name]["properties"]
        if name.endswith("Request"):
            params = fields.get("params", {})
            named = params.get("$ref", "").rpartition("/")[2]
            requests[fields["method"]["const"]] = spec.defs.get(named, params)
    return requests


@every_revision
def test_a_revision_has_the_methods_of_its_schema(schemas: Path, revision: str) -> None:
    """All that a client may ask, but for the optional tasks of 2025-11-25, and nothing else."""
    published = {name for name in asked(Spec(revision, schemas)) if not name.startswith("tasks/")}
    assert {name for name, row in METHODS.items() if row.exists_in(VERSIONS[revision])} == published


@every_revision
def test_what_a_method_requires_is_what_the_schema_requires(schemas: Path, revision: str) -> None:
    """A param without which a request is refused is a required one, and the other way round."""
    for name, params in asked(Spec(revision, schemas)).items():
        if name in METHODS:
            fields = msgspec.structs.fields(METHODS[name].params)
            needed = {field.encode_name for field in fields if field.required}
            assert needed == set(params.get("required", ())) - {"_meta"}, name


def test_results_carry_cache_hints_where_the_schema_demands_them(schemas: Path) -> None:
    """The results that must say how long they hold are the ones of the rows with a cache scope."""
    spec = Spec("2026-07-28", schemas)
    hinted = {
        name
        for name in asked(spec)
        if "ttlMs" in spec.defs.get(spec.results.get(name, ""), {}).get("required", ())
    }
    assert {name for name, row in METHODS.items() if row.cache is not None} == hinted


def test_every_method_has_a_handler() -> None:
    """Nothing is listed that nobody answers, and nothing is answered that is not listed."""
    assert HANDLERS.keys() == METHODS.keys()


REF = {"type": "ref/prompt", "name": "p"}
CLIENT = {"name": "c", "version": ""}
TYPED = {"name": "a", "value": ""}

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("ping", {}),
    ("ping", {"_meta": {}, "anything": [1]}),
    ("initialize", {"protocolVersion": "x", "capabilities": {}, "clientInfo": CLIENT}),
    ("tools/list", {"cursor": ""}),
    ("tools/list", {"cursor": None}),
    ("tools/call", {"name": "t"}),
    ("tools/call", {"name": "t", "arguments": None, "task": {"ttl": 1}}),
    ("prompts/get", {"name": "p", "arguments": {"a": "b"}}),
    ("resources/read", {"uri": "any:thing"}),
    ("completion/complete", {"ref": {"type": "ref/resource", "uri": "u"}, "argument": TYPED}),
    ("completion/complete", {"ref": {**REF, "title": "P"}, "argument": TYPED, "context": {}}),
    ("completion/complete", {"ref": REF, "argument": TYPED, "context": {"arguments": {"b": "c"}}}),
    ("logging/setLevel", {"level": "emergency"}),
    ("subscriptions/listen", {"notifications": {}}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True, "taskIds": [1]}}),
]

BAD: list[tuple[str, dict[str, Any]]] = [
    ("initialize", {"protocolVersion": "x", "capabilities": {}}),
    ("initialize", {"protocolVersion": 1, "capabilities": {}, "clientInfo": CLIENT}),
    ("initialize", {"protocolVersion": "x", "capabilities": SECRET, "clientInfo": CLIENT}),
    ("initialize", {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": SECRET}}),
    ("tools/list", {"cursor": 1}),
    ("tools/call", {}),
    ("tools/call", {"name": [SECRET]}),
    ("tools/call", {"name": "t", "arguments": SECRET}),
    ("prompts/get", {"name": "p", "arguments": {"a": 1}}),
    ("prompts/get", {"name": "p", "arguments": [SECRET]}),
    ("resources/read", {}),
    ("resources/subscribe", {"uri": None}),
    ("completion/complete", {"ref": REF}),
    ("completion/complete", {"ref": {"type": SECRET, "name": "p"}, "argument": TYPED}),
    ("completion/complete", {"ref": {"name": "p"}, "argument": TYPED}),
    ("completion/complete", {"ref": REF, "argument": {"name": "a", "value": 1}}),
    ("completion/complete", {"ref": REF, "argument": TYPED, "context": {"arguments": {"b": [SECRET]}}}),
    ("logging/setLevel", {"level": SECRET}),
    ("logging/setLevel", {"level": 3}),
    ("logging/setLevel", {"level": "WARNING"}),
    ("subscriptions/listen", {}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": SECRET}}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": 1}}),
    ("subscriptions/listen", {"notifications": {"resourceSubscriptions": SECRET}}),
]


@pytest.mark.parametrize(("method", "params"), GOOD)
def test_params_that_fit_are_taken(method: str, params: dict[str, Any]) -> None:
    """What is optional may be left out, and what is not known is left alone."""
    assert isinstance(convert(params, METHODS[method].params), METHODS[method].params)


@pytest.mark.parametrize(("method", "params"), BAD)
def test_params_that_do_not_fit_are_refused_without_their_values(method: str, params: dict[str, Any]) -> None:
    """The text says that the params are at fault, and never repeats what was sent."""
    with pytest.raises(InvalidParams, match=r"^Invalid params: ") as caught:
        convert(params, METHODS[method].params)
    assert caught.value.code == -32602
    assert SECRET not in caught.value.message
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("tools/list", {"cursor": 1}, "Expected `str | null`, got `int` - at `$.cursor`"),
        ("prompts/get", {}, "Object missing required field `name`"),
        ("logging/setLevel", {"level": SECRET}, "Invalid value - at `$.level`"),
        (
            "completion/complete",
            {"ref": {"type": SECRET}, "argument": TYPED},
            "Invalid value - at `$.ref.type`",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(method: str, params: dict[str, Any], said: str) -> None:
    """As far as that can be said without the value."""
    with pytest.raises(InvalidParams) as caught:
        convert(params, METHODS[method].params)
    assert caught.value.message == f"Invalid params: {said}"
