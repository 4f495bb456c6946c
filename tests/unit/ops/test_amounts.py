"""Numbers as people read them."""

from __future__ import annotations

import pytest

from honchod.ops import amounts


@pytest.mark.parametrize(
    ("value_s", "text"),
    [
        (None, "-"),
        (0, "0.0s"),
        (3.21, "3.2s"),
        (42.4, "42s"),
        (60, "1m"),
        (250, "4m 10s"),
        (3600, "1h"),
        (3_661, "1h 1m"),
        (86_400, "1d"),
        (2 * 86_400 + 3 * 3600 + 59, "2d 3h"),
    ],
)
def test_a_duration_is_told_in_its_two_largest_units(value_s: float | None, text: str) -> None:
    assert amounts.duration(value_s) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (18 * 2**20, "18.0 MiB"), (3 * 2**50, "3072.0 TiB")],
)
def test_a_size_has_one_digit_and_a_unit(count: int, text: str) -> None:
    assert amounts.size(count) == text


def test_thousands_stand_apart() -> None:
    assert amounts.number(90412) == "90,412"
    assert amounts.number(None) == "-"
    assert amounts.millis(2.06) == "2.1 ms"
