"""No secret reaches a byte that is written or sent (cases C40, C41), and nothing innocent is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from honchod.client import Client
from honchod.client.errors import Rejected
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until
from unit.capture.secret_corpus import INNOCENT, PLANTED, Planted

NAME_CHARS = 512
FILE_NAME_CHARS = 255
NEEDLE_CHARS = 16
FEEDS_ON_ITSELF = r"(?P<secret>\w)(?=\[redacted:|$)"
"""A pattern whose redaction never comes to rest."""


def needles(planted: Planted) -> Iterator[bytes]:
    """Pieces of the secret that would give it away: both ends and the middle of each of its lines."""
    for line in planted.secret.replace("\\n", "\n").split():
        middle = len(line) // 2
        for start in {0, max(0, middle - NEEDLE_CHARS // 2), max(0, len(line) - NEEDLE_CHARS)}:
            yield line[start : start + NEEDLE_CHARS].encode()


def leaks(haystack: bytes) -> set[str]:
    """The kinds of planted secrets of which something is in there."""
    return {planted.kind for planted in PLANTED if any(needle in haystack for needle in needles(planted))}


def written(directory: Path) -> bytes:
    """Every byte of every file below."""
    return b"\n".join(
        bytes(path) + b"\n" + path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()
    )


def one_of_each_kind() -> list[Planted]:
    """One secret of each sort, short enough to stand in a name as a whole."""
    found: dict[bytes, Planted] = {}
    for planted in PLANTED:
        if len(planted.text) <= FILE_NAME_CHARS and "\n" not in planted.text:
            found.setdefault(planted.secret.encode(), planted)
    return list(found.values())


def test_the_search_finds_what_is_there() -> None:
    assert leaks(PLANTED[0].text.encode()) >= {PLANTED[0].kind}
    assert len(one_of_each_kind()) >= 40


@pytest.fixture
def planted_daemon(daemon: DaemonProcess, network: Network) -> DaemonProcess:
    """A daemon that says all it ever says, and whose server refuses some messages."""
    daemon.configure({"log": {"level": "debug"}})
    network.hit('POST messages content="refuse this": status=422')
    return daemon.start()


def test_no_planted_secret_is_in_any_byte_that_is_written_or_sent(
    planted_daemon: DaemonProcess, network: Network
) -> None:
    """C40 and its kin: in content, metadata, ids, peers, session keys, titles, directories, scopes, names of
    files, and in requests that are refused.
    """
    said: list[str] = []
    with planted_daemon.client() as client:
        plant_content(client)
        for planted in one_of_each_kind():
            said += plant_names(client, planted)
            said += plant_errors(client, planted)
        plant_files(client)
        wait_until(lambda: client.letters()["total"], "a dead letter")
        client.drain(30)
        said += operator_answers(client)
        on_disk_while_running = written(planted_daemon.state_dir)
    assert planted_daemon.stop() == 0
    assert leaks(on_disk_while_running) == set()
    assert leaks(written(planted_daemon.state_dir)) == set()
    assert leaks(planted_daemon.log().encode()) == set()
    assert leaks("\n".join(said).encode()) == set()
    sent = b"\n".join(exchange.raw for exchange in network.seen())
    assert b"[redacted:" in sent
    assert leaks(sent) == set()


def plant_content(client: Client) -> None:
    """Every secret in content, in metadata values and keys, and in the ids of messages."""
    for start in range(0, len(PLANTED), 50):
        client.write(
            [
                {
                    "id": f"{number} {planted.text}"[:NAME_CHARS],
                    "content": planted.text,
                    "metadata": {"note": planted.text, planted.text[:200]: {"deep": [planted.text]}},
                }
                for number, planted in enumerate(PLANTED[start : start + 50])
            ],
            session=f"content {start}",
        )
    client.write([{"content": f"refuse this: {PLANTED[0].text}"}], session="refused")


def plant_names(client: Client, planted: Planted) -> list[str]:
    """A secret in every name that a request can carry; what the daemon made of them."""
    text = planted.text[:NAME_CHARS]
    message = {"content": "hello", "peer": text}
    answers = [client.write([message], session=text, scope=text).session]
    directory = f"/home/ann/{'x' if '/' in text else text}"
    locators = ({"title": text}, {"platform_key": text}, {"cwd": directory})
    answers += [client.write([{"content": "hello"}], locator=locator).session for locator in locators]
    group = {"content": "hello", "runtime_user": text, "runtime_user_alt": text}
    client.write([group], session="group", group=True)
    calls = [f"/v1/sessions/{what}" for what in ("resolve", "reset", "end")]
    return answers + [json.dumps(client.call("POST", path, {"session": text})) for path in calls]


def plant_errors(client: Client, planted: Planted) -> list[str]:
    """A secret in requests that are refused; what their answers say."""
    text = planted.text[:NAME_CHARS]
    said = {"content": "hello"}
    deep = {"a": {"b": {"c": {"d": {"e": {text: text}}}}}}
    bad: list[dict[str, Any]] = [
        {"host": text, "session": "s", "messages": [said]},
        {"session": "s", "messages": [{**said, "created_at": text}]},
        {"session": "s", "messages": [{**said, "role": text}]},
        {"session": "s", "messages": [{**said, "metadata": deep}]},
        {"session": "s", "messages": [{**said, "metadata": {"honchod_" + text: 1}}]},
        {"session": "s", "messages": [said], text: text},
        {"locator": {"cwd": text}, "messages": [said]},
        {"session": "s", "messages": [{"id": text, "content": text}, {"id": text, "content": "other"}]},
    ]
    return [refused(client, "/v1/messages", body) for body in bad]


def refused(client: Client, path: str, body: dict[str, Any]) -> str:
    with pytest.raises(Rejected) as problem:
        client.call("POST", path, body)
    return problem.value.detail


def plant_files(client: Client) -> None:
    """Every secret in a persona and in a memory file, and in their names."""
    for planted in one_of_each_kind()[::4]:
        body = {"source": planted.text[:FILE_NAME_CHARS], "content": f"I know this:\n{planted.text}\n"}
        client.call("POST", "/v1/identity/seed", body)
        client.call("POST", "/v1/identity/file", body)


def operator_answers(client: Client) -> list[str]:
    """All that an operator can see."""
    letters = [client.letter(letter["id"], content=True) for letter in client.letters(limit=1000)["items"]]
    seen = [client.status(), client.health(), client.info(), letters, client.checks()]
    return [*map(json.dumps, seen), str(client.call("GET", "/metrics"))]


def test_sessions_and_ids_that_differ_only_in_their_secret_stay_apart_and_are_found_again(
    daemon: DaemonProcess,
) -> None:
    """A restart does not change what they become."""
    keys = [planted.text[:NAME_CHARS] for planted in one_of_each_kind()[:20]]
    with daemon.start().client() as client:
        first = [client.write([{"id": key, "content": "hello"}], session=key).session for key in keys]
    daemon.stop()
    with daemon.start().client() as client:
        again = [client.write([{"id": key, "content": "hello"}], session=key) for key in keys]
    assert len(set(first)) == len(keys)
    assert [written.session for written in again] == first
    assert {result.status for written in again for result in written.results} == {"duplicate"}
    assert [written.results[0].id for written in again] == keys


def test_innocent_look_alikes_arrive_unchanged(daemon: DaemonProcess, remote: Remote, workspace: str) -> None:
    innocent = [text for text in INNOCENT if text != "HEARTBEAT_OK"]  # which is noise
    with daemon.start().client() as client:
        client.write([{"content": text} for text in innocent], session="s")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == innocent


def test_patterns_and_exceptions_of_the_operator_hold(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    daemon.configure({"capture": {"patterns": [r"ACME-\d+"], "allow": ["swordfish1"]}})
    with daemon.start().client() as client:
        client.write([{"content": "ticket ACME-4711, password: swordfish1"}], session="s")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["ticket [redacted:custom], password: swordfish1"]


FAILING: list[tuple[str, dict[str, Any]]] = [
    ("/v1/messages", {"session": "s", "messages": [{"content": "fine 1"}, {"content": "x" * 100}]}),
    ("/v1/messages", {"session": "s", "messages": [{"content": "fine 2", "metadata": {"a": "x" * 100}}]}),
    ("/v1/messages", {"session": "s", "messages": [{"content": "fine 3", "id": "x" * 100}]}),
    ("/v1/messages", {"session": "s", "messages": [{"content": "fine 4", "peer": "x" * 100}]}),
    ("/v1/messages", {"session": "x" * 100, "messages": [{"content": "fine 5"}]}),
    ("/v1/messages", {"session": "s", "messages": [{"content": f"{'words ' * 9_000} {'x' * 100}"}]}),
    ("/v1/identity/seed", {"source": "SOUL.md", "content": "x" * 100}),
    ("/v1/identity/file", {"source": "x" * 100, "content": "fine 6"}),
    ("/v1/sessions/reset", {"session": "x" * 100}),
]


def test_a_redactor_that_raises_stores_nothing(
    make_daemon: Callable[..., DaemonProcess], network: Network
) -> None:
    """C41, wherever the text stands that it fails at."""
    daemon = make_daemon(settings={"capture": {"patterns": [FEEDS_ON_ITSELF]}})
    with daemon.start().client() as client:
        for path, body in FAILING:
            with pytest.raises(Rejected) as refused:
                client.call("POST", path, body)
            assert (refused.value.status, refused.value.code) == (422, "redaction_failed")
            assert "x" * 8 not in refused.value.detail
        assert client.status()["queue"]["pending"] == 0
    assert daemon.stop() == 0
    assert b"xxxxxxxx" not in written(daemon.state_dir)
    assert b"fine " not in written(daemon.state_dir)
    assert "xxxxxxxx" not in daemon.log()
    assert not network.sent()
