"""What must be true of a world at any moment, and what was promised for its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from scripted_honcho import BAD, POISON, own_id
from world import World

from honchod.delivery.charges import BISECT_AFTER
from honchod.outbox import tally
from honchod.outbox.states import TRANSITIONS, State
from honchod.outbox.values import Counts
from support.counting import LANES_THAT_COUNT_WRONG

MAX_ATTEMPTS = 8


@dataclass
class Acked:
    """A message that was acked, and what an operator did with it since."""

    session: str
    message_id: str
    content: str
    retried: bool = False
    discarded: bool = False
    forgotten: bool = False
    """Discarded before it was sent: it may never arrive."""


@dataclass
class Promises:
    """The reference: what was acked, in order, and in which states everything was last seen."""

    world: World
    acked: list[Acked] = field(default_factory=list)
    seen: dict[int, State] = field(default_factory=dict)

    def check(self, *, retried: bool = False) -> None:
        """Raise AssertionError when a promise is broken. ``retried``: letters were put back since."""
        assert self.world.remote.faults == [], self.world.remote.faults
        self._check_transitions(retried=retried)
        self._check_kept()
        self._check_letters()
        self._check_order()
        self._check_counters()

    def check_end(self) -> None:
        """All was healed and is quiet: whatever could be delivered is there, once and in order."""
        self.check()
        for message in self.acked:
            (state,) = self._states_of(message) or ("pruned",)
            landed = self.world.landed(message.session).count(message.content)
            if BAD in message.content or POISON in message.content:
                ends = ("discarded", "pruned") if message.discarded else ("dead",)
                assert (state in ends, landed) == (True, 0), message
            elif state == "dead":
                self._check_own_fault(message)
            else:
                assert landed == 1 or (message.discarded and landed == 0), message
                assert not (message.forgotten and landed), message
                assert state in ("delivered", "pruned", "discarded"), message
        gaps = {row[0] for row in self.world.rows("SELECT session FROM lane WHERE order_gap = 1")}
        assert gaps <= {message.session for message in self.acked if message.retried}

    def _states_of(self, message: Acked) -> list[str]:
        return [
            row[0]
            for row in self.world.rows(
                "SELECT state FROM event JOIN lane ON lane.id = lane_id WHERE session = ? AND message_id = ?",
                message.session,
                message.message_id,
            )
        ]

    def _check_transitions(self, *, retried: bool) -> None:
        present = {
            row[0]: State(row[1]) for row in self.world.rows("SELECT id, state FROM event ORDER BY id")
        }
        for event_id, before in self.seen.items():
            after = present.get(event_id)
            if after is None:
                assert before not in (State.DEAD,), "a dead letter was pruned"
            elif after is not before:
                legal = TRANSITIONS[before]
                if not retried:
                    legal -= {State.QUEUED}
                assert after in legal, (event_id, before, after)
        self.seen = present

    def _check_kept(self) -> None:
        """What was acked is here, or there."""
        here = {
            (row[0], row[1])
            for row in self.world.rows("SELECT session, message_id FROM event JOIN lane ON lane.id = lane_id")
        }
        for message in self.acked:
            if (message.session, message.message_id) not in here and not message.discarded:
                assert message.content in self.world.landed(message.session), message
        remote = {
            known
            for session, held in self.world.remote.sessions.items()
            for place, (own, _) in enumerate(held)
            for known in (own, f"{session}/{place}")
        }
        query = (
            "SELECT CASE kind WHEN 'conclusion' THEN remote_id ELSE honchod_id END FROM event"
            " WHERE state = 'delivered'"
        )
        delivered = {row[0] for row in self.world.rows(query)}
        assert delivered <= remote, "something counts as delivered that Honcho never got"

    def _check_letters(self) -> None:
        """A message dies only of its own faults."""
        rows = self.world.rows("SELECT content, last_error, honchod_id FROM event WHERE state = 'dead'")
        for content, code, own in rows:
            if BAD in content:
                assert code in ("rejected_422", "exhausted")
            else:
                assert code == "exhausted"
                failures = self.world.remote.lonely_failures
                assert max(failures[own], failures[own_id(content)]) >= MAX_ATTEMPTS - BISECT_AFTER, content

    def _check_own_fault(self, message: Acked) -> None:
        assert message.content not in self.world.landed(message.session)

    def _check_order(self) -> None:
        """Each session has its messages in the order of writing; a letter that came back comes late."""
        for session in {message.session for message in self.acked}:
            written = [
                message.content
                for message in self.acked
                if message.session == session and not message.retried
            ]
            place = {content: index for index, content in enumerate(written)}
            landed = [place[content] for content in self.world.landed(session) if content in place]
            assert landed == sorted(set(landed)), (session, landed)

    def _check_counters(self) -> None:
        reader = self.world.reader
        counted = {
            place: Counts(counts.queued, counts.delivered, counts.dead, counts.discarded, counts.bytes)
            for place, counts in tally.by_place(reader).items()
            if counts.rows
        }
        assert counted == tally.recount(reader)
        assert self.world.rows(LANES_THAT_COUNT_WRONG) == []
