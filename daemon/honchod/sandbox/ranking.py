"""Ranking by shared words: what stands in for semantic search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

_WORD = re.compile(r"\w+")


def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def distance(query: frozenset[str], text: str) -> float:
    """From 0 (every word of the query is there) to 1 (none is)."""
    if not query:
        return 1.0
    return 1.0 - len(query & words_of(text)) / len(query)


def nearest(
    rows: Iterable[T],
    query: str,
    text_of: Callable[[T], str],
    *,
    limit: int,
    max_distance: float | None = None,
) -> list[T]:
    """The ``limit`` rows nearest to the query, equal ones in their given order.

    Like a vector search it returns rows however far they are, unless ``max_distance`` says otherwise.
    """
    wanted = words_of(query)
    near = [(distance(wanted, text_of(row)), row) for row in rows]
    if max_distance is not None:
        near = [entry for entry in near if entry[0] <= max_distance]
    near.sort(key=lambda entry: entry[0])
    return [row for _, row in near[:limit]]
