"""Numbers as people read them. ``-`` stands for none."""

from __future__ import annotations


def duration(value_s: float | None) -> str:
    """Seconds, in their two largest units: ``3.2s``, ``4m 10s``, ``2d 3h``."""
    if value_s is None:
        return "-"
    if value_s < 60:
        return f"{value_s:.1f}s" if value_s < 10 else f"{value_s:.0f}s"
    minutes, seconds = divmod(int(value_s), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s")]
    first = next(index for index, (number, _) in enumerate(parts) if number)
    return " ".join(f"{number}{name}" for number, name in parts[first : first + 2] if number)


def size(count: int) -> str:
    """Bytes: ``812 B``, ``18.0 MiB``."""
    if count < 1024:
        return f"{count} B"
    value = count / 1024
    for name in ("KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.1f} {name}"
        value /= 1024
    return f"{value:.1f} TiB"


def number(count: int | None) -> str:
    """A count with its thousands apart."""
    return "-" if count is None else f"{count:,}"


def millis(value_ms: float | None) -> str:
    """Milliseconds: ``2.1 ms``."""
    return "-" if value_ms is None else f"{value_ms:.1f} ms"
