"""Hosts, places and clocks for the tests of recall."""

from __future__ import annotations

from typing import Any

from honchod.delivery.routes import Route
from honchod.identity import config
from honchod.identity.host import Host
from honchod.identity.names import SessionName
from honchod.identity.place import Place
from honchod.identity.sessions import SessionSource


class HandClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.wall_ms = 1_780_000_000_000
        self.mono_s = 1_000.0

    def now_ms(self) -> int:
        return self.wall_ms

    def monotonic_s(self) -> float:
        return self.mono_s

    def pass_s(self, seconds: float) -> None:
        self.mono_s += seconds
        self.wall_ms += int(seconds * 1000)


def no_key_file(name: str) -> str:
    raise ValueError(f"no file {name}")


def host_with(**keys: Any) -> Host:
    """The host ``h``, with these keys in its block."""
    block = {"baseUrl": "http://127.0.0.1:8000", "workspace": "w", "peerName": "ann", "aiPeer": "bot", **keys}
    return config.parse({"hosts": {"h": block}}, {}, read_key=no_key_file, credential=None)["h"]


def place_of(host: Host, session: str = "s", scope: str | None = None) -> Place:
    name = SessionName(host.name, host.workspace, session)
    return Place(host, name, session, 0, SessionSource.SESSION, scope)


def route_of(host: Host) -> Route:
    return Route(host, "destination")
