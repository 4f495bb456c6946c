"""What a daemon says of itself, with hostile names wherever somebody else chose them."""

from __future__ import annotations

from honchod.ops.views import (
    Attempt,
    CacheView,
    Check,
    Checks,
    DeliveryView,
    DestinationView,
    ErrorSeen,
    Health,
    LaneView,
    Letter,
    LetterDetail,
    LetterPage,
    Queue,
    Status,
    WriterView,
)
from honchod.web.history import Sample
from honchod.web.identity import Identity
from honchod.web.overview import Checked, Snapshot

HOSTILE = """<script>alert(1)</script>"'><img src=x onerror=alert(1)>"""
NOW_MS = 1_800_000_000_000
AT = "2027-01-15T07:59:00.000Z"
"""One minute before."""


def letter(letter_id: str = "7", *, text: str = HOSTILE) -> Letter:
    return Letter(
        id=letter_id,
        session=text,
        host=text,
        workspace=text,
        kind="message",
        peer=text,
        code=text,
        attempts=2,
        created_at=AT,
        died_at=AT,
        size=812,
        message_id=text,
        part=0,
    )


def letter_detail(*, content: str | None = None, text: str = HOSTILE) -> LetterDetail:
    return LetterDetail(
        id="7",
        session=text,
        host=text,
        workspace=text,
        kind="message",
        peer=text,
        code=text,
        attempts=1,
        created_at=AT,
        died_at=AT,
        size=812,
        message_id=text,
        part=0,
        history=[Attempt(AT, text, 422, 12)],
        content=content,
        metadata=None if content is None else {text: text},
    )


def letter_page(*letters: Letter, total: int | None = None, cursor: str | None = None) -> LetterPage:
    return LetterPage(list(letters), cursor, len(letters) if total is None else total)


def snapshot(
    *,
    text: str = HOSTILE,
    paused: bool = False,
    dead: int = 1,
    stuck: list[str] | None = None,
    checked: bool = True,
    letters: LetterPage | None = None,
) -> Snapshot:
    queue = Queue(pending=3, oldest_age_s=61, in_flight=2, delivered=90_412, dead=dead, discarded=0, bytes=9)
    status = Status(
        version="0.1.0",
        uptime_s=90_061,
        queue=queue,
        lanes=[
            LaneView(text, text, text, 9, 0, 1, text, uncertain=True, suspect=True, order_gap=True),
            LaneView(text, text, text, 1, None, 0, None, in_flight=True, configured=False),
        ],
        destinations=[
            DestinationView(text, text, text, text, "refused", "open", 5, 0, 1, None, text, AT, None),
            DestinationView(text, text, text, "file", "ok", "half_open", None, 1, 1, 1, None, None, AT),
        ],
        cache=CacheView(41, 1200, 40, 3),
        writer=WriterView(5120, 1.0, 2.1, 3.0, 0),
        delivery=DeliveryView(paused, 2, 77, 0),
        errors=[ErrorSeen(text, text, AT)],
        notices=[text],
        database_bytes=1 << 20,
        wal_bytes=1 << 22,
    )
    identity = Identity(
        *(text, True, False, text, text, None, text, "hybrid", "local", "tools", "async", "global", "off"),
        key_source="file",
        mcp_url=text,
    )
    checks = Checks(
        False, [Check("api", False, text, 3.0, text, host=text), Check("disk", True, "ok", None, "")]
    )
    return Snapshot(
        status=status,
        health=Health("stuck" if stuck else "ok", stuck or [], {text: "refused", "other": "ok"}),
        letters=letter_page(letter(text=text)) if letters is None else letters,
        identities=[identity],
        samples=(Sample(0, 3, 1), Sample(10, 5, 4)),
        checked=Checked(checks, AT) if checked else None,
        now_ms=NOW_MS,
        now_s=10.0,
    )
