"""Prompts that need no memory."""

from __future__ import annotations

import pytest

from honchod.recall.trivial import is_trivial


@pytest.mark.parametrize(
    "prompt",
    [
        *("ok", "OK!", "okay.", "thanks", "Thank you so much!".replace(" so much", ""), "thanks 👍", "/help"),
        *("/model", "/mcp:list", "yes", "no", "Hi", "Hello there!", "good morning", "ok thanks", "got it"),
        *("", "   ", "\n", "👍", "...", "d’accord", "what's up", "да, спасибо", "好的", "ありがとう", "Sí"),
        " " * 200,
    ],
)
def test_greetings_and_acknowledgements_are_trivial(prompt: str) -> None:
    assert is_trivial(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        *("where do I live?", "ok, but where do I live?", "thanks, what is next?", "/etc/hosts", "/ask me"),
        *("hello world program", "no idea", "note", "okra", "yes it's in /tmp", "help", "?what", "k8s"),
        "ok " * 50,
    ],
)
def test_whatever_says_something_is_not_trivial(prompt: str) -> None:
    assert not is_trivial(prompt)
