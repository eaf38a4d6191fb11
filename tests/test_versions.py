"""What `typegate.versions` promises: its tables say of each revision what the published schema says."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from clients.conftest import absent, schemas
from clients.wire_schema import Spec

from typegate import types
from typegate.versions import LATEST_LEGACY, LATEST_MODERN, LEGACY, MODERN, SINCE, VERSIONS

__all__ = ["absent", "schemas"]

EVERY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

every_revision = pytest.mark.parametrize("revision", EVERY)

KINDS = [  # a row of SINCE, a definition of the schema, the type that travels
    ("Implementation", "Implementation", types.Implementation),
    ("Tool", "Tool", types.Tool),
    ("Resource", "Resource", types.Resource),
    ("ResourceTemplate", "ResourceTemplate", types.ResourceTemplate),
    ("Prompt", "Prompt", types.Prompt),
    ("PromptArgument", "PromptArgument", types.PromptArgument),
    ("ResourceLink", "ResourceLink", types.ResourceLink),
    ("Annotations", "Annotations", types.Annotations),
    ("Content", "TextContent", types.TextContent),
    ("Content", "ImageContent", types.ImageContent),
    ("Content", "AudioContent", types.AudioContent),
    ("Content", "EmbeddedResource", types.EmbeddedResourceContent),
    ("ResourceContents", "TextResourceContents", types.TextResourceContents),
    ("ResourceContents", "BlobResourceContents", types.BlobResourceContents),
]


def properties(schemas: Path, revision: str, definition: str) -> dict[str, Any]:
    """The properties of a definition in a revision; none where it does not exist."""
    found: dict[str, Any] = Spec(revision, schemas).defs.get(definition, {}).get("properties", {})
    return found


def test_the_revisions_are_those_that_were_published() -> None:
    """They stand in the order of their dates, and the rank is the place."""
    assert tuple(VERSIONS) == EVERY
    assert [version.rank for version in VERSIONS.values()] == [0, 1, 2, 3, 4]
    assert all(version.name == name for name, version in VERSIONS.items())


def test_the_newest_is_the_only_stateless_one() -> None:
    """A handshake settles one of the first four; the fifth has none."""
    assert EVERY[:4] == LEGACY
    assert EVERY[4:] == MODERN
    assert (LATEST_LEGACY.name, LATEST_MODERN.name) == (LEGACY[-1], MODERN[-1])
    assert [version.modern for version in VERSIONS.values()] == [False] * 4 + [True]


@every_revision
def test_batches_are_where_the_schema_has_them(schemas: Path, revision: str) -> None:
    """A batch is a definition of its own in one revision."""
    assert VERSIONS[revision].batches == ("JSONRPCBatchRequest" in Spec(revision, schemas).defs)


@every_revision
def test_structured_content_is_what_the_schema_admits(schemas: Path, revision: str) -> None:
    """Nothing, then objects, then any value."""
    field = properties(schemas, revision, "CallToolResult").get("structuredContent")
    expected = "none" if field is None else "object" if field.get("type") == "object" else "any"
    assert VERSIONS[revision].structured == expected


@every_revision
def test_an_error_may_be_without_an_id_where_the_schema_says_so(schemas: Path, revision: str) -> None:
    """Where the id of an error is required, an unknown one is null; else it is left out."""
    defs = Spec(revision, schemas).defs
    error = defs.get("JSONRPCErrorResponse") or defs["JSONRPCError"]
    assert VERSIONS[revision].null_id == ("id" in error["required"])


@pytest.mark.parametrize(("kind", "definition", "made"), KINDS, ids=[row[1] for row in KINDS])
def test_a_field_is_sent_from_the_revision_on_that_has_it(
    schemas: Path, kind: str, definition: str, made: type[msgspec.Struct]
) -> None:
    """Every field of every type: the table says the rank of the first schema with it."""
    by_rank = [properties(schemas, revision, definition) for revision in EVERY]
    first = next(rank for rank, found in enumerate(by_rank) if found)
    for field in {field.encode_name for field in msgspec.structs.fields(made)} - {"objectOutputSchema"}:
        since = next(rank for rank, found in enumerate(by_rank) if field in found)
        assert max(SINCE[kind].get(field, 0), first) == since, field
        assert all(field in found for found in by_rank[since:]), field


def test_the_table_names_no_field_that_does_not_exist() -> None:
    """A misspelt name would let the real field through."""
    known = {(kind, field.encode_name) for kind, _, made in KINDS for field in msgspec.structs.fields(made)}
    named = {(kind, field) for kind, fields in SINCE.items() for field in fields}
    assert named - known == {("Progress", "message")}


@every_revision
def test_progress_has_a_message_where_the_schema_has_it(schemas: Path, revision: str) -> None:
    """The text of a progress report came with the second revision."""
    spec = Spec(revision, schemas)
    params = spec.defs["ProgressNotification"]["properties"]["params"]
    fields = spec.defs[params["$ref"].rpartition("/")[2]] if "$ref" in params else params
    assert ("message" in fields["properties"]) == (SINCE["Progress"]["message"] <= VERSIONS[revision].rank)
