"""What is told to the operator."""

from __future__ import annotations

import sys


class PrintStyle:
    """Lines on standard error."""

    @staticmethod
    def warning(*said: object) -> None:
        print(*said, file=sys.stderr)
