"""The calls of the socket as values, shared by the blocking and the asyncio client. No I/O."""

from __future__ import annotations

import json

from honchod.client.errors import BadAnswer, problem_error
from honchod.client.ids import new_id
from honchod.client.records import NamedTuple
from honchod.client.wire import encode_request, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from honchod.client.wire import Answer

ANSWER_TIMEOUT_S = 10.0
"""How long a try may take unless the caller or the call says otherwise."""

CONNECT_S = 0.25
"""How long a client with a drop box tries to connect."""

KEEP_AFTER_S = 2.0
"""How long it waits for the answer to a write, unless the write says otherwise: a daemon that is starting, or
hangs, takes the connection and says nothing. What it stores all the same is known when it comes again."""

TOOL_TIMEOUT_S = 90.0
"""How long a memory tool may take: a model thinks, and Honcho is asked more than once."""


class Call(NamedTuple):
    """One request.

    ``repeatable``: doing it twice is as good as once, so it may be sent again when no answer came.
    ``answers``: error statuses whose body is the answer all the same. ``timeout_s`` bounds one attempt where
    the call itself takes time.
    """

    method: str
    path: str
    body: dict[str, Any] | None = None
    repeatable: bool = True
    answers: tuple[int, ...] = ()
    timeout_s: float | None = None

    def encode(self) -> bytes:
        """The request as it goes on the wire.

        Raises ValueError or TypeError for a body that is no JSON (NaN, bytes, a datetime).
        """
        body = None if self.body is None else _json(self.body)
        return encode_request(self.method, self.path, body)

    def read(self, answer: Answer) -> Any:
        """The decoded answer (text, where the daemon does not answer JSON).

        Raises Rejected or NotAllowed for a problem, BadAnswer for what is neither.
        """
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_json = media_type == "application/json" or media_type.endswith("+json")
        try:
            text = answer.body.decode("utf-8")
            value = json.loads(text) if is_json and text else text
        except ValueError as error:
            raise BadAnswer(f"status {answer.status} with a body that is not what it says") from error
        if 200 <= answer.status < 300 or (
            answer.status in self.answers and media_type != "application/problem+json"
        ):
            return value
        raise _problem(answer, value)


def write(
    messages: Iterable[Mapping[str, Any]],
    *,
    session: str | None,
    locator: Mapping[str, str] | None,
    host: str | None,
    scope: str | None,
    turn_end: bool,
    group: bool,
) -> Call:
    """``POST /v1/messages``. A message without an id gets one here, so that a repeat stores nothing twice."""
    body = _present(session=session, locator=locator, host=host, scope=scope)
    if turn_end:
        body["turn_end"] = True
    if group:
        body["group"] = True
    body["messages"] = [
        dict(message) if message.get("id") else {**message, "id": new_id()} for message in messages
    ]
    return Call("POST", "/v1/messages", body)


def recall(
    *,
    session: str | None,
    locator: Mapping[str, str] | None,
    query: str | None,
    tokens: int | None,
    recall_wait_ms: int,
    host: str | None,
    scope: str | None,
    sections: Sequence[str] | None,
    peek: bool,
) -> Call:
    """``POST /v1/recall``. ``recall_wait_ms`` is how long the daemon may wait for a fresh answer."""
    body = _present(
        session=session,
        locator=locator,
        query=query,
        tokens=tokens,
        host=host,
        scope=scope,
        sections=sections,
    )
    body["wait_ms"] = recall_wait_ms
    if peek:
        body["peek"] = True
    timeout_s = ANSWER_TIMEOUT_S + recall_wait_ms / 1000
    return Call("POST", "/v1/recall", body, timeout_s=timeout_s)


def session(
    action: str,
    *,
    session: str | None,
    locator: Mapping[str, str] | None,
    host: str | None,
    scope: str | None,
    query: str | None = None,
) -> Call:
    """``POST /v1/sessions/{resolve,start,end,reset}``. A reset is not repeated: each starts a generation."""
    body = _present(session=session, locator=locator, host=host, scope=scope, query=query)
    return Call("POST", f"/v1/sessions/{action}", body, repeatable=action != "reset")


def prompt(*, host: str | None, session: str | None) -> Call:
    """``GET /v1/prompt``."""
    given = _present(host=host, session=session)
    query = "&".join(f"{name}={quote(value)}" for name, value in given.items())
    return Call("GET", "/v1/prompt" + (f"?{query}" if query else ""))


def health() -> Call:
    """``GET /v1/health``: a stuck daemon's 503 is an answer too."""
    return Call("GET", "/v1/health", answers=(503,))


def ready() -> Call:
    """``GET /v1/ready``: not ready (503) is an answer too."""
    return Call("GET", "/v1/ready", answers=(503,))


def info() -> Call:
    """``GET /v1/info``."""
    return Call("GET", "/v1/info")


def status(*, oldest: bool = False) -> Call:
    """``GET /v1/status``; ``oldest``: with the lanes that have waited longest."""
    return Call("GET", "/v1/status?lanes=oldest" if oldest else "/v1/status")


def letters(*, session: str | None, code: str | None, limit: int | None, cursor: str | None) -> Call:
    """``GET /v1/dead-letters``: one page."""
    given = _present(session=session, code=code, limit=limit, cursor=cursor)
    query = "&".join(f"{name}={quote(str(value))}" for name, value in given.items())
    return Call("GET", "/v1/dead-letters" + (f"?{query}" if query else ""))


def letter(letter_id: str, *, content: bool) -> Call:
    """``GET /v1/dead-letters/{id}``."""
    return Call("GET", f"/v1/dead-letters/{quote(letter_id)}" + ("?content=1" if content else ""))


def retry_letters(
    *, ids: Sequence[str] | None, session: str | None, code: str | None, limit: int | None, everything: bool
) -> Call:
    """``POST /v1/dead-letters/retry``. A letter already back in the queue is not retried again."""
    body = _present(ids=None if ids is None else list(ids), session=session, code=code, limit=limit)
    if everything:
        body["all"] = True
    return Call("POST", "/v1/dead-letters/retry", body)


def discard_letters(ids: Sequence[str]) -> Call:
    """``POST /v1/dead-letters/discard``."""
    return Call("POST", "/v1/dead-letters/discard", {"ids": list(ids)})


def worker(action: str) -> Call:
    """``POST /v1/worker/{wake,pause,resume}``."""
    return Call("POST", f"/v1/worker/{action}")


def drain(timeout_s: float) -> Call:
    """``POST /v1/worker/drain``: answers when the queue is empty or the time is up."""
    return Call("POST", "/v1/worker/drain", {"timeout_s": timeout_s}, timeout_s=timeout_s + ANSWER_TIMEOUT_S)


def tools(*, host: str | None, family: str | None) -> Call:
    """``GET /v1/tools``: schemas in OpenAI's function format."""
    given = _present(host=host, family=family)
    query = "&".join(f"{name}={quote(value)}" for name, value in given.items())
    return Call("GET", "/v1/tools" + (f"?{query}" if query else ""))


def tool(
    name: str,
    arguments: Mapping[str, Any],
    *,
    host: str | None,
    session: str | None,
    locator: Mapping[str, str] | None,
) -> Call:
    """``POST /v1/tools/{name}``: a question may take a minute. Repeating one stores nothing twice."""
    body = _present(host=host, session=session, locator=locator)
    body["arguments"] = dict(arguments)
    return Call("POST", f"/v1/tools/{quote(name)}", body, timeout_s=TOOL_TIMEOUT_S)


def checks() -> Call:
    """``POST /v1/checks``: it asks every destination, so it may take a minute."""
    return Call("POST", "/v1/checks", timeout_s=60.0)


def acknowledge() -> Call:
    """``POST /v1/notices/ack``."""
    return Call("POST", "/v1/notices/ack")


def backup(path: str) -> Call:
    """``POST /v1/backup``: it copies the whole queue, and that once."""
    return Call("POST", "/v1/backup", {"path": path}, repeatable=False, timeout_s=3600.0)


def reload() -> Call:
    """``POST /v1/reload``."""
    return Call("POST", "/v1/reload")


def ui(*, show_token: bool) -> Call:
    """``POST /v1/ui``. The token comes once: a lost answer must not be asked for again."""
    return Call("POST", "/v1/ui", {"show_token": show_token}, repeatable=False)


def other(method: str, path: str, body: dict[str, Any] | None, repeatable: bool | None) -> Call:
    """Any other call; unless told, only a GET is repeatable."""
    return Call(method, path, body, repeatable=method == "GET" if repeatable is None else repeatable)


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _json(body: dict[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, but the daemon takes its escape and stores U+FFFD.
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")


def _problem(answer: Answer, value: Any) -> Exception:
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        return BadAnswer(f"status {answer.status} without a problem that says why")
    waits = value.get("retry_after_s", answer.headers.get("retry-after"))
    try:
        retry_after_s = None if waits is None else max(0.0, float(waits))
    except (TypeError, ValueError):
        retry_after_s = None
    return problem_error(answer.status, value["code"], str(value.get("detail", "")), retry_after_s)
