"""The blocking client against a real Unix socket that behaves and misbehaves."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripted_daemon import (
    ScriptedDaemon,
    accept_messages,
    accept_messages_and_go_deaf,
    answer,
    cut,
    head,
    problem,
    raw,
    refuse_unread,
    running_as_root,
    silent,
)

from honchod.client import (
    BadAnswer,
    Client,
    NoAnswer,
    NotAllowed,
    NotReachable,
    OutboxFull,
    TooLarge,
    WrittenMessage,
)
from support.waiting import wait_until

HELLO = [{"content": "hello", "id": "m1"}]
INFO = {"version": "1"}

FORKS = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""A fork beside running threads, which later versions of Python warn of, is what is tested."""


def write_ids(daemon: ScriptedDaemon) -> list[list[str]]:
    return [[m["id"] for m in request.json["messages"]] for request in daemon.requests]


def test_a_write_is_sent_whole_and_its_answer_read(daemon: ScriptedDaemon) -> None:
    with Client(daemon.path) as client:
        written = client.write(HELLO, session="chat", host="hermes", turn_end=True)
    assert written.session == "chat"
    assert written.results == (WrittenMessage("m1", "queued", 1),)
    (request,) = daemon.requests
    assert (request.method, request.target) == ("POST", "/v1/messages")
    assert request.json == {"session": "chat", "host": "hermes", "turn_end": True, "messages": HELLO}


def test_calls_share_one_kept_connection(daemon: ScriptedDaemon) -> None:
    with Client(daemon.path) as client:
        for _ in range(5):
            client.write(HELLO, session="s")
    assert {request.connection for request in daemon.requests} == {1}


def test_a_chunked_answer_in_small_packets_is_read(daemon: ScriptedDaemon) -> None:
    daemon.plan(
        raw(
            head(200, "Content-Type: application/json", "Transfer-Encoding: chunked"),
            *[b"4\r\n", b'{"ve', b"\r\na\r\nrsion", b'":"', b'1"', b"\r\n1\r\n}\r\n0\r\n", b"\r\n"],
        ),
    )
    daemon.plan(answer(200, INFO))
    with Client(daemon.path) as client:
        assert client.info() == INFO
        assert client.info() == INFO
    assert {request.connection for request in daemon.requests} == {1}


def test_an_idle_connection_that_the_daemon_closed_is_replaced(daemon: ScriptedDaemon) -> None:
    with Client(daemon.path) as client:
        client.write(HELLO, session="s")
        daemon.cut_all()
        client.write(HELLO, session="s")
    assert [request.connection for request in daemon.requests] == [1, 2]


def test_a_request_that_could_not_leave_goes_out_on_a_fresh_connection(daemon: ScriptedDaemon) -> None:
    done = threading.Event()
    daemon.plan(accept_messages_and_go_deaf(done))
    with Client(daemon.path) as client:
        client.write(HELLO, session="s")
        client.call("POST", "/v1/sessions/reset", {"messages": []})
    done.set()
    assert [request.connection for request in daemon.requests] == [1, 2]


def test_a_write_whose_answer_was_cut_is_repeated_with_the_same_ids(daemon: ScriptedDaemon) -> None:
    daemon.plan(cut(), raw(b"HTTP/1.1 202 Acc", keep=False))
    with Client(daemon.path) as client:
        written = client.write([{"content": "a"}, {"content": "b"}], session="s")
    first, second, third = write_ids(daemon)
    assert first == second == third == [result.id for result in written.results]
    assert len(set(first)) == 2


def test_a_daemon_that_cuts_every_answer_is_told_of(daemon: ScriptedDaemon) -> None:
    daemon.default = cut()
    with Client(daemon.path) as client, pytest.raises(NoAnswer, match="gave no answer"):
        client.write(HELLO, session="s")
    assert len(daemon.requests) == 3


def test_a_call_that_must_not_be_done_twice_is_sent_once(daemon: ScriptedDaemon) -> None:
    daemon.default = cut()
    with Client(daemon.path, wait_s=5) as client, pytest.raises(NoAnswer):
        client.call("POST", "/v1/sessions/reset", {"session": "s"})
    assert len(daemon.requests) == 1


def test_a_silent_daemon_costs_the_timeout_and_no_more(daemon: ScriptedDaemon) -> None:
    done = threading.Event()
    daemon.plan(silent(done))
    started_s = time.monotonic()
    with Client(daemon.path, timeout_s=0.2) as client, pytest.raises(NoAnswer) as caught:
        client.write(HELLO, session="s")
    assert caught.value.timed_out
    assert time.monotonic() - started_s >= 0.2
    done.set()


def test_an_answer_that_drips_does_not_stretch_the_timeout(daemon: ScriptedDaemon) -> None:
    done = threading.Event()

    def drip(connection, _request) -> bool:  # type: ignore[no-untyped-def]
        connection.sendall(head(200, "Content-Length: 1000"))
        while not done.wait(0.05):
            connection.sendall(b"x")
        return False

    daemon.plan(drip)
    with Client(daemon.path, timeout_s=0.3) as client, pytest.raises(NoAnswer):
        client.info()
    done.set()


def test_after_a_timeout_the_late_answer_reaches_nobody(daemon: ScriptedDaemon) -> None:
    done = threading.Event()
    late = answer(200, {"version": "late"})

    def after(connection, request) -> bool:  # type: ignore[no-untyped-def]
        done.wait(10)
        return late(connection, request)

    daemon.plan(after)
    daemon.default = answer(200, INFO)
    with Client(daemon.path, timeout_s=0.1) as client:
        with pytest.raises(NoAnswer):
            client.info()
        done.set()
        assert client.info() == INFO


def test_no_socket_names_the_socket_and_the_line_that_starts_the_daemon(tmp_path: Path) -> None:
    with Client(tmp_path / "none.sock") as client, pytest.raises(NotReachable) as caught:
        client.info()
    assert not isinstance(caught.value, NoAnswer)
    assert str(tmp_path / "none.sock") in str(caught.value)
    assert "honchod run" in str(caught.value)


def test_a_stale_socket_file_is_not_reachable(daemon: ScriptedDaemon) -> None:
    daemon.stop()
    daemon.path.touch()
    with Client(daemon.path) as client, pytest.raises(NotReachable, match="refused"):
        client.info()
    daemon.path.unlink()


def test_a_path_too_long_for_a_socket_is_not_reachable(tmp_path: Path) -> None:
    with Client(tmp_path / ("x" * 200)) as client, pytest.raises(NotReachable, match="too long"):
        client.info()


@FORKS
@pytest.mark.skipif(not running_as_root(), reason="only root can become another user")
def test_a_socket_of_others_is_not_allowed(daemon: ScriptedDaemon) -> None:
    daemon.path.chmod(0o600)

    def as_nobody(outcome) -> None:  # type: ignore[no-untyped-def]
        os.setuid(65534)
        try:
            Client(daemon.path).info()
        except NotAllowed as error:
            outcome.put(str(error))

    for folder in daemon.path.parents[:-1]:
        folder.chmod(folder.stat().st_mode | 0o011)
    context = multiprocessing.get_context("fork")
    outcome = context.SimpleQueue()
    child = context.Process(target=as_nobody, args=(outcome,))
    child.start()
    child.join(60)
    assert not outcome.empty()
    assert str(daemon.path) in outcome.get()


def test_a_full_queue_is_waited_for_as_long_as_it_says(daemon: ScriptedDaemon) -> None:
    daemon.plan(problem(507, "outbox_full", retry_after_s=0.3))
    started_s = time.monotonic()
    with Client(daemon.path) as client:
        client.write(HELLO, session="s", wait_s=5)
    assert time.monotonic() - started_s >= 0.3
    assert len(daemon.requests) == 2


def test_a_full_queue_is_told_at_once_without_leave_to_wait(daemon: ScriptedDaemon) -> None:
    daemon.plan(problem(507, "outbox_full", retry_after_s=1))
    with Client(daemon.path) as client, pytest.raises(OutboxFull) as caught:
        client.write(HELLO, session="s")
    assert caught.value.retry_after_s == 1
    assert len(daemon.requests) == 1


def test_a_write_lives_through_a_restart_of_the_daemon(daemon: ScriptedDaemon) -> None:
    daemon.plan(problem(503, "draining", retry_after_s=0.1))
    with Client(daemon.path) as client, ThreadPoolExecutor(1) as threads:
        writing = threads.submit(client.write, HELLO, session="s", wait_s=20)
        wait_until(lambda: daemon.requests, "the first try")
        daemon.stop()
        with pytest.raises(TimeoutError):
            writing.result(0.3)
        daemon.start()
        assert writing.result(10).results[0].status == "queued"
    assert len(daemon.requests) == 2


def test_a_refusal_sent_before_the_body_was_read_is_heard(daemon: ScriptedDaemon) -> None:
    daemon.stop()
    refusing = threading.Thread(target=refuse_unread, args=(daemon.path,))
    refusing.start()
    wait_until(daemon.path.exists, "the refusing server")
    with Client(daemon.path, wait_s=1) as client, pytest.raises(TooLarge):
        client.write([{"content": "x" * 3_000_000}], session="s")
    refusing.join(30)


def test_connecting_waits_while_the_backlog_is_full(daemon: ScriptedDaemon) -> None:
    daemon.stop()
    daemon.start(backlog=0, accept=False)
    with Client(daemon.path) as client, ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(client.write, HELLO, session="s") for _ in range(4)]
        with pytest.raises(TimeoutError):
            writing[-1].result(0.1)
        daemon.accept()
        for one in writing:
            assert one.result(10).session == "s"


def test_threads_never_get_each_others_answers(daemon: ScriptedDaemon) -> None:
    daemon.default = accept_messages
    with Client(daemon.path) as client, ThreadPoolExecutor(8) as threads:

        def write(number: int) -> bool:
            written = client.write([{"content": "x", "id": f"m{number}"}], session=f"s{number}")
            return (written.session, written.results[0].id) == (f"s{number}", f"m{number}")

        assert all(threads.map(write, range(400)))
    assert len({request.connection for request in daemon.requests}) <= 400


@FORKS
def test_a_forked_child_does_not_use_the_parents_connection(daemon: ScriptedDaemon) -> None:
    with Client(daemon.path) as client:
        client.write(HELLO, session="parent")
        context = multiprocessing.get_context("fork")
        child = context.Process(target=client.write, args=(HELLO,), kwargs={"session": "child"})
        child.start()
        child.join(60)
        assert child.exitcode == 0
        client.write(HELLO, session="parent")
    by_session = {request.json["session"]: request.connection for request in daemon.requests}
    assert by_session["parent"] == 1
    assert by_session["child"] != 1


def test_a_closed_client_leaves_no_connection_open(daemon: ScriptedDaemon) -> None:
    client = Client(daemon.path)
    client.write(HELLO, session="s")
    client.close()
    client.write(HELLO, session="s")
    assert [request.connection for request in daemon.requests] == [1, 2]


@pytest.mark.parametrize("garbage", [b"SSH-2.0-OpenSSH\r\n", head(200, "Content-Length: nine")])
def test_something_else_on_the_socket_is_a_bad_answer(daemon: ScriptedDaemon, garbage: bytes) -> None:
    daemon.plan(raw(garbage))
    with Client(daemon.path) as client, pytest.raises(BadAnswer):
        client.info()


def test_operator_calls_ask_for_what_they_name(daemon: ScriptedDaemon) -> None:
    daemon.default = answer(200, {})
    with Client(daemon.path) as client:
        client.status()
        client.letters(session="s", code="expired", limit=10, cursor="c")
        client.letter("01J", content=True)
        client.retry_letters(["a"])
        client.retry_letters(session="s", everything=True)
        client.discard_letters(["b"])
        client.wake()
        client.pause()
        client.resume()
        client.drain(3)
        client.checks()
        client.reload()
        client.health()
        client.ready()
    asked = [(r.method, r.target, r.json if r.body else None) for r in daemon.requests]
    assert asked == [
        ("GET", "/v1/status", None),
        ("GET", "/v1/dead-letters?session=s&code=expired&limit=10&cursor=c", None),
        ("GET", "/v1/dead-letters/01J?content=1", None),
        ("POST", "/v1/dead-letters/retry", {"ids": ["a"]}),
        ("POST", "/v1/dead-letters/retry", {"session": "s", "all": True}),
        ("POST", "/v1/dead-letters/discard", {"ids": ["b"]}),
        ("POST", "/v1/worker/wake", None),
        ("POST", "/v1/worker/pause", None),
        ("POST", "/v1/worker/resume", None),
        ("POST", "/v1/worker/drain", {"timeout_s": 3}),
        ("POST", "/v1/checks", None),
        ("POST", "/v1/reload", None),
        ("GET", "/v1/health", None),
        ("GET", "/v1/ready", None),
    ]


def test_recall_gives_the_block_and_its_facts(daemon: ScriptedDaemon) -> None:
    body = {
        "status": "stale", "age_s": 130.5, "query_matched": False, "approx_tokens": 12, "text": "<memory/>",
        "sections": {"summary": "s", "dialectic": None}, "truncated": ["summary"], "receipt": "01J",
    }  # fmt: skip
    daemon.plan(answer(200, body))
    with Client(daemon.path) as client:
        recalled = client.recall("where?", session="s", tokens=500, recall_wait_ms=20)
    assert daemon.requests[0].json == {"session": "s", "query": "where?", "tokens": 500, "wait_ms": 20}
    assert (recalled.status, recalled.age_s, recalled.truncated) == ("stale", 130.5, ("summary",))
