"""The real OpenClaw: its gateway as a process, its command line, and its RPC over a WebSocket."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from runtimes.model_server import MODEL
from support.waiting import wait_until

TOKEN = "gateway-token-of-the-test"
PROBE = Path(__file__).parent / "probe"
START_S = 300.0
"""It loads a thousand modules, and the machine may have other things to do."""
STARTS = 3
ANSWER_S = 120.0
ENDS = ("final", "error", "aborted")


class Gateway:
    """One OpenClaw with a home of its own. `node_modules` is where it is installed."""

    def __init__(self, node_modules: Path, model_url: str) -> None:
        # Not under pytest's tmp_path: the path of a socket may have 107 bytes only.
        self.directory = Path(tempfile.mkdtemp(prefix="openclaw-"))
        self.socket = self.directory / "s.sock"
        self.drop = self.directory / "drop"
        self.times_file = self.directory / "times"
        self.log_file = self.directory / "log"
        self._config = self.directory / "openclaw.json"
        self._bin = node_modules / ".bin"
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._runner = asyncio.Runner()
        self._http: aiohttp.ClientSession | None = None
        self._wire: aiohttp.ClientWebSocketResponse | None = None
        self._configure(model_url)
        self._offer_honchod()

    def _configure(self, model_url: str) -> None:
        workspace = self.directory / "workspace"
        workspace.mkdir()
        free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {"id": MODEL, "name": MODEL, "reasoning": False, "input": ["text"], "cost": free}
        provider = {
            "baseUrl": model_url,
            "apiKey": "none",
            "api": "openai-completions",
            "models": [{**model, "contextWindow": 200_000, "maxTokens": 4_000}],
        }
        probe = {
            "enabled": True,
            "hooks": {"allowConversationAccess": True},
            "config": {"file": str(self.times_file)},
        }
        config = {
            "gateway": {
                "mode": "local",
                "port": self._port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": TOKEN},
            },
            "update": {"checkOnStart": False},
            "logging": {"file": str(self.directory / "openclaw.log")},
            "agents": {
                "defaults": {
                    "workspace": str(workspace),
                    "skipBootstrap": True,
                    "model": {"primary": f"test/{MODEL}"},
                    "heartbeat": {"every": "0m"},
                }
            },
            "models": {"mode": "merge", "providers": {"test": provider}},
            # What comes along is left out: it takes its time to load, and this is about one plugin.
            "plugins": {
                "allow": ["probe"],
                "load": {"paths": [str(PROBE)]},
                "entries": {"probe": probe},
            },
        }
        self._config.write_text(json.dumps(config))

    def _offer_honchod(self) -> None:
        programs = self.directory / "bin"
        programs.mkdir()
        program = programs / "honchod"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m honchod "$@"\n')
        program.chmod(0o755)
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HONCHO", "OPENCLAW"))
        }
        self.environ = {
            **kept,
            "PATH": f"{self._bin}:{programs}:{os.environ['PATH']}",
            "HOME": str(self.directory),
            "OPENCLAW_STATE_DIR": str(self.directory / "state"),
            "OPENCLAW_CONFIG_PATH": str(self._config),
            "OPENCLAW_OFFLINE": "1",
            "OPENCLAW_SKIP_CHANNELS": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_NO_RESPAWN": "1",
            "OPENCLAW_EXEC_SHELL_SNAPSHOT": "0",
            "DO_NOT_TRACK": "1",
            "NO_COLOR": "1",
            "HONCHOD_SOCKET": str(self.socket),
            "HONCHOD_DROP": str(self.drop),
        }

    def run(self, *words: str, directory: Path | None = None) -> str:
        """A command (`openclaw …`); what it prints. Fails where it fails."""
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=START_S,
            env=self.environ,
            cwd=directory or self.directory,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self) -> None:
        """Start it, and wait until it serves.

        Where the machine has much else to do it may end at its own start, because a lease of its own ran out:
        then once more.
        """
        for _ in range(STARTS):
            self._launch()
            wait_until(
                lambda: self._has_ended() or self._connects(),
                lambda: f"the gateway to serve; its log: {self.log()}",
                timeout_s=START_S,
            )
            if not self._has_ended():
                return
            self._end()
        pytest.fail(f"the gateway ends at its start: {self.log()}")

    def _launch(self) -> None:
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                ["openclaw", "gateway", "run"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environ,
                cwd=self.directory,
                start_new_session=True,
            )

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _end(self) -> None:
        if self._process is not None:
            # It has helpers of its own in its process group.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(30)

    def _connects(self) -> bool:
        self._runner.run(self._connect())
        return True

    async def _connect(self) -> None:
        if self._http is None:
            self._http = aiohttp.ClientSession()
        self._wire = await self._http.ws_connect(f"ws://127.0.0.1:{self._port}/", max_msg_size=0)
        client = {"id": "gateway-client", "version": "1.0", "platform": "linux", "mode": "backend"}
        hello = {
            "minProtocol": 4,
            "maxProtocol": 4,
            "client": client,
            "role": "operator",
            "scopes": ["operator.admin", "operator.read", "operator.write"],
            "auth": {"token": TOKEN},
        }
        try:
            await self._call("connect", hello)
        except BaseException:
            await self._wire.close()
            raise

    def call(self, method: str, **params: Any) -> Any:
        """One call of its RPC; what it answers. Fails where it refuses."""
        return self._runner.run(self._call(method, params))

    def say(self, text: str, session: str) -> str:
        """Say something in a session, and wait for the end of the turn: the answer."""
        return self._runner.run(self._say(text, session))

    def begin(self, text: str, session: str) -> str:
        """Say something, and do not wait for the answer: the id of the run."""
        return self._runner.run(self._begin(text, session))

    async def _begin(self, text: str, session: str) -> str:
        run = str(uuid.uuid4())
        await self._call("chat.send", {"sessionKey": session, "message": text, "idempotencyKey": run})
        return run

    async def _say(self, text: str, session: str) -> str:
        run = await self._begin(text, session)
        end = await self._receive(
            lambda frame: (
                frame.get("event") == "chat"
                and frame["payload"].get("runId") == run
                and frame["payload"]["state"] in ENDS
            )
        )
        assert end["payload"]["state"] == "final", end["payload"]
        return "\n".join(part["text"] for part in end["payload"]["message"]["content"])

    async def _call(self, method: str, params: dict[str, Any]) -> Any:
        assert self._wire is not None
        number = str(uuid.uuid4())
        await self._wire.send_json({"type": "req", "id": number, "method": method, "params": params})
        answer = await self._receive(lambda frame: frame.get("id") == number)
        assert answer["ok"], answer
        return answer["payload"]

    async def _receive(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self._wire is not None
        async with asyncio.timeout(ANSWER_S):
            while True:
                frame: dict[str, Any] = await self._wire.receive_json()
                if is_it(frame):
                    return frame

    def run_job(self, message: str) -> None:
        """Have a cron job say this to an agent of its own, and wait for its end."""
        job = self.call(
            "cron.add",
            name="job",
            schedule={"kind": "every", "everyMs": 86_400_000},
            sessionTarget="isolated",
            wakeMode="now",
            payload={"kind": "agentTurn", "message": message},
            delivery={"mode": "none"},
        )
        run = self.call("cron.run", id=job["id"], mode="force")["runId"]
        found = wait_until(
            lambda: self.call("cron.runs", id=job["id"], runId=run)["entries"],
            f"the end of the job; the log: {self.log()}",
            timeout_s=ANSWER_S,
        )
        assert found[0]["status"] == "ok", found

    def log(self) -> str:
        """What it printed."""
        return self.log_file.read_text("utf-8", "replace")[-5000:]

    def times_ms(self) -> list[float]:
        """How long each prompt so far was held up by plugins."""
        return [json.loads(line)["ms"] for line in self.times_file.read_text().splitlines()]

    def close(self) -> None:
        """End it, and remove what it had."""
        self._runner.run(self._leave())
        self._runner.close()
        self._end()
        shutil.rmtree(self.directory, ignore_errors=True)

    async def _leave(self) -> None:
        if self._http is not None:
            await self._http.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def installed_gateway(node_modules: Path, model_url: str) -> Iterator[Gateway]:
    """An OpenClaw that is not started yet."""
    gateway = Gateway(node_modules, model_url)
    try:
        yield gateway
    finally:
        gateway.close()
