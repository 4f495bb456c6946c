"""Once and in order, whatever happens on the way (cases C10, C14–C19, C21, C22, C24, C33–C36, C39)."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network, running_network, widths
from support.waiting import wait_until


def message(number: int, content: str | None = None) -> dict[str, Any]:
    return {"id": f"m{number}", "content": content or f"message {number}"}


def texts(count: int) -> list[str]:
    return [f"message {number}" for number in range(count)]


@pytest.mark.parametrize("cuts", [1, 4])
def test_cut_connections_after_commit_send_nothing_twice(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, cuts: int
) -> None:
    """C10."""
    network.hit(f"POST messages: cut-after-commit times={cuts}")
    with daemon.start().client() as client:
        for start in range(0, 30, 10):
            client.write([message(number) for number in range(start, start + 10)], session="s")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(30)


def test_a_batch_that_lands_after_the_client_gave_up_is_found(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """The row appears late: within the settle delay, as it does behind a busy server."""
    daemon.configure({"delivery": {"request_timeout_s": 1.0, "settle_delay_s": 3.0}})
    network.hit("POST messages: commit-late=0.5 times=1")
    with daemon.start().client() as client:
        client.write([message(number) for number in range(5)], session="s")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(5)


def test_stopping_while_a_request_is_under_way_sends_it_once(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C14."""
    network.hit("POST messages: delay=1 times=1")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
    wait_until(network.sent, "the batch to be on its way")
    assert daemon.stop() == 0
    assert [one.contents for one in network.sent()] == [["message 0"]]
    daemon.start().wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(1)
    assert len(network.sent()) == 1


def test_eight_writers_of_one_session_have_one_request_in_flight(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C15: the order of acks is the order of delivery."""
    network.hit("POST messages: delay=0.02")
    daemon.start()
    lock = threading.Lock()
    acked: list[str] = []

    def write(writer: int) -> None:
        with daemon.client() as client:
            for number in range(20):
                text = f"{writer}/{number}"
                # One write at a time, from eight connections: the acks have an order.
                with lock:
                    client.write([{"id": text, "content": text}], session="s")
                    acked.append(text)

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == acked
    assert max(one.in_flight for one in network.seen() if one.session == "s") == 1


def test_killed_in_the_middle_of_a_request_delivers_everything_once(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C16."""
    network.hit("POST messages: hang-after-commit times=1")
    with daemon.start().client() as client:
        for number in range(50):
            client.write([message(number)], session="s")
    wait_until(lambda: [one for one in network.sent() if one.forwarded], "a batch to be stored")
    daemon.kill()
    network.heal()
    daemon.start().wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(50)


def test_killed_after_the_first_batch_goes_on_with_the_second(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C17: 250 messages, batches of 100; after the restart it goes on at 101."""
    network.hit("POST messages: hang nth=2")
    with daemon.start().client() as client:
        client.pause()
        client.write([message(number) for number in range(250)], session="s")
        client.resume()
    wait_until(lambda: len(network.sent()) == 2, "the second batch to be on its way")
    daemon.kill()
    network.heal()
    daemon.start().wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(250)
    assert [one.contents[0] for one in network.sent()] == [
        *("message 0", "message 100", "message 100", "message 200")
    ]


def test_one_session_in_trouble_keeps_its_order_and_out_of_others_way(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C18."""
    network.hit("POST messages session=s: status=503 times=2")
    with daemon.start().client() as client:
        client.write([message(0, "A")], session="s")
        client.write([message(1, "B")], session="s")
        client.write([message(0, "T")], session="t")
    wait_until(lambda: remote.contents(workspace, "t") == ["T"], "the healthy session")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["A", "B"]


def test_a_healthy_session_goes_on_while_another_is_stuck(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    network.hit("POST messages session=stuck: status=500")
    with daemon.start().client() as client:
        client.write([message(0)], session="stuck")
        for number in range(20):
            client.write([message(number)], session="well")
    wait_until(lambda: remote.contents(workspace, "well") == texts(20), "the healthy session")
    wait_until(lambda: daemon.status()["queue"]["pending"] == 1, "the rest to be settled")
    network.heal()
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "stuck") == texts(1)
    assert daemon.status()["queue"]["dead"] == 0


def test_a_server_that_never_answers_is_named_stalled_and_found_again(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C19."""
    daemon.configure({"delivery": {"request_timeout_s": 1.0, "settle_delay_s": 2.0}})
    network.hit("*: hang")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        health = wait_until(
            lambda: found if "stalled" in (found := client.health())["destinations"].values() else None,
            "health to say that it is stalled",
        )
        assert health["status"] == "ok"
        network.heal()
        daemon.wait_for_delivery()
        assert set(client.health()["destinations"].values()) == {"ok"}
    assert remote.contents(workspace, "s") == texts(1)


def test_stopping_with_a_server_that_never_answers_ends_in_time(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C21: exit 0 within the stop budget, long before the request is over; nothing is lost."""
    daemon.configure({"delivery": {"request_timeout_s": 60, "stop_timeout_s": 2}})
    network.hit("*: hang")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
    wait_until(network.seen, "a request to hang")
    assert daemon.stop(timeout_s=30) == 0, "it does not wait for the 60 seconds of the request"
    network.heal()
    daemon.start().wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(1)


def test_116_messages_go_as_100_and_16(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C22."""
    with daemon.start().client() as client:
        client.pause()
        client.write([message(number) for number in range(116)], session="s")
        client.resume()
    daemon.wait_for_delivery()
    assert [len(one.contents) for one in network.sent()] == [100, 16]
    assert remote.contents(workspace, "s") == texts(116)


def test_only_the_bad_message_of_a_batch_dies(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C24: the server answers 422 for a batch that holds the third; then it is put right and retried."""
    network.hit('POST messages content="message 2": status=422')
    with daemon.start().client() as client:
        client.pause()
        client.write([message(number) for number in range(5)], session="s")
        client.resume()
        daemon.wait_for_delivery()
        assert remote.contents(workspace, "s") == [f"message {number}" for number in (0, 1, 3, 4)]
        (letter,) = client.letters()["items"]
        assert (letter["message_id"], letter["code"]) == ("m2", "rejected_422")
        shown = client.letter(letter["id"])
        assert [made["status"] for made in shown["history"]] == [422]
        assert "content" not in shown
        assert client.letter(letter["id"], content=True)["content"] == "message 2"
        network.heal()
        assert client.retry_letters(ids=[letter["id"]])["retried"] == 1
        daemon.wait_for_delivery()
        assert client.letters()["total"] == 0
    assert remote.contents(workspace, "s")[-1] == "message 2"


def test_peers_join_with_their_flags_before_the_first_message(
    make_daemon: Callable[..., DaemonProcess],
    hosts: dict[str, Any],
    network: Network,
    remote: Remote,
    workspace: str,
) -> None:
    """C33."""
    daemon = make_daemon({**hosts, "observationMode": "unified"})
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
    daemon.wait_for_delivery()
    calls = [(one.method, one.path.removeprefix(f"/v3/workspaces/{workspace}")) for one in network.seen()]
    assert calls == [("POST", "/v3/workspaces"), ("POST", "/sessions"), ("POST", "/sessions/s/messages")]
    assert remote.flags(workspace, "s", "ann") == {"observe_me": True, "observe_others": False}
    assert remote.flags(workspace, "s", "bot") == {"observe_me": False, "observe_others": True}


def test_the_server_s_own_flags_win(
    make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any], remote: Remote, workspace: str
) -> None:
    remote.ask("POST", "/v3/workspaces", {"id": workspace})
    theirs = {"observe_me": False, "observe_others": False}
    remote.ask("POST", f"/v3/workspaces/{workspace}/sessions", {"id": "s", "peers": {"ann": theirs}})
    # A member that a bare message made has no flags: those are ours to set.
    bare = {"messages": [{"peer_id": "bot", "content": "hello"}]}
    remote.ask("POST", f"/v3/workspaces/{workspace}/sessions/s/messages", bare)
    daemon = make_daemon()
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
    daemon.wait_for_delivery()
    assert remote.flags(workspace, "s", "ann") == theirs
    assert remote.flags(workspace, "s", "bot") == {"observe_me": True, "observe_others": True}


def test_a_server_that_swallows_everything_changes_nothing_about_the_ack(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C34: every ack comes while no request has been answered at all."""
    network.hit("*: hang")
    with daemon.start().client(timeout_s=9) as client:
        for number in range(200):
            client.write([message(number)], session=f"s{number % 20}")
    assert not [one for one in network.seen() if one.forwarded]
    network.heal()
    daemon.wait_for_delivery()
    for number in range(20):
        assert len(remote.messages(workspace, f"s{number}")) == 10


def test_a_refused_key_stops_its_destination_only_until_it_is_replaced(
    make_daemon: Callable[..., DaemonProcess],
    network: Network,
    server_url: str,
    remote: Remote,
    workspace: str,
) -> None:
    """C35."""
    with running_network(server_url) as healthy:
        config: dict[str, Any] = {
            "peerName": "ann",
            "hosts": {
                "a": {"baseUrl": network.url, "apiKey": "old-key-0123456789", "workspace": workspace},
                "b": {"baseUrl": healthy.url, "workspace": f"{workspace}-b"},
            },
        }
        if remote.key:
            config["hosts"]["b"]["apiKey"] = remote.key
        daemon = make_daemon(config)
        network.hit("*: status=401")
        with daemon.start().client() as client:
            for number in range(30):
                client.write([message(number)], session=f"s{number % 3}", host="a")
            client.write([message(0)], session="s", host="b")
            wait_until(lambda: remote.contents(f"{workspace}-b", "s") == texts(1), "the healthy destination")
            state = wait_until(
                lambda: next(
                    (one for one in client.status()["destinations"] if one["state"] == "refused"), None
                ),
                "status to name the refused destination",
            )
            assert (state["host"], state["circuit"], state["key_source"]) == ("a", "open", "host")
            asked = len(network.seen())
            assert asked <= 8
            assert client.status()["queue"]["dead"] == 0
            network.heal()
            config["hosts"]["a"]["apiKey"] = remote.key or "new-key-0123456789"
            daemon.use_hosts(config)
            client.reload()
            daemon.wait_for_delivery()
            assert client.letters()["total"] == 0
        fresh = network.seen()[asked:]
        assert {one.authorization for one in fresh} == {f"Bearer {config['hosts']['a']['apiKey']}"}
        first_done = min(one.answered_s for one in fresh if one.sends_messages and one.answered_s)
        alone = [one for one in fresh if one.at_s < first_done]
        assert max(one.in_flight_total for one in alone) == 1
        for number in range(3):
            assert len(remote.messages(workspace, f"s{number}")) == 10
        assert "key-0123456789" not in daemon.log()


def test_a_local_server_gets_no_key_of_the_environment(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C36."""
    if remote.key:
        pytest.skip("this server asks for a key")
    daemon.environ["HONCHO_API_KEY"] = "hch-cloud-key-0123456789"
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(1)
    assert {one.authorization for one in network.seen()} == {None}
    assert "hch-cloud-key" not in daemon.log()


RETRY_AFTER = {
    "seconds": ("429", lambda: "3", 3.0),
    "a date": ("429", lambda: formatdate(time.time() + 8, usegmt=True), 0.1),
    "capped": ("429", lambda: "86400", 2.0),
    "negative": ("429", lambda: "-3600", 0.0),
    "unreadable": ("429", lambda: "soon", 0.0),
    "with a 503": ("503", lambda: "3", 3.0),
}


@pytest.mark.parametrize("case", RETRY_AFTER)
def test_retry_after_is_waited_for(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, case: str
) -> None:
    """C39, in seconds instead of minutes; the cap is 2 s here instead of an hour."""
    status, header, at_least_s = RETRY_AFTER[case]
    if case == "capped":
        daemon.configure({"delivery": {"retry_after_cap_s": 2.0}})
    daemon.start()
    asked = header()
    network.hit(f'POST messages: status={status} retry-after="{asked}" times=1')
    with daemon.client() as client:
        client.write([message(0)], session="s")
        if at_least_s:
            state = wait_until(
                lambda: next(
                    (one for one in client.status()["destinations"] if one["circuit"] == "open"), None
                ),
                "the circuit to open",
            )
            assert state["state"] == "throttled"
    daemon.wait_for_delivery()
    first, second = network.sent()
    assert first.answered_s is not None
    waited_s = second.at_s - first.answered_s
    assert waited_s >= at_least_s
    if case == "a date":
        until_s = parsedate_to_datetime(asked).timestamp() - time.time() + time.monotonic()
        assert second.at_s - until_s > -0.1
    assert remote.contents(workspace, "s") == texts(1)


def test_an_outage_longer_than_any_backoff_kills_no_message(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """Refused connections for many times `max_attempts`: attempts unspent, then a slow start."""
    daemon.configure({"delivery": {"max_attempts": 1, "backoff_cap_s": 0.1}})
    network.take_down()
    with daemon.start().client() as client:
        for number in range(100):
            client.write([message(number)], session=f"s{number % 10}")
        wait_until(lambda: len(daemon.events("batch.failed")) >= 20, "twenty refused attempts", timeout_s=60)
        assert client.health()["destinations"] == {"default": "unreachable"}
        network.heal()
        daemon.wait_for_delivery()
        assert client.letters()["total"] == 0
    for number in range(10):
        assert len(remote.messages(workspace, f"s{number}")) == 10
    assert max(widths(network.sent())) <= 4


def test_a_wrong_address_kills_no_message(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """404 to everything, then a hotel's login page to everything, then the right server."""
    daemon.configure({"delivery": {"max_attempts": 1, "backoff_cap_s": 0.2}})
    for fault in ('*: status=404 body="not here"', "*: portal"):
        network.hit(fault)
        with (daemon if daemon.process else daemon.start()).client() as client:
            client.write([message(len(network.seen()), fault)], session="s")
            seen = len(network.seen())
            wait_until(lambda seen=seen: len(network.seen()) >= seen + 5, "several tries")
            assert client.status()["queue"]["dead"] == 0
        network.heal()
    daemon.wait_for_delivery()
    assert len(remote.messages(workspace, "s")) == 2


def test_messages_that_wait_go_where_the_host_points_now(
    make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any], remote: Remote, workspace: str
) -> None:
    """A base URL that was wrong is corrected: what waits follows it."""
    daemon = make_daemon({**hosts, "baseUrl": "http://127.0.0.1:9"})
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        wait_until(lambda: daemon.events("batch.failed"), "a failed try")
        daemon.use_hosts(hosts)
        client.reload()
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == texts(1)


def test_poison_ends_alone_in_the_dead_letters(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """A message that makes the server answer 500 for ever, in the middle of healthy ones."""
    daemon.configure({"delivery": {"max_attempts": 3, "backoff_cap_s": 0.1}})
    network.hit('POST messages content="message 7": status=500')
    with daemon.start().client() as client:
        client.pause()
        client.write(
            [message(number, f"message {number}") for number in range(20) if number != 17], session="s"
        )
        client.resume()
        daemon.wait_for_delivery()
        (letter,) = client.letters()["items"]
    assert (letter["message_id"], letter["code"]) == ("m7", "exhausted")
    expected = [f"message {number}" for number in range(20) if number not in (7, 17)]
    assert remote.contents(workspace, "s") == expected
    assert len(network.sent()) <= 30


def test_order_within_a_session_holds_over_many_faults(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    network.hit("POST messages: cut-after-commit p=0.2 seed=7; POST messages: cut-before-commit p=0.2 seed=8")
    with daemon.start().client() as client:
        for number, session in itertools.product(range(15), range(4)):
            client.write([message(number)], session=f"s{session}")
    daemon.wait_for_delivery(120)
    for session in range(4):
        assert remote.contents(workspace, f"s{session}") == texts(15)
