"""What authors return and annotate with: pictures, sounds, files, whole results.

The law of the file: a helper is a plain value that knows how to become a content block; nothing here
knows how a block travels.
"""

import base64
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, get_args
from urllib.parse import quote

from typegate.errors import InvalidResult
from typegate.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResourceContent,
    ImageContent,
    Json,
    Role,
    TextResourceContents,
)

__all__ = [
    "Audio",
    "EmbeddedResource",
    "File",
    "Helper",
    "Image",
    "PromptMessage",
    "ToolResult",
    "block_of",
    "encode_base64",
]


def encode_base64(data: bytes | bytearray | memoryview) -> str:
    """Standard base64 (RFC 4648 section 4), the one form in which bytes travel."""
    return base64.b64encode(data).decode("ascii")


class _Media:
    """Bytes given directly or by the path of a file, which is read when the result is built."""

    default_type: ClassVar[str] = "application/octet-stream"

    def __init__(
        self,
        *,
        data: bytes | None = None,
        path: str | Path | None = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        meta: Mapping[str, Json] | None = None,
    ) -> None:
        if (data is None) == (path is None):
            raise InvalidResult(f"{type(self).__name__} takes exactly one of data= and path=")
        self.data = data
        self.path = path
        self.mime_type = mime_type
        self.annotations = annotations
        self.meta = meta

    def __repr__(self) -> str:
        source = (
            f"path={str(self.path)!r}" if self.path is not None else f"data=<{len(self.data or b'')} bytes>"
        )
        return f"{type(self).__name__}({source}, mime_type={self.mime_type!r})"

    def read(self) -> tuple[bytes, str]:
        """The bytes and their MIME type, guessed from the file's name where none was given."""
        data = Path(self.path).read_bytes() if self.path is not None else self.data
        guessed = _TYPES.get(Path(self.path).suffix.lower()) if self.path is not None else None
        return data or b"", self.mime_type or guessed or self.default_type


_TYPES: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".html": "text/html",
    ".css": "text/css",
    ".json": "application/json",
    ".xml": "application/xml",
    ".pdf": "application/pdf",
    ".zip": "application/zip",
}
"""File suffix -> MIME type, the same on every machine; anything else is said by `mime_type`."""


class Image(_Media):
    """A picture as a result: `Image(data=png)` or `Image(path="plot.png")`; `image/png` by default."""

    default_type: ClassVar[str] = "image/png"

    def block(self) -> ContentBlock:
        """The content block that travels."""
        data, mime_type = self.read()
        return ImageContent(
            data=encode_base64(data), mime_type=mime_type, annotations=self.annotations, meta=self.meta
        )


class Audio(_Media):
    """A sound as a result: `Audio(data=wav)` or `Audio(path="a.wav")`; `audio/wav` by default."""

    default_type: ClassVar[str] = "audio/wav"

    def block(self) -> ContentBlock:
        """The content block that travels."""
        data, mime_type = self.read()
        return AudioContent(
            data=encode_base64(data), mime_type=mime_type, annotations=self.annotations, meta=self.meta
        )


class File(_Media):
    """A file inside a result, as an embedded resource.

    `uri` defaults to `file:///NAME` with the name of the file only, never its folder, percent-encoded.
    """

    def __init__(self, *, uri: str | None = None, **media: Any) -> None:
        super().__init__(**media)
        self.uri = uri

    def block(self) -> ContentBlock:
        """The content block that travels: text where the bytes are UTF-8 of a text type, else a blob."""
        data, mime_type = self.read()
        name = Path(self.path).name if self.path is not None else "file"
        uri = self.uri or f"file:///{quote(os.fsencode(name), safe='')}"
        text = _as_text(data, mime_type)
        source = EmbeddedResource(
            uri=uri,
            text=text,
            blob=data if text is None else None,
            mime_type=mime_type,
            annotations=self.annotations,
            meta=self.meta,
        )
        return source.block()


def _as_text(data: bytes, mime_type: str) -> str | None:
    essence = mime_type.partition(";")[0].strip().lower()
    if not essence.startswith("text/") and essence not in ("application/json", "application/xml"):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


class EmbeddedResource:
    """A resource carried inside a result: its URI and exactly one of `text` and `blob`."""

    def __init__(
        self,
        *,
        uri: str,
        text: str | None = None,
        blob: bytes | None = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        meta: Mapping[str, Json] | None = None,
    ) -> None:
        if (text is None) == (blob is None):
            raise InvalidResult("EmbeddedResource takes exactly one of text= and blob=")
        self.uri = uri
        self.text = text
        self.blob = blob
        self.mime_type = mime_type
        self.annotations = annotations
        self.meta = meta

    def __repr__(self) -> str:
        return f"EmbeddedResource(uri={self.uri!r}, mime_type={self.mime_type!r})"

    def block(self) -> ContentBlock:
        """The content block that travels."""
        if self.text is not None:
            text = TextResourceContents(uri=self.uri, text=self.text, mime_type=self.mime_type)
            return EmbeddedResourceContent(resource=text, annotations=self.annotations, meta=self.meta)
        blob = BlobResourceContents(
            uri=self.uri, blob=encode_base64(self.blob or b""), mime_type=self.mime_type
        )
        return EmbeddedResourceContent(resource=blob, annotations=self.annotations, meta=self.meta)


Helper = Image | Audio | File | EmbeddedResource


class ToolResult:
    """A whole result made by hand.

    Args:
        content: blocks, helpers and plain strings, sent in this order; a single one is taken as it is.
        structured: the value for programs; checked against the tool's `outputSchema` where it has one.
        is_error: whether the model is told that the tool failed.
        meta: the result's `_meta`.

    Raises:
        TypeError: the content is none of these.
    """

    def __init__(
        self,
        content: "str | ContentBlock | Helper | Sequence[str | ContentBlock | Helper]" = (),
        structured: Json = None,
        is_error: bool = False,
        meta: Mapping[str, Json] | None = None,
    ) -> None:
        self.content = _parts(content)
        self.structured = structured
        self.is_error = is_error
        self.meta = meta

    def __repr__(self) -> str:
        return f"ToolResult(content=<{len(self.content)} parts>, is_error={self.is_error})"


def _parts(content: Any) -> "Sequence[str | ContentBlock | Helper]":
    """The content of a result as a list or tuple: a string is one part, not one of each letter."""
    if isinstance(content, list | tuple):
        return content
    if isinstance(content, str | Helper | ContentBlock):
        return (content,)
    raise TypeError(
        f"ToolResult(content=) takes a list of strings, blocks and helpers, not {type(content).__name__}; "
        f"a value for programs goes to structured="
    )


class PromptMessage:
    """One message of a prompt: a string, a block or a helper, and who speaks."""

    def __init__(self, content: "str | ContentBlock | Helper", role: Role = "user") -> None:
        self.content = content
        self.role: Role = role

    def __repr__(self) -> str:
        return f"PromptMessage(role={self.role!r})"


def block_of(value: object) -> ContentBlock | None:
    """The block that *value* is or becomes, or `None` if it is neither a block nor a helper."""
    if value.__class__ in _PLAIN:
        return None
    if isinstance(value, _HELPERS):
        return value.block()
    return value if isinstance(value, _BLOCKS) else None


_PLAIN: Final = frozenset({str, int, float, bool, type(None), dict, list, bytes})
_HELPERS: Final = (Image, Audio, File, EmbeddedResource)
_BLOCKS: Final[tuple[type[ContentBlock], ...]] = get_args(ContentBlock)
