"""Hermes in its own environment, with a memory provider in it."""
