"""The asyncio client: the same promises, on an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop
from scripted_daemon import (
    ScriptedDaemon,
    accept_messages_and_go_deaf,
    answer,
    cut,
    problem,
    raw,
    refuse_unread,
    silent,
)

from honchod.client import AsyncClient, NoAnswer, NotReachable, OutboxFull, TooLarge
from support.waiting import wait_until

HELLO = [{"content": "hello", "id": "m1"}]
INFO = {"version": "1"}

Runner = Callable[[Awaitable[None]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Runner:
    """Runs a coroutine on either loop."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def runner(main: Awaitable[None]) -> None:
        with asyncio.Runner(loop_factory=factory) as loop:
            loop.run(main)  # type: ignore[arg-type]

    return runner


def test_calls_share_one_kept_connection(daemon: ScriptedDaemon, run: Runner) -> None:
    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            for _ in range(3):
                written = await client.write(HELLO, session="s")
                assert written.results[0].status == "queued"

    run(main())
    assert {request.connection for request in daemon.requests} == {1}


def test_an_idle_connection_that_the_daemon_closed_is_replaced(daemon: ScriptedDaemon, run: Runner) -> None:
    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            await client.write(HELLO, session="s")
            daemon.cut_all()
            await client.write(HELLO, session="s")

    run(main())
    assert [request.connection for request in daemon.requests] == [1, 2]


def test_a_request_that_could_not_leave_goes_out_on_a_fresh_connection(
    daemon: ScriptedDaemon, run: Runner
) -> None:
    done = threading.Event()
    daemon.plan(accept_messages_and_go_deaf(done))

    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            await client.write(HELLO, session="s")
            await client.call("POST", "/v1/sessions/reset", {"messages": []})

    run(main())
    done.set()
    assert [request.connection for request in daemon.requests] == [1, 2]


def test_a_write_whose_answer_was_cut_is_repeated_with_the_same_ids(
    daemon: ScriptedDaemon, run: Runner
) -> None:
    daemon.plan(cut(), raw(b"HTTP/1.1 202 Acc", keep=False))

    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            await client.write([{"content": "a"}], session="s")

    run(main())
    ids = [request.json["messages"][0]["id"] for request in daemon.requests]
    assert len(ids) == 3
    assert len(set(ids)) == 1


def test_a_silent_daemon_costs_the_timeout(daemon: ScriptedDaemon, run: Runner) -> None:
    done = threading.Event()
    daemon.plan(silent(done))

    async def main() -> None:
        async with AsyncClient(daemon.path, timeout_s=0.1) as client:
            with pytest.raises(NoAnswer) as caught:
                await client.info()
            assert caught.value.timed_out

    run(main())
    done.set()


def test_no_socket_is_not_reachable(tmp_path: Path, run: Runner) -> None:
    async def main() -> None:
        async with AsyncClient(tmp_path / "none.sock") as client:
            with pytest.raises(NotReachable, match="honchod run"):
                await client.info()

    run(main())


def test_a_full_queue_is_waited_for_only_when_asked(daemon: ScriptedDaemon, run: Runner) -> None:
    daemon.plan(
        problem(507, "outbox_full", retry_after_s=0.1), problem(507, "outbox_full", retry_after_s=0.1)
    )

    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            with pytest.raises(OutboxFull):
                await client.write(HELLO, session="s")
            await client.write(HELLO, session="s", wait_s=5)

    run(main())
    assert len(daemon.requests) == 3


def test_a_refusal_sent_before_the_body_was_read_is_heard(daemon: ScriptedDaemon, run: Runner) -> None:
    daemon.stop()
    refusing = threading.Thread(target=refuse_unread, args=(daemon.path,))
    refusing.start()

    async def main() -> None:
        async with AsyncClient(daemon.path, wait_s=5) as client:
            with pytest.raises(TooLarge):
                await client.write([{"content": "x" * 3_000_000}], session="s")

    run(main())
    refusing.join(30)


def test_a_cancelled_call_does_not_leave_its_answer_to_the_next(daemon: ScriptedDaemon, run: Runner) -> None:
    done = threading.Event()
    daemon.plan(silent(done))
    daemon.default = answer(200, INFO)

    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            call = asyncio.create_task(client.call("GET", "/v1/slow"))
            await asyncio.to_thread(wait_until, lambda: daemon.requests, "the call")
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await client.info() == INFO

    run(main())
    done.set()
    assert [request.connection for request in daemon.requests] == [1, 2]


def test_many_tasks_get_their_own_answers_through_a_small_backlog(
    daemon: ScriptedDaemon, run: Runner
) -> None:
    daemon.stop()
    daemon.start(backlog=0)

    async def main() -> None:
        async with AsyncClient(daemon.path) as client:

            async def write(number: int) -> None:
                written = await client.write([{"content": "x"}], session=f"s{number}")
                assert written.session == f"s{number}"

            await asyncio.gather(*(write(number) for number in range(40)))

    run(main())
    assert len(daemon.requests) == 40


def test_a_large_write_goes_through(daemon: ScriptedDaemon, run: Runner) -> None:
    async def main() -> None:
        async with AsyncClient(daemon.path) as client:
            await client.write([{"content": "x" * 3_000_000}], session="s")

    run(main())
    assert len(daemon.requests[0].body) > 3_000_000
