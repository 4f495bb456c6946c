from __future__ import annotations

from honchod.sandbox import Conclusion, PeerConfig, Session, StoredMessage
from honchod.sandbox.derive import Deriver, observers_of
from honchod.sandbox.dialectic import answer, as_events
from honchod.sandbox.model import Scope, Workspace
from honchod.sandbox.ranking import nearest
from honchod.sandbox.recall import Wanted, as_markdown, newest_messages, pick_summary, select
from honchod.sandbox.store import (
    HeldConclusion,
    Membership,
    ScopeState,
    SessionState,
    Store,
    WorkspaceState,
)

AT = "2026-03-02T09:00:00Z"


def workspace() -> WorkspaceState:
    state = WorkspaceState(Workspace("w", {}, {}, AT))
    state.sessions["s"] = SessionState(Session("s", True, "w", {}, {}, AT), "uid")
    return state


def said(number: int, content: str, tokens: int = 1) -> StoredMessage:
    return StoredMessage(f"m{number}", content, "al", "s", {}, AT, "w", tokens)


def hold(state: WorkspaceState, number: int, content: str, session: str | None = "s") -> None:
    row = Conclusion(f"c{number}", content, "al", "al", session, "explicit", AT)
    state.add_conclusion(HeldConclusion(row, f"2026-03-02T09:00:{number:02}Z"))


def test_nearest_ranks_by_shared_words_and_keeps_the_order_of_equals() -> None:
    rows = ["green tea", "black coffee", "tea and coffee", "nothing"]
    assert nearest(rows, "Tea, coffee!", str, limit=3) == ["tea and coffee", "green tea", "black coffee"]
    assert nearest(rows, "tea", str, limit=9, max_distance=0.5) == ["green tea", "tea and coffee"]


def test_a_query_brings_old_conclusions_next_to_the_newest() -> None:
    state = workspace()
    for number in range(9):
        hold(state, number, "I like tea" if number == 0 else f"fact {number}")
    found = select(state, Wanted("al", "al", query="tea", top_k=1, limit=3))
    assert [one.row.content for one in found] == ["I like tea", "fact 7", "fact 8"]
    newest = select(state, Wanted("al", "al", limit=2))
    assert [one.row.content for one in newest] == ["fact 7", "fact 8"]


def test_only_the_allowed_sessions_count_and_none_is_nothing() -> None:
    state = workspace()
    hold(state, 1, "here")
    hold(state, 2, "elsewhere", session="t")
    hold(state, 3, "nowhere", session=None)
    assert [one.row.content for one in select(state, Wanted("al", "al", sessions=["s"]))] == ["here"]
    assert select(state, Wanted("al", "al", sessions=[])) == []


def test_a_representation_is_markdown_with_times() -> None:
    state = workspace()
    hold(state, 1, "al said: hi")
    text = as_markdown(select(state, Wanted("al", "al")))
    assert text == "## Explicit Observations\n\n[2026-03-02 09:00:01] al said: hi\n"
    assert as_markdown([]) == ""


def test_messages_fill_the_budget_from_the_newest() -> None:
    session = workspace().sessions["s"]
    session.append([said(n, "x", tokens=4) for n in range(5)], set())
    assert [message.id for message in newest_messages(session, None, 9)] == ["m3", "m4"]
    assert newest_messages(session, None, 0) == []


def test_the_longest_summary_that_fits_is_picked() -> None:
    state, deriver = workspace(), Deriver(0.0)
    store = Store({"w": state})
    session = state.sessions["s"]
    messages = [said(n, f"message {n}") for n in range(60)]
    session.append(messages, set())
    deriver.queue_messages(state, session, messages, 0.0, fails=False)
    deriver.settle(store, 0.0)
    short, long = session.short_summary, session.long_summary
    assert short is not None
    assert long is not None
    assert (short.message_id, long.message_id) == ("m59", "m59")
    assert pick_summary(session, 100_000) is not None
    assert pick_summary(session, 10) is None


def test_observers_are_the_speaker_the_watchers_and_the_scopes() -> None:
    state = workspace()
    session = state.sessions["s"]
    session.members["al"] = Membership(PeerConfig())
    session.members["bo"] = Membership(PeerConfig(observe_others=True))
    session.members["cy"] = Membership(PeerConfig(observe_others=True), active=False)
    state.scopes["a0"] = ScopeState(Scope("a0", {}, AT), {"s": None})
    state.scopes["a1"] = ScopeState(Scope("a1", {}, AT))
    assert list(observers_of(state, session, "al")) == ["al", "bo", "scope.a0"]
    session.members["al"] = Membership(PeerConfig(observe_me=False))
    assert list(observers_of(state, session, "al")) == []


def test_work_is_done_when_it_is_due_and_not_before() -> None:
    state, deriver = workspace(), Deriver(10.0)
    store = Store({"w": state})
    session = state.sessions["s"]
    session.append([said(1, "hi")], set())
    deriver.queue_messages(state, session, [said(1, "hi")], 100.0, fails=False)
    deriver.settle(store, 109.0)
    assert (deriver.units("w")[0].done, len(state.conclusions)) == (False, 0)
    deriver.settle(store, 110.0)
    assert (deriver.units("w")[0].done, len(state.conclusions)) == (True, 1)
    (held,) = state.conclusions.values()
    assert held.row.created_at == "1970-01-01T00:01:50Z"


def test_a_session_that_left_its_scope_is_not_copied_into_it() -> None:
    state, deriver = workspace(), Deriver(10.0)
    hold(state, 1, "al said: hi")
    state.scopes["a0"] = ScopeState(Scope("a0", {}, AT))
    deriver.queue_backfill("w", "a0", "s", 100.0)
    deriver.settle(Store({"w": state}), 200.0)
    assert [held.row.observer_id for held in state.conclusions.values()] == ["al"]


def test_chat_answers_from_card_and_conclusions_or_admits_to_know_nothing() -> None:
    state = workspace()
    hold(state, 1, "al said: I live in Lisbon")
    hold(state, 2, "al said: rain is fine")
    known = select(state, Wanted("al", "al"))
    assert answer("Lisbon?", "al", None, known) == "What I know about al: al said: I live in Lisbon"
    assert answer("Name?", "al", ["Name: Al"], known) == "What I know about al: Name: Al"
    assert answer("xyz", "al", None, known).endswith("al said: I live in Lisbon; al said: rain is fine")
    assert answer("x", "al", None, []) == "I don't know anything about al yet."


def test_a_stream_is_a_word_an_event_and_a_closing_one() -> None:
    events = as_events("two words").decode().split("\n\n")
    assert events == [
        'data: {"delta": {"content": "two "}, "done": false}',
        'data: {"delta": {"content": "words"}, "done": false}',
        'data: {"done": true}',
        "",
    ]
