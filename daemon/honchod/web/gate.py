"""Who gets to the page: the login, the session of a request, and what a form must carry."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from aiohttp import hdrs, web

from honchod.clock import Clock
from honchod.web.answers import html, see
from honchod.web.attempts import Attempts
from honchod.web.entrance import error_page, login_page
from honchod.web.guard import is_same_origin
from honchod.web.layout import BACK_FIELD, CSRF_FIELD
from honchod.web.sessions import LIFETIME_S, Notice, Session, Sessions, Tone, new_id
from honchod.web.token import TokenFile

_log = structlog.get_logger("honchod.web")

_FORM: Final = "application/x-www-form-urlencoded"
_VISITOR_COOKIE: Final = "honchod_visitor"
_VISITOR_S: Final = 3600
_BACK: Final = re.compile(r"/(?:letters(?:/[0-9]+)?)?(?:\?[A-Za-z0-9%&=._~+-]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who is logged in. ``form`` is empty for a GET."""

    request: web.Request
    session: Session
    form: Form

    @property
    def csrf(self) -> str:
        """What the forms of the answer must carry."""
        return self.session.csrf

    @property
    def back(self) -> str:
        """The page that the form was on: one of ours, whatever it says."""
        path = self.form.text(BACK_FIELD) or "/"
        return path if _BACK.fullmatch(path) else "/"

    def tell(self, text: str, tone: Tone = Tone.GOOD) -> web.Response:
        """Go back to the page of the form, and say there what came of it."""
        self.session.notices.append(Notice(text, tone))
        return see(self.back)


class Form:
    """The fields of a form."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self._fields = fields

    def text(self, field: str) -> str | None:
        """The first value of a field."""
        return next(iter(self.all(field)), None)

    def all(self, field: str) -> list[str]:
        """Every value of a field."""
        return self._fields.get(field, [])


Act = Callable[[Visit], Awaitable[web.StreamResponse]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Gate:
    """Wraps handlers so that they see nobody who is not logged in."""

    def __init__(self, token: TokenFile, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        self._sessions = Sessions()
        self._attempts = Attempts()

    def reading(self, act: Act) -> Handler:
        """A page: without a session the login is shown."""

        async def handle(request: web.Request) -> web.StreamResponse:
            session = self._session(request)
            return see("/login") if session is None else await act(Visit(request, session, Form({})))

        return handle

    def refreshing(self, act: Act) -> Handler:
        """A part of a page, asked for by its script: without a session a 401, never the login."""

        async def handle(request: web.Request) -> web.StreamResponse:
            session = self._session(request)
            return (
                web.Response(status=401) if session is None else await act(Visit(request, session, Form({})))
            )

        return handle

    def acting(self, act: Act) -> Handler:
        """A form: sent from one of our pages, with a session and what belongs to it."""

        async def handle(request: web.Request) -> web.StreamResponse:
            form = await _form(request)
            session = self._session(request)
            if session is None:
                return see("/login")
            if not self._sessions.is_csrf(session.id, form.text(CSRF_FIELD) or ""):
                return _refused("This form is out of date: go back, load the page again, and repeat.")
            return await act(Visit(request, session, form))

        return handle

    async def show_login(self, request: web.Request) -> web.StreamResponse:
        """The form for the token."""
        if self._session(request) is not None:
            return see("/")
        visitor = request.cookies.get(_VISITOR_COOKIE) or new_id()
        return self._login_form(visitor)

    async def log_in(self, request: web.Request) -> web.StreamResponse:
        """The token for a session."""
        form = await _form(request)
        visitor = request.cookies.get(_VISITOR_COOKIE) or ""
        if not visitor or not self._sessions.is_csrf(visitor, form.text(CSRF_FIELD) or ""):
            return self._login_form(visitor or new_id(), 403, "The form was out of date. Try once more.")
        now_s = self._clock.monotonic_s()
        wait_s = self._attempts.wait_s(now_s)
        if wait_s:
            answer = self._login_form(visitor, 429, "Too many attempts. Wait a little.")
            answer.headers[hdrs.RETRY_AFTER] = str(math.ceil(wait_s))
            return answer
        if not self._token.fits((form.text("token") or "").strip()):
            _log.warning("web.login_refused")
            return self._login_form(visitor, 403, "That is not the token.")
        self._attempts.forgive()
        session = self._sessions.open(now_s)
        _log.info("web.logged_in")
        answer = see("/")
        _set_cookie(answer, _cookie(request), session.id, path="/", max_age_s=int(LIFETIME_S))
        answer.del_cookie(_VISITOR_COOKIE, path="/login")
        return answer

    async def log_out(self, visit: Visit) -> web.StreamResponse:
        """End the session."""
        self._sessions.close(visit.session)
        answer = see("/login")
        answer.del_cookie(_cookie(visit.request), path="/")
        return answer

    def _session(self, request: web.Request) -> Session | None:
        return self._sessions.find(request.cookies.get(_cookie(request)), self._clock.monotonic_s())

    def _login_form(self, visitor: str, status: int = 200, said: str | None = None) -> web.Response:
        notice = None if said is None else Notice(said, Tone.BAD)
        answer = html(login_page(self._sessions.csrf(visitor), notice), status)
        _set_cookie(answer, _VISITOR_COOKIE, visitor, path="/login", max_age_s=_VISITOR_S)
        return answer


async def _form(request: web.Request) -> Form:
    """The fields, when the form comes from one of our pages; raises HTTPForbidden otherwise."""
    origin, site = request.headers.get(hdrs.ORIGIN), request.headers.get("Sec-Fetch-Site")
    if not is_same_origin(origin, site, request.headers.get(hdrs.HOST, "")):
        raise web.HTTPForbidden
    if request.content_type != _FORM:
        raise web.HTTPUnsupportedMediaType
    fields = await request.post()
    return Form({field: [str(value) for value in fields.getall(field)] for field in fields})


def _refused(detail: str) -> web.Response:
    return html(error_page(403, "Not allowed", detail), 403)


def _cookie(request: web.Request) -> str:
    """The name of the session cookie. Cookies know no ports: two daemons would log each other out."""
    sockname = request.transport.get_extra_info("sockname") if request.transport is not None else None
    return f"honchod_session_{sockname[1]}" if sockname else "honchod_session"


def _set_cookie(answer: web.Response, name: str, value: str, *, path: str, max_age_s: int) -> None:
    answer.set_cookie(name, value, path=path, max_age=max_age_s, httponly=True, samesite="Strict")
