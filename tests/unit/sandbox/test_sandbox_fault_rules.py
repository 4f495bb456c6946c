from __future__ import annotations

import pytest

from honchod.sandbox import Commit, Reply, Rule, SpecError, parse_faults
from honchod.sandbox.faults import FaultBook, Target, fits


def target(
    method: str = "POST",
    path: str = "/v3/workspaces/w/sessions/s/messages",
    workspace: str = "w",
    session: str = "s",
    content: str = "",
) -> Target:
    return Target(method, path, workspace, session, content)


def book(spec: str, now_s: float = 0.0) -> FaultBook:
    made = FaultBook()
    made.add(parse_faults(spec), now_s)
    return made


def hits(made: FaultBook, count: int, now_s: float = 0.0) -> list[bool]:
    return [made.pick(target(), now_s) is not None for _ in range(count)]


@pytest.mark.parametrize(
    ("what", "commit", "reply"),
    [
        ("status=503", Commit.NONE, Reply.STATUS),
        ("status-after-commit=502", Commit.NOW, Reply.STATUS),
        ("portal", Commit.NONE, Reply.STATUS),
        ("hang", Commit.NONE, Reply.HANG),
        ("hang-after-commit", Commit.NOW, Reply.HANG),
        ("cut-before-commit", Commit.NONE, Reply.CUT),
        ("cut-after-commit", Commit.NOW, Reply.CUT),
        ("partial", Commit.NOW, Reply.PARTIAL),
        ("commit-late=5", Commit.LATE, Reply.HANG),
        ("cut-commit-late=5", Commit.LATE, Reply.CUT),
        ("down=5", Commit.NONE, Reply.CUT),
        ("llm-down", Commit.NOW, Reply.REAL),
        ("delay=1", Commit.NOW, Reply.REAL),
    ],
)
def test_each_effect_is_a_commit_and_a_reply(what: str, commit: Commit, reply: Reply) -> None:
    (rule,) = parse_faults(f"*: {what}")
    assert (rule.commit, rule.reply) == (commit, reply)


def test_a_specification_is_read_word_by_word() -> None:
    spec = 'POST messages session=s content="a; b: c": status=503 retry-after=30 times=2; *: hang nth=3'
    first, second = parse_faults(spec)
    assert first == Rule(
        method="POST",
        path="messages",
        session="s",
        content="a; b: c",
        commit=Commit.NONE,
        reply=Reply.STATUS,
        status=503,
        headers={"Retry-After": "30"},
        times=2,
    )
    assert second == Rule(commit=Commit.NONE, reply=Reply.HANG, nth=3)


def test_nothing_is_no_rule() -> None:
    assert parse_faults("") == parse_faults(" ; ") == []


@pytest.mark.parametrize(
    "spec", ["hang", "*: sing", "*: status", "*: status=many", "*: p=2", "(: hang", "a: b: c", "*: hang=1"]
)
def test_what_cannot_be_read_is_an_error_that_says_so(spec: str) -> None:
    with pytest.raises(SpecError):
        parse_faults(spec)


@pytest.mark.parametrize(
    ("rule", "fitting"),
    [
        (Rule(), True),
        (Rule(method="GET"), False),
        (Rule(path="messages"), True),
        (Rule(path="essages"), False),
        (Rule(path="messages/list"), False),
        (Rule(path="sessions/.*/messages"), True),
        (Rule(path="sessions"), False),
        (Rule(workspace="w", session="s"), True),
        (Rule(workspace="v"), False),
        (Rule(session="t"), False),
        (Rule(content="needle"), True),
        (Rule(content="pin"), False),
    ],
)
def test_a_rule_fits_what_it_names(rule: Rule, fitting: bool) -> None:
    assert fits(rule, target(content="a needle here")) is fitting


def test_nth_hits_one_request() -> None:
    assert hits(book("*: hang nth=2"), 4) == [False, True, False, False]


def test_times_hits_the_first_requests() -> None:
    assert hits(book("*: hang times=2"), 4) == [True, True, False, False]


def test_a_chance_is_the_same_for_the_same_seed() -> None:
    first, again = hits(book("*: hang p=0.3 seed=1"), 200), hits(book("*: hang p=0.3 seed=1"), 200)
    assert first == again
    assert first != hits(book("*: hang p=0.3 seed=2"), 200)
    assert 30 < sum(first) < 90


def test_for_ends_with_its_time() -> None:
    made = book("*: hang for=10", now_s=100.0)
    assert hits(made, 1, now_s=109.0) == [True]
    assert hits(made, 1, now_s=111.0) == [False]


def test_the_first_rule_that_fires_wins_and_is_counted() -> None:
    made = book("*: status=500 times=1; *: status=503")
    statuses = [rule.status for _ in range(3) if (rule := made.pick(target(), 0.0)) is not None]
    assert statuses == [500, 503, 503]
    assert [fired for _, fired in made.fired()] == [1, 2]
    made.clear()
    assert made.pick(target(), 0.0) is None
