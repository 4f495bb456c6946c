"""Prompt-ready memory from the cache: assembled, budgeted, fenced."""
