"""Money for a whole loop of tool calls, held back before its first request and given back however it ends."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Sum

from conversations.core.errors import MoneyReserved, MoneyUsedUp
from conversations.models import Completion, Run, Scenario, Spending
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.ledger.recompute_spending import recompute_spending
from conversations.services.ledger.reservations import LoopNotCovered, requests_after, worst_loop_usd
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, STOPPED, end_reply
from tests.services.spending import PRICES, everywhere, limit, open_row, settle_at, sums
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(db):
    return make_user("alice")


@pytest.fixture
def reply(alice):
    return post(begin(alice), "What is 17 × 23?").reply


def open_step(reply, *, worst_usd=1, follow_usd=0, step=1):
    """Open a request of the reply that may cost *worst_usd*, and those that may follow *follow_usd*."""
    person = reply.conversation.owner
    return open_row(person, reply=reply, worst_usd=Decimal(worst_usd), loop_usd=Decimal(follow_usd), step=step)


def take_step(reply, *, cost_usd, **fields):
    settle_at(open_step(reply, **fields), cost_usd)


def held(reply):
    return Run.objects.get(reply=reply).reserved_usd


def ended(reply, ending=COMPLETE):
    assert end_reply(reply.pk, ending, content="391")
    connection.check_constraints()  # which is what the end of a transaction does


# As a loop goes on


def test_the_first_request_holds_back_what_may_follow_it(reply):
    open_step(reply, follow_usd=3)
    assert (held(reply), sums()) == (3, everywhere(0, 4))


def test_each_later_request_takes_its_own_out_of_it(reply):
    take_step(reply, follow_usd=3, cost_usd="0.25")
    assert sums() == everywhere("0.25", 3)
    open_step(reply, step=2, follow_usd=2)
    assert (held(reply), sums()) == (2, everywhere("0.25", 3))


def test_a_smaller_prompt_than_the_largest_gives_the_rest_of_its_part_back(reply):
    take_step(reply, follow_usd=3, cost_usd=0)
    open_step(reply, worst_usd="0.5", step=2, follow_usd=2)
    assert sums() == everywhere(0, "2.5")


def test_an_answer_gives_back_all_but_what_it_may_cost(reply):
    take_step(reply, follow_usd=3, cost_usd=0)
    open_step(reply, step=2, follow_usd=0)
    assert sums() == everywhere(0, 1)


def test_a_loop_that_has_its_money_goes_on_though_others_use_up_the_rest(reply, alice):
    limit(alice, money_per_day_usd=4)
    take_step(reply, follow_usd=3, cost_usd=1)
    with pytest.raises(MoneyReserved):
        open_row(alice, worst_usd=Decimal("0.01"))
    for step in (2, 3, 4):
        take_step(reply, step=step, follow_usd=4 - step, cost_usd=1)
    assert sums() == everywhere(4, 0)


def test_what_covers_one_request_and_no_loop_is_left_for_an_answer(reply, alice):
    limit(alice, money_per_day_usd=2)
    with pytest.raises(LoopNotCovered):
        open_step(reply, follow_usd=3)
    assert (held(reply), sums(), Completion.objects.count()) == (None, {}, 0)
    open_step(reply, follow_usd=0)
    assert sums() == everywhere(0, 1)


def test_what_covers_not_even_one_request_is_refused_as_ever(reply, alice):
    limit(alice, money_per_day_usd="1.5")
    settle_at(open_row(alice), 1)
    with pytest.raises(LoopNotCovered):
        open_step(reply, follow_usd=3)
    with pytest.raises(MoneyUsedUp):
        open_step(reply, follow_usd=0)


def test_an_attempt_that_failed_takes_no_step_away(reply, alice):
    limit(alice, money_per_day_usd=2)
    failed = open_step(reply, follow_usd=1)
    settle_completion(failed, Outcome(not_billed=True))
    open_step(reply, follow_usd=1)
    assert (held(reply), sums()) == (1, everywhere(0, 2))


def test_a_loop_that_costs_nothing_holds_nothing(reply, alice):
    limit(alice, money_per_day_usd=0)
    open_step(reply, worst_usd=0, follow_usd=0)
    assert sums() == everywhere(0, 0)


def test_the_site_covers_the_loop_too(reply):
    Spending.objects.create(user=None, period="day", begins_on=dt.datetime.now(dt.UTC).date(), reserved_usd=1)
    open_step(reply, follow_usd=3)
    assert sums()[None, "day"] == (0, 5)


# At its end


@pytest.mark.parametrize("ending", [COMPLETE, STOPPED, INTERRUPTED])
def test_whatever_ends_the_reply_gives_back_what_is_left(reply, ending):
    take_step(reply, follow_usd=3, cost_usd="0.25")
    ended(reply, ending)
    assert sums() == everywhere("0.25", 0)
    assert not recompute_spending()


def test_a_reply_that_waits_for_its_person_keeps_its_hold(reply):
    take_step(reply, follow_usd=3, cost_usd=0)
    Run.objects.update(state="awaiting_approval", lease_until=dt.datetime.now(dt.UTC))
    connection.check_constraints()
    assert sums() == everywhere(0, 3)
    assert not recompute_spending()
    ended(reply, STOPPED)
    assert sums() == everywhere(0, 0)


def test_a_run_that_has_ended_meanwhile_holds_nothing(reply):
    ended(reply, STOPPED)
    settle_at(open_step(reply, follow_usd=3), 0)
    assert (held(reply), sums()) == (None, everywhere(0, 0))


def test_it_is_given_back_once(reply):
    take_step(reply, follow_usd=3, cost_usd=0)
    ended(reply)
    reply.conversation.delete()
    connection.check_constraints()
    assert sums() == everywhere(0, 0)


def test_a_deleted_conversation_gives_it_back(reply):
    take_step(reply, follow_usd=3, cost_usd=1)
    reply.conversation.delete()
    connection.check_constraints()
    assert sums() == everywhere(1, 0)


def test_a_deleted_person_gives_it_back_to_the_site(reply, alice):
    take_step(reply, follow_usd=3, cost_usd=1)
    alice.delete()
    connection.check_constraints()
    assert sums() == {(None, "day"): (1, 0), (None, "month"): (1, 0)}


# Over midnight


def begun_before(reply, days):
    """Let the hold of *reply* have been begun so many days ago."""
    at = dt.datetime.now(dt.UTC) - dt.timedelta(days=days)
    Completion.objects.update(created_at=at)
    Run.objects.filter(reply=reply).update(reserved_at=at)
    Spending.objects.all().delete()
    recompute_spending()
    return at


@pytest.mark.parametrize("days", [1, 40])
def test_what_is_held_for_a_loop_moves_to_the_day_and_month_of_its_newest_request(reply, days):
    take_step(reply, follow_usd=3, cost_usd="0.25")
    begun_before(reply, days)
    open_step(reply, step=2, follow_usd=2)
    today = Spending.objects.filter(begins_on=dt.datetime.now(dt.UTC).date(), period="day").values_list("user")
    assert [reserved for _, reserved in today.annotate(Sum("reserved_usd"))] == [3, 3]
    assert sum(row.reserved_usd for row in Spending.objects.filter(period="day")) == 2 * 3
    assert sum(row.reserved_usd for row in Spending.objects.filter(period="month")) == 2 * 3
    assert not recompute_spending()


def test_a_loop_that_began_yesterday_ends_in_an_answer_if_today_does_not_cover_it(reply, alice):
    take_step(reply, follow_usd=3, cost_usd=0)
    begun_before(reply, 1)
    limit(alice, money_per_day_usd=2)
    with pytest.raises(LoopNotCovered):
        open_step(reply, step=2, follow_usd=2)
    open_step(reply, step=2, follow_usd=0)
    assert sum(row.reserved_usd for row in Spending.objects.filter(user=alice, period="day")) == 1


def test_what_began_in_another_month_is_given_back_there(reply):
    take_step(reply, follow_usd=3, cost_usd=0)
    begun_before(reply, 40)
    ended(reply)
    assert {reserved for _, reserved in sums().values()} == {0}
    assert not recompute_spending()


# The bound


def test_it_is_the_largest_request_for_each_that_may_follow(settings, reply):
    settings.TOOL_STEPS = 3
    settings.LANGUAGE_MODELS = "letters context_window=1100000 reply_reserve=100000 encoding=o200k_base"
    settings.OPENAI_API_KEY = "x"
    scenario = Scenario(language_model="letters")
    each_usd = 1 + Decimal("0.2")
    assert worst_loop_usd(scenario, PRICES, requests=requests_after(1)) == 3 * each_usd
    assert worst_loop_usd(scenario, PRICES, requests=requests_after(3)) == each_usd
    assert worst_loop_usd(scenario, None, requests=1) is None


def test_a_smaller_window_of_the_scenario_is_a_smaller_bound(settings):
    settings.LANGUAGE_MODELS = "letters context_window=1100000 reply_reserve=100000 encoding=o200k_base"
    settings.OPENAI_API_KEY = "x"
    scenario = Scenario(language_model="letters", cap_tokens=500_000, reply_reserve_tokens=50_000)
    assert worst_loop_usd(scenario, PRICES, requests=1) == Decimal("0.6")


# At the same moment


@pytest.mark.django_db(transaction=True)
def test_of_fifty_loops_at_once_with_money_for_one_one_is_begun():
    alice = make_user("alice")
    limit(alice, money_per_day_usd=4, replies_at_once=50, messages_per_minute=50)
    replies = [post(begin(alice), "What is 17 × 23?").reply for _ in range(50)]
    outcomes = at_once(lambda reply: open_step(reply, follow_usd=3), replies, refused_by=LoopNotCovered)
    assert [type(outcome) for outcome in outcomes].count(Completion) == 1
    assert sums() == everywhere(0, 4)
    assert not recompute_spending()


@pytest.mark.django_db(transaction=True)
def test_a_loop_that_is_stopped_while_it_goes_on_leaves_nothing_held():
    alice = make_user("alice")
    replies = [post(begin(alice), "What is 17 × 23?").reply for _ in range(8)]
    for reply in replies:
        take_step(reply, follow_usd=3, cost_usd=0)
    stopping = [lambda reply=reply: end_reply(reply.pk, STOPPED) for reply in replies]
    going_on = [lambda reply=reply: take_step(reply, step=2, follow_usd=2, cost_usd=1) for reply in replies]
    at_once(lambda do: do(), stopping + going_on)
    assert sums() == everywhere(8, 0)
    assert not recompute_spending()
