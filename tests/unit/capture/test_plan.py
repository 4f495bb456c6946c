"""What becomes of the messages of a request: of many together the same as of each alone."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_corpus import INNOCENT, PLANTED, random_text
from test_noise import METADATA, NOISE

from honchod.capture.naming import NameRedactor
from honchod.capture.own_patterns import OwnPattern
from honchod.capture.plan import Desk, Planned
from honchod.capture.redact import Redactor
from honchod.capture.requests import IncomingMessage, WriteItem
from honchod.errors import HonchodError, NoIdentity, RedactionFailed, Unprocessable
from honchod.identity import config
from honchod.outbox.values import NewEvent

TOKEN = "gh" + "p_" + random_text("plan", 36)
NOW_MS = 1_772_442_000_000


def desk(redactor: Redactor | None = None, host: str = "hermes", **keys: Any) -> Desk:
    document = {"hosts": {host: {"peerName": "owner", **keys}}}
    hosts = config.parse(document, {}, read_key=str, credential=None)
    redactor = redactor or Redactor()
    return Desk(hosts[host], redactor, NameRedactor(redactor, b"salt"))


def planned(
    one: IncomingMessage, *others: IncomingMessage, at: Desk | None = None, group: bool = False
) -> list[Planned]:
    return (at or desk()).plan([one, *others], group=group, now_ms=NOW_MS)


def event_of(message: IncomingMessage, at: Desk | None = None) -> NewEvent:
    (event,) = planned(message, at=at)
    assert isinstance(event, NewEvent)
    return event


CONTENTS = st.sampled_from(
    [
        *("I moved to Lisbon.", "", "a\0b", "<memory-context>old</memory-context> new", "x <|endoftext|> y"),
        *("word " * 6_000, "-p", "a\ud800b", f"see {TOKEN}", "mysql -u root ", "my password is"),
        *(planned.text for planned in PLANTED[::7]),
        *INNOCENT[::5],
        *(text for texts in NOISE.values() for text in texts[:3]),
        *(text for _, text, _ in METADATA),
    ]
)
MESSAGES = st.builds(
    IncomingMessage,
    content=CONTENTS,
    role=st.sampled_from(["user", "assistant"]),
    id=st.sampled_from(["m-1", "m2", f"id {TOKEN}", "password=swordfish", "-p", "a\nb"]),
    created_at=st.sampled_from([None, "2026-03-02T09:00:00Z"]),
    author=st.sampled_from([None, "human", "assistant", "cron", "tool", "import"]),
    peer=st.sampled_from([None, None, "guest", f"peer {TOKEN}"]),
    runtime_user=st.sampled_from([None, None, "222"]),
    metadata=st.sampled_from([None, {}, {"n": 1}, {"api_key": "abc", "note": TOKEN}, {"a\0": ["b\ud800"]}]),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(MESSAGES, min_size=1, max_size=6),
    st.sampled_from(["hermes", "openclaw", "shell"]),
    st.booleans(),
    st.sampled_from([None, Redactor([OwnPattern(r"Lisbon|m\d", "capture.patterns[0]")])]),
)
def test_many_messages_are_planned_as_each_alone(
    messages: list[IncomingMessage], host: str, group: bool, redactor: Redactor | None
) -> None:
    here = desk(redactor, host)
    together = planned(*messages, at=here, group=group)
    if here.is_easy(messages):
        assert here.plan(messages, group=group, now_ms=NOW_MS, easy=True) == together
    assert together == [planned(one, at=desk(redactor, host), group=group)[0] for one in messages]
    assert TOKEN not in repr([one for one in together if isinstance(one, NewEvent)])


@pytest.mark.parametrize(
    "message",
    [
        IncomingMessage(f"see {TOKEN}", id="m"),
        IncomingMessage("<memory-context>old</memory-context> new", id="m"),
        IncomingMessage("word " * 6_000, id="m"),
        IncomingMessage("I moved to Lisbon.", id="m", metadata={"note": TOKEN}),
    ],
)
def test_what_takes_work_is_not_easy(message: IncomingMessage) -> None:
    plain = IncomingMessage("I moved to Lisbon.", id="m", metadata={})
    assert desk().is_easy([plain, plain])
    assert not desk().is_easy([plain, message])


def test_a_secret_that_shows_once_something_is_taken_out_is_hidden() -> None:
    message = IncomingMessage("my pa\0ssword is swordfish7", id="m")
    here = desk()
    assert here.is_easy([message])
    for easy in (False, True):
        (event,) = here.plan([message], group=False, now_ms=NOW_MS, easy=easy)
        assert isinstance(event, NewEvent)
        assert "swordfish" not in "".join(event.pieces)


def test_a_message_becomes_an_event() -> None:
    event = event_of(IncomingMessage("I moved to Lisbon.", id="m-1", metadata={"n": 1}))
    assert event == NewEvent(
        message_id="m-1",
        pieces=("I moved to Lisbon.",),
        peer="owner",
        role="user",
        author="human",
        created_at_ms=NOW_MS,
        digest=hashlib.sha256(b"I moved to Lisbon.\0").digest(),
        metadata='{"n":1}',
    )


def test_the_digest_is_that_of_every_piece_for_ever() -> None:
    """Digests stand in databases: a message that comes again is known by its own."""
    event = event_of(IncomingMessage("word é " * 5_000, id="m-1"))
    assert len(event.pieces) > 1
    parts = hashlib.sha256()
    for piece in event.pieces:
        parts.update(piece.encode() + b"\0")
    assert event.digest == parts.digest()
    one = event_of(IncomingMessage("I moved to Lisbon.", id="m-1"))
    assert one.digest.hex() == "4331177bc5920b5fd84865271e4ca1865b03d6fb249cd0da74dbf224f112ace8"


def test_a_message_without_an_id_gets_one_of_its_own() -> None:
    one, other = planned(IncomingMessage("a"), IncomingMessage("a"))
    assert isinstance(one, NewEvent)
    assert isinstance(other, NewEvent)
    assert one.fresh_id
    assert one.message_id != other.message_id


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (IncomingMessage(" ", id="m"), "empty"),
        (IncomingMessage("HEARTBEAT_OK", id="m"), "noise"),
        (IncomingMessage("a", id="m", author="cron"), "author"),
    ],
)
def test_a_message_that_is_not_stored_is_answered_under_its_id(message: IncomingMessage, reason: str) -> None:
    assert planned(message) == [WriteItem("m", "skipped", reason=reason)]  # type: ignore[arg-type]


def test_who_speaks_is_told_apart_by_all_that_says_so() -> None:
    """What is remembered of one message holds for none that differs."""
    here = desk(authorPeers={"cron": "jobs"})
    said = [
        IncomingMessage("a", id="m", role=role, author=author, runtime_user=user)
        for role in ("user", "assistant")
        for author in (None, "human", "cron")
        for user in (None, "222")
    ]
    for group in (False, True, False):
        for message in said:
            alone = planned(message, at=desk(authorPeers={"cron": "jobs"}), group=group)
            assert planned(message, at=here, group=group) == alone


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (IncomingMessage("a", metadata={"honchod_x": 1}), Unprocessable),
        (IncomingMessage("a" * 1000), RedactionFailed),
    ],
)
def test_one_bad_message_fails_the_request(message: IncomingMessage, error: type[HonchodError]) -> None:
    feeds_on_itself = OwnPattern(r"(?P<secret>\w)(?=\[redacted:|$)", "capture.patterns[0]")
    with pytest.raises(error):
        planned(IncomingMessage("b."), message, at=desk(Redactor([feeds_on_itself])))


def test_a_person_that_nobody_knows_is_asked_for_again_and_again() -> None:
    here = desk(peerName=None)
    for _ in range(2):
        with pytest.raises(NoIdentity):
            planned(IncomingMessage("a"), at=here)


class Broken(Redactor):
    """Fails when it is asked about many at once."""

    def is_clean(self, text: str) -> bool:
        raise ValueError(f"cannot handle {text}")


def test_a_redactor_that_cannot_tell_fails_closed() -> None:
    with pytest.raises(RedactionFailed) as failed:
        planned(IncomingMessage("hush"), IncomingMessage("hush"), at=desk(Broken()))
    assert "hush" not in str(failed.value)
    with pytest.raises(RedactionFailed):
        NameRedactor(Broken(), b"salt").are_clean(["hush", "hush"])


def test_an_event_is_a_plain_value() -> None:
    event = event_of(IncomingMessage("a", id="m", author="human"))
    assert type(event.author) is str
    assert msgspec.json.encode(event.author) == b'"human"'
