"""The official SDK against the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest
from honcho import Honcho
from honcho.api_types import MessageCreateParams, SessionPeerConfig
from honcho.http.exceptions import AuthenticationError, HonchoError, UnprocessableEntityError
from sandbox_client import wait_until

from honchod.sandbox import Behaviour, PeerConfig, SandboxHandle, running_sandbox


@pytest.fixture
def honcho(sandbox: SandboxHandle) -> Iterator[Honcho]:
    with httpx.Client() as http_client:
        yield Honcho(
            api_key="key", base_url=sandbox.url, workspace_id="w", max_retries=0, http_client=http_client
        )


def said(peer: str, content: str, **metadata: object) -> MessageCreateParams:
    return MessageCreateParams(peer_id=peer, content=content, metadata=metadata)


def test_session_with_flags_and_scopes_then_a_batch(sandbox: SandboxHandle, honcho: Honcho) -> None:
    flags = SessionPeerConfig(observe_me=True, observe_others=False)
    watching = SessionPeerConfig(observe_me=False, observe_others=True)
    session = honcho.session("s", peers=[("al", flags), ("bot", watching)], scopes=["a0"])
    stored = session.add_messages([said("al", "I moved to Lisbon.", n=1), said("bot", "Noted.", n=2)])
    assert [message.content for message in stored] == ["I moved to Lisbon.", "Noted."]
    assert sandbox.members("w", "s") == {"al": PeerConfig(True, False), "bot": PeerConfig(False, True)}
    assert sandbox.scope_sessions("w", "a0") == ["s"]
    assert {peer.id for peer in session.peers()} == {"al", "bot"}
    assert session.get_peer_configuration("bot") == watching


def test_listing_with_a_metadata_filter_pages_in_storage_order(honcho: Honcho) -> None:
    session = honcho.session("s")
    session.add_messages([said("al", f"m{n}", honchod_id=f"id-{n}") for n in range(30)])
    wanted: dict[str, object] = {"metadata": {"honchod_id": {"in": [f"id-{n}" for n in range(5, 12)]}}}
    found = list(session.messages(filters=wanted, size=3))
    assert [message.content for message in found] == [f"m{n}" for n in range(5, 12)]
    newest = session.messages(size=2, reverse=True)
    assert [message.content for message in newest.items] == ["m29", "m28"]


def test_context_representation_and_chat_tell_what_was_said(honcho: Honcho) -> None:
    session = honcho.session("s", peers=[("al", SessionPeerConfig(observe_me=True))])
    al = honcho.peer("al")
    session.add_messages([said("al", "I live in Lisbon"), said("al", "I like green tea")])
    al.set_card(["Name: Al"])
    context = session.context(peer_target="al", search_query="where do you live", search_top_k=1)
    assert [message.content for message in context.messages] == ["I live in Lisbon", "I like green tea"]
    assert context.peer_representation is not None
    assert "al said: I live in Lisbon" in context.peer_representation
    assert context.peer_card == ["Name: Al"]
    assert al.representation().count("al said: ") == 2
    assert al.context().peer_card == ["Name: Al"]
    assert al.chat("green tea?") == "What I know about al: al said: I like green tea"
    assert "".join(al.chat_stream("green tea?")) == al.chat("green tea?")


def test_a_summary_comes_with_the_twentieth_message_and_shortens_the_context(honcho: Honcho) -> None:
    session = honcho.session("s")
    session.add_messages([said("al", f"message {n}") for n in range(1, 26)])
    context = session.context()
    assert context.summary is not None
    assert context.summary.content.startswith("20 messages between al.")
    assert [message.content for message in context.messages] == [f"message {n}" for n in range(20, 26)]
    short = session.summaries().short_summary
    assert short is not None
    assert short.message_id == context.messages[0].id
    assert len(session.context(summary=False).messages) == 25


def test_context_keeps_to_its_tokens_and_drops_the_oldest(honcho: Honcho) -> None:
    session = honcho.session("s")
    session.add_messages([said("al", "x" * 40) for _ in range(3)] + [said("al", "newest")])
    assert [m.content for m in session.context(tokens=12).messages] == ["x" * 40, "newest"]


def test_the_representation_counts_against_the_tokens(honcho: Honcho) -> None:
    session = honcho.session("s")
    session.add_messages([said("al", "x" * 40), said("al", "y" * 40)])
    assert len(session.context(tokens=30).messages) == 2
    assert session.context(tokens=30, peer_target="al").messages == []


def test_conclusions_are_made_listed_queried_and_deleted(honcho: Honcho) -> None:
    honcho.session("s", peers=["bot", "al"])
    view = honcho.peer("bot").conclusions_of("al")
    made = view.create([{"content": "likes tea", "session_id": "s"}, {"content": "lives in Lisbon"}])
    assert [one.content for one in view.list()] == ["likes tea", "lives in Lisbon"]
    assert view.query("tea", top_k=1)[0].content == "likes tea"
    view.delete(made[0].id)
    assert [one.content for one in view.list()] == ["lives in Lisbon"]
    assert "lives in Lisbon" in view.representation()


def test_scope_membership_filters_recall(honcho: Honcho) -> None:
    inside, outside = honcho.session("inside", scopes=["therapy"]), honcho.session("outside")
    inside.add_messages([said("al", "inside")])
    outside.add_messages([said("al", "outside")])
    al = honcho.peer("al")
    assert "outside" not in al.representation(scope="therapy")
    assert "al said: inside" in al.representation(scope="therapy")
    assert "outside" not in al.representation(scope=["therapy"])
    assert "al said: outside" in (al.chat("outside?") or "")
    assert "al said: outside" not in (al.chat("outside?", scope="therapy") or "")
    assert [message.content for message in honcho.search("side", scope="therapy")] == ["inside"]
    only_this = outside.context(peer_target="al", sessions=["outside"]).peer_representation or ""
    assert "al said: outside" in only_this
    assert "inside" not in only_this


def test_a_session_that_joins_a_scope_late_is_copied_into_it(honcho: Honcho) -> None:
    session = honcho.session("s")
    session.add_messages([said("al", "early")])
    scope = honcho.scope("late")
    scope.add_sessions([session])
    job = scope.status()["s"]
    assert (job.state, job.docs_copied) == ("completed", 1)
    assert "early" in honcho.peer("al").representation(scope="late")
    scope.remove_session(session)
    assert honcho.peer("al").representation(scope="late") == ""
    assert list(scope.sessions()) == []


def test_queue_status_counts_what_waits_and_what_is_done() -> None:
    behaviour = Behaviour(derive_delay_s=1.0)
    with running_sandbox(behaviour=behaviour) as sandbox, httpx.Client() as http_client:
        honcho = Honcho(
            api_key="key", base_url=sandbox.url, workspace_id="w", max_retries=0, http_client=http_client
        )
        session = honcho.session("s")
        session.add_messages([said("al", "a"), said("al", "b")])
        status = session.queue_status()
        assert (status.pending_work_units, status.completed_work_units) == (2, 0)
        assert honcho.peer("al").representation() == ""
        wait_until(lambda: session.queue_status().pending_work_units == 0)
        assert session.queue_status().completed_work_units == 2
        assert honcho.queue_status(observer="nobody").total_work_units == 0


def test_uploading_a_file_makes_messages_of_the_allowed_length(honcho: Honcho) -> None:
    session = honcho.session("s")
    text = ("x" * 25_000) + "rest"
    made = session.upload_file(("notes.txt", text.encode(), "text/plain"), "al", metadata={"kind": "file"})
    assert [len(message.content) for message in made] == [25_000, 4]
    assert made[0].metadata == {"kind": "file"}


def test_message_update_and_session_deletion(sandbox: SandboxHandle, honcho: Honcho) -> None:
    session = honcho.session("s", metadata={"a": 1})
    stored = session.add_messages([said("al", "hi", n=1)])
    assert session.update_message(stored[0], {"n": 2}).metadata == {"n": 2}
    assert session.get_message(stored[0].id).metadata == {"n": 2}
    session.delete()
    honcho.session("s")
    assert sandbox.messages("w", "s") == []
    assert sandbox.conclusions("w") == []
    assert [one.metadata for one in sandbox.sessions("w")] == [{}]


def test_dream_and_workspace_calls_are_accepted(honcho: Honcho) -> None:
    honcho.session("s", peers=["al"])
    honcho.schedule_dream("al")
    honcho.set_metadata({"team": "x"})
    assert honcho.get_metadata() == {"team": "x"}
    assert list(honcho.workspaces()) == ["w"]
    assert [peer.id for peer in honcho.peers()] == ["al"]
    assert [one.id for one in honcho.peer("al").sessions()] == ["s"]


def test_the_sdk_raises_its_own_errors(sandbox: SandboxHandle, honcho: Honcho) -> None:
    session = honcho.session("s")
    with pytest.raises(UnprocessableEntityError):
        session.add_messages([said("al", "<|endoftext|>")])
    with pytest.raises(HonchoError):
        session.add_messages([said("al", "<|fim_prefix|>")])
    sandbox.set_api_keys({"other": None})
    with pytest.raises(AuthenticationError):
        session.add_messages([said("al", "hi")])


def test_the_async_client_works_too(sandbox: SandboxHandle) -> None:
    async def talk() -> str | None:
        honcho = Honcho(api_key="key", base_url=sandbox.url, workspace_id="w", max_retries=0)
        try:
            session = await honcho.aio.session("s", peers=["al"])
            await session.aio.add_messages([said("al", "I like jazz")])
            return await (await honcho.aio.peer("al")).aio.chat("jazz?")
        finally:
            await honcho._async_http_client.close()

    assert asyncio.run(talk()) == "What I know about al: al said: I like jazz"
