"""``honchod mcp`` with the SDK's own client over real stdio, and ``honchod check`` of an MCP server."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network, running_network

T = TypeVar("T")
FACT = "Ann drinks nothing but green tea."
OWN = "I talk too much."


def converse(daemon: DaemonProcess, scenario: Callable[[ClientSession], Awaitable[T]], *options: str) -> T:
    """Start the server as an MCP client does, and run the scenario with a session of it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "honchod", "mcp", "--socket", str(daemon.socket), *options],
        cwd=daemon.directory,
    )

    async def play() -> T:
        async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
            initialized = await session.initialize()
            assert initialized.server_info.name == "honchod"
            return await scenario(session)

    return asyncio.run(asyncio.wait_for(play(), 60))


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


@pytest.fixture(scope="module")
def network(server_url: str) -> Iterator[Network]:
    """The way from the daemon to the server."""
    with running_network(server_url) as network:
        yield network


@pytest.fixture(scope="module")
def workspace() -> str:
    """A workspace that nobody used before."""
    return f"honchod-test-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def daemon(network: Network, workspace: str) -> Iterator[DaemonProcess]:
    """One daemon for all: starting one takes its time. Its MCP URL is that of an API."""
    config: dict[str, Any] = {
        "baseUrl": network.url,
        "mcpUrl": network.url,
        "workspace": workspace,
        "peerName": "ann",
        "aiPeer": "bot",
        "hosts": {"claude_code": {"aiPeer": "claude"}, "quiet": {"recallMode": "context"}},
    }
    key = os.environ.get("HONCHOD_LIVE_KEY")
    daemon = DaemonProcess({**config, "apiKey": key} if key else config)
    yield daemon.start()
    daemon.close()


def test_tools_prompt_and_resources_are_offered_and_answer(daemon: DaemonProcess) -> None:
    async def scenario(session: ClientSession) -> None:
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools][:2] == ["honcho_profile", "honcho_search"]
        assert all(tool.input_schema["type"] == "object" for tool in tools)
        remembered = await session.call_tool("honcho_conclude", {"conclusion": FACT})
        assert not remembered.is_error
        assert remembered.structured_content["status"] == "queued"
        prompt = await session.get_prompt("memory", {"query": "tea"})
        assert prompt.messages[0].content.text
        assert [prompt.name for prompt in (await session.list_prompts()).prompts] == ["memory"]
        uris = [str(one.uri) for one in (await session.list_resources()).resources]
        assert uris == ["honchod://recall", "honchod://status"]
        for uri in uris:
            assert (await session.read_resource(uri)).contents[0].text

    converse(daemon, scenario, "--host", "claude_code")


def test_a_client_writes_to_its_own_session_as_its_own_peer(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    async def scenario(session: ClientSession) -> tuple[str, str]:
        mine = await session.call_tool("honcho_conclude", {"conclusion": OWN, "peer": "ai"})
        other = await session.call_tool("honcho_conclude", {"conclusion": FACT, "session": "somebody's"})
        assert other.is_error
        return text_of(mine), text_of(other)

    _, refused = converse(daemon, scenario, "--host", "claude_code")
    assert "session" in refused
    daemon.wait_for_delivery()
    listed = remote.ask("POST", f"/v3/workspaces/{workspace}/conclusions/list", {})["items"]
    (one,) = [item for item in listed if item["content"] == OWN]
    assert one["observed_id"] == "claude"
    assert one["session_id"].startswith("claude_code-honchod-")
    assert remote.sessions(workspace) == {one["session_id"]}


def test_tools_are_hidden_in_context_mode(daemon: DaemonProcess) -> None:
    async def scenario(session: ClientSession) -> int:
        return len((await session.list_tools()).tools)

    assert converse(daemon, scenario, "--host", "quiet") == 0


def test_a_failure_is_an_error_that_says_whether_to_try_again(
    daemon: DaemonProcess, network: Network
) -> None:
    network.take_down()

    async def scenario(session: ClientSession) -> Any:
        return await session.call_tool("honcho_profile", {})

    answer = converse(daemon, scenario)
    network.heal()
    assert answer.is_error
    assert "try again later" in text_of(answer)


def test_a_daemon_that_is_away_is_an_error_not_an_end(daemon: DaemonProcess) -> None:
    async def scenario(session: ClientSession) -> Any:
        await session.list_tools()
        daemon.stop()
        away = await session.call_tool("honcho_context", {})
        daemon.start()
        back = await session.call_tool("honcho_conclude", {"conclusion": FACT})
        return away, back

    away, back = converse(daemon, scenario)
    assert away.is_error
    assert not back.is_error


def test_check_names_what_sits_at_the_mcp_url(daemon: DaemonProcess) -> None:
    with daemon.client() as client:
        checks = {check["name"]: check for check in client.checks()["checks"]}
    assert checks["api"]["ok"]
    assert (checks["mcp"]["ok"], checks["mcp"]["code"]) == (False, "not_mcp")
    assert checks["mcp"]["latency_ms"] is not None
