"""Answers as JSON, with texts that are remembered."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.identity.choices import Section
from honchod.recall import encoding
from honchod.recall.freshness import RecallStatus
from honchod.recall.injection import OffReason
from honchod.recall.requests import RecallAnswer, SectionTexts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def answer(text: str = "", receipt: str = "r", reason: OffReason | None = None) -> RecallAnswer:
    return RecallAnswer(
        status=RecallStatus.STALE,
        age_s=1.5,
        query_matched=True,
        approx_tokens=7,
        text=text,
        sections=SectionTexts(summary=text or None),
        truncated=[Section.SUMMARY],
        receipt=receipt,
        reason=reason,
    )


@given(text=TEXTS)
def test_an_answer_is_encoded_as_its_struct_would_be(text: str) -> None:
    for receipt in ("one", "two"):
        assert encoding.encoded(answer(text, receipt)) == msgspec.json.encode(answer(text, receipt))


@pytest.mark.parametrize("reason", [None, *OffReason])
def test_its_reason_is_told(reason: OffReason | None) -> None:
    assert encoding.encoded(answer(reason=reason)) == msgspec.json.encode(answer(reason=reason))


def test_what_was_said_once_is_not_held_for_ever() -> None:
    encoding.encoded(answer("something to be forgotten"))
    assert encoding._json.cache_info().currsize
    encoding.forget()
    assert not encoding._json.cache_info().currsize
