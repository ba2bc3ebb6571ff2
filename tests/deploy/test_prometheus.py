"""The alerts of deploy/prometheus fire when they should, name metrics that exist, and have a runbook each."""

from __future__ import annotations

import datetime as dt
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from chatsite.health.readiness import close_probes
from conversations.selectors.figures import live_gauges
from conversations.selectors.figures.live_gauges import POOL
from conversations.services.backups.backup_schedule import claim_scheduled_backup, note_made_backup
from tests.support.source import PROJECT

FILE = PROJECT / "deploy/prometheus/alerts.yaml"
CASES = PROJECT / "tests/deploy/alerts_test.yaml"
PARTS = ("Means", "People notice", "Look at", "Do", "Over when")
SUFFIX = re.compile(r"_(bucket|count|sum|total)$")


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(FILE.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def sections(name: str) -> dict[str, str]:
    """Return the sections of a page in docs/operate by their headings."""
    _, *parts = (PROJECT / "docs/operate" / name).read_text(encoding="utf-8").split("\n## ")
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def watched() -> Iterator[str]:
    """Yield the metrics of the table in docs/operate/watching.md."""
    for row in re.findall(r"^\| (`[a-z].*?) \|", sections("watching.md")["Metrics"], re.MULTILINE):
        yield from (SUFFIX.sub("", name) for name in re.findall(r"`([a-z_]+)", row))


@pytest.fixture
def metrics(client, settings, db, monkeypatch) -> set[str]:
    """The names of what `/metrics` answers, without the prefix and the endings of counters and histograms."""
    monkeypatch.setattr(live_gauges, "KEPT_SECONDS", -1.0)
    settings.METRICS_TOKEN, settings.BACKUP_EVERY_HOURS = "a token", 24
    claim_scheduled_backup(every=dt.timedelta(hours=24))
    note_made_backup()
    page = client.get("/metrics", headers={"Authorization": "Bearer a token"}).text
    close_probes()
    told = {SUFFIX.sub("", name) for name in re.findall(r"^# TYPE windowseat_(\w+)", page, re.MULTILINE)}
    return {name.removesuffix("_created") for name in told} | {f"database_{name}" for name in POOL}


@pytest.mark.prometheus
def test_each_alert_fires_when_it_should_and_not_before(tmp_path):
    for file in (FILE, CASES):
        shutil.copy(file, tmp_path)
    for command in (["check", "rules", FILE.name], ["test", "rules", CASES.name]):
        ran = subprocess.run(["promtool", *command], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_each_alert_is_among_those_that_are_made_to_fire():
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
    fired = {test["alertname"] for case in cases for test in case["alert_rule_test"] if test["exp_alerts"]}
    assert fired == {rule["alert"] for rule in alerts()}


def test_alerts_name_metrics_that_exist(metrics):
    named = {name for rule in alerts() for name in re.findall(r"windowseat_(\w+)", rule["expr"])}
    assert {SUFFIX.sub("", name) for name in named} <= metrics


def test_every_metric_is_in_the_table_and_no_other(metrics):
    assert set(watched()) == metrics


def test_every_alert_has_a_runbook_with_all_its_parts_and_there_is_no_other():
    runbooks = sections("runbooks.md")
    assert set(runbooks) == {rule["alert"] for rule in alerts()}
    for name, runbook in runbooks.items():
        assert tuple(re.findall(r"^\*\*([^*]+)\.\*\*", runbook, re.MULTILINE)) == PARTS, name
