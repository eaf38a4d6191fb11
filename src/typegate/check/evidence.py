"""Which client refuses what, and the report in which it can be read.

The law of the file: no row without a report. What a client does today it may do no more tomorrow: that is
a change of a row.
"""

from typing import Final, NamedTuple

__all__ = ["EVIDENCE", "Evidence"]


class Evidence(NamedTuple):
    """What a client does, and where it was seen."""

    client: str
    does: str
    seen: str


EVIDENCE: Final[dict[str, tuple[Evidence, ...]]] = {
    "TG401": (
        Evidence("Claude Desktop", "takes A-Z a-z 0-9 _ - only", "l22-io/orchard-mcp#14"),
        Evidence("Copilot CLI", "the same; every prompt fails", "github/copilot-cli#2581"),
        Evidence("Cursor", "warns of everything but letters, digits and _", "webstudio-is/webstudio#5960"),
    ),
    "TG401 first": (Evidence("Gemini API", "wants a letter or _ first", "cline/cline#7339"),),
    "TG402": (
        Evidence("Claude Desktop", "64 characters", "loomle/loomle#168"),
        Evidence("Gemini API", "64 characters", "Finerestaurant/kicad-mcp-python#2"),
        Evidence("Cursor", "drops it where server and tool together have 60", "ComposioHQ/composio#2788"),
        Evidence("VS Code", "64 with its own prefix", "microsoft/vscode#243602"),
    ),
    "TG403": (
        Evidence(
            "Claude Code, Bedrock", "^[a-zA-Z0-9_.-]{1,64}$, or every prompt fails", "freee/freee-mcp#15"
        ),
    ),
    "TG404": (
        Evidence("Claude (API)", "refuses the whole request", "makenotion/notion-mcp-server#341"),
        Evidence("Claude Code", "drops the tool", "anthropics/claude-code#95504"),
        Evidence("OpenAI (API)", "refuses the whole request", "makenotion/notion-mcp-server#340"),
    ),
    "TG405": (Evidence("Gemini CLI", "the API refuses every request", "google-gemini/gemini-cli#14945"),),
    "TG406": (Evidence("Gemini CLI", "'reference to undefined schema'", "google-gemini/gemini-cli#13326"),),
    "TG407": (
        Evidence("Gemini API", "'Unknown name \"propertyNames\"'", "tailcallhq/forgecode#3426"),
        Evidence("Gemini API", "the same for patternProperties", "zendev-sh/goai#108"),
    ),
    "TG408": (Evidence("VS Code", "'array type must have items'", "microsoft/vscode#284536"),),
    "TG409": (
        Evidence("OpenAI (API)", "'regex lookaround is not supported'", "cline/cline#14019"),
        Evidence("Codex", "the same, before any answer", "can1357/oh-my-pi#2784"),
    ),
    "TG410": (
        Evidence("OpenAI (API, strict)", "''uri' is not a valid format'", "cyanheads/git-mcp-server#47"),
        Evidence("Copilot (strict)", "the same", "can1357/oh-my-pi#206"),
    ),
    "TG411": (Evidence("Claude Code", "cuts at 2,048 characters, silently", "anthropics/claude-code#87650"),),
    "TG412": (Evidence("VS Code", "refuses more than 128 tools in a request", "microsoft/vscode#254189"),),
}
"""Rule → clients and reports; `owner/repository#number` is a report on GitHub, read in November 2026."""
