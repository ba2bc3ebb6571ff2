"""Webhooks: which events are stored for which, exact thresholds of budgets, leases, and what is swept."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from chatsite.accounts.models import Limits, SiteBudget
from conversations.models import ApiKey, Completion, Run, Webhook, WebhookDelivery
from conversations.models.completion import Purpose
from conversations.providers.clients.webhooks import WebhookAnswer
from conversations.providers.egress.destinations import EgressRefused
from conversations.runs.claim import claim_runs
from conversations.services.api.api_keys import KeyBounds, make_key, revoke_key
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.replies.end_reply import (
    COMPLETE,
    INTERRUPTED,
    SHUT_OUT,
    Ending,
    EndText,
    end_answered,
    end_reply,
)
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.reasoning import NO_REASONING
from conversations.services.webhooks.budget_events import store_budget_events
from conversations.services.webhooks.deliveries import (
    claim_delivery,
    end_delivery,
    secret_of,
    sweep_webhook_deliveries,
)
from conversations.services.webhooks.webhooks import keep_site_webhook, remove_webhook, send_test, set_webhook
from tests.services.spending import open_row, settle_at
from tests.support.people import begin, make_user, post
from tests.support.webhook_receiver import SECRET

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.org/one"


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def site(settings):
    settings.WEBHOOK_URL, settings.WEBHOOK_SECRET = "http://127.0.0.1:8080/site", SECRET
    keep_site_webhook()
    return Webhook.objects.get(api_key=None)


def hooked(user, **bounds):
    key = make_key(user, name="a program", bounds=KeyBounds(**bounds)).key
    return set_webhook(key, URL).webhook


def ended(user, ending=COMPLETE, *, key=None, finish_reason=None):
    reply = post(begin(user), "Hello").reply
    if key:
        Run.objects.filter(reply=reply).update(api_key=key)
    if finish_reason is not None:
        row = open_row(user, reply=reply, conversation=reply.conversation)
        settle_at(row, 0)
        Completion.objects.filter(pk=row.pk).update(finish_reason=finish_reason)
    end_reply(reply.pk, ending, content="Fine")
    return reply


def told(webhook):
    return [(each.event_type, each.data) for each in webhook.deliveries.order_by("pk")]


def test_a_key_is_told_of_what_it_asked_for_and_the_site_of_all(alice, site):
    own, other = hooked(alice), hooked(make_user("bob"))
    reply = ended(alice, key=own.api_key)
    on_page = ended(alice)
    name = f"resp_{reply.conversation.public_id.hex}{reply.pk:016x}"
    assert told(own) == [("response.completed", {"id": name})]
    assert told(other) == []
    assert [data["id"][-16:] for _, data in told(site)] == [f"{each.pk:016x}" for each in (reply, on_page)]


@pytest.mark.parametrize(
    ("ending", "finish_reason", "event_type"),
    [
        (COMPLETE, "stop", "response.completed"),
        (COMPLETE, "tool_calls", "response.completed"),
        (COMPLETE, " MAX_TOKENS", "response.incomplete"),
        (COMPLETE, "content_filter", "response.incomplete"),
        (SHUT_OUT, "length", "response.cancelled"),
        (INTERRUPTED, None, "response.failed"),
        (Ending("failed", "provider_unreachable"), "length", "response.failed"),
    ],
)
def test_the_event_says_how_it_ended(alice, site, ending, finish_reason, event_type):
    ended(alice, ending, finish_reason=finish_reason)
    assert [kind for kind, _ in told(site)] == [event_type]


@pytest.mark.parametrize(("finish_reason", "kind"), [("stop", "completed"), (" MAX_TOKENS", "incomplete")])
def test_so_does_that_of_an_answer_which_ends_before_its_request_is_settled(alice, site, finish_reason, kind):
    posted = post(begin(alice), "Hello")
    claim_runs("worker", limit=1)
    prepared = prepare_reply(posted.reply.pk)
    row = open_row(alice, reply=posted.reply, conversation=posted.reply.conversation)
    end = partial(end_answered, prepared.reply, EndText("Fine", 1), NO_REASONING, context=prepared.model, attempt=1)
    settle_completion(row, Outcome(finish_reason=finish_reason), end=partial(end, finish_reason=finish_reason))
    assert [each for each, _ in told(site)] == [f"response.{kind}"]


def test_an_event_is_stored_with_the_end_or_not_at_all(alice, site):
    reply = post(begin(alice), "Hello").reply
    with transaction.atomic():
        assert end_reply(reply.pk, COMPLETE, content="Fine")
        assert WebhookDelivery.objects.count() == 1
        transaction.set_rollback(True)
    assert WebhookDelivery.objects.count() == 0
    assert end_reply(reply.pk, COMPLETE, content="Fine")
    assert not end_reply(reply.pk, COMPLETE, content="Fine")
    assert WebhookDelivery.objects.count() == 1


def test_one_that_is_switched_off_or_removed_is_told_nothing(alice, site, settings):
    own = hooked(alice)
    Webhook.objects.filter(pk=site.pk).update(disabled_at=timezone.now())
    remove_webhook(own.api_key)
    ended(alice, key=own.api_key)
    assert WebhookDelivery.objects.count() == 0
    settings.WEBHOOK_URL = ""
    keep_site_webhook()
    assert Webhook.objects.count() == 0


def block(webhook):
    webhook.api_key.owner.is_active = False
    webhook.api_key.owner.save()


def end_key(webhook):
    ApiKey.objects.filter(pk=webhook.api_key_id).update(ends_at=timezone.now())


@pytest.mark.parametrize("close", [lambda webhook: revoke_key(webhook.api_key), end_key, block])
def test_a_key_that_opens_nothing_any_more_is_told_nothing(alice, close):
    webhook = hooked(alice, money_per_day_usd=Decimal("0.000001"))
    ended(alice, key=webhook.api_key)
    row = open_row(alice)
    Completion.objects.filter(pk=row.pk).update(api_key=webhook.api_key)
    settle_at(row, 1)
    close(webhook)
    assert store_budget_events() == 1
    assert [kind for kind, _ in told(webhook)] == ["response.completed"]
    assert claim_delivery() is None
    kept = webhook.deliveries.get()
    assert (kept.due_at, kept.lease_until, kept.error) == (None, None, "key_over")


@pytest.mark.parametrize("url", ["http://hooks.example.org/", "https://127.0.0.1/", "https://10.1.2.3/", "x"])
def test_an_address_inside_is_refused_and_stores_nothing(alice, url):
    key = make_key(alice, name="a program").key
    with pytest.raises(EgressRefused):
        set_webhook(key, url)
    assert Webhook.objects.count() == 0


def test_a_secret_is_stored_sealed_and_stays_with_another_address(alice):
    key = make_key(alice, name="a program").key
    made = set_webhook(key, URL)
    assert made.secret == secret_of(made.webhook)
    assert made.secret not in made.webhook.sealed_secret
    moved = set_webhook(key, "https://hooks.example.org/two")
    assert (moved.webhook.pk, moved.secret, secret_of(moved.webhook)) == (made.webhook.pk, None, made.secret)
    assert set_webhook(key, URL, new_secret=True).secret != made.secret


def test_one_that_can_t_be_signed_any_more_says_so(alice, settings):
    webhook = hooked(alice)
    send_test(webhook)
    settings.SECRET_KEY = "another"
    assert claim_delivery() is None
    assert webhook.deliveries.get().error == "secret_lost"


# Leases


def test_a_claim_is_over_with_its_lease_and_the_first_may_not_end_the_second(alice):
    webhook = hooked(alice)
    send_test(webhook)
    first = claim_delivery()
    assert claim_delivery() is None
    webhook.deliveries.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    second = claim_delivery()
    assert (second.id, second.attempt, second.body) == (first.id, 2, first.body)
    end_delivery(first, WebhookAnswer(500, "status"))
    assert webhook.deliveries.get().lease_until is not None
    end_delivery(second, WebhookAnswer(200))
    assert webhook.deliveries.get().delivered_at is not None


def test_what_is_old_is_swept(alice):
    webhook = hooked(alice)
    send_test(webhook)
    send_test(webhook)
    assert sweep_webhook_deliveries() == 0
    webhook.deliveries.update(created_at=timezone.now() - dt.timedelta(days=8))
    assert sweep_webhook_deliveries() == 1
    assert not webhook.deliveries.exists()


# Budgets


def spend(user, usd, **fields):
    settle_at(open_row(user, worst_usd=Decimal(usd), **fields), usd)


def reached(webhook):
    Webhook.objects.update(budgets_checked_at=None)
    assert store_budget_events()
    return [(data["budget"], data["period"], data["percent"]) for _, data in told(webhook) if "percent" in data]


def test_thresholds_are_exact_and_told_once(alice):
    webhook = hooked(alice)
    Limits.objects.create(user=alice, money_per_day_usd=Decimal(10))
    spend(alice, "7.999999")
    assert reached(webhook) == []
    spend(alice, "0.000001")
    assert reached(webhook) == [("user", "day", 80)]
    spend(alice, "1.999999")
    assert reached(webhook) == [("user", "day", 80)]
    spend(alice, "0.000001")
    for _ in range(2):
        assert reached(webhook) == [("user", "day", 80), ("user", "day", 100)]
    [*_, (_, data)] = told(webhook)
    assert (data["limit_usd"], data["spent_usd"]) == ("10", "10")


def test_what_is_reserved_is_not_spent(alice):
    webhook = hooked(alice)
    Limits.objects.create(user=alice, money_per_day_usd=Decimal(10))
    open_row(alice, worst_usd=Decimal(9))
    assert reached(webhook) == []


def test_a_key_s_own_allowance_counts_its_own_requests(alice):
    webhook = hooked(alice, money_per_month_usd=Decimal(1))
    spend(alice, "5")
    assert reached(webhook) == []
    spend(alice, "0.8", purpose=Purpose.API, api_key_id=webhook.api_key_id)
    assert reached(webhook) == [("key", "month", 80)]


def test_a_key_s_allowance_is_told_of_though_its_day_ended_a_moment_ago(alice, monkeypatch):
    webhook = hooked(alice, money_per_day_usd=Decimal(1))
    spend(alice, "1", purpose=Purpose.API, api_key_id=webhook.api_key_id)
    tomorrow = timezone.now().replace(hour=0, minute=30) + dt.timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    assert reached(webhook) == [("key", "day", 80), ("key", "day", 100)]


def test_the_site_s_budget_is_the_site_s_alone(alice, site):
    own = hooked(alice)
    SiteBudget.objects.create(money_per_month_usd=Decimal(10))
    spend(alice, "10")
    assert sorted(reached(site)) == [("site", "month", 80), ("site", "month", 100)]
    assert reached(own) == []


def test_a_limit_that_was_raised_is_told_of_again(alice):
    webhook = hooked(alice)
    limits = Limits.objects.create(user=alice, money_per_day_usd=Decimal(10))
    spend(alice, "9")
    assert reached(webhook) == [("user", "day", 80)]
    limits.money_per_day_usd = Decimal(11)
    limits.save()
    assert reached(webhook) == [("user", "day", 80)] * 2


def test_nothing_is_told_of_a_limit_of_nothing(alice):
    webhook = hooked(alice)
    Limits.objects.create(user=alice, money_per_day_usd=Decimal(0))
    assert reached(webhook) == []


def test_they_are_compared_a_few_times_a_minute(alice):
    hooked(alice)
    assert store_budget_events() == 1
    assert store_budget_events() == 0
