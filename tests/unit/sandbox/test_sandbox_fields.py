from __future__ import annotations

import json
from typing import Any

import pytest

from honchod.sandbox.clock import TimeProblem, read_instant
from honchod.sandbox.errors import FieldError, Invalid, Refused
from honchod.sandbox.fields import Fields, read_body, read_optional_body, read_query, read_texts_body
from honchod.sandbox.limits import (
    has_unhandled_token,
    is_storable,
    metadata_problem,
    refused_token,
    scope_id_problem,
    without_nul,
)


def reader(**values: Any) -> Fields:
    return read_body(json.dumps(values).encode())


def errors_of(fields: Fields) -> list[tuple[str, tuple[str | int, ...]]]:
    with pytest.raises(Invalid) as invalid:
        fields.check()
    detail = invalid.value.detail
    assert not isinstance(detail, str)
    assert all(isinstance(one, FieldError) for one in detail)
    return [(one.type, one.loc) for one in detail]


def test_everything_wrong_is_named_at_once() -> None:
    body = reader(name=1, size=0, flag="maybe", when="soon", tags="x", meta=[])
    body.text("name")
    body.text("absent")
    body.integer("size", default=1, ge=1)
    body.boolean("flag", default=False)
    body.instant_or_none("when")
    body.texts("tags")
    body.metadata_or_none("meta")
    assert errors_of(body) == [
        ("string_type", ("body", "name")),
        ("missing", ("body", "absent")),
        ("greater_than_equal", ("body", "size")),
        ("bool_parsing", ("body", "flag")),
        ("datetime_from_date_parsing", ("body", "when")),
        ("list_type", ("body", "tags")),
        ("dict_type", ("body", "meta")),
    ]


def test_errors_of_inner_objects_say_where_they_are() -> None:
    body = reader(items=[{"text": "ok"}, {}, 3])
    for item in body.objects("items", min_items=1, max_items=5):
        item.text("text")
    assert errors_of(body) == [
        ("missing", ("body", "items", 1, "text")),
        ("model_attributes_type", ("body", "items", 2)),
    ]


def test_a_query_string_is_read_as_numbers_and_flags() -> None:
    query = read_query({"size": "20", "reverse": "true", "distance": "0.5"})
    assert query.integer("size", default=50, le=100) == 20
    assert query.boolean("reverse", default=False) is True
    assert query.number_or_none("distance", ge=0, le=1) == 0.5
    query.check()


@pytest.mark.parametrize("value", ["x", 1.5, [1], "NaN"])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    body = reader(n=value)
    assert body.integer_or_none("n") is None
    assert body.error_count() == 1


def test_ids_have_a_pattern_and_a_length() -> None:
    for good in ("a", "A-b_9", "x" * 512):
        body = reader(id=good)
        assert body.resource_id(512) == good
        body.check()
    for bad in ("", "a.b", "x" * 513, "ä", "a b"):
        body = reader(id=bad)
        body.resource_id(512)
        assert body.error_count() == 1, bad


@pytest.mark.parametrize(
    ("raw", "status"), [(b'{"a":', 422), (b"[]", 422), (b"", 422), (b'{"a": "\xff"}', 400)]
)
def test_a_body_that_is_no_object_is_refused(raw: bytes, status: int) -> None:
    with pytest.raises(Refused) as refused:
        read_body(raw)
    assert refused.value.status == status


def test_an_optional_body_may_be_absent_or_null() -> None:
    assert read_optional_body(b"") is None
    assert read_optional_body(b"null") is None


def test_a_list_body_holds_only_strings() -> None:
    assert read_texts_body(b'["a", "b"]') == ["a", "b"]
    with pytest.raises(Invalid):
        read_texts_body(b'["a", 1]')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z"),
        ("2026-03-02 09:00:00.25+02:00", "2026-03-02T07:00:00.250000Z"),
        ("2026-03-02T09:00", "2026-03-02T09:00:00Z"),
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        (1_700_000_000, "2023-11-14T22:13:20Z"),
        (1_700_000_000_000, "2023-11-14T22:13:20Z"),
        ("1700000000", "2023-11-14T22:13:20Z"),
    ],
)
def test_times_are_read_as_the_server_reads_them(value: str | int, text: str) -> None:
    instant = read_instant(value)
    assert (instant.text, instant.readable) == (text, True)


@pytest.mark.parametrize(
    "value", ["soon", "2026-13-01", "10000-01-01T00:00:00Z", "2026-01-01T25:00:00", "nan"]
)
def test_what_is_no_time_is_a_problem(value: str) -> None:
    with pytest.raises(TimeProblem):
        read_instant(value)


def test_a_time_that_its_zone_puts_past_9999_cannot_be_read_back() -> None:
    assert not read_instant("9999-12-31T23:59:59-05:00").readable
    assert read_instant("9999-12-31T23:59:59Z").readable


def test_metadata_is_bounded_in_keys_and_depth_but_not_in_lists() -> None:
    def nested(depth: int) -> dict[str, Any]:
        return {"a": nested(depth - 1)} if depth > 1 else {"a": 1}

    assert metadata_problem({f"k{n}": 1 for n in range(100)}) is None
    assert metadata_problem({f"k{n}": 1 for n in range(101)}) is not None
    assert metadata_problem(nested(5)) is None
    assert metadata_problem(nested(6)) is not None
    assert metadata_problem({"a": [nested(6)]}) is None


def test_control_tokens_are_told_apart() -> None:
    assert refused_token("x <|endoftext|>") == "<|endoftext|>"
    assert refused_token("x <|endofprompt|>") == "<|endofprompt|>"
    assert refused_token("<|fim_prefix|>") is None
    assert has_unhandled_token("a <|fim_suffix|> b")
    assert not has_unhandled_token("<|fim_\u200bsuffix|>")


def test_what_the_database_cannot_hold() -> None:
    assert is_storable({"a": ["ä", 1.5, None, True]})
    for bad in ("\ud800", float("nan"), [float("inf")], {"\udfff": 1}):
        assert not is_storable(bad)
    assert without_nul({"a\0": ["b\0", {"c": "\0"}]}) == {"a": ["b", {"c": ""}]}


def test_scope_ids_leave_room_for_their_prefix() -> None:
    assert scope_id_problem("x" * 506) is None
    for bad in ("x" * 507, "", "scope.x", "a.b"):
        assert scope_id_problem(bad) is not None, bad
