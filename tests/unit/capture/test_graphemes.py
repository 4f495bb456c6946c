from __future__ import annotations

import pytest

from honchod.capture.graphemes import is_inside_character


def boundaries(text: str) -> list[int]:
    return [at for at in range(len(text) + 1) if not is_inside_character(text, at, 0)]


@pytest.mark.parametrize(
    "characters",
    [
        ["a", "b", " ", "c"],
        ["e\u0301", "x"],
        ["\r\n", "\r", "a", "\n"],
        ["🇩🇪", "🇫🇷", "🇮"],
        ["👩‍👩‍👧‍👦", "👍🏽", "❤️", "x"],
        ["각", "각", "\u1100\u1161\u11a8", "a"],
        ["가\u11a8", "\u1161\u1161\u11a8\u11a8", "\u1100가"],
        ["नी", "x"],
        ["ｶﾞ", "x"],
        ["a\u200d", " ", "b"],
    ],
)
def test_a_cut_is_allowed_between_characters_only(characters: list[str]) -> None:
    ends = [sum(map(len, characters[:count])) for count in range(len(characters) + 1)]

    assert boundaries("".join(characters)) == ends


def test_the_ends_of_a_text_are_boundaries() -> None:
    assert not is_inside_character("\u0301", 0, 0)
    assert not is_inside_character("", 0, 0)
    assert not is_inside_character("a", 5, 0)
