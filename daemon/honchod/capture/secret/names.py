"""Does a name promise a secret? ``PGPASSWORD`` and ``apiKey`` do, ``max_tokens`` and ``key_id`` do not.

A pure decision over the name alone, shared by text (``name=value``) and by JSON (keys of an object).
"""

from __future__ import annotations

import re
from enum import Enum


class NameKind(Enum):
    """What sort of secret a name promises. The value is the label in the placeholder."""

    PASSWORD = "password"  # noqa: S105
    PASS = "pass"  # noqa: S105
    """``pass`` or ``pw`` alone: a password, or the outcome of a test."""
    TOKEN = "token"  # noqa: S105
    KEY = "key"
    SECRET = "secret"  # noqa: S105


_NOT_A_LETTER = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WRAPPERS = ("value", "string", "plaintext", "base64", "b64", "raw")

_PASSWORD_ENDINGS = (
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "passwordhash",
    "passwordconfirm",
    "passwordconfirmation",
    "passwort",
    "kennwort",
    "contraseña",
    "contrasena",
    "senha",
    "motdepasse",
    "wachtwoord",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
)
_TOKEN_ENDINGS = ("token", "authorization", "cookie", "jwt", "bearer")
_SECRET_ENDINGS = (
    "secret",
    "credential",
    "credentials",
    "sharedaccesssignature",
    "mnemonic",
    "seedphrase",
    "recoverycode",
)
_KEY_OWNERS = (
    "access account admin anon api auth cipher client consumer crypt deploy encryption function "
    "hmac integration jwt license master preshared private role secret server service shared "
    "signing storage subscription webhook"
)
_KEY_ENDINGS = (*(owner + "key" for owner in _KEY_OWNERS.split()), "apikeys", "secretkeys")
# Tokens of language models, parsers and pagers: text and cursors, not credentials.
_TOKENS_OF_TEXT = (
    "begin bos cancellation cls completion continuation cursor end eos first image input last "
    "mask max min next output pad page per prompt sep special start stop sync total unk"
)
_HARMLESS_TOKENS = tuple(use + "token" for use in _TOKENS_OF_TEXT.split())
_PASSWORD_LAST_WORDS = frozenset({"pass", "pw", "psk"})

ASCII_CLUES = (
    "pass",
    "token",
    "secret",
    "key",
    "auth",
    "credential",
    "cookie",
    "jwt",
    "bearer",
    "psk",
    "pw",
    "mnemonic",
    "seed",
    "recovery",
    "kennwort",
    "contrase",
    "senha",
    "wachtwoord",
    "sharedaccess",
)
CLUES = (*ASCII_CLUES, "пароль", "密码", "密碼", "パスワード", "비밀번호")
"""Lower-case substrings, one of which is in every name that promises a secret; those of an ASCII text."""


def name_kind(name: str) -> NameKind | None:
    """The kind of secret that ``name`` promises, or ``None``.

    Case, ``_``, ``-``, ``.``, a trailing number and camelCase make no difference. What follows the telling
    word counts: ``token`` is one, ``token_count``, ``token_url`` and ``tokens`` are not.
    """
    plain = _NOT_A_LETTER.sub("", name).lower().rstrip("0123456789")
    for wrapper in _WRAPPERS:
        if plain.endswith(wrapper) and plain != wrapper:
            plain = plain.removesuffix(wrapper)
    if plain.endswith(_PASSWORD_ENDINGS):
        return NameKind.PASSWORD
    if plain.endswith(_TOKEN_ENDINGS):
        return None if plain.endswith(_HARMLESS_TOKENS) else NameKind.TOKEN
    if plain.endswith(_KEY_ENDINGS):
        return NameKind.KEY
    if plain.endswith(_SECRET_ENDINGS):
        return NameKind.SECRET
    return _by_last_word(name, plain)


def _by_last_word(name: str, plain: str) -> NameKind | None:
    """Short words count only as a word of their own: ``DB_PASS``, not ``bypass``."""
    words = _WORD.findall(name)
    if not words:
        return None
    word = words[-1].lower()
    if word in _PASSWORD_LAST_WORDS:
        return NameKind.PASSWORD if len(plain) > len(word) else NameKind.PASS
    return NameKind.TOKEN if word == "auth" else None
