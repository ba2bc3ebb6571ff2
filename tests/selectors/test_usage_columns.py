"""Rows of a list have their own part of the ledger beside them."""

from __future__ import annotations

from decimal import Decimal

from chatsite.accounts.models import User
from conversations.models import Conversation
from conversations.selectors.figures import usage_columns
from tests.admin.stored import make_completion, make_conversation, make_person


def test_a_row_is_annotated_with_its_own_part_only(db):
    alice, bob = make_person("alice"), make_person("bob")
    mine = make_conversation(alice, turns=2)
    make_completion(alice, reply=mine.head, cost_usd=None)
    make_conversation(bob)
    annotated = usage_columns.with_usage(Conversation.objects.all(), of="conversation").get(pk=mine.pk)
    assert (annotated.input_tokens, annotated.output_tokens) == (309, 21)
    assert (annotated.cost_usd, annotated.unknown_costs) == (Decimal("0.0025"), 1)


def test_a_row_with_unknown_costs_only_has_no_cost(db):
    alice = make_person("alice")
    make_completion(alice, cost_usd=None)
    annotated = usage_columns.with_usage(User.objects.all(), of="user").get(pk=alice.pk)
    assert (annotated.cost_usd, annotated.unknown_costs) == (None, 1)


def test_a_row_without_completions_has_nothing(db):
    alice = make_person("alice")
    annotated = usage_columns.with_usage(User.objects.all(), of="user").get(pk=alice.pk)
    assert (annotated.input_tokens, annotated.cost_usd, annotated.unknown_costs) == (None, None, None)
