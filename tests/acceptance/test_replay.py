"""Real conversations, many writers, cut answers, a killed daemon: nothing missing, nothing twice."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.shared import conversations
from support.waiting import wait_until

WRITERS = 16
KILLS = 3


@pytest.mark.timeout(580)
def test_a_replay_of_all_conversations_arrives_once_and_in_order(
    make_daemon: Callable[..., DaemonProcess],
    hosts: dict[str, Any],
    network: Network,
    remote: Remote,
    workspace: str,
) -> None:
    """5 % of the answers are cut after the commit, and SIGKILL comes three times on the way."""
    told = conversations()
    sessions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in told:
        sessions[line["session"]].append(line)
    network.hit("POST messages: cut-after-commit p=0.05 seed=11")
    daemon = make_daemon(hosts).start()
    share = [list(itertools.islice(sessions, number, None, WRITERS)) for number in range(WRITERS)]
    failures: list[BaseException] = []
    acked = 0
    count = threading.Lock()

    def write(names: list[str]) -> None:
        nonlocal acked
        try:
            with daemon.client(wait_s=60) as client:
                for name in names:
                    for turn in _pairs(sessions[name]):
                        client.write([_message(line) for line in turn], session=name)
                        with count:
                            acked += len(turn)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(names,)) for names in share]
    for writer in writers:
        writer.start()
    for kill in range(1, KILLS + 1):
        wait_until(lambda kill=kill: acked >= kill * len(told) // (KILLS + 1), "the next kill", timeout_s=120)
        daemon.kill()
        daemon.start()
    for writer in writers:
        writer.join(120)
    assert not failures
    assert acked == len(told)
    status = daemon.wait_for_delivery(180)
    assert status["queue"]["dead"] == 0
    assert remote.sessions(workspace) == set(sessions)
    stored = {name: remote.messages(workspace, name) for name in sessions}
    for name, lines in sessions.items():
        assert [message["content"] for message in stored[name]] == [line["text"] for line in lines], name
        assert [message["peer_id"] for message in stored[name]] == [line["peer"] for line in lines], name
    assert sum(map(len, stored.values())) == len(told)
    assert daemon.stop() == 0


def _message(line: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": line["id"],
        "role": line["role"],
        "peer": line["peer"],
        "content": line["text"],
        "created_at": line["at"],
    }


def _pairs(lines: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [lines[start : start + 2] for start in range(0, len(lines), 2)]
