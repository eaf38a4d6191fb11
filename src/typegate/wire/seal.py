"""Values that travel through the client and must come back as they went: signed, and bound to their use.

The law of the file: a token is opened only for the purpose it was sealed for, and every failure looks
the same. Keys are arguments; nothing here makes one.
"""

import base64
import hashlib
import hmac

import msgspec

from typegate.types import Json

__all__ = ["SealError", "open_sealed", "seal"]

_TAG = 16
"""Bytes of HMAC-SHA256 that a token carries: 128 bits."""


class SealError(ValueError):
    """A token was not sealed by this key, for this purpose."""


def seal(value: Json, key: bytes, purpose: str) -> str:
    """A URL-safe token that holds *value* in the clear and a signature over it and *purpose*.

    Args:
        value: any JSON value; the client can read it.
        key: at least 32 bytes.
        purpose: what the token is good for, with whatever it is bound to; not part of the token.
    """
    body = msgspec.json.encode(value)
    return _written(_tag(body, key, purpose) + body)


def open_sealed(token: str, key: bytes, purpose: str) -> Json:
    """The value of a token made by `seal` with the same key and purpose.

    Raises:
        SealError: for anything else, without saying what is wrong with it.
    """
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        raise SealError("not a token of this server") from None
    tag, body = raw[:_TAG], raw[_TAG:]
    if _written(raw) != token or not hmac.compare_digest(tag, _tag(body, key, purpose)):
        raise SealError("not a token of this server")
    return msgspec.json.decode(body)


def _written(raw: bytes) -> str:
    """The one way to write these bytes; a token spelt in another way is none."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _tag(body: bytes, key: bytes, purpose: str) -> bytes:
    message = b"%d:%b:%b" % (len(purpose.encode()), purpose.encode(), body)
    return hmac.new(key, message, hashlib.sha256).digest()[:_TAG]
