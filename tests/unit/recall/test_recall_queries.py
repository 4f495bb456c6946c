"""A query on its way out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from honchod.recall.queries import IN_LOOP_CHARS, NOTHING, QUERY_CHARS, Prompt, Queries

SALT = b"salt"


def read(query: str | None, redact: Callable[[str], str] | None = None) -> Prompt:
    return asyncio.run(Queries(redact, SALT).read(query))


def without_secret(text: str) -> str:
    return text.replace("s3cret", "[hidden]")


@pytest.mark.parametrize("query", [None, "", "  \n"])
def test_no_query_asks_nothing(query: str | None) -> None:
    assert read(query) == NOTHING


def test_a_trivial_query_asks_nothing_and_says_so() -> None:
    assert read("thanks!") == Prompt(trivial=True)


@pytest.mark.parametrize("padding", ["", " word" * IN_LOOP_CHARS])
def test_secrets_stay_here_in_short_queries_and_in_long_ones(padding: str) -> None:
    prompt = read(f"is s3cret my password?{padding}", without_secret)
    assert prompt.asked is not None
    assert prompt.asked.text.startswith("is [hidden] my password?")


def test_what_cannot_be_made_safe_is_not_asked() -> None:
    def broken(text: str) -> str:
        raise RuntimeError(text)

    assert read("where do I live?", broken) == Prompt(withheld=True)


def test_the_digest_tells_queries_apart_and_not_the_query() -> None:
    first, second = read("where do I live?").asked, read("where do I work?").asked
    again = read(" where  do I\nlive? ").asked
    assert first is not None
    assert second is not None
    assert again is not None
    assert first.digest == again.digest
    assert first.digest != second.digest
    assert "live" not in first.digest
    other = asyncio.run(Queries(None, b"other").read("where do I live?")).asked
    assert other is not None
    assert other.digest != first.digest


def test_a_query_keeps_honcho_s_bound_and_holds_what_honcho_can_take() -> None:
    asked = read("word\0 \ud800 " * QUERY_CHARS).asked
    assert asked is not None
    assert len(asked.text) <= QUERY_CHARS
    assert "\0" not in asked.text
    asked.text.encode()


def test_a_query_that_comes_again_is_not_redacted_again_until_the_redactor_changes() -> None:
    seen: list[str] = []

    def counting(text: str) -> str:
        seen.append(text)
        return text

    async def ask() -> None:
        queries = Queries(counting, SALT)
        for _ in range(3):
            await queries.read("where do I live?")
        queries.use(without_secret)
        prompt = await queries.read("where do I live?")
        assert prompt.asked is not None

    asyncio.run(ask())
    assert seen == ["where do I live?"]
