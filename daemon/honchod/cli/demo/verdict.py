"""Whether Honcho ended up with what was said. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from honchod.cli.demo.conversation import Line


@dataclass(frozen=True, slots=True)
class Verdict:
    """Ids that are missing or there more than once, and whether the rest stands in order, unchanged."""

    lost: tuple[str, ...]
    duplicated: tuple[str, ...]
    in_order: bool
    unchanged: bool

    @property
    def kept(self) -> bool:
        """Every message once, in order, as it was said."""
        return not self.lost and not self.duplicated and self.in_order and self.unchanged


def judge(said: Sequence[Line], stored: Sequence[tuple[str, str]]) -> Verdict:
    """Compare what was said with what is stored: (message id, content) in the order of storage."""
    copies = Counter(message_id for message_id, _ in stored)
    texts = {line.id: line.text for line in said}
    places = {message_id: place for place, (message_id, _) in reversed(list(enumerate(stored)))}
    order = [places[line.id] for line in said if line.id in places]
    return Verdict(
        lost=tuple(line.id for line in said if line.id not in copies),
        duplicated=tuple(message_id for message_id, count in copies.items() if count > 1),
        in_order=order == sorted(order),
        unchanged=all(texts.get(message_id) == content for message_id, content in stored),
    )
