"""A bit of everything: one small function for each thing a typegate server can do.

    python examples/everything_server.py        # serves MCP on stdin and stdout

The functions named `test_…` and the `test://` resources are what the official MCP conformance suite
asks a server for, under the names it looks for. The others show the type system, and are what this
project's tests with real clients call. Topics, in order: content, log and progress, errors, types,
a schema of one's own, time, change notices, resources, prompts.
"""

import asyncio
import time
from base64 import b64decode
from datetime import date, timedelta
from enum import Enum
from typing import Annotated, Literal, TypedDict

from pydantic import BaseModel, Field

from typegate import (
    Audio,
    Context,
    EmbeddedResource,
    Image,
    MCPServer,
    PromptMessage,
    Text,
    ToolAnnotations,
    ToolError,
)

# A blue square of 4 by 4 pixels, and a millisecond of silence.
PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAEElEQVR42mOQL98CRwzEcQAPQhShpgHd8wAAAABJRU5ErkJggg=="
)
WAV = b64decode("UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==")
STEP = 0.05  # seconds between two messages of the log and progress tools

READS = ToolAnnotations(read_only_hint=True)

server = MCPServer(
    "everything",
    title="Everything",
    version="1.0.0",
    description="One small function for each thing a server can do.",
    instructions="A server to try clients on. Nothing it holds outlives the process.",
)


# --- Content: what a tool can hand to the model ---------------------------------------------------


@server.tool(annotations=READS)
def test_simple_text() -> str:
    """Return one text."""
    return "This is a simple text response for testing."


@server.tool(annotations=READS)
def test_image_content() -> Image:
    """Return one image."""
    return Image(data=PNG, mime_type="image/png")


@server.tool(annotations=READS)
def test_audio_content() -> Audio:
    """Return one sound."""
    return Audio(data=WAV, mime_type="audio/wav")


@server.tool(annotations=READS)
def test_embedded_resource() -> EmbeddedResource:
    """Return a resource together with its content."""
    return EmbeddedResource(
        uri="test://embedded-resource",
        text="This is an embedded resource content.",
        mime_type="text/plain",
    )


@server.tool(annotations=READS)
def test_multiple_content_types() -> list[Text | Image | EmbeddedResource]:
    """Return a text, an image and a resource in one answer."""
    return [
        Text(text="Multiple content types test:"),
        Image(data=PNG, mime_type="image/png"),
        EmbeddedResource(
            uri="test://mixed-content-resource",
            text='{"test": "data", "value": 123}',
            mime_type="application/json",
        ),
    ]


# --- Log and progress: what a tool can say while it works -----------------------------------------


@server.tool(annotations=READS)
async def test_tool_with_logging(ctx: Context) -> str:
    """Write three log messages while working."""
    ctx.info("Tool execution started")
    await asyncio.sleep(STEP)
    ctx.info("Tool processing data")
    await asyncio.sleep(STEP)
    ctx.info("Tool execution completed")
    return "Three messages were logged."


@server.tool(annotations=READS)
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress three times while working."""
    ctx.progress(0, total=100, message="Started")
    await asyncio.sleep(STEP)
    ctx.progress(50, total=100, message="Half of it is done")
    await asyncio.sleep(STEP)
    ctx.progress(100, total=100, message="Done")
    await asyncio.sleep(STEP)  # some clients drop what arrives together with the answer
    return "Progress was reported three times."


@server.tool(annotations=READS)
def test_logging_tool(ctx: Context) -> str:
    """Write one log message of every level; the client decides which it wants to see."""
    ctx.debug("A detail")
    ctx.info("Something happened")
    ctx.warning("Something may go wrong")
    ctx.error("Something went wrong")
    return "Four messages were logged."


# --- Errors: what the model reads when a tool cannot answer ---------------------------------------


@server.tool(annotations=READS)
def test_error_handling() -> str:
    """Fail with a text that is meant for the model, which reads it word for word."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool(annotations=READS)
def fail() -> str:
    """Fail with a text that is not meant for the model: it stays in the audit log."""
    raise RuntimeError("cannot connect to postgresql://shop:not-a-password@db.internal:5432/orders")


# --- Types: the signature is the contract ---------------------------------------------------------


class Color(Enum):
    """A colour by name; the value is what travels."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Genre(Enum):
    """What kind of book it is."""

    FICTION = "fiction"
    SCIENCE = "science"
    HISTORY = "history"


class Book(BaseModel):
    """A book on the shelf."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    author: str
    year: Annotated[int, Field(ge=1450, le=2100, description="The year it was first printed.")]
    genre: Genre = Genre.FICTION
    tags: list[str] = []


class BookList(BaseModel):
    """Books, and how many there are."""

    count: int
    books: list[Book]


class Folder(BaseModel):
    """A folder, which may hold folders."""

    name: str
    children: list["Folder"] = []


SHELF = [
    Book(title="The Long Orchard", author="Ilse Brandt", year=1931, tags=["novel", "garden"]),
    Book(title="Salt and Tide", author="Piet Vermeer", year=1987, genre=Genre.SCIENCE),
    Book(title="A Road for Wool", author="Nadia Osei", year=2009, genre=Genre.HISTORY),
]
HEX = {Color.RED: "#d62728", Color.GREEN: "#2ca02c", Color.BLUE: "#1f77b4"}


@server.tool(annotations=READS)
def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


@server.tool(annotations=READS)
def echo(text: str) -> str:
    """Return the text unchanged.

    Args:
        text: Any text.
    """
    return text


@server.tool(annotations=READS)
def shift(day: date, days: Annotated[int, Field(ge=-36_525, le=36_525)]) -> date:
    """Move a day forwards or backwards.

    Args:
        day: The day to start from.
        days: How far; a negative number goes back.
    """
    try:
        return day + timedelta(days=days)
    except OverflowError:
        raise ToolError(f"{day} moved by {days} days leaves the years 1 to 9999") from None


@server.tool(annotations=READS)
def color(name: Color) -> str:
    """Tell a colour's hexadecimal code.

    Args:
        name: The colour.
    """
    return HEX[name]


@server.tool(annotations=READS)
def list_books(genre: Genre | None = None) -> BookList:
    """List the books on the shelf.

    Args:
        genre: Only books of this kind; all when left out.
    """
    books = [book for book in SHELF if genre is None or book.genre is genre]
    return BookList(count=len(books), books=books)


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))
def add_book(book: Book) -> Book:
    """Put a book on the shelf and return it as it stands there.

    Args:
        book: The book to add.
    """
    SHELF.append(book)
    return book


@server.tool(annotations=READS)
def tree() -> Folder:
    """Return a folder with folders inside."""
    leaves = [Folder(name="invoices"), Folder(name="letters")]
    return Folder(name="root", children=[Folder(name="2026", children=leaves), Folder(name="2027")])


# --- A schema of one's own: JSON Schema says what Python's types cannot ---------------------------


class Address(TypedDict, total=False):
    """A postal address."""

    street: str
    city: str


CONTACT_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool(annotations=READS, schema=CONTACT_SCHEMA)  # typegate: ignore[TG102, TG404, TG406]
def json_schema_2020_12_tool(
    name: str | None = None,
    address: Address | None = None,
    contactMethod: Literal["phone", "email"] | None = None,
    phone: str | None = None,
    email: str | None = None,
) -> str:
    """Say how somebody is to be reached. The schema makes sure that the way asked for is given."""
    where = f" in {address['city']}" if address and "city" in address else ""
    reach = phone if contactMethod == "phone" else email
    return f"{name or 'Somebody'}{where} is reached at {reach}."


# --- Time: neither a waiting nor a blocking tool holds up the others ------------------------------


@server.tool(annotations=READS)
async def wait(seconds: Annotated[float, Field(ge=0, le=10)]) -> str:
    """Wait without holding anything up.

    Args:
        seconds: How long to wait.
    """
    await asyncio.sleep(seconds)
    return f"Waited for {seconds} seconds."


@server.tool(annotations=READS)
def block(seconds: Annotated[float, Field(ge=0, le=10)]) -> str:
    """Block a worker thread, as a slow library would.

    Args:
        seconds: How long to block.
    """
    time.sleep(seconds)
    return f"Blocked for {seconds} seconds."


# --- Change notices: clients that asked are told --------------------------------------------------


@server.tool(annotations=READS)
async def test_trigger_tool_change() -> str:
    """Tell clients that the list of tools has changed."""
    server.notify_tools_changed()
    return "The clients that asked were told about the tools."


@server.tool(annotations=READS)
async def test_trigger_prompt_change() -> str:
    """Tell clients that the list of prompts has changed."""
    server.notify_prompts_changed()
    return "The clients that asked were told about the prompts."


@server.tool(annotations=READS)
async def touch(uri: str) -> str:
    """Tell clients that a resource has new content.

    Args:
        uri: The resource's address, such as test://watched-resource.
    """
    server.notify_resource_updated(uri)
    return f"The clients that asked were told about {uri}."


# --- Resources: what a client can read by its address ---------------------------------------------


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image that never changes."""
    return PNG


@server.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """A text to subscribe to; the tool `touch` announces new content."""
    return f"Read at {time.time():.3f}."


@server.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> dict[str, str | bool]:
    """Data about the thing with this id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


# --- Prompts: what a user can pick from a menu ----------------------------------------------------


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt that takes nothing."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt that takes two texts.

    Args:
        arg1: The first text; a client can have it completed.
        arg2: The second text.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.completion("test_prompt_with_arguments", "arg1")
def complete_arg1(value: str) -> list[str]:
    """Complete the first text."""
    return [word for word in ("paris", "park", "party", "testing", "tests") if word.startswith(value)]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[PromptMessage]:
    """A prompt that brings a resource along.

    Args:
        resourceUri: The address of the resource.
    """
    resource = EmbeddedResource(
        uri=resourceUri, text="Embedded resource content for testing.", mime_type="text/plain"
    )
    return [
        PromptMessage(role="user", content=resource),
        PromptMessage(role="user", content="Please process the embedded resource above."),
    ]


@server.prompt()
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt that brings an image along."""
    return [
        PromptMessage(role="user", content=Image(data=PNG, mime_type="image/png")),
        PromptMessage(role="user", content="Please describe the image above."),
    ]


if __name__ == "__main__":
    server.run()
