"""The limits of Honcho 3.0.12, and the checks that enforce them."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from .model import Json

MESSAGES_PER_REQUEST: Final = 100
CONTENT_CHARS: Final = 25_000
ID_CHARS: Final = 512
ID_PATTERN: Final = r"^[a-zA-Z0-9_-]+$"
SCOPE_PREFIX: Final = "scope."
SCOPE_ID_CHARS: Final = ID_CHARS - len(SCOPE_PREFIX)
METADATA_KEYS: Final = 100
METADATA_DEPTH: Final = 5
PAGE_ROWS: Final = 100
CONTEXT_TOKENS: Final = 100_000
QUERY_CHARS: Final = 10_000
CONCLUSIONS_PER_REQUEST: Final = 100
CONCLUSION_CHARS: Final = 65_535
OBSERVERS_PER_SESSION: Final = 10
SCOPES_PER_REQUEST: Final = 100
SESSIONS_PER_SCOPE_REQUEST: Final = 100
SESSIONS_PER_ALLOWLIST: Final = 1_000
WEBHOOKS_PER_WORKSPACE: Final = 10

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOKENS_REFUSED = re.compile(r"<\|(?:endoftext|endofprompt)\|>")
_TOKENS_UNHANDLED = re.compile(r"<\|fim_(?:prefix|middle|suffix)\|>")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def id_fits(value: str, max_chars: int = ID_CHARS) -> bool:
    """Whether a workspace, peer or session may have this id."""
    return 1 <= len(value) <= max_chars and _ID.fullmatch(value) is not None


def scope_id_problem(value: str) -> str | None:
    """Why a scope may not have this id, in the server's words; ``None`` when it may."""
    if not 1 <= len(value) <= SCOPE_ID_CHARS:
        return f"Scope name must be between 1 and {SCOPE_ID_CHARS} characters"
    if value.startswith(SCOPE_PREFIX):
        return (
            f"Scope name must not start with the reserved prefix '{SCOPE_PREFIX}' "
            "(scope names are unprefixed)"
        )
    if _ID.fullmatch(value) is None:
        return f"Scope name must match pattern {ID_PATTERN}"
    return None


def refused_token(content: str) -> str | None:
    """The control token that makes the tokenizer refuse this text, with a 422."""
    found = _TOKENS_REFUSED.search(content)
    return found.group() if found else None


def has_unhandled_token(content: str) -> bool:
    """Whether this text holds a control token that ends in a 500 once the batch is stored."""
    return _TOKENS_UNHANDLED.search(content) is not None


def refused_token_text(token: str) -> str:
    """The tokenizer's own words about a control token."""
    return (
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, pass it to `allowed_special`, "
        f"e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token by passing "
        f"`disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )


def metadata_problem(metadata: Json, depth: int = 1) -> str | None:
    """Why this metadata is refused; ``None`` when it is not. Only dicts count as depth."""
    if depth > METADATA_DEPTH:
        return f"Metadata nesting exceeds maximum depth of {METADATA_DEPTH}"
    if depth == 1 and len(metadata) > METADATA_KEYS:
        return f"Metadata exceeds maximum of {METADATA_KEYS} top-level keys"
    for value in metadata.values():
        if isinstance(value, dict):
            problem = metadata_problem(value, depth + 1)
            if problem is not None:
                return problem
    return None


def without_nul(value: Any) -> Any:
    """The same JSON value with NUL taken out of every string and key."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, dict):
        return {without_nul(key): without_nul(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    return value


def is_storable(value: Any) -> bool:
    """Whether PostgreSQL can hold this JSON value: no lone surrogate, no NaN, no infinity."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is None
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(is_storable(key) and is_storable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(is_storable(item) for item in value)
    return True


def approximate_tokens(content: str) -> int:
    """Tokens of a text, at four characters a token: near enough for budgets."""
    return -(-len(content) // 4)
