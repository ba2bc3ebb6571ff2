"""What is spent stands beside what may be."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.models import Limits, SiteBudget
from conversations.admin.ledger.spending import Spent
from conversations.models import Spending
from conversations.selectors.figures.spending import spent_now


def test_a_person_s_page_says_what_is_spent_held_back_and_left(admin_browser, alice):
    today = timezone.now().date()
    Limits.objects.create(user=alice, money_per_day_usd="5")
    Spending.objects.create(user=alice, period="day", begins_on=today, spent_usd="1.25", reserved_usd="0.5")
    page = admin_browser.get(reverse("admin:accounts_user_change", args=[alice.pk])).content.decode()
    for amount in ("$1.25", "$0.50", "$5.00", "$3.25"):
        assert amount in page


def test_the_site_s_budget_says_what_everybody_spent(admin_browser):
    SiteBudget.objects.create(money_per_month_usd="100")
    Spending.objects.create(period="month", begins_on=timezone.now().date().replace(day=1), spent_usd="40")
    page = admin_browser.get(reverse("admin:accounts_sitebudget_change", args=[True])).content.decode()
    assert "$60.00" in page


def test_there_is_nothing_to_say_of_a_person_who_is_being_added(admin_browser):
    assert "Reserved" not in admin_browser.get(reverse("admin:accounts_user_add")).content.decode()


def test_sums_of_other_days_and_people_are_left_out(alice):
    at = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
    Spending.objects.create(user=alice, period="day", begins_on=dt.date(2026, 10, 31), spent_usd="1")
    Spending.objects.create(user=None, period="day", begins_on=dt.date(2026, 11, 1), spent_usd="2")
    day, month = spent_now(alice, at=at)
    assert (day.spent_usd, month.spent_usd) == (0, 0)
    assert spent_now(None, at=at)[0].spent_usd == 2


def test_less_than_nothing_is_never_left():
    spent = Spent(Spending(spent_usd=Decimal(3), reserved_usd=Decimal(1)), limit_usd=Decimal(2))
    assert spent.left_usd == 0
