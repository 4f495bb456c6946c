"""What the running daemon says of itself."""

from __future__ import annotations

from collections.abc import Iterator

from honchod.ops.doctor.finding import Finding, ok, warning, wrong
from honchod.ops.views import Checks, Health, Status

CHECK = "daemon"


def answers(health: Health, status: Status) -> Iterator[Finding]:
    """Whether it makes progress, and what it would tell an operator."""
    if health.stuck:
        yield wrong(
            CHECK,
            f"it makes no progress: {', '.join(health.stuck)}",
            "restart it; its log says where it is when systemd's watchdog ends it",
        )
    else:
        yield ok(CHECK, f"honchod {status.version} serves")
    for notice in status.notices:
        yield warning("notice", notice, "see honchod status")
    if status.delivery.paused:
        yield warning(CHECK, "its delivery is paused", "go on", ("honchod", "resume"))
    if status.queue.dead:
        yield warning(
            "letters", f"{status.queue.dead} dead letters wait for somebody", "see honchod letters list"
        )


def probes(checks: Checks) -> Iterator[Finding]:
    """What the daemon found when it asked every destination, and looked at disk and clock."""
    for check in checks.checks:
        name = check.name if check.host is None else f"{check.name} of {check.host}"
        if check.ok:
            yield ok(name, check.detail)
        else:
            found, _, advice = check.detail.partition("; ")
            yield wrong(name, f"{check.code}: {found}", advice or "see deploy/RUNBOOK.md")


def silence(socket: str) -> Finding:
    """No daemon answers."""
    return wrong(
        CHECK,
        f"no daemon answers on {socket}",
        "start it (systemctl start honchod, or honchod run); honchod doctor --offline looks at its database",
    )
