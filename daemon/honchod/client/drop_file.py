"""A write as a file of the drop box: without secrets, with the ids and the time that it had.

The one place where the client uses another room: what hides secrets in the daemon hides them here, by its
built-in patterns, and is standard library too. Imported only when a write is about to be kept.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from honchod.capture.clean import well_formed
from honchod.capture.redact import Redactor
from honchod.client.errors import DropRefused, DropUnredacted

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
"""Of the format of a file."""

REQUEST_BYTES_MAX = 4 * 1024 * 1024
"""As large may the body of a request be on the socket, unless the daemon is told otherwise."""

MESSAGE_FIELDS = frozenset(
    {
        *("content", "role", "id", "created_at", "author", "peer"),
        *("runtime_user", "runtime_user_alt", "metadata"),
    }
)

_CLEANED = frozenset({"content", "metadata"})


def encode(
    body: Mapping[str, Any],
    *,
    uid: int,
    now_s: float,
    tried: bool,
    redactor: Redactor | None = None,
) -> bytes:
    """The file for a write: its body without secrets, each message with its time.

    Raises DropRefused for what may not stand in a file, DropUnredacted where redaction fails.
    """
    # As the socket would carry it: keys are strings, a pair of surrogates is one character.
    plain = json.loads(json.dumps(body, allow_nan=False))
    try:
        request = _Cleaner(redactor or Redactor()).request(plain, _rfc3339(now_s))
    except DropRefused:
        raise
    except Exception:
        # Not chained: the cause may carry the content.
        raise DropUnredacted("a redactor failed") from None
    document = {"version": VERSION, "uid": uid, "tried": tried, "request": request}
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    if len(data) > REQUEST_BYTES_MAX:
        raise DropRefused(f"the request is over {REQUEST_BYTES_MAX >> 20} MiB")
    return data


class _Cleaner:
    """Takes the secrets out of the body of a write."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def request(self, body: dict[str, Any], now: str) -> dict[str, Any]:
        """The body without secrets; ``now`` is the time of messages that say none."""
        clean: dict[str, Any] = {}
        for field, value in body.items():
            if field == "messages":
                clean[field] = [self._message(message, now) for message in value]
            elif field == "locator":
                clean[field] = {key: self._name(item, f"locator.{key}") for key, item in value.items()}
            else:
                clean[field] = self._name(value, field)
        return clean

    def _message(self, message: dict[str, Any], now: str) -> dict[str, Any]:
        if not message.keys() <= MESSAGE_FIELDS:
            raise DropRefused("a message has a field that is none of a message")
        content = message.get("content")
        if not isinstance(content, str):
            raise DropRefused("content: expected a string")
        clean = {field: self._name(value, field) for field, value in message.items() if field not in _CLEANED}
        clean["content"] = self._redactor.text(well_formed(content))
        if message.get("metadata") is not None:
            clean["metadata"] = self._redactor.value(_well_formed(message["metadata"]))
        if clean.get("created_at") is None:
            clean["created_at"] = now
        return clean

    def _name(self, value: Any, where: str) -> Any:
        """A name as it is: without its secret it would be another name, so with one it is refused."""
        if isinstance(value, str):
            text = well_formed(value)
            if self._redactor.text(text) != text:
                raise DropRefused(f"{where} holds a secret")
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if value is None or isinstance(value, bool):
            return value
        raise DropRefused(f"{where}: expected a string")


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): _well_formed(item) for key, item in value.items()}
    return [_well_formed(item) for item in value] if isinstance(value, list) else value


def _rfc3339(now_s: float) -> str:
    millis = int(now_s * 1000) % 1000
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now_s))}.{millis:03d}Z"
