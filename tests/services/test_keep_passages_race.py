"""A document that is deleted while its passages are kept with a question."""

from __future__ import annotations

import asyncio
import threading

import pytest
from django.db import transaction

from conversations.core.documents.fusion import Candidate, Fused
from conversations.models import Message
from conversations.services.documents.documents import delete_document
from conversations.services.grounding.keep_passages import keep_passages
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_for_lock_waits, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "The canary sleeps at noon."


def ask_about_a_document():
    conversation = begin(make_user("alice"))
    document = store_document(conversation, [CANARY])
    return document, post(conversation, "When does the canary sleep?").message


def hold(message, held: threading.Event, release: threading.Event) -> None:
    with transaction.atomic():
        Message.objects.select_for_update().get(pk=message.pk)
        held.set()
        release.wait()


async def test_it_leaves_no_words_in_the_question():
    document, message = await in_thread(ask_about_a_document)
    found = [Fused(Candidate(1, str(document.public_id), "guide.md", CANARY, 1.0), 1.0)]
    held, release = threading.Event(), threading.Event()
    holding = asyncio.ensure_future(in_thread(hold, message, held, release))
    try:
        await wait_until(held.is_set)
        keeping = asyncio.ensure_future(in_thread(keep_passages, message.pk, found))
        await in_thread(wait_for_lock_waits, 1)  # it has the document, and waits for the message
        deleting = asyncio.ensure_future(in_thread(delete_document, document))
        await in_thread(wait_for_lock_waits, 2)
    finally:
        release.set()
    await asyncio.gather(holding, keeping, deleting)
    [entry] = (await in_thread(Message.objects.get, pk=message.pk)).grounding
    assert entry["text"] == ""
