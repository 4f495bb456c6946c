"""Results as a model reads them: plain lines inside the fence. Pure; the texts are harmless already."""

from __future__ import annotations

from collections.abc import Iterable

from honchod.memory.results import CardResult, ForgetResult, Item, Items, PackResult, StatusResult
from honchod.recall.fence import enclose

NOTHING_FOUND = "Nothing fits."
NO_CARD = "There is no card yet."
NOTHING_KNOWN = "Nothing is known yet."


def card(result: CardResult) -> str:
    """A card as a list."""
    return enclose(_list(result.card) or NO_CARD)


def items(result: Items) -> str:
    """What was found, with ids; what Honcho does not have yet is marked."""
    lines = [_item(item) for item in result.items]
    if result.failure is not None:
        lines.append(f"(Only what waits here: {result.failure}.)")
    return enclose("\n".join(lines) or NOTHING_FOUND)


def pack(result: PackResult) -> str:
    """A session and a peer under headings."""
    parts = (
        ("The session so far", result.summary),
        (f"What is known of {result.peer}", result.representation),
        (f"The card of {result.peer}", _list(result.card)),
        ("The latest messages", "\n".join(f"{said.peer}: {said.content}" for said in result.recent)),
    )
    return enclose("\n\n".join(f"# {heading}\n{text}" for heading, text in parts if text) or NOTHING_KNOWN)


def answer(text: str) -> str:
    """An answer of the dialectic."""
    return enclose(text)


def forgotten(result: ForgetResult) -> str:
    """Where something was removed."""
    return (
        f"Forgotten: {result.queued} waiting here, {result.remote} at Honcho, "
        f"{result.cache} cached answers that may have held it."
    )


def status(result: StatusResult) -> str:
    """How memory is."""
    reach = "Honcho is reachable" if result.reachable else "Honcho is away"
    return f"{reach}; {result.pending} waiting, {result.delivered} delivered, {result.dead} dead letters."


def _item(item: Item) -> str:
    mark = " (pending)" if item.pending else ""
    who = f" {item.peer}:" if item.kind == "message" else ""
    return f"- [{item.id}]{mark}{who} {item.content}"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
