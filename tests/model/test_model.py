"""The promises of the daemon, held against everything that can happen to it.

Hypothesis drives the real outbox and worker on a real SQLite file, in virtual time, against a scripted
Honcho: writes, answers of every kind, deaths at any moment, clocks that jump, a full disk, operators. After
each step, and after everything was healed, the promises are checked. ``HONCHOD_MODEL=long`` looks further.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from promises import Acked, Promises
from scripted_honcho import BAD, POISON, Fate
from world import DAY_MS, World

from honchod.errors import IdConflict, OutboxFull, QuotaUsedUp
from honchod.outbox.letters import Choice
from honchod.outbox.values import Bounds

LANES = (("h", "s1"), ("h", "s2"), ("g", "s3"))
MANY_DAYS_MS = 10_000 * DAY_MS
BOUNDS = Bounds(max_rows=60, max_bytes=64 << 20, quota_share=1.0, dedupe_window_ms=MANY_DAYS_MS)
KINDS = st.sampled_from(["good"] * 8 + [BAD, POISON])
MOMENTS = st.sampled_from([0.0, 0.03, 0.06, 0.08, 0.12, 0.16, 0.22, 0.5, 2.0, 16.0, 31.0, 120.0])
MIDDLES = st.sampled_from([0.02, 0.07, 0.12, 0.17, 0.22])
"""Seconds after which a delivery to a healthy server is under way, or just over."""
FATES = st.lists(st.sampled_from(list(Fate)), min_size=1, max_size=6)


class DaemonModel(RuleBasedStateMachine):
    """One machine, three sessions, two destinations."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory(prefix="honchod-model-")
        self.world: World | None = None
        self.serial = 0
        self.retried = False

    @initialize(seed=st.integers(0, 1000))
    def begin(self, seed: int) -> None:
        self.world = World(Path(self.directory.name) / "state", bounds=BOUNDS, seed=seed)
        self.promises = Promises(self.world)

    @rule(lane=st.sampled_from(LANES), kinds=st.lists(KINDS, min_size=1, max_size=6))
    def write(self, lane: tuple[str, str], kinds: list[str]) -> None:
        host, session = lane
        messages = []
        for kind in kinds:
            self.serial += 1
            messages.append((f"id {self.serial}", f"{kind} {self.serial}"))
        try:
            answers = self.world.append(host, session, *messages)
        except (OutboxFull, QuotaUsedUp):
            stored = {row[0] for row in self.world.rows("SELECT message_id FROM event")}
            assert not stored & {message_id for message_id, _ in messages}
            return
        assert not any(answer.duplicate for answer in answers)
        self.promises.acked += [Acked(session, message_id, content) for message_id, content in messages]

    @precondition(lambda self: self.serial)
    @rule(data=st.data(), other=st.booleans())
    def write_again(self, data: st.DataObject, *, other: bool) -> None:
        """The caller did not get its answer, or makes a mistake."""
        rows = self.world.rows(
            "SELECT host, session, message_id FROM event JOIN lane ON lane.id = lane_id"
            " WHERE kind = 'message' ORDER BY event.id"
        )
        known = {message.message_id: message for message in self.promises.acked}
        rows = [row for row in rows if row[2] in known]
        if not rows:
            return
        host, session, message_id = data.draw(st.sampled_from(rows))
        content = known[message_id].content + (" changed" if other else "")
        try:
            (answer,) = self.world.append(host, session, (message_id, content))
        except IdConflict:
            assert other
        except OutboxFull:
            assert self.world.outbox.full
        else:
            assert answer.duplicate
            assert not other

    @rule(lane=st.sampled_from(LANES), kind=KINDS)
    def conclude(self, lane: tuple[str, str], kind: str) -> None:
        host, session = lane
        self.serial += 1
        message_id, content = f"id {self.serial}", f"{kind} conclusion {self.serial}"
        try:
            answer = self.world.conclude(host, session, message_id, content)
        except (OutboxFull, QuotaUsedUp):
            return
        assert not answer.duplicate
        self.promises.acked.append(Acked(session, message_id, content))

    @precondition(lambda self: not self.world.outbox.full)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """A conclusion is taken back while it waits, or after it died."""
        rows = self.world.rows(
            "SELECT host, message_id FROM event JOIN lane ON lane.id = lane_id"
            " WHERE kind = 'conclusion' AND state IN ('queued', 'dead') ORDER BY event.id"
        )
        if rows:
            self._forget(*data.draw(st.sampled_from(rows)))

    @precondition(lambda self: not self.world.outbox.full)
    @rule(lane=st.sampled_from(LANES), seconds=MIDDLES)
    def second_thoughts_in_the_middle_of_a_delivery(self, lane: tuple[str, str], seconds: float) -> None:
        self.conclude(lane, "good")
        self.world.pass_time(seconds)
        message_id = f"id {self.serial}"
        if any(message.message_id == message_id for message in self.promises.acked):
            self._forget(lane[0], message_id)

    def _forget(self, host: str, message_id: str) -> None:
        if self.world.forget(host, message_id):
            for message in self.promises.acked:
                if message.message_id == message_id:
                    message.discarded = message.forgotten = True

    @rule(fates=FATES)
    def answers_to_come(self, fates: list[Fate]) -> None:
        self.world.remote.script.extend(fates)

    @rule(fate=st.sampled_from([Fate.GOOD, *Fate]))
    def weather(self, fate: Fate) -> None:
        self.world.remote.weather = fate

    @rule(seconds=MOMENTS)
    def time_passes(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @rule()
    def good_weather(self) -> None:
        self.world.remote.weather = Fate.GOOD
        self.world.remote.script.clear()
        self.world.pass_time(30.0)

    @rule(seconds=MOMENTS)
    def death(self, seconds: float) -> None:
        self.world.pass_time(seconds)
        self.world.crash()
        self.world.start()

    @rule(lane=st.sampled_from(LANES), seconds=MIDDLES)
    def death_in_the_middle_of_a_delivery(self, lane: tuple[str, str], seconds: float) -> None:
        """Between any two of: leased, asked, sent, stored remotely, answered, settled."""
        self.write(lane, ["good", "good"])
        self.death(seconds)

    @rule(patience_s=st.sampled_from([0.0, 1.0, 20.0]))
    def restart(self, patience_s: float) -> None:
        if not self.world.outbox.full:
            self.world.stop(patience_s)
            self.world.start()

    @rule(ms=st.sampled_from([-DAY_MS, 2 * DAY_MS, -20_000, 20_000, -3_600_000, 3_600_000]))
    def clock_jumps(self, ms: int) -> None:
        self.world.clock.jump(ms)

    @rule(full=st.booleans())
    def disk(self, *, full: bool) -> None:
        self.world.outbox.full = full

    @precondition(lambda self: not self.world.outbox.full)
    @rule(limit=st.integers(1, 3))
    def letters_go_back(self, limit: int) -> None:
        chosen = [
            row[0] for row in self.world.rows("SELECT id FROM event WHERE state = 'dead' LIMIT ?", limit)
        ]
        ids = [
            row[0]
            for row in self.world.rows("SELECT message_id FROM event WHERE state = 'dead' LIMIT ?", limit)
        ]
        for message in self.promises.acked:
            message.retried |= message.message_id in ids
        if chosen:
            self.world.do(self.world.outbox.retry_letters(Choice(ids=tuple(chosen)), limit=limit))
            self.world.worker.notify()
            self.retried = True

    @precondition(lambda self: not self.world.outbox.full)
    @rule()
    def a_letter_is_given_up(self) -> None:
        rows = self.world.rows("SELECT id, message_id FROM event WHERE state = 'dead' LIMIT 1")
        for event_id, message_id in rows:
            self.world.do(self.world.outbox.discard_letters([event_id]))
            for message in self.promises.acked:
                message.discarded |= message.message_id == message_id

    @precondition(lambda self: not self.world.outbox.full)
    @rule()
    def the_operator_asks_for_a_retry(self) -> None:
        self.world.do(self.world.worker.wake())

    @invariant()
    def promises_hold(self) -> None:
        if self.world is not None:
            self.promises.check(retried=self.retried)
            self.retried = False

    def teardown(self) -> None:
        if self.world is not None:
            try:
                self.heal()
            finally:
                self.world.close()
        self.directory.cleanup()

    def heal(self) -> None:
        """Everything works again: what can be delivered is."""
        world = self.world
        world.outbox.full = False
        world.remote.weather = Fate.GOOD
        world.remote.script.clear()
        world.pass_time(1.0)
        world.do(world.worker.wake())
        world.run_until_quiet()
        world.pass_time(30.0)
        self.promises.check_end()


LONG = os.environ.get("HONCHOD_MODEL") == "long"
DaemonModel.TestCase.settings = settings(
    max_examples=2_000 if LONG else 30,
    stateful_step_count=80 if LONG else 30,
    deadline=None,
    derandomize=not LONG,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
    phases=[Phase.reuse, Phase.generate, Phase.shrink] if LONG else [Phase.generate],
)


class TestDaemon(DaemonModel.TestCase):
    """The machine, as pytest sees it."""

    @pytest.mark.timeout(36_000 if LONG else 300)
    def runTest(self) -> None:  # noqa: N802  unittest's name
        super().runTest()
