"""How often the same thing is said: a fault that comes a thousand times a minute is not a thousand lines."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

KINDS: Final = 500
"""How many kinds are remembered; the one that was quiet for longest is forgotten first."""


@dataclass(slots=True)
class _Window:
    began_s: float
    said: int = 0
    left_out: int = 0


class Repeats:
    """Lets ``burst`` lines of a kind through in each window of ``window_s`` seconds, and counts the rest."""

    def __init__(self, burst: int, window_s: float, *, monotonic_s: Callable[[], float]) -> None:
        self._burst = burst
        self._window_s = window_s
        self._monotonic_s = monotonic_s
        self._windows: OrderedDict[Hashable, _Window] = OrderedDict()

    def admit(self, kind: Hashable) -> int | None:
        """None: this line is left out. Else how many of its kind were since the last one that was not."""
        now_s = self._monotonic_s()
        window = self._windows.pop(kind, None)
        left_out = 0
        if window is None or now_s - window.began_s >= self._window_s:
            left_out = 0 if window is None else window.left_out
            window = _Window(now_s)
        self._windows[kind] = window
        if len(self._windows) > KINDS:
            self._windows.popitem(last=False)
        if window.said >= self._burst:
            window.left_out += 1
            return None
        window.said += 1
        return left_out
