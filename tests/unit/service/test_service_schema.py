"""The JSON schemas of both files: those in ``deploy/schema`` are the code's, and agree with what it reads."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from honchod.errors import ConfigError
from honchod.identity import config
from honchod.service import schema, settings
from honchod.service.settings import Flags

SCHEMAS = Path(__file__).parents[3] / "deploy" / "schema"

SETTINGS = [
    "",
    'state_dir = "/var/lib/honchod"\n[delivery]\nconcurrency = 4\nmax_age = "14d"\nbatch_bytes = "1MiB"',
    "[delivery]\nrequest_timeout_s = 10\nrequests_per_s = 0",
    '[outbox]\nmax_bytes = 1073741824\nquota_share = 0.5\ncontent_after_delivery = "0s"',
    '[capture]\nredact = false\npatterns = ["x"]\n[log]\nlevel = "debug"',
]
BAD_SETTINGS = [
    "[delivery]\nconcurrency = 0",
    '[delivery]\nconcurrency = "4"',
    '[delivery]\nmax_age = "soon"',
    "[delivery]\nrequest_timeout_s = 6000",
    "[outbox]\nquota_share = 2",
    '[log]\nlevel = "loud"',
    "[delivery]\nunheard_of = 1",
    "unheard_of = 1",
    "access = 3",
]
HOSTS: list[dict[str, Any]] = [
    {},
    {"apiKey": "k", "baseUrl": None, "peerName": "ann", "hosts": {"hermes": {"aiPeer": "h", "theirs": 1}}},
    {"api_key_file": "/k", "base_url": "http://h:8000", "workspaceId": "w", "pinPeerName": True},
    {"observation": "unified", "writeFrequency": 3, "hosts": None},
    {"observation": {"user": {"observeMe": False}}, "writeFrequency": "turn", "endpoint": "http://h"},
    {"injection": ["summary"], "endpoint": {"environment": "local"}, "sessions": {"/a": "b"}},
    {"injection": {"summary": False, "sessionStart": ["peerCard"]}, "authorPeers": {"cron": "c"}},
    {"dialecticDepthLevels": ["low"], "reasoningLevelCap": "max", "messageMaxChars": 50},
]
BAD_HOSTS: list[dict[str, Any]] = [
    {"writeFrequency": 0},
    {"writeFrequency": "sometimes"},
    {"hosts": []},
    {"hosts": {"hermes": {"contextTokens": -1}}},
    {"hosts": {"hermes": 3}},
    {"recallMode": "off"},
    {"dialecticDepth": 4},
    {"authorPeers": {"robot": "c"}},
    {"messageMaxChars": 25_001},
]


def accepts(document: Any, by: dict[str, Any]) -> bool:
    return not list(jsonschema.Draft202012Validator(by).iter_errors(document))


def load_settings(text: str, directory: Path) -> None:
    path = directory / "honchod.toml"
    path.write_text(text)
    settings.load(path, env={}, flags=Flags(), uid=0)


def load_hosts(document: dict[str, Any]) -> None:
    config.parse(document, {}, read_key=lambda _: "k")


@pytest.mark.parametrize("name", [schema.SETTINGS_FILE, schema.HOSTS_FILE])
def test_the_schemas_that_are_shipped_are_those_of_the_code(tmp_path: Path, name: str) -> None:
    """When it fails: python -m honchod.service.schema deploy/schema"""
    schema.write(tmp_path)
    assert (tmp_path / name).read_text() == (SCHEMAS / name).read_text()


@pytest.mark.parametrize("made", [schema.settings_schema(), schema.hosts_schema()])
def test_the_schemas_are_schemas(made: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_that_are_read_are_accepted(tmp_path: Path, text: str) -> None:
    load_settings(text, tmp_path)
    assert accepts(tomllib.loads(text), schema.settings_schema())


@pytest.mark.parametrize("text", BAD_SETTINGS)
def test_settings_that_are_refused_are_not_accepted(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        load_settings(text, tmp_path)
    assert not accepts(tomllib.loads(text), schema.settings_schema())


@pytest.mark.parametrize("document", HOSTS, ids=json.dumps)
def test_hosts_that_are_read_are_accepted(document: dict[str, Any]) -> None:
    load_hosts(document)
    assert accepts(document, schema.hosts_schema())


@pytest.mark.parametrize("document", BAD_HOSTS, ids=json.dumps)
def test_hosts_that_are_refused_are_not_accepted(document: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        load_hosts(document)
    assert not accepts(document, schema.hosts_schema())


def test_every_default_is_accepted_by_its_own_schema() -> None:
    for name in (schema.SETTINGS_FILE, schema.HOSTS_FILE):
        made = json.loads((SCHEMAS / name).read_text())
        for definition in made["$defs"].values():
            for key, of_key in definition.get("properties", {}).items():
                if "default" in of_key:
                    whole = {**of_key, "$defs": made["$defs"]}
                    assert accepts(of_key["default"], whole), key
