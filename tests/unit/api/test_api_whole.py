"""What is taken for a whole request at once, and what is left to aiohttp."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.api.whole import read_whole

BODY = b'{"session":"chat","messages":[]}'
WRITE = b"POST /v1/messages HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
LOOK = b"GET /v1/health HTTP/1.1\r\nHost: d\r\n\r\n"


def with_header(line: bytes) -> bytes:
    return WRITE.replace(b"Host: d\r\n", b"Host: d\r\n" + line + b"\r\n")


def test_a_write_is_read_with_its_body() -> None:
    whole = read_whole(WRITE)
    assert whole is not None
    assert (whole.method, whole.path, whole.content) == ("POST", "/v1/messages", BODY)
    assert (whole.given_id, whole.wants_events, list(whole.query)) == (None, False, [])


def test_a_look_has_no_body() -> None:
    whole = read_whole(LOOK)
    assert whole is not None
    assert (whole.method, whole.path, whole.content) == ("GET", "/v1/health", b"")


@pytest.mark.parametrize(
    "line",
    [
        b"User-Agent: curl/8.5.0",
        b"accept: */*",
        b"Accept: application/json",
        b"Content-Type: application/json; charset=utf-8",
        b"Accept-Encoding: gzip, br",
        b"Connection: Keep-Alive",
    ],
)
def test_headers_that_clients_send_are_known(line: bytes) -> None:
    assert read_whole(with_header(line)) == read_whole(WRITE)


def test_the_name_of_a_request_is_read() -> None:
    whole = read_whole(with_header(b"X-Request-Id:  abc-1 "))
    assert whole is not None
    assert whole.given_id == "abc-1"


@pytest.mark.parametrize(
    "line",
    [
        b"Transfer-Encoding: chunked",
        b"Expect: 100-continue",
        b"Content-Encoding: gzip",
        b"Connection: close",
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Accept: text/event-stream",
        b"Host: again",
        b"Content-Length: 3",
        b"Content-Length: +32",
        b"No colon",
        b"Space : before",
        b" folded: line",
        b"Empty:",
        b"User-Agent: \xff",
        b"User-Agent: a\0b",
        b"User-Agent: a\nb",
        b"Anything-Else: x",
        b"X-Request-Id: " + b"x" * 1024,
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_aiohttp(line: bytes) -> None:
    assert read_whole(with_header(line)) is None


@pytest.mark.parametrize(
    "first",
    [
        b"POST /v1/messages HTTP/1.0",
        b"POST /v1/messages HTTP/1.1 ",
        b"post /v1/messages HTTP/1.1",
        b"PUT /v1/messages HTTP/1.1",
        b"POST  /v1/messages HTTP/1.1",
        b"POST /v1/messages?a=b HTTP/1.1",
        b"POST /v1/%6Dessages HTTP/1.1",
        b"POST /v1/../messages HTTP/1.1",
        b"POST http://d/v1/messages HTTP/1.1",
        b"POST v1/messages HTTP/1.1",
        b"GET /v1/messages HTTP/1.1",
    ],
)
def test_so_is_every_other_first_line(first: bytes) -> None:
    assert read_whole(WRITE.replace(b"POST /v1/messages HTTP/1.1", first)) is None


def test_a_request_without_a_host_is_left_to_be_refused() -> None:
    assert read_whole(LOOK.replace(b"Host: d\r\n", b"")) is None


@given(cut=st.integers(0, len(WRITE) - 1))
def test_no_part_of_a_request_is_whole(cut: int) -> None:
    assert read_whole(WRITE[:cut]) is None


@given(more=st.binary(min_size=1))
def test_a_request_with_anything_behind_it_is_not_read(more: bytes) -> None:
    assert read_whole(WRITE + more) is None
    assert read_whole(LOOK + more) is None


@given(st.binary())
def test_whatever_comes_is_read_or_left(data: bytes) -> None:
    read_whole(data)
