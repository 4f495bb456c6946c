"""What a query found, before what is known anyway."""

from __future__ import annotations

from honchod.recall.merge import merged

FOUND = "## Explicit Observations\n\n[2026] lives in Lisbon\n[2026] has a cat"


def test_what_fits_the_query_comes_first_and_nothing_twice() -> None:
    known = "## Explicit Observations\n\n[2025] was in Porto\n[2026] has a cat\n1. [2026] lives in Lisbon"
    assert merged(FOUND, known) == f"{FOUND}\n\n## Explicit Observations\n\n[2025] was in Porto"


def test_a_heading_without_anything_new_goes() -> None:
    known = "## Explicit Observations\n\n[2026] has a cat\n\n## Deductive Observations\n\n1. is a cat person"
    assert merged(FOUND, known) == f"{FOUND}\n\n## Deductive Observations\n\n1. is a cat person"


def test_the_same_in_another_place_is_nothing_new() -> None:
    assert merged(FOUND, "1. [2026] has a cat\n- [2026] lives in Lisbon\n") == FOUND


def test_one_without_the_other_is_itself() -> None:
    assert merged(FOUND, "") == FOUND
    assert merged("", FOUND) == FOUND
    assert merged("", "") == ""


def test_lines_without_a_heading_stand_alone() -> None:
    assert merged("a", "b\nc") == "a\nb\nc"
