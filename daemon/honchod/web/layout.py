"""What all pages share: the frame around them, tables, forms, moments. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from honchod.ops.amounts import duration
from honchod.web.markup import Markup, Node, document, el, fragment
from honchod.web.sessions import Notice, Tone

CSRF_FIELD: Final = "csrf"
BACK_FIELD: Final = "back"
_TITLE: Final = "honchod"


def page(title: str, *body: Node, scripted: bool = False, wide: bool = True) -> str:
    """A whole document."""
    return document(
        el(
            "html",
            el(
                "head",
                el("meta", charset="utf-8"),
                el("meta", name="viewport", content="width=device-width, initial-scale=1"),
                el("meta", name="color-scheme", content="light dark"),
                el("title", f"{title} · {_TITLE}"),
                el("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
                el("link", rel="stylesheet", href="/static/page.css"),
                el("script", src="/static/page.js", defer=True) if scripted else None,
            ),
            el("body", *body, class_=None if wide else "narrow"),
            lang="en",
        )
    )


def framed(
    title: str, *body: Node, csrf: str, here: str, notices: Iterable[Notice] = (), dead: int | None = None
) -> str:
    """A page of somebody who is logged in. ``here`` is the path of the page; ``dead`` counts the letters."""
    count = el("span", dead, class_="count") if dead else None
    return page(
        title,
        el("a", "Skip to content", href="#content", class_="skip"),
        el(
            "header",
            el(
                "a",
                icon(20),
                _TITLE,
                href="/",
                class_="brand",
            ),
            el(
                "nav",
                _tab("/", here, "Overview"),
                _tab("/letters", here, fragment("Dead letters", count)),
                aria_label="Pages",
            ),
            form("/logout", csrf, el("button", "Log out", class_="quiet"), class_="logout"),
            class_="bar",
        ),
        el("main", [shown(notice) for notice in notices], *body, id="content", tabindex="-1"),
        scripted=True,
    )


def form(action: str, csrf: str, *children: Node, back: str = "/", class_: str | None = None) -> Markup:
    """A form that POSTs, with what every such form must carry."""
    return el(
        "form",
        hidden(CSRF_FIELD, csrf),
        hidden(BACK_FIELD, back),
        *children,
        method="post",
        action=action,
        class_=class_,
    )


def icon(width: int) -> Markup:
    """The sign of the program; its name stands beside it."""
    return el("img", src="/static/icon.svg", alt="", width=width, height=width)


def hidden(name: str, value: str) -> Markup:
    """A field that nobody sees."""
    return el("input", type="hidden", name=name, value=value)


def button(label: str, action: str, csrf: str, *, hint: str, kind: str | None = None) -> Markup:
    """One button of the overview that does one thing; ``hint`` says which."""
    return form(action, csrf, el("button", label, class_=kind, title=hint))


def section(title: str, *body: Node, id_: str, live: bool = True, class_: str | None = None) -> Markup:
    """A card of the overview; a live one is refreshed in place."""
    return el(
        "section",
        el("h2", title, id=f"{id_}-title"),
        *body,
        id=id_,
        class_=f"card {class_}" if class_ else "card",
        aria_labelledby=f"{id_}-title",
        data_live=live,
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[Node]], *, empty: str, label: str) -> Markup:
    """A table; on a narrow screen each row becomes a block with the column's name before each value."""
    lines = [_row(columns, row) for row in rows]
    if not lines:
        return el("p", empty, class_="empty")
    head = el("thead", el("tr", [el("th", column, scope="col") for column in columns]))
    return el("div", el("table", head, el("tbody", lines), aria_label=label), class_="scroll")


def facts(pairs: Iterable[tuple[str, Node]]) -> Markup:
    """Names and values."""
    return el("dl", [el("div", el("dt", name), el("dd", value)) for name, value in pairs], class_="facts")


def pill(text: str, tone: Tone) -> Markup:
    """A word that says how something is."""
    return el("span", text, class_=f"pill {tone.value}")


def shown(notice: Notice) -> Markup:
    """What came of an action."""
    return el("p", notice.text, class_=f"notice {notice.tone.value}", role="status")


def moment(at: str | None, now_ms: int) -> Node:
    """A time of the wire (RFC 3339) as how long ago it was."""
    if at is None:
        return "-"
    ago_s = now_ms / 1000 - datetime.fromisoformat(at).timestamp()
    return el("time", f"{duration(max(0.0, ago_s))} ago", datetime=at, title=at)


def _row(columns: Sequence[str], row: Sequence[Node]) -> Markup:
    """The first cell names the row."""
    first, *others = zip(row, columns, strict=True)
    return el(
        "tr",
        el("th", first[0], scope="row", data_label=first[1]),
        [el("td", value, data_label=column or None) for value, column in others],
    )


def _tab(path: str, here: str, label: Node) -> Markup:
    return el("a", label, href=path, aria_current="page" if path == here else None)
