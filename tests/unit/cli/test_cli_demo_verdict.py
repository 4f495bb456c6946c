"""Whether Honcho ended up with what was said."""

from __future__ import annotations

from honchod.cli.demo.conversation import CONVERSATION
from honchod.cli.demo.verdict import judge

SAID = CONVERSATION[:4]
STORED = [(line.id, line.text) for line in SAID]


def test_every_message_once_and_in_order_is_kept() -> None:
    assert judge(SAID, STORED).kept


def test_a_missing_message_is_lost() -> None:
    verdict = judge(SAID, STORED[:2] + STORED[3:])
    assert verdict.lost == (SAID[2].id,)
    assert verdict.in_order
    assert not verdict.kept


def test_a_message_that_is_there_twice_is_duplicated() -> None:
    verdict = judge(SAID, [*STORED, STORED[1]])
    assert verdict.duplicated == (SAID[1].id,)
    assert verdict.in_order
    assert not verdict.kept


def test_exchanged_messages_are_out_of_order() -> None:
    verdict = judge(SAID, [STORED[1], STORED[0], *STORED[2:]])
    assert not verdict.in_order
    assert not verdict.kept


def test_another_text_or_a_message_nobody_said_is_a_change() -> None:
    assert not judge(SAID, [(SAID[0].id, "other"), *STORED[1:]]).kept
    assert not judge(SAID, [*STORED, ("stranger", "hello")]).unchanged


def test_the_conversation_has_unique_ids_and_two_speakers() -> None:
    assert len({line.id for line in CONVERSATION}) == len(CONVERSATION)
    assert {line.role for line in CONVERSATION} == {"user", "assistant"}
