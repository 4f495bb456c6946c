"""The listener's HTTP application: what is there, and what happens to every request and answer."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import msgspec
import structlog
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler
from prometheus_client import CONTENT_TYPE_LATEST

from honchod.clock import Clock
from honchod.errors import Problem, raised_at
from honchod.identity.secret import Secret
from honchod.web import webhooks
from honchod.web.actions import Actions, told
from honchod.web.answers import html
from honchod.web.backend import Backend
from honchod.web.entrance import error_page
from honchod.web.gate import Gate
from honchod.web.guard import HEADERS, is_ours
from honchod.web.history import History
from honchod.web.pages import Pages
from honchod.web.token import TokenFile

_log = structlog.get_logger("honchod.web")

_BODY_BYTES: Final = 256 << 10
"""Room for the largest form: a page of chosen letters."""

_STATIC: Final = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_WORDS: Final = {
    403: "The form was not sent from a page of this daemon.",
    404: "There is no such page.",
    405: "This page does not take that.",
    413: "The form is too large.",
    415: "Only a plain form is taken.",
}


def application(
    backend: Backend, token: TokenFile, webhook_secret: Secret | None, history: History, clock: Clock
) -> web.Application:
    """Everything that the listener serves.

    Without a login: ``/metrics``, ``/v1/health`` (both as on the socket), the login and its style sheet, and
    Honcho's webhooks where there is a secret to know them by.
    """
    gate = Gate(token, clock)
    actions = Actions(backend, clock)
    pages = Pages(backend, history, actions, clock)
    app = web.Application(middlewares=[_guarded], client_max_size=_BODY_BYTES)
    add = app.router
    add.add_get("/metrics", _metrics(backend))
    add.add_get("/v1/health", _health(backend))
    if webhook_secret is not None:
        add.add_post(webhooks.PATH, webhooks.Webhooks(webhook_secret, backend.recaller).receive)
    for name, media_type in _STATIC.items():
        add.add_get(f"/static/{name}", _static(name, media_type))
    add.add_get("/login", gate.show_login)
    add.add_post("/login", gate.log_in)
    add.add_post("/logout", gate.acting(gate.log_out))
    add.add_get("/", gate.reading(pages.overview))
    add.add_get("/live", gate.refreshing(pages.live))
    add.add_get("/letters", gate.reading(pages.letters))
    add.add_get(r"/letters/{id:[0-9]{1,18}}", gate.reading(pages.letter))
    for path, act in actions.by_path.items():
        add.add_post(path, gate.acting(told(act)))
    return app


@web.middleware
async def _guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what is not addressed to this machine from within; word every failure; add the headers."""
    if is_ours(request.headers.getall(hdrs.HOST, [])):
        answer = await _answer(request, handler)
    else:
        answer = web.Response(status=421, text="This daemon answers on loopback names only.\n")
    answer.headers.update(HEADERS)
    return answer


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        detail = _WORDS.get(error.status, error.reason)
        answer = html(error_page(error.status, error.reason, detail), error.status)
        if hdrs.ALLOW in error.headers:
            answer.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        return answer
    except Problem as problem:
        return html(error_page(problem.status, problem.title, problem.detail), problem.status)
    except ConnectionError:
        raise
    except Exception as error:
        _log.error("web.failed", error=type(error).__name__, where=raised_at(error), method=request.method)
        return html(error_page(500, "Failed", "The daemon failed at this; its log says where."), 500)


def _metrics(backend: Backend) -> Handler:
    async def metrics(request: web.Request) -> web.Response:
        return web.Response(body=await backend.metrics(), headers={hdrs.CONTENT_TYPE: CONTENT_TYPE_LATEST})

    return metrics


def _health(backend: Backend) -> Handler:
    async def health(request: web.Request) -> web.Response:
        found = backend.health()
        return web.Response(
            body=msgspec.json.encode(found),
            status=200 if found.status == "ok" else 503,
            content_type="application/json",
        )

    return health


def _static(name: str, media_type: str) -> Handler:
    body = (files("honchod.web") / "static" / name).read_bytes()

    async def static(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=media_type, charset="utf-8")

    return static
