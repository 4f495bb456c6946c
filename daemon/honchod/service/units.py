"""Durations and sizes as people write them: ``"14d"``, ``"500ms"``, ``"1GiB"``, or a plain number."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A kind of number with suffixes. ``factors`` maps each suffix to its worth, ascending.

    ``noun`` says in a problem what is expected; ``bare`` is the suffix of a text without one.
    """

    noun: str
    bare: str
    factors: dict[str, int | float]
    whole: bool

    @property
    def pattern(self) -> str:
        """A regular expression (ECMA-262) for the texts that mean a number."""
        return rf"^\s*[0-9]+(\.[0-9]+)?\s*({'|'.join(self.factors)})?\s*$"

    def parse(self, text: str) -> float:
        """The number that the text means. Raises ValueError when it means none, or none exactly."""
        match = _NUMBER.fullmatch(text)
        factor = self.factors.get(match[2] or self.bare) if match else None
        if match is None or factor is None:
            raise ValueError(f"expected {self.noun}")
        number = float(match[1]) * factor
        if not self.whole:
            return number
        if number != int(number):
            raise ValueError(f"expected {self.noun}")
        return int(number)

    def show(self, number: float) -> str:
        """The number with the largest suffix that leaves it whole."""
        for suffix, factor in reversed(self.factors.items()):
            count = round(number / factor)
            if count and math.isclose(count * factor, number, rel_tol=1e-15):
                return f"{count}{suffix}"
        return f"{number:g}{self.bare}"


DURATION: Final = Unit(
    noun='a duration ("30s", "14d") or seconds',
    bare="s",
    factors={"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400},
    whole=False,
)
"""In seconds."""

SIZE: Final = Unit(
    noun='a size ("1MiB") or bytes',
    bare="B",
    factors={
        "B": 1,
        "kB": 10**3,
        "KiB": 2**10,
        "MB": 10**6,
        "MiB": 2**20,
        "GB": 10**9,
        "GiB": 2**30,
        "TB": 10**12,
        "TiB": 2**40,
    },
    whole=True,
)
"""In bytes."""
