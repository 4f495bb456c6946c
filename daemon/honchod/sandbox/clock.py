"""Times as the API reads and writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, NamedTuple

_WATERSHED_S: Final = 20_000_000_000
"""A larger number is milliseconds, a smaller one seconds."""

_SHAPE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[Tt _](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?P<zone>[Zz]|[+-]\d\d:?\d\d)?)?"
)


class Instant(NamedTuple):
    """A time to store: its text, and whether the server can read it back.

    A time that only its zone puts past the year 9999 is accepted, and breaks every later read.
    """

    text: str
    readable: bool


class TimeProblem(ValueError):
    """A value is no time; the text says why, in the server's words."""


def wire_time(moment: datetime) -> str:
    """``2026-03-02T09:00:00.123456Z``, without a fraction when there is none."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_instant(value: str | float) -> Instant:
    """The time that a caller set, as text or as a number of seconds or milliseconds.

    Raises ``TimeProblem`` when it is none.
    """
    if not isinstance(value, str):
        return _from_number(value)
    try:
        return _from_number(float(value))
    except ValueError:
        return _from_text(value)


def _from_number(number: float) -> Instant:
    seconds = number / 1000 if abs(number) > _WATERSHED_S else number
    try:
        return Instant(wire_time(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)), True)
    except (OverflowError, ValueError):
        raise TimeProblem("dates after 9999 are not supported as unix timestamps") from None


def _from_text(text: str) -> Instant:
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None:
        raise TimeProblem("input is too short" if len(text) < 10 else "invalid character in year")
    digits = (shape["fraction"] or "0")[:6].ljust(6, "0")
    try:
        moment = datetime(
            int(shape["year"]),
            int(shape["month"]),
            int(shape["day"]),
            int(shape["hour"] or 0),
            int(shape["minute"] or 0),
            int(shape["second"] or 0),
            int(digits),
            tzinfo=_zone(shape["zone"]),
        )
    except ValueError as error:
        raise TimeProblem(str(error)) from None
    try:
        return Instant(wire_time(moment), True)
    except OverflowError:
        return Instant(moment.isoformat(), False)


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)
