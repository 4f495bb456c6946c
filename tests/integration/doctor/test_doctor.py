"""The doctor names what is wrong, says how to mend it, and where commands can, mends it."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from patient import UNIT, Patient

from honchod.client.box import Box
from honchod.ops.doctor import machine
from honchod.outbox.database import StateDir


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def open_state_dir(patient: Patient) -> None:
    patient.state_dir.chmod(0o755)


def readable_database(patient: Patient) -> None:
    patient.database.chmod(0o644)


def readable_copy(patient: Patient) -> None:
    shutil.copy(patient.database, copy := patient.state_dir / "outbox.sqlite3.before-0009-from-0001-x")
    copy.chmod(0o640)


def readable_key_file(patient: Patient) -> None:
    patient.key_file.chmod(0o644)


def readable_config_with_a_key(patient: Patient) -> None:
    patient.hosts({"baseUrl": "http://127.0.0.1:9", "apiKey": "hch-v3-abcdef", "aiPeer": "bot"})
    patient.hosts_file.chmod(0o644)


def readable_token(patient: Patient) -> None:
    patient.token_file.chmod(0o640)


def settings_that_others_may_change(patient: Patient) -> None:
    patient.settings_file.chmod(0o666)


def unknown_key(patient: Patient) -> None:
    append(patient.settings_file, "\n[outbox]\nmax_rowz = 10\n")


def value_out_of_range(patient: Patient) -> None:
    append(patient.settings_file, '\n[outbox]\nmax_bytes = "2GiB"\nquota_share = 7\n')


def broken_toml(patient: Patient) -> None:
    append(patient.settings_file, "\n[log]\nlevel info\n")


def pattern_that_is_none(patient: Patient) -> None:
    append(patient.settings_file, '\n[capture]\npatterns = ["(unclosed"]\n')


def stale_socket(patient: Patient) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left_behind:
        left_behind.bind(str(patient.socket))


def file_in_the_sockets_place(patient: Patient) -> None:
    patient.socket.write_text("not a socket")


def socket_directory_for_everybody(patient: Patient) -> None:
    patient.socket.parent.chmod(0o777)


def unfinished_copy(patient: Patient) -> None:
    patient.write(patient.state_dir / "outbox.sqlite3.restoring", "half a database")


def queue_of_a_newer_version(patient: Patient) -> None:
    """It was upgraded by a version that is gone again; the copy from before is there."""
    shutil.copy(patient.database, copy := patient.state_dir / "outbox.sqlite3.before-9999-from-0001-x")
    copy.chmod(0o600)
    with contextlib.closing(sqlite3.connect(patient.database)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")


def unit_that_kills_too_soon(patient: Patient) -> None:
    patient.write(patient.unit, UNIT.replace("30s", "15s"))


def unit_without_a_watchdog(patient: Patient) -> None:
    patient.write(patient.unit, UNIT.replace("WatchdogSec=60s\n", ""))


def open_drop_box(patient: Patient) -> None:
    (patient.state_dir / "drop").mkdir()
    (patient.state_dir / "drop").chmod(0o755)


MENDED: dict[Callable[[Patient], None], tuple[str, str]] = {
    open_state_dir: ("state directory", "is open to others"),
    open_drop_box: ("drop box", "is open to others"),
    readable_database: ("database files", "can be read by others"),
    readable_copy: ("database files", "can be read by others"),
    readable_key_file: ("key file", "holds a secret"),
    readable_config_with_a_key: ("honcho config", "holds an API key"),
    readable_token: ("token file", "holds a secret"),
    settings_that_others_may_change: ("settings", "can be changed by others"),
    unknown_key: ("settings", "outbox.max_rowz: unknown key (line 8)"),
    value_out_of_range: ("settings", "outbox.quota_share = 7: expected"),
    broken_toml: ("settings", "(line 8)"),
    pattern_that_is_none: ("settings", "not a regular expression"),
    stale_socket: ("socket", "nobody listens"),
    file_in_the_sockets_place: ("socket", "is no socket"),
    socket_directory_for_everybody: ("socket", "can be written by everybody"),
    unfinished_copy: ("copies", "never finished"),
    queue_of_a_newer_version: ("database", "newer honchod"),
    unit_that_kills_too_soon: ("unit", "kills the daemon 15 s after a stop"),
    unit_without_a_watchdog: ("unit", "no WatchdogSec"),
}
"""What is seeded, and how the doctor calls it. Commands mend each of them."""


def test_a_person_reads_a_table_and_a_script_an_exit_code(patient: Patient) -> None:
    patient.state_dir.chmod(0o755)
    command = [sys.executable, "-m", "honchod", "doctor", "--offline"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=patient.environ
    )
    assert done.returncode == 1
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert ["state directory", "let nobody else in", f"chmod 0700 {patient.state_dir}"] in lines


def test_a_healthy_installation_has_no_fault(patient: Patient) -> None:
    seen = patient.doctor("--offline")
    assert (seen.code, seen.faults, seen.errors) == (0, [], "")
    checks = {finding["check"] for finding in seen.findings}
    assert checks >= {"settings", "keys", "sqlite", "clock", "disk", "state directory", "database", "unit"}


@pytest.mark.parametrize("seed", MENDED, ids=lambda seed: seed.__name__)
def test_what_is_wrong_is_named_explained_and_mended(
    patient: Patient, seed: Callable[[Patient], None]
) -> None:
    seed(patient)
    check, found = MENDED[seed]
    seen = patient.doctor("--offline")
    (fault,) = seen.faults
    assert (fault["check"], seen.code) == (check, 1 if fault["grade"] == "wrong" else 0)
    assert found in fault["found"]
    assert fault["advice"]
    assert len(fault["mend"]) == 1
    mended = patient.doctor("--offline", "--mend")
    assert (mended.code, mended.faults) == (0, []), mended.errors


def test_the_commands_are_what_a_shell_takes(patient: Patient) -> None:
    """They are printed to be copied."""
    patient.state_dir.chmod(0o755)
    patient.token_file.chmod(0o644)
    for fault in patient.doctor("--offline").faults:
        subprocess.run(["sh", "-c", *fault["mend"]], check=True)
        assert shlex.split(fault["mend"][0])[0] == "chmod"
    assert patient.doctor("--offline").faults == []


def broken_json(patient: Patient) -> None:
    patient.write(patient.hosts_file, '{"peerName": ')


def one_peer_for_both(patient: Patient) -> None:
    patient.hosts({"baseUrl": "http://127.0.0.1:9", "peerName": "ann", "aiPeer": "ann"})


def no_key_for_the_cloud(patient: Patient) -> None:
    patient.hosts({"peerName": "ann", "aiPeer": "bot"})


def key_of_another_server(patient: Patient) -> None:
    patient.hosts(
        {"apiKey": "hch-v3-abcdef", "aiPeer": "bot", "hosts": {"hermes": {"baseUrl": "http://127.0.0.1:9"}}}
    )


def key_file_that_is_missing(patient: Patient) -> None:
    patient.key_file.unlink()


def key_in_the_unit(patient: Patient) -> None:
    append(patient.unit, "Environment=HONCHO_API_KEY=hch-v3-abcdef\n")


def unit_of_a_program_that_is_gone(patient: Patient) -> None:
    patient.write(patient.unit, UNIT.replace("/bin/true", "/opt/gone/honchod"))


def damaged_database(patient: Patient) -> None:
    with patient.database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 8192)


def socket_path_too_long(patient: Patient) -> None:
    patient.socket = patient.home / ("x" * 120)


def request_that_could_not_be_taken_in(patient: Patient) -> None:
    with Box(str(patient.state_dir / "drop"), make=True) as box:
        box.put(b"abcdef")
        box.set_aside(box.entries()[0])


def drop_box_that_is_no_directory(patient: Patient) -> None:
    patient.write(patient.state_dir / "drop", "")


EXPLAINED: dict[Callable[[Patient], None], tuple[str, str]] = {
    broken_json: ("honcho config", "config.json: "),
    one_peer_for_both: ("honcho config", "aiPeer ann: the user's peer too"),
    no_key_for_the_cloud: ("keys", "has no key for https://api.honcho.dev"),
    key_of_another_server: ("honcho config", "is not sent to http://127.0.0.1:9"),
    key_file_that_is_missing: ("honcho config", "No such file"),
    key_in_the_unit: ("unit", "holds the API key"),
    unit_of_a_program_that_is_gone: ("unit", "/opt/gone/honchod"),
    damaged_database: ("database", "is damaged"),
    request_that_could_not_be_taken_in: ("drop box", "could not be taken in"),
    drop_box_that_is_no_directory: ("drop box", "is no directory"),
    socket_path_too_long: ("settings", "at most 107 bytes"),
}
"""What only a person can settle: named, with advice, and left alone."""


@pytest.mark.parametrize("seed", EXPLAINED, ids=lambda seed: seed.__name__)
def test_what_only_a_person_can_settle_is_named_with_advice(
    patient: Patient, seed: Callable[[Patient], None]
) -> None:
    seed(patient)
    check, found = EXPLAINED[seed]
    seen = patient.doctor("--offline")
    (fault,) = seen.faults
    assert fault["check"] == check
    assert found in fault["found"]
    assert fault["advice"]
    assert fault["mend"] == []
    assert "abcdef" not in str(seen.findings)


def test_all_faults_are_named_at_once(patient: Patient) -> None:
    for seed in (open_state_dir, readable_token, stale_socket, key_in_the_unit, unfinished_copy):
        seed(patient)
    assert len(patient.doctor("--offline").faults) == 5
    (left,) = patient.doctor("--offline", "--mend").faults
    assert left["check"] == "unit"


def test_it_refuses_while_a_daemon_has_the_queue(patient: Patient) -> None:
    held = StateDir(patient.state_dir)
    held.hold()
    try:
        seen = patient.doctor("--offline")
    finally:
        held.release()
    assert seen.code == 1
    assert "is held by another honchod" in seen.errors


def test_without_a_daemon_it_says_how_to_start_one(patient: Patient) -> None:
    (fault,) = patient.doctor().faults
    assert fault["check"] == "daemon"
    assert str(patient.socket) in fault["found"]
    assert "systemctl start honchod" in fault["advice"]


def test_it_changes_nothing_unless_told_to(patient: Patient) -> None:
    for seed in (open_state_dir, readable_database, stale_socket, unknown_key, unfinished_copy):
        seed(patient)
    before = {path: path.lstat() for path in sorted(patient.home.rglob("*"))}
    patient.doctor("--offline")
    patient.doctor()
    after = {path: path.lstat() for path in sorted(patient.home.rglob("*"))}
    assert {path: (was.st_mode, was.st_size) for path, was in before.items()} == {
        path: (now.st_mode, now.st_size) for path, now in after.items()
    }


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:35 / /mnt/share rw,relatime shared:9 - nfs4 host:/share rw
41 22 0:36 / /mnt/with\\040space rw - tmpfs tmpfs rw
"""


def test_a_disk_of_another_machine_is_named(tmp_path: Path) -> None:
    kinds = {
        path: machine.file_system(Path(path), MOUNTS)
        for path in ("/var/lib/honchod", "/mnt/share", "/mnt/share/state", "/mnt/shared", "/mnt/with space/x")
    }
    assert list(kinds.values()) == ["ext4", "nfs4", "nfs4", "ext4", "tmpfs"]
    remote = f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 22 0:35 / {tmp_path} rw - nfs4 host:/share rw\n"
    faults = [one.found for one in machine.disk(tmp_path, 1, remote) if one.grade == "wrong"]
    assert faults == [f"{tmp_path} is on nfs4: a database in use gets damaged there"]


def test_a_disk_that_is_too_small_for_the_bound_is_named(tmp_path: Path) -> None:
    (found,) = machine.disk(tmp_path, 1 << 60, "")
    assert found.grade == "warning"
    assert "outbox.max_bytes" in found.advice
