"""The map of a conversation: few buckets that hold every message once, and marks that agree with the window."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from conversations.models import Message
from conversations.selectors.conversations.conversation_map import MOST_BUCKETS, conversation_map
from conversations.selectors.conversations.window_coverage import EVERYTHING, Coverage
from tests.support.filled_conversation import fill_conversation
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.mark.parametrize("seed", range(12))
def test_buckets_hold_every_message_once_in_order(conversation, seed):
    random = Random(seed)
    rows = fill_conversation(conversation, random.choice([1, 2, 30, 179, 400]), random=random, with_steps=seed % 2 == 1)
    shown = [each for each in rows if each.step_of_id is None]
    line = random.choice([0, random.randrange(len(rows))])
    most = random.choice([2, 7, MOST_BUCKETS])
    recalled = tuple(each.pk for each in shown if each.position < line and random.random() < 0.1)
    left_out = {each.pk: "does_not_fit" for each in shown if each.position > line and random.random() < 0.05}
    coverage = Coverage(first_position=line, recalled=recalled, left_out=left_out)
    found = conversation_map(conversation, coverage, most=most)

    assert len(found.buckets) <= most
    assert found.messages == len(shown)
    assert found.messages_above == sum(each.position < line for each in shown)
    assert sum(bucket.tokens for bucket in found.buckets) == sum(each.content_tokens for each in rows)
    users = [each.content_tokens for each in rows if each.role == "user"]
    assert sum(bucket.user_tokens for bucket in found.buckets) == sum(users)
    assert found.buckets[0].first_position == 0
    assert found.buckets[-1].last_position == rows[-1].position
    for before, after in pairwise(found.buckets):
        assert after.first_position == before.last_position + 1
        assert before.ended_at <= after.began_at
    marked = {mark.message: mark.mark for mark in found.marks}
    for bucket in found.buckets:
        inside = [each for each in shown if bucket.first_position <= each.position <= bucket.last_position]
        assert len(inside) == bucket.messages > 0
        said = {marked.get(each.pk, "in" if bucket.is_in_view else "out") for each in inside}
        assert said == {coverage.mark_of(each) for each in inside}


def test_a_short_conversation_has_a_bucket_for_each_message(conversation):
    fill_conversation(conversation, 40)
    found = conversation_map(conversation, EVERYTHING)
    assert [(bucket.first_position, bucket.messages) for bucket in found.buckets] == [(at, 1) for at in range(40)]


def test_other_versions_and_other_conversations_are_not_on_the_map(conversation):
    rows = fill_conversation(conversation, 4)
    Message.objects.create(
        conversation=conversation, parent=rows[1], position=2, role="user", active=False, encoding="o200k_base"
    )
    other = begin(make_user("bob"))
    Message.objects.create(conversation=other, position=0, role="user", pinned=True, encoding="o200k_base")
    found = conversation_map(conversation, EVERYTHING)
    assert found.messages == 4
    assert conversation_map(other, EVERYTHING).messages == 1


def test_a_conversation_that_has_not_begun_has_an_empty_map(conversation):
    assert conversation_map(conversation, EVERYTHING).buckets == []


@pytest.mark.parametrize("messages", [40, 400])
def test_the_number_of_statements_does_not_depend_on_the_length(conversation, messages, django_assert_num_queries):
    fill_conversation(conversation, messages)
    with django_assert_num_queries(5):
        conversation_map(conversation, EVERYTHING)
