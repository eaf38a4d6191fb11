"""What `typegate.wire.seal` promises: a token opens with its key and for its purpose, or not at all."""

import base64
import hashlib
import hmac
import string
from typing import Any

import pytest

from typegate.wire.seal import SealError, open_sealed, seal

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
TOKEN = seal({"page": 3}, KEY, "cursor:tools:")
ALPHABET = string.ascii_letters + string.digits + "-_"
VALUES: list[Any] = [0, -1, 2**63, 1.5, "", "é\n", None, True, [], [1, [2]], {}, {"a": {"b": None}}]
NO_TOKENS = [
    *["", "=", "a", "ab", "abc", "abcd", "A" * 21, "A" * 22, "A" * 999, "no token", "é", "\ud800", "\x00"],
    *[TOKEN[:-1], TOKEN[1:], TOKEN[:22], TOKEN[22:], TOKEN + "A", "A" + TOKEN, TOKEN * 2, TOKEN.swapcase()],
    *[TOKEN + "=", TOKEN + "==", " " + TOKEN, TOKEN + "\n", TOKEN[:9] + "\n" + TOKEN[9:], TOKEN + "!"],
]


def refusal(token: str, key: bytes = KEY, purpose: str = "cursor:tools:") -> str | None:
    """What is said against a token, or `None` where it opens."""
    try:
        open_sealed(token, key, purpose)
    except SealError as error:
        return str(error)
    return None


def is_refused(token: str, key: bytes = KEY, purpose: str = "cursor:tools:") -> bool:
    """Whether a token does not open."""
    return refusal(token, key, purpose) is not None


@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_back_as_it_went(value: Any) -> None:
    """Any JSON value survives the journey, with its type."""
    found = open_sealed(seal(value, KEY, "p"), KEY, "p")
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("value", VALUES)
def test_a_token_can_stand_in_a_URL(value: Any) -> None:
    """It has none of the characters that mean something there."""
    assert seal(value, KEY, "p").replace("-", "").replace("_", "").isalnum()


def test_a_token_is_the_same_every_time() -> None:
    """Neither chance nor a clock goes into it, so that any process with the key makes and opens it."""
    assert seal({"page": 3}, KEY, "cursor:tools:") == TOKEN


def test_the_signature_is_HMAC_SHA256_of_purpose_and_value() -> None:
    """Sixteen bytes of it stand before the value."""
    raw = base64.urlsafe_b64decode(TOKEN + "=" * (-len(TOKEN) % 4))
    expected = hmac.new(KEY, b'13:cursor:tools::{"page":3}', hashlib.sha256).digest()[:16]
    assert raw == expected + b'{"page":3}'


@pytest.mark.parametrize("index", range(len(TOKEN)))
def test_a_changed_character_is_noticed(index: int) -> None:
    """Wherever one character is another one, the token is refused, even where only spare bits differ."""
    for char in ALPHABET:
        changed = TOKEN[:index] + char + TOKEN[index + 1 :]
        assert is_refused(changed) == (changed != TOKEN)


@pytest.mark.parametrize("token", NO_TOKENS)
def test_what_is_no_token_is_refused(token: str) -> None:
    """Empty, foreign, cut, lengthened or broken: all of them meet the same words."""
    assert refusal(token) == "not a token of this server"


def test_the_two_alphabets_of_base64_are_not_mixed() -> None:
    """One value has one token: the characters of the other alphabet are refused."""
    token = next(made for made in (seal(n, KEY, "p") for n in range(1000)) if "-" in made or "_" in made)
    assert is_refused(token.replace("-", "+").replace("_", "/"), KEY, "p")


@pytest.mark.parametrize(
    ("sealed_for", "opened_for"),
    [("a", "b"), ("a", ""), ("", "a"), ("a", "A"), ("a:", "a"), ("1:a", "a"), ("é", "e"), ("ab", "a")],
)
def test_a_token_is_good_for_its_purpose_only(sealed_for: str, opened_for: str) -> None:
    """What was sealed for one use cannot be put to another, even where the bytes run together."""
    assert is_refused(seal("b", KEY, sealed_for), KEY, opened_for)
    assert not is_refused(seal("b", KEY, sealed_for), KEY, sealed_for)


def test_a_token_is_good_for_its_key_only() -> None:
    """Another server's key refuses it."""
    assert is_refused(TOKEN, OTHER_KEY)
    assert is_refused(TOKEN, KEY[:31])
