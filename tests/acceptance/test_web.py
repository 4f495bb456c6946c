"""The web page in a real Chromium: seen, used with the mouse, used without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.browser import BROWSER, DRIVER, Browser, running_browser
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: apt-get install chromium chromium-driver",
)

PHONE_PX = 390


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module: starting it takes its time."""
    with running_browser() as browser:
        yield browser


@pytest.fixture
def page_daemon(make_daemon: Callable[..., DaemonProcess]) -> DaemonProcess:
    """A running daemon with the page."""
    return make_daemon(settings={"http": {"listen": "127.0.0.1:0"}}).start()


def log_in(browser: Browser, daemon: DaemonProcess) -> str:
    """Get past the login; where the page is."""
    with daemon.client() as client:
        access = client.ui(show_token=True)
    # The page of the test before still asks for its daemon.
    browser.open("about:blank")
    browser.console()
    browser.look(width=1280)
    browser.open(access["url"])
    browser.type("#token", access["token"])
    browser.click("main button")
    wait_until(lambda: browser.url == access["url"], "the overview")
    return str(access["url"])


def let_die(daemon: DaemonProcess, network: Network, *texts: str) -> None:
    """Let the server reject these messages."""
    network.hit("POST messages session=doomed: status=422")
    with daemon.client() as client:
        for text in texts:
            client.write([{"content": text}], session="doomed")
        wait_until(lambda: client.status()["queue"]["dead"] == len(texts), "them to die")
    network.heal()


def test_a_dead_letter_is_seen_retried_and_seen_delivered(
    browser: Browser, page_daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    log_in(browser, page_daemon)
    browser.see("#queue-dead", "0")
    let_die(page_daemon, network, "I moved to Lisbon.")
    # No reload: the page refreshes itself.
    browser.see("#queue-dead", "1")
    assert "rejected_422" in browser.text("#letters")
    assert "Lisbon" not in browser.text("main")

    browser.click("#letters tbody a")
    browser.click('a[href$="content=1"]')
    browser.see("pre.content", "I moved to Lisbon.")

    browser.click('nav a[href="/"]')
    browser.click("#letters tbody button")
    browser.see(".notice", "1 letter back in the queue.")
    browser.see("#queue-delivered", "1")
    browser.see("#queue-dead", "0")
    assert remote.contents(workspace, "doomed") == ["I moved to Lisbon."]
    assert browser.console() == []


def test_letters_are_chosen_and_discarded_with_a_question_in_between(
    browser: Browser, page_daemon: DaemonProcess, network: Network
) -> None:
    let_die(page_daemon, network, "one", "two", "three")
    url = log_in(browser, page_daemon)
    browser.open(url + "letters")
    browser.click("[data-choose-all]")
    browser.click("button.danger:not([name])")
    browser.see("h1", "Discard 3 letters?")
    browser.click("a.button")
    wait_until(lambda: browser.url == url + "letters", "the list")
    assert page_daemon.status()["queue"]["dead"] == 3
    browser.click("tbody tr:first-child button.danger")
    browser.see("h1", "Discard 1 letter?")
    browser.click("button.danger")
    browser.see(".notice", "1 letter discarded.")
    assert page_daemon.status()["queue"]["dead"] == 2
    assert browser.console() == []


def test_the_page_works_without_scripts(
    browser: Browser, page_daemon: DaemonProcess, network: Network
) -> None:
    let_die(page_daemon, network, "one")
    with browser.without_scripts():
        log_in(browser, page_daemon)
        browser.click('form[action="/worker/pause"] button')
        browser.see(".notice", "Delivery is paused. Messages are taken in all the same.")
        browser.click('form[action="/worker/resume"] button')
        browser.see(".notice", "Delivery goes on.")
        browser.click("#letters tbody button")
        browser.see(".notice", "1 letter back in the queue.")
        page_daemon.wait_for_delivery()
        browser.click("footer a")
        browser.see("#queue-delivered", "1")


def test_hostile_names_are_shown_and_run_nothing(
    browser: Browser, page_daemon: DaemonProcess, network: Network, hosts: dict[str, Any]
) -> None:
    # Without a dot: in the name of a host it is the same as an underscore.
    script = "<img src=x onerror=\"document['title']='owned'\"><script>document['title']='owned'</script>"
    page_daemon.use_hosts({**hosts, "hosts": {script: {"peerName": script}}})
    with page_daemon.client() as client:
        client.reload()
    let_die(page_daemon, network, script)
    url = log_in(browser, page_daemon)
    assert script in browser.text("#identity")
    browser.open(url + "letters")
    browser.click("tbody a")
    browser.click('a[href$="content=1"]')
    browser.see("pre.content", script)
    assert "owned" not in browser.run("return document.title")
    assert browser.console() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, PHONE_PX])
def test_the_page_fits_the_screen_and_can_be_read(
    browser: Browser,
    page_daemon: DaemonProcess,
    network: Network,
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    let_die(page_daemon, network, "one", "two")
    url = log_in(browser, page_daemon)
    browser.look(width=width, scheme=scheme)
    for name in ("", "letters", "letters?session=nobody"):
        browser.open(url + name)
        browser.screenshot(tmp_path / f"{name or 'overview'}-{width}-{scheme}.png")
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.run(FAINT) == []
    assert browser.console() == []


def test_an_open_page_says_that_the_daemon_is_gone_and_asks_to_log_in_when_it_is_back(
    browser: Browser, page_daemon: DaemonProcess
) -> None:
    url = log_in(browser, page_daemon)
    assert page_daemon.stop() == 0
    wait_until(lambda: "does not answer" in browser.text("#live"), "the page to say so")
    page_daemon.configure({"http": {"listen": urlsplit(url).netloc}})
    page_daemon.start()
    wait_until(lambda: browser.url == url + "login", "the login")


FAINT = """
const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
const ground = (element) => {
  for (; element; element = element.parentElement) {
    const colour = parts(getComputedStyle(element).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
return [...document.querySelectorAll("body *")].filter((element) => {
  const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!text || !element.checkVisibility() || element.closest("svg")) return false;
  const [a, b] = [light(parts(getComputedStyle(element).color)), light(ground(element))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
}).map((element) => element.outerHTML.slice(0, 120));
"""
"""The elements whose text stands out less from what is behind it than WCAG 2 AA asks for (4.5:1)."""
