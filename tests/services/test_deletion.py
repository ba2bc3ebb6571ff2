"""Deleting conversations, restoring them, and deleting them permanently before their time or by sweeps."""

from __future__ import annotations

import datetime as dt
import json
import uuid

import pytest
from django.utils import timezone

from conversations.core.errors import ConversationNotFound
from conversations.models import Completion, Conversation, Message, Run
from conversations.selectors.conversations.deleted_conversations import list_deleted_conversations
from conversations.services.conversations import deletion, deletion_state
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.deletion import (
    delete_conversation,
    delete_permanently,
    restore_conversation,
    sweep_deleted_conversations,
)
from tests.support.people import begin, make_user, post, post_answered

pytestmark = pytest.mark.django_db
LONG_AGO = dt.timedelta(days=31)


@pytest.fixture
def alice():
    return make_user("alice")


def test_all_pages_of_its_owner_hear_that_it_is_deleted_or_back_and_how_long_that_can_be_undone(
    alice, monkeypatch, django_capture_on_commit_callbacks
):
    told = []
    monkeypatch.setattr(deletion_state, "publish", lambda topic, payload: told.append((topic, json.loads(payload))))
    conversation = begin(alice)
    with django_capture_on_commit_callbacks(execute=True):
        delete_conversation(conversation)
        restore_conversation(user=alice, public_id=conversation.public_id)
        delete_conversation(conversation)
        Conversation.objects.update(deleted_at=timezone.now() - LONG_AGO)
        sweep_deleted_conversations()
    assert {topic for topic, _ in told} == {f"user.{alice.pk}"}
    assert {(frame["type"], frame["conversation"]) for _, frame in told} == {
        ("conversation.deleted", str(conversation.public_id))
    }
    news = [(frame["deleted"], frame["can_be_undone"]) for _, frame in told]
    assert news == [(True, True), (False, False), (True, True), (True, False)]


def test_what_is_deleted_can_be_brought_back(alice):
    conversation = begin(alice)
    delete_conversation(conversation)
    restore_conversation(user=alice, public_id=conversation.public_id)
    conversation.refresh_from_db()
    assert conversation.deleted_at is None


def test_what_is_deleted_can_be_restored_for_as_many_days_as_the_setting_says(alice, settings):
    settings.DELETED_CONVERSATION_DAYS = 3
    conversation = begin(alice)
    delete_conversation(conversation)
    for days, is_there in ((2, True), (4, False)):
        Conversation.objects.update(deleted_at=timezone.now() - dt.timedelta(days=days))
        assert bool(list_deleted_conversations(alice)) is is_there
        assert sweep_deleted_conversations() == (0 if is_there else 1)


def test_what_is_removed_before_its_time_is_gone_with_its_words(alice):
    kept, gone, there = begin(alice), begin(alice), begin(alice)
    post_answered(gone)
    for conversation in (kept, gone):
        delete_conversation(conversation)
    bob = make_user("bob")
    with pytest.raises(ConversationNotFound):
        delete_permanently(bob, gone.public_id)
    with pytest.raises(ConversationNotFound):
        delete_permanently(alice, there.public_id)
    delete_permanently(bob)
    assert len(list_deleted_conversations(alice)) == 2
    delete_permanently(alice, gone.public_id)
    assert list_deleted_conversations(alice) == [kept]
    assert not Message.objects.exists()
    delete_permanently(alice)
    assert set(Conversation.objects.all()) == {there}


def test_of_many_that_are_removed_none_can_be_restored_though_their_rows_wait_for_the_sweep(alice, monkeypatch):
    monkeypatch.setattr(deletion, "DELETED_AT_ONCE", 1)
    both = [begin(alice), begin(alice)]
    for conversation in both:
        delete_conversation(conversation)
    delete_permanently(alice)
    assert list_deleted_conversations(alice) == []
    [waiting] = Conversation.objects.all()
    with pytest.raises(ConversationNotFound):
        restore_conversation(user=alice, public_id=waiting.public_id)
    assert sweep_deleted_conversations() == 1


def test_one_with_a_reply_that_is_being_stopped_waits_for_the_sweep(alice):
    conversation = begin(alice)
    post(conversation, "Hello")
    Run.objects.update(state="running", lease_until=timezone.now())
    delete_conversation(conversation)
    delete_permanently(alice)
    assert list_deleted_conversations(alice) == []
    assert Conversation.objects.count() == (1 if Message.objects.filter(state="streaming").exists() else 0)


def test_a_temporary_one_that_is_deleted_is_not_shown(alice):
    conversation = start_conversation(user=alice, public_id=uuid.uuid4(), temporary=True)
    delete_conversation(conversation)
    assert list_deleted_conversations(alice) == []


def test_no_one_brings_back_what_is_another_users(alice):
    conversation = begin(alice)
    delete_conversation(conversation)
    with pytest.raises(ConversationNotFound):
        restore_conversation(user=make_user("charlie"), public_id=conversation.public_id)


def test_what_was_deleted_long_ago_is_swept_and_the_ledger_stays(alice):
    conversation = begin(alice)
    reply = post_answered(conversation).reply
    Completion.objects.create(
        user=alice, conversation=conversation, reply=reply, language_model="m", window={}, estimated_input_tokens=7
    )
    delete_conversation(conversation)
    assert sweep_deleted_conversations() == 0
    Conversation.objects.update(deleted_at=timezone.now() - LONG_AGO)
    assert sweep_deleted_conversations() == 1
    assert not Message.objects.exists()
    completion = Completion.objects.get()
    assert (completion.user, completion.conversation, completion.reply) == (alice, None, None)
