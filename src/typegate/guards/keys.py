"""Names whose value is a secret: of JSON members, of settings in a text.

The law of the file: a name is judged by its end, so that `token_count` and `max_tokens` are no secrets, and
names of cursors are none either.
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["Keys"]

ENDINGS: Final = """
    password passwords passwd passwort passphrase pwd secret secrets apikey apikeys apisecret token accesskey
    accountkey sharedaccesskey secretkey privatekey signingkey encryptionkey masterkey authkey credential
    credentials authorization secretaccesskey connectionstring
"""
"""How such names end, in lower case and without separators."""

KEPT: Final = """
    pagetoken nexttoken progresstoken continuationtoken paginationtoken synctoken resumetoken skiptoken
    changetoken previoustoken prevtoken starttoken endtoken stoptoken padtoken eostoken bostoken unktoken
    masktoken septoken clstoken spacetoken
"""
"""Ends that are none: where a listing goes on, words of language models."""

WORDS: Final = """
    passw passphrase pwd secret apikey api_key api-key token accesskey access_key access-key accountkey
    account_key sharedaccesskey privatekey private_key private-key signingkey signing_key encryptionkey
    encryption_key masterkey master_key authkey auth_key credential authorization connectionstring
    connection_string
"""
"""What such a name holds, in lower case: the literals by which names are found in a text."""

_SEPARATORS: Final = re.compile(r"[^0-9a-z]+")
_CAMEL: Final = re.compile("(?<=[a-z])(?=[A-Z])")
_PASSWORD: Final = re.compile("passw|passphrase|pwd")
_ENDINGS: Final = tuple(ENDINGS.split())
_KEPT: Final = tuple(KEPT.split())


class Keys:
    """Which names are secret.

    Attributes:
        spellings: how names of the author's own may stand in a text, in lower case.

    Args:
        names: more of the author's own: the whole name counts, whatever its case and separators.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        given = tuple(names)
        self._own = frozenset(filter(None, map(_plain, given)))
        self.spellings = frozenset(filter(None, (each for name in given for each in _spellings(name))))
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        """Whether the value of *name* is a secret."""
        known = self._known.get(name)
        if known is None:
            known = self._judge(name)
            if len(self._known) < 4096 and len(name) <= 64:
                self._known[name] = known
        return known

    def kind(self, name: str) -> str:
        """What the value of *name* is called where it is taken out."""
        return "password" if _PASSWORD.search(name.lower()) else "secret"

    def _judge(self, name: str) -> bool:
        if len(name) > 128:
            return False
        plain = _plain(name)
        return plain in self._own or (plain.endswith(_ENDINGS) and not plain.endswith(_KEPT))


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.lower()) or name.lower()


def _spellings(name: str) -> tuple[str, ...]:
    words = _CAMEL.sub(" ", name).lower().replace("_", " ").replace("-", " ").split()
    return name.lower(), *(separator.join(words) for separator in ("", "_", "-", " "))
