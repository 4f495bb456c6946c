"""Redaction that would never end fails instead: whoever calls it then stores nothing."""

from __future__ import annotations

import pytest

from honchod.capture.own_patterns import OwnPattern
from honchod.capture.pipeline import Pipeline
from honchod.capture.redact import Redactor
from honchod.errors import RedactionFailed

FEEDS_ON_ITSELF = OwnPattern(r"(?P<secret>\w)(?=\[redacted:|$)", "capture.patterns[0]")
"""Hides the character before what it hid: one more with every pass."""


def test_a_pattern_that_feeds_on_what_it_hid_raises() -> None:
    with pytest.raises(ValueError, match="rest"):
        Redactor([FEEDS_ON_ITSELF]).text("a" * 1000)


def test_a_pattern_that_comes_to_rest_may_take_some_passes() -> None:
    assert Redactor([FEEDS_ON_ITSELF]).text("a few") == "a " + "[redacted:custom]" * 3


def test_a_redactor_that_raises_fails_the_message_without_quoting_it() -> None:
    pipeline = Pipeline("default", Redactor([FEEDS_ON_ITSELF]), 25_000)
    with pytest.raises(RedactionFailed) as failed:
        pipeline.run("swordfish" * 100, "human", None)
    assert "swordfish" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__
