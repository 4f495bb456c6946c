"""The words a host's configuration chooses between."""

from __future__ import annotations

from enum import StrEnum


class MemoryMode(StrEnum):
    """Where a peer's memory is kept."""

    HYBRID = "hybrid"
    """In Honcho and in the agent's local files."""
    HONCHO = "honcho"
    """In Honcho only: the agent leaves its local files alone."""
    LOCAL = "local"
    """In local files only: that peer's messages are skipped."""


class RecallMode(StrEnum):
    """How an agent gets at its memory."""

    HYBRID = "hybrid"
    """By injected context and by tools."""
    CONTEXT = "context"
    """By injected context; the tools are hidden."""
    TOOLS = "tools"
    """By tools; nothing is injected."""


class WriteMoment(StrEnum):
    """When a lane becomes due. Durability does not depend on it."""

    ASYNC = "async"
    """At once."""
    TURN = "turn"
    """With the end of a turn."""
    SESSION = "session"
    """With the end of the session."""


class SessionStrategy(StrEnum):
    """How a session gets its name where the caller names none."""

    PER_DIRECTORY = "per-directory"
    PER_REPO = "per-repo"
    PER_SESSION = "per-session"
    GLOBAL = "global"


class ScopeStrategy(StrEnum):
    """How a session gets its scope where the caller names none."""

    PROJECT = "project"
    """One scope for each project, named after its directory."""
    CUSTOM = "custom"
    """One fixed scope."""
    OFF = "off"
    """None: the global view."""


class ObservationPreset(StrEnum):
    """Observation flags of both peers in one word."""

    DIRECTIONAL = "directional"
    """Both peers observe themselves and each other."""
    UNIFIED = "unified"
    """The user observes itself, the AI the user."""
    AGENT_ZERO = "agent-zero"
    """The user observes itself and others, the AI only others."""


class ReasoningLevel(StrEnum):
    """How hard the dialectic thinks, in rising order."""

    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class DialecticMode(StrEnum):
    """Whether the dialectic ever runs by itself."""

    AUTO = "auto"
    """By its cadence, and when asked."""
    DELIBERATE = "deliberate"
    """Only when asked."""


class InjectionFrequency(StrEnum):
    """When the base context is injected."""

    EVERY_TURN = "every-turn"
    FIRST_TURN = "first-turn"


class Section(StrEnum):
    """A section of a recalled block, in the order of the block."""

    SUMMARY = "summary"
    USER_REPRESENTATION = "user_representation"
    USER_CARD = "user_card"
    AI_REPRESENTATION = "ai_representation"
    AI_CARD = "ai_card"
    DIALECTIC = "dialectic"


class Author(StrEnum):
    """Who or what wrote a message. Only ``HUMAN`` ever lands on a person's peer."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    SUBAGENT = "subagent"
    CRON = "cron"
    AUTOMATION = "automation"
    SKILL = "skill"
    TOOL = "tool"
    IMPORT = "import"


class KeySource(StrEnum):
    """Where a host's key came from. Shown in status; the key itself never is."""

    HOST = "host"
    """``apiKey`` of the host's own block."""
    FILE = "file"
    """The file that ``api_key_file`` names, in the host's block or at the root."""
    CREDENTIAL = "credential"
    """The systemd credential ``honcho_api_key``."""
    ENVIRONMENT = "environment"
    """``$HONCHO_API_KEY``."""
    ROOT = "root"
    """``apiKey`` at the root of the file."""
    NONE = "none"
    """There is none that belongs to the host's URL: no Authorization header is sent."""
