"""HTTP as bytes: what goes out, what is read back, in whatever pieces it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.client.errors import BadAnswer
from honchod.client.wire import HEAD_BYTES_MAX, Answer, AnswerReader, encode_request, quote

SIZED = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;name=value\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"
)


def read(data: bytes) -> Answer | None:
    return AnswerReader().feed(data)


@pytest.mark.parametrize("wire", [SIZED, CHUNKED])
@given(data=st.data())
def test_an_answer_reads_the_same_in_any_pieces(wire: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(wire) - 1))))
    pieces = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    reader = AnswerReader()
    for piece in pieces[:-1]:
        assert reader.feed(piece) is None
    answer = reader.feed(pieces[-1])
    assert answer is not None
    assert (answer.body, answer.reusable) == (b"hello", True)


def test_interim_answers_are_skipped() -> None:
    answer = read(b"HTTP/1.1 100 Continue\r\n\r\n" + SIZED)
    assert answer is not None
    assert answer.status == 202


def test_an_answer_without_body_is_whole_at_its_blank_line() -> None:
    answer = read(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert answer == Answer(204, {}, b"", reusable=True)


def test_a_body_without_length_runs_to_the_end_of_the_connection() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhel") is None
    assert reader.feed(b"lo") is None
    assert reader.end() == Answer(200, {}, b"hello", reusable=False)


@pytest.mark.parametrize("keep", range(1, len(SIZED) - 1, 7))
def test_a_cut_answer_is_no_answer(keep: int) -> None:
    reader = AnswerReader()
    assert reader.feed(SIZED[:keep]) is None
    assert reader.end() is None


@pytest.mark.parametrize(
    "wire",
    [
        SIZED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        SIZED.replace(b"HTTP/1.1", b"HTTP/1.0"),
        SIZED + b"HTTP/1.1 408 Too late\r\n",
    ],
    ids=["close", "http-1.0", "more than was asked for"],
)
def test_such_a_connection_is_not_used_again(wire: bytes) -> None:
    answer = read(wire)
    assert answer is not None
    assert answer.body == b"hello"
    assert not answer.reusable


@pytest.mark.parametrize(
    "wire",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 2xx OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * HEAD_BYTES_MAX,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * (HEAD_BYTES_MAX + 1),
    ],
)
def test_what_is_not_the_daemons_http_is_a_bad_answer(wire: bytes) -> None:
    with pytest.raises(BadAnswer):
        read(wire)


@given(st.binary(max_size=200))
def test_garbage_raises_nothing_but_bad_answer(data: bytes) -> None:
    reader = AnswerReader()
    try:
        reader.feed(b"HTTP/1.1 200 OK\r\n" + data)
        reader.end()
    except BadAnswer:
        pass


def test_a_request_carries_its_length() -> None:
    wire = encode_request("POST", "/v1/messages", b"{}")
    assert wire.startswith(b"POST /v1/messages HTTP/1.1\r\n")
    assert b"\r\nContent-Length: 2\r\n" in wire
    assert wire.endswith(b"\r\n\r\n{}")


@pytest.mark.parametrize("path", ["v1", "/a b", "/a\r\nX: y", "/é", "/\x7f"])
def test_a_path_that_would_break_the_request_line_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="request line"):
        encode_request("GET", path, None)


@given(st.text())
def test_quoted_text_is_safe_in_a_path(text: str) -> None:
    from urllib.parse import unquote_to_bytes

    quoted = quote(text)
    assert set("/?#&= %") & set(quoted) <= {"%"}
    assert unquote_to_bytes(quoted).decode() == text
