from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from identity_hosts import Said, host_with

from honchod.errors import NoIdentity
from honchod.identity.choices import Author
from honchod.identity.host import PeerFlags
from honchod.identity.modes import Side, SkipReason
from honchod.identity.names import clean, is_valid
from honchod.identity.peers import PeerChoice, Skip, flags_for, resolve_peer

OWNER = {"peerName": "owner"}
MAPPED = {**OWNER, "authorPeers": {"cron": "cron jobs"}, "userPeerAliases": {"111": "alice"}}
AUTHOR = Skip(SkipReason.AUTHOR)


def peer_of(keys: dict[str, Any], message: Said, *, group: bool = False) -> str:
    choice = resolve_peer(host_with(**keys), message, group=group)
    assert isinstance(choice, PeerChoice)
    return choice.peer


def skip_of(keys: dict[str, Any], message: Said, *, group: bool = False) -> Skip:
    choice = resolve_peer(host_with(**keys), message, group=group)
    assert isinstance(choice, Skip)
    return choice


@pytest.mark.parametrize(
    ("keys", "message", "peer"),
    [
        (OWNER, Said(), "owner"),
        ({"peerName": "o.w"}, Said(), clean("o.w")),
        (OWNER, Said(peer="guest"), "guest"),
        (OWNER, Said(peer="g.uest", runtime_user="1"), clean("g.uest")),
        (OWNER, Said(runtime_user="222"), "222"),
        (OWNER, Said(runtime_user="@b:server"), clean("@b:server")),
        (OWNER, Said(runtime_user=""), "owner"),
        (OWNER, Said(runtime_user_alt="bob"), "bob"),
        (OWNER, Said(runtime_user="222", runtime_user_alt="bob"), "222"),
        ({}, Said(runtime_user="222"), "222"),
        ({**OWNER, "runtimePeerPrefix": "tg_"}, Said(runtime_user="222"), "tg_222"),
        ({**OWNER, "runtimePeerPrefix": "tg:"}, Said(runtime_user="222"), clean("tg:222")),
        ({**OWNER, "userPeerAliases": {"111": "alice"}}, Said(runtime_user="111"), "alice"),
        ({**OWNER, "userPeerAliases": {"111": "a l"}}, Said(runtime_user="111"), clean("a l")),
        (
            {**OWNER, "userPeerAliases": {"al": "alice"}},
            Said(runtime_user="1", runtime_user_alt="al"),
            "alice",
        ),
        (
            {**OWNER, "userPeerAliases": {"1": "one", "al": "alice"}},
            Said(runtime_user="1", runtime_user_alt="al"),
            "one",
        ),
        (
            {**OWNER, "userPeerAliases": {"1": "one"}, "runtimePeerPrefix": "tg_"},
            Said(runtime_user="1"),
            "one",
        ),
        ({**OWNER, "pinUserPeer": True, "userPeerAliases": {"1": "one"}}, Said(runtime_user="1"), "owner"),
        ({"pinUserPeer": True}, Said(runtime_user="1"), "1"),
        ({**OWNER, "pinUserPeer": True}, Said(peer="guest"), "guest"),
    ],
)
def test_a_persons_message_lands_on_the_first_peer_that_applies(
    keys: dict[str, Any], message: Said, peer: str
) -> None:
    assert peer_of(keys, message) == peer


def test_users_of_a_gateway_are_told_apart() -> None:
    """Case C30."""
    keys = {**OWNER, "pinUserPeer": False, "userPeerAliases": {"111": "alice"}}
    assert [peer_of(keys, Said(runtime_user=user)) for user in ("111", "222")] == ["alice", "222"]


@pytest.mark.parametrize("keys", [{}, {"pinUserPeer": True}, {"runtimePeerPrefix": "tg_"}])
def test_without_any_identity_no_peer_is_made_up(keys: dict[str, Any]) -> None:
    """Case C31."""
    with pytest.raises(NoIdentity):
        resolve_peer(host_with(**keys), Said(), group=False)


@pytest.mark.parametrize("keys", [{}, OWNER, {**OWNER, "pinUserPeer": True}])
def test_an_unknown_sender_in_a_group_is_never_the_owner(keys: dict[str, Any]) -> None:
    """Case C29."""
    assert peer_of(keys, Said(), group=True) == "unknown"


def test_two_senders_in_a_group_are_two_peers() -> None:
    """Case C29."""
    peers = {peer_of(OWNER, Said(runtime_user=user), group=True) for user in ("1", "2")}
    assert len(peers) == 2
    assert "owner" not in peers


@pytest.mark.parametrize("name", ["owner", "alice", "h", "unknown"])
def test_nobody_in_a_group_becomes_somebody_else_by_taking_his_name(name: str) -> None:
    assert peer_of(MAPPED, Said(runtime_user=name), group=True).startswith(f"{name}-")


@pytest.mark.parametrize(
    "author", [author for author in Author if author not in (Author.HUMAN, Author.ASSISTANT)]
)
def test_an_unmapped_author_is_skipped_in_any_role(author: Author) -> None:
    """Cases C04, C05 and C09."""
    for role in ("user", "assistant"):
        assert skip_of(OWNER, Said(role=role, author=author)) == AUTHOR
        assert skip_of(OWNER, Said(role=role, author=author, peer="own", runtime_user="1")) == AUTHOR


def test_a_mapped_author_lands_on_its_own_peer() -> None:
    """Case C04."""
    assert peer_of(MAPPED, Said(author="cron")) == clean("cron jobs")
    assert peer_of(MAPPED, Said(author="cron", peer="nightly")) == "nightly"


@pytest.mark.parametrize(
    "message",
    [
        Said(author="cron", peer="owner"),
        Said(author="cron", peer="alice"),
        Said(author="cron", peer="222", runtime_user="222"),
        Said(role="assistant", peer="owner"),
        Said(role="assistant", peer="alice"),
        Said(role="user", author="assistant", peer="owner"),
        Said(role="assistant", author="human", peer="owner"),
    ],
)
def test_what_no_person_wrote_never_lands_on_a_persons_peer(message: Said) -> None:
    assert skip_of(MAPPED, message) == AUTHOR


@pytest.mark.parametrize(
    "message",
    [
        Said(role="assistant"),
        Said(role="assistant", author="assistant"),
        Said(role="assistant", author="human"),
        Said(role="user", author="assistant"),
        Said(role="assistant", runtime_user="222"),
    ],
)
def test_a_bot_is_the_ai_peer_whatever_its_role(message: Said) -> None:
    assert peer_of({**OWNER, "aiPeer": "bot"}, message, group=True) == "bot"


def test_without_a_name_of_its_own_the_ai_peer_is_the_host() -> None:
    assert peer_of({}, Said(role="assistant")) == "h"


def test_modes_skip_before_anybody_is_looked_for() -> None:
    assert skip_of({"saveMessages": False}, Said()) == Skip(SkipReason.CAPTURE_OFF)
    assert skip_of({"userMemoryMode": "local"}, Said()) == Skip(SkipReason.MODE_LOCAL)


def test_a_choice_names_side_and_author() -> None:
    host = host_with(**MAPPED)
    assert resolve_peer(host, Said(), group=False) == PeerChoice("owner", Side.USER, Author.HUMAN)
    assert resolve_peer(host, Said("assistant"), group=False) == PeerChoice("h", Side.AI, Author.ASSISTANT)
    assert resolve_peer(host, Said(author="cron"), group=False) == PeerChoice(
        clean("cron jobs"), Side.OTHER, Author.CRON
    )


def test_each_peer_joins_with_the_flags_of_its_side() -> None:
    host = host_with(**MAPPED, observationMode="unified")
    assert flags_for(host, "owner") == flags_for(host, "222") == PeerFlags(True, False)
    assert flags_for(host, "h") == PeerFlags(False, True)
    assert flags_for(host, clean("cron jobs")) == PeerFlags(False, False)


MAPPED_HOSTS = {pin: host_with(**MAPPED, pinUserPeer=pin) for pin in (True, False)}
OWNERS_HOST = host_with(**OWNER)
names = st.none() | st.sampled_from(["owner", "alice", "111", "222", "h", "", "unknown", "a.b"])
messages = st.builds(
    Said,
    role=st.sampled_from(["user", "assistant"]),
    author=st.none() | st.sampled_from([author.value for author in Author]),
    peer=names,
    runtime_user=names,
    runtime_user_alt=names,
)


@given(messages, st.booleans(), st.booleans())
def test_only_a_person_ever_lands_on_a_persons_peer(message: Said, group: bool, pin: bool) -> None:
    choice = resolve_peer(MAPPED_HOSTS[pin], message, group=group)
    if isinstance(choice, PeerChoice):
        assert is_valid(choice.peer)
        if choice.peer in {"owner", "alice"}:
            assert choice.author is Author.HUMAN
            assert message.role == "user"


@given(messages.filter(lambda message: not message.peer), st.text(min_size=1, max_size=20))
def test_a_stranger_in_a_group_never_lands_on_the_owner(message: Said, stranger: str) -> None:
    message = Said(message.role, message.author, None, stranger, message.runtime_user_alt)
    choice = resolve_peer(OWNERS_HOST, message, group=True)
    assert isinstance(choice, Skip) or choice.peer != "owner"
