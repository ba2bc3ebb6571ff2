from __future__ import annotations

import datetime as dt
import json
import uuid

import pytest
from django.utils.translation import override

from conversations.core.errors import MessageTooLong, NothingToRegenerate, ScenarioNotFound
from conversations.models import Conversation, Message, Scenario
from conversations.models.scenario import WITH_TOOLS
from conversations.services.conversations import conversations
from conversations.services.conversations.conversations import choose_scenario, rename_conversation, start_conversation
from conversations.services.conversations.default_scenario import BUILT_IN_TOOLS, default_scenario
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
        ("## Plan for **Lisbon**, by `train`", "Plan for Lisbon, by train"),
        ("```python\nimport os", "import os"),
        ("- buy [bread](https://example.org) and 2 * 3 eggs", "buy bread and 2 * 3 eggs"),
        ("snake_case and C#", "snake_case and C#"),
        ("***\n---", "***"),
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
