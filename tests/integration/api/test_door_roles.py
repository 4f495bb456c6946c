"""Who may do what, asked by real processes of other users."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from running_door import RunningDoor

from honchod.api.callers import Access, Role
from honchod.api.routes import ROUTES
from support.other_user import ask_as
from support.raw_http import message_body

OPEN = ("/v1/health", "/v1/ready", "/v1/info", "/metrics", "/v1/openapi.json")
AGENT_UID, AGENT_GID, OPERATOR_UID, STRANGER_UID = 51001, 52001, 51003, 51004

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")


@pytest.fixture
def socket_path() -> Iterator[Path]:
    """A socket that other users can reach through their supplementary group 0, as in production."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o750)
        yield Path(directory) / "d.sock"


@pytest.fixture
def guarded(start_door: Callable[..., RunningDoor], socket_path: Path) -> RunningDoor:
    access = Access.of(allow_uids=[AGENT_UID], allow_gids=[AGENT_GID], operator_uids=[OPERATOR_UID])
    return start_door(path=socket_path, access=access)


def test_agent_named_by_uid_may_write_and_not_operate(guarded: RunningDoor) -> None:
    assert ask_as(guarded.path, AGENT_UID, "POST", "/v1/messages", message_body())[0] == 202
    assert guarded.backend.writers == [(AGENT_UID, False)]
    status, text = ask_as(guarded.path, AGENT_UID, "GET", "/v1/status")
    assert status == 403
    assert '"code":"not_allowed"' in text


@pytest.mark.parametrize(("gid", "groups"), [(AGENT_GID, "0"), (60000, f"0,{AGENT_GID}")])
def test_agent_named_by_primary_or_supplementary_group_may_write(
    guarded: RunningDoor, gid: int, groups: str
) -> None:
    answer = ask_as(
        guarded.path, STRANGER_UID, "POST", "/v1/messages", message_body(), gid=gid, groups=groups
    )
    assert answer[0] == 202


def test_configured_operator_may_do_everything(guarded: RunningDoor) -> None:
    assert ask_as(guarded.path, OPERATOR_UID, "GET", "/v1/status")[0] == 200
    assert ask_as(guarded.path, OPERATOR_UID, "POST", "/v1/messages", message_body())[0] == 202
    assert guarded.backend.writers == [(OPERATOR_UID, True)]


@pytest.mark.parametrize("target", OPEN)
def test_whoever_can_open_the_socket_may_see_that_the_daemon_is_well(
    guarded: RunningDoor, target: str
) -> None:
    assert ask_as(guarded.path, STRANGER_UID, "GET", target)[0] == 200


def test_stranger_may_do_nothing_else_and_nothing_is_stored(guarded: RunningDoor) -> None:
    assert ask_as(guarded.path, STRANGER_UID, "POST", "/v1/messages", message_body())[0] == 403
    assert ask_as(guarded.path, STRANGER_UID, "GET", "/v1/dead-letters")[0] == 403
    assert guarded.backend.stored == {}


def test_roots_own_calls_are_an_operators(guarded: RunningDoor) -> None:
    assert guarded.ask("POST", "/v1/messages", message_body()).status == 202
    assert guarded.backend.writers == [(0, True)]


def test_new_rules_hold_for_the_next_request(guarded: RunningDoor) -> None:
    assert ask_as(guarded.path, AGENT_UID, "POST", "/v1/messages", message_body())[0] == 202
    guarded.door.allow(Access.of(allow_uids=[STRANGER_UID]))
    assert ask_as(guarded.path, AGENT_UID, "POST", "/v1/messages", message_body())[0] == 403
    assert ask_as(guarded.path, STRANGER_UID, "POST", "/v1/messages", message_body())[0] == 202


def test_every_call_of_the_operating_table_but_the_probes_needs_an_operator() -> None:
    operating = re.compile(
        r"/v1/(status|dead-letters|worker|notices|cache|recall-log|checks|reload|backup|ui)\b"
    )
    for route in ROUTES:
        if route.path in OPEN:
            assert route.role is Role.ANY
        else:
            assert route.role is (Role.OPERATOR if operating.match(route.path) else Role.AGENT), route.name
