"""OpenClaw itself: its gateway as a process, with our plugin."""
