"""Hermes with its own Honcho provider beside Hermes with ours: the same conversation, the same sandbox."""
