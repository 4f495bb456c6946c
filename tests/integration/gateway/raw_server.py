"""A server of bytes, for answers that no framework would give."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Answer = Callable[[socket.socket, threading.Event], None]
"""Gets a connection whose request has arrived, and an event that is set when the server stops."""


@contextmanager
def raw_server(answer: Answer) -> Iterator[str]:
    """Answers each connection with ``answer``. Yields the base URL."""
    stopped = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5.0)
            try:
                if connection.recv(65_536):
                    answer(connection, stopped)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=serve, args=(connection,), daemon=True)
            threads.append(thread)
            thread.start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(5.0)
        for thread in threads:
            thread.join(5.0)


def drip(connection: socket.socket, stopped: threading.Event) -> None:
    """Headers at once, then a byte now and then: each read is in time, the whole never ends."""
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
    )
    while not stopped.wait(0.02):
        connection.sendall(b" ")


def nonsense(connection: socket.socket, _stopped: threading.Event) -> None:
    """Something that is not HTTP."""
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def redirect(connection: socket.socket, _stopped: threading.Event) -> None:
    """To somewhere else, where the key must never go."""
    connection.sendall(
        b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    )
