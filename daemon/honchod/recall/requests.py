"""The wire types of recall: what an agent asks for and what it gets. Decoded by msgspec, strictly."""

from __future__ import annotations

from typing import Annotated

import msgspec

from honchod.identity.choices import Section
from honchod.identity.requests import Id, Locator
from honchod.recall.freshness import RecallStatus
from honchod.recall.injection import OffReason

Query = Annotated[str, msgspec.Meta(max_length=100_000)]
"""What the agent was just asked. Honcho looks at 10,000 characters of it at most."""


class RecallRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The body of ``POST /v1/recall``.

    ``tokens`` is the budget of the block (default: the host's). ``wait_ms`` is how long to wait for a fresh
    answer. ``sections`` are those to include, of those that the host has on. ``peek``: leave a prefetched
    dialectic answer for the next recall.
    """

    host: Id = "default"
    session: Id | None = None
    locator: Locator | None = None
    scope: Id | None = None
    query: Query | None = None
    tokens: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 0
    sections: list[Section] | None = None
    peek: bool = False


class SectionTexts(msgspec.Struct, frozen=True):
    """Each section as it stands in the block; null where it does not."""

    summary: str | None = None
    user_representation: str | None = None
    user_card: str | None = None
    ai_representation: str | None = None
    ai_card: str | None = None
    dialectic: str | None = None


class RecallAnswer(msgspec.Struct, frozen=True):
    """The answer of ``POST /v1/recall``.

    ``text`` is ready for the prompt; "" when there is nothing to put there. ``age_s`` is the age of the
    oldest answer of Honcho in it. ``query_matched`` is false when what was found for this query is not in it.
    ``truncated`` names the sections that were cut or left out for want of room. ``reason`` says why the
    status is ``off``.
    """

    status: RecallStatus
    age_s: float | None
    query_matched: bool
    approx_tokens: int
    text: str
    sections: SectionTexts
    truncated: list[Section]
    receipt: str
    reason: OffReason | None = None


class SessionQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The body of ``POST /v1/prefetch`` and ``POST /v1/sessions/start``."""

    host: Id = "default"
    session: Id | None = None
    locator: Locator | None = None
    scope: Id | None = None
    query: Query | None = None


class Prefetching(msgspec.Struct, frozen=True):
    """What is being fetched now: whether the context, and whether an answer of the dialectic."""

    session: str
    context: bool
    dialectic: bool


class StartedSession(msgspec.Struct, frozen=True):
    """``warm``: the first recall can be answered from the cache at once."""

    session: str
    generation: int
    warm: bool


class Cleared(msgspec.Struct, frozen=True):
    """How many answers were forgotten."""

    cleared: int


class ReceiptSection(msgspec.Struct, frozen=True):
    """A section of a block, and the age of what it is made of."""

    section: Section
    age_s: float


class Receipt(msgspec.Struct, frozen=True):
    """What one recall was: no content, no query.

    ``calls`` are the requests to Honcho that it started; ``ms`` is how long it took, waiting included.
    """

    id: str
    at: str
    host: str
    workspace: str
    session: str
    status: RecallStatus
    query: bool
    query_matched: bool
    sections: list[ReceiptSection]
    truncated: list[Section]
    chars: int
    calls: int
    ms: float


class ReceiptPage(msgspec.Struct, frozen=True):
    """The last recalls, the latest first."""

    items: list[Receipt]
