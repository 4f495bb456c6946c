"""The sandbox's memory across restarts: the calls that changed something, one JSON line each.

A line is written before the answer is given. The store is rebuilt by making the same calls again with the
same clock and the same chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct


class Entry(Struct, frozen=True, omit_defaults=True):
    """One call that changed the store."""

    at: datetime
    seed: int
    method: str
    path: str
    query: str = ""
    body: bytes = b""
    upload: bytes | None = None
    fields: dict[str, str] = {}
    llm_down: bool = False


class Journal:
    """A file of entries, open for appending; a line cut short by a crash is dropped."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b", buffering=0)
        self._encoder = msgspec.json.Encoder()

    def read(self) -> Iterator[Entry]:
        """The entries so far, oldest first. Cuts off what is no complete line."""
        decoder = msgspec.json.Decoder(Entry)
        self._file.seek(0)
        good_bytes = 0
        for line in self._file.readall().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                self._file.truncate(good_bytes)
                return
            yield decoder.decode(line)
            good_bytes += len(line)

    def append(self, entry: Entry) -> None:
        """Write an entry; it survives the end of the process from here on."""
        self._file.write(self._encoder.encode(entry) + b"\n")

    def clear(self) -> None:
        """Drop every entry."""
        self._file.truncate(0)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
