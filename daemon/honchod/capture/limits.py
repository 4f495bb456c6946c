"""What Honcho would refuse is refused at the door: metadata out of bounds, times it cannot handle.

The bounds are those of Honcho 3.0.12: at most 100 top-level keys, objects at most 5 deep. Details never
carry what the caller wrote.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, timezone
from typing import Any

from honchod.errors import BadRequest, Unprocessable

MAX_METADATA_KEYS = 100
"""Honcho's bound on the top-level keys of one message's metadata."""

DAEMON_PREFIX = "honchod_"
"""Keys that begin so are the daemon's own."""

DAEMON_KEYS = 4
"""As many keys the daemon may add; the caller's share is what is left of Honcho's bound."""

MAX_METADATA_DEPTH = 5
"""Objects within objects, the metadata itself counted; lists between them add no level."""

_MAX_NESTING = 32
_INT_64 = range(-(2**63), 2**64)

_MIN_YEAR = 1970
_MAX_YEAR = 9998
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_RFC_3339 = re.compile(
    r"(?P<year>[+-]?[0-9]{4,6})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[Tt ]"
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,12}))?)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<offset_hours>[0-9]{2}):?(?P<offset_minutes>[0-9]{2}))?"
)


def check_metadata(metadata: Mapping[str, Any] | None) -> None:
    """Raises ``Unprocessable`` for metadata that can never be stored.

    That is: more than 96 keys (the daemon needs 4 of Honcho's 100), a key of the daemon's own, objects more
    than 5 deep, NaN or an infinity, an integer of more than 64 bits.
    """
    if metadata is None:
        return
    allowed = MAX_METADATA_KEYS - DAEMON_KEYS
    if len(metadata) > allowed:
        raise Unprocessable(
            f"metadata has {len(metadata)} keys; {allowed} are allowed, {DAEMON_KEYS} more are the daemon's"
        )
    if any(key.replace("\0", "").startswith(DAEMON_PREFIX) for key in metadata):
        raise Unprocessable(f"metadata has a key that begins with {DAEMON_PREFIX}: those are the daemon's")
    _check_value(metadata, objects=0, nesting=0)


def _check_value(value: Any, *, objects: int, nesting: int) -> None:
    if isinstance(value, Mapping):
        if objects == MAX_METADATA_DEPTH:
            raise Unprocessable(f"metadata is nested deeper than {MAX_METADATA_DEPTH} objects")
        for item in value.values():
            _check_value(item, objects=objects + 1, nesting=nesting + 1)
    elif isinstance(value, (list, tuple)):
        if nesting == _MAX_NESTING:
            raise Unprocessable(f"metadata is nested deeper than {_MAX_NESTING} levels")
        for item in value:
            _check_value(item, objects=objects, nesting=nesting + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Unprocessable("metadata has a number that is not finite")
    elif isinstance(value, int) and value not in _INT_64:
        raise Unprocessable("metadata has an integer of more than 64 bits")


def parse_created_at(text: str) -> int:
    """The time in ``text`` (RFC 3339; without an offset it is UTC) as milliseconds since 1970 UTC.

    Raises ``BadRequest`` when it cannot be read, ``Unprocessable`` when it lies outside the years
    1970–9998: a later one would be stored by Honcho and then break every list of its session.
    """
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise BadRequest("created_at is not an RFC 3339 time")
    if not MINYEAR <= int(match["year"]) <= MAXYEAR:
        raise _outside()
    try:
        moment = _moment(match)
    except OverflowError:
        raise _outside() from None
    except ValueError:
        raise BadRequest("created_at is not an RFC 3339 time") from None
    if not _MIN_YEAR <= moment.year <= _MAX_YEAR:
        raise _outside()
    return (moment - _EPOCH) // _MILLISECOND


def _moment(match: re.Match[str]) -> datetime:
    second = int(match["second"] or 0)
    # RFC 3339 allows a leap second; datetime does not.
    leap = 1 if second == 60 else 0
    offset = timedelta(hours=int(match["offset_hours"] or 0), minutes=int(match["offset_minutes"] or 0))
    local = datetime(
        int(match["year"]),
        int(match["month"]),
        int(match["day"]),
        int(match["hour"]),
        int(match["minute"]),
        second - leap,
        int((match["fraction"] or "")[:6].ljust(6, "0")),
        tzinfo=timezone(-offset if match["sign"] == "-" else offset),
    )
    return local.astimezone(UTC) + timedelta(seconds=leap)


def _outside() -> Unprocessable:
    return Unprocessable(f"created_at is outside the years {_MIN_YEAR}–{_MAX_YEAR}")
