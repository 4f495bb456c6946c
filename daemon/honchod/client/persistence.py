"""When a call that failed is tried again. No I/O: the clock comes in as an argument.

A call's answer was lost: sent again at once, where twice is as good as once. No daemon, or one that asks to
come back later: only as long as the caller said it would wait.
"""

from __future__ import annotations

from honchod.client.errors import ClientError, NoAnswer, NotReachable, Rejected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from honchod.client.calls import Call

IMMEDIATE_REPEATS = 2
"""How often a call whose connection was cut is sent again without being told to wait."""

POLL_FIRST_S = 0.05
POLL_LAST_S = 0.5
"""A daemon that is away is looked for at doubling intervals between these two."""

BUSY_WAIT_S = 1.0
"""How long to leave a busy daemon alone when it does not say."""

WAIT_STATUSES = frozenset({429, 503, 507})
"""Where waiting helps: the quota, a restart, a full queue."""

AWAY = 503
"""The daemon stops, or has too much to do: nothing of the call was done."""


def is_kept(error: ClientError) -> bool:
    """Whether a write that fails so goes to the drop box, where the client has one: no daemon has it.

    Where an answer was lost it may have it all the same; the ids tell when it is taken in.
    """
    return isinstance(error, NotReachable) or (isinstance(error, Rejected) and error.status == AWAY)


class Persistence:
    """The tries of one call: says how long to wait before the next, or raises what the caller gets.

    ``wait_s`` is how long the caller agreed to wait in total; ``now_s`` is monotonic.
    """

    def __init__(self, call: Call, wait_s: float, now_s: float) -> None:
        self._call = call
        self._give_up_at_s = now_s + wait_s
        self._polls = 0
        self._cuts = 0
        self._lost: NoAnswer | None = None

    def delay_after(self, error: ClientError, now_s: float) -> float:
        """Seconds to wait before the next try. Raises when there is none.

        Once an answer was lost, a daemon that is away is reported as NoAnswer: the call may have been done.
        """
        delay_s: float | None
        if isinstance(error, NoAnswer):
            self._lost = error
            delay_s = self._after_lost_answer(error)
        elif isinstance(error, NotReachable):
            delay_s = self._next_poll_s()
        elif isinstance(error, Rejected) and error.status in WAIT_STATUSES:
            delay_s = BUSY_WAIT_S if error.retry_after_s is None else max(POLL_FIRST_S, error.retry_after_s)
        else:
            raise error
        if delay_s is None or (delay_s > 0 and now_s + delay_s > self._give_up_at_s):
            raise self._lost if self._lost and isinstance(error, NotReachable) else error
        return delay_s

    def _after_lost_answer(self, error: NoAnswer) -> float | None:
        if not self._call.repeatable:
            return None
        if not error.timed_out and self._cuts < IMMEDIATE_REPEATS:
            self._cuts += 1
            return 0.0
        return self._next_poll_s()

    def _next_poll_s(self) -> float:
        delay_s = min(POLL_LAST_S, POLL_FIRST_S * 2.0**self._polls)
        self._polls += 1
        return delay_s
