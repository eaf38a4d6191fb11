"""What nobody sees in a text: taken out of it, and letters in disguise read as what they look like.

The law of the file: pure functions on strings. Line breaks and tabs stay; so do emoji, joiners inside scripts
that need them, and the three flags that are written with tag characters.
"""

import re
import unicodedata
from functools import cache
from typing import Final

__all__ = ["folded", "is_plain", "lowered", "shown_only"]

_FLAGS: Final = "|".join(
    "".join(chr(0xE0000 + ord(char)) for char in region) for region in ("gbeng", "gbsct", "gbwls")
)
_ESCAPES: Final = (
    r"\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]?"  # CSI: colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC and their strings
    r"|\x1b[ -/]{0,4}[0-~]?|\x9b[0-?]{0,64}[ -/]{0,16}[@-~]?"
)
_CONTROLS: Final = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
_INVISIBLE: Final = (
    "\u00ad\u034f\u180b-\u180e\u200b\u2028\u2029\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3"
)
_JOINERS: Final = "\u061c\u200c-\u200f"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_LATIN: Final = "!-~\uff01-\uff5e"

_HIDDEN: Final = re.compile(
    f"(?P<flag>\U0001f3f4(?:{_FLAGS})\U000e007f)"
    f"|{_ESCAPES}|[{_CONTROLS}]|[{_INVISIBLE}]|[\U000e0000-\U000e007f]"
    f"|(?<=[{_LATIN}])[{_JOINERS}]+"
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]+"
)
_CONTROL: Final = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SUSPECT: Final = re.compile(
    f"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_INVISIBLE}{_JOINERS}{_SELECTORS}\U000e0000-\U000e007f]"
)
_DISGUISED: Final = re.compile(
    "[\u0130\u017f\u2070-\u209c\u2100-\u214f\u2460-\u24ff\uff01-\uff5e\U0001d400-\U0001d7ff\U0001fbf0-\U0001fbf9]"
)
_RANGES: Final = (
    *((0x17F, 0x180), (0x2070, 0x209D), (0x2100, 0x2150), (0x2460, 0x2500), (0xFF01, 0xFF5F)),
    *((0x1D400, 0x1D800), (0x1FBF0, 0x1FBFA)),
)


def is_plain(text: str) -> bool:
    """Whether nothing in *text* may be hidden; a NUL does not count, for joined texts stand between them."""
    return (_CONTROL if text.isascii() else _SUSPECT).search(text) is None


def shown_only(text: str) -> str:
    """*text* without what hides in it: the same object where nothing does."""
    for _ in range(4):  # what was taken out may have stood between two that hide together
        plain = _HIDDEN.sub(_kept, text)
        if plain == text:
            break
        text = plain
    return text


def _kept(match: re.Match[str]) -> str:
    """A flag, or nothing; a line or paragraph separator becomes a line break."""
    return match["flag"] or ("\n" if match[0] in ("\u2028", "\u2029") else "")


def folded(text: str) -> str:
    """*text* of the same length, in which full-width and mathematical letters are plain ones."""
    if text.isascii() or _DISGUISED.search(text) is None:
        return text
    return text.translate(_disguises())


@cache
def _disguises() -> dict[int, str]:
    """Each character that NFKC makes one ASCII character."""
    pairs = ((code, unicodedata.normalize("NFKC", chr(code))) for span in _RANGES for code in range(*span))
    return {0x130: "I", **{code: plain for code, plain in pairs if len(plain) == 1 and plain.isascii()}}


def lowered(text: str) -> str:
    """*text* in lower case, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)
