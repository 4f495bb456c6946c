"""What runs behind the API: the queue's status, dreams on demand, webhooks."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from .calls import NO_CONTENT, Answer, Call, Route, cut_page, read_paging
from .derive import WorkUnit
from .errors import Refused
from .fields import read_body, read_query
from .limits import WEBHOOKS_PER_WORKSPACE
from .model import Webhook
from .tenancy import find_workspace, open_workspace

_WORKSPACE: Final = "/v3/workspaces/{workspace}"
_WEBHOOKS: Final = f"{_WORKSPACE}/webhooks"
_DREAMS: Final = ("omni", "card_refresh")


class Counts(Struct, frozen=True):
    """Units of work, of one session; the id is the server's own, not the session's name."""

    session_id: str | None
    total_work_units: int
    completed_work_units: int
    in_progress_work_units: int
    pending_work_units: int


class QueueStatus(Struct, frozen=True):
    """Units of work in all, and by session unless one was asked for."""

    total_work_units: int
    completed_work_units: int
    in_progress_work_units: int
    pending_work_units: int
    sessions: dict[str, Counts] | None


def read_queue(call: Call) -> Answer:
    """``GET …/queue/status``: work that failed counts as completed."""
    observer, sender = call.query.get("observer_id"), call.query.get("sender_id")
    only = call.query.get("session_id")
    units = [
        unit
        for unit in call.deriver.units(call.path["workspace"])
        if (not only or unit.session_id == only)
        and (not (observer or sender) or observer in unit.observers or sender == unit.observed)
    ]
    total = _count(None, units)
    sessions = None if only else _by_session(call, units)
    return Answer.of(
        QueueStatus(
            total.total_work_units,
            total.completed_work_units,
            total.in_progress_work_units,
            total.pending_work_units,
            sessions or None,
        )
    )


def schedule_dream(call: Call) -> Answer:
    """``POST …/schedule_dream``: accepted; nothing is consolidated here."""
    body = read_body(call.body)
    body.text("observer")
    body.text_or_none("observed")
    body.choice("dream_type", _DREAMS, default=None)
    body.text_or_none("session_id")
    body.boolean("rebuild", default=False)
    body.check()
    return NO_CONTENT


def create_webhook(call: Call) -> Answer:
    """``POST …/webhooks``: gets or creates; literal private addresses are refused."""
    body = read_body(call.body)
    url = body.text("url")
    problem = _url_problem(url)
    if problem is not None:
        body.refuse(("url",), problem, url)
    body.check()
    workspace = open_workspace(call, call.path["workspace"])
    known = next((hook for hook in workspace.webhooks.values() if hook.url == url), None)
    if known is not None:
        return Answer.of(known, 200)
    if len(workspace.webhooks) >= WEBHOOKS_PER_WORKSPACE:
        limit = f"Maximum number of webhook endpoints ({WEBHOOKS_PER_WORKSPACE})"
        raise Refused(409, f"{limit} reached for this workspace.")
    hook = Webhook(call.ids.next(), workspace.row.id, url, call.now)
    workspace.webhooks[hook.id] = hook
    call.store.changed()
    return Answer.of(hook, 201)


def list_webhooks(call: Call) -> Answer:
    """``GET …/webhooks``."""
    query = read_query(call.query)
    paging = read_paging(query)
    query.check()
    workspace = find_workspace(call)
    return Answer.of(cut_page(list(workspace.webhooks.values()) if workspace else [], paging))


def delete_webhook(call: Call) -> Answer:
    """``DELETE …/webhooks/{webhook}``."""
    workspace = find_workspace(call)
    if workspace is None or workspace.webhooks.pop(call.path["webhook"], None) is None:
        which = f"Webhook endpoint {call.path['webhook']}"
        raise Refused(404, f"{which} not found for workspace {call.path['workspace']}")
    call.store.changed()
    return NO_CONTENT


def _by_session(call: Call, units: list[WorkUnit]) -> dict[str, Counts]:
    by_uid: dict[str, list[WorkUnit]] = {}
    for unit in units:
        session = call.store.session(call.path["workspace"], unit.session_id)
        if session is not None:
            by_uid.setdefault(session.uid, []).append(unit)
    return {uid: _count(uid, of_session) for uid, of_session in by_uid.items()}


def _count(session_id: str | None, units: list[WorkUnit]) -> Counts:
    done = sum(unit.done for unit in units)
    return Counts(session_id, len(units), done, 0, len(units) - done)


def _url_problem(url: str) -> str | None:
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return "Invalid URL format"
    if parts.scheme not in ("http", "https"):
        return "Only HTTP and HTTPS URLs are allowed"
    try:
        address = ipaddress.ip_address(parts.hostname or "")
    except ValueError:
        return None
    return None if address.is_global else "Private/internal IP addresses are not allowed"


ROUTES: Final = (
    Route("GET", f"{_WORKSPACE}/queue/status", read_queue),
    Route("POST", f"{_WORKSPACE}/schedule_dream", schedule_dream),
    Route("POST", _WEBHOOKS, create_webhook),
    Route("GET", _WEBHOOKS, list_webhooks),
    Route("DELETE", f"{_WEBHOOKS}/{{webhook}}", delete_webhook),
)
