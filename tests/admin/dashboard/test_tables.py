"""The tables of the first page, and where their rows lead."""

from __future__ import annotations

from django.urls import reverse

from conversations.models import Scenario
from conversations.models.scenario import PLAIN
from tests.admin.conftest import signed_in
from tests.admin.stored import make_completion, make_conversation, make_person


def table_of(overview, key: str):
    return next(table for table in overview.tables if table.key == key)


def test_a_row_narrows_the_page_lists_its_completions_and_opens(overview, alice):
    make_completion(alice)
    (row,) = table_of(overview("?period=7-days"), "user").rows
    assert row.links.narrow == f"?period=7-days&user={alice.pk}"
    assert f"user={alice.pk}" in row.links.completions
    assert row.links.subject == reverse("admin:accounts_user_change", args=[alice.pk])


def test_a_reviewer_is_led_to_no_account(alice):
    make_completion(alice)
    page = signed_in(make_person("grace", role="reviewer")).get(reverse("admin:index")).content.decode()
    assert alice.email in page
    assert reverse("admin:accounts_user_change", args=[alice.pk]) not in page


def test_the_most_expensive_is_first_and_the_rest_is_one_row(overview):
    for number in range(12):
        make_completion(make_person(f"person{number}"), cost_usd=number)
    rows = table_of(overview(), "user").rows
    assert rows[0].links.name == "person11@example.org"
    assert (rows[-1].links.name, rows[-1].totals.cost_usd) == ("2 others", 1)


def test_a_row_s_share_is_of_the_cost_and_of_tokens_where_nothing_has_one(overview, alice):
    make_completion(alice, cost_usd=None, input_tokens=60, output_tokens=15)
    make_completion(make_person("bob"), cost_usd=None, input_tokens=20, cached_input_tokens=0, output_tokens=5)
    assert [row.share for row in table_of(overview(), "user").rows] == [750, 250]


def test_of_purposes_requests_are_counted_because_a_reply_with_tools_has_several(overview, page, alice):
    for step, purpose in ((1, "tool_step"), (2, "tool_step"), (3, "reply")):
        make_completion(alice, step=step, purpose=purpose)
    table = table_of(overview(), "purpose")
    assert {row.links.name: row.totals.completions for row in table.rows} == {"Tool step": 2, "Reply": 1}
    assert [each.key for each in overview().tables if each.counts_requests] == ["purpose"]
    assert "takes several requests" in page()


def test_the_site_s_own_scenario_is_called_in_the_reader_s_language(admin_browser, alice):
    make_completion(alice, scenario=Scenario.objects.create(name=PLAIN))
    page = admin_browser.get(reverse("admin:index"), headers={"accept-language": "zh-hans"}).content.decode()
    assert "普通对话" in page
    assert PLAIN not in page


def test_what_belongs_to_no_user_leads_to_the_ledger_alone(overview):
    make_completion(None)
    shown = overview()
    for key in ("user", "conversation", "scenario"):
        (row,) = table_of(shown, key).rows
        assert (row.links.narrow, row.links.subject) == ("", "")
        assert "__isnull=1" in row.links.completions


def test_the_completions_of_a_conversation_are_listed_most_expensive_first(admin_browser, overview, alice):
    conversation = make_conversation(alice, turns=0)
    made = [make_completion(alice, conversation=conversation, cost_usd=cost) for cost in ("1", "3", None, "2")]
    (row,) = table_of(overview(), "conversation").rows
    shown = admin_browser.get(row.links.completions).context["cl"].result_list
    assert list(shown) == [made[1], made[3], made[0], made[2]]


def test_a_conversation_goes_by_its_owner_and_the_beginning_of_its_id(overview, alice):
    conversation = make_conversation(alice, title="Boats")
    (row,) = table_of(overview(), "conversation").rows
    assert row.links.name == f"{str(conversation.public_id)[:8]} · {alice.email}"
    assert row.links.subject == reverse("admin:conversations_conversation_change", args=[conversation.pk])
