"""A small Honcho v3 server for demos, tests and offline trials."""
