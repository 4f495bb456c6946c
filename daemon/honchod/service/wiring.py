"""What each room is told, out of the files in force."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from honchod.api.callers import Access
from honchod.capture.own_patterns import OwnPattern
from honchod.capture.redact import Redactor
from honchod.delivery.retry import Policy
from honchod.delivery.worker import WorkerSettings
from honchod.identity import files
from honchod.identity.host import Hosts
from honchod.ops.views import LimitsView
from honchod.outbox.values import Bounds, LeaseTerms
from honchod.recall.fetch import SearchBounds
from honchod.recall.recaller import RecallSettings
from honchod.service import settings as settings_
from honchod.service.settings import Flags, Settings

ID_CHARS: Final = 512
LEASE_MIN_S: Final = 30.0


def load(config: Path | None, environ: Mapping[str, str], flags: Flags) -> tuple[Settings, Hosts]:
    """Settings and hosts, from the files in force. Raises `ConfigError`."""
    loaded = settings_.load(config, env=environ, flags=flags)
    return loaded, files.load(loaded.honcho_config or files.find(environ), environ)


def bounds(settings: Settings) -> Bounds:
    """How much the outbox may hold."""
    outbox = settings.outbox
    return Bounds(
        max_rows=outbox.max_rows,
        max_bytes=outbox.max_bytes,
        quota_share=outbox.quota_share,
        dedupe_window_ms=int(outbox.dedupe_window_s * 1000),
        content_after_delivery_ms=int(outbox.content_after_delivery_s * 1000),
    )


def worker_settings(settings: Settings) -> WorkerSettings:
    """How the worker works."""
    delivery = settings.delivery
    return WorkerSettings(
        policy=Policy(
            backoff_base_s=delivery.backoff_base_s,
            backoff_cap_s=delivery.backoff_cap_s,
            retry_after_cap_s=delivery.retry_after_cap_s,
            settle_delay_s=delivery.settle_delay_s,
            max_attempts=delivery.max_attempts,
        ),
        terms=LeaseTerms(
            batch_max=delivery.batch_max,
            batch_bytes=delivery.batch_bytes,
            lease_ms=int(max(LEASE_MIN_S, 4 * delivery.request_timeout_s) * 1000),
            max_age_ms=int(delivery.max_age_s * 1000),
        ),
        concurrency=delivery.concurrency,
        request_timeout_s=delivery.request_timeout_s,
    )


def recall_settings(settings: Settings) -> RecallSettings:
    """How recall works."""
    recall = settings.recall
    return RecallSettings(
        ttl_s=recall.cache_ttl_s,
        max_entries=recall.max_entries,
        bounds=SearchBounds(recall.search_top_k, recall.max_conclusions),
        policy=worker_settings(settings).policy,
    )


def redactor(settings: Settings) -> Redactor | None:
    """What hides secrets; None where redaction is off."""
    capture = settings.capture
    if not capture.redact:
        return None
    return Redactor(
        [
            OwnPattern(pattern, f"capture.patterns[{number}]")
            for number, pattern in enumerate(capture.patterns)
        ],
        [OwnPattern(pattern, f"capture.allow[{number}]") for number, pattern in enumerate(capture.allow)],
    )


def access(settings: Settings) -> Access:
    """Who may do what."""
    given = settings.access
    return Access.of(
        allow_uids=given.allow_uids,
        allow_gids=given.allow_gids,
        operator_uids=given.operator_uids,
    )


def limits(settings: Settings) -> LimitsView:
    """What the socket takes from a caller."""
    given = settings.limits
    return LimitsView(
        body_bytes=given.body_bytes,
        messages_per_request=given.messages_per_request,
        id_chars=ID_CHARS,
        connections=given.connections,
        arrival_s=given.arrival_s,
        idle_s=given.idle_s,
    )
