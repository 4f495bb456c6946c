"""What Honcho knows: the calls that read. Each is one request, save where a scope or a peer is unknown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from honcho.peer import Peer
from honcho.session import Session

from honchod.errors import CallFailed
from honchod.gateway.values import NO_SCOPE, NOT_FOUND, PeerView, QueueState, SessionView, Sight

if TYPE_CHECKING:
    from honcho import Honcho

    from honchod.identity.choices import ReasoningLevel

T = TypeVar("T")


class Calls(Protocol):
    """Makes one call of the SDK, and raises nothing but `CallFailed`."""

    def __call__(  # noqa: D102
        self, call: Callable[[], Awaitable[T]], /, *, timeout_s: float | None = None
    ) -> Awaitable[T]: ...


class Memory:
    """The reading half of a gateway. Every method raises `CallFailed`."""

    def __init__(self, honcho: Honcho, call: Calls) -> None:
        self._honcho = honcho
        self._call = call

    async def of_session(self, session: str, sight: Sight | None, *, tokens: int) -> SessionView:
        """The session's summary and, of whom ``sight`` names, representation and card.

        A session that Honcho does not know is empty, and so is what a peer knows that it has never met. Where
        it knows no such scope, it is the global view. ``tokens`` bounds what the server packs into its
        answer; the summary gets a share of it.
        """
        if sight is None:
            return await self._context(session, None, tokens)
        try:
            return await _in_scope(sight, lambda seen: self._context(session, seen, tokens))
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
        return await self._context(session, None, tokens)

    async def found(self, query: str, sight: Sight, *, top_k: int, max_conclusions: int) -> str:
        """The representation that is nearest to the query: the ``top_k`` best, filled up with the newest."""
        return await _in_scope(
            sight,
            lambda seen: self._call(
                lambda: self._peer(seen.observer).aio.representation(
                    target=seen.target,
                    scope=seen.scope,
                    search_query=query,
                    search_top_k=top_k,
                    max_conclusions=max_conclusions,
                )
            ),
        )

    async def of_itself(self, peer: str) -> PeerView:
        """What the peer knows of itself; nothing of one that Honcho has never met."""
        return await self._view_of(peer) or PeerView("", ())

    async def knows(self, peer: str) -> bool:
        """Whether Honcho has met this peer."""
        return await self._view_of(peer) is not None

    async def reason(self, question: str, sight: Sight, level: ReasoningLevel, *, timeout_s: float) -> str:
        """What the dialectic answers, at this level; empty where it has nothing to say, or the target was
        never met. It takes seconds.
        """
        try:
            answer = await _in_scope(
                sight,
                lambda seen: self._call(
                    lambda: self._peer(seen.observer).aio.chat(
                        question,
                        target=seen.target,
                        scope=seen.scope,
                        reasoning_level=level.value,
                        timeout=timeout_s,
                    ),
                    timeout_s=timeout_s,
                ),
            )
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
            return ""
        return answer if isinstance(answer, str) else ""

    async def queue(self, session: str) -> QueueState:
        """How far Honcho is with deriving from the session."""
        status = await self._call(lambda: Session(session, self._honcho).aio.queue_status())
        return QueueState(
            completed=status.completed_work_units,
            in_progress=status.in_progress_work_units,
            pending=status.pending_work_units,
        )

    async def _view_of(self, peer: str) -> PeerView | None:
        try:
            context = await self._call(lambda: self._peer(peer).aio.context())
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
            return None
        return PeerView(context.representation or "", _card(context.peer_card))

    async def _context(self, session: str, sight: Sight | None, tokens: int) -> SessionView:
        context = await self._call(
            lambda: Session(session, self._honcho).aio.context(
                tokens=tokens,
                peer_target=None if sight is None else sight.target,
                peer_perspective=None if sight is None or sight.scope else sight.observer,
                scope=None if sight is None else sight.scope,
            )
        )
        return SessionView(
            summary=context.summary.content if context.summary else "",
            representation=context.peer_representation or "",
            card=_card(context.peer_card),
            scope=None if sight is None else sight.scope,
        )

    def _peer(self, peer: str) -> Peer:
        """The SDK's peer object, without a request."""
        return Peer(peer, self._honcho)


async def _in_scope(sight: Sight, ask: Callable[[Sight], Awaitable[T]]) -> T:
    """Ask under the scope; where the server knows no scopes, or not this one, for the global view."""
    if sight.scope is not None:
        try:
            return await ask(sight)
        except CallFailed as failure:
            if failure.status not in NO_SCOPE:
                raise
    return await ask(replace(sight, scope=None))


def _card(lines: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(lines or ())
