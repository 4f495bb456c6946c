"""nanobot itself: its gateway as a process, its agent loop in its own environment."""
