"""What is known of a peer: representation, card, context, chat."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from .calls import Answer, Call, Route
from .dialectic import answer, as_events
from .errors import Broken, Refused
from .fields import read_body, read_query
from .limits import QUERY_CHARS, without_nul
from .recall import Wanted, as_markdown, select
from .sight import Sight, read_narrowing, read_search, resolve
from .tenancy import find_workspace, open_peers, open_workspace, require_peer

_PEER: Final = "/v3/workspaces/{workspace}/peers/{peer}"
_LEVELS: Final = ("minimal", "low", "medium", "high", "max")
_EVENTS_TYPE: Final = "text/event-stream; charset=utf-8"
_REPRESENTATION_DEFAULT: Final = 25


class Representation(Struct, frozen=True):
    """The answer of a representation call."""

    representation: str


class Card(Struct, frozen=True):
    """The answer of a card call."""

    peer_card: list[str] | None


class PeerContext(Struct, frozen=True):
    """The answer of a peer's context call."""

    peer_id: str
    target_id: str
    representation: str
    peer_card: list[str] | None


class ChatAnswer(Struct, frozen=True):
    """The answer of a chat call that is no stream."""

    content: str | None


def read_representation(call: Call) -> Answer:
    """``POST …/representation``: without a model it falls back to the newest conclusions."""
    body = read_body(call.body)
    narrowing = read_narrowing(body)
    search = read_search(body, default_limit=_REPRESENTATION_DEFAULT)
    body.check()
    wanted = search.wanted(resolve(call, narrowing), llm_down=call.llm_down)
    return Answer.of(Representation(as_markdown(select(find_workspace(call), wanted))))


def read_card(call: Call) -> Answer:
    """``GET …/card``: the peer's own, or the one it holds of ``target``."""
    require_peer(call, call.path["peer"])
    workspace = open_workspace(call, call.path["workspace"])
    return Answer.of(Card(workspace.cards.get((call.path["peer"], _target(call)))))


def write_card(call: Call) -> Answer:
    """``PUT …/card``: replaces it, creating the peer if need be."""
    body = read_body(call.body)
    card: list[str] = without_nul(body.texts("peer_card"))
    body.check()
    workspace = open_peers(call, [call.path["peer"]])
    workspace.cards[call.path["peer"], _target(call)] = card
    call.store.changed()
    return Answer.of(Card(card))


def read_context(call: Call) -> Answer:
    """``GET …/context``: representation and card in one."""
    query = read_query(call.query)
    search = read_search(query)
    query.check()
    require_peer(call, call.path["peer"])
    observer, observed = call.path["peer"], _target(call)
    workspace = open_workspace(call, call.path["workspace"])
    wanted = search.wanted(Sight(observer, observed), llm_down=call.llm_down)
    text = as_markdown(select(workspace, wanted))
    return Answer.of(PeerContext(observer, observed, text, workspace.cards.get((observer, observed))))


def chat(call: Call) -> Answer:
    """``POST …/chat``: about a peer that exists, else 404; without a model 500. As streams both are empty."""
    body = read_body(call.body)
    query = body.text("query", min_chars=1, max_chars=QUERY_CHARS)
    stream = body.boolean("stream", default=False)
    body.choice("reasoning_level", _LEVELS, default="low")
    narrowing = read_narrowing(body)
    body.check()
    sight = resolve(call, narrowing)
    if narrowing.target is not None:
        try:
            require_peer(call, narrowing.target)
        except Refused:
            if stream:
                return Answer(200, b"", _EVENTS_TYPE)
            raise
    workspace = open_peers(call, [call.path["peer"]])
    if call.llm_down:
        if stream:
            return Answer(200, b"", _EVENTS_TYPE)
        raise Broken
    known = select(workspace, Wanted(sight.observer, sight.observed, sight.sessions, query=query))
    card = workspace.cards.get((sight.observer, sight.observed))
    text = answer(query, sight.observed, card, known)
    if stream:
        return Answer(200, as_events(text), _EVENTS_TYPE)
    return Answer.of(ChatAnswer(text))


def _target(call: Call) -> str:
    return call.query.get("target", call.path["peer"])


ROUTES: Final = (
    Route("POST", f"{_PEER}/representation", read_representation),
    Route("GET", f"{_PEER}/card", read_card),
    Route("PUT", f"{_PEER}/card", write_card),
    Route("GET", f"{_PEER}/context", read_context),
    Route("POST", f"{_PEER}/chat", chat),
)
