"""The first page."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from tests.admin.stored import make_completion, make_person

INDEX = reverse("admin:index")


@pytest.fixture
def page(admin_browser):
    return lambda: admin_browser.get(INDEX).content.decode()


def test_an_empty_site_says_what_will_be_here(page):
    text = page()
    assert "No language model has been asked yet" in text
    assert "<canvas" not in text


def test_it_takes_the_same_queries_however_much_there_is(queries_for, alice):
    make_completion(alice)
    few = queries_for(INDEX)
    for number in range(30):
        make_completion(make_person(f"person{number}"), language_model=f"model {number}", error_code=f"error {number}")
    assert queries_for(INDEX) == few <= 10


def test_costs_are_exact_to_the_last_digit(page, alice):
    make_completion(alice, cost_usd="0.1000000001")
    make_completion(alice, cost_usd="1234.0000000002")
    assert "$1,234.10<small>00000003</small>" in page()


def test_unknown_costs_are_counted_and_never_shown_as_nothing(page, alice):
    make_completion(alice, cost_usd=None)
    text = page()
    assert "1 completion at an unknown price" in text
    assert text.count("$0.00") == 29  # the days without completions


def test_the_charts_have_one_bar_for_each_of_30_days(admin_browser, alice):
    make_completion(alice, cost_usd="0.25")
    chart = json.loads(admin_browser.get(INDEX).context["figures"]["cost_chart"]["data"])
    assert len(chart["labels"]) == 30
    assert chart["datasets"][0]["data"] == [0.0] * 29 + [0.25]


def test_the_bars_of_tokens_do_not_count_the_cache_twice(admin_browser, alice):
    make_completion(alice, input_tokens=100, cached_input_tokens=40, output_tokens=7)
    chart = json.loads(admin_browser.get(INDEX).context["figures"]["token_chart"]["data"])
    assert [series["data"][-1] for series in chart["datasets"]] == [60, 40, 7]


def test_people_models_and_failures_lead_to_their_rows_of_the_ledger(page, alice):
    make_completion(alice, language_model="a/b&c", error_code="provider_timed_out")
    make_completion(None)
    text = page()
    for query in (f"user={alice.pk}", "user__isnull=1", "language_model=a%2Fb%26c", "error_code=provider_timed_out"):
        assert f"?{query}" in text


def test_hostile_names_are_text(page, alice):
    make_completion(alice, language_model="</script><script>alert(1)</script>", error_code='"><b>')
    text = page()
    assert "<script>alert" not in text
    assert '"><b>' not in text
