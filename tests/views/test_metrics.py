"""The page of metrics: for who has the token alone, with what this process counted and the site's gauges."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import pytest
from django.utils import timezone

from chatsite.health.database_probe import NO_ANSWER, DatabaseCheck
from chatsite.health.probe import Finding
from chatsite.health.readiness import close_probes
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion, Run, WorkerHeartbeat
from conversations.runs.claim import claim_runs
from conversations.runs.heartbeat import beat
from conversations.runs.reaper import reap_once
from conversations.selectors.figures import live_gauges
from conversations.services.backups.backup_schedule import (
    claim_scheduled_backup,
    note_failed_backup,
    note_made_backup,
)
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
TOKEN = "a token of the operator"


@pytest.fixture(autouse=True)
def fresh_gauges(monkeypatch):
    monkeypatch.setattr(live_gauges, "KEPT_SECONDS", -1.0)
    yield
    close_probes()


@pytest.fixture
def figures(client, settings):
    """A function that returns the metrics by name, with labels."""
    settings.METRICS_TOKEN = TOKEN

    def scrape():
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].endswith("charset=utf-8")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return {name: float(value) for name, value in re.findall(r"^(windowseat\S+) (\S+)$", answer.text, re.M)}

    return scrape


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", "Bearer tökén"])
def test_without_the_token_there_is_no_such_page(client, settings, header):
    assert client.get("/metrics", headers={"Authorization": header}).status_code == 404
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics", headers={"Authorization": header}).status_code == 404


def test_the_age_of_the_newest_scheduled_backup_is_told(figures, settings):
    settings.BACKUP_EVERY_HOURS = 1
    assert not [name for name in figures() if "backup" in name]
    claim_scheduled_backup(every=dt.timedelta(hours=1))
    note_failed_backup("no room")
    assert {name: value for name, value in figures().items() if "backup" in name} == {"windowseat_backup_failed": 1}
    note_made_backup()
    found = figures()
    assert found["windowseat_backup_failed"] == 0
    assert 0 <= found["windowseat_backup_age_seconds"] < 100
    settings.BACKUP_EVERY_HOURS = 0  # what is not made has no age to be alarmed by
    assert not [name for name in figures() if "backup" in name]


def test_a_site_that_is_not_ready_says_so_though_the_database_can_be_read(figures, monkeypatch):
    assert figures()["windowseat_ready"] == 1
    monkeypatch.setattr(DatabaseCheck, "look", lambda check: Finding("down", "the database's disk is full"))
    close_probes()
    found = figures()
    assert (found["windowseat_ready"], found["windowseat_queue_age_seconds"]) == (0, 0)


def test_a_database_that_does_not_answer_is_not_waited_for_by_a_scrape(figures, monkeypatch):
    monkeypatch.setattr(DatabaseCheck, "look", lambda check: NO_ANSWER)
    monkeypatch.setattr(live_gauges, "_read_gauges", lambda: pytest.fail("it was asked"))
    close_probes()
    found = figures()
    assert found["windowseat_ready"] == 0
    assert "windowseat_queue_age_seconds" not in found


def test_each_way_that_a_reply_ends_is_counted_from_0_on(figures):
    states = ("complete", "stopped", "interrupted", "failed")
    assert {f'windowseat_replies_ended_total{{state="{state}"}}' for state in states} <= set(figures())


def test_runs_and_their_ages_are_told(figures):
    before = figures()
    reply = post(begin(make_user("alice")), "Hello").reply
    Run.objects.filter(reply=reply).update(waiting_since=timezone.now() - dt.timedelta(seconds=40))
    waiting = figures()
    assert waiting['windowseat_runs{state="waiting"}'] == before['windowseat_runs{state="waiting"}'] + 1
    assert 40 <= waiting["windowseat_queue_age_seconds"] < 140
    claim_runs("here", limit=1)
    running = figures()
    assert running['windowseat_runs{state="running"}'] == before['windowseat_runs{state="running"}'] + 1
    assert running["windowseat_queue_age_seconds"] == 0
    assert running["windowseat_lease_over_seconds"] < 0


def test_workers_are_counted_by_their_heartbeats(figures):
    assert figures()["windowseat_workers_alive"] == 0
    beat("one"), beat("silent")
    WorkerHeartbeat.objects.filter(pk="silent").update(seen_at=timezone.now() - dt.timedelta(seconds=11))
    assert figures()["windowseat_workers_alive"] == 1


def test_money_that_is_held_and_what_a_provider_reports_are_told(figures):
    before = figures()
    reply = post(begin(make_user("alice")), "Hello").reply
    row = open_for(prepare_reply(reply.pk), prices=UnitPrices(Decimal(1), Decimal(2)))
    assert figures()["windowseat_reserved_usd"] > before["windowseat_reserved_usd"]
    settle_completion(row, Outcome(text="Hi", usage=Usage(60, 10, cached_input_tokens=40, reasoning_tokens=4)))
    after = figures()
    assert after["windowseat_reserved_usd"] == before["windowseat_reserved_usd"]
    kinds = {"input": 60, "cached_input": 40, "output": 10, "reasoning": 4}
    grown = {name: after[name] - before.get(name, 0) for name in after if "_tokens_" in name or "spent_usd_t" in name}
    assert {kind: grown[f'windowseat_tokens_total{{kind="{kind}"}}'] for kind in kinds} == kinds
    assert grown["windowseat_spent_usd_total"] == pytest.approx((60 + 2 * 10) / 1_000_000)
    ratio = after["windowseat_input_estimate_ratio_sum"] - before.get("windowseat_input_estimate_ratio_sum", 0)
    assert ratio == pytest.approx(60 / row.estimated_input_tokens)


def test_a_settled_request_and_a_lease_that_is_over_are_counted(figures, django_capture_on_commit_callbacks):
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("dead", limit=1)
    open_for(prepare_reply(reply.pk))
    before = figures()
    settle_completion(Completion.objects.get(), Outcome(text="Hello to you", time_to_first_token_seconds=0.7))
    Run.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    with django_capture_on_commit_callbacks(execute=True):
        reap_once()
    after = figures()

    def grown(name):
        return after[name] - before.get(name, 0)

    assert grown('windowseat_tokens_total{kind="output"}') > 0
    assert grown("windowseat_first_token_seconds_count") == 1
    assert grown('windowseat_provider_requests_total{error_code="",purpose="reply"}') == 1
    assert grown("windowseat_leases_over_total") == 1
