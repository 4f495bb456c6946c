"""The pages as text: nobody's words become markup, nothing needs what the policy forbids."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from web_views import HOSTILE, NOW_MS, letter, letter_detail, letter_page, snapshot

from honchod.web import letters
from honchod.web.entrance import error_page, login_page
from honchod.web.letters import Filter
from honchod.web.overview import overview_page
from honchod.web.sessions import Notice, Tone

CSRF = "csrf-of-the-session"
LIST = letter_page(letter("1"), letter("2"), total=70, cursor='2"><x>')
ONLY = Filter(session=HOSTILE, code=HOSTILE)
COMMON = {"csrf": CSRF, "now_ms": NOW_MS, "notices": [Notice(HOSTILE, Tone.BAD)], "dead": 2}

PAGES: dict[str, Callable[[], str]] = {
    "overview": lambda: overview_page(snapshot(), csrf=CSRF, notices=[Notice(HOSTILE)]),
    "letters": lambda: letters.letters_page(LIST, ONLY, **COMMON),  # type: ignore[arg-type]
    "no letters": lambda: letters.letters_page(letter_page(), ONLY, **COMMON),  # type: ignore[arg-type]
    "letter": lambda: letters.letter_page(letter_detail(content=HOSTILE), **COMMON),  # type: ignore[arg-type]
    "confirm": lambda: letters.confirm_page(
        HOSTILE, HOSTILE, action="/x", label="Do", fields=[("id", HOSTILE)], csrf=CSRF, back="/letters"
    ),
    "login": lambda: login_page(CSRF, Notice(HOSTILE)),
    "error": lambda: error_page(500, HOSTILE, HOSTILE),
}


class Page(HTMLParser):
    """A page as a browser takes it apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside_label: list[dict[str, str | None]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "input" and "label" in self.open:
            self.inside_label.append(self.elements[-1][1])
        if tag not in ("meta", "link", "input", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.elements if found == tag]


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> Page:
    return Page(PAGES[request.param]())


def test_hostile_words_are_shown_and_are_no_markup(page: Page) -> None:
    assert HOSTILE in "".join(page.text)
    assert not [image for image in page.all("img") if image["src"] != "/static/icon.svg"]
    assert [script["src"] for script in page.all("script")] in ([], ["/static/page.js"])
    assert page.open == []


def test_nothing_needs_what_the_policy_forbids(page: Page) -> None:
    assert not page.all("style")
    for _, attributes in page.elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        for name in ("src", "href", "action", "formaction"):
            target = attributes.get(name)
            assert target is None or (target.startswith(("/", "#")) and not target.startswith("//"))


def test_every_form_that_changes_something_carries_the_token(page: Page) -> None:
    posting = [form for form in page.all("form") if form["method"] == "post"]
    carried = [field for field in page.all("input") if field.get("name") == "csrf"]
    assert len(carried) == len(posting)
    assert {field["value"] for field in carried} <= {CSRF}


def test_every_field_has_a_name_for_those_who_do_not_see_it(page: Page) -> None:
    labelled = {label.get("for") for label in page.all("label")}
    for field in page.all("input"):
        hidden = field.get("type") == "hidden" or "hidden" in field
        named = field.get("aria-label") or field.get("id") in labelled or field in page.inside_label
        assert hidden or named


def test_ids_are_unique(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_page_has_a_language_a_title_and_one_first_heading(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("title")) >= 1
    assert len(page.all("h1")) == 1


def test_the_overview_offers_to_resume_only_while_paused() -> None:
    running = overview_page(snapshot(), csrf=CSRF, notices=[])
    paused = overview_page(snapshot(paused=True), csrf=CSRF, notices=[])
    assert "/worker/pause" in running
    assert "/worker/resume" not in running
    assert "/worker/resume" in paused
    assert "/worker/pause" not in paused


def test_the_overview_names_what_is_stuck_and_who_is_away() -> None:
    said = "".join(Page(overview_page(snapshot(stuck=["writer"]), csrf=CSRF, notices=[])).text)
    assert "stuck: writer" in said
    assert "1 of 2 destinations away" in said


def test_the_overview_of_a_fresh_daemon_says_that_there_is_nothing() -> None:
    said = "".join(
        Page(
            overview_page(snapshot(dead=0, checked=False, letters=letter_page()), csrf=CSRF, notices=[])
        ).text
    )
    assert "Not checked yet." in said
    assert "None." in said


def test_content_is_shown_only_when_it_was_asked_for() -> None:
    without = letters.letter_page(letter_detail(), **COMMON)  # type: ignore[arg-type]
    shown = letters.letter_page(letter_detail(content="I moved to Lisbon."), **COMMON)  # type: ignore[arg-type]
    assert "?content=1" in without
    assert "<pre" not in without
    assert "I moved to Lisbon." in shown


def test_a_filter_goes_with_every_form_and_link_of_the_list() -> None:
    only = Filter.of("a&b c", "")
    assert only == Filter(session="a&b c")
    page = Page(letters.letters_page(LIST, only, **COMMON))  # type: ignore[arg-type]
    carried = {field["name"]: field["value"] for field in page.all("input") if field["type"] == "hidden"}
    assert carried["session"] == "a&b c"
    assert carried["back"] == "/letters?session=a%26b+c"
    following = [link["href"] for link in page.all("a") if link.get("rel") == "next"]
    assert following == ["/letters?session=a%26b+c&cursor=2%22%3E%3Cx%3E"]


def test_the_path_of_a_letter_stays_below_the_list() -> None:
    assert letters.letter_path("../x?y#z") == "/letters/..%2Fx%3Fy%23z"
