"""The overview: the whole daemon on one page. Pure: a snapshot goes in, HTML comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from honchod.ops.amounts import duration, millis, number, size
from honchod.ops.views import Checks, DestinationView, Health, LaneView, LetterPage, Status
from honchod.web import chart
from honchod.web.history import Sample
from honchod.web.identity import Identity
from honchod.web.layout import button, facts, framed, moment, pill, section, table
from honchod.web.letters import brief_table
from honchod.web.markup import Markup, Node, el, fragment, name
from honchod.web.sessions import Notice, Tone

_TONES: Final = {
    "ok": Tone.GOOD,
    "closed": Tone.GOOD,
    "half_open": Tone.WARNING,
    "throttled": Tone.WARNING,
    "open": Tone.BAD,
    "refused": Tone.BAD,
    "stalled": Tone.BAD,
    "unreachable": Tone.BAD,
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What the last probes found, and when (RFC 3339)."""

    checks: Checks
    at: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The daemon at one moment. ``letters`` is the first page of them; ``now_s`` is monotonic."""

    status: Status
    health: Health
    letters: LetterPage
    identities: list[Identity]
    samples: tuple[Sample, ...]
    checked: Checked | None
    now_ms: int
    now_s: float


def overview_page(seen: Snapshot, *, csrf: str, notices: list[Notice]) -> str:
    """The page."""
    return framed(
        "Overview",
        el("h1", "Overview", class_="hidden"),
        el("p", id="announcement", class_="hidden", aria_live="polite"),
        el("div", live_parts(seen, csrf), class_="grid"),
        el(
            "footer",
            el("span", id="live", class_="muted"),
            el("noscript", el("a", "Refresh", href="/")),
            class_="foot",
        ),
        csrf=csrf,
        here="/",
        notices=notices,
        dead=seen.status.queue.dead,
    )


def live_parts(seen: Snapshot, csrf: str) -> Markup:
    """The sections that are refreshed in place."""
    status = seen.status
    return fragment(
        section("Delivery", _state(seen), _actions(seen, csrf), id_="worker", class_="wide"),
        section("Queue", _tiles(status), _charts(seen), id_="queue", class_="wide"),
        _notices(status, csrf),
        section("Dead letters", brief_table(seen.letters, csrf, seen.now_ms), id_="letters", class_="wide"),
        section("Lanes that wait", _lanes(status), id_="lanes", class_="wide"),
        section("Destinations", _destinations(status, seen.now_ms), id_="destinations", class_="wide"),
        section("Recent errors", _errors(status, seen.now_ms), id_="errors"),
        section("Checks", _checks(seen.checked, csrf, seen.now_ms), id_="checks"),
        section("Identity", _identities(seen.identities), id_="identity", class_="wide"),
        section("Recall cache", _cache(status, csrf), id_="cache"),
        section("Storage", _storage(status), id_="storage"),
    )


def _state(seen: Snapshot) -> Markup:
    status, health = seen.status, seen.health
    healthy = health.status == "ok"
    away = [host for host, state in health.destinations.items() if state != "ok"]
    said = [
        pill(
            "healthy" if healthy else f"stuck: {', '.join(health.stuck)}", Tone.GOOD if healthy else Tone.BAD
        ),
        pill("paused", Tone.WARNING) if status.delivery.paused else pill("delivering", Tone.GOOD),
        pill(f"{len(away)} of {len(health.destinations)} destinations away", Tone.BAD) if away else None,
        el("span", f"honchod {status.version}, up {duration(status.uptime_s)}", class_="muted"),
    ]
    return el("p", said, class_="state", data_announce=_announcement(seen, away))


def _announcement(seen: Snapshot, away: list[str]) -> str:
    """What a screen reader is told when it changes; nothing that changes all the time."""
    status = seen.status
    return ". ".join(
        (
            "Healthy" if seen.health.status == "ok" else "Stuck",
            "Delivery is paused" if status.delivery.paused else "Delivering",
            f"{len(away)} destinations away" if away else "All destinations answer",
            f"{number(status.queue.dead)} dead letters",
        )
    )


def _actions(seen: Snapshot, csrf: str) -> Markup:
    paused = seen.status.delivery.paused
    return el(
        "div",
        button("Wake", "/worker/wake", csrf, hint="Make everything that waits due now"),
        button("Resume", "/worker/resume", csrf, hint="Deliver again", kind="primary")
        if paused
        else button(
            "Pause", "/worker/pause", csrf, hint="Stop delivering; messages are taken in all the same"
        ),
        button("Drain 5 s", "/worker/drain", csrf, hint="Wait up to 5 s for the queue to become empty"),
        button("Reload", "/reload", csrf, hint="Read the configuration again"),
        class_="actions",
    )


def _tiles(status: Status) -> Markup:
    queue = status.queue
    alarm = Tone.BAD if queue.dead else Tone.PLAIN
    tiles: list[tuple[str, str, Tone, str]] = [
        ("pending", number(queue.pending), Tone.PLAIN, size(queue.bytes)),
        ("oldest", duration(queue.oldest_age_s), Tone.PLAIN, "waits"),
        ("in flight", number(queue.in_flight), Tone.PLAIN, f"in {number(status.delivery.in_flight)} lanes"),
        ("delivered", number(queue.delivered), Tone.PLAIN, f"{number(status.delivery.requests)} requests"),
        (
            "dead",
            number(queue.dead),
            alarm,
            f"{number(queue.discarded)} discarded",
        ),
    ]
    return el(
        "dl",
        [
            el(
                "div",
                el("dt", label),
                el("dd", value, id=f"queue-{label.replace(' ', '-')}", class_=tone.value),
                el("dd", note, class_="muted"),
            )
            for label, value, tone, note in tiles
        ],
        class_="tiles",
    )


def _charts(seen: Snapshot) -> Markup:
    return el(
        "div",
        chart.waiting(seen.samples, seen.now_s),
        chart.delivered(seen.samples, seen.now_s),
        class_="charts",
    )


def _notices(status: Status, csrf: str) -> Markup:
    items = el("ul", [el("li", text) for text in status.notices])
    hint = "Take them as read; what the configuration causes stays until that is mended"
    action = button("Acknowledge", "/notices/ack", csrf, hint=hint)
    return section("Notices", items, action, id_="notices", class_="wide" if status.notices else "wide none")


def _identities(identities: list[Identity]) -> Markup:
    return table(
        ("Host", "Destination", "Workspace", "People / agent", "Memory", "Recall", "Session, scope", "Key"),
        [_identity(each) for each in identities],
        empty="No hosts.",
        label="Identity of each host",
    )


def _identity(each: Identity) -> list[Node]:
    off = "disabled" if not each.enabled else "capture off" if not each.captures else None
    return [
        fragment(name(each.host), " ", None if off is None else pill(off, Tone.WARNING)),
        _two(name(each.url), None if each.mcp_url is None else fragment("MCP ", name(each.mcp_url))),
        name(each.workspace),
        _two(name(each.user_peer) if each.user_peer else "nobody", name(each.ai_peer)),
        _two(f"user {each.user_mode}, agent {each.agent_mode}", f"due {each.writes}"),
        each.recall_mode,
        _two(each.sessions, f"scope {each.scopes}"),
        each.key_source,
    ]


def _destinations(status: Status, now_ms: int) -> Markup:
    return table(
        ("Host", "State", "Circuit", "In flight", "Delivered", "Derived", "Last delivery", "Last error"),
        [_destination(each, now_ms) for each in status.destinations],
        empty="No destinations.",
        label="Destinations",
    )


def _destination(each: DestinationView, now_ms: int) -> list[Node]:
    retry = None if each.retry_in_s is None else f"probe {_when(each.retry_in_s)}"
    return [
        name(each.host),
        pill(each.state, _TONES[each.state]),
        _two(pill(each.circuit.replace("_", " "), _TONES[each.circuit]), retry),
        number(each.in_flight),
        number(each.delivered),
        number(each.derived),
        moment(each.last_delivery_at, now_ms),
        "-"
        if each.last_error is None
        else _two(el("code", each.last_error), moment(each.last_error_at, now_ms)),
    ]


def _lanes(status: Status) -> Markup:
    return table(
        ("Session", "Host", "Pending", "Due", "Failures", "Last error", "Notes"),
        [_lane(each) for each in status.lanes],
        empty="Nothing waits.",
        label="Lanes that wait",
    )


def _lane(each: LaneView) -> list[Node]:
    due = "not scheduled" if each.due_in_s is None else _when(each.due_in_s)
    return [
        name(each.session),
        name(each.host),
        number(each.pending),
        pill("in flight", Tone.GOOD) if each.in_flight else due,
        number(each.failures),
        "-" if each.last_error is None else el("code", each.last_error),
        el("span", [[pill(note, Tone.WARNING), " "] for note in _notes(each)], class_="pills"),
    ]


def _when(in_s: float) -> str:
    return "now" if in_s <= 0 else f"in {duration(in_s)}"


def _notes(each: LaneView) -> Iterator[str]:
    if each.uncertain:
        yield "looks first"
    if each.suspect:
        yield "suspect"
    if each.order_gap:
        yield "order gap"
    if not each.configured:
        yield "host removed"


def _cache(status: Status, csrf: str) -> Markup:
    cache = status.cache
    asked = cache.hits + cache.misses
    return fragment(
        facts(
            (
                ("Entries", number(cache.entries)),
                ("Hits", number(cache.hits)),
                ("Misses", number(cache.misses)),
                ("Stale", number(cache.stale)),
                ("Hit rate", f"{cache.hits / asked:.0%}" if asked else "-"),
            )
        ),
        button("Clear", "/cache/clear", csrf, hint="Forget every cached answer"),
    )


def _storage(status: Status) -> Markup:
    writer = status.writer
    return facts(
        (
            ("Commits", number(writer.commits)),
            ("Commit time", f"p50 {millis(writer.p50_ms)}, p99 {millis(writer.p99_ms)}"),
            ("Group", f"{writer.mean_group:.1f} on average"),
            ("Database", size(status.database_bytes)),
            ("WAL", size(status.wal_bytes)),
        )
    )


def _errors(status: Status, now_ms: int) -> Markup:
    return table(
        ("Code", "Host", "Seen"),
        [[el("code", each.code), name(each.host), moment(each.at, now_ms)] for each in status.errors[:10]],
        empty="None since the start.",
        label="Recent errors",
    )


def _checks(checked: Checked | None, csrf: str, now_ms: int) -> Markup:
    action = el(
        "div",
        button("Check now", "/checks", csrf, hint="Probe every destination with its key"),
        class_="actions",
    )
    if checked is None:
        return fragment(el("p", "Not checked yet.", class_="empty"), action)
    rows: list[list[Node]] = [
        [
            fragment(each.name, None if each.host is None else fragment(" ", name(each.host))),
            pill(each.code, Tone.GOOD if each.ok else Tone.BAD),
            _two(each.detail, None if each.latency_ms is None else millis(each.latency_ms)),
        ]
        for each in checked.checks.checks
    ]
    return fragment(
        table(("What", "Code", "Detail"), rows, empty="Nothing to check.", label="Checks"),
        el("p", "Checked ", moment(checked.at, now_ms), class_="muted small"),
        action,
    )


def _two(first: Node, second: Node) -> Markup:
    """Two lines in one cell; the second one is quieter, and may be absent."""
    return el("div", first, None if second is None else el("div", second, class_="muted"))
