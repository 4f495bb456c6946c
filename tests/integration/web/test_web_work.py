"""What an operator sees and does on the page, over real HTTP, in front of a real daemon."""

from __future__ import annotations

import json

import pytest
from web_house import House

from support.waiting import wait_until


def test_the_overview_shows_the_effective_identity(house: House) -> None:
    text = house.operator().get("/").text
    for value in (house.network.url, "home", "ann", "hybrid", "per-directory", "root"):
        assert f">{value}<" in text or value in text


def test_the_worker_is_paused_resumed_woken_and_drained(house: House) -> None:
    operator = house.operator()
    assert "Delivery is paused." in operator.press("/worker/pause").text
    assert house.daemon.status()["delivery"]["paused"]
    with house.daemon.client() as client:
        client.write([{"content": "waits"}], session="paused")
    assert "1 message that wait are due now, once delivery is resumed." in operator.press("/worker/wake").text
    assert "Delivery goes on." in operator.press("/worker/resume").text
    assert not house.daemon.status()["delivery"]["paused"]
    assert "Drained: nothing waits." in operator.press("/worker/drain").text


def test_a_notice_is_shown_once(house: House) -> None:
    operator = house.operator()
    assert 'role="status"' in operator.press("/worker/wake").text
    assert 'role="status"' not in operator.get("/").text


def test_a_bad_configuration_is_told_and_changes_nothing(house: House) -> None:
    operator = house.operator()
    good = house.daemon.hosts_file.read_text()
    assert "Reloaded. Hosts: default." in operator.press("/reload").text
    try:
        house.daemon.hosts_file.write_text(json.dumps({**json.loads(good), "memoryMode": "nowhere"}))
        text = operator.press("/reload").text
        assert "The configuration is not used" in text
        assert "memoryMode" in text
    finally:
        house.daemon.hosts_file.write_text(good)
    assert operator.get("/").status == 200


def test_checks_are_run_and_shown(house: House) -> None:
    operator = house.operator()
    assert "Not checked yet." in operator.get("/").text
    text = operator.press("/checks").text
    assert "Not checked yet." not in text
    assert "the clock is steady" in text


def test_notices_are_taken_as_read(house: House) -> None:
    assert "0 notices taken as read." in house.operator().press("/notices/ack").text


def test_the_cache_is_cleared(house: House) -> None:
    assert "0 cached answers forgotten." in house.operator().press("/cache/clear").text


def test_a_letter_is_shown_without_and_with_its_content(house: House) -> None:
    (letter,) = house.kill_letters("<b>private</b>", session="shown")
    operator = house.operator()
    assert "rejected_422" in operator.get("/").text
    for path in ("/", "/letters", f"/letters/{letter}"):
        assert "private" not in operator.get(path).text
    asked = operator.get(f"/letters/{letter}?content=1")
    assert "poison &lt;b&gt;private&lt;/b&gt;" in asked.text
    assert operator.get("/letters/999999").status == 404


def test_one_letter_is_retried_and_delivered(house: House) -> None:
    first, second = house.kill_letters("one", "two", session="single")
    operator = house.operator()
    assert "1 letter back in the queue." in operator.press("/letters/retry", ("only", first)).text
    house.daemon.wait_for_delivery()
    with house.daemon.client() as client:
        assert [letter["id"] for letter in client.letters(session="single")["items"]] == [second]


def test_chosen_letters_are_retried_and_those_of_a_pressed_button_only(house: House) -> None:
    letters = house.kill_letters("one", "two", "three", session="chosen")
    operator = house.operator()
    chosen = [("id", letter) for letter in letters[:2]]
    assert "2 letters back" in operator.press("/letters/retry", *chosen, page="/letters").text
    pressed = operator.press("/letters/retry", ("only", letters[2]), ("id", "1"), page="/letters")
    assert "1 letter back" in pressed.text
    assert "No letter was chosen." in operator.press("/letters/retry", page="/letters").text


def test_a_letter_is_discarded_only_once_that_is_confirmed(house: House) -> None:
    (letter,) = house.kill_letters("gone", session="discard")
    operator = house.operator()
    question = operator.press("/letters/discard", ("only", letter))
    assert "Discard 1 letter?" in question.text
    with house.daemon.client() as client:
        assert client.letters(session="discard")["total"] == 1
        done = operator.post(
            "/letters/discard",
            [("csrf", question.field("csrf")), ("id", question.field("id")), ("confirm", "yes")],
        )
        assert "1 letter discarded." in operator.get(done.location).text
        assert client.letters(session="discard")["total"] == 0


@pytest.mark.parametrize(("action", "said"), [("retry", "back in the queue"), ("discard", "discarded")])
def test_all_means_all_that_match_once_that_is_confirmed(house: House, action: str, said: str) -> None:
    ours = f"all-{action}"
    house.kill_letters("one", "two", "three", session=ours)
    other = f"other-{action}"
    house.kill_letters("not meant", session=other)
    operator = house.operator()
    page = f"/letters?session={ours}"
    question = operator.press(f"/letters/{action}", ("all", "1"), ("session", ours), page=page)
    assert f"all 3 letters of session &#x27;{ours}&#x27;?" in question.text
    with house.daemon.client() as client:
        assert client.letters(session=ours)["total"] == 3
        fields = [
            (name, question.field(name)) for name in ("csrf", "all", "session", "until", "confirm", "back")
        ]
        done = operator.post(f"/letters/{action}", fields)
        assert done.location == page
        assert f"3 letters {said}." in operator.get(done.location).text
        assert client.letters(session=ours)["total"] == 0
        assert client.letters(session=other)["total"] == 1


def test_what_died_after_the_question_is_not_discarded_with_the_answer(house: House) -> None:
    house.kill_letters("before", session="late")
    operator = house.operator()
    question = operator.press("/letters/discard", ("all", "1"), ("session", "late"), page="/letters")
    house.kill_letters("after", session="late")
    fields = [(name, question.field(name)) for name in ("csrf", "all", "session", "until", "confirm")]
    operator.post("/letters/discard", fields)
    with house.daemon.client() as client:
        assert client.letters(session="late")["total"] == 1


def test_the_list_is_filtered_and_continued(house: House) -> None:
    house.kill_letters(*map(str, range(60)), session="many")
    operator = house.operator()
    first = operator.get("/letters?session=many&code=rejected_422")
    assert "60 in all" in first.text
    assert first.text.count('name="id"') == 50
    following = first.text.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
    second = operator.get(following.replace("&amp;", "&"))
    assert second.text.count('name="id"') == 10
    assert "None of code &#x27;other&#x27;." in operator.get("/letters?code=other").text
    assert operator.get("/letters?cursor=odd").status == 400


@pytest.mark.parametrize(
    "back", ["//evil.example", "http://evil.example", "/\\evil.example", "/letters\r\nX: y"]
)
def test_a_form_leads_back_to_a_page_of_ours_only(house: House, back: str) -> None:
    operator = house.operator()
    csrf = operator.get("/").field("csrf")
    answer = operator.post("/worker/wake", [("csrf", csrf), ("back", back)])
    assert (answer.status, answer.location) == (303, "/")
    assert "x" not in answer.headers


def test_the_refreshed_parts_follow_the_queue(house: House) -> None:
    operator = house.operator()
    before = operator.get("/live").text
    with house.daemon.client() as client:
        client.write([{"content": "hello"}], session="live")
    house.daemon.wait_for_delivery()
    delivered = f">{house.daemon.status()['queue']['delivered']:,}<"
    assert wait_until(lambda: delivered in operator.get("/live").text, "the count to follow")
    assert delivered not in before
