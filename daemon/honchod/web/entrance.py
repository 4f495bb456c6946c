"""The pages that need no session: the login, and what went wrong. Pure."""

from __future__ import annotations

from honchod.web.layout import CSRF_FIELD, hidden, icon, page, shown
from honchod.web.markup import el
from honchod.web.sessions import Notice


def login_page(csrf: str, notice: Notice | None = None) -> str:
    """The form that asks for the token."""
    return page(
        "Log in",
        el(
            "main",
            icon(44),
            el("h1", "honchod"),
            None if notice is None else shown(notice),
            el(
                "form",
                hidden(CSRF_FIELD, csrf),
                # Password managers file what they keep under a user's name.
                el("input", name="user", value="honchod", autocomplete="username", hidden=True),
                el("label", "Token", for_="token"),
                el(
                    "input",
                    id="token",
                    name="token",
                    type="password",
                    autocomplete="current-password",
                    required=True,
                    autofocus=True,
                    spellcheck="false",
                    aria_describedby="help",
                ),
                el("button", "Log in", class_="primary"),
                method="post",
                action="/login",
            ),
            el("p", el("code", "honchod ui"), " tells the token.", id="help", class_="muted"),
            class_="card entrance",
        ),
        wide=False,
    )


def error_page(status: int, title: str, detail: str) -> str:
    """What went wrong, and the way back."""
    return page(
        title,
        el(
            "main",
            el("p", status, class_="status muted"),
            el("h1", title),
            el("p", detail),
            el("p", el("a", "To the overview", href="/")),
            class_="card entrance",
        ),
        wide=False,
    )
