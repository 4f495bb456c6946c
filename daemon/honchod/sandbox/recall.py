"""What is recalled of a peer or a session: conclusions, their text, summary and messages in a budget."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from .limits import approximate_tokens
from .model import StoredMessage, Summary
from .ranking import nearest
from .store import HeldConclusion, SessionState, WorkspaceState

REPRESENTATION_CONCLUSIONS: Final = 100
_SUMMARY_SHARE: Final = 0.4


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which conclusions of a pair are wanted.

    ``query`` brings the ``top_k`` nearest first; the newest fill up to ``limit``. ``sessions`` restricts to
    what was concluded from these; an empty one to nothing.
    """

    observer: str
    observed: str
    sessions: Collection[str] | None = None
    query: str | None = None
    top_k: int | None = None
    max_distance: float | None = None
    limit: int = REPRESENTATION_CONCLUSIONS


def select(workspace: WorkspaceState | None, wanted: Wanted) -> list[HeldConclusion]:
    """The wanted conclusions, in the order in which things were said."""
    pair = (wanted.observer, wanted.observed)
    held = list(workspace.pairs.get(pair, {}).values()) if workspace else []
    if wanted.sessions is not None:
        held = [one for one in held if one.row.session_id in wanted.sessions]
    chosen: list[HeldConclusion] = []
    if wanted.query:
        near = max(1, wanted.limit // 3) if wanted.top_k is None else wanted.top_k
        chosen = nearest(
            held,
            wanted.query,
            lambda one: one.row.content,
            limit=min(near, wanted.limit),
            max_distance=wanted.max_distance,
        )
    taken = {one.row.id for one in chosen}
    newest = [one for one in reversed(held) if one.row.id not in taken]
    chosen += newest[: wanted.limit - len(chosen)]
    return sorted(chosen, key=lambda one: one.said_at.rstrip("Z"))


def as_markdown(conclusions: list[HeldConclusion]) -> str:
    """A representation as the API words it; empty when nothing is known."""
    if not conclusions:
        return ""
    lines = [f"[{one.said_at[:19].replace('T', ' ')}] {one.row.content}" for one in conclusions]
    return "\n".join(["## Explicit Observations\n", *lines, ""])


def pick_summary(session: SessionState, budget_tokens: int) -> Summary | None:
    """The longest summary that fits its share of the budget."""
    share = int(budget_tokens * _SUMMARY_SHARE)
    candidates = [session.long_summary, session.short_summary]
    fitting = [one for one in candidates if one is not None and 0 < one.token_count <= share]
    return max(fitting, key=lambda one: one.token_count, default=None)


def newest_messages(
    session: SessionState, summary: Summary | None, budget_tokens: int
) -> list[StoredMessage]:
    """As many of the newest messages as fit, back to the one that the summary ends with."""
    if budget_tokens <= 0:
        return []
    start = session.places[summary.message_id] if summary else 0
    left = budget_tokens
    kept: list[StoredMessage] = []
    for message in reversed(session.messages[start:]):
        left -= message.token_count
        if left < 0:
            break
        kept.append(message)
    return kept[::-1]


def card_tokens(card: list[str] | None) -> int:
    """What a card takes of the budget."""
    return approximate_tokens("\n".join(card)) if card else 0
