"""Who is let near the page: by Host, by Origin, by what every answer says."""

from __future__ import annotations

import pytest

from honchod.web.guard import HEADERS, is_ours, is_same_origin


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:9747", "127.0.0.1", "localhost:9747", "LOCALHOST", "[::1]:9747", "[::1]"),
        *("127.9.9.9:1", "localhost:8080"),
    ],
)
def test_a_loopback_name_is_ours(host: str) -> None:
    assert is_ours([host])


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["127.0.0.1", "127.0.0.1"],
        ["evil.example:9747"],
        ["localhost.evil.example"],
        ["evil.example#localhost"],
        ["evil.example@localhost"],
        ["localhost@evil.example"],
        ["127.0.0.1.evil.example"],
        ["127.0.0.1, evil.example"],
        ["localhost."],
        ["192.168.1.7:9747"],
        ["0.0.0.0:9747"],
        ["[::]:9747"],
        ["[fe80::1]:9747"],
        ["2130706433:9747"],
        ["127.1:9747"],
        ["127.0.0.1:"],
        ["127.0.0.1:999999"],
        ["127.0.0.1:9747\n"],
        [" localhost"],
        ["١٢٧.0.0.1"],
        [""],
    ],
)
def test_any_other_name_is_another_site(hosts: list[str]) -> None:
    assert not is_ours(hosts)


@pytest.mark.parametrize(
    ("origin", "fetch_site", "host", "same"),
    [
        ("http://127.0.0.1:9747", "same-origin", "127.0.0.1:9747", True),
        ("http://127.0.0.1:9747", None, "127.0.0.1:9747", True),
        ("http://[::1]:9747", None, "[::1]:9747", True),
        (None, None, "127.0.0.1:9747", False),
        (None, "same-origin", "127.0.0.1:9747", False),
        ("null", "same-origin", "127.0.0.1:9747", False),
        ("http://localhost:9747", None, "127.0.0.1:9747", False),
        ("http://127.0.0.1:9748", None, "127.0.0.1:9747", False),
        ("https://127.0.0.1:9747", None, "127.0.0.1:9747", False),
        ("http://127.0.0.1:9747.evil.example", None, "127.0.0.1:9747", False),
        ("http://127.0.0.1:9747", "cross-site", "127.0.0.1:9747", False),
        ("http://127.0.0.1:9747", "same-site", "127.0.0.1:9747", False),
    ],
)
def test_a_form_comes_from_a_page_of_ours_or_is_refused(
    origin: str | None, fetch_site: str | None, host: str, *, same: bool
) -> None:
    assert is_same_origin(origin, fetch_site, host) is same


def test_the_policy_lets_nothing_in_from_elsewhere_and_nothing_inline() -> None:
    policy = dict(rule.split(" ", 1) for rule in HEADERS["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert set(policy["script-src"].split()) == {"'self'"}
    assert "unsafe" not in HEADERS["Content-Security-Policy"]
