"""What `typegate.types` promises: frozen values that have the names of the specification on the wire."""

import inspect
from typing import Any, get_args

import msgspec
import pytest

from typegate import types
from typegate.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    EmbeddedResourceContent,
    EmptyResult,
    GetPromptResult,
    Icon,
    ImageContent,
    Implementation,
    InitializeResult,
    Issue,
    ListResult,
    LogLevel,
    Principal,
    Problem,
    Prompt,
    PromptArgument,
    PromptMessageData,
    ReadResourceResult,
    Resource,
    ResourceContents,
    ResourceLink,
    ResourceTemplate,
    Result,
    SubscriptionEnded,
    Text,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

META = {"dev.example/a": [1, None]}
ICON = Icon(src="https://a.example/i.png", mime_type="image/png", sizes=("48x48", "any"), theme="dark")
HINTS = Annotations(audience=("user", "assistant"), priority=0.5, last_modified="2026-01-12T15:00:58Z")
TEXT = TextContent("words", annotations=HINTS, meta=META)
CONTENTS = TextResourceContents(uri="a://b", text="words", mime_type="text/plain", meta=META)

ICON_ON_WIRE = {
    "src": "https://a.example/i.png",
    "mimeType": "image/png",
    "sizes": ["48x48", "any"],
    "theme": "dark",
}
HINTS_ON_WIRE = {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-12T15:00:58Z"}
TEXT_ON_WIRE = {"type": "text", "text": "words", "annotations": HINTS_ON_WIRE, "_meta": META}
CONTENTS_ON_WIRE = {"uri": "a://b", "text": "words", "mimeType": "text/plain", "_meta": META}
DESCRIBED: dict[str, Any] = {"name": "n", "title": "T", "description": "D", "icons": (ICON,), "meta": META}
DESCRIBED_ON_WIRE = {"name": "n", "title": "T", "description": "D", "icons": [ICON_ON_WIRE], "_meta": META}
MEDIA: dict[str, Any] = {"data": "aGk=", "mime_type": "a/b", "annotations": HINTS, "meta": META}
MEDIA_ON_WIRE = {"data": "aGk=", "mimeType": "a/b", "annotations": HINTS_ON_WIRE, "_meta": META}

FULL: list[tuple[msgspec.Struct, Any]] = [  # a value with every field, what travels of it
    (ICON, ICON_ON_WIRE),
    (HINTS, HINTS_ON_WIRE),
    (
        Implementation(name="n", version="1", title="T", description="D", website_url="u", icons=(ICON,)),
        {
            "name": "n",
            "version": "1",
            "title": "T",
            "description": "D",
            "websiteUrl": "u",
            "icons": [ICON_ON_WIRE],
        },
    ),
    (
        ToolAnnotations(
            title="T",
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
        {
            "title": "T",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    ),
    (TEXT, TEXT_ON_WIRE),
    (ImageContent(**MEDIA), {"type": "image", **MEDIA_ON_WIRE}),
    (AudioContent(**MEDIA), {"type": "audio", **MEDIA_ON_WIRE}),
    (
        ResourceLink(uri="a://b", mime_type="a/b", size=0, annotations=HINTS, **DESCRIBED),
        {
            "type": "resource_link",
            "uri": "a://b",
            "mimeType": "a/b",
            "size": 0,
            "annotations": HINTS_ON_WIRE,
            **DESCRIBED_ON_WIRE,
        },
    ),
    (
        EmbeddedResourceContent(resource=CONTENTS, annotations=HINTS, meta=META),
        {"type": "resource", "resource": CONTENTS_ON_WIRE, "annotations": HINTS_ON_WIRE, "_meta": META},
    ),
    (CONTENTS, CONTENTS_ON_WIRE),
    (
        BlobResourceContents(uri="a://b", blob="aGk=", mime_type="a/b", meta=META),
        {"uri": "a://b", "blob": "aGk=", "mimeType": "a/b", "_meta": META},
    ),
    (PromptMessageData(role="assistant", content=TEXT), {"role": "assistant", "content": TEXT_ON_WIRE}),
    (
        Tool(
            input_schema={"type": "object"},
            output_schema={"type": "array"},
            object_output_schema={"type": "object"},
            annotations=ToolAnnotations(read_only_hint=True),
            **DESCRIBED,
        ),
        {
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "array"},
            "objectOutputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True},
            **DESCRIBED_ON_WIRE,
        },
    ),
    (
        Resource(uri="a://b", mime_type="a/b", size=0, annotations=HINTS, **DESCRIBED),
        {"uri": "a://b", "mimeType": "a/b", "size": 0, "annotations": HINTS_ON_WIRE, **DESCRIBED_ON_WIRE},
    ),
    (
        ResourceTemplate(uri_template="a://{b}", mime_type="a/b", annotations=HINTS, **DESCRIBED),
        {"uriTemplate": "a://{b}", "mimeType": "a/b", "annotations": HINTS_ON_WIRE, **DESCRIBED_ON_WIRE},
    ),
    (
        PromptArgument(name="n", title="T", description="D", required=False),
        {"name": "n", "title": "T", "description": "D", "required": False},
    ),
    (
        Prompt(arguments=(PromptArgument(name="a"),), **DESCRIBED),
        {"arguments": [{"name": "a"}], **DESCRIBED_ON_WIRE},
    ),
]

LEAST: list[tuple[msgspec.Struct, Any]] = [  # a value with what it must have, what travels of it
    (Annotations(), {}),
    (ToolAnnotations(), {}),
    (Icon(src="s"), {"src": "s"}),
    (Implementation(name="n", version="1"), {"name": "n", "version": "1"}),
    (TextContent(""), {"type": "text", "text": ""}),
    (ImageContent(data="", mime_type=""), {"type": "image", "data": "", "mimeType": ""}),
    (AudioContent(data="", mime_type=""), {"type": "audio", "data": "", "mimeType": ""}),
    (ResourceLink(uri="u", name="n"), {"type": "resource_link", "uri": "u", "name": "n"}),
    (EmbeddedResourceContent(resource=CONTENTS), {"type": "resource", "resource": CONTENTS_ON_WIRE}),
    (TextResourceContents(uri="u", text=""), {"uri": "u", "text": ""}),
    (BlobResourceContents(uri="u", blob=""), {"uri": "u", "blob": ""}),
    (Tool(name="n", input_schema={}), {"name": "n", "inputSchema": {}}),
    (Resource(uri="u", name="n"), {"uri": "u", "name": "n"}),
    (ResourceTemplate(uri_template="u", name="n"), {"uriTemplate": "u", "name": "n"}),
    (PromptArgument(name="n"), {"name": "n"}),
    (Prompt(name="n"), {"name": "n"}),
]

RESULTS: list[Result] = [
    EmptyResult(),
    InitializeResult(capabilities={}),
    DiscoverResult(capabilities={}),
    ListResult(items=b"[]"),
    CallToolResult(content=()),
    ReadResourceResult(contents=()),
    GetPromptResult(messages=()),
    CompleteResult(values=()),
    SubscriptionEnded(),
]


def name_of(value: Any) -> str:
    """The name of a class, as the id of a case."""
    return type(value).__name__ if isinstance(value, msgspec.Struct) else ""


def structs() -> dict[str, type[msgspec.Struct]]:
    """Every type of the module."""
    found = vars(types).items()
    classes = [each for _, each in found if inspect.isclass(each) and issubclass(each, msgspec.Struct)]
    return {each.__name__: each for each in classes}


# --- on the wire ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "expected"), FULL, ids=name_of)
def test_a_value_travels_under_the_names_of_the_specification(value: msgspec.Struct, expected: Any) -> None:
    """Every field in camelCase, `meta` as `_meta`, and blocks with their type."""
    assert all(getattr(value, field) is not None for field in value.__struct_fields__)
    assert msgspec.json.decode(msgspec.json.encode(value)) == expected


@pytest.mark.parametrize(("value", "expected"), LEAST, ids=name_of)
def test_what_is_not_given_does_not_travel(value: msgspec.Struct, expected: Any) -> None:
    """Neither as null nor as anything else."""
    assert msgspec.json.decode(msgspec.json.encode(value)) == expected


def test_every_type_that_travels_is_in_the_table() -> None:
    """A new one needs its names here."""
    travelling = {name for name, each in structs().items() if issubclass(each, types.Data)}
    assert travelling - {name_of(value) for value, _ in FULL} == {"Data", "Issue", "Problem"}


def test_text_may_be_written_short() -> None:
    """`Text("words")` is a text block."""
    assert Text is TextContent
    assert Text("words") == TextContent(text="words")


# --- refusals ------------------------------------------------------------------------------------


def test_a_refusal_always_has_its_four_fields() -> None:
    """Null where there is nothing to say; the two others only where they are known."""
    assert msgspec.to_builtins(Problem(code="c", message="m")) == {
        "code": "c",
        "message": "m",
        "hint": None,
        "issues": (),
    }
    known = msgspec.to_builtins(Problem(code="c", message="m", retry_after=1.5, reference="r"))
    assert (known["retry_after"], known["reference"]) == (1.5, "r")


def test_an_issue_always_has_its_four_fields() -> None:
    """The path is keys and indices from the arguments down."""
    assert msgspec.to_builtins(Issue(code="c", message="m")) == {
        "path": (),
        "code": "c",
        "message": "m",
        "expected": None,
    }
    raw = msgspec.json.encode(Issue(path=("filters", "tags", 2), code="type", message="m", expected="e"))
    assert raw == b'{"path":["filters","tags",2],"code":"type","message":"m","expected":"e"}'


# --- values --------------------------------------------------------------------------------------


VALUES = [*(value for value, _ in FULL), *RESULTS, Principal(subject="s")]


@pytest.mark.parametrize("value", VALUES, ids=name_of)
def test_a_value_cannot_be_changed(value: msgspec.Struct) -> None:
    """Whoever holds one may pass it on."""
    for field in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, field, None)


@pytest.mark.parametrize("result", RESULTS, ids=name_of)
def test_every_result_can_have_meta(result: Result) -> None:
    """And has none by itself."""
    assert result.meta is None
    assert msgspec.structs.replace(result, meta=META).meta == META


def test_every_result_is_in_the_list() -> None:
    """A new one is tested like the others."""
    results = {name for name, each in structs().items() if issubclass(each, Result)} - {"Result"}
    assert results == {type(result).__name__ for result in RESULTS}


def test_a_result_claims_nothing_by_itself() -> None:
    """A call did not fail, a listing is whole and public, a completion does not say how many there are."""
    call, page, completion = CallToolResult(content=()), ListResult(items=b"[]"), CompleteResult(values=())
    assert (call.structured, call.wraps, call.is_error) == (None, False, False)
    assert (page.next_cursor, page.private) == (None, False)
    assert (completion.total, completion.has_more) == (None, None)


def test_a_caller_has_no_scopes_that_were_not_given() -> None:
    """And no two callers share what is known of them."""
    one, other = Principal(subject="a"), Principal(subject="a")
    assert (one.issuer, one.client, one.scopes, one.claims) == (None, None, frozenset(), {})
    assert one == other
    assert one.claims is not other.claims


def test_the_levels_stand_in_the_order_of_their_gravity() -> None:
    """As RFC 5424 has them, the gravest last."""
    words = "debug info notice warning error critical alert emergency"
    assert get_args(LogLevel) == tuple(words.split())


def test_every_type_is_exported() -> None:
    """All but the common base, and the unions with them."""
    unions = {"PROBLEM_KEY", "ContentBlock", "ResourceContents", "Listed", "Json", "Role", "LogLevel", "Text"}
    assert set(types.__all__) == set(structs()) - {"Data"} | unions
    assert get_args(ResourceContents) == (TextResourceContents, BlobResourceContents)
    assert set(get_args(types.Listed)) == {Tool, Resource, ResourceTemplate, Prompt}
