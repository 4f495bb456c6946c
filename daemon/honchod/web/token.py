"""The token of the page: in a file that only the daemon's own user can read."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from honchod.errors import StartRefused
from honchod.identity.secret import Secret

FILE_NAME: Final = "web-token"
_BYTES: Final = 32
_SHORTEST: Final = 20
_LONGEST: Final = 4096
_UNSEEN: Final = ".unseen"
_TOO_OPEN: Final = stat.S_IRWXO | stat.S_IWGRP
"""A group may read: the mode of a systemd credential shows its access list there."""


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
            return cls(path, Secret(_read(path)))
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


def _read(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 (a descriptor)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise StartRefused(f"the token file {path} is no file: choose another token_file")
        if found.st_mode & _TOO_OPEN:
            raise StartRefused(f"the token file {path} is open to others: chmod 600 {path}")
        token = file.read(_LONGEST + 1).strip()
    if not _SHORTEST <= len(token) <= _LONGEST or not token.isascii() or not token.isprintable():
        raise StartRefused(
            f"the token file {path} holds no token of {_SHORTEST} to {_LONGEST} characters: "
            "remove it, and a new one is made"
        )
    return token
