"""A person's own page of usage, and its files: their own figures, all of them, by their own clock."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.models import SiteBudget
from conversations.models import Completion
from conversations.selectors.figures.totals import Totals
from conversations.services.conversations.deletion import delete_conversation
from tests.admin.stored import make_completion, make_conversation, make_person, say
from tests.services.spending import limit, open_row

pytestmark = pytest.mark.django_db
USAGE, EXPORT = "conversations:usage", "conversations:export_usage"
TABLES = ("by_day", "by_conversation", "by_language_model", "by_purpose")
UNTIDY = '<img src=x onerror="alert(1)">\u202egnp\x07'


@pytest.fixture
def alice(client):
    user = make_person("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def talk(user, title, *costs_usd, **fields):
    """Store a conversation with a reply for each cost."""
    conversation = make_conversation(user, title=title, turns=0)
    for cost_usd in costs_usd:
        say(conversation, "user", "And?")
        reply = say(conversation, "assistant", "So.")
        make_completion(user, reply=reply, cost_usd=cost_usd and Decimal(cost_usd), **fields)
    return conversation


def context_of(client, **query):
    return client.get(reverse(USAGE), query).context


def page_of(client, **query):
    return client.get(reverse(USAGE), query).content.decode()


def file_of(client, by, **query):
    response = client.get(reverse(EXPORT), {"by": by, **query})

    async def drained():
        return b"".join([piece async for piece in response.streaming_content])

    return list(csv.DictReader(io.StringIO(async_to_sync(drained)().decode("utf-8-sig"), newline="")))


def names(rows):
    return [row.name for row in rows]


def add_random_usage(user, *, seed):
    chance = random.Random(seed)
    for number in range(25):
        costs = [chance.choice([None, "0", f"0.00{chance.randrange(1, 10**7)}"]) for _ in range(chance.randrange(1, 3))]
        fields = {"purpose": chance.choice(["reply", "title"]), "language_model": chance.choice(["one", "two"])}
        fields |= {"error_code": chance.choice(["", "provider_timed_out"])}
        conversation = talk(user, f"Talk {number}", *costs, **fields)
        if chance.random() < 0.3:
            delete_conversation(conversation)
        if chance.random() < 0.2:
            conversation.delete()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_table_and_every_file_adds_up_to_the_ledger(client, alice, seed):
    add_random_usage(alice, seed=seed)
    talk(make_person("bob"), "Not hers", "7")
    own = Completion.objects.filter(user=alice)
    known = sum((row.cost_usd for row in own if row.cost_usd is not None), Decimal(0))
    context = context_of(client)
    assert (context["total"].cost_usd, context["total"].completions) == (known, own.count())
    for table in TABLES:
        assert context["total"].without(row.totals for row in context[table]) == Totals(), table
        rows = file_of(client, table.removeprefix("by_"))
        assert sum(Decimal(row["cost_usd"]) for row in rows) == known
        assert sum(int(row["unknown_costs"]) for row in rows) == own.filter(cost_usd=None).count()


def test_a_reply_of_several_steps_is_one_reply_of_several_requests(client, alice):
    conversation = make_conversation(alice, turns=0)
    reply = say(conversation, "assistant", "So.")
    for step, purpose in ((1, "tool_step"), (2, "tool_step"), (3, "reply")):
        make_completion(alice, reply=reply, step=step, purpose=purpose, cost_usd=Decimal("0.5"))
    (row,) = file_of(client, "conversation")
    assert (row["replies"], row["completions"], Decimal(row["cost_usd"])) == ("1", "3", Decimal("1.5"))
    assert {row.name: row.totals.completions for row in context_of(client)["by_purpose"]} == {
        "Tool step": 2,
        "Reply": 1,
    }
    assert "takes several requests" in page_of(client)


def test_another_users_usage_is_not_there(client, alice):
    talk(make_person("bob"), "Bob’s secret", "7")
    assert context_of(client)["total"] == Totals()
    assert "Bob" not in page_of(client)
    assert file_of(client, "conversation") == []


def test_an_unknown_cost_is_told_and_is_not_zero(client, alice):
    talk(alice, "Priceless", None)
    context = context_of(client)
    assert [row.totals.unknown_costs for row in context["by_conversation"]] == [1]
    assert "1 unknown in total" in context["charts"][0].summary
    assert '<dd><span class="unknown">1 unknown</span></dd>' in page_of(client)
    assert file_of(client, "conversation")[0]["unknown_costs"] == "1"


def test_every_column_of_tokens_says_what_it_counts(client, alice):
    talk(alice, "Cats", Decimal("0.01"))
    page = page_of(client)
    for name in ("Input tokens", "Input from the cache", "Output tokens"):
        assert page.count(f'<th scope="col">{name}</th>') == 4


def test_deleted_conversations_are_one_row_without_their_titles(client, alice):
    delete_conversation(talk(alice, "First secret", "1"))
    talk(alice, "Second secret", "2").delete()
    talk(alice, "There", "4")
    rows = context_of(client)["by_conversation"]
    assert names(rows) == ["There", "Deleted or outside conversations"]
    assert rows[1].totals.cost_usd == 3
    assert "secret" not in page_of(client)
    assert [row["conversation"] for row in file_of(client, "conversation")] == names(rows)


def test_many_conversations_end_in_one_row_for_the_others(client, alice):
    for number in range(23):
        talk(alice, f"Talk {number}", f"0.{number + 1:02}")
    rows = context_of(client)["by_conversation"]
    assert (len(rows), rows[-1].name, rows[-1].totals.cost_usd) == (21, "3 others", Decimal("0.06"))
    assert len(file_of(client, "conversation")) == 23


def test_a_title_is_text_on_the_page(client, alice):
    talk(alice, UNTIDY, "1")
    page = page_of(client)
    assert "<img" not in page
    assert "<bdi>&lt;img src=x" in page


@pytest.mark.parametrize("title", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\u200b=1"])
def test_a_title_is_no_formula_in_the_file(client, alice, title):
    talk(alice, title, "1")
    assert file_of(client, "conversation")[0]["conversation"].startswith("'")


def test_a_file_is_named_after_its_days_and_has_every_day(client, alice):
    response = client.get(reverse(EXPORT), {"by": "day", "from": "2026-03-28", "to": "2026-03-30"})
    assert 'filename="usage-by-day-2026-03-28-2026-03-30.csv"' in response["Content-Disposition"]
    rows = file_of(client, "day", **{"from": "2026-03-28", "to": "2026-03-30"})
    assert [row["day"] for row in rows] == ["2026-03-28", "2026-03-29", "2026-03-30"]


def test_a_table_that_is_none_is_refused(client, alice):
    assert client.get(reverse(EXPORT), {"by": "user"}).status_code == 400


@pytest.mark.parametrize(
    ("zone", "day"), [("Europe/Berlin", "2026-03-29"), ("Pacific/Auckland", "2026-03-30"), ("", "2026-03-29")]
)
def test_days_are_those_of_the_persons_clock_also_where_it_is_changed(client, alice, zone, day):
    """At 21:30 UTC it is 23:30 in Berlin, on the day that has 23 hours there."""
    make_completion(alice, at=dt.datetime(2026, 3, 29, 21, 30, tzinfo=dt.UTC))
    client.cookies["tz"] = zone
    rows = file_of(client, "day", **{"from": "2026-03-28", "to": "2026-03-31"})
    assert [row["day"] for row in rows if row["completions"] != "0"] == [day]


def test_more_usage_takes_no_more_queries(client, alice):
    talk(alice, "One", "1")
    page_of(client)
    with CaptureQueriesContext(connection) as few:
        page_of(client)
    add_random_usage(alice, seed=3)
    with CaptureQueriesContext(connection) as many:
        page_of(client, period="12-months")
    assert len(many) == len(few)


def test_where_nothing_was_used_the_page_leads_to_a_conversation(client, alice):
    page = page_of(client)
    assert "No usage in these days." in page
    assert "<table" not in page


def test_what_is_left_is_told_and_everybodys_only_as_a_share(client, alice):
    limit(alice, money_per_day_usd=2)
    SiteBudget.objects.update_or_create(defaults={"money_per_month_usd": 40})
    open_row(alice, worst_usd=Decimal("0.5"))
    yours, everybodys = context_of(client)["allowances"]
    assert (str(yours.name), yours.left) == ("You, today", "$1.50 of $2.00 left until 00:00 UTC")
    assert "$0.50" in yours.held_back
    assert everybodys.left.startswith("98.0 % left until ")
    assert (yours.used_width, everybodys.used_width, everybodys.held_back) == ("25.00%", "1.25%", "")


def test_where_nothing_may_be_spent_it_says_so(client, alice):
    limit(alice, money_per_day_usd=0)
    assert [line.left for line in context_of(client)["allowances"]] == ["No spending allowed."]


def test_the_cost_of_context_is_told_in_money_and_as_a_factor(client, alice):
    talk(alice, "Long", "0.30", cost_without_history_usd=Decimal("0.10"))
    assert "$0.20 more" in context_of(client)["cost_of_context"]
    assert "×\N{NO-BREAK SPACE}3.00" in context_of(client)["cost_of_context"]


def test_the_cost_of_context_is_not_told_where_it_is_unknown(client, alice):
    talk(alice, "Priceless", None)
    assert context_of(client)["cost_of_context"] == ""


def test_the_chart_has_a_bar_for_every_day_and_marks_those_with_unknown_costs(client, alice):
    talk(alice, "Both", "0.03", None)
    money, tokens = context_of(client, period="7-days")["charts"]
    assert [bool(bar.parts) for bar in money.bars] == [False] * 6 + [True]
    assert [bar.has_unknown for bar in money.bars] == [False] * 6 + [True]
    assert [part.kind for part in tokens.bars[-1].parts] == ["cached", "input", "output"]
    assert money.top == "$0.05"


@pytest.mark.parametrize(
    "query", [{"from": "yesterday"}, {"from": "2026-13-01"}, {"to": "9" * 400}, {"period": "ever"}]
)
def test_days_that_are_none_are_the_usual_ones(client, alice, query):
    chosen = context_of(client, **query)["chosen"]
    assert (chosen.name, len(chosen.period.days)) == ("30-days", 30)


def test_a_thousand_years_are_the_last_one_of_them(client, alice):
    context = context_of(client, **{"from": "1026-01-01", "to": "2926-01-01"})
    assert len(context["chosen"].period.days) == 366
    assert context["chosen"].period.last == timezone.now().date()
    assert context["chosen"].notice in page_of(client, **{"from": "1026-01-01", "to": "2926-01-01"})


def test_days_the_wrong_way_round_are_turned(client, alice):
    period = context_of(client, **{"from": "2026-03-03", "to": "2026-03-01"})["chosen"].period
    assert (period.first, period.last) == (dt.date(2026, 3, 1), dt.date(2026, 3, 3))
