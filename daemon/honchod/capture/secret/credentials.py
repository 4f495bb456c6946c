"""Credentials whose surroundings or structure give them away: JWTs, password hashes, headers, URLs.

Every pattern is linear: no two neighbouring parts can take the same characters.
"""

from __future__ import annotations

import base64
import binascii

from honchod.capture.secret.shape import Prefixed, Shape
from honchod.capture.secret.values import has_random_run, is_placeholder, looks_random


def _is_basic_credentials(value: str) -> bool:
    """Base64 of ``user:password``; the word after "basic" in "basic authentication" is not."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and all(byte >= 0x20 for byte in decoded)


def _is_no_placeholder(value: str) -> bool:
    return not is_placeholder(value)


def _is_random(value: str) -> bool:
    return not is_placeholder(value) and looks_random(value)


def _is_bearer_token(value: str) -> bool:
    return _is_random(value) or has_random_run(value, 16)


_ASSIGNED = r"\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?"

CREDENTIALS: tuple[Prefixed | Shape, ...] = (
    Prefixed("jwt", ("eyJ",), r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){1,3}", glue="_-"),
    Prefixed(
        "password_hash",
        ("$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$argon2i$", "$argon2d$", "$argon2id$"),
        r"[A-Za-z0-9./,=+$-]{20,}",
    ),
    Prefixed(
        "authorization",
        ("authorization",),
        _ASSIGNED + r"(?:bearer|basic|token|digest|apikey|key)\s{1,4}(?P<secret>[^\s\"'\\]{6,})",
        _is_no_placeholder,
        folded=True,
    ),
    Prefixed(
        "authorization",
        ("authorization",),
        _ASSIGNED + r"(?P<secret>[^\s\"'\\]{8,})",
        _is_random,
        folded=True,
    ),
    Prefixed(
        "bearer_token",
        ("bearer",),
        r"(?:\s{1,4}|%20)(?P<secret>[\w.~+/=-]{8,})",
        _is_bearer_token,
        folded=True,
    ),
    Prefixed(
        "basic_credentials",
        ("basic",),
        r"(?:\s{1,4}|%20)(?P<secret>[A-Za-z0-9+/]{6,}={0,2})",
        _is_basic_credentials,
        folded=True,
    ),
    Prefixed(
        "cookie",
        ("cookie",),
        r"\\{0,3}[\"']?\s{0,4}:\s{0,4}\\{0,3}[\"']?(?P<secret>[\w!#$%&*+.^`|~-]{1,64}=[^\r\n\"'\\]{4,})",
        folded=True,
    ),
    Prefixed(
        "url_password",
        ("://",),
        r"[^\s/:@\"'<>`]{0,256}:(?P<secret>[^\s/\"'<>`]{1,256})@",
        _is_no_placeholder,
        folded=True,
    ),
    Prefixed("url_token", ("://",), r"(?P<secret>[^\s/:@?#\"'<>`]{20,256})@", _is_random, folded=True),
    Shape(
        "url_parameter",
        ("=",),
        r"[?&;#](?:amp;)?(?:[a-z][a-z0-9_-]{0,40}[_-])?"
        r"(?:token|sig|signature|key|apikey|auth|password|pwd|secret|credential|code)="
        r"(?P<secret>[^\s&#;\"'<>`\\]{8,})",
        _is_random,
        folded=True,
    ),
)
"""Tried in this order; where two overlap, the earlier names the kind."""
