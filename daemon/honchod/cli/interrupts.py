"""Ctrl-C in commands that look again and again.

Python drops an exception that is raised within a finalizer, and so, once in a while, an interrupt: such a
command would go on as if no key had been pressed. Here it is remembered until the next pause.
"""

from __future__ import annotations

import signal
import time
from threading import Event
from types import FrameType
from typing import Final

_pressed: Final = Event()


def remember() -> None:
    """From now on an interrupt ends the next `pause` at the latest. One that is ignored stays ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _note)


def pause(duration_s: float) -> None:
    """Sleep. Raises KeyboardInterrupt when an interrupt came, however long ago."""
    _check()
    time.sleep(duration_s)
    _check()


def _check() -> None:
    if _pressed.is_set():
        raise KeyboardInterrupt


def _note(_number: int, _frame: FrameType | None) -> None:
    _pressed.set()
    raise KeyboardInterrupt
