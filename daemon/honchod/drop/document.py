"""A file of the drop box, read strictly: the body of a write as the socket takes it, and who left it."""

from __future__ import annotations

from typing import Final

import msgspec

from honchod.capture.requests import WriteRequest
from honchod.client.drop_file import VERSION


class Document(msgspec.Struct, frozen=True):
    """What a file holds. ``tried``: the request went out to a daemon before, and no answer came."""

    version: int
    uid: int
    tried: bool
    request: WriteRequest


class Unreadable(Exception):
    """No file of a drop box; the text says in one word what is wrong with it."""


_DECODER: Final = msgspec.json.Decoder(Document)


def read(data: bytes, *, uid: int) -> Document:
    """The document in a file that belongs to ``uid``. Raises Unreadable, with nothing of the content."""
    try:
        document = _DECODER.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise Unreadable("malformed") from None
    if document.version != VERSION:
        raise Unreadable("version")
    if document.uid != uid:
        raise Unreadable("uid")
    return document
