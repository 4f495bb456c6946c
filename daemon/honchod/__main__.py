"""``python -m honchod``: the same as the ``honchod`` command."""

from __future__ import annotations

import sys

from honchod.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
