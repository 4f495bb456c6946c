"""Reading without a search: cards, and a session and a peer at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from honchod.errors import HonchoRefused
from honchod.memory import tasks
from honchod.memory.reach import Reach
from honchod.memory.results import CardResult, PackResult, Said
from honchod.memory.veil import Veil
from honchod.memory.visit import Visit
from honchod.recall.assemble import CHARS_PER_TOKEN
from honchod.recall.fence import LINE_CHARS
from honchod.recall.look import packed_tokens
from honchod.recall.merge import merged

if TYPE_CHECKING:
    from honchod.gateway.gateway import Gateway
    from honchod.gateway.values import Said as RemoteSaid
    from honchod.gateway.values import SessionView

PACK_TOKENS: Final = 4_000
"""How long a pack may be where the host sets no budget."""
RECENT: Final = 10
TOP_K: Final = 8
MAX_CONCLUSIONS: Final = 20
READ_CARD: Final = "read the card"
SET_CARD: Final = "set the card"
READ: Final = "read memory"


class Reading:
    """Reads cards and packs, and sets cards."""

    def __init__(self, reach: Reach, veil: Veil) -> None:
        self._reach = reach
        self._veil = veil

    async def card(self, visit: Visit, task: tasks.ReadCard) -> CardResult:
        """A peer's card."""
        sight = visit.sight(task.peer)
        lines = await self._reach.call(visit.way, READ_CARD, lambda gateway: gateway.excerpts.card(sight))
        return CardResult(sight.target, await self._lines(lines))

    async def set_card(self, visit: Visit, task: tasks.SetCard) -> CardResult:
        """Replace a peer's card; secrets in it are hidden first."""
        sight = visit.sight(task.peer)
        lines = await self._lines(task.lines)
        held = await self._reach.call(
            visit.way, SET_CARD, lambda gateway: gateway.excerpts.set_card(sight, lines)
        )
        return CardResult(sight.target, await self._lines(held))

    async def pack(self, visit: Visit, task: tasks.Pack) -> PackResult:
        """Summary, representation, card and latest messages, within the budget of the host.

        The card is never cut, then the representation is; the latest messages get what is left.
        """
        sight, session = visit.sight(task.peer), visit.place.session
        tokens = visit.host.recall.context_tokens or PACK_TOKENS
        query = None if task.query is None else await self._veil.query(task.query)

        async def read(gateway: Gateway) -> tuple[SessionView, str, tuple[RemoteSaid, ...]]:
            view = await gateway.memory.of_session(session, sight, tokens=packed_tokens(tokens))
            if visit.scoped and view.scope is None:
                raise HonchoRefused(f"{READ}: this Honcho knows no such scope")
            found = ""
            if query is not None:
                found = await gateway.memory.found(query, sight, top_k=TOP_K, max_conclusions=MAX_CONCLUSIONS)
            recent = () if query is not None else await gateway.excerpts.latest(session, RECENT)
            return view, found, recent

        view, found, recent = await self._reach.call(visit.way, READ, read)
        chars = tokens * CHARS_PER_TOKEN
        card = await self._lines(view.card)
        left = max(0, chars - sum(map(len, card)))
        known = merged(found, view.representation)
        representation = await self._veil.shown(known, left // 2, line_chars=LINE_CHARS)
        left -= len(representation)
        summary = await self._veil.shown(view.summary, left // 2)
        left -= len(summary)
        said = [Said(one.peer, await self._veil.line(one.content)) for one in recent]
        return PackResult(
            sight.target, summary, representation, card, recent=_latest_within(said, max(0, left))
        )

    async def _lines(self, lines: tuple[str, ...]) -> list[str]:
        return [await self._veil.line(line) for line in lines]


def _latest_within(said: list[Said], chars: int) -> list[Said]:
    """The last of them that fit, in their order."""
    kept: list[Said] = []
    for one in reversed(said):
        chars -= len(one.content)
        if chars < 0:
            break
        kept.insert(0, one)
    return kept
