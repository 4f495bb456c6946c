"""A visitor of the web page without a browser: plain HTTP, with every header in the test's hand."""

from __future__ import annotations

import html
import http.client
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit


@dataclass(frozen=True)
class Answer:
    """One answer. ``cookies`` are the raw ``Set-Cookie`` headers."""

    status: int
    headers: dict[str, str]
    cookies: list[str]
    text: str

    @property
    def location(self) -> str:
        """Where it sends on to."""
        return self.headers.get("location", "")

    def field(self, name: str) -> str:
        """The last hidden field of that name: the frame's own forms come first."""
        found = re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', self.text)
        assert found, f"no field {name}: {self.text[:300]}"
        return html.unescape(found[-1])


class Visitor:
    """Keeps its cookies, and sends the Origin that a browser would."""

    def __init__(self, url: str) -> None:
        self.at = urlsplit(url)
        self.cookies: dict[str, str] = {}

    def get(self, path: str, headers: dict[str, str | None] | None = None) -> Answer:
        """One page. A header that is None is not sent."""
        return self._ask("GET", path, None, headers or {})

    def post(
        self, path: str, fields: Sequence[tuple[str, str]], headers: dict[str, str | None] | None = None
    ) -> Answer:
        """One form."""
        usual = {
            "Origin": f"{self.at.scheme}://{self.at.netloc}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self._ask("POST", path, urlencode(fields).encode(), {**usual, **(headers or {})})

    def log_in(self, token: str) -> Answer:
        """Fill the login form in."""
        form = self.get("/login")
        return self.post("/login", [("csrf", form.field("csrf")), ("token", token)])

    def press(self, path: str, *fields: tuple[str, str], page: str = "/") -> Answer:
        """Press a button of a page; the page that follows."""
        csrf = self.get(page).field("csrf")
        answer = self.post(path, [("csrf", csrf), ("back", page), *fields])
        return self.get(answer.location) if answer.status == 303 else answer

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str | None]) -> Answer:
        assert self.at.hostname is not None
        assert self.at.port is not None
        connection = http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = {"Host": self.at.netloc, "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
            for name, value in {**sent, **headers}.items():
                if value:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            text = answer.read().decode()
            cookies = answer.headers.get_all("Set-Cookie") or []
            for cookie in cookies:
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value.strip('"')
            lower = {name.lower(): value for name, value in answer.headers.items()}
            return Answer(answer.status, lower, cookies, text)
        finally:
            connection.close()
