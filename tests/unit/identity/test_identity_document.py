from __future__ import annotations

import copy
from typing import Any

import pytest

from honchod.identity.document import block_of, change

FILE = {
    "workspaceId": "w",
    "ours": {"kept": [1]},
    "hosts": {"hermes.coder": {"aiPeer": "coder", "oauth": {"x": 1}}, "other": {}},
}


@pytest.mark.parametrize(
    ("host", "changes", "expected"),
    [
        (None, {"peerName": "a"}, {**FILE, "peerName": "a"}),
        (None, {"workspace": "v"}, {**FILE, "workspaceId": "v"}),
        (None, {"workspace": None}, {"ours": FILE["ours"], "hosts": FILE["hosts"]}),
        ("default", {"peerName": "a"}, {**FILE, "peerName": "a"}),
        (
            "hermes_coder",
            {"enabled": False, "aiPeer": None},
            {**FILE, "hosts": {"hermes.coder": {"oauth": {"x": 1}, "enabled": False}, "other": {}}},
        ),
        ("new.one", {"enabled": True}, {**FILE, "hosts": {**FILE["hosts"], "new_one": {"enabled": True}}}),
        (None, {"statusline": "on"}, {**FILE, "statusline": "on"}),
    ],
)
def test_a_change_keeps_what_is_not_ours_and_how_it_is_spelled(
    host: str | None, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = copy.deepcopy(FILE)
    assert change(FILE, host, changes) == expected
    assert before == FILE


def test_default_is_its_own_block_where_there_is_one() -> None:
    document = {"hosts": {"default": {}}}
    assert change(document, "default", {"enabled": True}) == {"hosts": {"default": {"enabled": True}}}


def test_every_spelling_of_a_removed_key_goes() -> None:
    assert change({"workspace": "a", "workspaceId": "b", "x": 1}, None, {"workspace": None}) == {"x": 1}


def test_what_stands_in_place_of_tables_is_replaced() -> None:
    assert change({"hosts": 5}, "h", {"enabled": True}) == {"hosts": {"h": {"enabled": True}}}
    assert change({"hosts": {"h": 5}}, "h", {"enabled": True}) == {"hosts": {"h": {"enabled": True}}}


def test_a_host_s_own_block_is_found_however_its_name_is_spelled() -> None:
    assert block_of({"hosts": {"hermes.coder": {"aiPeer": "c"}}}, "hermes_coder") == {"aiPeer": "c"}
    assert block_of({"hosts": {}}, "h") == block_of({}, "h") == block_of({"hosts": {"h": 5}}, "h") == {}
