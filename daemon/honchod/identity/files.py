"""The files of the Honcho configuration: the one place of this room that reads and writes.

``load`` gives the hosts; ``rewrite`` replaces the config file, atomically and for its owner only.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from honchod.errors import ConfigError
from honchod.identity import config
from honchod.identity.document import change as document_changed
from honchod.identity.host import Hosts

SYSTEM_CONFIG: Final = Path("/etc/honchod/honcho.json")
CREDENTIAL_NAME: Final = "honcho_api_key"
"""The systemd credential (``LoadCredential=honcho_api_key:…``) that may hold the key."""

OTHERS_MAY_READ: Final = "others may read this key; chmod 600 it"
"""What a warning says behind the path of a key file."""

_MAX_CONFIG_BYTES: Final = 4 * 1024 * 1024
_MAX_KEY_BYTES: Final = 64 * 1024


def find(environ: Mapping[str, str]) -> Path | None:
    """The shared config file that is there: the user's own, else the system's. None: neither.

    A file named outright (``$HONCHOD_HONCHO_CONFIG``, ``honcho_config``) is not looked for here.
    """
    home = environ.get("HOME")
    candidates = [Path(home, ".honcho", "config.json")] if home else []
    return next((path for path in (*candidates, SYSTEM_CONFIG) if is_there(path)), None)


def new(environ: Mapping[str, str]) -> Path:
    """Where the config file is made when there is none: the user's own place, for root the system's."""
    home = environ.get("HOME")
    return Path(home, ".honcho", "config.json") if home and os.geteuid() != 0 else SYSTEM_CONFIG


def load(path: Path | None, environ: Mapping[str, str]) -> Hosts:
    """The hosts of that config file; without a file, ``default`` alone.

    Raises ConfigError with every fault at once, each with the path in front.
    """
    return _parse(read_document(path) if path is not None else {}, path, environ)


def read_document(path: Path) -> dict[str, Any]:
    """The config file as it stands, with the keys that are not ours. Raises ConfigError."""
    try:
        document = json.loads(read_text(path, _MAX_CONFIG_BYTES))
    except RecursionError:
        raise ConfigError([f"{path}: nested too deeply"]) from None
    except ValueError as fault:
        raise ConfigError([f"{path}: {fault}"]) from None
    if not isinstance(document, dict):
        raise ConfigError([f"{path}: expected a JSON object"])
    return document


def rewrite(path: Path, document: Mapping[str, Any]) -> None:
    """Replaces the config file, in one step that a crash cannot cut in half, with mode 0600.

    A symbolic link stays: the file it points to is replaced. Makes the directory (0700) where there is none.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            _keep_owner(handle, target)
            json.dump(document, file, indent=2, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    directory = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def edit(path: Path, environ: Mapping[str, str], host: str | None, changes: Mapping[str, Any]) -> Hosts:
    """Changes keys of a host (None: the root) in the file, made where there is none, and gives the hosts.

    None as a value removes the key. Raises ConfigError, with the file untouched, when the result is wrong.
    """
    document = document_changed(read_document(path) if is_there(path) else {}, host, changes)
    hosts = _parse(document, path, environ)
    rewrite(path, document)
    return hosts


def _keep_owner(handle: int, target: Path) -> None:
    """Root that rewrites somebody's file leaves it his."""
    if os.geteuid() == 0 and target.exists():
        status = target.stat()
        os.fchown(handle, status.st_uid, status.st_gid)


def _parse(document: Mapping[str, Any], path: Path | None, environ: Mapping[str, str]) -> Hosts:
    warnings: list[str] = []

    def read_key(name: str) -> str:
        return _read_key(_key_path(name, path, environ), warnings)

    try:
        hosts = config.parse(document, environ, read_key=read_key, credential=_credential(environ))
    except ConfigError as error:
        source = path or "environment"
        raise ConfigError([f"{source}: {problem}" for problem in error.problems]) from None
    return Hosts(hosts, (*warnings, *hosts.warnings))


def _credential(environ: Mapping[str, str]) -> str | None:
    directory = environ.get("CREDENTIALS_DIRECTORY")
    path = Path(directory, CREDENTIAL_NAME) if directory else None
    if path is None or not is_there(path):
        return None
    try:
        return read_text(path, _MAX_KEY_BYTES).strip()
    except ValueError as fault:
        raise ConfigError([f"credential {CREDENTIAL_NAME}: {fault}"]) from None


def _key_path(name: str, config_path: Path | None, environ: Mapping[str, str]) -> Path:
    """A key file's path: ``~`` is the user's home, a relative one stands beside the config file."""
    if name.startswith("~/") and environ.get("HOME"):
        return Path(environ["HOME"], name[2:])
    return config_path.parent / name if config_path else Path(name)


def _read_key(path: Path, warnings: list[str]) -> str:
    text = read_text(path, _MAX_KEY_BYTES).strip()
    with contextlib.suppress(OSError):
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            warnings.append(f"{path}: {OTHERS_MAY_READ}")
    return text


def is_there(path: Path) -> bool:
    """Whether something has that name. What cannot be looked at counts as there: reading it says why not."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def read_text(path: Path, max_bytes: int) -> str:
    """The text of a regular file. Raises ValueError with a reason that quotes nothing of it."""
    try:
        # Without O_NONBLOCK a named pipe at this path would hold up the start for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("not a regular file")
            data = file.read(max_bytes + 1)
    except OSError as fault:
        raise ValueError(fault.strerror or "cannot be read") from None
    if len(data) > max_bytes:
        raise ValueError(f"larger than {max_bytes} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
