"""The site that the benchmark makes has what the product would have stored."""

from __future__ import annotations

import pytest
from django.db import connection

from conversations.models import Conversation, MessagePassage, MessagePostings, RolledUpSum
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_rolled_up_sums import recompute_rolled_up_sums
from conversations.services.ledger.recompute_spending import recompute_spending
from conversations.services.message_index.index_messages import rebuild_index
from tests.benchmarks import _large_site


@pytest.fixture
def people(db, monkeypatch):
    monkeypatch.setattr(_large_site, "TEXTS", 200)
    monkeypatch.setattr(_large_site, "CONVERSATIONS_AT_ONCE", 25)
    monkeypatch.setattr(_large_site, "ORDINARY_CONVERSATIONS", 9)

    def run(pieces):
        with connection.cursor() as cursor:
            for statement, values in pieces:
                cursor.execute(statement, values)

    return _large_site.fill_site(90, index_every=2, run=run)


def rows_of(model, conversation, *left_out):
    names = [field.name for field in model._meta.concrete_fields if field.column and field.name not in left_out]
    return sorted(map(repr, model.objects.filter(conversation=conversation).values_list(*names)))


def test_sums_are_those_of_the_ledger(people):
    assert RolledUpSum.objects.exists()
    assert recompute_ledger_sums(mend=False) == []
    assert recompute_rolled_up_sums(mend=False) == []
    assert recompute_spending(mend=False) == []


def test_the_index_is_what_the_product_makes_of_the_messages(people):
    for conversation in Conversation.objects.filter(owner=people.ordinary)[:3]:
        made = rows_of(MessagePassage, conversation), rows_of(MessagePostings, conversation, "is_listed")
        assert len(made[0]) == _large_site.MESSAGES
        rebuild_index(conversation.pk)
        assert made == (rows_of(MessagePassage, conversation), rows_of(MessagePostings, conversation, "is_listed"))


def test_one_posting_of_each_lexeme_of_an_owner_is_listed(people):
    for person in people:
        postings = MessagePostings.objects.filter(owner=person)
        listed = postings.filter(is_listed=True).values_list("lexeme", flat=True)
        assert len(listed) == len(set(listed)) == postings.values("lexeme").distinct().count()


def test_the_two_people_have_their_shares(people):
    assert Conversation.objects.filter(owner=people.ordinary).count() == 9
    assert Conversation.objects.filter(owner=people.busiest).count() == 9
    assert Conversation.objects.count() == 90
