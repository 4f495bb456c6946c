"""Who is logged in: in memory only, so that a restart ends every session."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

LIFETIME_S: Final = 12 * 3600.0
IDLE_S: Final = 3600.0
MAX: Final = 32
_ID_BYTES: Final = 32


class Tone(StrEnum):
    """How something is meant; the style sheet knows these words."""

    PLAIN = "plain"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Notice:
    """What came of an action, to be shown once, on the next page."""

    text: str
    tone: Tone = Tone.GOOD


@dataclass(slots=True)
class Session:
    """One browser that knew the token. Times are monotonic."""

    id: str
    csrf: str
    """What each of its forms must carry."""
    opened_s: float
    seen_s: float
    notices: list[Notice] = field(default_factory=list)

    def take_notices(self) -> list[Notice]:
        """What is to be shown now; afterwards there is nothing."""
        taken, self.notices = self.notices, []
        return taken


class Sessions:
    """Opens, finds and ends sessions; the oldest goes where there are too many."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(_ID_BYTES)
        self._open: dict[str, Session] = {}

    def csrf(self, visitor: str) -> str:
        """What the forms of this visitor must carry: nobody without the key of this process can make it."""
        return hmac.new(self._key, visitor.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def is_csrf(self, visitor: str, given: str) -> bool:
        """Whether a form carries it. Takes the same time for every answer."""
        return hmac.compare_digest(self.csrf(visitor).encode(), given.encode("utf-8", "replace"))

    def open(self, now_s: float) -> Session:
        """A new session, with an id that cannot be guessed."""
        self._expire(now_s)
        if len(self._open) >= MAX:
            del self._open[next(iter(self._open))]
        made = new_id()
        session = self._open[made] = Session(made, self.csrf(made), now_s, now_s)
        return session

    def find(self, session_id: str | None, now_s: float) -> Session | None:
        """The session of that id, unless it is over; being seen keeps it from growing idle."""
        self._expire(now_s)
        session = self._open.get(session_id or "")
        if session is not None:
            session.seen_s = now_s
        return session

    def close(self, session: Session) -> None:
        """End one session."""
        self._open.pop(session.id, None)

    def _expire(self, now_s: float) -> None:
        for session in list(self._open.values()):
            if now_s - session.opened_s > LIFETIME_S or now_s - session.seen_s > IDLE_S:
                self.close(session)


def new_id() -> str:
    """An id that cannot be guessed."""
    return secrets.token_urlsafe(_ID_BYTES)
