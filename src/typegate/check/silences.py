"""TG9xx: `# typegate: ignore[TG101]`, the comment that silences a rule where it stands.

The law of the file: a comment names its rules, and one that silences nothing is itself reported.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

import msgspec

from typegate.check.findings import Hit, Place, Rule
from typegate.check.subjects import Source

__all__ = ["RULES", "Comment", "Comments", "comments_of"]

_COMMENT: Final = re.compile(r"#\s*typegate:\s*ignore\b(?:\[(?P<ids>[^\]]*)\])?")


class Comment(msgspec.Struct, frozen=True):
    """One comment and the rules that it names."""

    place: Place
    rules: tuple[str, ...]

    def covers(self, rule: str, place: Place) -> bool:
        """Whether it silences *rule* at *place*."""
        lines = place.also | {place.line}
        return rule in self.rules and self.place.path == place.path and self.place.line in lines


class Comments(msgspec.Struct, frozen=True):
    """All comments, the pairs of comment and rule that silenced something, and the rules that ran."""

    comments: tuple[Comment, ...]
    used: frozenset[tuple[Place, str]]
    known: frozenset[str]
    ran: frozenset[str]


def comments_of(source: Source) -> Iterator[Comment]:
    """The comments of one file."""
    text = io.StringIO("\n".join(source.lines))
    for token in tokenize.generate_tokens(text.readline):
        found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            line, column = token.start
            names = tuple(name.strip() for name in (found["ids"] or "").split(",") if name.strip())
            yield Comment(Place(source.path, line, column + found.start() + 1), names)


def _nameless(subject: Comments) -> Iterator[Hit]:
    for comment in subject.comments:
        unknown = [name for name in comment.rules if name not in subject.known]
        if unknown:
            yield Hit(comment.place, f"there is no rule '{unknown[0]}'")
        elif not comment.rules:
            yield Hit(comment.place, "the comment names no rule, so it silences none")


def _unused(subject: Comments) -> Iterator[Hit]:
    for comment in subject.comments:
        for name in comment.rules:
            if name in subject.ran and (comment.place, name) not in subject.used:
                yield Hit(comment.place, f"{name} finds nothing here")


RULES: Final[tuple[Rule[Comments], ...]] = (
    Rule(
        id="TG901",
        severity="warning",
        title="an ignore comment that names no rule",
        reason="A comment that silences everything also silences what is found tomorrow.",
        mend="name the rules: # typegate: ignore[TG101]",
        bad='''
@server.tool  # typegate: ignore
def dust() -> str:
    """Wipe the dust from the jars."""
    return "clean"
''',
        good="""
@server.tool  # typegate: ignore[TG201]
def dust() -> str:
    return "clean"
""",
        find=_nameless,
    ),
    Rule(
        id="TG902",
        severity="warning",
        title="an ignore comment that silences nothing",
        reason="What it was for is mended, and it would hide the next mistake.",
        mend="delete it",
        bad='''
@server.tool
def polish() -> str:  # typegate: ignore[TG201]
    """Make the brass shine."""
    return "bright"
''',
        good='''
@server.tool
def polish() -> str:
    """Make the brass shine."""
    return "bright"
''',
        find=_unused,
    ),
)
