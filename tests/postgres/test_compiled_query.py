"""A compiled query returns what Django's own query returns."""

from __future__ import annotations

import pytest
from django.db.models import Exists, OuterRef

from chatsite.postgres.compiled_query import CompiledQuery
from conversations.models import Conversation, Message
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


def values_of(instance):
    return {field.attname: getattr(instance, field.attname) for field in instance._meta.concrete_fields}


@pytest.fixture
def reply(db) -> Message:
    reply = post(begin(make_user("alice")), "Good morning?").reply
    reply.error_params = {"tokens_over": 3}
    reply.save()
    return reply


def test_its_rows_are_those_that_django_reads_with_all_that_is_joined(reply, django_assert_num_queries):
    joined = Message.objects.select_related("parent", "step_of", "conversation__scenario", "conversation__owner")
    [expected] = joined.filter(pk=reply.pk)
    compiled = CompiledQuery(joined, "WHERE conversations_message.id = %s")
    with django_assert_num_queries(1):
        found = compiled.first(reply.pk)
        conversation = found.conversation
        both = ((found, expected), (found.parent, expected.parent), (conversation, expected.conversation))
        assert [values_of(ours) for ours, _ in both] == [values_of(djangos) for _, djangos in both]
        assert conversation.scenario.low_water_share == expected.conversation.scenario.low_water_share
        assert (conversation.owner, found.step_of) == (expected.conversation.owner, None)


def test_what_was_read_can_be_saved(reply):
    found = CompiledQuery(Message.objects.all(), "WHERE id = %s").first(reply.pk)
    found.content = "Good morning."
    found.save()
    assert Message.objects.get(pk=reply.pk).content == "Good morning."


def test_what_a_queryset_adds_comes_with_each_row(reply):
    answered = Message.objects.annotate(is_answered=Exists(Message.objects.filter(parent=OuterRef("pk"))))
    compiled = CompiledQuery(answered, "ORDER BY position")
    assert [message.is_answered for message in compiled.all()] == [True, False]


def test_where_nothing_is_found_first_is_none_and_get_raises(reply):
    compiled = CompiledQuery(Conversation.objects.all(), "WHERE id = %s")
    assert compiled.first(0) is None
    with pytest.raises(Conversation.DoesNotExist):
        compiled.get(0)
