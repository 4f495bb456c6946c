from __future__ import annotations

from honchod.identity.environment import take


def test_the_names_that_the_sdk_reads_by_itself_are_taken_out() -> None:
    environ = {"HONCHO_API_KEY": "k", "HONCHO_URL": "u", "HONCHOD_SOCKET": "/s", "HOME": "/h"}
    before = dict(environ)
    assert take(environ) == before
    assert environ == {"HONCHOD_SOCKET": "/s", "HOME": "/h"}
