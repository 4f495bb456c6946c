"""A small Honcho v3 server for demos, tests and offline trials.

It answers the calls of the official SDK as a self-hosted Honcho 3.0.12 does, inconveniences included,
derives in the simplest honest way, and breaks on demand. It knows nothing of the rest of honchod.
"""

from .calls import Behaviour
from .fault_spec import SpecError, parse_faults
from .faults import Commit, Reply, Rule
from .model import Conclusion, PeerConfig, Session, StoredMessage
from .records import RequestRecord
from .server import Sandbox
from .thread import SandboxHandle, running_sandbox

__all__ = [
    "Behaviour",
    "Commit",
    "Conclusion",
    "PeerConfig",
    "Reply",
    "RequestRecord",
    "Rule",
    "Sandbox",
    "SandboxHandle",
    "Session",
    "SpecError",
    "StoredMessage",
    "parse_faults",
    "running_sandbox",
]
