from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from honchod.errors import ConfigError
from honchod.identity.urls import CLOUD_URL
from honchod.service.settings import Flags, Settings, load
from honchod.service.settings_sections import File

USER = 1000
ROOT = 0


def settings(tmp_path: Path, toml: str = "", environ: dict[str, str] | None = None) -> Settings:
    path = tmp_path / "honchod.toml"
    path.write_text(toml, "utf-8")
    return load(path, env=environ or {}, uid=USER)


def problems(tmp_path: Path, toml: str, environ: dict[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, toml, environ)
    return tuple(problem.removeprefix(f"{tmp_path}/honchod.toml: ") for problem in caught.value.problems)


DESIGNED = """
state_dir = "/var/lib/honchod"
socket = "/run/honchod/honchod.sock"
honcho_config = "/etc/honchod/honcho.json"

[access]
allow_uids = []
allow_gids = []
operator_uids = []

[delivery]
concurrency = 4
batch_max = 100
batch_bytes = "1MiB"
request_timeout_s = 10
max_attempts = 8
max_age = "14d"
backoff_base_s = 1.0
backoff_cap_s = 300.0
retry_after_cap_s = 3600.0
settle_delay_s = 15.0
stop_timeout_s = 20.0

[outbox]
max_rows = 100000
max_bytes = "1GiB"
quota_share = 0.5
dedupe_window = "7d"
content_after_delivery = "1d"
synchronous = "full"

[limits]
body_bytes = "4MiB"
messages_per_request = 1000
connections = 256
arrival_s = 30
idle_s = 60

[recall]
cache_ttl_s = 120
max_entries = 2000
search_top_k = 8
max_conclusions = 20

[capture]
redact = true
patterns = []
allow = []

[http]
listen = ""
token_file = ""

[log]
level = "info"
format = "auto"
"""


def test_the_designed_file_says_what_holds_without_it(tmp_path: Path) -> None:
    written = settings(tmp_path, DESIGNED)
    assert written.state_dir == Path("/var/lib/honchod")
    assert written.socket == Path("/run/honchod/honchod.sock")
    assert written.honcho_config == Path("/etc/honchod/honcho.json")
    default = settings(tmp_path)
    places = {"state_dir": default.state_dir, "socket": default.socket, "honcho_config": None}
    assert msgspec.structs.replace(written, **places) == default


RANGES = [
    *((f"delivery.{key}", 0.05, 600) for key in ("request_timeout_s", "settle_delay_s", "stop_timeout_s")),
    *((f"delivery.{key}", 0.01, 86_400) for key in ("backoff_cap_s", "retry_after_cap_s")),
    ("delivery.concurrency", 1, 64),
    ("delivery.batch_max", 1, 100),
    ("delivery.batch_bytes", 1024, 2**30),
    ("delivery.max_attempts", 1, 100),
    ("delivery.max_age", 0.05, 3650 * 86_400),
    ("delivery.requests_per_s", 0, 10_000),
    ("outbox.max_rows", 10, 100_000_000),
    ("outbox.max_bytes", 2**20, 2**40),
    ("outbox.quota_share", 0.01, 1),
    ("outbox.dedupe_window", 0, 3650 * 86_400),
    ("outbox.content_after_delivery", 0, 3650 * 86_400),
    ("limits.body_bytes", 1024, 2**30),
    ("limits.messages_per_request", 1, 100_000),
    ("limits.connections", 1, 65_536),
    ("limits.arrival_s", 0.05, 600),
    ("limits.idle_s", 0.05, 600),
    ("recall.cache_ttl_s", 0, 86_400),
    ("recall.max_entries", 1, 10_000_000),
    ("recall.search_top_k", 1, 100),
    ("recall.max_conclusions", 1, 100),
]


@pytest.mark.parametrize(("key", "low", "high"), RANGES)
def test_a_number_out_of_its_range_is_named_with_key_value_and_range(
    tmp_path: Path, key: str, low: float, high: float
) -> None:
    fits = "delivery.backoff_base_s = 0.01\n"
    settings(tmp_path, f"{fits}{key} = {low}")
    settings(tmp_path, f"{fits}{key} = {high}")
    for wrong in (low - 1 if low else -1, high + 1, '"many"', "true", "nan"):
        (problem,) = problems(tmp_path, f"{fits}{key} = {wrong}")
        assert problem.startswith(f"{key} = ")
        assert ": expected " in problem
        assert " from " in problem


def test_a_backoff_starts_below_its_cap(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "delivery = { backoff_base_s = 400 }")
    assert problem == "delivery.backoff_base_s = 400: expected at most backoff_cap_s (300)"


@pytest.mark.parametrize(
    ("line", "section", "name", "value"),
    [
        ('delivery.max_age = "36h"', "delivery", "max_age_s", 129_600),
        ("delivery.max_age = 60", "delivery", "max_age_s", 60),
        ('delivery.request_timeout_s = "250ms"', "delivery", "request_timeout_s", 0.25),
        ('outbox.max_bytes = "2GiB"', "outbox", "max_bytes", 2**31),
        ("outbox.max_bytes = 2000000", "outbox", "max_bytes", 2_000_000),
        ('outbox.content_after_delivery = "0s"', "outbox", "content_after_delivery_s", 0),
        ('outbox.synchronous = "normal"', "outbox", "synchronous", "normal"),
        ("access.allow_uids = [1000, 0]", "access", "allow_uids", (1000, 0)),
        ('capture.patterns = ["x+"]', "capture", "patterns", ("x+",)),
        ('log.level = "debug"', "log", "level", "debug"),
    ],
)
def test_durations_and_sizes_are_texts_or_numbers(
    tmp_path: Path, line: str, section: str, name: str, value: Any
) -> None:
    assert getattr(getattr(settings(tmp_path, line), section), name) == value


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ("nope = 1", "nope"),
        ("[nope]\nx = 1", "nope"),
        ("[delivery]\nconcurency = 1", "delivery.concurency"),
        ("[log]\nfile = 'x'", "log.file"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_it(tmp_path: Path, toml: str, key: str) -> None:
    assert problems(tmp_path, toml) == (f"{key}: unknown key",)


@pytest.mark.parametrize(
    ("toml", "start"),
    [
        ("delivery = 5", "delivery: expected a table"),
        ('access.allow_uids = ["root"]', 'access.allow_uids = ["root"]'),
        ("access.allow_uids = [-1]", "access.allow_uids = [-1]"),
        ("access.operator_uids = [4294967295]", "access.operator_uids"),
        ('outbox.synchronous = "off"', 'outbox.synchronous = "off"'),
        ("capture.redact = 1", "capture.redact = 1"),
        ('capture.patterns = ["ok", "("]', "capture.patterns[1] = '('"),
        ('capture.allow = ["["]', "capture.allow[0] = '['"),
        ('log.format = "xml"', 'log.format = "xml"'),
        ('socket = "honchod.sock"', "socket = 'honchod.sock': expected an absolute path"),
        ('state_dir = "state"', "state_dir = 'state': expected an absolute path"),
        (f'socket = "/{"s" * 107}"', "socket = /sss"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, toml: str, start: str) -> None:
    (problem,) = problems(tmp_path, toml)
    assert problem.startswith(start)


def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    toml = """
        socket = "x"
        delivery = { concurrency = 0, batch_max = 101 }
        log.level = "loud"
        http.listen = ":1"
    """
    environ = {"HONCHO_CACHE_TTL": "-1", "HONCHO_DEBUG": "maybe", "HONCHOD_STATE_DIR": "s"}
    told = problems(tmp_path, toml, environ)
    assert [problem.split(" = ")[0] for problem in told] == [
        "delivery.concurrency",
        "delivery.batch_max",
        "log.level",
        "http.listen",
        "HONCHOD_STATE_DIR",
        "socket",
        "HONCHO_CACHE_TTL",
        "HONCHO_DEBUG",
    ]


@pytest.mark.parametrize("toml", ["[delivery", "x = ", "a = " + "[" * 10_000])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, toml: str) -> None:
    path = tmp_path / "honchod.toml"
    path.write_text(toml, "utf-8")
    with pytest.raises(ConfigError, match=str(path)):
        load(path, env={}, uid=USER)


@pytest.mark.parametrize("environ", [{}, {"HONCHOD_CONFIG": "{0}/missing.toml"}])
def test_a_named_file_must_be_there(tmp_path: Path, environ: dict[str, str]) -> None:
    environ = {name: text.format(tmp_path) for name, text in environ.items()}
    path = None if environ else tmp_path / "missing.toml"
    with pytest.raises(ConfigError, match=r"missing\.toml: No such file"):
        load(path, env=environ, uid=USER)


def test_the_file_is_named_by_flag_then_environment_then_found(tmp_path: Path) -> None:
    found = tmp_path / "honchod" / "honchod.toml"
    found.parent.mkdir()
    for path, level in (
        (found, "warning"),
        (tmp_path / "env.toml", "error"),
        (tmp_path / "flag.toml", "debug"),
    ):
        path.write_text(f'log.level = "{level}"', "utf-8")
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert load(None, env=environ, uid=USER).log.level == "warning"
    environ["HONCHOD_CONFIG"] = str(tmp_path / "env.toml")
    assert load(None, env=environ, uid=USER).log.level == "error"
    assert load(tmp_path / "flag.toml", env=environ, uid=USER).log.level == "debug"


def test_the_users_file_is_found_at_home(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "honchod" / "honchod.toml"
    path.parent.mkdir(parents=True)
    path.write_text('log.level = "warning"', "utf-8")
    assert load(None, env={"HOME": str(tmp_path)}, uid=USER).log.level == "warning"
    relative = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "relative"}
    assert load(None, env=relative, uid=USER).log.level == "warning"


HOME = {"HOME": "/home/u"}


@pytest.mark.parametrize(
    ("environ", "uid", "state_dir"),
    [
        (HOME, USER, "/home/u/.local/state/honchod"),
        ({**HOME, "XDG_STATE_HOME": "/state"}, USER, "/state/honchod"),
        (HOME, ROOT, "/var/lib/honchod"),
        ({}, USER, "/var/lib/honchod"),
        ({**HOME, "STATE_DIRECTORY": "/var/lib/private/honchod:/other"}, USER, "/var/lib/private/honchod"),
        ({**HOME, "STATE_DIRECTORY": "/a", "HONCHOD_STATE_DIR": "/b"}, USER, "/b"),
        ({**HOME, "HONCHOD_STATE_DIR": "~/d"}, ROOT, "/home/u/d"),
    ],
)
def test_the_state_directory_suits_who_runs_the_daemon(
    environ: dict[str, str], uid: int, state_dir: str
) -> None:
    assert load(None, env=environ, uid=uid).state_dir == Path(state_dir)


@pytest.mark.parametrize(
    ("environ", "toml", "drop_dir"),
    [
        (HOME, "", "/home/u/.local/state/honchod/drop"),
        ({**HOME, "XDG_STATE_HOME": "/x"}, "", "/x/honchod/drop"),
        ({**HOME, "XDG_STATE_HOME": "/x"}, 'drop_dir = "/file"', "/file"),
        ({"HONCHOD_DROP": "/env"}, 'drop_dir = "/file"', "/env"),
    ],
)
def test_the_drop_box_is_where_clients_look_for_it(
    tmp_path: Path, environ: dict[str, str], toml: str, drop_dir: str
) -> None:
    assert settings(tmp_path, toml, environ).drop_dir == Path(drop_dir)


def test_a_user_without_a_home_has_no_drop_box(tmp_path: Path) -> None:
    assert settings(tmp_path, "", {}).drop_dir is None


@pytest.mark.parametrize(
    ("environ", "uid", "socket"),
    [
        ({}, USER, "/run/honchod/honchod.sock"),
        ({"XDG_RUNTIME_DIR": "/run/user/1000"}, USER, "/run/user/1000/honchod/honchod.sock"),
        ({"XDG_RUNTIME_DIR": "/run/user/0"}, ROOT, "/run/honchod/honchod.sock"),
        ({"RUNTIME_DIRECTORY": "/run/x", "XDG_RUNTIME_DIR": "/r"}, USER, "/run/x/honchod.sock"),
        ({"HONCHOD_SOCKET": "/s", "RUNTIME_DIRECTORY": "/run/x"}, USER, "/s"),
    ],
)
def test_the_socket_stands_where_clients_look(environ: dict[str, str], uid: int, socket: str) -> None:
    assert load(None, env=environ, uid=uid).socket == Path(socket)


def test_flags_beat_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    toml = 'state_dir = "/file/state"\nsocket = "/file/s"\nhoncho_config = "/file/c"'
    found = settings(tmp_path, toml)
    assert (str(found.state_dir), str(found.socket), str(found.honcho_config)) == (
        "/file/state",
        "/file/s",
        "/file/c",
    )
    environ = {"HONCHOD_STATE_DIR": "/env", "HONCHOD_SOCKET": "/env/s", "HONCHOD_HONCHO_CONFIG": "/env/c"}
    found = settings(tmp_path, toml, environ)
    assert (str(found.state_dir), str(found.socket), str(found.honcho_config)) == ("/env", "/env/s", "/env/c")
    flags = Flags(socket=Path("s"), state_dir=Path("/flag"))
    found = load(tmp_path / "honchod.toml", env=environ, flags=flags, uid=USER)
    assert (found.state_dir, found.socket) == (Path("/flag"), Path.cwd() / "s")


def test_the_process_itself_counts_where_no_uid_is_given() -> None:
    assert load(None, env={}) == load(None, env={}, uid=os.getuid())


def test_the_names_of_the_agent_zero_plugin_are_honoured(tmp_path: Path) -> None:
    toml = 'recall.cache_ttl_s = 5\nlog.level = "warning"'
    environ = {"HONCHO_CACHE_TTL": "60", "HONCHO_DEBUG": "True", "HONCHO_OUTBOX_PATH": "/a0/outbox.sqlite3"}
    found = settings(tmp_path, toml, environ)
    assert (found.recall.cache_ttl_s, found.log.level) == (60, "debug")
    assert found.outbox_path == Path("/a0/outbox.sqlite3")
    found = settings(tmp_path, toml, {"HONCHO_CACHE_TTL": "", "HONCHO_DEBUG": "off"})
    assert (found.recall.cache_ttl_s, found.log.level, found.outbox_path) == (5, "warning", None)


@pytest.mark.parametrize(
    ("listen", "address"),
    [
        ("", None),
        ("127.0.0.1:9747", ("127.0.0.1", 9747)),
        ("127.8.8.8:0", ("127.8.8.8", 0)),
        ("[::1]:9747", ("::1", 9747)),
        ("localhost:9747", ("localhost", 9747)),
    ],
)
def test_the_http_listener_is_on_loopback(
    tmp_path: Path, listen: str, address: tuple[str, int] | None
) -> None:
    assert settings(tmp_path, f'http.listen = "{listen}"').http.address == address


@pytest.mark.parametrize(
    "listen",
    ["0.0.0.0:9747", ":9747", "9747", "127.0.0.1", "10.0.0.1:1", "127.0.0.1:x", "localhost:65536", "::1"],
)
def test_the_http_listener_is_nowhere_else(tmp_path: Path, listen: str) -> None:
    (problem,) = problems(tmp_path, f'http.listen = "{listen}"')
    assert problem.startswith(f"http.listen = '{listen}': expected HOST:PORT on loopback")


def test_only_the_hosted_honcho_is_asked_slowly_by_default(tmp_path: Path) -> None:
    default = settings(tmp_path).delivery
    assert (default.rate(CLOUD_URL), default.rate("http://h")) == (5, 0)
    unlimited = settings(tmp_path, "delivery.requests_per_s = 0").delivery
    assert (unlimited.rate(CLOUD_URL), unlimited.rate("http://h")) == (0, 0)
    limited = settings(tmp_path, "delivery.requests_per_s = 2.5").delivery
    assert (limited.rate(CLOUD_URL), limited.rate("http://h")) == (2.5, 2.5)


def test_a_json_schema_follows_from_the_types() -> None:
    schema = msgspec.json.schema(File)["$defs"]["Delivery"]["properties"]["concurrency"]
    assert schema.pop("description")
    assert schema == {"type": "integer", "minimum": 1, "maximum": 64, "default": 4}
