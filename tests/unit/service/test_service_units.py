from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.service.units import DURATION, SIZE


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("14d", 1_209_600),
        ("1h", 3_600),
        ("2m", 120),
        ("30s", 30),
        ("0s", 0),
        ("500ms", 0.5),
        ("1.5h", 5_400),
        (" 10 s ", 10),
        ("7", 7),
    ],
)
def test_a_duration_is_read_as_seconds(text: str, seconds: float) -> None:
    assert DURATION.parse(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1GiB", 2**30), ("4MiB", 2**22), ("1.5KiB", 1536), ("2MB", 2_000_000), ("10B", 10), ("10", 10)],
)
def test_a_size_is_read_as_bytes(text: str, size: int) -> None:
    parsed = SIZE.parse(text)
    assert parsed == size
    assert isinstance(parsed, int)


@pytest.mark.parametrize("text", ["", "d", "1 day", "-1s", "1e3s", "nan", "inf", "1,5s", "1s1s", "٣s", "1S"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        DURATION.parse(text)


@pytest.mark.parametrize("text", ["", "MiB", "1mib", "1.0001KiB", "-1B", "1GiB 2"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="size"):
        SIZE.parse(text)


@given(st.integers(0, 2**40))
def test_a_size_that_is_shown_can_be_read_back(size: int) -> None:
    assert SIZE.parse(SIZE.show(size)) == size


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.05, "50ms"), (0.01, "10ms"), (600, "10m"), (86_400, "1d"), (0, "0s"), (90, "90s")],
)
def test_a_duration_is_shown_in_its_largest_whole_unit(seconds: float, shown: str) -> None:
    assert DURATION.show(seconds) == shown
