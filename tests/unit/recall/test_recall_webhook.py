"""Webhooks: whether Honcho says it, and what it means."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from honchod.recall.webhook import Derived, read, verify

BODY = json.dumps(
    {
        "type": "queue.empty",
        "data": {"workspace_id": "w", "session_id": "s", "observer": "bot", "queue_type": "representation"},
        "timestamp": "2026-03-02T09:00:00Z",
    }
).encode()
GOOD = hmac.new(b"secret", BODY, hashlib.sha256).hexdigest()


def test_the_signature_of_the_raw_body_is_genuine() -> None:
    assert verify(GOOD, BODY, "secret")
    assert verify(f" {GOOD.upper()} ", BODY, "secret")


@pytest.mark.parametrize(
    ("signature", "body", "secret"),
    [
        (GOOD, BODY + b" ", "secret"),
        (GOOD, BODY, "other"),
        ("", BODY, "secret"),
        (GOOD[:-1], BODY, "secret"),
        ("é", BODY, "secret"),
        (hmac.new(b"", BODY, hashlib.sha256).hexdigest(), BODY, ""),
    ],
)
def test_anything_else_is_not(signature: str, body: bytes, secret: str) -> None:
    assert not verify(signature, body, secret)


def test_a_drained_queue_names_its_session() -> None:
    assert read(BODY) == Derived("w", "s")
    assert read(b'{"type": "queue.empty", "data": {"workspace_id": "w"}}') == Derived("w", None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"type": 1}',
        b'{"type": "test.event", "data": {"workspace_id": "w"}}',
        b'{"type": "queue.empty", "data": {}}',
        b'{"type": "queue.empty"}',
    ],
)
def test_other_events_mean_nothing(body: bytes) -> None:
    assert read(body) is None
