"""nanobot's gateway as a process, and a person who talks to it over its WebSocket."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from runtimes.model_server import MODEL
from support.daemon import DaemonProcess
from support.waiting import wait_until

TURN_S = 60.0
"""How long a turn may take on a busy machine."""


def settings(home: Path, model_url: str, **more: Any) -> dict[str, Any]:
    """Nanobot's own configuration: the model server as its provider, nothing that runs by itself."""
    return {
        "agents": {
            "defaults": {
                "workspace": str(home / "workspace"),
                "model": MODEL,
                "provider": "custom",
                "dream": {"enabled": False},
            }
        },
        "providers": {"custom": {"apiKey": "none", "apiBase": model_url}},
        **more,
    }


def environment(home: Path, daemon: DaemonProcess) -> dict[str, str]:
    """What nanobot is started with: a home of its own, and where the daemon and its drop box are."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HONCHO")}
    return {
        **inherited,
        "HOME": str(home),
        "HONCHOD_SOCKET": str(daemon.socket),
        "HONCHOD_DROP": str(daemon.drop_dir),
    }


class Gateway:
    """One gateway with a home of its own. `start` and `stop` as often as a test likes."""

    def __init__(self, venv: Path, model_url: str, daemon: DaemonProcess) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="honchod-nanobot-"))
        self.port = _free_port()
        self._command = [str(venv / "bin" / "nanobot"), "gateway", "--foreground"]
        self._environ = environment(self.home, daemon)
        self._log_file = self.home / "log"
        self._process: subprocess.Popen[bytes] | None = None
        config = settings(
            self.home,
            model_url,
            gateway={"port": _free_port(), "heartbeat": {"enabled": False}},
            channels={"websocket": {"enabled": True, "port": self.port, "websocketRequiresToken": False}},
        )
        config_file = self.home / "config.json"
        config_file.write_text(json.dumps(config))
        self._command += ["--config", str(config_file)]

    def start(self) -> None:
        """Start it, and wait until somebody can talk to it."""
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environ
            )
        wait_until(self._listens, lambda: f"nanobot to listen; its log: {self.log()}", timeout_s=120)

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"nanobot ended: {self.log()}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """SIGKILL: no time to do anything."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(30)

    def handed_over(self, key: str) -> str:
        """The place in a session up to which the plugin has handed it over, as nanobot's file has it."""
        for file in self.home.rglob("*.jsonl"):
            head = json.loads(file.read_text("utf-8").partition("\n")[0] or "{}")
            if head.get("key") == key:
                return str(head["metadata"]["honchod"]["place"])
        raise AssertionError(f"no file of the session {key}")

    def log(self) -> str:
        """The end of what it logged."""
        return self._log_file.read_text("utf-8", "replace")[-6000:]

    def close(self) -> None:
        """End it, and remove its home."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


class Chat:
    """One chat with a gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._runner = asyncio.Runner()
        self._http = self._run(_session())
        url = f"http://127.0.0.1:{gateway.port}/?client_id=browser-1"
        self._socket = self._run(self._http.ws_connect(url))
        self.id = str(self._until("ready")["chat_id"])

    @property
    def key(self) -> str:
        """Nanobot's name of the session."""
        return f"websocket:{self.id}"

    def say(self, text: str) -> None:
        """Say something, and wait until the turn is over."""
        self._run(self._socket.send_str(text))
        self.wait_for_turn()

    def wait_for_turn(self) -> None:
        """Wait until a turn is over, whoever began it."""
        self._until("turn_end")

    def close(self) -> None:
        """Hang up."""
        self._run(self._socket.close())
        self._run(self._http.close())
        self._runner.close()

    def _until(self, event: str) -> dict[str, Any]:
        while True:
            try:
                message = self._run(self._socket.receive(timeout=TURN_S))
            except TimeoutError as error:
                raise AssertionError(f"no {event} from nanobot; its log: {self._gateway.log()}") from error
            assert message.type is aiohttp.WSMsgType.TEXT, f"nanobot hung up: {self._gateway.log()}"
            told = json.loads(message.data)
            if told.get("event") == event:
                return dict(told)

    def _run(self, work: Any) -> Any:
        async def done() -> Any:
            return await work

        return self._runner.run(done())


@contextmanager
def chat_with(gateway: Gateway) -> Iterator[Chat]:
    """A chat that is over afterwards."""
    chat = Chat(gateway)
    try:
        yield chat
    finally:
        chat.close()


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
