"""Logs: one event name and key-values a line, to stderr. JSON for a journal, columns for a terminal."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog

Format = Literal["auto", "json", "console"]


def configure(level: str, style: Format) -> None:
    """Set logging up for this process. ``auto``: console on a terminal, else JSON."""
    console = style == "console" or (style == "auto" and sys.stderr.isatty())
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if console
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _traceback_without_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    # Libraries log requests and URLs on their own; what matters of it is in our events.
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(message)s", force=True)
    for name in ("httpx", "httpcore", "asyncio", "alembic", "aiohttp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _traceback_without_values(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
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
