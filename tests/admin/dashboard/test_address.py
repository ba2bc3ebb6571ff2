"""What stands in the address of the first page."""

from __future__ import annotations

import datetime as dt
from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import QueryDict
from django.urls import reverse

from conversations.admin.dashboard.address import Address, read_filters
from conversations.selectors.figures.figures import Filters
from conversations.views.usage.period_form import choose_period
from tests.admin.stored import make_completion, make_person

TODAY = dt.date(2026, 11, 21)


def address(query: str) -> Address:
    asked = QueryDict(query)
    return Address(choose_period(asked, today=TODAY, zone=dt.UTC), read_filters(asked))


@pytest.mark.parametrize(
    "query", ["user=-1", "user=x", "user=%D9%A3", "user=" + "9" * 30, "purpose=nonsense", "scenario="]
)
def test_what_can_not_be_asked_for_is_not_asked_for(query):
    assert read_filters(QueryDict(query)) == Filters()


def test_all_that_is_chosen_stands_in_it():
    query = "period=7-days&user=3&language_model=a%2Fb%26c&purpose=reply"
    assert address(query).query == f"?{query}"


def test_a_filter_is_added_to_the_others_and_taken_away_alone():
    here = address("period=today&user=3")
    assert here.narrowed(scenario_id=4) == "?period=today&user=3&scenario=4"
    assert here.widened("user_id") == "?period=today"


def test_another_period_keeps_the_filters():
    assert "?period=yesterday&user=3" in [way for _, way in address("user=3").periods]


def test_files_are_of_the_same_days_and_filters():
    assert (
        address("from=2026-11-01&to=2026-11-02&user=3")
        .file("day")
        .endswith("/figures/day.csv?from=2026-11-01&to=2026-11-02&user=3")
    )


def test_the_rows_of_the_ledger_are_those_of_its_days_and_filters(admin_browser, alice):
    inside = make_completion(alice, at=dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    make_completion(alice, at=dt.datetime(2026, 11, 2, tzinfo=dt.UTC))
    make_completion(make_person("bob"), at=dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    way = address(f"from=2026-11-01&to=2026-11-01&user={alice.pk}").completions(error_code="")
    assert [row.pk for row in admin_browser.get(way).context["cl"].result_list] == [inside.pk]


@pytest.mark.parametrize("lookup", ["user__isnull", "conversation__isnull", "scenario__isnull"])
def test_what_belongs_to_no_user_can_be_listed(admin_browser, alice, lookup):
    nobodys = make_completion(None)
    make_completion(alice, conversation=None)
    way = address("period=30-days").completions(**{lookup: 1})
    assert parse_qs(urlsplit(way).query)[lookup] == ["1"]
    response = admin_browser.get(reverse("admin:conversations_completion_changelist") + f"?{lookup}=1")
    assert nobodys in response.context["cl"].result_list
