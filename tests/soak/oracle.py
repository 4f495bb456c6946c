"""The verdict: what the writers were told against what the server holds. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from soak.ledger import Entry, Told


@dataclass(frozen=True, order=True)
class Piece:
    """A message, or a part of one (counted from 1), as the server holds it."""

    id: str
    part: int = 1


@dataclass(frozen=True)
class Verdict:
    """Each list names pieces as ``session/message/part``; all empty: every promise was kept."""

    lost: tuple[str, ...]
    """Acknowledged, and not there."""
    twice: tuple[str, ...]
    disordered: tuple[str, ...]
    """Behind one that was written after it."""
    uninvited: tuple[str, ...]
    """There, although it was refused or never written."""

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.twice or self.disordered or self.uninvited)


def judge(entries: Iterable[Entry], stored: Mapping[str, Sequence[Piece]]) -> Verdict:
    """Judge a run by its ledger and by the pieces of each session, in the order of storage."""
    written: dict[str, list[Entry]] = {}
    for entry in entries:
        written.setdefault(entry.session, []).append(entry)
    lost: list[str] = []
    twice: list[str] = []
    disordered: list[str] = []
    uninvited: list[str] = []
    for session in sorted({*written, *stored}):
        told = written.get(session, [])
        there = list(stored.get(session, ()))
        counted = Counter(there)
        possible = {entry.id for entry in told if entry.told is not Told.REFUSED}
        # A writer that gave one up did not wait to see what became of it before it wrote the next.
        places = {entry.id: place for place, entry in enumerate(told) if entry.told is Told.ACKED}
        promised = {
            Piece(entry.id, part)
            for entry in told
            if entry.told is Told.ACKED
            for part in range(1, entry.parts + 1)
        }
        lost += [_name(session, piece) for piece in sorted(promised - counted.keys())]
        twice += [_name(session, piece) for piece, count in counted.items() if count > 1]
        uninvited += [_name(session, piece) for piece in counted if piece.id not in possible]
        placed = [((places[piece.id], piece.part), piece) for piece in there if piece.id in places]
        disordered += [
            _name(session, piece) for (before, _), (place, piece) in pairwise(placed) if place < before
        ]
    return Verdict(tuple(lost), tuple(twice), tuple(disordered), tuple(uninvited))


def _name(session: str, piece: Piece) -> str:
    return f"{session}/{piece.id}/{piece.part}"
