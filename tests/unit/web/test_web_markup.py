"""HTML as values: nothing that somebody wrote becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from honchod.web.markup import Markup, el, fragment, name

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</td></tr></table><form action=//evil.example>",
    "<!--",
    "&lt;b&gt;",
    "javascript:alert(1)",
]


class Seen(HTMLParser):
    """The elements, attributes and texts that a browser would find."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text(text: str) -> None:
    seen = Seen(el("td", text))
    assert seen.tags == ["td"]
    assert seen.text == text


@pytest.mark.parametrize("text", HOSTILE)
def test_an_attribute_ends_where_it_was_meant_to(text: str) -> None:
    seen = Seen(el("input", value=text, data_label=text))
    assert seen.tags == ["input"]
    assert seen.attributes == [("value", text), ("data-label", text)]


def test_markup_put_together_with_text_is_text_again() -> None:
    joined = el("b", "bold") + "<i>"
    assert not isinstance(joined, Markup)
    assert Seen(el("p", joined)).tags == ["p"]


def test_nodes_may_be_nested_absent_and_numbers() -> None:
    assert el("p", "a", None, [1, [el("b", "c")]], 0) == "<p>a1<b>c</b>0</p>"
    assert fragment() == ""


def test_attributes_may_be_absent_or_without_a_value() -> None:
    assert (
        el("input", hidden=True, checked=False, class_=None, aria_label="x")
        == '<input hidden aria-label="x">'
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("chat-7", "chat-7"),
        ("zoë 日本", "zoë 日本"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u200bb", r"a\u200bb"),
        ("a\nb\x1b[31m", r"a\nb\x1b[31m"),
        ("\ud800", r"\ud800"),
    ],
)
def test_a_name_shows_what_cannot_be_seen(text: str, shown: str) -> None:
    assert name(text) == f"<bdi>{shown}</bdi>"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_stays_text(text: str) -> None:
    seen = Seen(name(text + "\u202e"))
    assert seen.tags == ["bdi"]
    assert seen.text == text + r"\u202e"
