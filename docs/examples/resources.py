"""Resources with a fixed URI."""

from typegate import BlobResourceContents, Context, MCPServer, TextResourceContents

server = MCPServer("resources")


# region fixed
@server.resource("config://limits", mime_type="application/json")
def limits() -> dict[str, int]:
    """What a call may ask for."""
    return {"max_limit": 100}


@server.resource("config://motto")
def motto() -> str:
    """What the shop stands for."""
    return "Tea for everyone."


@server.resource("config://logo", mime_type="image/png")
def logo() -> bytes:
    """The logo."""
    return b"\x89PNG"


@server.resource("config://both")
def both(ctx: Context) -> list[TextResourceContents | BlobResourceContents]:
    """Two parts, each with a URI of its own."""
    return [
        TextResourceContents(uri="config://both/1", text=f"for {ctx.protocol_version}"),
        BlobResourceContents(uri="config://both/2", blob="aGk=", mime_type="application/octet-stream"),
    ]


# endregion

if __name__ == "__main__":
    server.run()
