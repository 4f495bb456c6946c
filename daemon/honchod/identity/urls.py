"""Base URLs: which are taken, in which one form.

Two spellings of a URL that lead to the same server become equal here, because a key goes only to the URL
that it was configured with.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

CLOUD_URL: Final = "https://api.honcho.dev"
"""The hosted Honcho: where a host goes whose configuration names no URL at all."""

CLOUD_MCP_URL: Final = "https://mcp.honcho.dev"
"""The hosted MCP server."""

LOCAL_URL: Final = "http://localhost:8000"
"""What the SDK and the plugins mean by the environment ``local``."""

_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~%+-]*)*)",
    re.IGNORECASE,
)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_PORT: Final = 65535


def base_url(text: str) -> str:
    """The URL of a Honcho API in its one form: lower-case host, no default port, no final ``/`` or ``/v3``.

    Raises ValueError with the reason for anything but a plain ``http`` or ``https`` URL: other schemes,
    credentials, query or fragment, white space, characters that are not ASCII or cannot be seen. The reason
    never quotes the URL, which may hold a credential.
    """
    origin, path = _split(text)
    while path.endswith(("/", "/v3")):
        path = path.removesuffix("/").removesuffix("/v3")
    return origin + path


def mcp_url(text: str) -> str:
    """The URL of an MCP server, checked like ``base_url``; only the trailing ``/`` goes."""
    origin, path = _split(text)
    return origin + path.rstrip("/")


def quoted(text: str) -> str:
    """The URL as a problem may show it: escaped, and not at all where it may hold a credential."""
    return ascii(text) if not set("@?#") & set(text) else "(not shown)"


def _split(text: str) -> tuple[str, str]:
    if not text.isascii():
        raise ValueError("it has characters that are not ASCII (invisible ones, perhaps)")
    if any(char <= " " or char == "\x7f" for char in text):
        raise ValueError("it has white space or control characters")
    if "@" in text:
        raise ValueError("credentials do not belong into a URL")
    match = _URL.fullmatch(text)
    if match is None:
        raise ValueError("expected scheme http or https, a host, perhaps a port and a path, and nothing more")
    scheme, host = match["scheme"].lower(), match["host"].lower()
    if host.startswith("["):
        host = f"[{_ipv6(host[1:-1])}]"
    port = int(match["port"]) if match["port"] else _DEFAULT_PORTS[scheme]
    if not 1 <= port <= _MAX_PORT:
        raise ValueError(f"the port must be from 1 to {_MAX_PORT}")
    authority = host if port == _DEFAULT_PORTS[scheme] else f"{host}:{port}"
    return f"{scheme}://{authority}", match["path"]


def _ipv6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError("the IPv6 address is not one") from None
