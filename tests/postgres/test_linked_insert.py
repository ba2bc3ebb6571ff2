"""Linked rows inserted by one statement are those that Django inserts by several."""

from __future__ import annotations

import uuid

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from chatsite.postgres.linked_insert import Condition, LinkedUpdate, insert_linked_rows
from conversations.models import Completion, Message, Run
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
FILLED_IN = {"id", "created_at"}


def values_of(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.fixture
def question(conversation) -> Message:
    grounding = [{"text": "100 %s", "source": "of a note"}]
    return Message(
        conversation=conversation, position=0, role="user", content="Good morning?", grounding=grounding,
        encoding="o200k_base", client_id=uuid.uuid4(),
    )  # fmt: skip


@pytest.fixture
def reply(conversation, question) -> Message:
    return Message(
        conversation=conversation, parent=question, position=1, role="assistant", state="streaming", encoding=""
    )


def test_they_name_one_another(question, reply, django_assert_num_queries):
    run = Run(reply=reply)
    with django_assert_num_queries(1):
        insert_linked_rows(question, reply, run)
    stored = Run.objects.select_related("reply__parent").get()
    assert (stored, stored.reply, stored.reply.parent) == (run, reply, question)
    assert (run.reply_id, reply.parent_id) == (reply.pk, question.pk)


def test_they_have_afterwards_what_is_stored(question, reply):
    insert_linked_rows(question, reply)
    assert values_of(question) == values_of(Message.objects.get(pk=question.pk))
    assert values_of(reply) == values_of(Message.objects.get(pk=reply.pk))


def test_each_column_holds_what_django_would_write(conversation, question):
    insert_linked_rows(question)
    ours, djangos = Message.objects.get(), Message(**{**values_of(question), "id": None, "client_id": uuid.uuid4()})
    djangos.active = False
    djangos.save()
    differ = {name for name, value in values_of(ours).items() if value != values_of(djangos)[name]}
    assert differ == {"id", "created_at", "client_id", "active"}


def test_what_the_database_fills_in_is_known_afterwards(conversation):
    completion = Completion(conversation=conversation, language_model="letters", estimated_input_tokens=3)
    with transaction.atomic():
        insert_linked_rows(completion)
        assert completion.created_at <= timezone.now()
    assert values_of(completion) == values_of(Completion.objects.get())


@pytest.mark.parametrize("archived", [False, True])
def test_they_are_inserted_only_if_the_query_finds_something(conversation, question, reply, archived):
    found = "SELECT FROM conversations_conversation WHERE id = %s AND archived = %s FOR NO KEY UPDATE"
    inserted = insert_linked_rows(question, reply, only_if=Condition(found, [conversation.pk, archived]))
    assert (inserted, Message.objects.count()) == ((False, 0) if archived else (True, 2))
    if inserted:
        assert values_of(reply) == values_of(Message.objects.get(pk=reply.pk))


MOVE_HEAD = "UPDATE conversations_conversation AS own SET head_id = row1.id, title = %s FROM row1 WHERE own.id = %s"


def test_an_update_goes_with_them_by_the_same_statement(conversation, question, reply, django_assert_num_queries):
    with django_assert_num_queries(1):
        insert_linked_rows(question, reply, update=LinkedUpdate(MOVE_HEAD, ["100 % new", conversation.pk]))
    conversation.refresh_from_db()
    assert (conversation.head, conversation.title) == (reply, "100 % new")


def test_nothing_is_updated_where_nothing_is_inserted(conversation, question, reply):
    before = values_of(conversation)
    update = LinkedUpdate(MOVE_HEAD, ["new", conversation.pk])
    assert not insert_linked_rows(question, reply, only_if=Condition("SELECT WHERE false", []), update=update)
    conversation.refresh_from_db()
    assert values_of(conversation) == before


def test_a_row_that_is_refused_leaves_none_behind(question, reply):
    reply.parent, reply.position = None, 1
    with pytest.raises(IntegrityError, match="message_root_is_at_position_0"), transaction.atomic():
        insert_linked_rows(question, reply)
    assert not Message.objects.exists()


def test_what_has_been_stored_is_changed_and_not_stored_again(question):
    insert_linked_rows(question)
    question.pinned = True
    question.save()
    assert [message.pinned for message in Message.objects.all()] == [True]
