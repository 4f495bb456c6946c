"""Numbers as people read them, the same on the terminal as on the page."""

from __future__ import annotations

from honchod.ops.amounts import duration, millis, number, size

__all__ = ["duration", "millis", "number", "size"]
