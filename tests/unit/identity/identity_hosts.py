"""Hosts out of a config document, the way the daemon makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from honchod.errors import ConfigError
from honchod.identity import config
from honchod.identity.host import Host, Hosts


def no_key_file(name: str) -> str:
    raise ValueError(f"no file {name}")


def parse(document: object, environ: Mapping[str, str] | None = None, credential: str | None = None) -> Hosts:
    return config.parse(document, environ or {}, read_key=no_key_file, credential=credential)


def host_with(**keys: Any) -> Host:
    """The host ``h`` with these keys in its block."""
    return parse({"hosts": {"h": keys}})["h"]


def problems_of(document: object, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """What is wrong with the document; nothing when it is right."""
    try:
        parse(document, environ)
    except ConfigError as error:
        return error.problems
    return ()


@dataclass(frozen=True)
class Where:
    """A locator."""

    cwd: str | None = None
    title: str | None = None
    platform_key: str | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class Said:
    """What of a message says whose it is."""

    role: str = "user"
    author: str | None = None
    peer: str | None = None
    runtime_user: str | None = None
    runtime_user_alt: str | None = None
