"""The dead letters: the list, one of them, and the question before an act that has no way back. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from honchod.ops.amounts import number, size
from honchod.ops.views import Letter, LetterDetail, LetterPage
from honchod.web.layout import BACK_FIELD, CSRF_FIELD, facts, form, framed, hidden, moment, table
from honchod.web.markup import Markup, Node, el, fragment, name
from honchod.web.sessions import Notice

PAGE_SIZE: Final = 50
BRIEF: Final = 8
"""Letters on the overview."""

RETRY: Final = "/letters/retry"
DISCARD: Final = "/letters/discard"
_FILTER_CHARS: Final = 512


@dataclass(frozen=True, slots=True)
class Filter:
    """Which letters are meant; None: any."""

    session: str | None = None
    code: str | None = None

    @classmethod
    def of(cls, session: str | None, code: str | None) -> Filter:
        """What the fields of a form say; an empty one says nothing."""
        return cls(_said(session), _said(code))

    @property
    def path(self) -> str:
        """The list with this filter."""
        return list_path(self, None)

    def __str__(self) -> str:
        return " and ".join(f"{field} {value!a}" for field, value in filter_fields(self))


def list_path(only: Filter, cursor: str | None) -> str:
    """The path of a page of the list."""
    given = {"session": only.session, "code": only.code, "cursor": cursor}
    query = urlencode({field: value for field, value in given.items() if value})
    return f"/letters?{query}" if query else "/letters"


def letter_path(letter_id: str) -> str:
    """The path of one letter."""
    return f"/letters/{quote(letter_id, safe='')}"


def brief_table(page: LetterPage, csrf: str, now_ms: int) -> Markup:
    """The first letters, each with what can be done about it."""
    columns = ("Reason", "Session", "Host", "Died", "Attempts", "Size", "")
    rows = [[*_cells(letter, now_ms), _row_actions(letter)] for letter in page.items[:BRIEF]]
    shown = table(columns, rows, empty="None.", label="Dead letters")
    more = page.total - len(rows)
    link = el("p", el("a", f"{number(more)} more", href="/letters")) if more > 0 else None
    return fragment(form(RETRY, csrf, shown), link)


def letters_page(
    page: LetterPage,
    only: Filter,
    *,
    csrf: str,
    now_ms: int,
    notices: list[Notice],
    dead: int,
) -> str:
    """A page of the list, with a filter and what can be done to one, to some and to all."""
    return framed(
        "Dead letters",
        el("h1", "Dead letters"),
        el(
            "section",
            _filter(only),
            _list(page, only, csrf, now_ms),
            class_="card",
            aria_label="List",
        ),
        csrf=csrf,
        here="/letters",
        notices=notices,
        dead=dead,
    )


def letter_page(letter: LetterDetail, *, csrf: str, now_ms: int, notices: list[Notice], dead: int) -> str:
    """One letter with its attempts; what was said only when it was asked for."""
    path = letter_path(letter.id)
    attempts = table(
        ("When", "Outcome", "Status", "Took"),
        [
            [moment(each.at, now_ms), el("code", each.outcome), each.status or "-", f"{number(each.ms)} ms"]
            for each in letter.history
        ],
        empty="No attempt is remembered.",
        label="Attempts",
    )
    return framed(
        f"Letter {letter.id}",
        el("p", el("a", "← Dead letters", href="/letters")),
        el("h1", "Letter ", letter.id),
        el(
            "section",
            facts(
                (
                    ("Reason", el("code", letter.code)),
                    ("Session", name(letter.session)),
                    ("Host", name(letter.host)),
                    ("Workspace", name(letter.workspace)),
                    ("Peer", name(letter.peer)),
                    ("Kind", letter.kind),
                    ("Message", name(letter.message_id)),
                    ("Part", number(letter.part + 1)),
                    ("Size", size(letter.size)),
                    ("Attempts", number(letter.attempts)),
                    ("Said", moment(letter.created_at, now_ms)),
                    ("Died", moment(letter.died_at, now_ms)),
                )
            ),
            form(RETRY, csrf, _buttons(letter.id), back="/letters", class_="actions"),
            class_="card",
            aria_label="Letter",
        ),
        el("section", el("h2", "Attempts"), attempts, class_="card", aria_label="Attempts"),
        _content(letter, path),
        csrf=csrf,
        here=path,
        notices=notices,
        dead=dead,
    )


def confirm_page(
    question: str,
    warning: str,
    *,
    action: str,
    label: str,
    fields: list[tuple[str, str]],
    csrf: str,
    back: str,
) -> str:
    """Ask before an act; ``fields`` say what it is done to."""
    return framed(
        "Sure?",
        el(
            "section",
            el("h1", question),
            el("p", warning),
            form(
                action,
                csrf,
                [hidden(field, value) for field, value in fields],
                hidden("confirm", "yes"),
                el("button", label, class_="danger"),
                el("a", "Cancel", href=back, class_="button"),
                back=back,
                class_="actions",
            ),
            class_="card",
        ),
        csrf=csrf,
        here="",
    )


def _said(text: str | None) -> str | None:
    return text[:_FILTER_CHARS] if text else None


def _cells(letter: Letter, now_ms: int) -> list[Node]:
    return [
        el("a", el("code", letter.code), href=letter_path(letter.id)),
        name(letter.session),
        name(letter.host),
        moment(letter.died_at, now_ms),
        number(letter.attempts),
        size(letter.size),
    ]


def _row_actions(letter: Letter) -> Markup:
    return el("div", _buttons(letter.id, of=f" letter {letter.id}"), class_="row-actions")


def _buttons(letter_id: str, of: str = "") -> Markup:
    return fragment(
        el("button", "Retry", name="only", value=letter_id, formaction=RETRY, aria_label=f"Retry{of}"),
        el(
            "button",
            "Discard",
            name="only",
            value=letter_id,
            formaction=DISCARD,
            class_="danger",
            aria_label=f"Discard{of}",
        ),
    )


def _filter(only: Filter) -> Markup:
    return el(
        "form",
        el("label", "Session", el("input", name="session", value=only.session or "", type="search")),
        el("label", "Code", el("input", name="code", value=only.code or "", type="search")),
        el("button", "Filter"),
        el("a", "Clear", href="/letters", class_="button quiet") if only != Filter() else None,
        method="get",
        action="/letters",
        class_="filter",
        role="search",
    )


def _list(page: LetterPage, only: Filter, csrf: str, now_ms: int) -> Markup:
    if not page.items:
        return el("p", "No dead letters." if only == Filter() else f"None of {only}.", class_="empty")
    columns = ("Choose", "Reason", "Session", "Host", "Died", "Attempts", "Size", "")
    rows = [
        [
            el("input", type="checkbox", name="id", value=letter.id, aria_label=f"Choose letter {letter.id}"),
            *_cells(letter, now_ms),
            _row_actions(letter),
        ]
        for letter in page.items
    ]
    return fragment(
        el("p", f"{number(page.total)} in all, oldest first.", class_="muted small"),
        el(
            "form",
            hidden(CSRF_FIELD, csrf),
            hidden(BACK_FIELD, only.path),
            [hidden(field, value) for field, value in filter_fields(only)],
            _bulk(page),
            table(columns, rows, empty="", label="Dead letters"),
            method="post",
            action=RETRY,
            class_="bulk",
        ),
        el("p", el("a", "Next page", href=list_path(only, page.cursor), rel="next")) if page.cursor else None,
    )


def filter_fields(only: Filter) -> list[tuple[str, str]]:
    """The filter as fields of a form."""
    given = (("session", only.session), ("code", only.code))
    return [(field, value) for field, value in given if value is not None]


def _bulk(page: LetterPage) -> Markup:
    everything = f"all {number(page.total)}"
    return el(
        "div",
        el(
            "label",
            el("input", type="checkbox", data_choose_all=True),
            "Choose all on this page",
            class_="choose",
            hidden=True,
        ),
        el("button", "Retry chosen", formaction=RETRY),
        el("button", "Discard chosen", formaction=DISCARD, class_="danger"),
        el("span", class_="space"),
        el("button", f"Retry {everything}", formaction=RETRY, name="all", value="1"),
        el("button", f"Discard {everything}", formaction=DISCARD, name="all", value="1", class_="danger"),
        class_="actions",
    )


def _content(letter: LetterDetail, path: str) -> Markup:
    title = el("h2", "What was said")
    if letter.content is None and letter.metadata is None:
        ask = el("a", "Show the content", href=f"{path}?content=1", class_="button", rel="nofollow")
        return el("section", title, el("p", ask), class_="card", aria_label="Content")
    metadata = json.dumps(letter.metadata, ensure_ascii=False, indent=2) if letter.metadata else None
    return el(
        "section",
        title,
        el("pre", letter.content or "", dir="auto", class_="content"),
        None if metadata is None else fragment(el("h3", "Metadata"), el("pre", metadata, class_="content")),
        el("p", el("a", "Hide the content", href=path, class_="button")),
        class_="card",
        aria_label="Content",
    )
