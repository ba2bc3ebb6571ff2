"""An account that is deleted while a reply to it streams: the stream ends, and its usage is settled without a user."""

from __future__ import annotations

import logging

import pytest

from conversations.models import Completion, LedgerSum, Message
from conversations.services.portability.delete_account import delete_account
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_stream_ends_and_its_amounts_stay(worker, provider, upstream, caplog):
    provider("endless")
    alice = await in_thread(make_user, "alice")
    reply = (await in_thread(lambda: post(begin(alice), "Hello"))).reply
    await wait_until(lambda: Message.objects.get(pk=reply.pk).content)
    with caplog.at_level(logging.ERROR):
        await in_thread(delete_account, alice)
        assert upstream.wait_until_ended()["ended"] == "disconnected"
        completion = await wait_until(Completion.objects.exclude(ended_at=None).first)
        await wait_until(lambda: not worker._active)
    assert (completion.user_id, completion.conversation_id, completion.reply_id) == (None, None, None)
    assert completion.cost_usd > 0
    assert await in_thread(LedgerSum.objects.values_list("user", "cost_usd").get) == (None, completion.cost_usd)
    assert not caplog.records
