"""How fast the daemon is, each figure beside a yardstick taken in the same run: ``make bench``."""
