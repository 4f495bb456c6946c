"""The token of the page: in a file that only the daemon's own user can read."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from honchod.errors import StartRefused
from honchod.identity.secret import Secret
from honchod.web import secret_file

FILE_NAME: Final = "web-token"
_BYTES: Final = 32
_UNSEEN: Final = ".unseen"


class TokenFile:
    """The file and the token in it. A token that was made here is handed out once, by ``first_look``."""

    def __init__(self, path: Path, token: Secret) -> None:
        self.path = path
        self.token = token

    @classmethod
    def open(cls, path: Path) -> TokenFile:
        """Read the token; where there is no file, make one of 32 random bytes, mode 0600.

        Raises StartRefused, with what to do, for a file that others can read or that holds no token.
        """
        try:
            with contextlib.suppress(FileExistsError):
                _make(path)
            return cls(path, secret_file.read(path))
        except OSError as error:
            raise StartRefused(f"the token file {path} cannot be used: {error.strerror}") from error

    def fits(self, given: str) -> bool:
        """Whether that is the token. Takes the same time for every wrong one."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.reveal().encode())

    def first_look(self) -> Secret | None:
        """The token, when it was made here and nobody has been shown it yet, after a restart too."""
        try:
            _unseen(self.path).unlink()
        except OSError:
            return None
        return self.token


def _unseen(path: Path) -> Path:
    return path.with_name(path.name + _UNSEEN)


def _make(path: Path) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "w", encoding="ascii") as file:  # noqa: PTH123 (a descriptor)
        file.write(secrets.token_urlsafe(_BYTES) + "\n")
        file.flush()
        os.fsync(handle)
    _unseen(path).touch(mode=0o600)
