"""A Unix-socket server for the client's tests: it reads raw HTTP and does what a script says."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Request(NamedTuple):
    """One request as it came: ``connection`` counts the accepted connections from 1."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Step = Callable[[socket.socket, Request], bool]
"""Handles one request; False closes the connection."""


def head(status: int, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} Status", *headers, "", ""]).encode()


def raw(*pieces: bytes, keep: bool = True) -> Step:
    """Send these bytes, each in a packet of its own."""

    def step(connection: socket.socket, _: Request) -> bool:
        for piece in pieces:
            connection.sendall(piece)
        return keep

    return step


def answer(status: int, body: Any, *headers: str, media_type: str = "application/json") -> Step:
    data = json.dumps(body).encode()
    return raw(head(status, f"Content-Type: {media_type}", f"Content-Length: {len(data)}", *headers) + data)


def problem(status: int, code: str, *, retry_after_s: float | None = None) -> Step:
    body: dict[str, Any] = {
        "type": f"urn:honchod:problem:{code}",
        "status": status,
        "code": code,
        "detail": "d",
    }
    headers = ()
    if retry_after_s is not None:
        body["retry_after_s"] = retry_after_s
        headers = (f"Retry-After: {retry_after_s:.0f}",)
    return answer(status, body, *headers, media_type="application/problem+json")


def cut() -> Step:
    """Take the request and close the connection without an answer."""
    return lambda _connection, _request: False


def silent(until: threading.Event) -> Step:
    """Take the request and say nothing until the event is set."""

    def step(_connection: socket.socket, _request: Request) -> bool:
        until.wait(30)
        return False

    return step


def accept_messages(connection: socket.socket, request: Request) -> bool:
    """Answer as the daemon does: 202, all queued."""
    results = [{"id": m["id"], "status": "queued", "parts": 1} for m in request.json["messages"]]
    return answer(202, {"session": request.json.get("session", "s"), "results": results})(connection, request)


def accept_messages_and_go_deaf(until: threading.Event) -> Step:
    """Answer, then take nothing more on this connection, without ending it, until the event is set."""

    def step(connection: socket.socket, request: Request) -> bool:
        # Deaf before the answer: the client must not be able to send its next request first.
        connection.shutdown(socket.SHUT_RD)
        accept_messages(connection, request)
        return silent(until)(connection, request)

    return step


class ScriptedDaemon:
    """Serves ``path``; each request takes the next step of the script, or ``default`` at its end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.requests: list[Request] = []
        self.default: Step = accept_messages
        self._script: list[Step] = []
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._accepted = 0
        self._threads: list[threading.Thread] = []

    def plan(self, *steps: Step) -> None:
        self._script.extend(steps)

    def start(self, *, backlog: int = 64, accept: bool = True) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self._listener.listen(backlog)
        if accept:
            self.accept()

    def accept(self) -> None:
        self._spawn(self._accept_all, self._listener)

    def stop(self) -> None:
        """Stop listening and cut every connection."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.path.unlink()
        self.cut_all()
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()
        self._threads.clear()

    def cut_all(self) -> None:
        """Close every open connection, as a daemon does with idle ones."""
        with self._lock:
            for connection in self._open:
                connection.shutdown(socket.SHUT_RDWR)

    def _spawn(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args)
        thread.start()
        self._threads.append(thread)

    def _accept_all(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(connection)
                self._accepted += 1
                number = self._accepted
            self._spawn(self._serve, connection, number)

    def _serve(self, connection: socket.socket, number: int) -> None:
        stream = connection.makefile("rb")
        try:
            while (request := _read_request(stream, number)) is not None:
                with self._lock:
                    self.requests.append(request)
                    step = self._script.pop(0) if self._script else self.default
                if not step(connection, request):
                    return
        except OSError:
            return
        finally:
            with self._lock:
                self._open.discard(connection)
            stream.close()
            connection.close()


def _read_request(stream: Any, number: int) -> Request | None:
    line = stream.readline().decode()
    if not line:
        return None
    method, target, _ = line.split()
    headers: dict[str, str] = {}
    while field := stream.readline().decode().rstrip("\r\n"):
        name, _, value = field.partition(":")
        headers[name.lower()] = value.strip()
    body = stream.read(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body, number)


def refuse_unread(path: Path) -> None:
    """Serve one connection on ``path``: answer 413 after its first bytes and close, the rest unread."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            connection.recv(100)
            problem(413, "too_large")(connection, Request("", "", {}, b"", 1))
    path.unlink()


def running_as_root() -> bool:
    return os.geteuid() == 0
