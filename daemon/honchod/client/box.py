"""The drop box: a directory with one file for each request that found no daemon.

It belongs to one user. What is in it and is not that user's own plain file is never looked into. A file's
name begins with its time, so that names sort as the requests were made; it is written under a temporary name,
flushed to disk and renamed, so that a file under its own name is whole.

``honchod.client`` fills it, and whoever takes it in (``drop`` here, ``honchod.drop`` in the daemon) holds
its lock meanwhile.
"""

from __future__ import annotations

import os
import re
import stat
import time

from honchod.client.errors import DropFull, DropUnusable
from honchod.client.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILES_MAX = 10_000
"""As many requests wait in a box at most."""

BYTES_MAX = 64 * 1024 * 1024
"""As many bytes, together."""

FILE_BYTES_MAX = 8 * 1024 * 1024
"""A larger file is none of a box."""

BAD = "bad"
"""Where those go, within the box, that can never be taken in."""

ABANDONED_S = 600.0
"""A temporary file of that age has lost its writer; nobody was told that it is kept."""

_SUFFIX = ".json"
# Not compiled here: hardly ever is there a file whose name they are asked about.
_NAME = r"(?P<stamp_ns>[0-9]{20})-[0-9]+-[0-9]+\.json"
_TEMPORARY = r"\..*\.json\.new"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_count = 0


def box_path(environ: Mapping[str, str] = os.environ) -> str | None:
    """Where the box of this user is; None for one without a home.

    ``$HONCHOD_DROP`` when set, else ``drop`` in ``$XDG_STATE_HOME/honchod`` (default ``~/.local/state``).
    """
    named = environ.get("HONCHOD_DROP")
    if named:
        return named
    state_home = environ.get("XDG_STATE_HOME", "")
    if not state_home.startswith("/"):
        home = environ.get("HOME")
        if not home:
            return None
        state_home = f"{home}/.local/state"
    return f"{state_home}/honchod/drop"


class Entry(NamedTuple):
    """A request that waits in the box."""

    name: str
    size_bytes: int


class Unfit(Exception):
    """A file of the box that cannot be read as one; the text says why, in one word."""


class Box:
    """An open box. Close it, or use it as a context; it can be locked while it is open."""

    def __init__(self, path: str, *, make: bool = False) -> None:
        """Open the box, and with ``make`` make it where it is missing, and close it to other users.

        Raises FileNotFoundError where there is none, DropUnusable where it is another user's or no directory.
        """
        if make:
            _make_directory(path)
        try:
            self._fd = os.open(path, _DIRECTORY)
        except NotADirectoryError:
            raise DropUnusable(f"{path} is no directory") from None
        found = os.fstat(self._fd)
        if found.st_uid != os.geteuid():
            os.close(self._fd)
            raise DropUnusable(f"{path} belongs to uid {found.st_uid}")
        if make and stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(self._fd, 0o700)

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it, and with that unlock it."""
        os.close(self._fd)

    def lock(self) -> bool:
        """Be the one who takes the box in, until it is closed; False while somebody else is."""
        import fcntl

        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def entries(self) -> list[Entry]:
        """What waits, oldest first."""
        return _entries(self._fd)

    def bad(self) -> list[Entry]:
        """What was set aside, oldest first."""
        try:
            fd = os.open(BAD, _DIRECTORY, dir_fd=self._fd)
        except (FileNotFoundError, NotADirectoryError):
            return []
        try:
            return _entries(fd)
        finally:
            os.close(fd)

    def is_empty(self) -> bool:
        """Whether nothing waits."""
        with os.scandir(self._fd) as found:
            return not any(_is_entry(one) for one in found)

    def put(self, data: bytes) -> str:
        """Add a request behind all others; on disk when it returns. Gives its name.

        Raises DropFull, and OSError where the disk refuses; then nothing was added.
        """
        waiting = self.entries()
        if len(waiting) >= FILES_MAX:
            raise DropFull(f"{len(waiting)} requests wait in it, the most that it holds")
        if sum(one.size_bytes for one in waiting) + len(data) > BYTES_MAX:
            raise DropFull(f"{BYTES_MAX >> 20} MiB wait in it, the most that it holds")
        name = _next_name(waiting[-1].name if waiting else None)
        temporary = f".{name}.new"
        try:
            _write(temporary, data, self._fd)
            os.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except BaseException:
            _unlink(temporary, self._fd)
            raise
        self.sync()
        return name

    def read(self, entry: Entry) -> bytes:
        """What a request's file holds.

        Raises FileNotFoundError where it is gone, Unfit for a file that is not this user's own, not plain,
        linked from elsewhere, or too large.
        """
        try:
            fd = os.open(entry.name, _READ, dir_fd=self._fd)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise Unfit("unreadable") from None
        try:
            found = os.fstat(fd)
            if not _is_own(found):
                raise Unfit("foreign")
            if found.st_size > FILE_BYTES_MAX:
                raise Unfit("too_large")
            with os.fdopen(fd, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(fd)

    def remove(self, entry: Entry) -> None:
        """Take a request out; ``sync`` makes that last."""
        _unlink(entry.name, self._fd)

    def set_aside(self, entry: Entry) -> None:
        """Move a request to those that can never be taken in."""
        try:
            bad = os.open(BAD, _DIRECTORY, dir_fd=self._fd)
        except FileNotFoundError:
            os.mkdir(BAD, 0o700, dir_fd=self._fd)
            bad = os.open(BAD, _DIRECTORY, dir_fd=self._fd)
        try:
            os.rename(entry.name, entry.name, src_dir_fd=self._fd, dst_dir_fd=bad)
            os.fsync(bad)
        finally:
            os.close(bad)

    def tidy(self) -> None:
        """Remove the temporary files whose writers died."""
        before_s = time.time() - ABANDONED_S
        with os.scandir(self._fd) as found:
            names = [one.name for one in found if re.fullmatch(_TEMPORARY, one.name)]
        for name in names:
            try:
                seen = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if seen.st_mtime < before_s:
                _unlink(name, self._fd)

    def sync(self) -> None:
        """Flush the directory itself to disk."""
        os.fsync(self._fd)


def _make_directory(path: str) -> None:
    """Make a directory for this user alone, and what it stands in; still there after a crash."""
    if os.path.isdir(path):  # noqa: PTH112 - pathlib costs more to import
        return
    parent = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120
    _make_directory(parent)
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102
    except FileExistsError:
        return
    fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _entries(fd: int) -> list[Entry]:
    with os.scandir(fd) as found:
        entries = [
            Entry(one.name, one.stat(follow_symlinks=False).st_size) for one in found if _is_entry(one)
        ]
    entries.sort()
    return entries


def _is_entry(one: os.DirEntry[str]) -> bool:
    if not one.name.endswith(_SUFFIX) or not re.fullmatch(_NAME, one.name):
        return False
    try:
        return _is_own(one.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _is_own(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1


def _next_name(newest: str | None) -> str:
    """A name behind ``newest``, whatever the clock says now."""
    global _count
    _count += 1
    stamp_ns = time.time_ns()
    match = re.fullmatch(_NAME, newest) if newest else None
    if match is not None:
        stamp_ns = max(stamp_ns, int(match["stamp_ns"]) + 1)
    return f"{stamp_ns:020d}-{os.getpid()}-{_count}{_SUFFIX}"


def _write(name: str, data: bytes, directory: int) -> None:
    fd = os.open(name, _CREATE, 0o600, dir_fd=directory)
    try:
        with os.fdopen(fd, "wb", closefd=False) as file:
            file.write(data)
        os.fsync(fd)
    finally:
        os.close(fd)


def _unlink(name: str, directory: int) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return
