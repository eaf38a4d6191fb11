"""The published revisions of MCP and what differs between them, as tables.

The law of the file: a difference between revisions is a row here, and code asks the row. The
specification's own page: basic/versioning.
"""

from typing import Final, Literal

import msgspec

__all__ = ["LATEST_LEGACY", "LATEST_MODERN", "LEGACY", "MODERN", "SINCE", "VERSIONS", "Version"]

Era = Literal["legacy", "modern"]


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One revision.

    Attributes:
        name: its date, as it travels.
        rank: its place in time, from 0.
        era: `legacy` begins with a handshake, `modern` is stateless.
        batches: whether a message may be a JSON-RPC batch.
        structured: whether results carry `structuredContent`: not at all, objects only, or any value.
        null_id: whether an error whose request id is unknown says `"id": null` (else it has none).
    """

    name: str
    rank: int
    era: Era
    batches: bool = False
    structured: Literal["none", "object", "any"] = "none"
    null_id: bool = True

    @property
    def modern(self) -> bool:
        """Whether requests stand alone, without a handshake."""
        return self.era == "modern"


V1: Final = Version(name="2024-11-05", rank=0, era="legacy")
V2: Final = Version(name="2025-03-26", rank=1, era="legacy", batches=True)
V3: Final = Version(name="2025-06-18", rank=2, era="legacy", structured="object")
V4: Final = Version(name="2025-11-25", rank=3, era="legacy", structured="object", null_id=False)
V5: Final = Version(name="2026-07-28", rank=4, era="modern", structured="any", null_id=False)

VERSIONS: Final = {version.name: version for version in (V1, V2, V3, V4, V5)}
LEGACY: Final = tuple(version.name for version in VERSIONS.values() if not version.modern)
MODERN: Final = tuple(version.name for version in VERSIONS.values() if version.modern)
LATEST_LEGACY: Final = V4
LATEST_MODERN: Final = V5

SINCE: Final[dict[str, dict[str, int]]] = {
    "Implementation": {"title": 2, "description": 3, "icons": 3, "websiteUrl": 3},
    "Tool": {"annotations": 1, "title": 2, "outputSchema": 2, "_meta": 2, "icons": 3},
    "Resource": {"title": 2, "_meta": 2, "icons": 3},
    "ResourceTemplate": {"title": 2, "_meta": 2, "icons": 3},
    "Prompt": {"title": 2, "_meta": 2, "icons": 3},
    "PromptArgument": {"title": 2},
    "ResourceLink": {"icons": 3},
    "Annotations": {"lastModified": 2},
    "Content": {"_meta": 2},
    "ResourceContents": {"_meta": 2},
    "Progress": {"message": 1},
}
"""Fields that came later: definition -> field -> the rank of the first revision that has it."""
