"""The first page as a whole."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone

from conversations.models import Completion
from tests.admin.conftest import signed_in
from tests.admin.stored import make_completion, make_conversation, make_person

INDEX = reverse("admin:index")
YESTERDAY = timezone.now() - dt.timedelta(days=1)


def test_an_empty_site_says_what_will_be_here(page):
    text = page()
    assert "No language model has been asked yet" in text
    assert "<canvas" not in text


def test_days_without_completions_say_so_and_leave_the_choice(page, alice):
    make_completion(alice)
    text = page("?from=2020-01-01&to=2020-01-31")
    assert "Nothing in these days" in text
    assert 'name="from"' in text


def test_it_takes_the_same_queries_however_much_there_is(queries_for, alice):
    make_completion(alice)
    few = queries_for(INDEX)
    for number in range(12):
        conversation = make_conversation(make_person(f"person{number}"))
        make_completion(
            conversation.owner, reply=conversation.head, language_model=f"model {number}", error_code=f"error {number}"
        )
    assert queries_for(INDEX) == few <= 9


def test_each_filter_by_an_id_takes_one_query_more(queries_for, alice):
    make_completion(alice)
    assert queries_for(f"{INDEX}?user={alice.pk}") == queries_for(INDEX) + 1


def test_costs_are_exact_to_the_last_digit(page, alice):
    make_completion(alice, cost_usd="0.1000000001")
    make_completion(alice, cost_usd="1234.0000000002")
    assert "$1,234.10<small>00000003</small>" in page()


def test_every_table_adds_up_to_the_ledger(overview, alice):
    for number in range(13):
        person = make_person(f"person{number}")
        conversation = make_conversation(person, turns=0)
        reply = {"conversation": conversation, "scenario": conversation.scenario}
        make_completion(person, cost_usd=Decimal(number) / 7, **reply)
    make_completion(None, cost_usd="0.0000000001")
    shown = overview()
    ledger = Completion.objects.aggregate(cost=Sum("cost_usd"))["cost"]
    assert shown.figures.total.cost_usd == ledger
    assert sum(day.totals.cost_usd for day in shown.days) == ledger
    for table in shown.tables:
        assert sum(row.totals.cost_usd for row in table.rows) == ledger, table.key


def test_unknown_costs_are_counted_and_never_shown_as_nothing(overview, alice):
    make_completion(alice, cost_usd=None)
    cost = overview().cards[0]
    assert "unknown" in cost.value
    assert cost.note == "1 request at an unknown price"


def test_days_that_cost_nothing_are_not_days_without_a_price(page, alice):
    make_completion(alice, cost_usd="0")
    assert "so neither did context" in page()
    make_completion(alice, cost_usd=None)
    assert "No reply in these days has a known price yet" in page()


def test_what_still_runs_is_counted_apart(overview, alice):
    make_completion(alice)
    make_completion(alice, ended_at=None, cost_usd=None)
    shown = overview()
    assert shown.figures.total.completions == 1
    assert shown.cards[-1].value == "1"


def test_a_filter_holds_for_every_figure_and_can_be_taken_away(overview, alice):
    make_completion(alice, cost_usd="1", error_code="rate_limited")
    make_completion(make_person("bob"), cost_usd="2", error_code="provider_timed_out")
    shown = overview(f"?period=7-days&user={alice.pk}")
    assert shown.figures.total.cost_usd == 1
    assert [failure.error_code for failure, _ in shown.failures] == ["rate_limited"]
    (chip,) = shown.chips
    assert (chip.value, chip.without) == (alice.email, "?period=7-days")


def test_who_is_gone_can_still_stand_in_an_address(overview, alice):
    make_completion(alice)
    (chip,) = overview("?user=999999").chips
    assert chip.value == "number 999999 (deleted)"


def test_days_are_those_of_the_viewer(admin_browser, alice):
    make_completion(alice, at=dt.datetime(2026, 3, 1, 23, 30, tzinfo=dt.UTC))
    admin_browser.cookies["tz"] = "Asia/Tokyo"
    response = admin_browser.get(f"{INDEX}?from=2026-03-02&to=2026-03-02")
    assert response.context["overview"].figures.total.completions == 1
    assert "Asia/Tokyo" in response.content.decode()


def test_the_days_before_are_compared_with(overview, alice):
    make_completion(alice, cost_usd="3")
    make_completion(alice, cost_usd="2", at=YESTERDAY)
    assert overview("?period=today").cards[0].changed == "+50.0 %"


def test_a_reviewer_sees_the_figures(alice):
    make_completion(alice)
    reviewer = signed_in(make_person("grace", role="reviewer"))
    assert reviewer.get(INDEX).context["overview"].figures.total.completions == 1


def test_no_title_of_a_conversation_is_on_the_page(page, alice):
    make_conversation(alice, title="My secret plans")
    assert "My secret plans" not in page()


def test_hostile_names_are_text(page, alice):
    make_completion(alice, language_model="</script><script>alert(1)</script>", error_code='"><b>')
    text = page() + page("?language_model=%3C/script%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in text
    assert '"><b>' not in text
