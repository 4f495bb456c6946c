"""What the data plane answers, as values.

They are named tuples because ``dataclasses`` brings ``inspect`` along, which alone takes a third of the time
that importing this package may take. Fields a newer daemon adds are ignored.
"""

from __future__ import annotations

from honchod.client.errors import BadAnswer
from honchod.client.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DROPPED = "dropped"
"""The status of a message that no daemon has taken yet: it waits in the drop box."""


class WrittenMessage(NamedTuple):
    """What became of one message.

    ``status`` is ``queued``, ``duplicate``, ``skipped`` or ``dropped``; ``parts`` counts the pieces of a
    stored one, ``reason`` says why one was skipped.
    """

    id: str
    status: str
    parts: int | None = None
    reason: str | None = None


class Written(NamedTuple):
    """The answer to a write: everything ``queued`` or ``dropped`` in it is on disk.

    ``session`` is the Honcho session id that was used, of a dropped write the session that the caller named
    (empty with a locator); ``results`` are in the order of the messages.
    """

    session: str
    results: tuple[WrittenMessage, ...]

    @property
    def dropped(self) -> bool:
        """Whether no daemon has it yet, and it waits in the drop box."""
        return any(message.status == DROPPED for message in self.results)


class Recalled(NamedTuple):
    """Memory for the prompt.

    ``status`` is ``fresh``, ``stale``, ``cold``, ``empty`` or ``unavailable``; ``text`` is the fenced block.
    ``query_matched`` is false when the answer for this query was not there and the base stands alone.
    """

    status: str
    text: str
    age_s: float | None
    query_matched: bool
    approx_tokens: int
    sections: dict[str, str | None]
    truncated: tuple[str, ...]
    receipt: str | None


def read_written(answer: Any) -> Written:
    """The answer of ``POST /v1/messages``; raises BadAnswer for another shape."""
    try:
        results = tuple(
            WrittenMessage(item["id"], item["status"], item.get("parts"), item.get("reason"))
            for item in answer["results"]
        )
        return Written(answer["session"], results)
    except (TypeError, KeyError, AttributeError) as error:
        raise BadAnswer("the answer to a write has another shape") from error


def read_recalled(answer: Any) -> Recalled:
    """The answer of ``POST /v1/recall``; raises BadAnswer for another shape."""
    try:
        return Recalled(
            answer["status"],
            answer["text"],
            answer.get("age_s"),
            answer["query_matched"],
            answer["approx_tokens"],
            dict(answer["sections"]),
            tuple(answer["truncated"]),
            answer.get("receipt"),
        )
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise BadAnswer("the answer to a recall has another shape") from error
