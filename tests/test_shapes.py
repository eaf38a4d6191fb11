"""What `typegate.wire.shapes` promises: a result in the words of each revision, and in no others.

Everything goes through a connection, as it does on the wire, and is held against the published schema.
"""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from clients.conftest import absent, schemas
from clients.wire_schema import Spec

from typegate.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    CompleteResult,
    ContentBlock,
    DiscoverResult,
    EmbeddedResourceContent,
    EmptyResult,
    GetPromptResult,
    Icon,
    ImageContent,
    Implementation,
    InitializeResult,
    Listed,
    ListResult,
    Prompt,
    PromptArgument,
    PromptMessageData,
    ReadResourceResult,
    Resource,
    ResourceLink,
    ResourceTemplate,
    Result,
    SubscriptionEnded,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from typegate.versions import LEGACY, MODERN, VERSIONS
from typegate.wire.connection import Connection, RequestReceived, Terms
from typegate.wire.jsonrpc import dumps
from typegate.wire.methods import METHODS
from typegate.wire.shapes import Identity, describe

__all__ = ["absent", "schemas"]

Message = dict[str, Any]

A, B, C, D, E = VERSIONS
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
ENVELOPE = {"io.modelcontextprotocol/protocolVersion": E, "io.modelcontextprotocol/clientCapabilities": {}}

every_revision = pytest.mark.parametrize("revision", VERSIONS)
every_session = pytest.mark.parametrize("revision", LEGACY)

spec = functools.cache(Spec)

# --- a server with all that can be said of it ----------------------------------------------------

ICONS = (Icon(src="https://example.com/i.png", mime_type="image/png", sizes=("48x48",), theme="dark"),)
ICON = {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
SERVER = Implementation(
    name="t", version="1", title="T", description="D", website_url="https://example.com/", icons=ICONS
)
WHOLE = {
    "name": "t",
    "version": "1",
    "title": "T",
    "description": "D",
    "websiteUrl": "https://example.com/",
    "icons": [ICON],
}
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
IDENTITY = Identity(SERVER)


def reply(connection: Connection, received: RequestReceived, outcome: Any) -> bytes | None:
    """Encode an answer and settle its request, as whoever runs the connection does."""
    line = connection.encode(received, outcome)
    connection.settle(received)
    return line


def answered(result: Result, method: str, revision: str) -> tuple[Message, Message]:
    """A request at this revision, and the message in which *result* answers it."""
    connection = Connection(Terms(IDENTITY, CAPABILITIES))
    asked: Message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": ENVELOPE}}
    if revision in LEGACY:
        params = {
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        event = connection.receive(dumps(opening))
        if method != "initialize":
            assert isinstance(event, RequestReceived)
            reply(connection, event, EmptyResult())
        asked = opening if method == "initialize" else {**asked, "params": {}}
    if method != "initialize" or revision in MODERN:
        event = connection.receive(dumps(asked))
    assert isinstance(event, RequestReceived), event
    line = reply(connection, event, result)
    assert line is not None
    return asked, json.loads(line)


def sent(result: Result, method: str, revision: str) -> Message:
    """The result object as it travels at this revision."""
    found: Message = answered(result, method, revision)[1]["result"]
    return found


# --- every result --------------------------------------------------------------------------------

MARKED = Annotations(audience=("user",), priority=0.5, last_modified="2026-01-01T00:00:00Z")
META = {"example.com/x": 1}

TEXT = TextContent(text="t", annotations=MARKED, meta=META)
IMAGE = ImageContent(data="eA==", mime_type="image/png", annotations=MARKED, meta=META)
AUDIO = AudioContent(data="eA==", mime_type="audio/wav", annotations=MARKED, meta=META)
LINK = ResourceLink(
    uri="r://1", name="n", title="T", description="D", mime_type="text/plain", size=3, annotations=MARKED,
    icons=ICONS, meta=META,
)  # fmt: skip
EMBEDDED_TEXT = EmbeddedResourceContent(
    resource=TextResourceContents(uri="r://1", text="t", mime_type="text/plain", meta=META),
    annotations=MARKED,
    meta=META,
)
EMBEDDED_BLOB = EmbeddedResourceContent(resource=BlobResourceContents(uri="r://1", blob="eA==", meta=META))
BLOCKS: dict[str, ContentBlock] = {
    "text": TEXT,
    "image": IMAGE,
    "audio": AUDIO,
    "link": LINK,
    "embedded text": EMBEDDED_TEXT,
    "embedded blob": EMBEDDED_BLOB,
}
EVERYTHING = tuple(BLOCKS.values())

TOOL = Tool(
    name="t", title="T", description="D", input_schema={"type": "object"}, output_schema={"type": "array"},
    object_output_schema={"type": "object", "properties": {"result": {"type": "array"}}},
    annotations=ToolAnnotations(title="A", read_only_hint=True, destructive_hint=False),
    icons=ICONS, meta=META,
)  # fmt: skip
RESOURCE = Resource(
    uri="r://1", name="n", title="T", description="D", mime_type="text/plain", size=3, annotations=MARKED,
    icons=ICONS, meta=META,
)  # fmt: skip
TEMPLATE = ResourceTemplate(
    uri_template="r://{x}", name="n", title="T", description="D", mime_type="text/plain", annotations=MARKED,
    icons=ICONS, meta=META,
)  # fmt: skip
ARGUMENT = PromptArgument(name="a", title="T", description="D", required=True)
PROMPT = Prompt(
    name="p",
    title="T",
    description="D",
    arguments=(ARGUMENT, PromptArgument(name="b")),
    icons=ICONS,
    meta=META,
)


def listed(item: Listed, revision: str, cursor: str | None = None) -> ListResult:
    """A page with one entry, in the words of the revision."""
    return ListResult(items=dumps([describe(item, VERSIONS[revision])]), next_cursor=cursor)


RESULTS: dict[str, tuple[str, Any]] = {  # a method and what answers it, or makes the answer for a revision
    "initialize": ("initialize", InitializeResult(capabilities=CAPABILITIES, instructions="I")),
    "initialize in short": ("initialize", InitializeResult(capabilities={})),
    "discover": ("server/discover", DiscoverResult(capabilities=CAPABILITIES, instructions="I")),
    "discover in short": ("server/discover", DiscoverResult(capabilities={})),
    "ping": ("ping", EmptyResult()),
    "set level": ("logging/setLevel", EmptyResult()),
    "subscribe": ("resources/subscribe", EmptyResult()),
    "unsubscribe": ("resources/unsubscribe", EmptyResult()),
    "tools": ("tools/list", functools.partial(listed, TOOL)),
    "tools, and more": ("tools/list", functools.partial(listed, TOOL, cursor="c")),
    "resources": ("resources/list", functools.partial(listed, RESOURCE)),
    "templates": ("resources/templates/list", functools.partial(listed, TEMPLATE)),
    "prompts": ("prompts/list", functools.partial(listed, PROMPT)),
    "no tools": ("tools/list", ListResult(items=b"[]")),
    "a call": ("tools/call", CallToolResult(content=EVERYTHING, structured=b"[1]", wraps=True, meta=META)),
    "a call without words": ("tools/call", CallToolResult(content=())),
    "a failed call": ("tools/call", CallToolResult(content=(TEXT,), structured=b'{"e":1}', is_error=True)),
    "a resource": (
        "resources/read",
        ReadResourceResult(contents=(EMBEDDED_TEXT.resource, EMBEDDED_BLOB.resource)),
    ),
    "an empty resource": ("resources/read", ReadResourceResult(contents=(), meta=META)),
    "a prompt": (
        "prompts/get",
        GetPromptResult(
            messages=tuple(PromptMessageData(role="user", content=block) for block in EVERYTHING),
            description="D",
        ),
    ),
    "a short prompt": (
        "prompts/get",
        GetPromptResult(messages=(PromptMessageData(role="assistant", content=TextContent("t")),)),
    ),
    "completions": ("completion/complete", CompleteResult(values=("a", "b"), total=5, has_more=True)),
    "no completions": ("completion/complete", CompleteResult(values=())),
    "the end of a subscription": ("subscriptions/listen", SubscriptionEnded(meta={SUBSCRIPTION: "s"})),
}

PLACES = [
    (name, revision)
    for name, (method, _) in RESULTS.items()
    for revision, version in VERSIONS.items()
    if METHODS[method].exists_in(version)
]
everywhere = pytest.mark.parametrize(("name", "revision"), PLACES)


def made(name: str, revision: str) -> tuple[Message, Message]:
    """The request and the answer of a row."""
    method, result = RESULTS[name]
    return answered(result if isinstance(result, Result) else result(revision), method, revision)


@everywhere
def test_a_result_fits_the_schema_of_its_revision(schemas: Path, name: str, revision: str) -> None:
    """Whatever is in it, the published schema has nothing against it."""
    request, answer = made(name, revision)
    assert spec(revision, schemas).errors(answer, answers=request) == []


@everywhere
def test_only_the_newest_revision_has_its_marks(name: str, revision: str) -> None:
    """There each result says what kind it is and who made it; nobody else gets to see that."""
    result = made(name, revision)[1]["result"]
    if revision == E:
        assert result["resultType"] == "complete"
        assert result["_meta"][SERVER_INFO] == WHOLE
    else:
        assert not {"resultType", "ttlMs", "cacheScope"} & result.keys()
        assert SERVER_INFO not in result.get("_meta", {})


@pytest.mark.parametrize("name", [name for name, revision in PLACES if revision == E])
def test_a_result_that_may_be_kept_says_for_how_long(name: str) -> None:
    """The hints are on every page and on nothing that must be asked for anew."""
    method, result = RESULTS[name][0], made(name, E)[1]["result"]
    scopes = {"server/discover": "public", "resources/read": "private"}
    if method in scopes or method.endswith("/list"):
        assert (result["ttlMs"], result["cacheScope"]) == (0, scopes.get(method, "public"))
    else:
        assert not {"ttlMs", "cacheScope"} & result.keys()


@every_revision
@pytest.mark.parametrize("private", [False, True])
def test_a_listing_says_whether_it_is_the_same_for_everyone(private: bool, revision: str) -> None:
    """One that another caller may see otherwise is not to be shared; older clients know nothing of that."""
    found = sent(ListResult(items=b"[]", private=private), "tools/list", revision)
    assert found.get("cacheScope") == (("private" if private else "public") if revision == E else None)


@everywhere
def test_nothing_is_null(name: str, revision: str) -> None:
    """What is not known is left out."""
    assert "null" not in json.dumps(made(name, revision)[1])


@every_revision
def test_the_meta_of_a_result_is_kept(revision: str) -> None:
    """Beside the stamp of the newest revision, which nobody can forge."""
    result = CallToolResult(content=(), meta={**META, SERVER_INFO: "forged"})
    found = sent(result, "tools/call", revision)["_meta"]
    assert found["example.com/x"] == 1
    assert (found[SERVER_INFO] == "forged") == (revision != E)


def test_the_end_of_a_subscription_names_it() -> None:
    """The id keeps its type."""
    for id_ in (0, "0", "é"):
        found = sent(SubscriptionEnded(meta={SUBSCRIPTION: id_}), "subscriptions/listen", E)
        assert found["_meta"][SUBSCRIPTION] == id_
        assert found.keys() == {"resultType", "_meta"}


# --- who the server is ---------------------------------------------------------------------------


def since(*fields: tuple[str, str]) -> dict[str, set[str]]:
    """The fields that there are at each revision, from pairs of a field and the first that has it."""
    return {revision: {field for field, first in fields if first <= revision} for revision in VERSIONS}


IMPLEMENTATION = since(
    *(("name", A), ("version", A), ("title", C), ("description", D), ("websiteUrl", D), ("icons", D))
)


@every_session
def test_a_handshake_is_answered_in_the_words_of_the_revision(revision: str) -> None:
    """It names the revision, the server as far as the client knows such fields, and what there is."""
    found = sent(InitializeResult(capabilities=CAPABILITIES, instructions="I"), "initialize", revision)
    assert found.keys() == {"protocolVersion", "capabilities", "serverInfo", "instructions"}
    assert found["protocolVersion"] == revision
    assert found["serverInfo"].keys() == IMPLEMENTATION[revision]
    known = CAPABILITIES.keys() - ({"completions"} if revision == A else set())
    assert found["capabilities"] == {key: CAPABILITIES[key] for key in known}


def test_discovery_names_the_stateless_revisions() -> None:
    """Who the server is stands in the stamp, not in the body."""
    found = sent(DiscoverResult(capabilities=CAPABILITIES, instructions="I"), "server/discover", E)
    assert found["supportedVersions"] == [E]
    assert (found["capabilities"], found["instructions"]) == (CAPABILITIES, "I")
    assert "serverInfo" not in found


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_instructions_are_left_out_where_there_are_none(method: str) -> None:
    """And so are capabilities, but not the member that would hold them."""
    result = {"initialize": InitializeResult, "server/discover": DiscoverResult}[method](capabilities={})
    found = sent(result, method, D if method == "initialize" else E)
    assert "instructions" not in found
    assert found["capabilities"] == {}


# --- structured content --------------------------------------------------------------------------

STRUCTURED: list[
    tuple[bytes | None, bool, Any, Any]
] = [  # the value, whether it is wrapped, at C and D, at E
    (None, False, ..., ...),
    (b'{"a":1.0}', False, {"a": 1.0}, {"a": 1.0}),
    (b"[1]", True, {"result": [1]}, [1]),
    (b'"s"', True, {"result": "s"}, "s"),
    (b"5", True, {"result": 5}, 5),
    (b"null", True, {"result": None}, None),
    (b'{"a":1}', True, {"result": {"a": 1}}, {"a": 1}),
    (b'{"result":1}', False, {"result": 1}, {"result": 1}),
]


@every_revision
@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize(("value", "wraps", "wrapped", "natural"), STRUCTURED)
def test_structured_content_is_absent_then_an_object_then_anything(
    value: bytes | None, wraps: bool, wrapped: Any, natural: Any, is_error: bool, revision: str
) -> None:
    """The same value for programs: not at all, wrapped, and as itself."""
    result = CallToolResult(content=(TEXT,), structured=value, wraps=wraps, is_error=is_error)
    found = sent(result, "tools/call", revision)
    expected = {A: ..., B: ..., C: wrapped, D: wrapped, E: natural}[revision]
    assert found.get("structuredContent", ...) == expected
    assert found.get("isError", False) is is_error
    assert len(found["content"]) == 1


# --- content -------------------------------------------------------------------------------------

CONTENT_FIELDS = {
    "text": since(("type", A), ("text", A), ("annotations", A), ("_meta", C)),
    "image": since(("type", A), ("data", A), ("mimeType", A), ("annotations", A), ("_meta", C)),
    "audio": since(("type", B), ("data", B), ("mimeType", B), ("annotations", B), ("_meta", C)),
    "link": since(
        *((field, C) for field in ("type", "uri", "name", "title", "description", "mimeType", "size")),
        *(("annotations", C), ("_meta", C), ("icons", D)),
    ),
    "embedded text": since(("type", A), ("resource", A), ("annotations", A), ("_meta", C)),
    "embedded blob": since(("type", A), ("resource", A)),
}
ANNOTATIONS = since(("audience", A), ("priority", A), ("lastModified", C))


def blocks_of(block: ContentBlock, revision: str) -> list[Message]:
    """A block alone in a result, beside another one, and in a prompt."""
    alone = sent(CallToolResult(content=(block,)), "tools/call", revision)["content"]
    beside = sent(CallToolResult(content=(TextContent("x"), block)), "tools/call", revision)["content"]
    message = PromptMessageData(role="user", content=block)
    prompt = sent(GetPromptResult(messages=(message,)), "prompts/get", revision)["messages"]
    return [*alone, beside[1], prompt[0]["content"]]


@every_revision
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_has_the_fields_of_its_revision(name: str, revision: str) -> None:
    """In a result and in a prompt, alone and beside another one."""
    expected = CONTENT_FIELDS[name][revision]
    for block in blocks_of(BLOCKS[name], revision) if expected else []:
        assert block.keys() == expected
        assert block.get("annotations", {}).keys() == (
            ANNOTATIONS[revision] if "annotations" in block else set()
        )


@every_revision
@pytest.mark.parametrize("name", ["embedded text", "embedded blob"])
def test_an_embedded_resource_has_the_fields_of_its_revision(name: str, revision: str) -> None:
    """Its own `_meta` came with that of the blocks."""
    for block in blocks_of(BLOCKS[name], revision):
        assert ("_meta" in block["resource"]) == (revision >= C)
        assert block["resource"]["uri"] == "r://1"


DOWNGRADED = [
    ("audio", A, {"type": "text", "text": "[audio of type audio/wav, which this client cannot take]"}),
    ("link", A, {"type": "text", "text": "T: r://1"}),
    ("link", B, {"type": "text", "text": "T: r://1"}),
]


@pytest.mark.parametrize(("name", "revision", "expected"), DOWNGRADED)
def test_a_block_that_a_client_cannot_take_becomes_text(name: str, revision: str, expected: Message) -> None:
    """The model is told what there is, in a block that the client knows."""
    assert blocks_of(BLOCKS[name], revision) == [expected] * 3


def test_a_link_without_a_title_goes_by_its_name() -> None:
    """Where it becomes text."""
    link = ResourceLink(uri="r://1", name="n")
    assert blocks_of(link, A)[0]["text"] == "n: r://1"


@every_revision
def test_the_contents_of_a_resource_have_the_fields_of_the_revision(revision: str) -> None:
    """Text and bytes alike."""
    contents = (EMBEDDED_TEXT.resource, EMBEDDED_BLOB.resource)
    text, blob = sent(ReadResourceResult(contents=contents), "resources/read", revision)["contents"]
    meta = {"_meta": META} if revision >= C else {}
    assert text == {"uri": "r://1", "text": "t", "mimeType": "text/plain", **meta}
    assert blob == {"uri": "r://1", "blob": "eA==", **meta}


# --- listings ------------------------------------------------------------------------------------


def described(item: Listed, revision: str) -> Message:
    """An entry as it travels."""
    found: Message = json.loads(dumps(describe(item, VERSIONS[revision])))
    return found


LISTED: list[tuple[Listed, dict[str, set[str]]]] = [
    (
        TOOL,
        since(
            *(("name", A), ("description", A), ("inputSchema", A), ("annotations", B)),
            *(("title", C), ("outputSchema", C), ("_meta", C), ("icons", D)),
        ),
    ),
    (
        RESOURCE,
        since(
            *((field, A) for field in ("uri", "name", "description", "mimeType", "size", "annotations")),
            *(("title", C), ("_meta", C), ("icons", D)),
        ),
    ),
    (
        TEMPLATE,
        since(
            *((field, A) for field in ("uriTemplate", "name", "description", "mimeType", "annotations")),
            *(("title", C), ("_meta", C), ("icons", D)),
        ),
    ),
    (
        PROMPT,
        since(("name", A), ("description", A), ("arguments", A), ("title", C), ("_meta", C), ("icons", D)),
    ),
]


@every_revision
@pytest.mark.parametrize(("item", "fields"), LISTED, ids=["tool", "resource", "template", "prompt"])
def test_an_entry_has_the_fields_of_its_revision(
    item: Listed, fields: dict[str, set[str]], revision: str
) -> None:
    """What came later is left out; what is sent is whole."""
    found = described(item, revision)
    assert found.keys() == fields[revision]
    assert found.get("icons", [ICON]) == [ICON]
    assert found.get("_meta", META) == META


@every_revision
def test_a_tool_is_annotated_as_it_was_written(revision: str) -> None:
    """The hints of a tool are no annotations of content: nothing is taken out of them."""
    found = described(TOOL, revision).get("annotations")
    assert found == (
        None if revision == A else {"title": "A", "readOnlyHint": True, "destructiveHint": False}
    )


@every_revision
@pytest.mark.parametrize("item", [RESOURCE, TEMPLATE], ids=["resource", "template"])
def test_an_annotated_entry_says_when_it_changed_where_that_is_known(item: Listed, revision: str) -> None:
    """The field is inside another one, and goes all the same."""
    assert described(item, revision)["annotations"].keys() == ANNOTATIONS[revision]


@every_revision
def test_the_output_of_a_tool_is_an_object_for_handshake_clients(revision: str) -> None:
    """The schema of the value itself is for the newest revision alone."""
    expected = {C: TOOL.object_output_schema, D: TOOL.object_output_schema, E: TOOL.output_schema}.get(
        revision
    )
    assert described(TOOL, revision).get("outputSchema") == expected


@every_revision
def test_the_arguments_of_a_prompt_have_the_fields_of_the_revision(revision: str) -> None:
    """Each for itself."""
    first, second = described(PROMPT, revision)["arguments"]
    assert first == {
        "name": "a",
        "description": "D",
        "required": True,
        **({"title": "T"} if revision >= C else {}),
    }
    assert second == {"name": "b"}


SHORT: list[tuple[Listed, Message]] = [
    (Tool(name="t", input_schema={}), {"name": "t", "inputSchema": {}}),
    (Resource(uri="u:", name="n"), {"uri": "u:", "name": "n"}),
    (ResourceTemplate(uri_template="u:{x}", name="n"), {"uriTemplate": "u:{x}", "name": "n"}),
    (Prompt(name="p"), {"name": "p"}),
]


@every_revision
@pytest.mark.parametrize(("item", "expected"), SHORT)
def test_an_entry_has_no_field_that_was_not_given(item: Listed, expected: Message, revision: str) -> None:
    """Neither null nor empty."""
    assert described(item, revision) == expected


@every_revision
def test_a_cursor_is_there_while_there_is_more(revision: str) -> None:
    """And left out on the last page."""
    assert sent(listed(TOOL, revision, 'a"\n'), "tools/list", revision)["nextCursor"] == 'a"\n'
    assert "nextCursor" not in sent(listed(TOOL, revision), "tools/list", revision)
