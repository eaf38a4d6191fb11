"""What tells a secret from a text of the same shape: check digits, issuers, headers, context.

The law of the file: pure functions of a match; each is linear in what was matched.
"""

import base64
import binascii
import re
from typing import Final

__all__ = [
    "decoded",
    "has_digit_and_letter",
    "holds_user_and_password",
    "is_bare_card",
    "is_card",
    "is_iban",
    "is_jwt",
    "is_phone",
    "is_ssn",
    "local_part",
]

Match = re.Match[str]


def has_digit_and_letter(match: Match) -> bool:
    """A random token has both; a name with dashes has seldom a digit."""
    text = match["secret"]
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text[3:]))


# --- base64


def decoded(text: str) -> bytes | None:
    """The bytes that *text* is the base64 of, in either alphabet and with its padding or without."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) % 4 == 1:
        plain = plain[:-1]
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


_HEADER: Final = re.compile(rb'"(?:alg|enc|typ|kid|cty|zip)"\s{0,4}:')


def is_jwt(match: Match) -> bool:
    """There are parts, and the first is the header of a JWS or JWE (RFC 7515 4.1, RFC 7516 4.1)."""
    if not match["rest"]:
        return False
    header = decoded(match["head"][:4096])
    return header is not None and header.lstrip()[:1] == b"{" and _HEADER.search(header) is not None


def holds_user_and_password(match: Match) -> bool:
    """The base64 of `user:password` (RFC 7617)."""
    raw = decoded(match["secret"])
    return raw is not None and b":" in raw and raw.isascii() and raw.decode().isprintable()


# --- numbers

_BRANDS: Final = (  # the first digits of a card number, from and to; how long it is
    *(("4", "4", (13, 16, 19)), ("51", "55", (16,)), ("2221", "2720", (16,)), ("34", "34", (15,))),
    *(("37", "37", (15,)), ("300", "305", (14,)), ("36", "36", (14,)), ("38", "39", (14,))),
    *(("6011", "6011", (16, 19)), ("644", "649", (16, 19)), ("65", "65", (16, 19))),
    *(("3528", "3589", (16, 19)), ("62", "62", (16, 17, 18, 19)), ("5018", "5018", (16,))),
)
_CARD_WORD: Final = re.compile(
    r"(?:^|[^a-z])(?:card|cc|pan|credit|debit|visa|mastercard|maestro|amex|american express|cvv|cvc|"
    r"card_?(?:no|num|number)|kreditkarte|carte)(?:$|[^a-z])"
)
_NOT_A_CARD: Final = re.compile(
    r"(?:_id|_no|id|number|ts|epoch|timestamp|sha\d*|hash|trace|order|invoice|tracking|reference|ref|"
    r"serial|sku|ean|gtin|imei|phone)[\"'\\ :=#\x00\n]*$"
)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _luhn(digits: str) -> bool:
    doubled = (divmod(2 * int(digit), 10) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(map(sum, doubled))) % 10 == 0


def _issued(digits: str) -> bool:
    """Whether an issuer gives out such numbers, of this length."""
    return any(
        first <= digits[: len(first)] <= last and len(digits) in sizes for first, last, sizes in _BRANDS
    )


def is_card(match: Match) -> bool:
    """A card number in groups: Luhn, issuer, length, and more than one digit in it."""
    digits = re.sub(r"[ -]", "", match["secret"])
    return len(set(digits)) > 1 and _issued(digits) and _luhn(digits)


def is_bare_card(match: Match) -> bool:
    """A card number in one run: also a word for cards before it, and no name of another number."""
    if not is_card(match):
        return False
    before = _CAMEL.sub("_", match.string[max(0, match.start() - 48) : match.start()]).lower()
    ends = [word.end() for word in _CARD_WORD.finditer(before)]
    veto = _NOT_A_CARD.search(before)
    return bool(ends) and (veto is None or ends[-1] >= veto.start())


_COUNTRIES: Final = """
    15 NO / 16 BE / 18 DK FI FO GL NL SD / 19 MK SI / 20 AT BA EE KZ LT LU MN XK / 21 CH HR LI LV /
    22 BG BH CR DE GB GE IE ME RS VA / 23 AE GI IL IQ OM SO TL / 24 AD CZ ES MD PK RO SA SE SK TN VG /
    25 LY PT ST / 26 IS TR / 27 BI DJ FR GR IT MC MR SM / 28 AL AZ BY CY DO GT HU LB NI PL SV /
    29 BR EG PS QA UA / 30 JO KW MU YE / 31 MT SC / 33 RU
"""
_IBAN_LENGTHS: Final = {
    country: int(row[0]) for row in map(str.split, _COUNTRIES.split("/")) for country in row[1:]
}


def is_iban(match: Match) -> bool:
    """The country's length, and 1 modulo 97 (ISO 13616)."""
    text = match["secret"].replace(" ", "")
    if len(text) != _IBAN_LENGTHS.get(text[:2]):
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def is_ssn(match: Match) -> bool:
    """Numbers that are given out: not 000, 666 or 9xx, no group of zeros, not in a longer run."""
    area, group, serial = match["secret"].split("-")
    if area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000":
        return False
    text, start, end = match.string, match.start(), match.end()
    return not _joins(text[max(0, start - 2) : start][::-1]) and not _joins(text[end : end + 2])


def _joins(beside: str) -> bool:
    """Whether a run goes on there, read away from the match."""
    return beside[:1].isalnum() or (beside[:1] in ("-", ".", "_") and beside[1:].isalnum())


def is_phone(match: Match) -> bool:
    """7 to 15 digits (E.164)."""
    return 7 <= sum(map(str.isdigit, match["secret"])) <= 15


_LOCAL: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.!#$%&*+/=?^_`{|}~-"


def local_part(text: str, at: int) -> int:
    """Where the address begins whose `@` is *at*."""
    before = text[max(0, at - 64) : at]
    local = before[len(before.rstrip(_LOCAL)) :]
    return at - len(local.lstrip("./=?&|{}`*!#$%^~-"))
