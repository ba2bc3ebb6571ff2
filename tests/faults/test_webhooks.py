"""Webhooks of a real site whose processes are killed: each event comes, with the same id when it comes again."""

from __future__ import annotations

import json
from contextlib import contextmanager

import openai
import pytest

from tests.support.patience import wait_for
from tests.support.webhook_receiver import SECRET, serve_receiver

# What time does otherwise.
LATER = "UPDATE conversations_webhookdelivery SET lease_until = now() WHERE lease_until IS NOT NULL"
DELIVERED = "SELECT count(*) FROM conversations_webhookdelivery WHERE delivered_at IS NOT NULL"


@pytest.fixture
def receiver():
    with serve_receiver() as running:
        yield running


@contextmanager
def told(new_site, receiver):
    """A site without Redis whose web process makes no replies, and that tells *receiver* of each reply."""
    site = new_site(RUN_WORKER="off", WEBHOOK_URL=receiver.url, WEBHOOK_SECRET=SECRET)
    site.serve()
    yield site


def test_an_event_survives_the_process_that_was_to_send_it(new_site, receiver):
    with told(new_site, receiver) as site:
        receiver.fault = "hang"
        worker = site.run_worker()
        wait_for(lambda: site.database.value("SELECT count(*) FROM conversations_webhook"), "the address is stored")
        reply = site.ask(site.open_page(), "ok")
        site.wait_for_end(reply)
        wait_for(lambda: receiver.received, "the event was sent")
        worker.kill()
        assert site.database.value(DELIVERED) == 0
        receiver.fault = ""
        site.database.rows(LATER)
        site.run_worker()
        site.run_worker()
        wait_for(lambda: site.database.value(DELIVERED), "the event was delivered")
        assert len(receiver.received) == 2
        assert len(set(receiver.ids)) == 1
        client = openai.OpenAI(api_key="none", webhook_secret=SECRET)
        event = client.webhooks.unwrap(receiver.received[-1].body, receiver.received[-1].headers)
        assert (event.type, event.data.id[-16:]) == ("response.completed", f"{reply:016x}")


def test_replies_do_not_wait_for_a_receiver_that_never_answers(new_site, receiver):
    with told(new_site, receiver) as site:
        receiver.fault = "hang"
        site.run_worker()
        wait_for(lambda: site.database.value("SELECT count(*) FROM conversations_webhook"), "the address is stored")
        page = site.open_page()
        replies = []
        for _ in range(6):
            replies.append(site.ask(page, "ok"))
            assert site.wait_for_end(replies[-1])["state"] == "complete"
        wait_for(lambda: len(receiver.received) >= 4, "as many as may be are being sent")
        assert site.database.value(DELIVERED) == 0
        ids = {json.loads(each.body)["data"]["id"][-16:] for each in receiver.received}
        assert ids <= {f"{each:016x}" for each in replies}
        receiver.released.set()
