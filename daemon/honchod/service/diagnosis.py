"""The doctor's round through what stands in files, whether a daemon runs or not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from honchod.clock import SystemClock
from honchod.errors import ConfigError, StateDirUnusable
from honchod.identity import files, urls
from honchod.identity.choices import KeySource
from honchod.identity.host import Hosts
from honchod.ops.doctor import files as file_checks
from honchod.ops.doctor import machine, queue, sockets
from honchod.ops.doctor.configuration import settings_faults
from honchod.ops.doctor.drop import drop_box
from honchod.ops.doctor.finding import Finding, ok, skipped, warning, wrong
from honchod.ops.doctor.unit import unit
from honchod.outbox.database import FILE_NAME, StateDir
from honchod.outbox.ownership import as_owner
from honchod.service import settings as settings_
from honchod.service.settings import Flags, Settings

HONCHO_CONFIG = "honcho config"
SYSTEM_UNIT = Path("/etc/systemd/system/honchod.service")
USER_UNIT = Path("systemd/user/honchod.service")


def diagnose(
    config: Path | None, environ: Mapping[str, str], flags: Flags, *, offline: bool
) -> tuple[Settings | None, list[Finding]]:
    """Look at everything that stands in files. ``offline``: at what a running daemon has open, too.

    Returns the settings, if they can be read. Raises `StateDirBusy` when that daemon runs.
    """
    settings_file = settings_.path_in_force(config, environ)
    try:
        settings = settings_.load(config, env=environ, flags=flags)
    except ConfigError as error:
        return None, [*settings_faults(settings_file, error.problems), machine.sqlite()]
    found = [*_configuration(settings_file, settings, environ), machine.sqlite()]
    found += [machine.wall_clock(SystemClock()), *machine.disk(settings.state_dir, settings.outbox.max_bytes)]
    found += file_checks.state_dir(settings.state_dir)
    found += drop_box(settings.drop_dir)
    for path in _units(environ):
        found += unit(path, stop_timeout_s=settings.delivery.stop_timeout_s)
    if offline:
        found += _at_rest(settings)
    return settings, found


def _configuration(path: Path | None, settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    if path is None:
        yield ok("settings", "no settings file: the defaults hold")
    else:
        yield ok("settings", f"{path} is right")
        yield file_checks.shared_file("settings", path, secret=False)
    if settings.http.token_file:
        yield file_checks.secret_file("token file", Path(settings.http.token_file))
    config = settings.honcho_config or files.find(environ)
    try:
        hosts = files.load(config, environ)
    except ConfigError as error:
        for problem in error.problems:
            yield wrong(HONCHO_CONFIG, problem, "correct it, or make it anew with honchod setup")
        return
    yield from _hosts(hosts)
    if config is not None:
        inline = {host.key_source for host in hosts.values()} & {KeySource.HOST, KeySource.ROOT}
        yield file_checks.shared_file(HONCHO_CONFIG, config, secret=bool(inline))


def _hosts(hosts: Hosts) -> Iterator[Finding]:
    for text in hosts.warnings:
        path, _, rest = text.rpartition(": ")
        if rest == files.OTHERS_MAY_READ:
            yield file_checks.secret_file("key file", Path(path))
        else:
            yield warning(
                HONCHO_CONFIG, text, "give the host a key of its own, or remove the one that is not used"
            )
    for name, host in hosts.items():
        if host.enabled and host.destination.url == urls.CLOUD_URL and host.destination.key is None:
            yield wrong(
                "keys",
                f"host {name} has no key for {host.destination.url}",
                "honchod setup asks for one; or set api_key_file, or baseUrl for a server of your own",
            )
        else:
            yield ok("keys", f"host {name} goes to {host.destination.url}, key: {host.key_source.value}")


def _units(environ: Mapping[str, str]) -> Iterator[Path]:
    yield SYSTEM_UNIT
    home = environ.get("HOME")
    config_home = environ.get("XDG_CONFIG_HOME") or (home and f"{home}/.config")
    if config_home:
        yield Path(config_home) / USER_UNIT


def _at_rest(settings: Settings) -> Iterator[Finding]:
    """What can only be looked at while no daemon runs."""
    state_dir = settings.state_dir
    if state_dir.is_dir() and os.access(state_dir, os.W_OK | os.X_OK):
        directory = StateDir(state_dir, settings.outbox_path)
        try:
            with as_owner(state_dir):
                directory.hold()
        except StateDirUnusable as error:
            yield wrong("state directory", str(error), "run the doctor as its owner, or as root")
            return
        try:
            yield from queue.database(directory.database)
        finally:
            directory.release()
    else:
        yield skipped("database", f"{state_dir / FILE_NAME} is not there, or may not be looked at")
    yield from sockets.path_of_socket(settings.socket)
    if (address := settings.http.address) is not None and address[1]:
        yield sockets.listener(address)
