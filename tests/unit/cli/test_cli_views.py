"""The daemon's answers as tables."""

from __future__ import annotations

import msgspec
import pytest

from honchod.cli.answers import read
from honchod.cli.check import checks_block
from honchod.cli.letters_view import letter_blocks, page_blocks
from honchod.cli.output import Block, plain
from honchod.cli.status_view import TONES, status_blocks
from honchod.client import BadAnswer
from honchod.drop.contents import DropBox
from honchod.ops import views

QUEUE = views.Queue(
    pending=12, oldest_age_s=3.2, in_flight=2, delivered=90412, dead=1, discarded=0, bytes=18 * 2**20
)
LANE = views.LaneView(
    session="chat-7f3a", host="hermes", workspace="w", pending=9, due_in_s=4.0, failures=2,
    last_error="http_503", uncertain=True, configured=False,
)  # fmt: skip
DESTINATION = views.DestinationView(
    host="hermes", url="http://h", workspace="w", key_source="file", state="unreachable", circuit="half_open",
    retry_in_s=70.0, in_flight=0, delivered=5, derived=None, last_error="http_503", last_error_at=None,
    last_delivery_at=None,
)  # fmt: skip
STATUS = views.Status(
    version="0.1.0", uptime_s=86_400, queue=QUEUE, lanes=[LANE], destinations=[DESTINATION],
    cache=views.CacheView(1, 2, 3, 4), writer=views.WriterView(5120, 1.0, 2.1, 1.5, 0),
    delivery=views.DeliveryView(True, 0, 5, 1),
    errors=[views.ErrorSeen("http_503", "hermes", "2026-03-02T09:00:00Z")],
    notices=["the outbox was salvaged"], database_bytes=1, wal_bytes=4 * 2**20,
    drop=DropBox(waiting=5, bad=2),
)  # fmt: skip
LETTER = views.Letter(
    id="7", session="s", host="h", workspace="w", kind="message", peer="ann", code="rejected_422", attempts=1,
    created_at="c", died_at="d", size=812, message_id="m1", part=1,
)  # fmt: skip


def lines(*blocks: Block) -> list[list[str]]:
    return [line.split("\t") for line in plain(blocks)]


def test_the_status_names_what_an_operator_looks_for() -> None:
    shown = lines(*status_blocks(STATUS))
    assert ["pending", "12, oldest 3.2s, 18.0 MiB"] in shown
    assert ["dead letters", "1"] in shown
    assert ["worker", "paused"] in shown
    assert ["the outbox was salvaged"] in shown
    assert ["drop box", "5 waiting, 2 bad"] in shown
    assert [
        "hermes",
        "http://h",
        "w",
        "file",
        "unreachable",
        "half_open",
        "1m 10s",
        "5",
        "-",
        "http_503",
    ] in shown
    assert ["hermes", "chat-7f3a", "9", "4.0s", "2", "http_503", "uncertain, host removed"] in shown
    assert ["http_503", "hermes", "2026-03-02T09:00:00Z"] in shown


def test_a_lane_in_flight_is_not_due() -> None:
    status = msgspec.structs.replace(STATUS, lanes=[msgspec.structs.replace(LANE, in_flight=3)])
    assert any("in flight" in line for line in lines(*status_blocks(status)))


def test_every_state_of_a_destination_has_a_tone() -> None:
    states = [*views.DestinationState.__args__, "closed", "open", "half_open"]  # type: ignore[attr-defined]
    assert set(states) <= set(TONES)


def test_a_page_that_is_not_the_last_says_how_to_go_on() -> None:
    assert ["next page", "--cursor 7"] in lines(*page_blocks(views.LetterPage([LETTER], "7", 9)))
    assert not any(
        line[0] == "next page" for line in lines(*page_blocks(views.LetterPage([LETTER], None, 1)))
    )


def test_a_letter_is_shown_with_its_attempts_and_never_with_content() -> None:
    detail = views.LetterDetail(
        **msgspec.structs.asdict(LETTER), history=[views.Attempt("t", "rejected", 422, 31)], content="secret"
    )
    shown = lines(*letter_blocks(detail))
    assert ["code", "rejected_422"] in shown
    assert ["t", "rejected", "422", "31 ms"] in shown
    assert not any("secret" in cell for line in shown for cell in line)


def test_a_probe_tells_what_is_wrong_and_how_to_mend_it() -> None:
    probe = views.Check(
        "api", ok=False, code="http_401", latency_ms=12.34, detail="set the key", host="hermes"
    )
    shown = lines(checks_block(views.Checks(False, [probe])))
    assert shown[1] == ["api", "hermes", "http_401", "12.3 ms", "set the key"]


def test_an_answer_of_another_version_is_read_as_far_as_it_goes() -> None:
    assert read({"drained": True, "remaining": 0, "new": 1}, views.Drained) == views.Drained(True, 0)
    with pytest.raises(BadAnswer, match="remaining"):
        read({"drained": True}, views.Drained)
