"""The names under which agents know the same capabilities."""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    """Whose names."""

    HERMES = "hermes"
    AGENT_ZERO = "agent_zero"
    OPENCLAW = "openclaw"
    """OpenClaw's and nanobot's."""
