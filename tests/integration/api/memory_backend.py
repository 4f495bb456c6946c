"""A small daemon behind the front door that keeps everything in memory."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable

import honchod
from honchod.begun import Begun
from honchod.capture.requests import WriteItem, WriteRequest, WriteResult
from honchod.errors import BadRequest, ConfigError, IdConflict, NotFound, OutboxFull, UnknownHost
from honchod.ops.views import (
    Acknowledged,
    Attempt,
    BackupMade,
    CacheView,
    Check,
    Checks,
    DeliveryView,
    Discarded,
    Drained,
    Health,
    Info,
    Letter,
    LetterDetail,
    LetterPage,
    LetterSelection,
    LimitsView,
    Queue,
    Reloaded,
    Retried,
    Status,
    UiAccess,
    WorkerState,
    WriterView,
)

WHEN = "2026-03-02T09:00:00Z"


class MemoryBackend:
    """Keeps messages by session and id. Hosts are ``default`` and ``hermes``; holds two dead letters.

    It has the calls that the tests of the door are about; the others are tested on the whole program.
    """

    def __init__(self, limits: LimitsView) -> None:
        self.limits = limits
        self.stored: dict[tuple[str, str], str] = {}
        self.writers: list[tuple[int, bool]] = []
        self.capacity = 1_000_000
        self.stuck: list[str] = []
        self.is_ready = True
        self.configuration_problems: list[str] = []
        self.fault: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.at_gate = 0
        self.on_begin: Callable[[], object] = lambda: None
        self._paused = False
        self._letters = {f"letter-{n}": f"content of letter {n}" for n in (1, 2)}

    async def write(self, request: WriteRequest, *, uid: int, operator: bool) -> WriteResult:
        if self.fault is not None:
            raise self.fault
        if request.host not in ("default", "hermes"):
            raise UnknownHost("configured hosts: default, hermes")
        session = request.session or "unnamed"
        texts: dict[tuple[str, str], str] = {}
        items: list[WriteItem] = []
        for message in request.messages:
            key = (session, message.id or f"m{len(self.stored) + len(texts)}")
            known = self.stored.get(key, texts.get(key))
            if known is not None and known != message.content:
                raise IdConflict(f"messages: id {key[1]!r} was used with other content")
            items.append(WriteItem(id=key[1], status="queued" if known is None else "duplicate", parts=1))
            texts[key] = message.content
        if len(self.stored | texts) > self.capacity:
            raise OutboxFull("the queue is full: nothing was stored", retry_after_s=1.5)
        self.at_gate += 1
        await self.gate.wait()
        self.stored |= texts
        self.writers.append((uid, operator))
        return WriteResult(session=session, results=items)

    def begin_write(self, request: WriteRequest, *, uid: int, operator: bool) -> Begun[WriteResult] | None:
        """A request of several messages goes the long way."""
        if self.fault is not None:
            raise self.fault
        self.on_begin()
        if len(request.messages) > 1:
            return None
        return Begun(asyncio.ensure_future(self.write(request, uid=uid, operator=operator)), _as_it_is)

    def health(self) -> Health:
        return Health(
            status="stuck" if self.stuck else "ok", stuck=self.stuck, destinations={"default": "unreachable"}
        )

    def ready(self) -> bool:
        return self.is_ready

    def info(self) -> Info:
        return Info(
            version=honchod.__version__,
            api="v1",
            python="3",
            sqlite="3",
            sdk="2",
            socket="/run/honchod/honchod.sock",
            pid=os.getpid(),
            limits=self.limits,
            features=[],
        )

    async def status(self, *, oldest: bool = False) -> Status:
        return Status(
            version=honchod.__version__,
            uptime_s=1.0,
            queue=Queue(
                pending=len(self.stored),
                oldest_age_s=None,
                in_flight=0,
                delivered=0,
                dead=len(self._letters),
                discarded=0,
                bytes=0,
            ),
            lanes=[],
            destinations=[],
            cache=CacheView(entries=0, hits=0, misses=0, stale=0),
            writer=WriterView(commits=0, p50_ms=0.0, p99_ms=0.0, mean_group=0.0, queued=0),
            delivery=DeliveryView(paused=self._paused, in_flight=0, requests=0, reconciled=0),
            errors=[],
            notices=[],
            database_bytes=0,
            wal_bytes=0,
        )

    async def letters(
        self, *, session: str | None, code: str | None, limit: int, cursor: str | None
    ) -> LetterPage:
        matching = [
            _letter(name)
            for name in sorted(self._letters)
            if session in (None, "chat") and code in (None, "rejected_422")
        ]
        start = 0 if cursor is None else _read_cursor(cursor)
        end = start + limit
        more = end < len(matching)
        return LetterPage(matching[start:end], _write_cursor(end) if more else None, len(matching))

    async def letter(self, letter_id: str, *, content: bool) -> LetterDetail:
        text = self._letters.get(letter_id)
        if text is None:
            raise NotFound("there is no such dead letter")
        letter = _letter(letter_id)
        return LetterDetail(
            **{name: getattr(letter, name) for name in letter.__struct_fields__},
            history=[Attempt(at=WHEN, outcome="rejected", status=422, ms=12)],
            content=text if content else None,
            metadata={} if content else None,
        )

    async def retry_letters(self, selection: LetterSelection) -> Retried:
        wanted = selection.ids if selection.ids is not None else sorted(self._letters)
        most = len(wanted) if selection.all else min(selection.limit or 100, 100)
        chosen = [name for name in wanted if name in self._letters][:most]
        for name in chosen:
            del self._letters[name]
        return Retried(retried=len(chosen), remaining=len(self._letters))

    async def discard_letters(self, ids: list[str]) -> Discarded:
        return Discarded(discarded=sum(self._letters.pop(name, None) is not None for name in ids))

    async def acknowledge(self) -> Acknowledged:
        return Acknowledged(acknowledged=0)

    async def wake(self) -> WorkerState:
        return WorkerState(paused=self._paused, pending=len(self.stored))

    async def pause(self) -> WorkerState:
        self._paused = True
        return await self.wake()

    async def resume(self) -> WorkerState:
        self._paused = False
        return await self.wake()

    async def drain(self, timeout_s: float) -> Drained:
        return Drained(drained=not self.stored, remaining=len(self.stored))

    async def checks(self) -> Checks:
        return Checks(ok=True, checks=[Check(name="disk", ok=True, code="ok", latency_ms=None, detail="")])

    async def backup(self, path: str) -> BackupMade:
        return BackupMade(path=path, bytes=1, events=1, pending=1, dead=0, taken_at=WHEN, ms=1)

    async def reload(self) -> Reloaded:
        if self.configuration_problems:
            raise ConfigError(self.configuration_problems)
        return Reloaded(hosts=["default", "hermes"], restart_needed=[])

    def ui(self, *, show_token: bool) -> UiAccess:
        token = "token-of-the-page" if show_token else None
        return UiAccess(url="http://127.0.0.1:9747/", token_file="/run/token", token=token)

    async def metrics(self) -> bytes:
        return b"# TYPE honchod_up gauge\nhonchod_up 1.0\n"


def _as_it_is(written: WriteResult) -> WriteResult:
    return written


def _letter(name: str) -> Letter:
    return Letter(
        id=name,
        session="chat",
        host="default",
        workspace="default",
        kind="message",
        peer="alice",
        code="rejected_422",
        attempts=1,
        created_at=WHEN,
        died_at=WHEN,
        size=20,
        message_id="m1",
        part=0,
    )


def _write_cursor(position: int) -> str:
    return base64.urlsafe_b64encode(f"at:{position}".encode()).decode()


def _read_cursor(cursor: str) -> int:
    try:
        prefix, _, position = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        if prefix != "at":
            raise ValueError(prefix)
        return int(position)
    except ValueError:
        raise BadRequest("cursor: unreadable") from None
