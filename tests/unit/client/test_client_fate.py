"""What becomes of a file of the drop box that was answered with a problem."""

from __future__ import annotations

import pytest

from honchod.client.fate import Fate, fate_of


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *[(400, "bad_request"), (409, "id_conflict"), (413, "too_large"), (422, "unprocessable")],
        *[(422, "unknown_host"), (422, "no_identity"), (422, "redaction_failed"), (404, "not_found")],
    ],
)
def test_what_the_request_itself_is_refused_for_is_set_aside(status: int, code: str) -> None:
    assert fate_of(status, code, tried=False) is Fate.BAD


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *[(403, "not_allowed"), (408, "request_timeout"), (429, "quota"), (500, "internal")],
        *[(503, "draining"), (503, "busy"), (507, "outbox_full")],
    ],
)
def test_what_passes_is_waited_for(status: int, code: str) -> None:
    assert fate_of(status, code, tried=False) is Fate.LATER
    assert fate_of(status, code, tried=True) is Fate.LATER


def test_ids_that_are_known_from_the_try_before_are_taken() -> None:
    """Its own patterns may have hidden more in the daemon: the content then differs, and is the same."""
    assert fate_of(409, "id_conflict", tried=True) is Fate.TAKEN
    assert fate_of(422, "unprocessable", tried=True) is Fate.BAD
