"""Reservations of tool loops, in any order: no limit is passed, sums are the ledger's, nothing stays reserved."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.core.errors import AccessError
from conversations.core.money.usage import Usage
from conversations.models import Completion, Run, Spending
from conversations.services.ledger.ledger import Outcome, settle_abandoned, settle_completion
from conversations.services.ledger.recompute_spending import recompute_spending
from conversations.services.ledger.reservations import LoopNotCovered
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, STOPPED, end_reply
from tests.services.spending import limit, open_row, sums
from tests.support.hypothesis_profile import count_cases
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
DAILY_USD = 6

number = st.integers(0, 9)
money = st.sampled_from([Decimal(cents) / 100 for cents in (0, 25, 100, 300)])
BEGIN = st.tuples(st.just("begin"), money, money)
OPEN = st.tuples(st.just("open"), number, money, money)
SETTLE = st.tuples(st.just("settle"), number, st.sampled_from(["0", "0.5", "1"]))
AWAIT_APPROVAL = st.tuples(st.just("await_approval"), number)
END = st.tuples(st.just("end"), number, st.sampled_from([COMPLETE, STOPPED]))
KILL = st.tuples(st.just("kill"), number)
DELETE = st.tuples(st.just("delete"), number)


class Loops:
    """Replies of Alice that are being made, each with its newest request."""

    def __init__(self):
        self.alice = make_user("alice")
        limit(self.alice, money_per_day_usd=DAILY_USD, replies_at_once=100, messages_per_minute=100)
        self.replies = []
        self.opened = {}

    def begin(self, worst_usd, follow_usd):
        self.replies.append(post(begin(self.alice), "What is 17 × 23?").reply)
        self._open(self.replies[-1], worst_usd, follow_usd)

    def open(self, number, worst_usd, follow_usd):
        if (reply := self._reply(number)) and reply.pk not in self.opened:
            self._open(reply, worst_usd, follow_usd)

    def _open(self, reply, worst_usd, follow_usd):
        for loop_usd in (follow_usd, Decimal(0)):
            try:
                self.opened[reply.pk] = open_row(self.alice, reply=reply, worst_usd=worst_usd, loop_usd=loop_usd)
                return
            except (LoopNotCovered, AccessError):
                continue

    def settle(self, number, share):
        if (reply := self._reply(number)) and (completion := self.opened.pop(reply.pk, None)):
            tokens = int(completion.reserved_usd * Decimal(share) * 1_000_000)
            settle_completion(completion, Outcome(usage=Usage(tokens, 0)))  # unless the one that killed it has

    def await_approval(self, number):
        if reply := self._reply(number):
            Run.objects.filter(reply=reply, state="waiting").update(
                state="awaiting_approval", lease_until="2026-01-01T00:00Z"
            )

    def end(self, number, ending):
        """A request that was open is settled after the reply has ended, as when its owner stops it."""
        if reply := self._reply(number):
            end_reply(reply.pk, ending)

    def kill(self, number):
        if reply := self._reply(number):
            settle_abandoned(reply.pk, text="", error_code="reply_interrupted")
            end_reply(reply.pk, INTERRUPTED)

    def delete(self, number):
        if reply := self._reply(number):
            self.replies.remove(reply)
            completion = self.opened.pop(reply.pk, None)
            reply.conversation.delete()
            if completion:
                settle_completion(completion, Outcome(not_billed=True))

    def _reply(self, number):
        return self.replies[number % len(self.replies)] if self.replies else None

    def let_all_end(self):
        for number in range(len(self.replies)):
            self.settle(number, "1")
            self.end(number, COMPLETE)


def check(loops):
    connection.check_constraints()  # which is what the end of a transaction does
    assert not recompute_spending()
    for (user, period), (spent, reserved) in sums().items():
        assert reserved >= 0
        assert user is None or spent + reserved <= DAILY_USD or period == "month"


@settings(max_examples=count_cases(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(st.one_of(BEGIN, OPEN, OPEN, SETTLE, SETTLE, AWAIT_APPROVAL, END, KILL, DELETE), max_size=12))
def test_whatever_happens_no_money_is_lost_and_none_is_spent_that_is_not_there(history):
    loops = Loops()
    try:
        for what, *how in history:
            getattr(loops, what)(*how)
            check(loops)
        loops.let_all_end()
        check(loops)
        assert {reserved for _, reserved in sums().values()} <= {0}
    finally:
        loops.alice.delete()
        connection.check_constraints()
        Completion.objects.all().delete()
        Spending.objects.all().delete()
