"""What is said in a benchmark: sentences of the length that agents write, the same in every run."""

from __future__ import annotations

from random import Random
from typing import Final

_SAID: Final = (
    "I moved to Lisbon last spring and work from a small flat near the river with my sister who teaches "
    "music at the school so please remember that we never plan anything on Thursday evening because the "
    "choir meets then and that the project for the harbour museum is due before the summer begins again"
)
_COUNT: Final = 64
_WORDS_EACH: Final = 40


def _made() -> tuple[str, ...]:
    random = Random(7)
    return tuple(" ".join(random.choices(_SAID.split(), k=_WORDS_EACH)) + "." for _ in range(_COUNT))


TEXTS: Final = _made()
"""About 200 characters each."""
