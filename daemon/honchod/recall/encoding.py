"""An answer as JSON. Nearly all of it is text, which stays the same from recall to recall."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from honchod.identity.choices import Section
from honchod.recall.freshness import RecallStatus
from honchod.recall.injection import OffReason
from honchod.recall.requests import RecallAnswer, SectionTexts

_REMEMBERED: Final = 128
"""So many texts are remembered as JSON: a block, and its sections, make two."""


class _Encoded(msgspec.Struct, frozen=True):
    """A `RecallAnswer` whose texts are JSON already."""

    status: RecallStatus
    age_s: float | None
    query_matched: bool
    approx_tokens: int
    text: msgspec.Raw
    sections: msgspec.Raw
    truncated: list[Section]
    receipt: str
    reason: OffReason | None


_encode = msgspec.json.Encoder().encode


def encoded(answer: RecallAnswer) -> bytes:
    """The answer as JSON, as the struct itself would be encoded."""
    return _encode(
        _Encoded(
            status=answer.status,
            age_s=answer.age_s,
            query_matched=answer.query_matched,
            approx_tokens=answer.approx_tokens,
            text=_json(answer.text),
            sections=_json(answer.sections),
            truncated=answer.truncated,
            receipt=answer.receipt,
            reason=answer.reason,
        )
    )


def forget() -> None:
    """Drop the texts that are remembered."""
    _json.cache_clear()


@lru_cache(_REMEMBERED)
def _json(texts: str | SectionTexts) -> msgspec.Raw:
    return msgspec.Raw(_encode(texts))
