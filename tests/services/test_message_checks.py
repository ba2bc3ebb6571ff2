"""What a user may send: as often, as many at once, as long and as expensive as the limits say."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest

from chatsite.accounts.models import Limits, SiteBudget
from conversations.core.errors import (
    MessageRateReached,
    MessagesForbidden,
    MessageTooLong,
    MoneyUsedUp,
    PriceUnknown,
    ReplyTooExpensive,
    SignInRequired,
    TooManyRepliesAtOnce,
)
from conversations.models import Message
from conversations.services.messages.post_message import post_message
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.services.spending import open_row, settle_at
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
PRICED = "letters context_window=4096 reply_reserve=1000 encoding=o200k_base input_usd=1000 output_usd=1000"
UNPRICED = "letters context_window=4096 encoding=o200k_base"


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def priced(settings):
    """A reply may cost a dollar, and its prompt a tenth of a cent a token."""
    settings.OPENAI_BASE_URL, settings.LANGUAGE_MODELS = "http://127.0.0.1:9/v1", PRICED


def limit(user, **limits):
    Limits.objects.update_or_create(user=user, defaults=limits)


def test_as_many_replies_at_once_as_the_limit_says(alice):
    limit(alice, replies_at_once=2)
    first = post(begin(alice), "one")
    post(begin(alice), "two")
    with pytest.raises(TooManyRepliesAtOnce):
        post(begin(alice), "three")
    end_reply(first.reply.pk, COMPLETE, content="Hi")
    assert post(begin(alice), "three").created


def test_others_replies_do_not_count(alice):
    limit(alice, replies_at_once=1)
    post(begin(make_user("bob")), "one")
    assert post(begin(alice), "one").created


def test_a_message_sent_again_is_the_same_message_whatever_the_limits(alice):
    limit(alice, replies_at_once=1, messages_per_minute=1)
    conversation, client_id = begin(alice), uuid.uuid4()
    first = post(conversation, "one", client_id=client_id)
    assert post(conversation, "one", client_id=client_id).message == first.message


def test_a_message_may_be_as_long_as_the_limit_says_and_no_longer(alice):
    limit(alice, message_tokens=3)
    with pytest.raises(MessageTooLong) as refused:
        post(begin(alice), "one two three four five")
    assert refused.value.tokens_over == 2
    assert not Message.objects.exists()
    assert post(begin(alice), "one two three").created


@pytest.mark.parametrize("name", ["messages_per_minute", "replies_at_once", "message_tokens"])
def test_a_limit_of_0_allows_nothing(alice, name):
    limit(alice, **{name: 0})
    with pytest.raises(MessagesForbidden):
        post(begin(alice), "one")


def test_a_persons_rate_goes_before_the_settings(alice, settings):
    settings.MESSAGES_PER_MINUTE = 1
    limit(alice, messages_per_minute=2)
    post(begin(alice), "one")
    post(begin(alice), "two")
    with pytest.raises(MessageRateReached):
        post(begin(alice), "three")


def test_an_account_that_was_deleted_a_moment_ago_sends_nothing(alice):
    conversation = begin(alice)
    type(alice).objects.filter(pk=alice.pk).update(email="gone@example.org")
    alice.pk += 1
    with pytest.raises(SignInRequired):
        post_message(user=alice, conversation=conversation, content="one", client_id=uuid.uuid4())


@pytest.mark.django_db(transaction=True)
def test_of_many_sent_at_once_as_many_are_taken_as_may_be():
    alice = make_user("alice")
    limit(alice, replies_at_once=2)
    conversations = [begin(alice) for _ in range(6)]
    outcomes = at_once(lambda each: post(each, "one"), conversations, refused_by=TooManyRepliesAtOnce)
    assert [type(outcome) for outcome in outcomes].count(TooManyRepliesAtOnce) == 4


# Money


@pytest.mark.usefixtures("priced")
def test_what_cannot_be_paid_is_refused_before_it_is_stored(alice):
    limit(alice, money_per_day_usd=2)
    settle_at(open_row(alice), 1)
    with pytest.raises(MoneyUsedUp):
        post(begin(alice), "one")
    assert not Message.objects.exists()


@pytest.mark.usefixtures("priced")
def test_the_largest_reply_is_part_of_what_a_message_may_cost(alice):
    limit(alice, money_per_day_usd=1)
    with pytest.raises(ReplyTooExpensive):
        post(begin(alice), "one")
    limit(alice, money_per_day_usd="1.02")
    assert post(begin(alice), "one").created


@pytest.mark.usefixtures("priced")
def test_the_sites_money_is_looked_at_too(alice):
    SiteBudget.objects.create(money_per_month_usd=Decimal("0.5"))
    with pytest.raises(ReplyTooExpensive):
        post(begin(alice), "one")


@pytest.mark.usefixtures("priced")
def test_making_a_reply_again_costs_again(alice):
    conversation = begin(alice)
    reply = post(conversation, "one").reply
    end_reply(reply.pk, COMPLETE, content="Hi")
    limit(alice, money_per_day_usd=1)
    with pytest.raises(ReplyTooExpensive):
        regenerate_reply(user=alice, conversation=conversation, reply_id=reply.pk)
    reply.refresh_from_db()
    assert reply.active


def test_an_unknown_price_is_refused_before_anything_is_stored_where_money_is_limited(alice, settings):
    settings.OPENAI_BASE_URL, settings.LANGUAGE_MODELS = "http://127.0.0.1:9/v1", UNPRICED
    limit(alice, money_per_day_usd=100)
    with pytest.raises(PriceUnknown):
        post(begin(alice), "one")
    assert not Message.objects.exists()
    limit(alice, money_per_day_usd=None)
    assert post(begin(alice), "one").created
