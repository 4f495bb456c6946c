from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.capture.limits import check_metadata, parse_created_at
from honchod.errors import BadRequest, Unprocessable


def nested(levels: int, innermost: Any = 1) -> dict[str, Any]:
    value: Any = innermost
    for _ in range(levels):
        value = {"a": value}
    return dict(value)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {f"k{n}": n for n in range(96)},
        nested(5),
        nested(5, [[[1]]]),
        {"a": [{"a": {"a": {"a": {"a": 1}}}}]},
        {"big": 2**64 - 1, "small": -(2**63), "half": 1.5, "yes": True, "none": None, "text": "NaN"},
        {"my_honchod_id": 1, "HONCHOD_ID": 2},
    ],
)
def test_metadata_within_the_bounds_passes(metadata: dict[str, Any] | None) -> None:
    check_metadata(metadata)


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({f"k{n}": n for n in range(101)}, "101 keys"),
        ({f"k{n}": n for n in range(97)}, "97 keys"),
        (nested(6), "deeper than 5"),
        ({"a": [nested(5)]}, "deeper than 5"),
        (nested(2_000), "deeper than 5"),
        ({"a": [float("nan")]}, "not finite"),
        ({"a": float("inf")}, "not finite"),
        ({"a": {"b": float("-inf")}}, "not finite"),
        ({"a": 2**64}, "64 bits"),
        ({"a": -(2**63) - 1}, "64 bits"),
        ({"honchod_id": "x"}, "honchod_"),
        ({"honchod\0_id": "x"}, "honchod_"),
    ],
)
def test_metadata_that_can_never_be_stored_is_named(metadata: dict[str, Any], named: str) -> None:
    with pytest.raises(Unprocessable, match=named):
        check_metadata(metadata)


def test_lists_within_lists_have_an_end() -> None:
    value: Any = 1
    for _ in range(3_000):
        value = [value]

    with pytest.raises(Unprocessable, match="levels"):
        check_metadata({"a": value})


def test_the_refusal_repeats_nothing_of_the_metadata() -> None:
    with pytest.raises(Unprocessable) as refused:
        check_metadata({"honchod_private": "hush"})

    assert "private" not in refused.value.detail
    assert "hush" not in refused.value.detail


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-03-02T09:00:00Z", 1_772_442_000_000),
        ("2026-03-02t09:00:00z", 1_772_442_000_000),
        ("2026-03-02 09:00:00", 1_772_442_000_000),
        ("2026-03-02T09:00", 1_772_442_000_000),
        ("2026-03-02T10:00:00+01:00", 1_772_442_000_000),
        ("2026-03-02T04:30:00-0430", 1_772_442_000_000),
        ("2026-03-02T09:00:00.1239999Z", 1_772_442_000_123),
        ("2026-03-02T09:00:00.1Z", 1_772_442_000_100),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ("9998-12-31T23:59:59.999Z", 253_370_764_799_999),
        ("1969-12-31T23:00:00-01:00", 0),
        ("9999-01-01T00:30:00+01:00", 253_370_763_000_000),
    ],
)
def test_times_are_read_as_utc_milliseconds(text: str, expected_ms: int) -> None:
    assert parse_created_at(text) == expected_ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-03-02",
        "09:00:00",
        "1772442000",
        "2026-13-02T09:00:00Z",
        "2026-02-30T09:00:00Z",
        "2026-03-02T25:00:00Z",
        "2026-03-02T09:00:61Z",
        "2026-03-02T09:00:00+99:00",
        "2026-03-02T09:00:00 CET",
        "٢٠٢٦-03-02T09:00:00Z",
        " 2026-03-02T09:00:00Z",
        "2026-03-02T09:00:00Z\n",
    ],
)
def test_what_is_no_time_is_a_bad_request(text: str) -> None:
    with pytest.raises(BadRequest, match="created_at"):
        parse_created_at(text)


@pytest.mark.parametrize(
    "text",
    [
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-14:00",
        "10000-01-01T00:00:00Z",
        "+010000-01-01T00:00:00Z",
        "-000001-01-01T00:00:00Z",
    ],
)
def test_a_time_outside_the_years_honcho_can_handle_is_unprocessable(text: str) -> None:
    with pytest.raises(Unprocessable, match="1970"):
        parse_created_at(text)


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(9998, 12, 1)),  # noqa: DTZ001
    st.integers(-14 * 60, 14 * 60),
)
def test_every_time_that_python_writes_is_read_back(naive: datetime, offset_minutes: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))

    milliseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert parse_created_at(moment.isoformat()) == milliseconds


@given(st.text(max_size=40))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(BadRequest, Unprocessable):
        parse_created_at(text)
