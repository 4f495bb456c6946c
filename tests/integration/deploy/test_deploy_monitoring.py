"""Dashboard and alert rules: well-formed, and about metrics that the daemon really exports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from honchod.cli.app import COMMANDS
from honchod.drop.contents import DropBox
from honchod.ops.exposition import DESTINATION_STATES, PARTS, Seen
from honchod.ops.metrics import Metrics
from honchod.ops.views import (
    CacheView,
    DeliveryView,
    DestinationView,
    Health,
    Queue,
    Status,
    WriterView,
)
from honchod.outbox.values import Bounds

DEPLOY = Path(__file__).parents[3] / "deploy"
MONITORING = DEPLOY / "monitoring"
RULES = MONITORING / "honchod.rules.yml"
OF_PROMETHEUS = {"up"}
METRIC = re.compile(r"\b(honchod_\w+|process_\w+|up)\b(?=[{\[\s)]|$)")

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is absent")


def seen() -> Seen:
    """A daemon with one host that is throttled."""
    status = Status(
        version="1",
        uptime_s=5.0,
        queue=Queue(3, 7.5, 1, 40, 2, 0, 900),
        lanes=[],
        destinations=[
            DestinationView(
                *("hermes", "http://127.0.0.1:1", "w", "none", "throttled", "open", 3.0, 1, 40, 38),
                *(None, None, None),
            )
        ],
        cache=CacheView(entries=4, hits=10, misses=2, stale=1),
        writer=WriterView(commits=9, p50_ms=1.0, p99_ms=2.0, mean_group=1.5, queued=0),
        delivery=DeliveryView(paused=False, in_flight=1, requests=60, reconciled=5),
        errors=[],
        notices=["read me"],
        database_bytes=8192,
        wal_bytes=4096,
        drop=DropBox(waiting=6, bad=1),
    )
    return Seen(status, Health("stuck", ["writer"], {}), Bounds(), 1 << 30)


@pytest.fixture(scope="module")
def samples() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All samples that are exported, by name and labels."""
    metrics = Metrics({"version": "1"})
    metrics.answered("POST /v1/messages", 202, 0.01)
    text = metrics.render(seen()).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture(scope="module")
def exported(samples: dict[tuple[str, Any], float]) -> set[str]:
    """The names of the samples. Deliveries by host are there once there was one."""
    return {name for name, _ in samples} | {"honchod_deliveries_total"}


def alerts() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions() -> Iterator[str]:
    """Every expression of the rules and of the dashboard."""
    yield from (rule["expr"] for rule in alerts())
    dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"].replace(",", " ")
    yield from (mark["expr"] for mark in dashboard["annotations"]["list"])


def test_a_status_is_exported_as_it_is(samples: dict[tuple[str, Any], float]) -> None:
    for name, labels, value in (
        ("honchod_outbox_events", {"state": "queued"}, 3),
        ("honchod_outbox_events", {"state": "dead"}, 2),
        ("honchod_oldest_pending_seconds", {}, 7.5),
        ("honchod_circuit_open", {"host": "hermes"}, 1),
        ("honchod_underived_events", {"host": "hermes"}, 2),
        ("honchod_cache_lookups_total", {"result": "stale"}, 1),
        ("honchod_reconciled_events_total", {}, 5),
        ("honchod_wal_bytes", {}, 4096),
        ("honchod_drop_files", {"state": "waiting"}, 6),
        ("honchod_drop_files", {"state": "bad"}, 1),
        ("honchod_notices", {}, 1),
    ):
        assert samples[name, tuple(sorted(labels.items()))] == value, name
    states = {
        state: samples["honchod_destination_state", (("host", "hermes"), ("state", state))]
        for state in DESTINATION_STATES
    }
    assert states == {**dict.fromkeys(DESTINATION_STATES, 0), "throttled": 1}
    assert {part: samples["honchod_stuck", (("part", part),)] for part in PARTS} == {
        "writer": 1,
        "scheduler": 0,
    }


def test_names_follow_the_conventions(exported: set[str]) -> None:
    own = {name for name in exported if name.startswith("honchod_")}
    assert not [name for name in own if name.endswith(("_ms", "_created", "_count_total"))]
    assert {"honchod_events_total", "honchod_commit_duration_seconds_bucket", "honchod_group_size_sum"} <= own


def test_rules_and_dashboard_are_about_metrics_that_are_exported(exported: set[str]) -> None:
    asked = {name for expression in expressions() for name in METRIC.findall(expression)}
    assert len(asked) > 20
    assert asked - exported - OF_PROMETHEUS == set()


def test_labels_that_rules_select_by_have_such_values() -> None:
    text = RULES.read_text()
    selected = {
        one
        for values in re.findall(r'honchod_destination_state\{state=~?"([^"]+)"\}', text)
        for one in values.split("|")
    }
    assert selected <= set(DESTINATION_STATES)
    assert selected == set(DESTINATION_STATES) - {"ok"}


def test_each_alert_has_its_section_in_the_runbook() -> None:
    headings = {
        "#" + line.lstrip("#").strip().lower()
        for line in (DEPLOY / "RUNBOOK.md").read_text().splitlines()
        if line.startswith("#")
    }
    for alert in alerts():
        assert alert["annotations"]["runbook"] == f"RUNBOOK.md#{alert['alert'].lower()}"
        assert f"#{alert['alert'].lower()}" in headings
        assert alert["labels"]["severity"] in ("warning", "critical")


def test_each_code_of_a_dead_letter_has_its_row_in_the_runbook() -> None:
    """The codes are what the code writes: ``Died(id, CODE)``, and rows that expired or are lost."""
    source = "".join(path.read_text() for path in (DEPLOY.parent / "daemon/honchod").rglob("*.py"))
    written = set(re.findall(r'Died\([\w.\[\]]+, "(\w+)"\)', source))
    written |= set(re.findall(r'"?last_error"?[=:] ?"(expired|unreadable)"', source))
    assert written >= {"exhausted", "expired", "unreadable"}
    rows = set(re.findall(r"^\| `(\w+)` \|", (DEPLOY / "RUNBOOK.md").read_text(), re.MULTILINE))
    assert written | {"rejected_400", "rejected_413", "rejected_422"} <= rows


def test_the_commands_of_the_runbook_exist() -> None:
    text = (DEPLOY / "RUNBOOK.md").read_text() + (DEPLOY / "README.md").read_text()
    named = set(re.findall(r"(?:`|# |\$ |xargs -r )honchod ([a-z-]+)", text))
    assert len(named) > 10
    assert named <= set(COMMANDS)


def test_the_dashboard_can_be_laid_out() -> None:
    panels = json.loads((MONITORING / "grafana-dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "honchod.rules.yml"),
        ("test", "rules", "honchod.rules.test.yml"),
        ("check", "config", "prometheus.yml"),
    ],
)
def test_prometheus_finds_no_fault(arguments: tuple[str, ...]) -> None:
    judged = subprocess.run(
        ["promtool", *arguments], cwd=MONITORING, capture_output=True, text=True, check=False
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr


@needs_promtool
def test_prometheus_finds_no_fault_with_the_exposition() -> None:
    judged = subprocess.run(
        ["promtool", "check", "metrics"],
        input=Metrics({"version": "1"}).render(seen()),
        capture_output=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stderr.decode()
