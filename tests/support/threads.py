"""Stopping one thread of another process, as a debugger does: the others go on."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.waiting import wait_until

_SEIZE = 0x4206
_INTERRUPT = 0x4207
_DETACH = 17
_WALL = 0x40000000
_FUTEX = {"x86_64": "202", "aarch64": "98"}.get(platform.machine(), "unknown")


@contextmanager
def stopped(tid: int) -> Iterator[None]:
    """While the block runs, that thread does not. Raises PermissionError where tracing is not allowed.

    It is stopped where it waits with no end of its own: never while it holds or wants the interpreter's lock,
    for which it waits a few milliseconds at a time, and which it would keep from the others.
    """
    wait_until(lambda: _stop_waiting(tid), f"thread {tid} to wait")
    try:
        yield
    finally:
        _ptrace(_DETACH, tid)


def _stop_waiting(tid: int) -> bool:
    _ptrace(_SEIZE, tid)
    _ptrace(_INTERRUPT, tid)
    os.waitpid(tid, _WALL)
    number, _, _, _, timeout, *_ = [*Path(f"/proc/{tid}/syscall").read_text().split(), *[""] * 5]
    if (number, timeout) == (_FUTEX, "0x0"):
        return True
    _ptrace(_DETACH, tid)
    return False


def _ptrace(request: int, tid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, tid, None, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
