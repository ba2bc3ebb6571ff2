from __future__ import annotations

import datetime as dt
import json
import uuid

import pytest
from django.utils import timezone
from django.utils.translation import override

from conversations.core.errors import ConversationNotFound, MessageTooLong, NothingToRegenerate, ScenarioNotFound
from conversations.models import Completion, Conversation, Message, Run, Scenario
from conversations.models.scenario import WITH_TOOLS
from conversations.selectors.conversations.deleted_conversations import list_deleted_conversations
from conversations.services.conversations import conversations
from conversations.services.conversations.conversations import (
    BUILT_IN_TOOLS,
    choose_scenario,
    default_scenario,
    delete_conversation,
    remove_deleted_conversations,
    rename_conversation,
    restore_conversation,
    start_conversation,
    sweep_deleted_conversations,
)
from conversations.services.messages.post_message import title_from
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
LONG_AGO = dt.timedelta(days=31)


@pytest.fixture
def alice():
    return make_user("alice")


def answered(conversation, content="Hello"):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content="Hi")
    conversation.refresh_from_db()
    return posted.reply


def test_beginning_the_same_conversation_twice_begins_one(alice):
    public_id = uuid.uuid4()
    first, second = (start_conversation(user=alice, public_id=public_id) for _ in range(2))
    assert first == second


def test_there_is_one_default_scenario():
    assert default_scenario() == default_scenario()
    assert Scenario.objects.filter(is_default=True).count() == 1


def test_a_scenario_with_tools_is_offered_beside_the_default_which_has_none():
    assert default_scenario().tools == []
    assert Scenario.objects.get(is_default=False, offered=True).tools == list(BUILT_IN_TOOLS)


def test_a_scenario_with_tools_that_was_deleted_stays_away():
    default_scenario()
    Scenario.objects.get(name=WITH_TOOLS).delete()
    default_scenario()
    assert not Scenario.objects.filter(name=WITH_TOOLS).exists()


def test_the_sites_scenarios_are_called_in_the_readers_language():
    with override("zh-hans"):
        assert Scenario(name=WITH_TOOLS).shown_name == "带工具"


def test_a_conversation_begins_with_the_chosen_scenario(alice):
    scenario = Scenario.objects.create(name="Translator", offered=True)
    begun = start_conversation(user=alice, public_id=uuid.uuid4(), scenario_id=scenario.pk)
    assert begun.scenario == scenario


def test_a_scenario_that_is_not_offered_begins_nothing(alice):
    secret = Scenario.objects.create(name="Secret")
    with pytest.raises(ScenarioNotFound):
        start_conversation(user=alice, public_id=uuid.uuid4(), scenario_id=secret.pk)
    assert not Conversation.objects.exists()


def test_another_scenario_is_chosen_for_a_conversation_that_goes_on(alice):
    conversation, mine = begin(alice), Scenario.objects.create(name="Mine", owner=alice)
    choose_scenario(conversation, user=alice, scenario_id=mine.pk)
    conversation.refresh_from_db()
    assert conversation.scenario == mine


def test_the_scenario_of_another_user_can_not_be_chosen(alice):
    conversation = begin(alice)
    theirs = Scenario.objects.create(name="Bob's", owner=make_user("bob"))
    with pytest.raises(ScenarioNotFound):
        choose_scenario(conversation, user=alice, scenario_id=theirs.pk)


def test_a_scenario_is_kept_though_it_is_no_longer_offered(alice):
    scenario = Scenario.objects.create(name="Translator", offered=True)
    conversation = start_conversation(user=alice, public_id=uuid.uuid4(), scenario_id=scenario.pk)
    Scenario.objects.filter(pk=scenario.pk).update(offered=False)
    choose_scenario(conversation, user=alice, scenario_id=scenario.pk)
    conversation.refresh_from_db()
    assert conversation.scenario == scenario


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("Hello", "Hello"),
        ("\n\n  First line  \nsecond", "First line"),
        ("word " * 30, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
        (" \n ", ""),
        ("\u200b\u3164\n\u202eevil\u2066 line\x1b", "evil line"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_the_title_is_the_first_line_shortened_at_a_word(content, title):
    assert title_from(content) == title


def test_a_name_is_cleaned_and_shortened(alice):
    conversation = begin(alice)
    rename_conversation(conversation, title="  a\x00b \n c " + "x" * 500)
    conversation.refresh_from_db()
    assert conversation.title.startswith("ab c x")
    assert len(conversation.title) == 200


def test_all_pages_of_its_owner_hear_of_a_new_name(alice, monkeypatch, django_capture_on_commit_callbacks):
    told = []
    monkeypatch.setattr(conversations, "publish", lambda topic, payload: told.append((topic, json.loads(payload))))
    conversation = begin(alice)
    with django_capture_on_commit_callbacks(execute=True):
        rename_conversation(conversation, title="Names")
        rename_conversation(conversation, title=" ")
    frame = {"type": "conversation.renamed", "conversation": str(conversation.public_id), "title": "Names"}
    assert told == [(f"user.{alice.pk}", frame)]


def test_all_pages_of_its_owner_hear_that_it_is_deleted_or_back_and_how_long_that_can_be_undone(
    alice, monkeypatch, django_capture_on_commit_callbacks
):
    told = []
    monkeypatch.setattr(conversations, "publish", lambda topic, payload: told.append((topic, json.loads(payload))))
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
    answered(gone)
    for conversation in (kept, gone):
        delete_conversation(conversation)
    bob = make_user("bob")
    with pytest.raises(ConversationNotFound):
        remove_deleted_conversations(bob, gone.public_id)
    with pytest.raises(ConversationNotFound):
        remove_deleted_conversations(alice, there.public_id)
    remove_deleted_conversations(bob)
    assert len(list_deleted_conversations(alice)) == 2
    remove_deleted_conversations(alice, gone.public_id)
    assert list_deleted_conversations(alice) == [kept]
    assert not Message.objects.exists()
    remove_deleted_conversations(alice)
    assert set(Conversation.objects.all()) == {there}


def test_of_many_that_are_removed_none_can_be_restored_though_their_rows_wait_for_the_sweep(alice, monkeypatch):
    monkeypatch.setattr(conversations, "REMOVED_AT_ONCE", 1)
    both = [begin(alice), begin(alice)]
    for conversation in both:
        delete_conversation(conversation)
    remove_deleted_conversations(alice)
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
    remove_deleted_conversations(alice)
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
    reply = answered(conversation)
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


def test_only_the_last_reply_can_be_made_again(alice):
    conversation = begin(alice)
    first = answered(conversation)
    answered(conversation, "And?")
    with pytest.raises(NothingToRegenerate):
        regenerate_reply(user=alice, conversation=conversation, reply_id=first.pk)


def test_a_reply_that_could_not_be_made_again_is_left_as_it_is(alice):
    conversation = begin(alice)
    reply = answered(conversation, "word " * 50)
    Scenario.objects.update(cap_tokens=20)
    with pytest.raises(MessageTooLong):
        regenerate_reply(user=alice, conversation=conversation, reply_id=reply.pk)
    reply.refresh_from_db()
    assert reply.active
    assert Message.objects.count() == 2
