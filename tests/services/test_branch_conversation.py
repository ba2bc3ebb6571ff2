"""Branches: a true copy of a conversation up to one of its messages, with nothing of the ledger in it."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.utils import timezone

from conversations.core.errors import DocumentStorageFull, MessageNotFound, ReplyInProgress
from conversations.models import Completion, Conversation, Document, Message, Passage, Picture, Rating, Run, ToolCall
from conversations.models.rating import Verdict
from conversations.selectors.conversations.pictures import read_picture_bytes
from conversations.selectors.conversations.thread import thread_page
from conversations.services.conversations.notes import save_notes
from conversations.services.documents import storage_limit
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message, pin_message
from conversations.services.messages.rate_reply import rate_reply
from conversations.services.portability.branch_conversation import branch_conversation, branch_title
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.admin.stored import make_completion
from tests.support.documents import add, grounded, make_ready
from tests.support.people import begin, make_user, post, post_answered
from tests.support.pictures import store_picture
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db
# What differs between a message and its copy, apart from which rows it names.
OWN = {"id", "conversation_id", "parent_id", "step_of_id", "client_id", "picture_ids", "copied_model", "grounding"}


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_user("alice")


@pytest.fixture
def talk(alice):
    return begin(alice)


def branch(conversation, message):
    return branch_conversation(user=conversation.owner, conversation=conversation, message_id=message.pk)


def path_of(conversation):
    return list(conversation.messages.filter(active=True).order_by("position"))


def values(message):
    return {field.column: getattr(message, field.attname) for field in Message._meta.concrete_fields} | dict.fromkeys(
        OWN
    )


def test_it_has_the_messages_up_to_there_as_they_are_and_names_its_own(talk):
    one, two, three = (post_answered(talk, question) for question in ("One", "Two", "Three"))
    pin_message(conversation=talk, message_id=one.message.pk, pinned=True)
    exclude_message(conversation=talk, message_id=one.reply.pk, excluded=True)
    copy = branch(talk, two.reply)
    originals, copies = path_of(talk)[:4], path_of(copy)
    assert [values(message) for message in copies] == [values(message) for message in originals]
    assert [message.parent_id for message in copies] == [None, *(message.pk for message in copies[:-1])]
    assert not {message.pk for message in copies} & {message.pk for message in originals}
    assert (copy.head_id, copy.has_pins, copy.owner) == (copies[-1].pk, True, talk.owner)
    post_answered(copy, "And on?")
    assert [message.content for message in path_of(talk)] == ["One", "Fine", "Two", "Fine", "Three", "Fine"]
    assert three.reply.pk in [message.pk for message in path_of(talk)]


def test_only_the_versions_that_are_shown_are_copied(talk, alice):
    first = post_answered(talk, "One")
    edited = edit_message(
        user=alice,
        conversation=talk,
        message_id=first.message.pk,
        content="Another",
        client_id=uuid.uuid4(),
    )
    end_reply(edited.reply.pk, COMPLETE, content="Fine")
    assert [message.content for message in branch(talk, edited.reply).messages.order_by("position")] == [
        "Another",
        "Fine",
    ]
    with pytest.raises(MessageNotFound):
        branch(talk, first.reply)


def test_what_was_spent_and_seen_and_rated_stays_and_the_model_is_still_known(talk, alice):
    posted = post_answered(talk, "One")
    make_completion(alice, reply=posted.reply, language_model="model-of-the-ledger")
    rate_reply(conversation=talk, reply_id=posted.reply.pk, verdict=Verdict.GOOD)
    copy = branch(talk, posted.reply)
    assert not Completion.objects.filter(conversation=copy).exists()
    assert not Rating.objects.filter(reply__conversation=copy).exists()
    assert not Run.objects.filter(reply__conversation=copy).exists()
    assert thread_page(copy).messages[-1].made_by == "model-of-the-ledger"
    again = branch(copy, copy.head)
    assert thread_page(again).messages[-1].made_by == "model-of-the-ledger"


def test_steps_and_calls_of_tools_come_with_their_reply(talk):
    posted = post(talk, "What is 17 × 23?")
    add_call(posted.reply, "calculator", '{"expression": "17*23"}', result="391")
    end_step(posted.reply, text="Let me see.")
    end_reply(posted.reply.pk, COMPLETE, content="391")
    copy = branch(talk, posted.reply)
    (shown,) = [message for message in thread_page(copy).messages if message.is_reply]
    assert [(step.text, [call.tool for call in step.calls]) for step in shown.steps.stored] == [
        ("Let me see.", ["calculator"])
    ]
    call = ToolCall.objects.get(reply=copy.head)
    assert call.message.conversation_id == copy.pk
    assert call.message.step_of_id == copy.head_id


def test_pictures_and_documents_are_its_own_and_what_cites_them_names_them(talk, alice):
    picture = store_picture(talk, b"a picture", alt_text="a lamp")
    unused = store_picture(talk, b"another one", alt_text="never sent")
    document = make_ready(add(alice, talk, "lamp.txt", b"A lamp."), "A lamp.")
    waiting = add(alice, talk, "later.txt", b"Later.")
    posted = post_answered(talk, "What is it?")
    Message.objects.filter(pk=posted.message.pk).update(picture_ids=[picture.pk])
    grounded(posted.message, document, text="A lamp.")
    copy = branch(talk, posted.reply)
    (own,) = Picture.objects.filter(conversation=copy)
    assert read_picture_bytes(own.pk) == b"a picture"
    assert (own.alt_text, unused.digest == own.digest) == ("a lamp", False)
    ready, later = copy.documents.order_by("pk")
    assert (ready.name, ready.state, later.name, later.state) == ("lamp.txt", "ready", waiting.name, "waiting")
    assert [passage.text for passage in Passage.objects.filter(document=ready)] == ["A lamp."]
    assert bytes(ready.file.content) == b"A lamp."
    question = copy.messages.get(position=0)
    assert question.picture_ids == [own.pk]
    assert [passage["document"] for passage in question.grounding] == [str(ready.public_id)]
    copy.delete()
    assert Document.objects.filter(conversation=talk).count() == 2
    assert read_picture_bytes(picture.pk) == b"a picture"


def test_it_is_set_to_what_the_conversation_is(talk):
    save_notes(talk, "In short.")
    posted = post_answered(talk, "One")
    Conversation.objects.filter(pk=talk.pk).update(title="Lofoten", summarises=True, anchor_position=9, starred=True)
    copy = branch(talk, posted.reply)
    assert (copy.notes, copy.summarises, copy.scenario_id) == ("In short.", True, talk.scenario_id)
    assert (copy.title, copy.anchor_position, copy.starred) == ("Lofoten (branch)", None, False)


def test_a_branch_of_what_is_temporary_ends_with_it(talk):
    posted = post_answered(talk, "One")
    until = timezone.now() + dt.timedelta(hours=3)
    Conversation.objects.filter(pk=talk.pk).update(temporary_until=until)
    assert branch(talk, posted.reply).temporary_until == until


def test_a_title_is_marked_once_and_no_longer_than_a_title():
    assert branch_title("Lofoten (branch)") == "Lofoten (branch)"
    assert len(branch_title("x" * 200)) == 200


def test_a_reply_that_is_written_is_not_copied(talk):
    posted = post(talk, "One")
    with pytest.raises(ReplyInProgress):
        branch(talk, posted.reply)
    assert Conversation.objects.count() == 1


def test_without_room_for_its_documents_nothing_is_copied(talk, alice, settings, monkeypatch):
    make_ready(add(alice, talk, "lamp.txt", b"A lamp."), "A lamp.")
    posted = post_answered(talk, "One")
    monkeypatch.setattr(storage_limit, "BYTES_PER_MEGABYTE", 10)
    settings.DOCUMENT_STORAGE_MEGABYTES = 1
    with pytest.raises(DocumentStorageFull):
        branch(talk, posted.reply)
    assert Conversation.objects.count() == 1


def test_a_long_path_takes_no_more_statements_than_a_short_one(talk, django_assert_max_num_queries):
    first = post_answered(talk, "Question 0").reply
    for number in range(6):
        last = post_answered(talk, f"Question {number}").reply
    taken = []
    for reply in (first, last):
        with django_assert_max_num_queries(40) as statements:
            branch(talk, reply)
        taken.append(len(statements))
    assert taken[0] == taken[1]
