"""The soak: a daemon that is killed again and again, a server and a network that misbehave, and an oracle.

``make soak`` or ``python -m soak`` (with ``tests`` on the path). Everything is decided by a seed, which the
run prints: the same seed makes the same decisions again, though not the same timing.
"""
