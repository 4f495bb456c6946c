"""A model provider on loopback: it says what a test told it to, and keeps what it was asked.

It speaks OpenAI's chat completions and Anthropic's messages, whole and as a stream: what the runtimes speak.
Which model is asked for does not matter.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "stand-in"
"""The one model that it lists."""


@dataclass(frozen=True)
class Say:
    """A reply in words; ``after`` holds it back until that is set (for a minute at most)."""

    text: str
    after: threading.Event | None = None


@dataclass(frozen=True)
class Use:
    """A reply that calls one tool; ``then`` is the reply to what the tool answers."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    then: Reply | None = None


Reply = Say | Use


class ModelServer:
    """Replies by the first of these that applies, from any number of threads:

    1. what was to be said to the answer of a tool that the request ends with (`Use.then`);
    2. the next reply of a rule whose text is in what came since the model last spoke (`on`; used up one by
       one);
    3. the next reply of the script;
    4. ``Understood.``

    ``requests`` are the decoded bodies in the order in which they came.
    """

    def __init__(self, script: Iterable[Reply | str] = ()) -> None:
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._script: list[Reply] = []
        self._rules: list[tuple[str, list[Reply]]] = []
        self._then: dict[str, Reply] = {}
        self._numbers = itertools.count(1)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.script(*script)

    @property
    def url(self) -> str:
        """The base URL for OpenAI's clients; Anthropic's want it without ``/v1`` (`origin`)."""
        return f"{self.origin}/v1"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def on(self, text: str, *replies: Reply | str) -> None:
        """Reply like this, one after the other, where what came since the model last spoke holds ``text``."""
        with self._lock:
            self._rules.append((text, [_reply(one) for one in replies]))

    def script(self, *replies: Reply | str) -> None:
        """Reply like this to what no rule is for, one after the other."""
        with self._lock:
            self._script += [_reply(one) for one in replies]

    def prompts(self) -> list[str]:
        """Every request so far as one text: system prompt and messages."""
        with self._lock:
            return [request_text(one) for one in self.requests]

    def start(self) -> None:
        """Listen."""
        threading.Thread(target=self._http.serve_forever, name="model", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()

    def reply_to(self, body: dict[str, Any]) -> tuple[int, Reply]:
        """Keep the request, and choose what to say to it; the reply has a number that no other has."""
        latest = _since_it_spoke(body.get("messages", []))
        with self._lock:
            self.requests.append(body)
            number = next(self._numbers)
            reply = self._choose(latest)
            if isinstance(reply, Use) and reply.then is not None:
                self._then[_call_id(number)] = reply.then
            return number, reply

    def _choose(self, latest: list[dict[str, Any]]) -> Reply:
        for call_id in _answered(latest):
            if call_id in self._then:
                return self._then.pop(call_id)
        said = "\n".join(_text(message.get("content")) for message in latest)
        for text, replies in self._rules:
            if replies and text in said:
                return replies.pop(0)
        return self._script.pop(0) if self._script else Say("Understood.")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class says so
                pass

            def do_GET(self) -> None:
                listed = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "test"}]}
                self._answer(200 if self.path.rstrip("/").endswith("/models") else 404, listed)

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                spoken = _DIALECTS.get(self.path.partition("?")[0].rstrip("/").rpartition("/")[2])
                if spoken is None:
                    self._answer(404, {"error": {"message": "no such call"}})
                    return
                body = json.loads(raw)
                number, reply = server.reply_to(body)
                dialect = spoken(number)
                if isinstance(reply, Say) and reply.after is not None:
                    reply.after.wait(60)
                if body.get("stream"):
                    self._stream(dialect.events(reply))
                else:
                    self._answer(200, dialect.whole(reply))

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, events: Iterator[str]) -> None:
                self.close_connection = True
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for event in events:
                    self.wfile.write(event.encode() + b"\n\n")

        return Handler


class _Dialect:
    """How one provider writes a reply down."""

    def __init__(self, number: int) -> None:
        self._number = number

    def whole(self, reply: Reply) -> dict[str, Any]:
        """The answer as one document."""
        raise NotImplementedError

    def events(self, reply: Reply) -> Iterator[str]:
        """The answer as server-sent events."""
        raise NotImplementedError


class _OpenAI(_Dialect):
    def whole(self, reply: Reply) -> dict[str, Any]:
        message = {"role": "assistant", "content": None, **self._content(reply)}
        choice = {"index": 0, "message": message, "finish_reason": _openai_end(reply)}
        return self._head("chat.completion", [choice])

    def events(self, reply: Reply) -> Iterator[str]:
        delta = {"role": "assistant", **self._content(reply)}
        for index, call in enumerate(delta.get("tool_calls", [])):
            call["index"] = index
        for choice in (
            {"index": 0, "delta": delta, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": _openai_end(reply)},
        ):
            yield f"data: {json.dumps(self._head('chat.completion.chunk', [choice]))}"
        yield "data: [DONE]"

    def _head(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        identity = {
            "id": f"chatcmpl-{self._number}",
            "object": kind,
            "created": 1_700_000_000,
            "model": MODEL,
        }
        return {**identity, "choices": choices, "usage": usage}

    def _content(self, reply: Reply) -> dict[str, Any]:
        if isinstance(reply, Say):
            return {"content": reply.text}
        function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
        return {"tool_calls": [{"id": _call_id(self._number), "type": "function", "function": function}]}


class _Anthropic(_Dialect):
    def whole(self, reply: Reply) -> dict[str, Any]:
        return {**self._head(), "content": [self._block(reply)], "stop_reason": _anthropic_end(reply)}

    def events(self, reply: Reply) -> Iterator[str]:
        block = self._block(reply)
        if isinstance(reply, Say):
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": reply.text}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
        stop = {"stop_reason": _anthropic_end(reply), "stop_sequence": None}
        for kind, fields in (
            ("message_start", {"message": {**self._head(), "content": [], "stop_reason": None}}),
            ("content_block_start", {"index": 0, "content_block": start}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": stop, "usage": {"output_tokens": 5}}),
            ("message_stop", {}),
        ):
            yield f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}"

    def _head(self) -> dict[str, Any]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        identity = {"id": f"msg_{self._number}", "type": "message", "role": "assistant", "model": MODEL}
        return {**identity, "stop_sequence": None, "usage": usage}

    def _block(self, reply: Reply) -> dict[str, Any]:
        if isinstance(reply, Say):
            return {"type": "text", "text": reply.text}
        return {
            "type": "tool_use",
            "id": _call_id(self._number),
            "name": reply.tool,
            "input": reply.arguments,
        }


_DIALECTS: dict[str, type[_Dialect]] = {"completions": _OpenAI, "messages": _Anthropic}
"""By the last segment of the path."""


def _call_id(number: int) -> str:
    """The id of the tool call in the reply of that number."""
    return f"call_{number}"


def _openai_end(reply: Reply) -> str:
    return "stop" if isinstance(reply, Say) else "tool_calls"


def _anthropic_end(reply: Reply) -> str:
    return "end_turn" if isinstance(reply, Say) else "tool_use"


def _reply(one: Reply | str) -> Reply:
    return Say(one) if isinstance(one, str) else one


def request_text(body: dict[str, Any]) -> str:
    """What the model was given to read: the system prompt and all messages, in order."""
    parts = [_text(body.get("system"))]
    parts += [_text(message.get("content")) for message in body.get("messages", [])]
    return "\n".join(part for part in parts if part)


def _since_it_spoke(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the model has not answered yet: some runtimes put notes of their own behind what the user said."""
    latest = itertools.takewhile(lambda message: message.get("role") != "assistant", reversed(messages))
    return [message for message in latest if message.get("role") != "system"][::-1]


def _answered(messages: list[dict[str, Any]]) -> list[str]:
    """The ids of the tool calls that these messages answer."""
    found = [message.get("tool_call_id") for message in messages]
    found += [block.get("tool_use_id") for message in messages for block in _blocks(message.get("content"))]
    return [call_id for call_id in found if call_id]


def _text(content: Any) -> str:
    """The words of a message's content, whether it is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text") or _text(block.get("content"))) for block in _blocks(content))


def _blocks(content: Any) -> list[dict[str, Any]]:
    """The blocks of a message's content; none of a text."""
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


@contextmanager
def running_model(script: Iterable[Reply | str] = ()) -> Iterator[ModelServer]:
    """A model server while the block runs."""
    server = ModelServer(script)
    server.start()
    try:
        yield server
    finally:
        server.stop()
