"""The arguments of each tool, as its schema tells a model. Decoded strictly."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

SEARCH_TOKENS: Final = 800
SEARCH_TOKENS_MAX: Final = 2_000
ITEMS: Final = 8
ITEMS_MAX: Final = 20
CONCLUSION_CHARS_MAX: Final = 10_000
CARD_LINES_MAX: Final = 40
CARD_LINE_CHARS_MAX: Final = 500

Level = Literal["minimal", "low", "medium", "high", "max"]
Action = Literal["recall", "search", "ask", "remember", "forget", "status", "dream"]
Place = Literal["conclusions", "session", "workspace"]

Peer = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=512,
        description='Whom it is about: "user" (default), "ai" for yourself, or the id of a peer.',
    ),
]
Query = Annotated[
    str, msgspec.Meta(min_length=1, max_length=10_000, description="What to look for, in plain language.")
]
Content = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=CONCLUSION_CHARS_MAX,
        description="One specific fact that should last, in a sentence.",
    ),
]
ConclusionId = Annotated[
    str, msgspec.Meta(min_length=1, max_length=512, description="The exact id of a conclusion.")
]


class Arguments(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The arguments of a tool."""


class Profile(Arguments, frozen=True):
    """Read a peer's card, or replace it."""

    peer: Peer = "user"
    card: (
        Annotated[
            list[Annotated[str, msgspec.Meta(min_length=1, max_length=CARD_LINE_CHARS_MAX)]],
            msgspec.Meta(max_length=CARD_LINES_MAX, description="The new card, a fact a line; absent: read."),
        ]
        | None
    ) = None


class Search(Arguments, frozen=True):
    """Search what is remembered of a peer."""

    query: Query
    peer: Peer = "user"
    max_tokens: Annotated[
        int, msgspec.Meta(ge=1, le=SEARCH_TOKENS_MAX, description="How long the result may be.")
    ] = SEARCH_TOKENS


class Context(Arguments, frozen=True):
    """See everything of this session and a peer at once."""

    peer: Peer = "user"


class Reasoning(Arguments, frozen=True):
    """Ask a question that takes thought."""

    query: Query
    peer: Peer = "user"
    reasoning_level: (
        Annotated[Level, msgspec.Meta(description="How hard to think; absent: as configured.")] | None
    ) = None


class Ask(Arguments, frozen=True):
    """Ask a question."""

    query: Query
    peer: Peer = "user"


class Conclude(Arguments, frozen=True):
    """Exactly one of ``conclusion``, ``delete_id`` and ``list``."""

    conclusion: Content | None = None
    delete_id: ConclusionId | None = None
    list: Annotated[bool, msgspec.Meta(description="List what was concluded.")] = False
    query: Annotated[Query, msgspec.Meta(description="With list: only what fits this.")] | None = None
    peer: Peer = "user"


class Memory(Arguments, frozen=True):
    """One action and what it needs."""

    action: Annotated[
        Action,
        msgspec.Meta(
            description="recall and search need a query, ask a question in query, remember the content, "
            "forget conclusion_id and confirm."
        ),
    ]
    query: Query | None = None
    content: Content | None = None
    conclusion_id: ConclusionId | None = None
    confirm: Annotated[bool, msgspec.Meta(description="With forget: the user has confirmed it.")] = False
    where: Annotated[Place, msgspec.Meta(description="With search: in what.")] = "conclusions"
    peer: Peer = "user"
    scope: (
        Annotated[
            str,
            msgspec.Meta(
                min_length=1,
                max_length=506,
                description="With recall, ask and a search of the workspace: only in this scope.",
            ),
        ]
        | None
    ) = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=ITEMS_MAX, description="How many items at most.")] = ITEMS
