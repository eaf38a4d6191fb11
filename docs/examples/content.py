"""Pictures, sounds, files and links as results."""

from base64 import b64decode

from typegate import Audio, EmbeddedResource, File, Image, MCPServer, ResourceLink, Text

server = MCPServer("content")

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


# region helpers
@server.tool
def plot() -> Image:
    """Draw a plot."""
    return Image(data=PNG)  # or Image(path="plot.png")


@server.tool
def bell() -> Audio:
    """Ring."""
    return Audio(data=b"RIFF", mime_type="audio/wav")


@server.tool
def export() -> File:
    """Export the orders."""
    return File(data=b"id,total\nA-1001,42.50\n", mime_type="text/csv", uri="orders://export.csv")


@server.tool
def terms() -> EmbeddedResource:
    """Show the terms of sale."""
    return EmbeddedResource(uri="shop://terms", text="Payment within 14 days.", mime_type="text/plain")


@server.tool
def invoice(order_id: str) -> ResourceLink:
    """Point to the invoice of an order."""
    return ResourceLink(uri=f"orders://{order_id}/invoice", name=f"Invoice {order_id}", mime_type="text/html")


@server.tool
def report() -> list[str | Text | Image]:
    """Report in words and pictures."""
    return ["Sales rose.", Image(data=PNG), Text("Returns fell.")]


# endregion

if __name__ == "__main__":
    server.run()
