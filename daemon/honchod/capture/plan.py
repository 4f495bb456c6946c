"""From the messages of a request to what becomes of them: who speaks, cleaned, redacted, cut.

Pure: nothing is stored here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from honchod.capture.limits import check_metadata, parse_created_at
from honchod.capture.naming import NameRedactor
from honchod.capture.pipeline import Dropped, Pipeline
from honchod.capture.redact import Redactor
from honchod.capture.requests import IncomingMessage, WriteItem
from honchod.identity.host import Host
from honchod.identity.peers import PeerChoice, Skip, resolve_peer
from honchod.ids import uuid7
from honchod.outbox.values import NewEvent

Planned = NewEvent | WriteItem
"""What becomes of a message: an event to store, or the answer where nothing is stored."""


class _Speaker(msgspec.Struct, frozen=True):
    """Whose a message is: the peer it lands on, and its author as settled."""

    peer: str
    author: str


class _Draft(msgspec.Struct, frozen=True):
    """A message that will be stored, before its secrets are hidden."""

    message: IncomingMessage
    speaker: _Speaker
    text: str
    created_at_ms: int


class Desk:
    """What the requests of one host are worked on with, the same whatever is reloaded meanwhile.

    May be used in several threads at once.
    """

    def __init__(self, host: Host, redactor: Redactor | None, names: NameRedactor) -> None:
        self._host = host
        self._names = names
        self._pipeline = Pipeline(host.name, redactor, host.modes.message_max_chars)
        self._usual: dict[tuple[str, str | None, bool], _Speaker | Skip] = {}

    def is_easy(self, messages: Sequence[IncomingMessage]) -> bool:
        """Whether they surely take little time for their length: there is nothing to hide, to cut or to
        unwrap. Raises `RedactionFailed`.
        """
        if any(message.metadata for message in messages):
            return False
        return self._pipeline.are_easy([message.content for message in messages])

    def plan(
        self, messages: Sequence[IncomingMessage], *, group: bool, now_ms: int, easy: bool = False
    ) -> list[Planned]:
        """What becomes of each of the messages, in their order. ``easy``: `is_easy` is known of them.

        Raises `NoIdentity`, `Unprocessable`, `BadRequest` and `RedactionFailed`.
        """
        drafts = [self._draft(message, group, now_ms) for message in messages]
        texts_clean = names_clean = False
        if easy or len(drafts) > 1:
            waiting = [draft for draft in drafts if isinstance(draft, _Draft)]
            # What was taken out of a text may have stood between the parts of a secret.
            as_said = easy and all(draft.text is draft.message.content for draft in waiting)
            texts_clean = as_said or self._pipeline.are_clean([draft.text for draft in waiting])
            names_clean = self._names.are_clean([draft.message.id or "" for draft in waiting])
        return [
            self._event(draft, texts_clean, names_clean) if isinstance(draft, _Draft) else draft
            for draft in drafts
        ]

    def _draft(self, message: IncomingMessage, group: bool, now_ms: int) -> _Draft | WriteItem:
        if message.metadata is not None:
            check_metadata(message.metadata)
        created_at_ms = now_ms if message.created_at is None else parse_created_at(message.created_at)
        speaker = self._speaker(message, group)
        if isinstance(speaker, Skip):
            return WriteItem(message.id or uuid7(), "skipped", reason=speaker.reason.value)
        text = self._pipeline.said(message.content, speaker.author)
        if isinstance(text, Dropped):
            return WriteItem(message.id or uuid7(), "skipped", reason=text.reason)
        return _Draft(message, speaker, text, created_at_ms)

    def _speaker(self, message: IncomingMessage, group: bool) -> _Speaker | Skip:
        """Whose the message is. Where it names nobody that depends on little, and is remembered."""
        if message.peer or message.runtime_user or message.runtime_user_alt:
            return _speaker(resolve_peer(self._host, self._without_secrets(message), group=group))
        key = (message.role, message.author, group)
        speaker = self._usual.get(key)
        if speaker is None:
            speaker = self._usual[key] = _speaker(resolve_peer(self._host, message, group=group))
        return speaker

    def _without_secrets(self, message: IncomingMessage) -> IncomingMessage:
        """The message with the secrets in its peer's names hidden."""
        named = (message.peer, message.runtime_user, message.runtime_user_alt)
        peer, runtime_user, runtime_user_alt = (name and self._names.hide(name) for name in named)
        return msgspec.structs.replace(
            message, peer=peer, runtime_user=runtime_user, runtime_user_alt=runtime_user_alt
        )

    def _event(self, draft: _Draft, text_clean: bool, name_clean: bool) -> NewEvent:
        message = draft.message
        pieces, metadata = self._pipeline.kept(draft.text, message.metadata, clean=text_clean)
        message_id = message.id
        if message_id is not None and not name_clean:
            message_id = self._names.hide_once(message_id)
        return NewEvent(
            message_id or uuid7(),
            pieces,
            draft.speaker.peer,
            message.role,
            draft.speaker.author,
            draft.created_at_ms,
            hashlib.sha256(("\0".join(pieces) + "\0").encode()).digest(),
            msgspec.json.encode(metadata).decode() if metadata else None,
            fresh_id=message_id is None,
        )


def _speaker(choice: PeerChoice | Skip) -> _Speaker | Skip:
    return _Speaker(choice.peer, choice.author.value) if isinstance(choice, PeerChoice) else choice
