"""Watching for damage while a database is in use: met on the way, or looked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import structlog
from sqlalchemy.exc import DBAPIError

from honchod.outbox import damage
from honchod.outbox.sqlite_errors import is_damage

log = structlog.get_logger("honchod.outbox")


class DamageWatch:
    """Tells, once and from whatever thread, that the database at ``path`` is damaged and must be opened anew.

    ``checked`` says whether the whole file was found sound since it was opened.
    """

    def __init__(self, path: Path, *, checked: bool) -> None:
        self._path = path
        self.checked = checked
        self.damaged = False
        self.on_damage: Callable[[], object] = lambda: None

    def met(self, error: BaseException) -> None:
        """An operation ended in this error."""
        if is_damage(error):
            self._tell()

    def check(self) -> None:
        """Look at the whole file, in a thread of its own."""
        threading.Thread(target=self.look, name="honchod-check", daemon=True).start()

    def look(self) -> None:
        """Look at the whole file; it may take a while."""
        try:
            self.checked = damage.is_sound(self._path, whole=True)
        except DBAPIError as error:
            log.warning("database.check_failed", error=type(error.orig).__name__)
        else:
            if not self.checked:
                self._tell()

    def _tell(self) -> None:
        if not self.damaged:
            self.damaged = True
            log.critical("database.damaged")
            self.on_damage()
