"""Forgetting everything above a message: it is in no later request of any kind, and can be remembered."""

from __future__ import annotations

import json
import random
import uuid

import pytest

from conversations.core.errors import MessageNotFound, ReplyInProgress
from conversations.live.fanout import Subscriber, conversation_topic, subscribe
from conversations.models import Conversation
from conversations.selectors.conversations.history import HistoryRow, read_history
from conversations.services.grounding.search_web import _previous_question
from conversations.services.language_models.model_context import model_context
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.forget_messages import forget_above, remember_everything
from conversations.services.messages.mark_message import pin_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.portability.branch_conversation import branch_conversation
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.titles.claim_title import sendable_messages
from conversations.services.windows.build_window import build_window, draft_message
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db
LAST_TURN = ["three", "Reply to three", "Now?"]
EVERYTHING = ["one", "Reply to one", "two", "Reply to two", *LAST_TURN]


@pytest.fixture
def conversation(settings):
    settings.MESSAGES_PER_MINUTE = 0
    conversation = begin(make_user("alice"))
    for content in ("one", "two", "three"):
        talk(conversation, content)
    return conversation


def talk(conversation, content):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content=f"Reply to {content}")
    conversation.refresh_from_db()
    return posted


def message(conversation, content):
    return conversation.messages.get(content=content)


def forget(conversation, content):
    return forget_above(conversation=conversation, message_id=message(conversation, content).pk)


def edit(conversation, content, changed):
    edited = message(conversation, content)
    posted = edit_message(
        user=conversation.owner,
        conversation=conversation,
        message_id=edited.pk,
        content=changed,
        client_id=uuid.uuid4(),
    )
    end_reply(posted.reply.pk, COMPLETE, content=f"Reply to {changed}")
    return edited


def window(conversation):
    conversation = Conversation.objects.select_related("scenario", "head", "owner").get(pk=conversation.pk)
    draft = draft_message("Now?", position=conversation.head.position + 1, context=model_context(conversation.scenario))
    return build_window(conversation, draft)


def sent(conversation):
    return [message.content for message in window(conversation).prompt]


def test_nothing_above_is_sent_not_even_pins(conversation):
    pin_message(conversation=conversation, message_id=message(conversation, "one").pk, pinned=True)
    forget(conversation, "three")
    assert sent(conversation) == LAST_TURN
    assert conversation.messages.filter(active=True).count() == 6


def test_all_of_it_can_be_remembered_with_its_pins(conversation):
    pin_message(conversation=conversation, message_id=message(conversation, "two").pk, pinned=True)
    before = sent(conversation)
    forget(conversation, "two")
    forget(conversation, "three")
    remember_everything(conversation=conversation)
    assert sent(conversation) == before


def test_a_reply_keeps_its_question(conversation):
    assert forget(conversation, "Reply to three") == message(conversation, "three")
    assert sent(conversation) == LAST_TURN


def test_above_a_forgotten_message_nothing_changes(conversation):
    forget(conversation, "three")
    forget(conversation, "two")
    assert sent(conversation) == LAST_TURN


def test_above_the_first_message_nothing_is_forgotten(conversation):
    forget(conversation, "Reply to one")
    assert sent(conversation) == EVERYTHING


def test_once_it_is_remembered_the_window_begins_as_if_none_had_been_before(conversation):
    forget(conversation, "three")
    Conversation.objects.filter(pk=conversation.pk).update(anchor_position=4)
    remember_everything(conversation=conversation)
    assert Conversation.objects.get(pk=conversation.pk).anchor_position is None


def test_a_reply_that_is_shown_again_keeps_its_question(conversation):
    first = message(conversation, "Reply to three")
    again = regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=first.pk)
    end_reply(again.pk, COMPLETE, content="Another reply")
    talk(conversation, "four")
    forget(conversation, "four")
    switch_version(conversation=conversation, message_id=first.pk)
    assert sent(conversation) == LAST_TURN


@pytest.mark.parametrize("seed", range(12))
def test_what_was_forgotten_is_on_no_path_sent_again(conversation, seed):
    choose, forgotten = random.Random(seed), set()
    for number in range(14):
        shown = list(conversation.messages.filter(active=True, role="user").order_by("position"))
        action = choose.choice(["talk", "edit", "edit", "switch", "switch", "forget"])
        hidden = list(conversation.messages.filter(active=False, role="user", parent__active=True))
        if action == "edit":
            edit(conversation, choose.choice(shown).content, f"version {number}")
        elif action == "switch" and hidden:
            switch_version(conversation=conversation, message_id=choose.choice(hidden).pk)
        elif action == "forget":
            first = forget_above(conversation=conversation, message_id=choose.choice(shown).pk)
            above = conversation.messages.filter(active=True, position__lt=first.position)
            forgotten |= set(above.values_list("content", flat=True))
        else:
            talk(conversation, f"message {number}")
        conversation.refresh_from_db()
        assert not forgotten & set(sent(conversation))


def test_the_record_says_so_and_the_window_begins_there(conversation):
    forget(conversation, "two")
    record = window(conversation).record
    assert (record.first_position, record.forgotten_before) == (2, 2)


def test_what_is_forgotten_is_not_read(conversation):
    history = read_history(conversation.pk, before=10, forgotten_before=4)
    assert [HistoryRow(*row).content for row in history.newest_first] == ["Reply to three", "three"]


def test_a_new_version_of_a_forgotten_message_brings_nothing_back(conversation):
    forget(conversation, "three")
    edited = edit(conversation, "two", "other")
    assert sent(conversation) == ["other", "Reply to other", "Now?"]
    switch_version(conversation=conversation, message_id=edited.pk)
    assert sent(conversation) == LAST_TURN


def test_a_new_version_below_leaves_it_as_it_is(conversation):
    forget(conversation, "two")
    edit(conversation, "three", "other")
    assert sent(conversation) == ["two", "Reply to two", "other", "Reply to other", "Now?"]


def test_no_other_version_shows_what_was_forgotten_since(conversation):
    edited = edit(conversation, "two", "other")
    talk(conversation, "more")
    forget(conversation, "more")
    switch_version(conversation=conversation, message_id=edited.pk)
    assert sent(conversation) == ["two", "Reply to two", *LAST_TURN]


def test_it_is_refused_while_a_reply_is_written(conversation):
    post(conversation, "four")
    with pytest.raises(ReplyInProgress):
        forget(conversation, "two")
    with pytest.raises(ReplyInProgress):
        remember_everything(conversation=conversation)


def test_a_message_of_another_conversation_is_not_found(conversation):
    theirs = talk(begin(make_user("bob")), "secret").message
    with pytest.raises(MessageNotFound):
        forget_above(conversation=conversation, message_id=theirs.pk)


def test_a_branch_has_forgotten_it_too(conversation):
    forget(conversation, "three")
    last = message(conversation, "Reply to three")
    branch = branch_conversation(user=conversation.owner, conversation=conversation, message_id=last.pk)
    assert sent(branch) == LAST_TURN
    last = message(conversation, "Reply to two")
    earlier = branch_conversation(user=conversation.owner, conversation=conversation, message_id=last.pk)
    assert sent(earlier) == ["Now?"]
    edited = edit(earlier, "two", "other")
    switch_version(conversation=earlier, message_id=edited.pk)
    assert sent(earlier) == ["Now?"]


def test_it_is_in_no_title_no_search_of_the_web_and_no_history_for_a_provider(conversation):
    forget(conversation, "three")
    assert [each.content for each in sendable_messages(conversation.pk)] == LAST_TURN[:2]
    assert _previous_question(message(conversation, "three")) == ""
    history = [each["content"] for each in ChatHistory(conversation).to_openai()]
    assert history == LAST_TURN[:2]


@pytest.mark.django_db(transaction=True)
async def test_other_pages_are_told(settings, transactional_db):
    conversation = await in_thread(lambda: begin(make_user("alice")))
    settings.MESSAGES_PER_MINUTE = 0
    await in_thread(talk, conversation, "one")
    await in_thread(talk, conversation, "two")
    heard: list[str] = []
    subscribe(conversation_topic(conversation.public_id), Subscriber(heard.append))
    await in_thread(forget, conversation, "two")
    await in_thread(remember_everything, conversation=conversation)
    await wait_until(lambda: len(heard) == 2)
    told = [json.loads(each) for each in heard]
    assert [each["type"] for each in told] == ["messages.forgotten"] * 2
    assert [each["before"] for each in told] == [2, 0]
