from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import MultiDict

from honchod.api.decoding import ID_CHARS_MAX, check_path, decode_body, decode_query
from honchod.api.endpoints.letters import LettersQuery
from honchod.capture.requests import WriteRequest
from honchod.errors import BadRequest

DECODER = msgspec.json.Decoder(WriteRequest)


def refusal(body: bytes) -> str:
    with pytest.raises(BadRequest) as caught:
        decode_body(body, DECODER)
    return caught.value.detail


def content_of(escaped: bytes) -> str:
    return decode_body(b'{"messages":[{"content":"' + escaped + b'"}]}', DECODER).messages[0].content


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"messages":[{"content":1}]}', "messages[0].content: "),
        (b'{"messages":[{"content":"x"},{"content":"x","role":"secret-role"}]}', "messages[1].role: "),
        (b'{"messages":[{"content":"x","rolle":"user"}]}', "messages[0]: "),
        (b'{"messages":[],"session":""}', "session: "),
        (b'{"messages":[],"session":"' + b"s" * 513 + b'"}', "session: "),
        (b'{"messages":[],"locator":{"cwd":5}}', "locator.cwd: "),
        (b'{"messages":[{"content":"x","metadata":{"a":1e400}}]}', "messages[0].metadata"),
        (b'{"session":"s"}', "Object missing required field `messages`"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
    ],
)
def test_refusal_names_the_field(body: bytes, named: str) -> None:
    assert refusal(body).startswith(named)


def test_refusal_never_repeats_a_value() -> None:
    assert "secret" not in refusal(b'{"messages":[{"content":"x","role":"secret-role"}]}')


def test_unknown_field_is_named_but_not_at_any_length() -> None:
    assert "`rolle`" in refusal(b'{"messages":[{"content":"x","rolle":"user"}]}')
    assert len(refusal(b'{"messages":[],"' + b"n" * 100_000 + b'":1}')) < 300


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"{",
        b'{"messages":[{"content":"\xff"}]}',
        b'{"messages":[{"content":"\xed\xa0\x80"}]}',
        b'{"messages":[{"content":"x","metadata":{"a":NaN}}]}',
        b'{"messages":[]} {}',
        b'\xef\xbb\xbf{"messages":[]}',
        '{"messages":[]}'.encode("utf-16"),
        b'{"messages":[{"content":"\\ud800 \xff"}]}',
        b'{"messages":[{"content":"\\ud800","metadata":{"a":NaN}}]}',
        b'{"messages":[{"content":"\\ud800"}]',
    ],
)
def test_what_is_no_json_in_utf8_is_refused(body: bytes) -> None:
    assert refusal(body)


def test_empty_body_is_refused_as_such() -> None:
    assert refusal(b"") == "the body is empty: JSON is expected"


@pytest.mark.parametrize("surrogate", [b"", b"\\ud800"])
def test_deeply_nested_json_is_refused(surrogate: bytes) -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    body = b'{"messages":[{"content":"' + surrogate + b'","metadata":' + deep + b"}]}"
    assert refusal(body)


@pytest.mark.parametrize(
    ("escaped", "read"),
    [
        (rb"\ud800", "\ufffd"),
        (rb"a\udbffb", "a\ufffdb"),
        (rb"\udc00", "\ufffd"),
        (rb"\uDFFF\uD800", "\ufffd\ufffd"),
        (rb"\ud83d\ude00", "\U0001f600"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\\ud800", r"\ud800"),
        (rb"\\\ud800", "\\\ufffd"),
        (rb"\\ud800 \ud800", "\\ud800 \ufffd"),
    ],
)
def test_lone_surrogate_escape_is_read_as_the_replacement_character(escaped: bytes, read: str) -> None:
    assert content_of(escaped) == read


def test_lone_surrogates_are_mended_in_keys_and_metadata_too() -> None:
    body = rb'{"messages":[{"content":"","metadata":{"\ud800":["\udfff",9007199254740993,1.5,null]}}]}'
    assert decode_body(body, DECODER).messages[0].metadata == {
        "\ufffd": ["\ufffd", 9007199254740993, 1.5, None]
    }


def test_mended_body_is_still_checked() -> None:
    assert refusal(rb'{"messages":[{"content":"\ud800","role":"boss"}]}').startswith("messages[0].role: ")


@given(st.text(st.characters(codec=None)))
def test_any_text_that_json_can_escape_is_read_with_only_its_lone_surrogates_replaced(text: str) -> None:
    escaped = json.dumps(text).encode()
    # Escapes that happen to stand side by side make a pair: that is what JSON says they are.
    expected = json.loads(escaped).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    body = b'{"messages":[{"content":' + escaped + b"}]}"
    assert decode_body(body, DECODER).messages[0].content == expected


def asked(*pairs: tuple[str, str]) -> LettersQuery:
    return decode_query(MultiDict(pairs), LettersQuery)


def test_query_without_parameters_has_the_defaults() -> None:
    assert asked() == LettersQuery(session=None, code=None, limit=100, cursor=None)


def test_query_parameters_are_read() -> None:
    assert asked(("limit", "7"), ("session", "null"), ("code", "7")) == LettersQuery(
        session="null", code="7", limit=7
    )


@pytest.mark.parametrize(
    ("pairs", "named"),
    [
        ([("limit", "0")], "limit: "),
        ([("limit", "1001")], "limit: "),
        ([("limit", "-1")], "limit: "),
        ([("limit", "ten")], "limit: "),
        ([("limit", "")], "limit: "),
        ([("limit", "99999999999999999999")], "limit: "),
        ([("session", "")], "session: "),
        ([("session", "s" * 513)], "session: "),
        ([("cursor", "")], "cursor: "),
        ([("colour", "red")], "Object contains unknown field `colour`"),
        ([("pass: word", "red")], "Object contains an unknown field"),
        ([("limit", "1"), ("limit", "2")], "a query parameter is given more than once"),
    ],
)
def test_wrong_query_parameter_is_named(pairs: list[tuple[str, str]], named: str) -> None:
    with pytest.raises(BadRequest) as caught:
        asked(*pairs)
    assert caught.value.detail.startswith(named)


def test_id_in_the_path_is_bounded() -> None:
    check_path({"id": "i" * ID_CHARS_MAX})
    with pytest.raises(BadRequest, match="id: "):
        check_path({"id": "i" * (ID_CHARS_MAX + 1)})
