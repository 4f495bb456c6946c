"""Memory on demand: what an agent asks, remembers and forgets by its own decision."""
