"""What nobody said: platform metadata around a message, internal turns, heartbeats."""

from __future__ import annotations

from honchod.capture.host_patterns import HostPatterns

_MAX_LAYERS = 16


def without_metadata(text: str, patterns: HostPatterns, author: str) -> str:
    """``text`` without what the runtime put before and behind it. Unchanged where there is nothing.

    Layers are taken off until none is left: a timestamp before a sender block before the words.
    """
    rules = patterns.of(author)
    if not rules.may_strip(text):
        return text
    for _ in range(_MAX_LAYERS):
        before = text
        for rule in rules.strip:
            text = rule.apply(text)
        if text == before:
            break
    return text


def is_noise(text: str, patterns: HostPatterns, author: str) -> bool:
    """Whether the whole message is the runtime's own: an internal turn, a heartbeat, a notice."""
    drop = patterns.of(author).drop
    return drop is not None and drop.match(text) is not None
