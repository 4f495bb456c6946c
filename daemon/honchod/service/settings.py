"""The settings in force: ``honchod.toml``, settled with the environment and the flags.

Flags beat the environment, which beats the file, which beats the defaults. Everything that is wrong is raised
at once, so that an operator mends it in one go.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from honchod.capture.own_patterns import OwnPattern
from honchod.client.box import box_path
from honchod.errors import ConfigError
from honchod.identity import fields
from honchod.identity.files import is_there, read_text
from honchod.service.settings_sections import (
    Access,
    Capture,
    Delivery,
    File,
    Http,
    Limits,
    Log,
    Outbox,
    Recall,
)

SYSTEM_CONFIG: Final = Path("/etc/honchod/honchod.toml")
SYSTEM_STATE_DIR: Final = Path("/var/lib/honchod")
SYSTEM_RUNTIME_DIR: Final = Path("/run/honchod")

_MAX_FILE_BYTES: Final = 2**20
_SOCKET_NAME: Final = "honchod.sock"
_MAX_SOCKET_PATH_BYTES: Final = 107
"""The kernel's ``sun_path``, without the closing NUL."""

_TRUE_WORDS: Final = frozenset({"1", "true", "yes", "on"})
_FALSE_WORDS: Final = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line names. None: nothing. Paths may be relative to the working directory."""

    socket: Path | None = None
    state_dir: Path | None = None


class Settings(msgspec.Struct, frozen=True):
    """What the daemon runs with, every path absolute.

    ``honcho_config`` is None where no file was named: then the usual places count.
    ``outbox_path`` is None where the outbox stands in the state directory, under its usual name.
    ``drop_dir`` is None for a user without a home: nobody can leave anything there.
    """

    state_dir: Path
    socket: Path
    honcho_config: Path | None = None
    outbox_path: Path | None = None
    drop_dir: Path | None = None
    access: Access = Access()
    delivery: Delivery = Delivery()
    outbox: Outbox = Outbox()
    limits: Limits = Limits()
    recall: Recall = Recall()
    capture: Capture = Capture()
    http: Http = Http()
    log: Log = Log()


def load(
    path: Path | None, *, env: Mapping[str, str], flags: Flags = Flags(), uid: int | None = None
) -> Settings:
    """The settings in force. ``path`` is the config file that a flag names (None: the environment may, else
    the usual places are looked at); ``uid`` is the daemon's own (None: the process's).

    Raises ConfigError with every fault at once, those of the file with its path in front. A config file that
    is named by flag or environment must be there; without one, and with none in the usual places, the
    defaults hold.
    """
    problems: list[str] = []
    path = path_in_force(path, env)
    file_problems: list[str] = []
    file = fields.read(
        File, _document(path, file_problems), where="", problems=file_problems, forbid_unknown=True
    )
    file_problems.extend(_contradictions(file))
    problems.extend(f"{path}: {problem}" for problem in file_problems)
    places = _Places(env, os.getuid() if uid is None else uid, problems)
    settings = Settings(
        state_dir=places.state_dir(flags, file),
        socket=places.socket(flags, file),
        honcho_config=places.named("HONCHOD_HONCHO_CONFIG", file.honcho_config, "honcho_config"),
        outbox_path=places.named("HONCHO_OUTBOX_PATH", None, ""),
        drop_dir=places.drop_dir(file),
        access=file.access,
        delivery=file.delivery,
        outbox=file.outbox,
        limits=file.limits,
        recall=_recall(file.recall, env, problems),
        capture=file.capture,
        http=file.http,
        log=_log(file.log, env, problems),
    )
    length = len(os.fsencode(settings.socket))
    if length > _MAX_SOCKET_PATH_BYTES:
        problems.append(f"socket = {settings.socket}: expected at most {_MAX_SOCKET_PATH_BYTES} bytes")
    if problems:
        raise ConfigError(problems)
    return settings


def path_in_force(named: Path | None, env: Mapping[str, str]) -> Path | None:
    """The file to read: the one that is named, else the first of the usual ones that is there."""
    if named is not None:
        return named.absolute()
    if env.get("HONCHOD_CONFIG"):
        return Path(env["HONCHOD_CONFIG"])
    config_home = _base_dir(env, "XDG_CONFIG_HOME", ".config")
    candidates = [config_home / "honchod" / "honchod.toml"] if config_home else []
    return next((path for path in (*candidates, SYSTEM_CONFIG) if is_there(path)), None)


def _base_dir(env: Mapping[str, str], name: str, under_home: str) -> Path | None:
    """An XDG base directory; None for a user without a home. A relative one counts as not set (XDG)."""
    named = Path(env.get(name) or ".")
    if named.is_absolute():
        return named
    return Path(env["HOME"], under_home) if env.get("HOME") else None


def _document(path: Path | None, problems: list[str]) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(read_text(path, _MAX_FILE_BYTES))
    except RecursionError:
        problems.append("nested too deeply")
    except ValueError as fault:
        problems.append(str(fault))
    return {}


def _contradictions(file: File) -> Iterator[str]:
    """What is wrong although every key has the right type and range."""
    if file.delivery.backoff_base_s > file.delivery.backoff_cap_s:
        yield (
            f"delivery.backoff_base_s = {file.delivery.backoff_base_s:g}: "
            f"expected at most backoff_cap_s ({file.delivery.backoff_cap_s:g})"
        )
    for key, patterns in (("patterns", file.capture.patterns), ("allow", file.capture.allow)):
        for number, pattern in enumerate(patterns):
            try:
                OwnPattern(pattern, f"capture.{key}[{number}]")
            except ValueError as fault:
                yield f"capture.{key}[{number}] = {pattern!a}: not a regular expression ({fault})"
    try:
        _ = file.http.address
    except ValueError as fault:
        yield f"http.listen = {file.http.listen!a}: {fault}"
    for key in ("token_file", "webhook_secret_file"):
        path = getattr(file.http, key)
        if path and not Path(path).is_absolute():
            yield f"http.{key} = {path!a}: expected an absolute path"


class _Places:
    """The paths of the daemon, for one environment and uid."""

    def __init__(self, env: Mapping[str, str], uid: int, problems: list[str]) -> None:
        self._env = env
        self._is_root = uid == 0
        self._problems = problems

    def state_dir(self, flags: Flags, file: File) -> Path:
        if flags.state_dir is not None:
            return flags.state_dir.absolute()
        named = self.named("HONCHOD_STATE_DIR", file.state_dir, "state_dir")
        return named or self._systemd("STATE_DIRECTORY") or self._default_state_dir()

    def socket(self, flags: Flags, file: File) -> Path:
        if flags.socket is not None:
            return flags.socket.absolute()
        named = self.named("HONCHOD_SOCKET", file.socket, "socket")
        return named or self._runtime_dir() / _SOCKET_NAME

    def drop_dir(self, file: File) -> Path | None:
        named = self.named("HONCHOD_DROP", file.drop_dir, "drop_dir")
        usual = box_path(self._env)
        return named or (Path(usual) if usual else None)

    def named(self, name: str, in_file: str | None, key: str) -> Path | None:
        """The path that the environment or the file names; ``~`` is the user's home."""
        text, source = self._env.get(name), name
        if not text:
            text, source = in_file, key
        if not text:
            return None
        home = self._env.get("HOME")
        path = Path(home, text[2:]) if home and text.startswith("~/") else Path(text)
        if not path.is_absolute():
            self._problems.append(f"{source} = {text!a}: expected an absolute path")
        return path

    def _systemd(self, name: str) -> Path | None:
        """The first directory that systemd made for the unit."""
        text = self._env.get(name)
        return Path(text.split(":")[0]) if text else None

    def _default_state_dir(self) -> Path:
        state_home = _base_dir(self._env, "XDG_STATE_HOME", ".local/state")
        return SYSTEM_STATE_DIR if self._is_root or state_home is None else state_home / "honchod"

    def _runtime_dir(self) -> Path:
        made = self._systemd("RUNTIME_DIRECTORY")
        own = self._env.get("XDG_RUNTIME_DIR")
        if made is not None:
            return made
        return SYSTEM_RUNTIME_DIR if self._is_root or not own else Path(own, "honchod")


def _recall(recall: Recall, env: Mapping[str, str], problems: list[str]) -> Recall:
    """The section with ``$HONCHO_CACHE_TTL``, a name that the Agent Zero plugin uses."""
    name = "HONCHO_CACHE_TTL"
    text = env.get(name)
    if not text:
        return recall
    ttl_s = fields.convert(fields.keys(Recall)["cache_ttl_s"], text, key=name, problems=problems)
    return recall if ttl_s is None else msgspec.structs.replace(recall, cache_ttl_s=ttl_s)


def _log(log: Log, env: Mapping[str, str], problems: list[str]) -> Log:
    """The section with ``$HONCHO_DEBUG``, a name that the Agent Zero plugin uses."""
    name = "HONCHO_DEBUG"
    word = env.get(name, "").lower()
    if word in _TRUE_WORDS:
        return msgspec.structs.replace(log, level="debug")
    if word and word not in _FALSE_WORDS:
        problems.append(f"{name} = {env[name]!a}: expected true or false")
    return log
