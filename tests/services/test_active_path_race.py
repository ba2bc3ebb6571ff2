"""Races for the active path: a request that waited for the conversation's lock reads what the other has stored."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from conversations.models import Conversation, Message, Scenario
from conversations.services.conversations.conversations import choose_scenario
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post
from tests.support.waiting import PATIENCE_SECONDS, wait_for_lock_waits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


def posted_meanwhile(conversation, changes) -> Message:
    """Return a message that waits for the lock of the conversation until *changes* are stored."""

    def closing():
        try:
            return post(Conversation.objects.get(pk=conversation.pk), "Row 7")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            changes()
            posting = crew.submit(closing)
            wait_for_lock_waits()
        return posting.result(timeout=PATIENCE_SECONDS).message


def test_a_message_follows_the_version_that_is_shown_meanwhile(conversation):
    first = post(conversation, "Row 5")
    end_reply(first.reply.pk, COMPLETE, content="Five.")
    edited = edit_message(
        user=conversation.owner,
        conversation=conversation,
        message_id=first.message.pk,
        content="Row 6",
        client_id=uuid.uuid4(),
    )
    end_reply(edited.reply.pk, COMPLETE, content="Six.")
    back = {"conversation": conversation, "message_id": first.message.pk}
    assert posted_meanwhile(conversation, lambda: switch_version(**back)).parent_id == first.reply.pk


def test_a_message_is_stored_whatever_scenario_is_chosen_meanwhile(conversation):
    other = Scenario.objects.create(name="Other", owner=conversation.owner)
    choice = {"user": conversation.owner, "scenario_id": other.pk}
    assert posted_meanwhile(conversation, lambda: choose_scenario(conversation, **choice)).content == "Row 7"
