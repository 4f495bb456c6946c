"""A sandbox without its sockets: state, rules and log, and the making of one call."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from .auth import ApiKeys, check_key
from .calls import Answer, Behaviour, Call, Upload
from .derive import Deriver
from .errors import Refused
from .faults import FaultBook, Target
from .ids import Ids
from .journal import Entry, Journal
from .records import RequestLog, path_ids
from .routes import ROUTES
from .routing import Router
from .store import Store

_SEED_BITS: Final = 63


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came in. ``path`` is still percent-encoded."""

    method: str
    path: str
    query: str
    body: bytes
    authorization: str | None = None
    upload: Upload | None = None

    def target(self) -> Target:
        """What fault rules look at."""
        workspace, session = path_ids(self.path)
        return Target(self.method, self.path, workspace, session, self.body.decode("utf-8", "replace"))


class Core:
    """State, faults, keys and log of one sandbox. Not safe to share between threads."""

    def __init__(self, behaviour: Behaviour, api_keys: ApiKeys, state: Path | None) -> None:
        self.behaviour: Final = behaviour
        self.api_keys = api_keys
        self.store = Store()
        self.deriver: Final = Deriver(behaviour.derive_delay_s)
        self.faults: Final = FaultBook()
        self.log: Final = RequestLog()
        self._router: Final = Router(ROUTES)
        self._chance: Final = random.SystemRandom()
        self._journal: Final = Journal(state) if state is not None else None
        if self._journal is not None:
            for entry in self._journal.read():
                self._replay(entry)

    def perform(self, incoming: Incoming, *, llm_down: bool = False) -> Answer:
        """Make the call: its effect is in the store, and in the journal, when this returns."""
        entry = Entry(
            at=datetime.now(UTC),
            seed=self._chance.getrandbits(_SEED_BITS),
            method=incoming.method,
            path=incoming.path,
            query=incoming.query,
            body=incoming.body if incoming.upload is None else b"",
            upload=incoming.upload.content if incoming.upload else None,
            fields=dict(incoming.upload.fields) if incoming.upload else {},
            llm_down=llm_down,
        )
        changes = self.store.changes
        try:
            check_key(self.api_keys, incoming.authorization, incoming.method, incoming.path, incoming.body)
            return self._run(entry)
        except Refused as refusal:
            return Answer.of({"detail": refusal.detail}, refusal.status)
        finally:
            if self._journal is not None and self.store.changes != changes:
                self._journal.append(entry)

    def settle(self) -> None:
        """Let the deriver do what is due by now."""
        self.deriver.settle(self.store, datetime.now(UTC).timestamp())

    def reset(self) -> None:
        """Forget everything: state, journal, faults and log."""
        self.store = Store()
        self.deriver.forget()
        self.faults.clear()
        self.log.clear()
        if self._journal is not None:
            self._journal.clear()

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()

    def _run(self, entry: Entry) -> Answer:
        match = self._router.find(entry.method, entry.path)
        repeated: dict[str, Sequence[str]] = dict(parse_qs(entry.query, keep_blank_values=True))
        call = Call(
            store=self.store,
            deriver=self.deriver,
            behaviour=self.behaviour,
            at=entry.at,
            ids=Ids(entry.seed),
            path=match.path,
            query={key: values[-1] for key, values in repeated.items()},
            repeated=repeated,
            body=entry.body,
            upload=Upload(entry.upload, entry.fields) if entry.upload is not None else None,
            llm_down=entry.llm_down,
        )
        self.deriver.settle(self.store, call.now_s)
        return match.handler(call)

    def _replay(self, entry: Entry) -> None:
        try:
            self._run(entry)
        except Refused:
            # It was refused the first time too, after it had made a session or peers.
            return
