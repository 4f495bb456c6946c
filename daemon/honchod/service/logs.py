"""Logs: one event name and key-values a line, to stderr. JSON for a journal, columns for a terminal."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, Processor

from honchod.service.repeats import Repeats

Format = Literal["auto", "json", "console"]

BURST: Final = 20
WINDOW_S: Final = 60.0
EVENT_CHARS: Final = 20
"""Most event names are shorter: what follows them stands in a column."""

_PRIORITIES: Final = {"critical": 2, "error": 3, "warning": 4, "info": 6, "debug": 7}
"""syslog's numbers of the levels."""

_FIRST: Final = ("host", "lane", "outcome", "code")
"""What a person looks for first."""


def configure(level: str, style: Format, environ: Mapping[str, str] = os.environ) -> None:
    """Set logging up for this process. ``auto``: console on a terminal, else JSON."""
    terminal = sys.stderr.isatty()
    console = style == "console" or (style == "auto" and not is_journal(sys.stderr, environ) and terminal)
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _Quiet(Repeats(BURST, WINDOW_S, monotonic_s=time.monotonic)),
        _traceback_without_values,
    ]
    if console:
        processors += [
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            _in_reading_order,
            structlog.dev.ConsoleRenderer(colors=terminal, sort_keys=False, pad_event_to=EVENT_CHARS),
        ]
    else:
        processors += [
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(_json),
        ]
        if is_journal(sys.stderr, environ):
            processors[-1:] = [_priority_first]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        # Once for a process: a line costs a request little, one below the level nothing.
        cache_logger_on_first_use=True,
    )
    # Libraries log requests and URLs on their own; what matters of it is in our events.
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(message)s", force=True)
    for name in ("httpx", "httpcore", "asyncio", "alembic", "aiohttp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def is_journal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether the stream is the one that systemd connected to its journal (``$JOURNAL_STREAM``)."""
    try:
        found = os.fstat(stream.fileno())
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


class _Quiet:
    """Leaves out what repeats itself: warnings and refusals of one kind, beyond a burst."""

    def __init__(self, repeats: Repeats) -> None:
        self._repeats = repeats

    def __call__(self, _logger: object, method: str, event: EventDict) -> EventDict:
        if method in ("warning", "error") or event.get("event") == "request.refused":
            kind = tuple(str(event.get(name)) for name in ("event", "host", "outcome", "code", "error"))
            left_out = self._repeats.admit(kind)
            if left_out is None:
                raise structlog.DropEvent
            if left_out:
                event["left_out"] = left_out
        return event


def _priority_first(logger: object, method: str, event: EventDict) -> str:
    """JSON behind the level as the journal reads it, so that ``journalctl -p warning`` works."""
    line = structlog.processors.JSONRenderer(_json)(logger, method, event)
    assert isinstance(line, str)
    return f"<{_PRIORITIES[event['level']]}>{line}"


def _json(event: EventDict, *, default: Callable[[Any], Any]) -> str:
    try:
        return msgspec.json.encode(event, enc_hook=default).decode()
    except UnicodeEncodeError:
        # Half of a surrogate pair, as in the name of a file that is no UTF-8: this one escapes it.
        return json.dumps(event, default=default)


def _in_reading_order(_logger: object, _method: str, event: EventDict) -> EventDict:
    """What tells lines apart first, numbers and ids after it."""
    first = {name: event[name] for name in _FIRST if name in event}
    last = {"request_id": event["request_id"]} if "request_id" in event else {}
    rest = {name: value for name, value in event.items() if name not in first and name not in last}
    return {**first, **rest, **last}


def _traceback_without_values(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Where an error came from, never its text: that may quote what was sent."""
    error = event.pop("exc_info", None)
    if isinstance(error, BaseException):
        frames = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}:{code.co_name}")
            trace = trace.tb_next
        event["trace"] = frames[-6:]
    return event
