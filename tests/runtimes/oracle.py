"""What must be in Honcho after a conversation: each message once, in order, by the right peer and session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from support.honcho import Remote
from support.waiting import wait_until

Spoken = tuple[str, str]
"""Who (the peer's id) and what."""


def arrived(remote: Remote, workspace: str) -> dict[str, list[Spoken]]:
    """What a workspace holds, by session, in the order in which it is stored; empty sessions left out."""
    held = {session: remote.speakers(workspace, session) for session in remote.sessions(workspace)}
    return {session: spoken for session, spoken in held.items() if spoken}


def assert_arrived(
    remote: Remote, workspace: str, expected: Mapping[str, Sequence[Spoken]], *, timeout_s: float = 60.0
) -> None:
    """Wait until the workspace holds exactly this; fails with what is missing, too much or out of place."""
    wanted = {session: list(spoken) for session, spoken in expected.items()}
    held: dict[str, list[Spoken]] = {}

    def settled() -> bool:
        nonlocal held
        held = arrived(remote, workspace)
        return held == wanted

    wait_until(settled, lambda: _differences(wanted, held), timeout_s=timeout_s)


def duplicates(spoken: Sequence[Spoken]) -> int:
    """How many messages are there more than once too often. Only for texts that were said once."""
    return len(spoken) - len(set(spoken))


def _differences(wanted: Mapping[str, list[Spoken]], held: Mapping[str, list[Spoken]]) -> str:
    lines = []
    for session in sorted({*wanted, *held}):
        want, have = wanted.get(session, []), held.get(session, [])
        if want == have:
            continue
        lines.append(f"session {session}: {len(have)} of {len(want)} messages")
        lines += [f"  missing: {one}" for one in want if one not in have]
        lines += [f"  not expected: {one}" for one in have if one not in want]
        if sorted(want) == sorted(have):
            lines.append(f"  out of order: {have}")
        elif duplicates(have):
            lines.append(f"  more than once: {duplicates(have)}")
    return "exactly the conversation in Honcho\n" + "\n".join(lines)
