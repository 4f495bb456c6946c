"""Which requests are let near the page at all, and the headers that every answer carries. No I/O."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Not no-referrer: browsers then send "Origin: null" with our own forms. No other site is told anything.
    "Referrer-Policy": "same-origin",
    "Server": "honchod",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z.-]+)(?::[0-9]{1,5})?", re.ASCII)


def is_ours(hosts: list[str]) -> bool:
    """Whether the Host headers of a request are one that names this machine from within.

    A page of another site whose name was made to lead to 127.0.0.1 (DNS rebinding) sends that site's name.
    The port may be any: a tunnel may end at another one.
    """
    if len(hosts) != 1:
        return False
    match = _HOST.fullmatch(hosts[0])
    if match is None:
        return False
    name = match["name"].lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def is_same_origin(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Whether a form was sent from a page of this very listener.

    ``origin`` is what browsers send with every POST; ``fetch_site`` (``Sec-Fetch-Site``) is their own word
    on it, where they give it. Without ``origin`` nothing is done.
    """
    return origin == f"http://{host}" and fetch_site in (None, "same-origin")
