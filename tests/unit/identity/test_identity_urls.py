from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.identity.urls import CLOUD_URL, base_url, mcp_url, quoted


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://h:8000/v3/", "http://h:8000"),
        ("http://h:8000/v3", "http://h:8000"),
        ("http://h:8000/", "http://h:8000"),
        ("http://h:8000/v3//", "http://h:8000"),
        ("https://h/honcho/v3", "https://h/honcho"),
        ("http://h/xv3", "http://h/xv3"),
        ("http://h/v33", "http://h/v33"),
        ("HTTPS://API.Honcho.dev:443", CLOUD_URL),
        ("http://h:80", "http://h"),
        ("http://127.0.0.1:08000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/v3", "http://[::1]:8000"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]"),
    ],
)
def test_a_url_has_one_form(written: str, used: str) -> None:
    """Case C38."""
    assert base_url(written) == used


@pytest.mark.parametrize(
    "refused",
    [
        "http://h\u200b:8000",
        "http://h\u00ad",
        "http://hоst",
        "http://h:8000 ",
        " http://h",
        "http://h\n",
        "http://h\t/x",
        "http://h\x7f",
        "http://user:pass@h",
        "http://h@evil",
        "http://h?token=x",
        "http://h#x",
        "ftp://h",
        "h:8000",
        "//h",
        "http://",
        "http:///v3",
        "http://h:0",
        "http://h:65536",
        "http://h:port",
        "http://[::1",
        "http://[1:2]",
        "http://h\\evil",
        "http://-h",
    ],
)
def test_anything_else_is_refused_with_a_reason_that_does_not_quote_it(refused: str) -> None:
    """Case C38."""
    for check in (base_url, mcp_url):
        with pytest.raises(ValueError) as caught:
            check(refused)
        assert refused not in str(caught.value)


@given(
    st.from_regex(
        r"(http|HTTPS)://[a-zA-Z][a-z0-9.-]{0,20}[a-z](:[1-9][0-9]{0,3})?(/(v3|[a-z0-9]{0,5})){0,4}",
        fullmatch=True,
    )
)
def test_the_form_is_stable(url: str) -> None:
    once = base_url(url)
    assert base_url(once) == once
    assert not once.endswith(("/", "/v3"))


def test_credentials_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="credentials"):
        base_url("http://user:pass@h")


def test_an_mcp_url_keeps_its_path() -> None:
    assert mcp_url("https://mcp.example/v3/") == "https://mcp.example/v3"


def test_a_url_that_may_hold_a_credential_is_not_shown() -> None:
    assert quoted("http://user:pass@h") == "(not shown)"
    assert quoted("http://h?key=x") == "(not shown)"
    assert quoted("http://h\u200b") == "'http://h\\u200b'"
