"""The calls that look at the daemon and operate it, the same for both clients."""

from __future__ import annotations

from honchod.client import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from honchod.client.calls import Call


class Operations:
    """Mixed into a client. Answers are the API's JSON objects; ``AsyncClient`` gives them to be awaited."""

    def _do(self, call: Call) -> Any:
        raise NotImplementedError

    def health(self) -> Any:
        """``{status, stuck, destinations}``; a stuck daemon is an answer, not an error."""
        return self._do(calls.health())

    def ready(self) -> Any:
        """``{ready}``: whether the database is open and migrated."""
        return self._do(calls.ready())

    def info(self) -> Any:
        """Versions, limits, socket, features."""
        return self._do(calls.info())

    def status(self, *, oldest: bool = False) -> Any:
        """The whole status; ``oldest``: with the lanes that have waited longest (operator)."""
        return self._do(calls.status(oldest=oldest))

    def resolve_session(
        self,
        session: str | None = None,
        *,
        locator: Mapping[str, str] | None = None,
        host: str | None = None,
        scope: str | None = None,
    ) -> Any:
        """What a message of this session would become: its id, workspace, peers, modes, scope."""
        return self._do(calls.session("resolve", session=session, locator=locator, host=host, scope=scope))

    def start_session(
        self,
        session: str | None = None,
        *,
        locator: Mapping[str, str] | None = None,
        host: str | None = None,
        scope: str | None = None,
        query: str | None = None,
    ) -> Any:
        """Make the session remotely, behind, and warm its memory up: ``{session, generation, warm}``."""
        return self._do(
            calls.session("start", session=session, locator=locator, host=host, scope=scope, query=query)
        )

    def end_session(
        self,
        session: str | None = None,
        *,
        locator: Mapping[str, str] | None = None,
        host: str | None = None,
        scope: str | None = None,
    ) -> Any:
        """The session is over: what waits in it is due now, ``{session, pending}``."""
        return self._do(calls.session("end", session=session, locator=locator, host=host, scope=scope))

    def reset_session(
        self,
        session: str | None = None,
        *,
        locator: Mapping[str, str] | None = None,
        host: str | None = None,
        scope: str | None = None,
    ) -> Any:
        """Start the session anew under another id, as after ``/new``: ``{session, generation}``."""
        return self._do(calls.session("reset", session=session, locator=locator, host=host, scope=scope))

    def prompt(self, session: str | None = None, *, host: str | None = None) -> Any:
        """The static block of the system prompt: ``{text, agent, mode, session, commands}``."""
        return self._do(calls.prompt(host=host, session=session))

    def tools(self, *, host: str | None = None, family: str | None = None) -> Any:
        """The memory tools as function schemas, ``{tools}``; by ``family`` under one agent's names."""
        return self._do(calls.tools(host=host, family=family))

    def tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        host: str | None = None,
        session: str | None = None,
        locator: Mapping[str, str] | None = None,
    ) -> Any:
        """Run a memory tool: ``{result, text, pending}``; ``text`` is for the model."""
        return self._do(calls.tool(name, arguments or {}, host=host, session=session, locator=locator))

    def letters(
        self,
        *,
        session: str | None = None,
        code: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Any:
        """One page of dead letters, ``{items, cursor, total}`` (operator)."""
        return self._do(calls.letters(session=session, code=code, limit=limit, cursor=cursor))

    def letter(self, letter_id: str, *, content: bool = False) -> Any:
        """One dead letter with its attempts; its content only when asked for (operator)."""
        return self._do(calls.letter(letter_id, content=content))

    def retry_letters(
        self,
        ids: Sequence[str] | None = None,
        *,
        session: str | None = None,
        code: str | None = None,
        limit: int | None = None,
        everything: bool = False,
    ) -> Any:
        """Put dead letters back into the queue: ``{retried, remaining}`` (operator)."""
        return self._do(
            calls.retry_letters(ids=ids, session=session, code=code, limit=limit, everything=everything)
        )

    def discard_letters(self, ids: Sequence[str]) -> Any:
        """Give up on dead letters: ``{discarded}`` (operator)."""
        return self._do(calls.discard_letters(ids))

    def acknowledge(self) -> Any:
        """Take the notices of the status as read: ``{acknowledged}`` (operator)."""
        return self._do(calls.acknowledge())

    def wake(self) -> Any:
        """Make everything that waits due now: ``{paused, pending}`` (operator)."""
        return self._do(calls.worker("wake"))

    def pause(self) -> Any:
        """Stop delivering; intake goes on: ``{paused, pending}`` (operator)."""
        return self._do(calls.worker("pause"))

    def resume(self) -> Any:
        """Deliver again: ``{paused, pending}`` (operator)."""
        return self._do(calls.worker("resume"))

    def drain(self, timeout_s: float = 30.0) -> Any:
        """Wait until the queue is empty, at most ``timeout_s``: ``{drained, remaining}`` (operator)."""
        return self._do(calls.drain(timeout_s))

    def checks(self) -> Any:
        """Authenticated probes of every destination: ``{ok, checks}`` (operator)."""
        return self._do(calls.checks())

    def backup(self, path: str) -> Any:
        """Copy the queue to a file (absolute path) that is not there yet, and verify the copy (operator)."""
        return self._do(calls.backup(path))

    def reload(self) -> Any:
        """Read the configuration again; a bad file changes nothing (operator)."""
        return self._do(calls.reload())

    def ui(self, *, show_token: bool = False) -> Any:
        """Where the web page is, ``{url, token_file, token}``; the token only the first time (operator)."""
        return self._do(calls.ui(show_token=show_token))
