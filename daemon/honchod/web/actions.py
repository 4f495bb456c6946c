"""What the buttons do: each handler makes one call of the daemon and says what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from aiohttp import web

from honchod.clock import Clock, rfc3339
from honchod.errors import ConfigError, Problem
from honchod.ops.amounts import number
from honchod.ops.views import LetterSelection
from honchod.web.answers import html
from honchod.web.backend import Backend
from honchod.web.gate import Visit
from honchod.web.letters import DISCARD, RETRY, Filter, confirm_page, filter_fields
from honchod.web.overview import Checked
from honchod.web.sessions import Tone

DRAIN_S: Final = 5.0
_AT_ONCE: Final = 500
"""Letters discarded in one call."""

Act = Callable[[Visit], Awaitable[web.StreamResponse]]


class Actions:
    """The handlers. ``checked`` is what the last probes found."""

    def __init__(self, backend: Backend, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock
        self.checked: Checked | None = None

    @property
    def by_path(self) -> Mapping[str, Act]:
        """Every action and where its form goes."""
        return {
            "/worker/wake": self.wake,
            "/worker/pause": self.pause,
            "/worker/resume": self.resume,
            "/worker/drain": self.drain,
            "/reload": self.reload,
            "/checks": self.check,
            "/cache/clear": self.clear_cache,
            "/notices/ack": self.acknowledge,
            RETRY: self.retry,
            DISCARD: self.discard,
        }

    async def wake(self, visit: Visit) -> web.StreamResponse:
        """Make everything that waits due now."""
        state = await self._backend.wake()
        paused = ", once delivery is resumed" if state.paused else ""
        return visit.tell(f"{_messages(state.pending)} that wait are due now{paused}.")

    async def pause(self, visit: Visit) -> web.StreamResponse:
        """Stop delivering."""
        await self._backend.pause()
        return visit.tell("Delivery is paused. Messages are taken in all the same.", Tone.WARNING)

    async def resume(self, visit: Visit) -> web.StreamResponse:
        """Deliver again."""
        await self._backend.resume()
        return visit.tell("Delivery goes on.")

    async def drain(self, visit: Visit) -> web.StreamResponse:
        """Wait a little for the queue to become empty."""
        drained = await self._backend.drain(DRAIN_S)
        if drained.drained:
            return visit.tell("Drained: nothing waits.")
        return visit.tell(f"{_messages(drained.remaining)} still wait after {DRAIN_S:g} s.", Tone.WARNING)

    async def reload(self, visit: Visit) -> web.StreamResponse:
        """Read the configuration again."""
        try:
            done = await self._backend.reload()
        except ConfigError as error:
            return visit.tell(f"The configuration is not used, nothing has changed: {error}", Tone.BAD)
        if done.restart_needed:
            needs = ", ".join(done.restart_needed)
            return visit.tell(f"Reloaded; a restart is needed for {needs}.", Tone.WARNING)
        return visit.tell(f"Reloaded. Hosts: {', '.join(done.hosts)}.")

    async def check(self, visit: Visit) -> web.StreamResponse:
        """Probe what the daemon depends on."""
        checks = await self._backend.checks()
        self.checked = Checked(checks, rfc3339(self._clock.now_ms()))
        failed = sum(not check.ok for check in checks.checks)
        if failed:
            return visit.tell(f"{failed} of {len(checks.checks)} checks failed; see below.", Tone.BAD)
        return visit.tell("All checks passed.")

    async def clear_cache(self, visit: Visit) -> web.StreamResponse:
        """Forget every cached answer."""
        cleared = (await self._backend.recaller.clear()).cleared
        return visit.tell(f"{number(cleared)} cached answer{'' if cleared == 1 else 's'} forgotten.")

    async def acknowledge(self, visit: Visit) -> web.StreamResponse:
        """Take the notices as read."""
        done = await self._backend.acknowledge()
        count = done.acknowledged
        return visit.tell(f"{number(count)} notice{'' if count == 1 else 's'} taken as read.")

    async def retry(self, visit: Visit) -> web.StreamResponse:
        """Put one, some or all letters back into the queue; all only once that is confirmed."""
        only = _filter(visit)
        if visit.form.text("all"):
            if not _confirmed(visit):
                return await self._ask(visit, only, "Retry", _BACK_IN_PLACE)
            everything = LetterSelection(session=only.session, code=only.code, all=True)
            return await self._retry(visit, everything)
        ids = _chosen(visit)
        if not ids:
            return visit.tell("No letter was chosen.", Tone.WARNING)
        return await self._retry(visit, LetterSelection(ids=ids, all=True))

    async def discard(self, visit: Visit) -> web.StreamResponse:
        """Discard one, some or all letters for good, once that is confirmed."""
        only, ids = _filter(visit), _chosen(visit)
        if visit.form.text("all"):
            if not _confirmed(visit):
                return await self._ask(visit, only, "Discard", _NO_WAY_BACK)
            discarded = await self._discard_all(only, until=visit.form.text("until") or "")
            return visit.tell(f"{_letters(discarded)} discarded.")
        if not ids:
            return visit.tell("No letter was chosen.", Tone.WARNING)
        if not _confirmed(visit):
            return html(
                confirm_page(
                    f"Discard {_letters(len(ids))}?",
                    _NO_WAY_BACK,
                    action=DISCARD,
                    label="Discard",
                    fields=[("id", each) for each in ids],
                    csrf=visit.csrf,
                    back=visit.back,
                )
            )
        done = await self._backend.discard_letters(ids)
        return visit.tell(f"{_letters(done.discarded)} discarded.")

    async def _retry(self, visit: Visit, selection: LetterSelection) -> web.StreamResponse:
        done = await self._backend.retry_letters(selection)
        return visit.tell(f"{_letters(done.retried)} back in the queue.")

    async def _ask(self, visit: Visit, only: Filter, verb: str, warning: str) -> web.StreamResponse:
        matching = await self._backend.letters(session=only.session, code=only.code, limit=1, cursor=None)
        of = f" of {only}" if str(only) else ""
        until = rfc3339(self._clock.now_ms())
        return html(
            confirm_page(
                f"{verb} all {_letters(matching.total)}{of}?",
                warning,
                action=RETRY if verb == "Retry" else DISCARD,
                label=f"{verb} all",
                fields=[*filter_fields(only), ("all", "1"), ("until", until)],
                csrf=visit.csrf,
                back=visit.back,
            )
        )

    async def _discard_all(self, only: Filter, *, until: str) -> int:
        """Discard what had died when it was confirmed; what died since then was not meant."""
        discarded = 0
        cursor: str | None = None
        while True:
            page = await self._backend.letters(
                session=only.session, code=only.code, limit=_AT_ONCE, cursor=cursor
            )
            ids = [letter.id for letter in page.items if letter.died_at <= until]
            if ids:
                discarded += (await self._backend.discard_letters(ids)).discarded
            cursor = page.cursor
            if cursor is None:
                return discarded


_BACK_IN_PLACE: Final = "They go back into the queue, at their old places."
_NO_WAY_BACK: Final = "They are never sent, and what they say is dropped. There is no way back."


def told(act: Act) -> Act:
    """The action, with a problem of the daemon said on the page instead of an error page."""

    async def attempt(visit: Visit) -> web.StreamResponse:
        try:
            return await act(visit)
        except Problem as problem:
            return visit.tell(f"{problem.title}: {problem.detail}", Tone.BAD)

    return attempt


def _chosen(visit: Visit) -> list[str]:
    """The letter of the button that was pressed, else those that are ticked."""
    pressed = visit.form.text("only")
    return [pressed] if pressed else visit.form.all("id")


def _filter(visit: Visit) -> Filter:
    return Filter.of(visit.form.text("session"), visit.form.text("code"))


def _confirmed(visit: Visit) -> bool:
    return visit.form.text("confirm") == "yes"


def _letters(count: int) -> str:
    return f"{number(count)} letter{'' if count == 1 else 's'}"


def _messages(count: int) -> str:
    return f"{number(count)} message{'' if count == 1 else 's'}"
