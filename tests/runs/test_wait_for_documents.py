"""A question that is asked while its documents are still being read waits for them, and for nothing else."""

from __future__ import annotations

import pytest

from conversations.live import fanout
from conversations.models import Completion, Document, Message, Run
from conversations.runs.indexer import Indexer
from conversations.runs.worker import Worker
from conversations.services.documents.documents import add_document
from conversations.services.grounding import wait_for_documents as waiting
from conversations.services.replies.stop_reply import stop_reply
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NOTES = b"The night train to Bergen leaves at ten."


@pytest.fixture(autouse=True)
def for_as_long_as_it_takes(monkeypatch, provider):
    """Nothing is looked at by the clock: only what is heard ends the waiting."""
    monkeypatch.setattr(waiting, "MOST_SECONDS", 10 * PATIENCE_SECONDS)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 10 * PATIENCE_SECONDS)
    provider("ok")


def ask_of_new_document(name="alice"):
    conversation = begin(make_user(name))
    add_document(user=conversation.owner, place=conversation, name="trains.txt", content=NOTES)
    return post(conversation, "When does the night train leave?")


async def waits(count=1):
    await wait_until(lambda: len(fanout._subscribers.get(fanout.DOCUMENTS_READ, ())) == count)


async def ended(reply):
    return await wait_until(lambda: Message.objects.filter(pk=reply.pk).exclude(state="streaming").first())


async def look_up_of(reply):
    return (await in_thread(Completion.objects.get, reply=reply)).window["grounding"]


async def test_it_is_answered_from_what_has_been_read_meanwhile(worker):
    posted = await in_thread(ask_of_new_document)
    await waits()
    indexer = Indexer()
    await indexer.start()
    assert (await ended(posted.reply)).state == "complete"
    await indexer.drain()
    grounding = await look_up_of(posted.reply)
    assert grounding["look_up"] | {"documents": 1, "pending_documents": 0} == grounding["look_up"]
    assert len(grounding["included"]) == 1


async def test_what_another_process_reads_is_asked_for(worker, monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.01)
    posted = await in_thread(ask_of_new_document)
    await waits()
    await in_thread(Document.objects.update, state="failed")
    assert (await ended(posted.reply)).state == "complete"
    assert (await look_up_of(posted.reply))["look_up"] is None


async def test_after_some_seconds_it_is_answered_without_them_and_says_so(worker, monkeypatch):
    monkeypatch.setattr(waiting, "MOST_SECONDS", 0.05)
    posted = await in_thread(ask_of_new_document)
    assert (await ended(posted.reply)).state == "complete"
    assert (await look_up_of(posted.reply))["look_up"]["pending_documents"] == 1


async def test_stop_ends_the_waiting_at_once_and_nothing_is_sent(worker, upstream):
    posted = await in_thread(ask_of_new_document)
    await waits()
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=posted.reply.pk)
    assert (await ended(posted.reply)).state == "stopped"
    await waits(0)
    assert not await in_thread(Completion.objects.exists)
    assert upstream.log() == []


async def test_those_that_wait_hold_up_no_other_reply_and_no_shut_down(transactional_db):
    worker = Worker()
    await worker.start()
    waiting_replies = [(await in_thread(ask_of_new_document, f"waits{number}")).reply for number in range(6)]
    await waits(len(waiting_replies))
    other = await in_thread(lambda: post(begin(make_user("bob")), "Hello").reply)
    assert (await ended(other)).state == "complete"
    await worker.drain(timeout_seconds=0)
    runs = await in_thread(lambda: list(Run.objects.filter(reply__in=waiting_replies)))
    assert [run.state for run in runs] == ["waiting"] * len(waiting_replies)  # left to another worker
    await waits(0)
