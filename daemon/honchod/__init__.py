"""honchod: the memory daemon of one machine."""

__version__ = "0.1.0"
