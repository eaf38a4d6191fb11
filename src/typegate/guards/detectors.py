"""What a secret looks like: the table of detectors by profile.

The law of the file: data only. A row is a literal, a shape and a check: the literal is searched in the
lower-case text, the shape is matched only where it stands, and the check decides. No shape repeats without
a bound in front of anything that may fail, so that a scan that goes on behind what matched is linear.
"""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from typegate.guards import checks

__all__ = [
    "BASE64",
    "DETECTORS",
    "ENCODED",
    "NAME",
    "NUMBERS",
    "VALUE",
    "Detector",
    "NumberDetector",
    "Profile",
]

Profile = Literal["secrets", "pii"]
Check = Callable[[re.Match[str]], bool]


class Detector(NamedTuple):
    """One kind of secret.

    Attributes:
        kind: its name, as it stands in the placeholder.
        literals: what to search, in lower case.
        shape: what stands there; the group `secret` is what is taken out.
        check: whether it is one.
        back: how many characters the shape begins before the literal.
        token: whether it is one by itself: then it begins where a word begins, and it counts across the
            border of two text blocks. Otherwise its surroundings make it one.
    """

    kind: str
    literals: tuple[str, ...]
    shape: re.Pattern[str]
    check: Check | None = None
    back: int = 0
    token: bool = True


class NumberDetector(NamedTuple):
    """A secret without a literal: *outlines* are searched where each digit is `9` and each capital is `A`."""

    kind: str
    outlines: tuple[bytes, ...]
    shape: re.Pattern[str]
    check: Check


def _token(kind: str, literals: str, shape: str, check: Check | None = None) -> Detector:
    return Detector(kind, tuple(literals.split()), re.compile(f"(?P<secret>{shape})"), check)


def _inside(kind: str, literals: str, shape: str, check: Check | None = None) -> Detector:
    return Detector(kind, tuple(literals.split()), re.compile(shape), check, token=False)


_mixed: Final = checks.has_digit_and_letter
_W: Final = "[A-Za-z0-9_-]"
_NO_MORE: Final = "(?![A-Za-z0-9])"

_PEM: Final = (
    r"-----BEGIN[A-Z0-9 ]{1,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[A-Za-z0-9+/=\s:,.\\_]+|-(?!----END))*"
    r"(?:-----END[A-Z0-9 ]{1,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\x00[A-Za-z0-9+/=]{16,128})*"  # one string for each line
    r"(?:(?:\x00[A-Za-z0-9+/=]{1,128})?\x00-----END[A-Z0-9 ]{1,40}PRIVATE KEY(?: BLOCK)?-----)?)"
)

_SECRETS: Final = (
    _token("aws", "akia asia abia acca", f"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_NO_MORE}"),
    _token("github", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_[A-Za-z0-9]{36,}"),
    _token("github", "github_pat_", "github_pat_[A-Za-z0-9_]{22,}"),
    _token(
        "gitlab",
        "glpat- gldt- glrt- glcbt- glptt- glsoat- glimt- glagent- gloas- glft- glffct-",
        rf"gl(?:pat|dt|rt|cbt|ptt|soat|imt|agent|oas|ft|ffct)-{_W}{{20,}}(?:\.{_W}{{2,20}}){{0,3}}",
    ),
    _token(
        "slack", "xoxa xoxb xoxc xoxe xoxo xoxp xoxr xoxs", r"xox[abceoprs][.-][A-Za-z0-9.-]{13,}", _mixed
    ),
    _token("slack", "xapp-", "xapp-[A-Za-z0-9-]{20,}", _mixed),
    _token("slack", "hooks.slack.com/", r"hooks\.slack\.com/[A-Za-z0-9_+/-]{20,}"),
    _token(
        "stripe",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        "[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    ),
    _token("webhook", "whsec_", "whsec_[A-Za-z0-9+/]{16,}={0,2}"),
    _token("anthropic", "sk-ant-", f"sk-ant-{_W}{{20,}}", _mixed),
    _token("openai", "sk-", f"sk-(?!ant-){_W}{{20,}}", _mixed),
    _token("groq", "gsk_", "gsk_[A-Za-z0-9]{20,}", _mixed),
    _token("xai", "xai-", f"xai-{_W}{{20,}}", _mixed),
    _token("perplexity", "pplx-", "pplx-[A-Za-z0-9]{20,}", _mixed),
    _token("replicate", "r8_", "r8_[A-Za-z0-9]{30,}", _mixed),
    _token("huggingface", "hf_", "hf_[A-Za-z0-9]{30,}", _mixed),
    _token("google", "aiza", f"AIza{_W}{{35,}}"),
    _token("google", "gocspx-", f"GOCSPX-{_W}{{20,}}"),
    _token("google", "ya29.", rf"ya29\.{_W}{{20,}}"),
    Detector(
        "azure", ("q~",), re.compile(r"(?P<secret>[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34})"), back=4
    ),
    _token("npm", "npm_", "npm_[A-Za-z0-9]{30,}", _mixed),
    _token("pypi", "pypi-age", f"pypi-AgE[IN]{_W}{{16,}}"),
    _token("sendgrid", "sg.", rf"SG\.{_W}{{20,64}}\.{_W}{{20,}}"),
    _token("digitalocean", "dop_v1_ doo_v1_ dor_v1_", "do[opr]_v1_[a-f0-9]{40,}"),
    _token("shopify", "shpat_ shpca_ shppa_ shpss_", "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}"),
    _token("grafana", "glc_ glsa_", "gl(?:c|sa)_[A-Za-z0-9+/_]{30,}={0,2}", _mixed),
    _token("vault", "hvs. hvb. hvr.", rf"hv[sbr]\.{_W}{{20,}}", _mixed),
    _token("databricks", "dapi", rf"dapi[a-f0-9]{{32}}(?:-\d)?{_NO_MORE}"),
    _token("atlassian", "atatt3 atctt3", f"AT[AC]TT3{_W}{{20,}}={{0,2}}[A-F0-9]{{0,8}}"),
    _token("docker", "dckr_pat_ dckr_oat_", f"dckr_[po]at_{_W}{{20,}}"),
    _token("linear", "lin_api_", "lin_api_[A-Za-z0-9]{30,}"),
    _token("age", "age-secret-key-1", "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    _inside("telegram", ":aa", rf"(?<=\d{{8}}):(?P<secret>AA{_W}{{33}})(?!{_W})"),
    _token(
        "discord",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        rf"discord(?:app)?\.com/api/webhooks/\d{{10,24}}/{_W}{{30,}}",
    ),
    _inside(
        "twilio",
        "twilio",
        rf"(?i:twilio)[^\n\x00]{{0,40}}?(?<![A-Za-z0-9])(?P<secret>(?:SK)?[0-9a-f]{{32}}){_NO_MORE}",
    ),
    _token("jwt", "eyj eyai", rf"(?P<head>ey(?:J|Ai){_W}{{14,}})(?P<rest>(?:\.{_W}*){{0,4}})", checks.is_jwt),
    Detector("private_key", ("-----begin",), re.compile(f"(?P<secret>{_PEM})")),
    _inside(
        "url_password",
        "://",
        r"://[^\s/@:\"'<>\\\x00]{0,128}:(?P<secret>[^\s/\"'<>\\\x00]{1,256})@",
    ),
    _inside(
        "bearer", "bearer", r"(?i:bearer)(?:\s|%20|\+|\\[tn]){1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,})", _mixed
    ),
    _inside(
        "basic_auth",
        "basic",
        r"(?i:basic)(?:\s|%20|\+|\\[tn]){1,4}(?P<secret>[A-Za-z0-9+/_-]{6,}={0,2})",
        checks.holds_user_and_password,
    ),
    _inside("azure", "sig=", "(?i:sig=)(?P<secret>[A-Za-z0-9%+/]{40,88}={0,2})"),
)

_PERSONAL: Final = (
    _inside(
        "phone",
        "+",
        r"(?<![\w+])(?P<secret>\+[1-9](?:\d{6,14}|\d{0,3}(?:[ .-]\d{1,8}|[ .-]?\(\d{1,5}\)){1,6}))(?!\w)",
        checks.is_phone,
    ),
    _inside(
        "phone",
        "(",
        r"(?<!\w)(?P<secret>\(\d{2,5}\) ?\d{2,4}[ .-]?\d{2,4}(?:[ .-]?\d{2,4})?)(?!\w)",
        checks.is_phone,
    ),
)

DETECTORS: Final[Mapping[Profile, tuple[Detector, ...]]] = {
    "secrets": _SECRETS,
    "pii": (*_SECRETS, *_PERSONAL),
}
"""The rows of a profile that have a literal; for `pii`, e-mail addresses and `NUMBERS` come in addition."""

NUMBERS: Final = (
    NumberDetector(
        "card",
        (b"9999-9999-9999", b"9999 9999 9999", b"9999-999999-99999", b"9999 999999 99999"),
        re.compile(
            r"(?<![\w-])(?P<secret>\d{4}([ -])(?:\d{4}\2\d{4}\2\d{1,7}(?:\2\d{1,4})?|\d{6}\2\d{4,5}))"
            r"(?![\w-])"
        ),
        checks.is_card,
    ),
    NumberDetector(
        "card",
        (b"9999999999999",),
        re.compile(r"(?<![\w.+-])(?P<secret>\d{13,19})(?![\w-])"),
        checks.is_bare_card,
    ),
    NumberDetector(
        "iban",
        (b"AA99",),
        re.compile(
            r"(?<![A-Za-z0-9])(?P<secret>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)"
            r"(?![A-Za-z0-9])"
        ),
        checks.is_iban,
    ),
    NumberDetector("ssn", (b"999-99-9999",), re.compile(r"(?P<secret>\d{3}-\d{2}-\d{4})"), checks.is_ssn),
)
"""Those of the profile `pii` that have none."""

NAME: Final = re.compile(r"[\w.-]{2,}+")
"""A word for a secret, and what is written together with it."""

VALUE: Final = re.compile(
    r"(?:\\{0,7}[\"'])?\s{0,3}(?P<sign>=>|:=|[:=])(?P<gap>\s{0,3})"
    r"(?:\"(?P<a>(?:[^\"\\\n\x00]|\\[^\x00]){1,512})"
    r"|\\{1,7}\"(?P<b>[^\"\\\x00]{1,512})"
    r"|'(?P<c>[^'\n\x00]{1,512})"
    r"|(?:(?i:bearer|basic|token|digest|apikey)\s{1,3})?"
    r"(?P<d>[^\s\"'`,;&<>(){}\[\]|\\\x00][^\s\"'`,;&<>(){}\\\x00]{3,511}))"
)
"""What follows it: `password=…`, `"password": "…"`, `\\"password\\": \\"…\\"`."""

_PREFIXES: Final = (
    *(
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "sk-ant-",
        "sk-proj-",
        "sk_live_",
        "rk_live_",
        "xoxb-",
    ),
    *(
        "xoxp-",
        "AKIA",
        "ASIA",
        "AIza",
        "eyJ",
        "npm_",
        "pypi-",
        "hvs.",
        "-----BEGIN",
        "postgres://",
        "mysql://",
    ),
)
ENCODED: Final = tuple(
    base64.b64encode(prefix.encode()).decode()[: len(prefix) * 8 // 6] for prefix in _PREFIXES
)
"""How the base64 of a secret begins."""

BASE64: Final = re.compile(f"(?P<secret>(?:{'|'.join(ENCODED)})[A-Za-z0-9+/_-]{{14,}}={{0,2}})")
