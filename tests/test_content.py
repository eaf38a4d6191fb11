"""What `typegate.content` promises: helpers are plain values, and each knows the block that it becomes."""

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from typegate.content import (
    Audio,
    EmbeddedResource,
    File,
    Image,
    PromptMessage,
    ToolResult,
    block_of,
    encode_base64,
)
from typegate.errors import InvalidResult
from typegate.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    EmbeddedResourceContent,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

ANNOTATIONS = Annotations(audience=("user",), priority=0.5)
META = {"dev.example/key": 1}
NOT_UTF8 = b"caf\xe9"
MEDIA = (Image, Audio, File)


def resource(block: Any) -> Any:
    """What an embedded resource carries."""
    assert isinstance(block, EmbeddedResourceContent)
    return block.resource


def file_at(folder: Path, name: str, data: bytes) -> Path:
    """A file of this name and these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


# --- base64 --------------------------------------------------------------------------------------

ENCODED = [  # the vectors of RFC 4648 section 10, and the two characters in which its alphabets differ
    (b"", ""),
    (b"f", "Zg=="),
    (b"fo", "Zm8="),
    (b"foo", "Zm9v"),
    (b"foobar", "Zm9vYmFy"),
    (b"\xfb\xff\xbf", "+/+/"),
    (b"\xff" * 100, base64.standard_b64encode(b"\xff" * 100).decode()),
]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize(("data", "text"), ENCODED)
def test_bytes_travel_as_standard_base64(kind: Callable[[bytes], Any], data: bytes, text: str) -> None:
    """Padded, without line breaks, with `+` and `/`, whatever holds the bytes."""
    assert encode_base64(kind(data)) == text


# --- where the bytes come from -------------------------------------------------------------------


@pytest.mark.parametrize("kind", MEDIA)
@pytest.mark.parametrize("given", [{}, {"data": b"x", "path": "x"}, {"data": b"", "path": "x"}])
def test_bytes_come_from_exactly_one_place(kind: Any, given: dict[str, Any]) -> None:
    """Neither or both is refused at once, with the name of the helper and of the two options."""
    with pytest.raises(InvalidResult, match=rf"^{kind.__name__} takes exactly one of data= and path="):
        kind(**given)


@pytest.mark.parametrize("kind", MEDIA)
def test_bytes_may_be_none_at_all(kind: Any) -> None:
    """No bytes given and no bytes inside are two things."""
    assert kind(data=b"").read()[0] == b""


@pytest.mark.parametrize("kind", MEDIA)
@pytest.mark.parametrize("of", [str, Path])
def test_a_file_is_read_when_the_result_is_built(
    kind: Any, of: Callable[[Path], Any], tmp_path: Path
) -> None:
    """Not when the helper is made: what stands in it then is what travels."""
    helper = kind(path=of(tmp_path / "later.bin"))
    with pytest.raises(FileNotFoundError):
        helper.block()
    file_at(tmp_path, "later.bin", b"first")
    assert helper.read()[0] == b"first"
    file_at(tmp_path, "later.bin", b"second")
    assert helper.read()[0] == b"second"


DEFAULT_TYPES = [(Image, "image/png"), (Audio, "audio/wav"), (File, "application/octet-stream")]


@pytest.mark.parametrize(("kind", "default"), DEFAULT_TYPES)
def test_the_type_of_bytes_without_a_name_is_the_helpers_default(kind: Any, default: str) -> None:
    """Nothing is guessed from the bytes themselves, and what the author says goes before."""
    assert kind(data=b"GIF89a").read() == (b"GIF89a", default)
    assert kind(data=b"x", mime_type="x/y").read() == (b"x", "x/y")


SUFFIXES = [  # a file name, its MIME type; `None` where the default of the helper holds
    ("plot.png", "image/png"),
    ("plot.jpg", "image/jpeg"),
    ("plot.jpeg", "image/jpeg"),
    ("PLOT.JPEG", "image/jpeg"),
    ("plot.svg", "image/svg+xml"),
    ("a.mp3", "audio/mpeg"),
    ("a.m4a", "audio/mp4"),
    ("notes.txt", "text/plain"),
    ("notes.md", "text/markdown"),
    ("rows.csv", "text/csv"),
    ("all.json", "application/json"),
    ("all.json.zip", "application/zip"),
    ("all.zip.xyz", None),
    ("png", None),
    (".png", None),
    ("a.py", None),
]


@pytest.mark.parametrize(("kind", "default"), DEFAULT_TYPES)
@pytest.mark.parametrize(("name", "mime_type"), SUFFIXES)
def test_the_type_of_a_file_is_guessed_from_its_name(
    kind: Any, default: str, name: str, mime_type: str | None, tmp_path: Path
) -> None:
    """By its last suffix in any case; what the author says goes before, and the default comes last."""
    path = file_at(tmp_path, name, b"x")
    assert kind(path=path).read() == (b"x", mime_type or default)
    assert kind(path=path, mime_type="x/y").read() == (b"x", "x/y")


# --- the blocks of pictures, sounds and resources ------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "block", "mime_type"), [(Image, ImageContent, "image/png"), (Audio, AudioContent, "audio/wav")]
)
def test_pictures_and_sounds_become_blocks_of_their_own(kind: Any, block: Any, mime_type: str) -> None:
    """With their bytes, their type, and what the author noted on them."""
    assert kind(data=b"foo").block() == block(data="Zm9v", mime_type=mime_type)
    noted = kind(data=b"foo", mime_type="x/y", annotations=ANNOTATIONS, meta=META)
    assert noted.block() == block(data="Zm9v", mime_type="x/y", annotations=ANNOTATIONS, meta=META)


@pytest.mark.parametrize("given", [{}, {"text": "x", "blob": b"x"}, {"text": "", "blob": b""}])
def test_an_embedded_resource_is_either_text_or_bytes(given: dict[str, Any]) -> None:
    """Neither or both is refused at once."""
    with pytest.raises(InvalidResult, match="EmbeddedResource takes exactly one of text= and blob="):
        EmbeddedResource(uri="a://b", **given)


RESOURCES = [
    ({"text": "t"}, TextResourceContents(uri="a://b", text="t")),
    ({"text": ""}, TextResourceContents(uri="a://b", text="")),
    ({"text": "t", "mime_type": "x/y"}, TextResourceContents(uri="a://b", text="t", mime_type="x/y")),
    ({"blob": b"foo"}, BlobResourceContents(uri="a://b", blob="Zm9v")),
    ({"blob": b""}, BlobResourceContents(uri="a://b", blob="")),
    ({"blob": b"foo", "mime_type": "x/y"}, BlobResourceContents(uri="a://b", blob="Zm9v", mime_type="x/y")),
]


@pytest.mark.parametrize(("given", "contents"), RESOURCES)
def test_an_embedded_resource_carries_what_it_was_given(given: dict[str, Any], contents: Any) -> None:
    """Empty is a content too, no type is made up, and notes belong to the block."""
    assert EmbeddedResource(uri="a://b", **given).block() == EmbeddedResourceContent(resource=contents)
    noted = EmbeddedResource(uri="a://b", annotations=ANNOTATIONS, meta=META, **given).block()
    assert noted == EmbeddedResourceContent(resource=contents, annotations=ANNOTATIONS, meta=META)


# --- the block of a file -------------------------------------------------------------------------

FORMS = [  # the bytes, their type, whether they travel as text
    (b"text", "text/plain", True),
    ("é".encode(), "text/markdown", True),
    (b"", "text/plain", True),
    (b"text", "text/plain; charset=utf-8", True),
    (b"{}", "application/json", True),
    (b"{}", "application/json; charset=utf-8", True),
    (b"{}", "Application/JSON ;charset=utf-8", True),
    (b"text", "TEXT/plain", True),
    (b"text", "application/pdf; name=text/plain", False),
    (b"<a/>", "application/xml", True),
    (NOT_UTF8, "text/plain", False),
    (NOT_UTF8, "application/json", False),
    (b"text", "application/octet-stream", False),
    (b"text", "application/pdf", False),
    (b"text", "image/png", False),
    (b"text", "context/plain", False),
]


@pytest.mark.parametrize(("data", "mime_type", "as_text"), FORMS)
def test_a_file_is_text_where_it_can_be_read_as_such(data: bytes, mime_type: str, as_text: bool) -> None:
    """Its type is one of text and its bytes are UTF-8; anything else is a blob, byte for byte."""
    block = File(data=data, mime_type=mime_type, uri="a://b", annotations=ANNOTATIONS, meta=META).block()
    contents: Any = BlobResourceContents(uri="a://b", blob=encode_base64(data), mime_type=mime_type)
    if as_text:
        contents = TextResourceContents(uri="a://b", text=data.decode(), mime_type=mime_type)
    assert block == EmbeddedResourceContent(resource=contents, annotations=ANNOTATIONS, meta=META)


def test_the_URI_of_a_file_never_tells_its_folder(tmp_path: Path) -> None:
    """Its name is all that a client learns of where it was."""
    folder = tmp_path / "secret"
    folder.mkdir()
    path = file_at(folder, "notes.txt", b"x")
    for given in (path, str(path), os.path.relpath(path)):
        block = File(path=given).block()
        assert resource(block).uri == "file:///notes.txt"
        assert "secret" not in str(block)


NAMES = [
    ("a b.txt", "file:///a%20b.txt"),
    ("a#b?.txt", "file:///a%23b%3F.txt"),
    ("100%.txt", "file:///100%25.txt"),
    ("é.txt", "file:///%C3%A9.txt"),
    (os.fsdecode(b"\xe9.txt"), "file:///%E9.txt"),
    ("a-b_c.d~1.txt", "file:///a-b_c.d~1.txt"),
]


@pytest.mark.parametrize(("name", "uri"), NAMES, ids=ascii)
def test_the_URI_of_a_file_is_one(name: str, uri: str, tmp_path: Path) -> None:
    """Whatever the file is called (RFC 3986, section 2.1)."""
    assert resource(File(path=file_at(tmp_path, name, b"x")).block()).uri == uri


def test_the_URI_of_a_file_is_the_authors_where_one_is_given(tmp_path: Path) -> None:
    """Bytes without a name have a URI as well."""
    path = file_at(tmp_path, "notes.txt", b"x")
    assert resource(File(path=path, uri="notes://1").block()).uri == "notes://1"
    assert resource(File(data=b"x", uri="notes://1").block()).uri == "notes://1"
    assert resource(File(data=b"x").block()).uri == "file:///file"


# --- whole results and messages ------------------------------------------------------------------


def test_a_result_made_by_hand_is_empty_unless_told() -> None:
    """No content, no value for programs, no error."""
    result = ToolResult()
    assert (tuple(result.content), result.structured, result.is_error, result.meta) == ((), None, False, None)


def test_a_result_made_by_hand_keeps_what_it_is_given() -> None:
    """By position in the order of the documentation, or by name, untouched."""
    content = ["text", Image(data=b"x")]
    named = ToolResult(content=content, structured={"a": 1}, is_error=True, meta=META)
    for result in (named, ToolResult(content, {"a": 1}, True, META)):
        assert result.content is content
        assert (result.structured, result.is_error, result.meta) == ({"a": 1}, True, META)


ONE_PART = ["hello", TextContent("hello"), Image(data=b"x"), ResourceLink(uri="a://b", name="b")]


@pytest.mark.parametrize("part", ONE_PART, ids=lambda part: type(part).__name__)
def test_a_result_may_have_one_part(part: Any) -> None:
    """A text is one of them, not one of each letter."""
    for result in (ToolResult(part), ToolResult(content=part)):
        assert result.content == (part,)


@pytest.mark.parametrize("content", [None, 5, {"a": 1}, b"x", iter(["a"]), PromptMessage("a")])
def test_a_result_of_anything_else_is_refused(content: Any) -> None:
    """At once, with where a value belongs."""
    said = rf"^ToolResult\(content=\) takes a list of .*, not {type(content).__name__}; a value for programs "
    with pytest.raises(TypeError, match=said):
        ToolResult(content)


def test_a_message_is_the_users_unless_told() -> None:
    """The content is kept as it is."""
    image = Image(data=b"x")
    assert (PromptMessage(image).content, PromptMessage(image).role) == (image, "user")
    for message in (PromptMessage("text", "assistant"), PromptMessage("text", role="assistant")):
        assert (message.content, message.role) == ("text", "assistant")


# --- what it is told as --------------------------------------------------------------------------

SECRET = "hunter2"
REPRS = [
    (Image(data=SECRET.encode()), "Image(data=<7 bytes>, mime_type=None)"),
    (Audio(data=b"", mime_type="a/b"), "Audio(data=<0 bytes>, mime_type='a/b')"),
    (Image(path=Path("plot.png")), "Image(path='plot.png', mime_type=None)"),
    (File(path="notes.txt", mime_type="a/b"), "File(path='notes.txt', mime_type='a/b')"),
    (EmbeddedResource(uri="a://b", text=SECRET), "EmbeddedResource(uri='a://b', mime_type=None)"),
    (
        EmbeddedResource(uri="a://b", blob=b"x", mime_type="a/b"),
        "EmbeddedResource(uri='a://b', mime_type='a/b')",
    ),
    (ToolResult([SECRET, SECRET], is_error=True), "ToolResult(content=<2 parts>, is_error=True)"),
    (PromptMessage(SECRET, "assistant"), "PromptMessage(role='assistant')"),
]


@pytest.mark.parametrize(("value", "text"), REPRS, ids=[text for _, text in REPRS])
def test_a_log_shows_what_a_helper_is_and_not_what_is_in_it(value: object, text: str) -> None:
    """Megabytes and secrets stay out."""
    assert repr(value) == text


# --- blocks --------------------------------------------------------------------------------------

BLOCKS = [
    TextContent("t"),
    ImageContent(data="", mime_type="a/b"),
    AudioContent(data="", mime_type="a/b"),
    ResourceLink(uri="a://b", name="b"),
    EmbeddedResourceContent(resource=TextResourceContents(uri="a://b", text="t")),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_a_block_is_its_own_block(block: Any) -> None:
    """It is passed on, not copied."""
    assert block_of(block) is block


class Chart(Image):
    """An author's own kind of picture."""

    default_type = "image/svg+xml"


HELPERS: dict[str, tuple[Any, Any]] = {
    "Image": (Image(data=b"foo"), ImageContent(data="Zm9v", mime_type="image/png")),
    "Chart": (Chart(data=b"foo"), ImageContent(data="Zm9v", mime_type="image/svg+xml")),
    "Audio": (Audio(data=b"foo"), AudioContent(data="Zm9v", mime_type="audio/wav")),
    "File": (
        File(data=b"t", mime_type="text/plain"),
        EmbeddedResourceContent(
            resource=TextResourceContents(uri="file:///file", text="t", mime_type="text/plain")
        ),
    ),
    "EmbeddedResource": (
        EmbeddedResource(uri="a://b", text="t"),
        EmbeddedResourceContent(resource=TextResourceContents(uri="a://b", text="t")),
    ),
}


@pytest.mark.parametrize("name", HELPERS)
def test_a_helper_becomes_its_block(name: str) -> None:
    """Also one of an author's own kind."""
    helper, block = HELPERS[name]
    assert block_of(helper) == block


class Words(str):
    """A string of an author's own kind."""


class Alike:
    """Something that has a `block` method but is no helper."""

    def block(self) -> TextContent:
        return TextContent("not asked for")


NEITHER: dict[str, Any] = {
    "str": "text",
    "subclass of str": Words("text"),
    "int": 1,
    "float": 1.5,
    "bool": True,
    "None": None,
    "dict": {"type": "text", "text": "t"},
    "list": [TextContent("t")],
    "tuple": (TextContent("t"),),
    "bytes": b"x",
    "a class": Image,
    "contents": TextResourceContents(uri="a://b", text="t"),
    "result": ToolResult(["t"]),
    "message": PromptMessage("t"),
    "alike": Alike(),
}


@pytest.mark.parametrize("name", NEITHER)
def test_anything_else_has_no_block(name: str) -> None:
    """Values that only look like one, and what holds blocks without being one."""
    assert block_of(NEITHER[name]) is None
