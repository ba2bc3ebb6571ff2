"""Temporary conversations: there for a day by their address alone, then gone but for amounts."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.conf import settings
from django.utils import timezone

from conversations.access import find_conversation
from conversations.core.errors import ConversationNotFound
from conversations.models import Completion, Conversation, Run, TitleState
from conversations.selectors.conversations.conversation_list import list_conversations
from conversations.services.conversations.conversations import KEPT_TEMPORARILY, start_conversation
from conversations.services.conversations.deletion import sweep_temporary_conversations
from conversations.services.portability.export_account import exported_files
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention.keep_conversations import keep_conversation
from conversations.services.titles import want_title
from tests.admin.stored import make_completion
from tests.support.documents import add
from tests.support.people import begin, make_user, post
from tests.support.recalled_talk import FILLER, SECRET, find_in_others, talk_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def conversation(alice):
    return start_conversation(user=alice, public_id=uuid.uuid4(), temporary=True)


def make_temporary(conversation, hours=24):
    conversation.temporary_until = timezone.now() + dt.timedelta(hours=hours)
    conversation.save()
    return conversation


def answered(conversation, content="Hello"):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content=f"Indeed, {content}")
    return posted


def test_it_ends_a_day_after_it_was_begun(conversation):
    left = conversation.temporary_until - timezone.now()
    assert KEPT_TEMPORARILY - dt.timedelta(minutes=1) < left <= KEPT_TEMPORARILY


def test_it_is_found_by_its_address_and_is_in_no_list(alice, conversation):
    answered(conversation)
    kept = begin(alice)
    answered(kept)
    assert find_conversation(alice, conversation.public_id) == conversation
    assert list_conversations(alice) == [kept]


def test_once_its_time_is_over_it_is_not_found_and_goes_on_no_more(alice, conversation):
    make_temporary(conversation, hours=-1)
    with pytest.raises(ConversationNotFound):
        find_conversation(alice, conversation.public_id)
    with pytest.raises(ConversationNotFound):
        start_conversation(user=alice, public_id=conversation.public_id)
    with pytest.raises(ConversationNotFound):
        keep_conversation(conversation)


def test_it_is_swept_with_all_that_is_in_it_and_the_amounts_stay(alice, conversation):
    posted = answered(conversation)
    make_completion(alice, reply=posted.reply, cost_usd=3, request={"model": "demo"})
    assert sweep_temporary_conversations() == 0
    make_temporary(conversation, hours=-1)
    assert sweep_temporary_conversations() == 1
    assert not Conversation.objects.exists()
    completion = Completion.objects.get()
    assert (completion.cost_usd, completion.conversation, completion.request) == (3, None, {})


def test_a_reply_that_is_being_made_is_stopped_first(conversation):
    posted = post(conversation, "Hello")
    make_temporary(conversation, hours=-1)
    assert sweep_temporary_conversations() == 0
    assert Run.objects.get(reply=posted.reply).stop_requested_at


def test_one_that_is_kept_is_like_any_other(alice, conversation):
    answered(conversation)
    keep_conversation(conversation)
    assert list_conversations(alice) == [conversation]
    assert sweep_temporary_conversations() == 0


def test_nothing_of_it_is_exported(alice, conversation):
    posted = answered(conversation, "a secret of an evening")
    add(alice, conversation, "secret.txt", b"a secret of an evening")
    make_completion(alice, reply=posted.reply)
    files = {name: b"".join(pieces) for name, pieces in exported_files(alice, language_code="en")}
    whole = b"".join(files.values())
    assert b"secret" not in whole
    assert str(conversation.public_id).encode() not in whole
    assert len(files["usage.csv"].splitlines()) == 2
    keep_conversation(conversation)
    kept = b"".join(piece for _, pieces in exported_files(alice, language_code="en") for piece in pieces)
    assert b"a secret of an evening" in kept


def test_no_title_is_written_for_it(conversation, monkeypatch):
    monkeypatch.setattr(settings, "TITLE_MODEL", "letters")
    monkeypatch.setattr(want_title, "titles_are_written", lambda: True)
    posted = answered(conversation)
    want_title.want_title(conversation.pk, position=posted.reply.position)
    assert not TitleState.objects.exists()
    keep_conversation(conversation)
    want_title.want_title(conversation.pk, position=posted.reply.position)
    assert TitleState.objects.count() == 1


def test_nothing_of_it_is_recalled_in_others(alice):
    temporary = make_temporary(talk_of(alice, SECRET, "How nice."))
    here = talk_of(alice, *[FILLER.format(*[f"{word}{n}" for word in ("green", "red", "blue")]) for n in range(60)])
    assert SECRET not in [passage.text for passage in find_in_others(here)]
    keep_conversation(temporary)
    assert SECRET in [passage.text for passage in find_in_others(here)]


def test_nothing_of_others_is_recalled_in_it(alice, conversation):
    alice.recalls_other_conversations = True
    conversation.owner = alice
    assert not conversation.recalls_other_conversations
    keep_conversation(conversation)
    assert conversation.recalls_other_conversations
