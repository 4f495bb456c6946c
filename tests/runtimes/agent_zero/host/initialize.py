"""The configuration of an agent."""

from __future__ import annotations

from agent import AgentConfig


def initialize_agent() -> AgentConfig:
    """The only one there is."""
    return AgentConfig()
