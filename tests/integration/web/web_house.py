"""A daemon with the page, and a way to let messages die."""

from __future__ import annotations

from dataclasses import dataclass

from support.daemon import DaemonProcess
from support.network import Network
from support.waiting import wait_until
from support.web import Visitor

SECRET = "key-that-is-in-the-configuration"


@dataclass
class House:
    """The daemon, its way to the server, and where its page is."""

    daemon: DaemonProcess
    network: Network
    url: str
    token: str

    def visitor(self) -> Visitor:
        """Somebody who is not logged in."""
        return Visitor(self.url)

    def operator(self) -> Visitor:
        """Somebody who is."""
        visitor = self.visitor()
        assert visitor.log_in(self.token).status == 303
        return visitor

    def kill_letters(self, *texts: str, session: str) -> list[str]:
        """Let messages die; the ids of their letters."""
        self.network.hit("POST messages content=poison: status=422")
        with self.daemon.client() as client:
            before = client.letters(session=session)["total"]
            client.write([{"content": f"poison {text}"} for text in texts], session=session)
            wait_until(lambda: client.letters(session=session)["total"] == before + len(texts), "them to die")
            self.network.heal()
            return [letter["id"] for letter in client.letters(session=session)["items"]]
