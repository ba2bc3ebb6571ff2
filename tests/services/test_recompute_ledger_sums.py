"""Sums of the ledger that were changed by hand are found, reported and mended."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from conversations.models import Completion, LedgerSum, RolledUpSum
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from tests.services.spending import open_row, settle_at
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def completion():
    row = open_row(make_user("alice"))
    settle_at(row, "0.25")
    return row


def recompute(**options):
    said = StringIO()
    call_command("recompute_sums", stdout=said, **options)
    return said.getvalue()


def test_nothing_differs_while_no_one_changes_anything(completion):
    assert recompute() == "All sums match the ledger.\n"


def test_a_sum_that_is_not_there_is_written(completion):
    LedgerSum.objects.all().delete()
    said = recompute()
    assert f"user {completion.user_id}, " in said
    assert "UTC, letters, reply: completions 0 → 1, cost 0 → 0.2500000000\n1 corrected.\n" in said
    assert LedgerSum.objects.get().cost_usd == Decimal("0.25")


def test_a_sum_of_nothing_in_the_ledger_is_taken_away(completion):
    Completion.objects.all().delete()
    (found,) = recompute_ledger_sums()
    assert (found.stored_completions, found.completions) == (1, 0)
    assert not LedgerSum.objects.exists()


@pytest.mark.parametrize("column", ["replies", "reasoning_tokens", "estimate_error_tokens", "cost_without_history_usd"])
def test_every_column_is_compared(completion, column):
    LedgerSum.objects.update(**{column: 7})
    assert len(recompute_ledger_sums()) == 1
    assert not recompute_ledger_sums()


def test_a_dry_run_changes_nothing(completion):
    LedgerSum.objects.update(completions=5)
    assert recompute(dry_run=True).endswith("1 wrong.\n")
    assert LedgerSum.objects.get().completions == 5


def test_a_sum_of_a_closed_day_is_mended_too(completion):
    Completion.objects.update(created_at="2026-10-31T12:00Z")
    recompute()
    close_days(at_most=1)
    RolledUpSum.objects.filter(dimension="purpose", span="day").update(completions=5)
    said = recompute()
    changed = "completions 5 → 1, cost 0.2500000000 → 0.25"
    assert f"rolled up purpose by the day reply, 2026-10-31 00:00 UTC: {changed}" in said
    assert recompute() == "All sums match the ledger.\n"


def test_what_still_runs_is_in_no_sum():
    open_row(make_user("alice"))
    assert not LedgerSum.objects.exists()
    assert not recompute_ledger_sums()
