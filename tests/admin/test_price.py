"""What each language model costs, and the prices that an admin sets."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.urls import reverse

from conversations.models import Completion, Price
from conversations.models.price import today
from conversations.services.language_models.prices import find_unit_prices
from tests.admin.conftest import signed_in
from tests.admin.stored import make_completion, make_person
from tests.support.waiting import wait_for_lock_waits

LIST = reverse("admin:conversations_price_changelist")
ADD = reverse("admin:conversations_price_add")
DAY = dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def _language_models(settings):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = (
        "gpt-4o-mini, gpt-6.1-sol, house context_window=4096 input_usd=0.25 output_usd=2, odd context_window=99"
    )


def set_price(language_model="odd", days=0, dollars="7", **fields):
    values = {"input_usd": dollars, "output_usd": dollars}
    return Price.objects.create(language_model=language_model, valid_from=today() + days * DAY, **values | fields)


def form(**fields):
    return {"language_model": "odd", "valid_from": today(), "input_usd": "0.5", "output_usd": "2", "note": ""} | fields


def refused(browser, **fields):
    """Return what the form says is wrong; nothing may be stored."""
    response = browser.post(ADD, form(**fields))
    assert response.status_code == 200
    assert not Price.objects.exists()
    return dict(response.context["adminform"].form.errors)


def page_of(browser, url=LIST):
    return browser.get(url).content.decode()


def test_our_costs_stand_beside_those_that_the_provider_reports(admin_browser):
    alice = make_person("alice")
    for cost_usd, reported_cost_usd in (("1", "1"), ("1", "1.25"), (None, "7"), ("5", None)):
        make_completion(alice, cost_usd=cost_usd, reported_cost_usd=reported_cost_usd)
    [row] = admin_browser.get(LIST).context["reported"]
    assert (row.requests, row.differing, row.unpriced) == (2, 1, 1)
    assert (row.cost_usd, row.reported_cost_usd, row.difference_percent) == (2, Decimal("2.25"), Decimal("12.5"))
    page = page_of(admin_browser)
    for words in ("Ours beside what providers report", "+12.5 %", "1 further request without a price of ours"):
        assert words in page


def test_without_reported_costs_nothing_is_compared(admin_browser):
    make_completion(make_person("alice"))
    assert "Ours beside what providers report" not in page_of(admin_browser)


def test_every_configured_model_is_listed_with_its_price_and_where_it_comes_from(admin_browser):
    page = page_of(admin_browser)
    for words in ("gpt-4o-mini", "$0.15", "openai/gpt-4o-mini on", "house", "$0.25", "LANGUAGE_MODELS"):
        assert words in page


def test_a_tier_is_listed_with_its_threshold(admin_browser):
    assert "above 272,000 input tokens" in page_of(admin_browser)


def test_an_unknown_price_is_unknown_and_can_be_entered(admin_browser):
    page = page_of(admin_browser)
    assert '<span class="unknown">unknown</span>' in page
    assert f"{ADD}?language_model=odd" in page
    assert 'value="odd"' in page_of(admin_browser, f"{ADD}?language_model=odd")


def test_what_was_set_is_in_force_and_has_a_history(admin_browser):
    for days, dollars in ((-2, "5"), (0, "6"), (3, "8")):
        set_price(days=days, dollars=dollars)
    response = admin_browser.get(LIST)
    shown = response.context["cl"]
    assert f"set in the admin, valid from {today():%Y-%m-%d}" in response.content.decode()
    assert [shown.model_admin.state(price)[0] for price in shown.result_list] == ["upcoming", "valid now", "replaced"]


def test_a_price_is_stored_as_written_with_who_did_it(admin_browser, superuser):
    assert admin_browser.post(ADD, form(input_usd="0.00000001", note="by letter")).status_code == 302
    price = Price.objects.get()
    assert (price.input_usd, price.cached_input_usd, price.note) == (Decimal("0.00000001"), None, "by letter")
    assert price.created_by == superuser
    assert LogEntry.objects.get().object_id == str(price.pk)


def test_it_holds_at_once(admin_browser):
    admin_browser.post(ADD, form(input_usd="0"))
    assert find_unit_prices("odd", dt.datetime.now(dt.UTC)).input_usd == 0


@pytest.mark.parametrize("name", ["input_usd", "cached_input_usd", "cache_write_usd", "output_usd"])
@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("-0.01", "below 0"),
        ("NaN", "such as 0.15"),
        ("-Infinity", "such as 0.15"),
        ("many", "such as 0.15"),
        ("0,15", "such as 0.15"),
        ("1e30", "Nothing costs more"),
        ("1000000.01", "Nothing costs more"),
        ("0.000000001", "At most 8 decimals"),
    ],
)
def test_what_is_no_price_is_refused_in_words(admin_browser, name, written, words):
    assert words in refused(admin_browser, **{name: written})[name][0]


def test_empty_fields_are_refused_in_words(admin_browser):
    wrong = refused(admin_browser, language_model=" ", input_usd="", output_usd="", valid_from="")
    assert set(wrong) == {"language_model", "input_usd", "output_usd", "valid_from"}
    assert "0 if it costs nothing" in wrong["input_usd"][0]


@pytest.mark.parametrize("day", ["tomorrow", "2026-02-30", "0000-00-00", "99999-01-01"])
def test_a_day_that_is_none_is_refused(admin_browser, day):
    assert set(refused(admin_browser, valid_from=day)) == {"valid_from"}


def test_a_second_price_from_the_same_day_is_refused(admin_browser):
    set_price()
    response = admin_browser.post(ADD, form())
    assert "This language model already has a price from that day" in response.content.decode()
    assert Price.objects.count() == 1


def test_a_model_that_is_not_configured_is_warned_of_and_stored(admin_browser):
    response = admin_browser.post(ADD, form(language_model="gpt-99"), follow=True)
    assert "gpt-99 is not configured on this site" in response.content.decode()
    assert Price.objects.get().language_model == "gpt-99"


def test_a_day_in_the_past_changes_nothing_that_was_paid(admin_browser, alice):
    completion = make_completion(alice, language_model="odd", input_price_usd=1, output_price_usd=1)
    response = admin_browser.post(ADD, form(valid_from=today() - DAY), follow=True)
    assert "keep their cost" in response.content.decode()
    assert Completion.objects.get().cost_usd == completion.cost_usd


def test_a_price_can_be_changed_and_deleted_and_that_is_written_down(admin_browser):
    price = set_price()
    url = reverse("admin:conversations_price_change", args=[price.pk])
    assert admin_browser.post(url, form(input_usd="3")).status_code == 302
    assert Price.objects.get().input_usd == 3
    gone = reverse("admin:conversations_price_delete", args=[price.pk])
    assert admin_browser.post(gone, {"post": "yes"}).status_code == 302
    assert not Price.objects.exists()
    assert LogEntry.objects.count() == 2


def test_a_reviewer_neither_sees_nor_sets_prices(reviewer_browser):
    price = set_price()
    urls = [
        LIST,
        ADD,
        *(reverse(f"admin:conversations_price_{page}", args=[price.pk]) for page in ("change", "delete")),
    ]
    assert [reviewer_browser.get(url).status_code for url in urls] == [403] * 4
    assert [reviewer_browser.post(url, form()).status_code for url in urls] == [403] * 4
    assert Price.objects.get().input_usd == 7


def test_hostile_names_are_text(admin_browser):
    set_price("</datalist><script>alert(1)</script>", note="<script>alert(2)</script>")
    assert "<script>alert" not in page_of(admin_browser)
    assert "<script>alert" not in page_of(
        admin_browser, reverse("admin:conversations_price_change", args=[Price.objects.get().pk])
    )


def test_the_page_takes_the_same_queries_however_much_there_is(queries_for):
    set_price()
    few = queries_for(LIST)
    for number in range(30):
        set_price(f"model {number}")
    assert queries_for(LIST) == few <= 7


@pytest.mark.django_db(transaction=True)
def test_who_saves_a_price_second_is_told_so():
    browser = signed_in(make_person("ada", role="admin"))
    with ThreadPoolExecutor() as threads:
        with transaction.atomic():
            set_price(dollars="7")  # which the other's form can't see yet
            second = threads.submit(_post_and_close, browser, ADD, form())
            wait_for_lock_waits()
        answer = second.result()
    assert "Another admin saved this" in browser.get(answer.url).text
    assert Price.objects.get().input_usd == 7


def _post_and_close(browser, url, fields):
    try:
        return browser.post(url, fields)
    finally:
        connection.close()
