"""Every call of the socket: to add one, add a line here and its handler under ``endpoints``."""

from __future__ import annotations

from functools import cache
from typing import Final

from honchod.api import openapi
from honchod.api.callers import Role
from honchod.api.endpoints import (
    backup,
    identity,
    letters,
    messages,
    recall,
    sessions,
    state,
    tools,
    ui,
    worker,
)
from honchod.api.route import Answer, Call, Nothing, Route
from honchod.capture.requests import WriteRequest, WriteResult
from honchod.capture.seed_requests import SeedRequest, SeedResult
from honchod.errors import (
    HonchoAway,
    HonchoRefused,
    IdConflict,
    NoIdentity,
    NotFound,
    OutboxFull,
    QuotaUsedUp,
    RedactionFailed,
    TooLarge,
    UnknownHost,
    Unprocessable,
)
from honchod.identity.requests import (
    EndedSession,
    PromptBlock,
    ResetSession,
    ResolvedSession,
    SessionRequest,
)
from honchod.memory.requests import ToolAnswer, ToolList, ToolRequest, ToolsQuery
from honchod.ops.views import (
    Acknowledged,
    BackupMade,
    BackupRequest,
    Checks,
    Discarded,
    Drained,
    DrainRequest,
    Health,
    Info,
    LetterDetail,
    LetterIds,
    LetterPage,
    LetterSelection,
    Ready,
    Reloaded,
    Retried,
    Status,
    UiAccess,
    UiRequest,
    WorkerState,
)
from honchod.recall.requests import (
    Cleared,
    Prefetching,
    RecallAnswer,
    RecallRequest,
    ReceiptPage,
    SessionQuery,
    StartedSession,
)


async def show_openapi(call: Call[Nothing, Nothing]) -> Answer:
    """Show the calls of this socket as an OpenAPI document."""
    return Answer(_document())


@cache
def _document() -> bytes:
    return openapi.document(ROUTES)


_WRITE_PROBLEMS: Final = (
    IdConflict,
    TooLarge,
    Unprocessable,
    UnknownHost,
    NoIdentity,
    RedactionFailed,
    QuotaUsedUp,
    OutboxFull,
)

_TOOL_PROBLEMS: Final = (
    NotFound,
    UnknownHost,
    NoIdentity,
    RedactionFailed,
    QuotaUsedUp,
    HonchoRefused,
    HonchoAway,
    OutboxFull,
)
_SESSION_PROBLEMS: Final = (UnknownHost, RedactionFailed)
_SEED_PROBLEMS: Final = (*_SESSION_PROBLEMS, TooLarge, QuotaUsedUp, OutboxFull)

ROUTES: Final[tuple[Route, ...]] = (
    Route(
        "POST",
        "/v1/messages",
        messages.write_messages,
        Role.AGENT,
        {202: WriteResult},
        request=WriteRequest,
        begin=messages.begin_to_write,
        problems=_WRITE_PROBLEMS,
        intake=True,
    ),
    Route(
        "POST",
        "/v1/recall",
        recall.recall,
        Role.AGENT,
        {200: RecallAnswer},
        request=RecallRequest,
        at_once=recall.recall_again,
        problems=_SESSION_PROBLEMS,
    ),
    Route(
        "POST",
        "/v1/prefetch",
        recall.prefetch,
        Role.AGENT,
        {202: Prefetching},
        request=SessionQuery,
        problems=_SESSION_PROBLEMS,
    ),
    Route(
        "POST",
        "/v1/sessions/start",
        recall.start_session,
        Role.AGENT,
        {200: StartedSession},
        request=SessionQuery,
        problems=_SESSION_PROBLEMS,
    ),
    Route(
        "POST",
        "/v1/sessions/resolve",
        sessions.resolve_session,
        Role.AGENT,
        {200: ResolvedSession},
        request=SessionRequest,
        problems=_SESSION_PROBLEMS,
    ),
    Route(
        "POST",
        "/v1/sessions/end",
        sessions.end_session,
        Role.AGENT,
        {200: EndedSession},
        request=SessionRequest,
        problems=_SESSION_PROBLEMS,
    ),
    Route(
        "POST",
        "/v1/sessions/reset",
        sessions.reset_session,
        Role.AGENT,
        {200: ResetSession},
        request=SessionRequest,
        problems=_SESSION_PROBLEMS,
        intake=True,
    ),
    Route(
        "POST",
        "/v1/identity/seed",
        identity.seed_identity,
        Role.AGENT,
        {202: SeedResult},
        request=SeedRequest,
        problems=_SEED_PROBLEMS,
        intake=True,
    ),
    Route(
        "POST",
        "/v1/identity/file",
        identity.import_file,
        Role.AGENT,
        {202: SeedResult},
        request=SeedRequest,
        problems=(*_SEED_PROBLEMS, NoIdentity),
        intake=True,
    ),
    Route(
        "GET",
        "/v1/prompt",
        sessions.show_prompt,
        Role.AGENT,
        {200: PromptBlock},
        query=sessions.PromptQuery,
        problems=_SESSION_PROBLEMS,
    ),
    Route(
        "GET",
        "/v1/tools",
        tools.list_tools,
        Role.AGENT,
        {200: ToolList},
        query=ToolsQuery,
        problems=(UnknownHost,),
    ),
    Route(
        "POST",
        "/v1/tools/{name}",
        tools.call_tool,
        Role.AGENT,
        {200: ToolAnswer},
        request=ToolRequest,
        problems=_TOOL_PROBLEMS,
        intake=True,
        attended=True,
    ),
    Route("GET", "/v1/health", state.show_health, Role.ANY, {200: Health, 503: Health}),
    Route("GET", "/v1/ready", state.show_readiness, Role.ANY, {200: Ready, 503: Ready}),
    Route("GET", "/v1/info", state.show_info, Role.ANY, {200: Info}),
    Route("GET", "/v1/openapi.json", show_openapi, Role.ANY, {200: None}),
    Route("GET", "/metrics", state.show_metrics, Role.ANY, {200: None}, media_type=state.METRICS_MEDIA_TYPE),
    Route(
        "GET",
        "/v1/status",
        state.show_status,
        Role.OPERATOR,
        {200: Status},
        query=state.StatusQuery,
    ),
    Route(
        "GET",
        "/v1/dead-letters",
        letters.list_letters,
        Role.OPERATOR,
        {200: LetterPage},
        query=letters.LettersQuery,
    ),
    Route(
        "GET",
        "/v1/dead-letters/{id}",
        letters.show_letter,
        Role.OPERATOR,
        {200: LetterDetail},
        query=letters.LetterQuery,
        problems=(NotFound,),
    ),
    Route(
        "POST",
        "/v1/dead-letters/retry",
        letters.retry_letters,
        Role.OPERATOR,
        {200: Retried},
        request=LetterSelection,
        problems=(NotFound, Unprocessable),
    ),
    Route(
        "POST",
        "/v1/dead-letters/discard",
        letters.discard_letters,
        Role.OPERATOR,
        {200: Discarded},
        request=LetterIds,
        problems=(NotFound, Unprocessable),
    ),
    Route(
        "POST",
        "/v1/ui",
        ui.find_page,
        Role.OPERATOR,
        {200: UiAccess},
        request=UiRequest,
        request_optional=True,
        problems=(NotFound,),
    ),
    Route("POST", "/v1/notices/ack", worker.acknowledge_notices, Role.OPERATOR, {200: Acknowledged}),
    Route("POST", "/v1/worker/wake", worker.wake_worker, Role.OPERATOR, {200: WorkerState}),
    Route("POST", "/v1/worker/pause", worker.pause_worker, Role.OPERATOR, {200: WorkerState}),
    Route("POST", "/v1/worker/resume", worker.resume_worker, Role.OPERATOR, {200: WorkerState}),
    Route(
        "POST",
        "/v1/worker/drain",
        worker.drain_worker,
        Role.OPERATOR,
        {200: Drained},
        request=DrainRequest,
        request_optional=True,
    ),
    Route("POST", "/v1/cache/clear", recall.clear_cache, Role.OPERATOR, {200: Cleared}),
    Route(
        "GET",
        "/v1/recall-log",
        recall.list_receipts,
        Role.OPERATOR,
        {200: ReceiptPage},
        query=recall.ReceiptsQuery,
    ),
    Route("POST", "/v1/checks", worker.run_checks, Role.OPERATOR, {200: Checks}),
    Route(
        "POST",
        "/v1/backup",
        backup.make_backup,
        Role.OPERATOR,
        {200: BackupMade},
        request=BackupRequest,
        problems=(Unprocessable,),
    ),
    Route(
        "POST",
        "/v1/reload",
        worker.reload_configuration,
        Role.OPERATOR,
        {200: Reloaded},
        problems=(Unprocessable,),
    ),
)
