"""Nothing secret gets out: every text, tree and line passes here on its way to a client or into a record.

The law of the file: what holds nothing secret comes back as the very object that was given. What does is
rewritten where it was hit and nowhere else, and the same secret has the same placeholder wherever it stood.
Nothing is ever let through unread: what is too large is refused.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from typegate.errors import ConfigurationError, InvalidResult
from typegate.guards.detectors import Profile
from typegate.guards.hidden import is_plain, shown_only
from typegate.guards.plans import Marks, Path
from typegate.guards.rewriting import Rewriter, spliced
from typegate.guards.scanning import Scanner
from typegate.types import Json

__all__ = ["Cleaned", "Plan", "Redactor", "TooLargeToCheck"]

_KEY: Final = secrets.token_bytes(32)
_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_KIND_SHOWN: Final = r"[a-z][a-z0-9_-]{0,31}(?::[0-9a-f]{8})?"
_Mode = Literal["label", "hash"]


class TooLargeToCheck(InvalidResult):
    """What is to leave is larger than what is checked for secrets, or nested too deep; it does not leave."""


class Cleaned(NamedTuple):
    """What was cleaned.

    Attributes:
        value: without secrets; the same object where nothing was taken out.
        paths: where it was changed, as keys and indices; a key that was changed has its new name.
        kinds: how often which kind was taken out; `hidden`: characters that nobody sees.
    """

    value: Json
    paths: tuple[Path, ...] = ()
    kinds: Mapping[str, int] = {}


class Redactor:
    r"""Takes secrets, and characters that nobody sees, out of everything that leaves.

    A frozen value: constructing it compiles the detectors and opens nothing.

    Args:
        profile: `secrets` (keys, tokens, passwords) or `pii` (also e-mail, card, IBAN, SSN, phone).
        extra: patterns of your own, by kind: `{"employee_id": r"\bEMP-\d{5}\b"}`.
        keys: more names whose values are secret, whatever their case and separators.
        placeholder: what stands for a secret; `{kind}` becomes its kind.
        mode: `label`, or `hash`: the kind and 8 digits, the same for the same secret, under a key that lives
            as long as the process.
        max_bytes: what is larger is refused, never sent unread.

    Raises:
        ConfigurationError: a pattern is none or could run away, or an option does not fit.
    """

    __slots__ = ("_mode", "_options", "_placeholder", "_scanner", "_spared", "max_bytes")

    def __init__(
        self,
        *,
        profile: Profile = "secrets",
        extra: Mapping[str, str] = {},
        keys: Iterable[str] = (),
        placeholder: str = "[redacted:{kind}]",
        mode: _Mode = "label",
        max_bytes: int = 8 * 1024 * 1024,
    ) -> None:
        names = _names(keys)
        _check_choices(profile, mode, max_bytes)
        _check_kinds(extra)
        _check_placeholder(placeholder)
        self.max_bytes = max_bytes
        self._mode = mode
        self._placeholder = placeholder
        self._options = (profile, tuple(sorted(extra.items())), names, placeholder, mode, max_bytes)
        self._spared = re.compile(re.escape(placeholder).replace(re.escape("{kind}"), _KIND_SHOWN))
        self._scanner = Scanner(profile, extra, names, self._spared)
        for each in map(self._stand_in, ("secret", *extra), ("x", *extra)):
            if self.clean_text(each) != each or self.clean_text(f"password={each}") != f"password={each}":
                raise ConfigurationError(f"Redactor(placeholder=) looks like a secret itself: '{each}'")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Redactor) and self._options == other._options

    def __hash__(self) -> int:
        return hash(self._options)

    def __repr__(self) -> str:
        names = ("profile", "extra", "keys", "placeholder", "mode", "max_bytes")
        pairs = zip(names, self._options, strict=True)
        return f"Redactor({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def with_keys(self, keys: Iterable[str]) -> "Redactor":
        """The same with more secret names."""
        profile, extra, names, placeholder, mode, most = self._options
        return Redactor(
            profile=profile,
            extra=dict(extra),
            keys=(*names, *_names(keys)),
            placeholder=placeholder,
            mode=mode,
            max_bytes=most,
        )

    # --- what leaves

    def clean_text(self, text: str) -> str:
        """A single text without secrets: of a record, a log line, an exception.

        Raises:
            TooLargeToCheck: it is larger than `max_bytes`.
        """
        self._admit(len(text))
        if not is_plain(text) or "\x00" in text:
            text = shown_only(text)
        if text[:1] in ("{", "["):
            return str(self._rewriter(None).clean(text, message=False).value)
        hits = self._scanner.scan(text).hits
        return spliced(text, hits, self._stand_in) if hits else text

    def clean_tree(self, value: Json, plan: "Plan | None" = None) -> Json:
        """Decoded JSON without secrets; the same object where there is none.

        Raises:
            TooLargeToCheck: it is larger than `max_bytes`, or nested too deep.
        """
        return self.examine_tree(value, plan).value

    def clean_line(self, line: bytes, plan: "Plan | None" = None) -> bytes:
        """An encoded JSON-RPC message without secrets; the same object where there is none.

        Raises:
            TooLargeToCheck: it is larger than `max_bytes`, or nested too deep.
        """
        if plan is None and len(line) <= self.max_bytes and not self._scanner.suspects(line):
            return line  # what nearly every message comes to
        return bytes(self.examine_line(line, plan).value)

    def examine_tree(self, value: Json, plan: "Plan | None" = None) -> Cleaned:
        """As `clean_tree`, with the places that were changed."""
        if plan is not None and (plan.redactor is not None or plan.keys):
            other = plan.choose(self)
            return Cleaned(value) if other is None else other.examine_tree(value, plan.chosen())
        message = isinstance(value, dict) and "jsonrpc" in value
        try:
            cleaned = self._rewriter(plan).clean(value, message)
        except RecursionError:
            raise TooLargeToCheck("returned what is nested too deep to be checked for secrets") from None
        return Cleaned(*cleaned)

    def examine_line(self, line: bytes, plan: "Plan | None" = None) -> Cleaned:
        """As `clean_line`, with the places that were changed."""
        if plan is not None:
            if plan.redactor is not None or plan.keys:
                other = plan.choose(self)
                return Cleaned(line) if other is None else other.examine_line(line, plan.chosen())
            if plan.marks is not None:
                return self._examine(line, plan)
        self._admit(len(line))
        return self._examine(line, plan) if self._scanner.suspects(line) else Cleaned(line)

    def _examine(self, line: bytes, plan: "Plan | None") -> Cleaned:
        self._admit(len(line))
        try:
            cleaned = self.examine_tree(msgspec.json.decode(line), plan)
        except (msgspec.DecodeError, RecursionError):
            raise TooLargeToCheck("returned what cannot be checked for secrets") from None
        if not cleaned.paths:
            return Cleaned(line)
        return cleaned._replace(value=msgspec.json.encode(cleaned.value))

    def _rewriter(self, plan: "Plan | None") -> Rewriter:
        marks = None if plan is None else plan.marks
        return Rewriter(self._scanner, self._stand_in, self._spared, self._admit, marks)

    def _admit(self, size: int) -> None:
        if size > self.max_bytes:
            raise TooLargeToCheck(
                f"returned {size} bytes, more than the {self.max_bytes} that are checked for secrets"
            )

    def _stand_in(self, kind: str, secret: str) -> str:
        """The placeholder."""
        if self._mode == "hash":
            digest = hmac.digest(_KEY, secret.encode("utf-8", "surrogatepass"), "sha256").hex()
            kind = f"{kind}:{digest[:8]}"
        return self._placeholder.replace("{kind}", kind)


class Plan:
    """What is special for one tool, resource or prompt; made once, at registration.

    Args:
        redactor: another redactor for it; `None`: the server's; `False`: none, so that it may send secrets.
        keys: more secret names.
        marks: the secret fields of what it returns: `plans.marks_of(output_schema)`.
    """

    __slots__ = ("_bare", "_made", "keys", "marks", "redactor")

    def __init__(
        self,
        *,
        redactor: "Redactor | Literal[False] | None" = None,
        keys: Iterable[str] = (),
        marks: Marks | None = None,
    ) -> None:
        self.redactor = redactor
        self.keys = _names(keys)
        self.marks = marks
        self._made: dict[Redactor, Redactor] = {}
        self._bare: Plan | None = None

    def choose(self, redactor: Redactor) -> Redactor | None:
        """The redactor for it, where *redactor* is the server's; `None`: nothing is redacted."""
        if isinstance(self.redactor, bool):
            return None
        chosen = self.redactor or redactor
        if not self.keys:
            return chosen
        made = self._made.get(chosen)
        if made is None:
            made = self._made[chosen] = chosen.with_keys(self.keys)
        return made

    def chosen(self) -> "Plan":
        """What is left of it once its redactor is chosen."""
        if self._bare is None:
            self._bare = Plan(marks=self.marks)
        return self._bare


def _names(keys: Iterable[str]) -> tuple[str, ...]:
    names = tuple(keys)
    if isinstance(keys, str) or not all(isinstance(name, str) and name.strip() for name in names):
        raise ConfigurationError("Redactor(keys=) takes a list of names, such as ['api_key', 'pin']")
    return names


def _check_choices(profile: str, mode: str, max_bytes: int) -> None:
    if profile not in ("secrets", "pii"):
        raise ConfigurationError(f"Redactor(profile=) is 'secrets' or 'pii', not {profile!r}")
    if mode not in ("label", "hash"):
        raise ConfigurationError(f"Redactor(mode=) is 'label' or 'hash', not {mode!r}")
    if not isinstance(max_bytes, int) or isinstance(max_bytes, bool) or max_bytes < 1:
        raise ConfigurationError("Redactor(max_bytes=) takes a number of bytes, at least 1")


def _check_placeholder(placeholder: str) -> None:
    if not isinstance(placeholder, str) or not placeholder.strip():
        raise ConfigurationError("Redactor(placeholder=) takes a text, such as '[redacted:{kind}]'")
    outside = placeholder.replace("{kind}", "x")
    if "{kind}" in placeholder and (outside[0].isalnum() or outside[-1].isalnum()):
        raise ConfigurationError("Redactor(placeholder=) takes marks around its {kind}, such as '<{kind}>'")


def _check_kinds(extra: Mapping[str, str]) -> None:
    if not isinstance(extra, Mapping):
        raise ConfigurationError(
            "Redactor(extra=) takes patterns by kind: {'employee_id': r'\\bEMP-\\d{5}\\b'}"
        )
    for kind, pattern in extra.items():
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            raise ConfigurationError(
                f"Redactor(extra=): the kind {kind!r} takes small letters, digits, '_' and '-', 32 at most"
            )
        if not isinstance(pattern, str):
            raise ConfigurationError(f"Redactor(extra=): '{kind}' takes a pattern as a text")
