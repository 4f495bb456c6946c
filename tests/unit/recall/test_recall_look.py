"""What a recall looks at: one key for each different answer, and never the same for two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from recall_hosts import host_with, place_of, route_of

from honchod.gateway.values import Sight
from honchod.identity.choices import Section
from honchod.identity.host import Host
from honchod.outbox.values import LaneKey
from honchod.recall import look
from honchod.recall.look import Asked, Look, lane_of, look_at, packed_tokens, sight_in, sight_of

ALL = frozenset(Section)
Q1, Q2 = Asked("where?", "digest1"), Asked("who?", "digest2")


def looked(host: Host | None = None, **more: Any) -> Look:
    host = host or host_with()
    given = {"target": "ann", "sections": ALL, "tokens": None, "asked": None, **more}
    place = place_of(host, given.pop("session", "s"), given.pop("scope", None))
    return look_at(place, given.pop("route", route_of(host)), **given)


def test_the_ai_peer_looks_at_the_user_where_it_observes_others() -> None:
    assert sight_of(host_with(), "ann", None) == Sight("bot", "ann")
    assert sight_of(host_with(), "ann", "a0-x") == Sight("bot", "ann", "a0-x")
    assert sight_of(host_with(), None, None) is None
    assert sight_of(host_with(), "bot", None) == Sight("bot", "bot")
    apart = {"user": {"observeMe": True}, "ai": {"observeOthers": False}}
    assert sight_of(host_with(observation=apart), "ann", None) == Sight("ann", "ann")


def test_each_thing_that_changes_the_answer_changes_the_key() -> None:
    """C45 among them: the same session id in two workspaces."""
    host = host_with()
    keys = {
        looked().view,
        looked(session="t").view,
        looked(target="eve").view,
        looked(scope="a0-x").view,
        looked(tokens=500).view,
        looked(host_with(workspace="w2")).view,
        looked(host_with(aiPeer="other")).view,
        looked(route=replace(route_of(host), destination="elsewhere")).view,
        looked(target=None).view,
        looked(asked=Q1).found,
        looked(asked=Q2).found,
        looked().own,
    }
    assert len(keys) == 12
    assert None not in keys


def test_the_base_does_not_depend_on_the_query() -> None:
    assert looked(asked=Q1).view == looked(asked=Q2).view == looked().view
    assert looked(asked=Q1).own == looked().own


def test_what_the_ai_knows_of_itself_does_not_depend_on_the_session() -> None:
    assert looked(session="t", tokens=99, scope="x").own == looked().own


def test_only_what_is_wanted_is_looked_at() -> None:
    assert looked(sections=frozenset({Section.AI_CARD})).keys == (looked().own,)
    assert looked(sections=frozenset({Section.SUMMARY}), asked=Q1).keys == (looked().view,)
    assert looked(sections=frozenset({Section.DIALECTIC}), asked=Q1).keys == ()
    unseen = {"ai": {"observeMe": False}}
    assert looked(host_with(observation=unseen)).own is None
    assert looked(target=None, asked=Q1).found is None


def test_a_query_goes_with_its_text_and_nothing_else_does() -> None:
    assert looked(asked=Q1).query == "where?"
    assert looked().query is None
    assert looked(asked=Q1, sections=frozenset({Section.USER_CARD})).query is None


def test_a_key_tells_its_sight() -> None:
    view = looked(scope="a0-x").view
    assert view is not None
    assert sight_in(view) == Sight("bot", "ann", "a0-x")
    nobody = looked(target=None).view
    assert nobody is not None
    assert sight_in(nobody) is None


def test_a_place_has_its_lane() -> None:
    assert lane_of(place_of(host_with(), "s")) == LaneKey("h", "w", "s")


@pytest.mark.parametrize(
    ("tokens", "packed"),
    [(0, look.PACKED_TOKENS), (1, 4_000), (1_000, 4_000), (2_000, 8_000), (100_000, 100_000)],
)
def test_the_server_may_pack_more_than_the_budget_and_never_more_than_it_can(
    tokens: int, packed: int
) -> None:
    assert packed_tokens(tokens) == packed
