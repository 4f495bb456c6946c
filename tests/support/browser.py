"""A real Chromium, driven over the W3C WebDriver protocol with the standard library."""

from __future__ import annotations

import base64
import http.client
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from support.waiting import wait_until

BROWSER = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which the protocol names an element."""


class Browser:
    """One browser window, with a profile of its own."""

    def __init__(self, port: int, profile: Path) -> None:
        self._port = port
        options = {"binary": BROWSER, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._session = f"/session/{made['sessionId']}"

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is loaded."""
        self._do("POST", "/url", {"url": url})

    @property
    def url(self) -> str:
        """The address of the page."""
        return str(self._do("GET", "/url"))

    def text(self, selector: str) -> str:
        """What can be read in an element."""
        return str(self._at(selector, "GET", "text"))

    def has(self, selector: str) -> bool:
        """Whether there is such an element."""
        found = self._do("POST", "/elements", {"using": "css selector", "value": selector})
        return bool(found)

    def see(self, selector: str, text: str) -> None:
        """Wait until it reads exactly so."""
        wait_until(lambda: self.text(selector) == text, f"{selector} to read {text!r}")

    def click(self, selector: str) -> None:
        """Click it as soon as it is there. What follows may still be on its way when this returns."""
        self._at(selector, "POST", "click", {})

    def type(self, selector: str, text: str) -> None:
        """Type into it."""
        self._at(selector, "POST", "value", {"text": text})

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._do("POST", "/execute/sync", {"script": script, "args": []})

    def console(self) -> list[str]:
        """What the browser complained of since it was asked last: errors, blocked styles and scripts."""
        return [entry["message"] for entry in self._do("POST", "/se/log", {"type": "browser"})]

    def look(self, *, width: int, height: int = 900, scheme: str = "light") -> None:
        """Be of that size, of a screen that likes that colour scheme."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._command("Emulation.setEmulatedMedia", {"features": features})

    @contextmanager
    def without_scripts(self) -> Iterator[None]:
        """A browser in which scripts are turned off."""
        self._command("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            yield
        finally:
            self._command("Emulation.setScriptExecutionDisabled", {"value": False})

    def screenshot(self, path: Path) -> None:
        """The whole page, as a PNG."""
        size = self._command("Page.getLayoutMetrics", {})["cssContentSize"]
        shown = self._command(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
        )
        path.write_bytes(base64.b64decode(shown["data"]))

    def close(self) -> None:
        """Close the window."""
        self._do("DELETE", "")

    def _at(self, selector: str, method: str, what: str, body: Any = None) -> Any:
        """Do something with an element as soon as it is there. A page that refreshes itself may replace it
        after it was found: then it is found again.
        """

        def do() -> tuple[Any]:
            found = self._do("POST", "/element", {"using": "css selector", "value": selector})
            return (self._do(method, f"/element/{quote(found[ELEMENT])}/{what}", body),)

        return wait_until(do, f"{what} at {selector}")[0]

    def _command(self, name: str, parameters: dict[str, Any]) -> Any:
        """One command of the DevTools protocol."""
        return self._do("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def _do(self, method: str, path: str, body: Any = None) -> Any:
        return self._ask(method, self._session + path, body)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            value = json.loads(answer.read())["value"]
            assert answer.status == 200, f"{method} {path}: {value}"
            return value
        finally:
            connection.close()


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A browser and its driver, both gone afterwards."""
    assert DRIVER is not None
    with tempfile.TemporaryDirectory(prefix="honchod-browser-", ignore_cleanup_errors=True) as directory:
        log = Path(directory, "driver.log")
        with log.open("wb") as out:
            driver = subprocess.Popen([DRIVER, "--port=0"], stdout=out, stderr=out)
        try:
            browser = Browser(
                wait_until(lambda: _port(log), "chromedriver to listen"), Path(directory, "profile")
            )
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()
            driver.wait(20)


def _port(log: Path) -> int | None:
    """The port that the driver says it took."""
    said = log.read_text().rpartition("started successfully on port ")[2].split(".")[0]
    return int(said) if said.isdigit() else None
