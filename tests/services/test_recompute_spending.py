"""The running sums are the ledger's, to the last digit, whatever has happened."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatsite.accounts.models import Limits
from conversations.core.errors import AccessError
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion, Spending
from conversations.models.completion import Purpose
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion, settle_completion
from conversations.services.ledger.recompute_spending import recompute_spending
from tests.services.spending import sums
from tests.support.hypothesis_profile import count_cases
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
REFUSALS = {"price_unknown", "reply_too_expensive", "money_forbidden", "money_used_up", "money_reserved"}

prices = st.none() | st.builds(
    UnitPrices,
    input_usd=st.none() | st.decimals(0, 1_000, places=8),
    output_usd=st.decimals(0, 1_000, places=8),
    cached_input_usd=st.none() | st.decimals(0, 1_000, places=8),
)
tokens = st.integers(0, 10_000_000)
usages = st.builds(
    lambda input_tokens, output_tokens, cached: Usage(input_tokens, output_tokens, min(cached, input_tokens)),
    *(tokens, tokens, tokens),
)
outcomes = st.one_of(
    st.builds(Outcome, usage=usages),
    st.builds(Outcome, text=st.text(max_size=20), finish_reason=st.just("stopped")),
    st.builds(Outcome, not_billed=st.just(True), error_code=st.just("provider_unavailable")),
)
OPEN = st.tuples(st.just("open"), st.sampled_from(["alice", "bob", None]), prices, tokens, tokens)
SETTLE = st.tuples(st.just("settle"), st.integers(0, 30), outcomes)
DELETE = st.tuples(st.just("delete"))
LIMIT = st.tuples(st.just("limit"), st.none() | st.decimals(0, 100, places=2))


class History:
    """People who ask and are answered, until one of them is deleted."""

    def __init__(self):
        self.people = {name: make_user(name) for name in ("alice", "bob")}
        self.opened = []

    def open(self, name, prices, prompt_tokens, output_tokens):
        new = NewCompletion(
            purpose=Purpose.REPLY,
            user=self.people.get(name),
            language_model="letters",
            body={},
            prices=prices,
            prompt_tokens=prompt_tokens,
            most_prompt_tokens=prompt_tokens,
            max_output_tokens=output_tokens,
        )
        try:
            self.opened.append(open_completion(new))
        except AccessError as refused:
            assert refused.code in REFUSALS  # noqa: PT017

    def settle(self, number, outcome):
        if self.opened:
            settle_completion(self.opened[number % len(self.opened)], outcome)

    def delete(self):
        if bob := self.people.pop("bob", None):
            bob.delete()

    def limit(self, money):
        Limits.objects.update_or_create(user=self.people["alice"], defaults={"money_per_day_usd": money})


@settings(max_examples=count_cases(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(st.one_of(OPEN, OPEN, SETTLE, SETTLE, DELETE, LIMIT), max_size=25))
def test_whatever_happens_the_sums_are_those_of_the_ledger(history):
    Completion.objects.all().delete()
    Spending.objects.all().delete()
    happening = History()
    try:
        for what, *how in history:
            getattr(happening, what)(*how)
        assert not recompute_spending()
        assert all(reserved >= 0 for _, reserved in sums().values())
    finally:
        for person in happening.people.values():
            person.delete()


def open_row(name="alice"):
    history = History()
    history.open(name, UnitPrices(Decimal(1), Decimal(2)), 1_000_000, 0)
    return history.opened[0]


def recompute(**options):
    said = StringIO()
    call_command("recompute_sums", stdout=said, **options)
    return said.getvalue()


def test_what_a_user_changed_by_hand_is_mended_and_said():
    completion = open_row()
    Spending.objects.filter(user=None, period="day").update(spent_usd=5)
    Spending.objects.filter(user=completion.user, period="month").delete()
    said = recompute()
    assert "the site, day of" in said
    assert "spent 5.0000000000 → 0" in said
    assert said.endswith("2 corrected.\n")
    assert recompute() == "All sums match the ledger.\n"


def test_a_dry_run_changes_nothing():
    open_row()
    Spending.objects.filter(user=None, period="day").update(reserved_usd=0)
    assert recompute(dry_run=True).endswith("1 wrong.\n")
    assert sums()[None, "day"] == (0, 0)


def test_a_sum_without_anything_in_the_ledger_is_nothing():
    completion = open_row()
    Completion.objects.all().delete()
    recompute()
    assert {row.reserved_usd for row in Spending.objects.all()} == {0}
    assert Spending.objects.filter(user=completion.user).count() == 2
