"""What a recalled block is made of: one text for each section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from honchod.identity.choices import Section

_IN_ORDER: Final = tuple(Section)


class Parts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text of each section, cleaned; empty where there is none. Fields in the order of the block."""

    summary: str = ""
    user_representation: str = ""
    user_card: str = ""
    ai_representation: str = ""
    ai_card: str = ""
    dialectic: str = ""

    def of(self, section: Section) -> str:
        """The text of one section."""
        text: str = getattr(self, section)
        return text

    def present(self) -> Iterator[tuple[Section, str]]:
        """The sections that have a text, in the order of the block."""
        for section in _IN_ORDER:
            if text := self.of(section):
                yield section, text

    def only(self, sections: frozenset[Section]) -> Parts:
        """These sections, without the others."""
        return Parts(**{section.value: self.of(section) for section in sections})

    @property
    def is_empty(self) -> bool:
        """Whether no section has a text."""
        return next(self.present(), None) is None

    @property
    def size(self) -> int:
        """Characters in all sections."""
        return sum(len(text) for _, text in self.present())


EMPTY = Parts()
