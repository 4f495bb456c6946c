"""The systemd units: what systemd itself says of them, and that they agree with the program."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from honchod.identity.files import CREDENTIAL_NAME
from honchod.service.settings import SYSTEM_RUNTIME_DIR, SYSTEM_STATE_DIR
from honchod.service.settings_sections import Delivery

UNITS = Path(__file__).parents[3] / "deploy" / "systemd"
EXPOSURE_MAX = 15
"""In tenths: 1.5."""

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is absent")


def unit(name: str) -> configparser.SectionProxy:
    """The [Service] or [Socket] section of a unit; of a key that is there twice the last counts."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / name)
    return parser["Socket" if name.endswith(".socket") else "Service"]


def installed(directory: Path, source: Path, program: str) -> None:
    """The units as they would be installed, with a program that is there."""
    for path in source.iterdir():
        if path.suffix in (".service", ".socket"):
            (directory / path.name).write_text(path.read_text().replace(program, "/bin/true"))


@needs_systemd
def test_the_system_service_is_hardened() -> None:
    judged = subprocess.run(
        [
            *("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", "--no-pager"),
            UNITS / "honchod.service",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr


@needs_systemd
@pytest.mark.parametrize(
    ("source", "program", "options"),
    [
        (UNITS, "/opt/honchod/bin/honchod", ()),
        (UNITS / "user", "%h/.local/bin/honchod", ("--user",)),
    ],
)
def test_systemd_finds_no_fault_with_the_units(
    source: Path, program: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    installed(tmp_path, source, program)
    for name in ("honchod.service", "honchod.socket"):
        judged = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *options, tmp_path / name],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        )
        assert (judged.returncode, judged.stdout, judged.stderr) == (0, "", "")


@needs_systemd
def test_the_key_is_a_credential_under_the_name_that_the_daemon_looks_for(tmp_path: Path) -> None:
    installed(tmp_path, UNITS, "/opt/honchod/bin/honchod")
    shutil.copytree(UNITS / "honchod.service.d", tmp_path / "honchod.service.d")
    judged = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "honchod.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (judged.returncode, judged.stderr) == (0, "")
    loaded = unit("honchod.service.d/key.conf")["LoadCredential"]
    assert loaded == f"{CREDENTIAL_NAME}:/etc/honchod/{CREDENTIAL_NAME}"


@pytest.mark.parametrize("folder", ["", "user/"])
def test_the_units_agree_with_the_program(folder: str) -> None:
    service = unit(f"{folder}honchod.service")
    sock = unit(f"{folder}honchod.socket")
    assert int(service["TimeoutStopSec"].removesuffix("s")) > Delivery().stop_timeout_s
    assert (service["Type"], service["StateDirectoryMode"], service["UMask"]) == ("notify", "0700", "0077")
    assert (sock["SocketMode"], sock["DirectoryMode"]) == ("0660", service["RuntimeDirectoryMode"])
    assert int(service["WatchdogSec"].removesuffix("s")) >= 30
    # The socket file is in the service's runtime directory, and has to outlive the service.
    assert service["RuntimeDirectoryPreserve"] == "yes"


def test_the_system_units_use_the_places_of_the_program() -> None:
    service = unit("honchod.service")
    assert Path("/var/lib", service["StateDirectory"]) == SYSTEM_STATE_DIR
    assert Path("/run", service["RuntimeDirectory"]) == SYSTEM_RUNTIME_DIR
    assert unit("honchod.socket")["ListenStream"] == str(SYSTEM_RUNTIME_DIR / "honchod.sock")


@pytest.mark.skipif(
    os.geteuid() != 0 or not (shutil.which("systemd-sysusers") and shutil.which("systemd-tmpfiles")),
    reason="needs root, systemd-sysusers and systemd-tmpfiles",
)
def test_user_and_directories_are_made_before_the_first_start(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    for program, *options, name in (
        ("systemd-sysusers", "honchod.sysusers"),
        ("systemd-tmpfiles", "--create", "honchod.tmpfiles"),
    ):
        subprocess.run([program, *options, f"--root={tmp_path}", UNITS / name], check=True)
    entry = next(
        line for line in (tmp_path / "etc/passwd").read_text().splitlines() if line.startswith("honchod:")
    )
    *_, uid, gid, _, home, shell = entry.split(":")
    assert (home, shell) == (str(SYSTEM_STATE_DIR), "/usr/sbin/nologin")
    made = {
        f"/{path.relative_to(tmp_path)}": (path.stat().st_mode & 0o777, path.stat().st_uid)
        for path in (tmp_path / "etc/honchod", tmp_path / "run/honchod", tmp_path / "var/backups/honchod")
    }
    assert made == {
        "/etc/honchod": (0o755, 0),
        "/run/honchod": (0o750, int(uid)),
        "/var/backups/honchod": (0o700, int(uid)),
    }
    assert int(gid) > 0
