"""Which key goes where. One rule: to the URL that it was configured with, and nowhere else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from identity_hosts import parse, problems_of

from honchod.identity.host import Host
from honchod.identity.urls import CLOUD_MCP_URL, CLOUD_URL

LOCAL = "http://127.0.0.1:8000"
OTHER = "https://honcho.example"


def way(host: Host) -> tuple[str, str | None, str]:
    """URL, key and where the key came from."""
    key = host.destination.key
    return host.destination.url, key.reveal() if key else None, host.key_source.value


def h(
    block: dict[str, Any], root: dict[str, Any] | None = None, **environ: str
) -> tuple[str, str | None, str]:
    return way(parse({**(root or {}), "hosts": {"h": block}}, environ)["h"])


def test_without_any_configuration_the_cloud_gets_no_key() -> None:
    assert way(parse({})["default"]) == (CLOUD_URL, None, "none")


@pytest.mark.parametrize(
    "document",
    [
        {"baseUrl": LOCAL},
        {"hosts": {"default": {"baseUrl": LOCAL}}},
        {"baseUrl": LOCAL, "hosts": {"default": {}}},
    ],
)
def test_a_local_server_without_a_key_gets_none_of_the_clouds(document: dict[str, Any]) -> None:
    """Case C36."""
    host = parse(document, {"HONCHO_API_KEY": "cloud"})["default"]
    assert way(host) == (LOCAL, None, "none")
    assert host.mcp is None


def test_a_host_never_falls_back_to_the_cloud() -> None:
    """Case C37."""
    assert h({"baseUrl": "http://no-such-name.invalid"}, {"apiKey": "root"}) == (
        "http://no-such-name.invalid",
        None,
        "none",
    )


@pytest.mark.parametrize(
    ("block", "root", "environ", "expected"),
    [
        ({"apiKey": "own"}, {"apiKey": "root"}, {"HONCHO_API_KEY": "env"}, (CLOUD_URL, "own", "host")),
        ({}, {"apiKey": "root"}, {"HONCHO_API_KEY": "env"}, (CLOUD_URL, "env", "environment")),
        ({}, {"apiKey": "root"}, {}, (CLOUD_URL, "root", "root")),
        ({"apiKey": ""}, {"apiKey": "root"}, {"HONCHO_API_KEY": ""}, (CLOUD_URL, "root", "root")),
        ({"apiKey": "own", "baseUrl": LOCAL}, {"apiKey": "root"}, {}, (LOCAL, "own", "host")),
        ({"apiKey": "own"}, {"baseUrl": LOCAL}, {}, (LOCAL, "own", "host")),
        ({}, {"apiKey": "root", "baseUrl": LOCAL}, {"HONCHO_API_KEY": "env"}, (LOCAL, "root", "root")),
        ({}, {"apiKey": "root"}, {"HONCHO_API_URL": LOCAL}, (LOCAL, None, "none")),
        ({"apiKey": "own"}, {}, {"HONCHO_API_URL": LOCAL}, (LOCAL, None, "none")),
        (
            {},
            {"apiKey": "root"},
            {"HONCHO_API_URL": LOCAL, "HONCHO_API_KEY": "env"},
            (LOCAL, "env", "environment"),
        ),
        (
            {"baseUrl": OTHER},
            {"apiKey": "root", "baseUrl": LOCAL},
            {"HONCHO_API_URL": LOCAL, "HONCHO_API_KEY": "env"},
            (OTHER, None, "none"),
        ),
        ({"baseUrl": LOCAL + "/v3/"}, {"apiKey": "root", "baseUrl": LOCAL}, {}, (LOCAL, "root", "root")),
        ({"baseUrl": CLOUD_URL}, {"apiKey": "root", "baseUrl": LOCAL}, {}, (CLOUD_URL, None, "none")),
        ({"baseUrl": ""}, {"baseUrl": LOCAL}, {}, (LOCAL, None, "none")),
        ({}, {}, {"HONCHO_BASE_URL": LOCAL, "HONCHO_API_URL": OTHER}, (OTHER, None, "none")),
        ({}, {}, {"HONCHO_BASE_URL": LOCAL, "HONCHO_API_URL": ""}, (LOCAL, None, "none")),
    ],
)
def test_a_key_goes_only_to_the_url_it_was_configured_with(
    block: dict[str, Any],
    root: dict[str, Any],
    environ: dict[str, str],
    expected: tuple[str, str | None, str],
) -> None:
    assert h(block, root, **environ) == expected


@pytest.mark.parametrize(
    ("document", "environ", "expected"),
    [
        ({}, {}, (CLOUD_URL, "unit", "credential")),
        ({"baseUrl": LOCAL}, {}, (LOCAL, "unit", "credential")),
        ({}, {"HONCHO_API_URL": LOCAL}, (LOCAL, "unit", "credential")),
        ({"apiKey": "root"}, {}, (CLOUD_URL, "unit", "credential")),
        ({}, {"HONCHO_API_KEY": "env"}, (CLOUD_URL, "env", "environment")),
        ({"hosts": {"default": {"baseUrl": OTHER}}}, {}, (OTHER, None, "none")),
        ({"hosts": {"default": {"apiKey": "own"}}}, {}, (CLOUD_URL, "own", "host")),
    ],
)
def test_the_units_credential_belongs_to_hosts_without_a_url_of_their_own(
    document: dict[str, Any], environ: dict[str, str], expected: tuple[str, str | None, str]
) -> None:
    assert way(parse(document, environ, "unit")["default"]) == expected


def test_a_key_that_is_not_used_is_named_and_not_shown() -> None:
    hosts = parse({"hosts": {"h": {"baseUrl": LOCAL}}}, {"HONCHO_API_KEY": "cloud-key"})
    assert len(hosts.warnings) == 1
    assert "host h: the key from environment" in hosts.warnings[0]
    assert "cloud-key" not in hosts.warnings[0]


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ({"environment": "local"}, "http://localhost:8000"),
        ({"environment": "local", "baseUrl": OTHER + "/v3"}, OTHER),
        ({"environment": "production"}, CLOUD_URL),
        (OTHER + "/v3", OTHER),
    ],
)
def test_the_endpoint_that_the_claude_code_plugin_writes_is_a_url_too(endpoint: object, url: str) -> None:
    assert h({"endpoint": endpoint})[0] == url


@pytest.mark.parametrize("spelling", ["baseUrl", "base_url", "apiUrl"])
def test_a_url_may_be_spelled_in_several_ways(spelling: str) -> None:
    assert h({spelling: LOCAL})[0] == LOCAL


@pytest.mark.parametrize(
    "key", ["s3\ncret", "s3cret\n", " s3cret", "s3\u00e9cret", "s3\u200bcret", "Bearer s3cret", "s3cret\x7f"]
)
@pytest.mark.parametrize("place", ["apiKey", "hosts.h.apiKey", "HONCHO_API_KEY", "credential"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: str, place: str) -> None:
    """Case C38: such a key would come back inside an error of the SDK."""
    documents = {"apiKey": {"apiKey": key}, "hosts.h.apiKey": {"hosts": {"h": {"apiKey": key}}}}
    environ = {"HONCHO_API_KEY": key} if place == "HONCHO_API_KEY" else {}
    with pytest.raises(Exception) as caught:
        parse(documents.get(place, {}), environ, key if place == "credential" else None)
    assert place in str(caught.value)
    assert not {"s3", "cret"} & set(re.findall("s3|cret", str(caught.value)))


def test_an_empty_credential_is_refused() -> None:
    with pytest.raises(Exception, match="honcho_api_key"):
        parse({}, {}, "")


def test_each_refused_url_is_named_where_it_stands() -> None:
    """Case C38."""
    bad = "http://h\u200b:8000"
    problems = problems_of(
        {"baseUrl": bad, "mcpUrl": bad, "hosts": {"h": {"baseUrl": "http://u:secret@h"}}},
        {"HONCHO_BASE_URL": bad, "HONCHO_MCP_URL": bad},
    )
    names = [problem.split(" = ")[0] for problem in problems]
    assert names == ["baseUrl", "mcpUrl", "HONCHO_BASE_URL", "HONCHO_MCP_URL", "hosts.h.baseUrl"]
    assert not any("secret" in problem for problem in problems)


MCP = "https://mcp.example"


@pytest.mark.parametrize(
    ("block", "root", "environ", "url", "has_key"),
    [
        ({"apiKey": "own"}, {}, {}, CLOUD_MCP_URL, True),
        ({"apiKey": "own", "baseUrl": LOCAL}, {}, {}, None, False),
        ({"apiKey": "own", "baseUrl": LOCAL, "mcpUrl": MCP}, {}, {}, MCP, True),
        ({"apiKey": "own", "baseUrl": LOCAL}, {"mcpUrl": MCP}, {}, MCP, False),
        ({"apiKey": "own"}, {"baseUrl": LOCAL, "mcpUrl": MCP}, {}, MCP, True),
        ({"apiKey": "own"}, {}, {"HONCHO_MCP_URL": MCP}, MCP, True),
        ({"apiKey": "own", "baseUrl": LOCAL}, {}, {"HONCHO_MCP_URL": MCP}, MCP, False),
        ({}, {}, {"HONCHO_API_URL": LOCAL, "HONCHO_API_KEY": "e", "HONCHO_MCP_URL": MCP}, MCP, True),
    ],
)
def test_the_mcp_server_gets_the_key_only_beside_its_base_url(
    block: dict[str, Any], root: dict[str, Any], environ: dict[str, str], url: str | None, has_key: bool
) -> None:
    mcp = parse({**root, "hosts": {"h": block}}, environ)["h"].mcp
    assert (mcp and mcp.url) == url
    assert bool(mcp and mcp.key) is has_key


urls = st.sampled_from([None, CLOUD_URL, LOCAL, OTHER])


@given(urls, urls, urls, st.tuples(*[st.booleans()] * 4))
def test_no_key_ever_leaves_for_another_url(
    own: str | None, environment: str | None, root: str | None, keys: tuple[bool, ...]
) -> None:
    own_key, environment_key, credential, root_key = keys
    block = {"baseUrl": own, "apiKey": "own" if own_key else None}
    environ = {"HONCHO_API_URL": environment or "", "HONCHO_API_KEY": "env" if environment_key else ""}
    document = {"baseUrl": root, "apiKey": "root" if root_key else None, "hosts": {"h": block}}
    url, key, _ = way(parse(document, environ, "unit" if credential else None)["h"])
    assert url == own or (own is None and url == (environment or root or CLOUD_URL))
    homes = {
        None: url,
        "own": own or root or CLOUD_URL,
        "env": environment or CLOUD_URL,
        "unit": environment or root or CLOUD_URL,
        "root": root or CLOUD_URL,
    }
    assert homes[key] == url
