"""What the detectors take out and what they leave: true cases and near misses of every kind, in tables."""

import base64
import random
import re
import string
import uuid
from typing import Any

import pytest

from typegate.errors import ConfigurationError
from typegate.guards.detectors import DETECTORS, NUMBERS
from typegate.guards.keys import Keys
from typegate.guards.literals import FAST, finder
from typegate.guards.patterns import prefix, sound
from typegate.guards.redaction import Redactor
from typegate.guards.scanning import Scanner

ABC = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"
HEX = "0123456789abcdef0123456789abcdef0123456789abcdef"
UPPER = "A1B2C3D4E5F6G7H8J9K0L1M2N3P4Q5R6S7T8U9V0W1X2Y3Z4A5B6C7D8E9"
PRIVATE = "PRIVATE KEY-----"  # apart, so that no scanner of repositories takes the tests for a leak
BEGIN, END = "-----BEGIN ", "-----END "


def b64(text: str) -> str:
    """The base64 of *text*."""
    return base64.b64encode(text.encode()).decode()


def jwt(header: str, body: str = '{"sub":"1"}', signature: str = ABC[:43]) -> str:
    """A token of that header."""
    parts = (base64.urlsafe_b64encode(each.encode()).decode().rstrip("=") for each in (header, body))
    return f"{'.'.join(parts)}.{signature}"


JWT = jwt('{"alg":"HS256","typ":"JWT"}')
PEM = f"{BEGIN}RSA {PRIVATE}\nMIIEow{ABC}\n{ABC}==\n{END}RSA {PRIVATE}"

TRUE: dict[str, list[str]] = {
    "aws": ["AKIA" + UPPER[:16], "ASIA" + UPPER[:16], "AKIA" + "IOSFODNN7EXAMPLE"],
    "github": ["ghp_" + ABC[:36], "ghs_" + ABC[:40], "github_pat_" + ABC[:22] + "_" + ABC],
    "gitlab": [
        "glpat-" + ABC[:20],
        "glrt-" + ABC[:20],
        "gldt-" + "x_-" * 8,
        "glpat-" + ABC[:27] + ".01.120abc",
    ],
    "slack": [
        "xoxb-" + "123456789012-" + ABC[:24],
        "xapp-1-A0-" + "1234567890-" + ABC[:30],
        "hooks.slack.com/services/T0/B0/" + ABC[:24],
    ],
    "stripe": ["sk_live_" + ABC[:24], "rk_test_" + ABC[:24], "sk_prod_" + ABC[:10]],
    "webhook": ["whsec_" + ABC[:32], "whsec_" + "ab+/" * 8, "whsec_" + ABC[:16] + "=="],
    "anthropic": ["sk-ant-api03-" + ABC, "sk-ant-admin01-" + ABC, "sk-ant-oat01-" + ABC[:30]],
    "openai": ["sk-proj-" + ABC, "sk-" + ABC[:48], "sk-svcacct-" + ABC[:40]],
    "groq": ["gsk_" + ABC, "gsk_" + ABC[:20], "gsk_" + ABC[4:40]],
    "xai": ["xai-" + ABC, "xai-" + ABC[:20], "xai-" + ABC[:20] + "-" + ABC[:9]],
    "perplexity": ["pplx-" + ABC, "pplx-" + ABC[:20], "pplx-" + ABC[9:40]],
    "replicate": ["r8_" + ABC[:37], "r8_" + ABC[:30], "r8_" + ABC[5:40]],
    "huggingface": ["hf_" + ABC[:34], "hf_" + ABC[:30], "hf_" + ABC[3:40]],
    "google": ["AIza" + ABC[:35], "GOCSPX-" + ABC[:28], "ya29." + ABC[:40]],
    "azure": ["abc8Q~" + ABC[:34], "xY_1Q~" + ABC[:31], "zz.9Q~" + ABC[:20] + "._~-" + ABC[:10]],
    "npm": ["npm_" + ABC[:36], "npm_" + ABC[:30], "npm_" + ABC[7:44]],
    "pypi": ["pypi-AgEIcHlwaS5vcmc" + ABC, "pypi-AgENdGVzdC5weXBpLm9yZw" + ABC, "pypi-AgEI" + ABC[:16]],
    "sendgrid": [f"SG.{ABC[:22]}.{ABC[:43]}", f"SG.{ABC[2:24]}.{ABC[:43]}", f"SG.{ABC[:20]}.{ABC[:20]}"],
    "digitalocean": ["dop_v1_" + HEX, "doo_v1_" + HEX[:40], "dor_v1_" + HEX],
    "shopify": ["shpat_" + HEX[:32], "shpss_" + HEX[:32].upper(), "shpca_" + HEX[:40]],
    "grafana": ["glc_" + ABC[:40], "glsa_" + ABC[:32] + "_1a2b3c4d", "glc_" + ABC[:31] + "=="],
    "vault": ["hvs." + ABC, "hvb." + ABC[:20], "hvr." + ABC[:30]],
    "databricks": ["dapi" + HEX[:32], "dapi" + HEX[:32] + "-2", "dapi" + HEX[5:37]],
    "atlassian": ["ATATT3xFfGF0" + ABC, "ATCTT3xFfGN0" + ABC, "ATATT3" + ABC[:20] + "=1A2B3C4D"],
    "docker": ["dckr_pat_" + ABC[:27], "dckr_oat_" + ABC[:27], "dckr_pat_" + ABC[:20]],
    "linear": ["lin_api_" + ABC[:40], "lin_api_" + ABC[:30], "lin_api_" + ABC[9:45]],
    "age": [
        "AGE-SECRET-KEY-1" + UPPER[:58],
        "AGE-SECRET-KEY-1" + UPPER[:52],
        "AGE-SECRET-KEY-1" + UPPER[1:55],
    ],
    "discord": [
        f"discord.com/api/webhooks/123456789012345678/{ABC}",
        f"discordapp.com/api/webhooks/123456789012345678/{ABC}",
        f"discord.com/api/webhooks/1234567890/{ABC[:30]}",
    ],
    "jwt": [JWT, jwt('{"typ":"JWT","alg":"none"}', signature=""), jwt('{ "kid": "1", "alg": "RS256" }')],
    "private_key": [PEM, PEM.replace("RSA ", ""), PEM.replace("RSA", "OPENSSH").replace("\n", "\\n")],
}
"""Whole secrets, by kind."""

NEAR: dict[str, list[str]] = {
    "aws": ["AKIA" + UPPER[:15], "AKIA" + UPPER[:17], "xAKIA" + UPPER[:16], "Asia" + UPPER[:16], "AKIA"],
    "github": ["ghp_" + ABC[:35], "ghx_" + ABC[:36], "sighp_" + ABC[:36], "github_pat_short"],
    "gitlab": ["glpat-short", "glpat_" + ABC[:20], "englpat-" + ABC[:20]],
    "slack": ["xoxb-", "xoxb-only-words-are-here-now", "slack.com/services/T0/B0", "xoxq-" + ABC],
    "stripe": ["sk_live_short", "sk_life_" + ABC[:24], "risk_live_" + ABC[:24]],
    "webhook": ["whsec_short", "whsec", "awhsec_" + ABC[:32]],
    "anthropic": ["sk-ant-", "sk-ant-short1", "sk-ant-only-words-and-dashes-in-here"],
    "openai": [
        "sk-learn",
        "disk-cleanup-prod-2024-europe-west-1",
        "task-" + ABC[:30],
        "sk-this-is-only-a-sentence",
    ],
    "groq": ["gsk_", "gsk_onlylettersareherenow", "xgsk_" + ABC],
    "xai": ["xai-", "xai-only-words-and-more-words", "maxai-" + ABC],
    "perplexity": ["pplx-", "pplx-short1", "applx-" + ABC],
    "replicate": ["r8_", "r8_" + ABC[:29], "var8_" + ABC[:37]],
    "huggingface": ["hf_", "hf_hub_download", "shf_" + ABC[:34]],
    "google": ["AIza" + ABC[:34], "aiza" + ABC[:35], "GOCSPX-short", "ya29.short"],
    "azure": ["abcxQ~" + ABC[:34], "abc8Q~" + ABC[:30], "Q~"],
    "npm": ["npm_config_cache", "npm_lifecycle_event", "xnpm_" + ABC[:36]],
    "pypi": ["pypi-AgEI", "pypi-attestations-0.0.28", "pypi-agei" + ABC],
    "sendgrid": ["SG.short.short", f"MSG.{ABC[:22]}.{ABC[:43]}", f"sg.{ABC[:22]}.{ABC[:43]}"],
    "digitalocean": ["dop_v1_" + HEX[:39], "dox_v1_" + HEX, "do_v1_" + HEX],
    "shopify": ["shpat_" + HEX[:31], "shpxx_" + HEX[:32], "shpat_word"],
    "grafana": ["glc_short", "glsa_onlyletters", "xglc_" + ABC],
    "vault": ["hvs.short", "hvs." + "letters" * 4, "xhvs." + ABC],
    "databricks": ["dapi" + HEX[:31], "dapi" + HEX[:33], "xdapi" + HEX[:32], "dapi"],
    "atlassian": ["ATATT3short", "ATBTT3" + ABC, "xATATT3" + ABC],
    "docker": ["dckr_pat_short", "dckr_" + ABC, "xdckr_pat_" + ABC],
    "linear": ["lin_api_short", "lin_" + ABC, "berlin_api_" + ABC],
    "age": ["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-2" + UPPER, "age1" + ABC],
    "discord": ["discord.com/api/webhooks/", f"discord.com/api/webhooks/12/{ABC}", f"discord.com/api/{ABC}"],
    "jwt": ["eyJhIjoxfQ", "eyJpZCI6MTIzLCJvZmZzZXQiOjQwfQ==", f"eyJ{ABC}", jwt('{"page":2,"size":10000}')],
    "private_key": [
        f"{BEGIN}CERTIFICATE-----\nMIID{ABC}\n{END}CERTIFICATE-----",
        f"{BEGIN}PUBLIC KEY-----\nMIIB{ABC}",
        "-----BEGIN",
        "PRIVATE KEY",
    ],
}
"""What looks nearly so, and stays."""

CONTEXT = [  # a text, and the same without its secret
    ("postgres://app:hunter2@db:5432/x", "postgres://app:[redacted:url_password]@db:5432/x"),
    ("mongodb+srv://u:p%40ss@h/?w=1", "mongodb+srv://u:[redacted:url_password]@h/?w=1"),
    ("amqp://:secretpw@mq", "amqp://:[redacted:url_password]@mq"),
    ("https://u:p@ss@host/path", "https://u:[redacted:url_password]@host/path"),
    ("Bearer abcdefghijklmnop1234", "Bearer [redacted:bearer]"),
    ("authorization: bearer\tabcdefghijklmnop1234", "authorization: bearer\t[redacted:bearer]"),
    ("BEARER%20abcdefghijklmnop1234", "BEARER%20[redacted:bearer]"),
    ("Basic dXNlcjpwYXNzd29yZA==", "Basic [redacted:basic_auth]"),
    ("basic dXNlcjpwdw", "basic [redacted:basic_auth]"),
    ("Authorization: Basic dTpw", "Authorization: Basic [redacted:secret]"),
    ("?sv=2024&sig=" + "aB3%2F" * 8 + "%3D", "?sv=2024&sig=[redacted:azure]"),
    ("?SIG=" + ABC[:44], "?SIG=[redacted:azure]"),
    ("sig=" + "x" * 40 + "=&x=1", "sig=[redacted:azure]&x=1"),
    (f"AccountKey={ABC}==;Suffix=core", "AccountKey=[redacted:secret];Suffix=core"),
    ("bot12345678:AA" + ABC[:33], "bot12345678:[redacted:telegram]"),
    ("1234567890:AA" + ABC[:32] + "_ ok", "1234567890:[redacted:telegram] ok"),
    ("t=99999999:AA" + "-" * 33, "t=99999999:[redacted:telegram]"),
    ("twilio sid SK" + HEX[:32], "twilio sid [redacted:twilio]"),
    ("TWILIO_AUTH: " + HEX[:32], "TWILIO_AUTH: [redacted:twilio]"),
    ("Twilio (" + HEX[:32] + ")", "Twilio ([redacted:twilio])"),
    ("password=hunter22", "password=[redacted:password]"),
    ("PASSWD: hunter22;", "PASSWD: [redacted:password];"),
    ("db.password = s3cr3t!", "db.password = [redacted:password]"),
    ("Server=x;Pwd=Ab1!xyz;Db=y", "Server=x;Pwd=[redacted:password];Db=y"),
    ('"password": "correct horse"', '"password": "[redacted:password]"'),
    ('{\\"api_key\\": \\"abc def\\"}', '{\\"api_key\\": \\"[redacted:secret]\\"}'),
    ("{'secret': 'a b'}", "{'secret': '[redacted:secret]'}"),
    ("export DB_PASSWORD=plainword", "export DB_PASSWORD=[redacted:password]"),
    ("clientSecret=abcd1234&x=1", "clientSecret=[redacted:secret]&x=1"),
    ("x-api-key: 0a1b2c3d", "x-api-key: [redacted:secret]"),
    ("aws_secret_access_key = wJalr/K7MDENG", "aws_secret_access_key = [redacted:secret]"),
    ("refresh_token=abc123", "refresh_token=[redacted:secret]"),
    (b64("ghp_" + ABC[:36]), "[redacted:github]"),
    ("data: " + b64(PEM), "data: [redacted:private_key]"),
    (b64(JWT), "[redacted:jwt]"),
    ("auth=%20ghp_" + ABC[:36], "auth=%20[redacted:github]"),
    ("line\\nghp_" + ABC[:36], "line\\n[redacted:github]"),
    (PEM[:70], "[redacted:private_key]"),
    ("Proxy: basic%20dXNlcjpwYXNz,", "Proxy: basic%20[redacted:basic_auth],"),
    (f"{PEM}\nnext", "[redacted:private_key]\nnext"),
]

WAYS = [False, True] if FAST else [False]
"""The ways to find literals that are here: without `ahocorasick_rs` and, where it is installed, with it."""

NO_CONTEXT = [
    *("https://host:8080/a@b", "https://example.com/@name", "mailto:a@b.org", "ssh://git@host/x.git"),
    *("Bearer of good news", "bearer tokens", "Basic authentication is off", "basic training", "sig=short"),
    *("12345678:AAshort", "at 12:30:AA", HEX[:32], "twilio sends the message", "twilio " + HEX[:31]),
    *(
        "password: the one you chose",
        "Password required",
        "password = getpass()",
        "password = os.environ['X']",
    ),
    *("password=${DB_PASSWORD}", "password: <your password>", "password=****", "password={{ pw }}"),
    *("token_count=12000", "max_tokens: 4096", "next_page_token=abcdef123", '"token_count": 5000'),
    *('"nextPageToken": "abcdef"', "secretary: Ms Jones", "passwordless=true1", "password_hash_rounds=12000"),
    *("tokens: 12345", "The token is refreshed.", "Forgot your password?", "api_key_id=12345678"),
    *("reset the password. Then: go on", "stop_token: 50256", "pad_token=50257"),
]

PERSONAL = [
    ("mail ann.b+c@example.co.uk!", "mail [redacted:email]!"),
    ("<a@b.io>", "<[redacted:email]>"),
    ("x='o'; ann@example.org", "x='o'; [redacted:email]"),
    ("4111 1111 1111 1111", "[redacted:card]"),
    ("pay 5500-0000-0000-0004 now", "pay [redacted:card] now"),
    ("3782 822463 10005", "[redacted:card]"),
    ("card 4111111111111111", "card [redacted:card]"),
    ('{"card_number": "4111111111111111"}', '{"card_number": "[redacted:card]"}'),
    ("Visa: 4012888888881881.", "Visa: [redacted:card]."),
    ("DE89370400440532013000", "[redacted:iban]"),
    ("IBAN GB29 NWBK 6016 1331 9268 19", "IBAN [redacted:iban]"),
    ("NO9386011117947,", "[redacted:iban],"),
    ("078-05-1120", "[redacted:ssn]"),
    ("ssn: 219-09-9999.", "ssn: [redacted:ssn]."),
    ("(536-22-8726)", "([redacted:ssn])"),
    ("+49 30 1234567", "[redacted:phone]"),
    ("call +14155552671", "call [redacted:phone]"),
    ("(415) 555-2671", "[redacted:phone]"),
    ("+1 (415) 555-2671", "[redacted:phone]"),
]

IMPERSONAL = [
    *("user@localhost", "@decorator", "a@b", "git@github", "x @ y.z"),
    *("4111111111111111", "order 4111111111111111", '"order_id": "4111111111111111"', "1712345678901"),
    *("4111 1111 1111 1112", "1111 1111 1111 1111", "9999-9999-9999-9999", "card 1234567890123456"),
    *('"card": {"order_id": "4111111111111111"}', "card_id 4111-1111", "card 0000000000000000"),
    *("DE89370400440532013001", "XX89370400440532013000", "AB12", "DE8937040044053201300", "GB29NWBK"),
    *("000-12-3456", "666-12-3456", "900-12-3456", "123-00-4567", "123-45-0000", "2024-123-45-6789"),
    *("a123-45-6789", "2026-03-01T12:00:00+02:00", "1e+10", "+12", "(12) 3", "x+12345678", "C++11 2020-2030"),
    *("550e8400-e29b-41d4-a716-446655440000", HEX, "4f3a" * 16, "1.2.3.4", "2026-03-01 10:20:30"),
]


@pytest.fixture(scope="module", params=WAYS)
def secrets(request: pytest.FixtureRequest) -> Redactor:
    """A redactor, in both ways of finding literals."""
    return made(request.param)


def made(fast: bool, **options: Any) -> Redactor:
    """A redactor that finds its literals in one way or the other."""
    redactor = Redactor(**options)
    profile, extra, names, *_ = redactor._options
    redactor._scanner = Scanner(profile, dict(extra), names, redactor._spared, fast)
    return redactor


@pytest.fixture(scope="module", params=WAYS)
def personal(request: pytest.FixtureRequest) -> Redactor:
    """One of the profile `pii`."""
    return made(request.param, profile="pii")


def test_the_fast_way_is_tested() -> None:
    """This file runs every case with `ahocorasick_rs` too, or says here that it could not."""
    if not FAST:
        pytest.skip("ahocorasick_rs (extra 'fast') is not installed: redaction was tested without it only")


def test_every_detector_has_its_cases() -> None:
    """Each kind of the table stands in the tables of this file, with three cases and three near misses."""
    shown = " ".join(result for _, result in (*CONTEXT, *PERSONAL))
    for row in (*DETECTORS["pii"], *NUMBERS):
        cases = len(TRUE.get(row.kind, ())) + shown.count(f":{row.kind}]")
        assert cases >= 3, row.kind
    assert all(len(NEAR[kind]) >= 3 for kind in TRUE)


WHOLE = [(kind, text) for kind, texts in TRUE.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), WHOLE)
def test_a_secret_is_taken_out(secrets: Redactor, kind: str, text: str) -> None:
    """Alone, in a sentence, in quotes, at the end of a sentence."""
    label = f"[redacted:{kind}]"
    assert secrets.clean_text(text) == label
    for around in ('x "{}" y', "({})", "={}\n", "a,{},b", "<{}>"):
        assert secrets.clean_text(around.format(text)) == around.format(label)


@pytest.mark.parametrize("text", [text for texts in NEAR.values() for text in texts])
def test_what_only_looks_like_one_stays(secrets: Redactor, text: str) -> None:
    """It comes back as the very object."""
    assert secrets.clean_text(text) is text


@pytest.mark.parametrize(("text", "result"), CONTEXT)
def test_context_makes_a_secret(secrets: Redactor, text: str, result: str) -> None:
    """A password in a URL, behind its name, in a header; what stands around it stays."""
    assert secrets.clean_text(text) == result
    assert secrets.clean_text(result) == result


@pytest.mark.parametrize("text", NO_CONTEXT)
def test_words_alone_are_no_secret(secrets: Redactor, text: str) -> None:
    """Prose, code, templates, counts and cursors come back as they are."""
    assert secrets.clean_text(text) is text


@pytest.mark.parametrize(("text", "result"), PERSONAL)
def test_personal_data_is_taken_out_where_asked(
    personal: Redactor, secrets: Redactor, text: str, result: str
) -> None:
    """Only by the profile `pii`."""
    assert personal.clean_text(text) == result
    assert secrets.clean_text(text) is text


@pytest.mark.parametrize("text", IMPERSONAL)
def test_other_numbers_stay(personal: Redactor, text: str) -> None:
    """Order numbers, timestamps, digests, UUIDs, numbers whose check digits are wrong."""
    assert personal.clean_text(text) is text


def test_random_numbers_stay(personal: Redactor) -> None:
    """Of 3,000 numbers, UUIDs, digests and times, none is taken for personal data."""
    chance = random.Random(7)
    for _ in range(600):
        digits = "".join(chance.choices(string.digits, k=chance.randrange(8, 22)))
        for text in (
            *(digits, f"order {digits}", f'"id":"{digits}"', str(uuid.UUID(int=chance.getrandbits(128)))),
            f"{chance.getrandbits(160):040x}",
        ):
            assert personal.clean_text(text) is text


# --- patterns of the author's own

SOUND = [
    *(
        r"\bEMP-\d{5}\b",
        r"EMP-\d+",
        r"(?i)acct-[a-z]{2,4}\d{4,8}",
        r"[A-Z]{3}-\d{3}",
        r"(?:ab){1,20}c",
        r"x{3,}",
    ),
    *(
        r"(?<=id=)\w{8}",
        r"(?P<a>cust)_[0-9a-f]{12}",
        r"A[0-9]{1,64}B",
        r"foo|bar\d",
        r"\d{3}-(?:\d{2}|\d{4})",
    ),
]
RUNAWAY = [
    *(
        r"(a+)+$",
        r"(a|a)*b",
        r"(a|aa)+$",
        r"\d+x",
        r".*secret.*",
        r"(\w+\s?)+:",
        r"([a-z]{1,9}){1,9}x",
        r"a+\b",
    ),
    *(r"(a)\1", r"(?P<x>a)(?P=x)", r"(a)?(?(1)b|c)", r"[a-z]{1,99}[a-z]{1,99}x", r"a{1,5000}b", r"(?=a+)b"),
]


@pytest.mark.parametrize("pattern", SOUND)
def test_a_bounded_pattern_is_taken(pattern: str) -> None:
    """It is compiled as it is."""
    assert sound("x", pattern).pattern == pattern


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_a_pattern_that_can_run_away_is_refused(pattern: str) -> None:
    """At construction, with the name of the pattern and what to do."""
    with pytest.raises(ConfigurationError, match=r"Redactor\(extra=\): 'mine'"):
        Redactor(extra={"mine": pattern})


@pytest.mark.parametrize("pattern", ["", "a*", "a?", "(?:)", r"\b", "(", "[a"])
def test_a_pattern_asks_for_something(pattern: str) -> None:
    """One that matches nothing, or is none, is refused."""
    with pytest.raises(ConfigurationError):
        Redactor(extra={"mine": pattern})


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [(r"\bEMP-\d{5}", "emp-"), (r"[A-Z]{3}", ""), ("foo|bar", ""), ("(?i)Acct-[0-9]", "acct-"), ("é1", "")],
)
def test_a_pattern_begins_with_a_literal(pattern: str, expected: str) -> None:
    """By that literal it is found."""
    assert prefix(re.compile(pattern)) == expected


# --- literals and names


@pytest.mark.parametrize("fast", WAYS)
def test_literals_are_found_wherever_they_stand(fast: bool) -> None:
    """Also one inside another, and one that begins in another."""
    found = finder(["abc", "b", "cd", "abcdx"], fast)
    assert sorted(found.places("-abcdy-b", 9) or ()) == [(1, "abc"), (2, "b"), (3, "cd"), (7, "b")]
    assert found.places("-abcdy-b", 1) is None
    assert found.present("-abcdy-b") == {"abc", "b", "cd"}
    assert found.within(b"xxcd")
    assert not found.within(b"xxc")


SECRET_NAMES = [
    *(
        "password",
        "DB_PASSWORD",
        "dbPassword",
        "user.password",
        "client-secret",
        "apiKey",
        "API_KEY",
        "token",
    ),
    *(
        "access_token",
        "idToken",
        "Authorization",
        "credentials",
        "private_key",
        "AWS_SECRET_ACCESS_KEY",
        "pwd",
    ),
]
OTHER_NAMES = [
    *("token_count", "max_tokens", "tokens", "nextPageToken", "progressToken", "cursor", "nextCursor", "key"),
    *(
        "password_hint_shown",
        "secretary",
        "monkey",
        "keyboard",
        "author",
        "page_token",
        "access_key_id",
        "id",
    ),
]


def test_names_are_judged_by_their_end() -> None:
    """Whatever their case and separators."""
    names = Keys(["Employee-No"])
    assert [name for name in SECRET_NAMES if name not in names] == []
    assert [name for name in OTHER_NAMES if name in names] == []
    assert "employee_no" in names
    assert "EMPLOYEENO" in names
    assert "employee_no_count" not in names
