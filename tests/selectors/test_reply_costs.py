"""What a page tells of each reply's cost: all requests for it together, in the statements that it takes anyway."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.core.money.cost_drivers import CostDriver
from conversations.selectors.conversations.thread import thread_page
from tests.admin.stored import make_completion, make_conversation, make_person, make_record, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation():
    return make_conversation(make_person("alice"), turns=0)


def reply(conversation, *completions):
    """Store a question with its reply, for which those *completions* were made."""
    say(conversation, "user", "And now?")
    stored = say(conversation, "assistant", "Now.")
    for fields in completions:
        make_completion(conversation.owner, reply=stored, **fields)
    return stored


def costs(conversation):
    return [message.cost for message in thread_page(conversation).messages if message.is_reply]


def test_the_requests_for_a_reply_are_added_up(conversation):
    reply(conversation, {"cost_usd": Decimal("0.001")}, {"purpose": "tool_step", "cost_usd": Decimal("0.002")})
    [cost] = costs(conversation)
    assert (cost.requests, cost.input_tokens, cost.cached_input_tokens, cost.output_tokens) == (2, 206, 80, 14)
    assert (cost.cost_usd, cost.unknown_costs) == (Decimal("0.003"), 0)


def test_an_unknown_cost_is_counted_and_never_zero(conversation):
    reply(conversation, {"cost_usd": None})
    reply(conversation, {"cost_usd": Decimal("0.001")}, {"cost_usd": None})
    alone, beside = costs(conversation)
    assert (alone.cost_usd, alone.unknown_costs) == (None, 1)
    assert (beside.cost_usd, beside.unknown_costs) == (Decimal("0.001"), 1)


def test_it_says_how_many_requests_were_estimated(conversation):
    reply(conversation, {"usage_estimated": True}, {"usage_estimated": False})
    assert costs(conversation)[0].estimated == 1


def test_a_request_that_is_running_counts_for_nothing_yet(conversation):
    running = {"ended_at": None, "cost_usd": None, "input_tokens": None, "cached_input_tokens": None}
    reply(conversation, {**running, "output_tokens": None})
    reply(conversation, {}, {**running, "output_tokens": None})
    first, second = costs(conversation)
    assert first is None
    assert (second.requests, second.unknown_costs) == (1, 0)


def test_an_expensive_reply_says_why(conversation):
    record = make_record()
    reply(conversation, {"cost_usd": Decimal("0.02"), "window": record.to_json()})
    parts = {part: tokens for part, tokens in record.parts.items() if part != "free"}
    largest = max(parts, key=parts.__getitem__)
    assert costs(conversation)[0].cost_driver == CostDriver(largest, parts[largest], record.prompt_tokens)


def test_a_cheap_reply_says_nothing_of_why(conversation):
    reply(conversation, {"cost_usd": Decimal("0.0099"), "window": make_record().to_json()})
    assert costs(conversation)[0].cost_driver is None


def test_a_user_who_hides_costs_is_told_none(conversation):
    reply(conversation, {})
    conversation.owner.shows_costs = False
    assert costs(conversation) == [None]


def test_more_replies_take_no_more_statements(conversation):
    reply(conversation, {})
    with CaptureQueriesContext(connection) as one:
        costs(conversation)
    for _ in range(5):
        reply(conversation, {"cost_usd": Decimal("0.02"), "window": make_record().to_json()}, {})
    with CaptureQueriesContext(connection) as many:
        assert len(costs(conversation)) == 6
    assert len(many) == len(one)
