"""The tools command against the real daemon."""

from __future__ import annotations

import json

from command import Honchod


def test_tools_are_listed_for_people_and_for_programs(honchod: Honchod) -> None:
    lines = honchod.run("tools", "list", "--family", "agent_zero").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["name", "honcho_memory"]
    listed = json.loads(honchod.run("tools", "list", "--json").stdout)["tools"]
    assert len(listed) == 8


def test_a_tool_is_called_with_a_json_object(honchod: Honchod, session: str) -> None:
    call = ("tools", "call", "honcho_conclude", "--session", session)
    done = honchod.run(*call, '{"conclusion": "Ann likes bees."}', "--json")
    assert json.loads(done.stdout)["result"]["status"] == "queued"
    again = honchod.run(*call, '{"conclusion": "Ann likes bees."}')
    assert again.stdout.startswith("That is remembered already")


def test_what_is_wrong_with_a_call_is_said_on_stderr(honchod: Honchod) -> None:
    assert honchod.run("tools", "call", "honcho_search", "nonsense").returncode == 2
    assert honchod.run("tools", "call", "honcho_search", "[]").returncode == 2
    refused = honchod.run("tools", "call", "honcho_search", "{}")
    assert refused.returncode == 1
    assert "query" in refused.stderr
