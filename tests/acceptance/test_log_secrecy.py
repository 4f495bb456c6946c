"""What is said, and the keys, never reach log, status, error or metrics, whatever goes wrong."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from typing import Any

from honchod.client.errors import ClientError
from support.daemon import DaemonProcess
from support.network import Network
from support.waiting import wait_until

SAID = "the heron flies at dawn"
KEY = "hch-v3-plantedkeyplantedkeyplantedkey00"
METADATA = "planted metadata value"
FAULTS = {
    "rejected": "status=422",
    "broken": "status=500",
    "cut": "cut-after-commit",
    "captive": "portal",
    "refused": "status=401",
}
PLANTED = ("heron", "plantedkey", METADATA)


def test_neither_what_was_said_nor_a_key_is_shown_anywhere(
    make_daemon: Callable[..., DaemonProcess], network: Network, hosts: dict[str, Any]
) -> None:
    daemon = make_daemon(
        {**hosts, "apiKey": KEY}, settings={"log": {"level": "debug"}, "delivery": {"max_attempts": 2}}
    )
    # A live server keeps its own key: then only the content is planted.
    if "apiKey" in hosts:
        daemon.use_hosts(hosts)
    daemon.start()
    message = {"content": SAID, "metadata": {"note": METADATA}}
    with daemon.client() as client:
        for session, fault in FAULTS.items():
            network.hit(f"POST messages session={session}: {fault} times=1")
            before = len(daemon.events("batch.failed"))
            client.write([{**message, "id": "m"}], session=session)
            wait_until(
                lambda before=before: len(daemon.events("batch.failed")) > before, f"{fault} to strike"
            )
        client.wake()
        network.hit("POST messages session=dead: status=422")
        client.write([{**message, "id": "m"}], session="dead")
        letters = wait_until(lambda: client.letters(session="dead")["items"], "a dead letter")
        for body in (
            {"session": "s", "messages": [{"content": SAID, "role": "nobody"}]},
            {"session": "s", "messages": [{"content": SAID, "created_at": "10000-01-01T00:00:00Z"}]},
            {"session": "s", "messages": [{"content": SAID}], "host": "nobody"},
            {"session": "dead", "messages": [{"content": f"{SAID} again", "id": "m"}]},
            {"session": "s", "messages": [{"content": SAID * 300_000}]},
            {"session": SAID, "unknown": SAID, "messages": []},
        ):
            with contextlib.suppress(ClientError):
                client.call("POST", "/v1/messages", body)
        with contextlib.suppress(ClientError):
            client.call("GET", f"/v1/{SAID.replace(' ', '_')}")
        client.letter(letters[0]["id"], content=True)
        client.checks()
        shown = [str(client.status()), str(client.call("GET", "/metrics")), str(client.letters())]
    daemon.hosts_file.write_text('{"apiKey": "hch-v3-plantedkey with spaces"}')
    daemon.signal(signal.SIGHUP)
    wait_until(lambda: daemon.events("config.refused"), "a refused configuration")
    daemon.use_hosts(hosts)
    network.heal()
    assert daemon.stop() == 0
    for text in (daemon.log(), *shown):
        for planted in PLANTED:
            assert planted not in text
    assert "request.refused" in daemon.log()
