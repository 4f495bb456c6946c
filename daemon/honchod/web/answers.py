"""Answers of the page."""

from __future__ import annotations

from aiohttp import web


def html(text: str, status: int = 200) -> web.Response:
    """A page. What UTF-8 has no place for (a lone surrogate) becomes a question mark."""
    body = text.encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="text/html", charset="utf-8")


def see(path: str) -> web.Response:
    """Go on to another page of ours, with a GET."""
    return web.Response(status=303, headers={"Location": path})
