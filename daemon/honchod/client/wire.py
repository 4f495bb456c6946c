"""HTTP/1.1 as bytes: a request out, an answer in. No I/O.

``http.client`` would do, but it brings ``email`` and ``ssl`` along and takes longer to import than an agent's
hook may run. One reader serves the blocking and the asyncio client.
"""

from __future__ import annotations

from enum import Enum, auto

from honchod.client.errors import BadAnswer
from honchod.client.records import NamedTuple

HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 256 * 1024 * 1024


class Answer(NamedTuple):
    """One whole answer. Header names are lower case; ``reusable`` says the connection may carry another."""

    status: int
    headers: dict[str, str]
    body: bytes
    reusable: bool


def encode_request(method: str, path: str, body: bytes | None) -> bytes:
    """The bytes of one request. ``path`` must be a path as it goes on the wire, already quoted.

    Raises ValueError for a method or path that could not be one line of ASCII.
    """
    line = f"{method} {path} HTTP/1.1"
    if not path.startswith("/") or len(line.split()) != 3 or not line.isascii() or not line.isprintable():
        raise ValueError(f"not a request line: {line!r}")
    head = f"{line}\r\nHost: honchod\r\nAccept: application/json\r\n"
    if body is None:
        return f"{head}\r\n".encode("ascii")
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode("ascii") + body


def quote(text: str) -> str:
    """``text`` percent-encoded as UTF-8, safe as one path segment or query value."""
    data = text.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}" for byte in data)


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class _Part(Enum):
    HEAD = auto()
    SIZED_BODY = auto()
    CHUNK_SIZE = auto()
    CHUNK = auto()
    TRAILER = auto()
    BODY_TO_END = auto()
    DONE = auto()


class AnswerReader:
    """Reads one answer from bytes that arrive in any pieces.

    Feed it until ``feed`` returns the answer; call ``end`` when the connection ends first. Interim answers
    (1xx) are skipped. Raises BadAnswer for what is not HTTP or is larger than the bounds above.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._body = bytearray()
        self._part = _Part.HEAD
        self._status = 0
        self._headers: dict[str, str] = {}
        self._wanted = 0
        self._reusable = True

    def feed(self, data: bytes) -> Answer | None:
        """The answer once it is whole, else None."""
        self._buffer += data
        while self._part is not _Part.DONE:
            if not self._step():
                return None
        return self._answer(reusable=self._reusable and not self._buffer)

    def end(self) -> Answer | None:
        """The connection has ended: the answer whose body runs to the end, else None for a cut one."""
        if self._part is not _Part.BODY_TO_END:
            return None
        return self._answer(reusable=False)

    def _answer(self, *, reusable: bool) -> Answer:
        return Answer(self._status, self._headers, bytes(self._body), reusable)

    def _step(self) -> bool:
        """Take one element from the buffer; False when it is not all there yet."""
        if self._part is _Part.HEAD:
            return self._take_head()
        if self._part is _Part.CHUNK_SIZE:
            return self._take_chunk_size()
        if self._part is _Part.TRAILER:
            return self._take_trailer()
        return self._take_body()

    def _take_line(self) -> str | None:
        end = self._buffer.find(b"\r\n")
        if end < 0:
            if len(self._buffer) > HEAD_BYTES_MAX:
                raise BadAnswer("an endless line where a short one belongs")
            return None
        line = self._buffer[:end].decode("latin-1")
        del self._buffer[: end + 2]
        return line

    def _take_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if (len(self._buffer) if end < 0 else end) > HEAD_BYTES_MAX:
            raise BadAnswer("headers without end")
        if end < 0:
            if len(self._buffer) >= 5 and not self._buffer.startswith(b"HTTP/"):
                raise BadAnswer("not HTTP")
            return False
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        version, status = _status_line(lines[0])
        if 100 <= status < 200:
            return True
        self._status = status
        self._headers = _headers(lines[1:])
        connection = self._headers.get("connection", "").lower()
        self._reusable = "close" not in connection and version == "HTTP/1.1"
        self._begin_body()
        return True

    def _begin_body(self) -> None:
        length = self._headers.get("content-length")
        if self._status in (204, 304):
            self._part = _Part.DONE
        elif "chunked" in self._headers.get("transfer-encoding", "").lower():
            self._part = _Part.CHUNK_SIZE
        elif length is None:
            self._part = _Part.BODY_TO_END
        else:
            self._wanted = _size(length, base=10)
            self._part = _Part.SIZED_BODY if self._wanted else _Part.DONE

    def _take_chunk_size(self) -> bool:
        line = self._take_line()
        if line is None:
            return False
        self._wanted = _size(line.partition(";")[0], base=16)
        self._part = _Part.CHUNK if self._wanted else _Part.TRAILER
        return True

    def _take_trailer(self) -> bool:
        line = self._take_line()
        if line is None:
            return False
        if not line:
            self._part = _Part.DONE
        return True

    def _take_body(self) -> bool:
        """Move what has come of a body or chunk; True when that element is finished."""
        if self._part is _Part.BODY_TO_END:
            self._move(len(self._buffer))
            return False
        if self._part is _Part.CHUNK and len(self._buffer) >= self._wanted + 2:
            self._move(self._wanted)
            if self._take_line() != "":
                raise BadAnswer("a chunk is longer than it says")
            self._part = _Part.CHUNK_SIZE
            return True
        if self._part is _Part.SIZED_BODY:
            moved = min(self._wanted, len(self._buffer))
            self._move(moved)
            self._wanted -= moved
            if not self._wanted:
                self._part = _Part.DONE
                return True
        return False

    def _move(self, count: int) -> None:
        self._body += self._buffer[:count]
        del self._buffer[:count]
        if len(self._body) > BODY_BYTES_MAX:
            raise BadAnswer("a body without end")


def _status_line(line: str) -> tuple[str, int]:
    version, _, rest = line.partition(" ")
    status = rest[:3]
    if not version.startswith("HTTP/1.") or not status.isdigit() or not status.isascii() or len(status) != 3:
        raise BadAnswer("not an HTTP/1 answer")
    return version, int(status)


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadAnswer("a header line without a colon")
        headers[name.strip().lower()] = value.strip()
    return headers


def _size(text: str, *, base: int) -> int:
    try:
        size = int(text.strip(), base)
    except ValueError:
        size = -1
    if not 0 <= size <= BODY_BYTES_MAX:
        raise BadAnswer("a body of no readable or no acceptable size")
    return size
