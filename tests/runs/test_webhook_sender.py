"""The webhook sender with a real receiver: events of replies and budgets, repetitions, and one that is gone."""

from __future__ import annotations

import asyncio
import datetime as dt
import json

import openai
import pytest
from django.utils import timezone

from conversations.core.api.webhook_events import RETRY_SECONDS
from conversations.models import Webhook, WebhookDelivery
from conversations.runs.webhook_sender import WebhookSender
from conversations.services.api.api_keys import make_key
from conversations.services.replies.end_reply import COMPLETE, STOPPED, end_reply
from conversations.services.webhooks.webhooks import send_test, set_webhook
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_in_loop, wait_until
from tests.support.webhook_receiver import SECRET, serve_receiver

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver():
    with serve_receiver() as running:
        yield running


@pytest.fixture(autouse=True)
def hosts(settings):
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]


@pytest.fixture
def site_webhook(settings, receiver):
    settings.WEBHOOK_URL, settings.WEBHOOK_SECRET = receiver.url, SECRET


@pytest.fixture
async def sender(transactional_db):
    sender = WebhookSender()
    await sender.start()
    yield sender
    await sender.drain()


def hook(receiver, name="alice"):
    return set_webhook(make_key(make_user(name), name="a program").key, receiver.url)


def events(receiver):
    return [json.loads(each.body) for each in receiver.received]


async def test_a_test_event_is_verified_by_the_openai_package(sender, receiver):
    made = await in_thread(hook, receiver)
    await in_thread(send_test, made.webhook)
    await wait_in_loop(lambda: receiver.received)
    [sent] = receiver.received
    client = openai.OpenAI(api_key="none", webhook_secret=made.secret)
    assert client.webhooks.unwrap(sent.body, sent.headers).type == "windowseat.webhook.test"
    stored = await wait_until(lambda: WebhookDelivery.objects.filter(due_at=None).first())
    assert (stored.status, stored.attempt, stored.error) == (204, 1, "")
    assert stored.delivered_at is not None


async def test_the_site_is_told_of_each_reply(site_webhook, sender, receiver):
    await wait_until(Webhook.objects.exists)

    def ask(ending):
        conversation = begin(make_user(f"alice{ending.state}"))
        reply = post(conversation, "Secret words").reply
        end_reply(reply.pk, ending, content="More secret words")
        return f"resp_{conversation.public_id.hex}{reply.pk:016x}"

    completed, cancelled = await in_thread(ask, COMPLETE), await in_thread(ask, STOPPED)
    await wait_in_loop(lambda: len(receiver.received) == 2)
    assert {each["data"]["id"]: each["type"] for each in events(receiver)} == {
        completed: "response.completed",
        cancelled: "response.cancelled",
    }
    client = openai.OpenAI(api_key="none", webhook_secret=SECRET)
    assert {client.webhooks.unwrap(each.body, each.headers).data.id for each in receiver.received} == {
        completed,
        cancelled,
    }
    assert b"ecret" not in b"".join(each.body for each in receiver.received)


async def test_one_that_fails_is_told_in_the_log_and_tried_again_with_the_same_id(sender, receiver, caplog):
    receiver.fault = "status-500"
    made = await in_thread(hook, receiver)
    await in_thread(send_test, made.webhook)
    failed = await wait_until(lambda: WebhookDelivery.objects.filter(attempt=1, lease_until=None).first())
    assert (failed.status, failed.error) == (500, "status")
    [line] = await wait_until(lambda: [record for record in caplog.records if "did not arrive" in record.message])
    assert (line.levelname, line.reason) == ("WARNING", "status")
    assert 5 <= (failed.due_at - failed.tried_at).total_seconds() < 7
    receiver.fault = ""
    await in_thread(WebhookDelivery.objects.update, due_at=timezone.now())
    done = await wait_until(lambda: WebhookDelivery.objects.filter(due_at=None).first())
    assert (done.attempt, done.status) == (2, 204)
    assert len(receiver.received) == 2
    assert len(set(receiver.ids)) == 1
    assert receiver.received[0].body == receiver.received[1].body


async def test_it_is_given_up_after_a_day(sender, receiver):
    receiver.fault = "status-503"
    made = await in_thread(hook, receiver)
    await in_thread(send_test, made.webhook)
    for attempt in range(1, len(RETRY_SECONDS) + 2):
        tried = WebhookDelivery.objects.filter(attempt=attempt, lease_until=None)
        stored = await wait_until(tried.first)
        if stored.due_at is not None:
            await in_thread(tried.update, due_at=timezone.now())
    assert attempt == len(receiver.received) == len(RETRY_SECONDS) + 1
    assert (stored.due_at, stored.delivered_at, stored.error) == (None, None, "status")


async def test_one_that_is_gone_is_sent_nothing_more_until_a_test(sender, receiver):
    receiver.fault = "status-410"
    made = await in_thread(hook, receiver)
    later = timezone.now() + dt.timedelta(hours=1)
    waits = await in_thread(
        WebhookDelivery.objects.create, webhook=made.webhook, event_type="x", created_at=later, due_at=later
    )
    await in_thread(send_test, made.webhook)
    await wait_until(lambda: Webhook.objects.filter(disabled_at__isnull=False).exists())
    await wait_until(lambda: WebhookDelivery.objects.filter(pk=waits.pk, due_at=None, error="disabled").exists())
    receiver.fault = ""
    await in_thread(send_test, made.webhook)
    await wait_until(lambda: WebhookDelivery.objects.filter(delivered_at__isnull=False).exists())
    assert not await in_thread(Webhook.objects.filter(disabled_at__isnull=False).exists)


async def test_one_that_never_answers_keeps_no_other_waiting(sender, receiver):
    with serve_receiver() as slow:
        slow.fault = "hang"
        held = await in_thread(hook, slow, "mallory")
        now = timezone.now()
        rows = [WebhookDelivery(webhook=held.webhook, event_type="x", created_at=now, due_at=now) for _ in range(40)]
        await in_thread(WebhookDelivery.objects.bulk_create, rows)
        await wait_in_loop(lambda: len(slow.received) >= 4)
        made = await in_thread(hook, receiver)
        await in_thread(send_test, made.webhook)
        await wait_in_loop(lambda: receiver.received)
        assert slow.most_at_once == 4
        slow.released.set()


async def test_several_processes_never_send_one_event_twice(sender, receiver):
    others = [WebhookSender() for _ in range(2)]
    for other in others:
        await other.start()
    made = await in_thread(hook, receiver)
    now = timezone.now()
    rows = [WebhookDelivery(webhook=made.webhook, event_type="x", created_at=now, due_at=now) for _ in range(60)]
    await in_thread(WebhookDelivery.objects.bulk_create, rows)
    await wait_until(lambda: not WebhookDelivery.objects.filter(due_at__isnull=False).exists())
    assert len(receiver.ids) == len(set(receiver.ids)) == 60
    await asyncio.gather(*(other.drain() for other in others))
