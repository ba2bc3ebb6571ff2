"""What people are told of their money: beside the draft, in the preview, and where no script runs."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from chatsite.accounts.models import Limits, SiteBudget, User
from conversations.core.errors import ReplyTooExpensive
from conversations.core.money.allowance import Allowance
from conversations.models import Document, Scenario, Spending
from conversations.services.conversations.default_scenario import default_scenario
from conversations.views.usage.money_left import money_left_sentence
from conversations.wording.error_sentences import ReaderLocale
from tests.grounding.documents import store_document
from tests.services.spending import open_row, settle_at
from tests.support.people import begin, make_user, post

TODAY = dt.date(2026, 11, 21)
pytestmark = pytest.mark.django_db
PRICED = "letters context_window=4096 reply_reserve=1000 encoding=o200k_base input_usd=10 output_usd=20"


@pytest.fixture
def alice(client, settings):
    settings.OPENAI_BASE_URL, settings.LANGUAGE_MODELS = "http://127.0.0.1:9/v1", PRICED
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def limit(user, **money):
    Limits.objects.update_or_create(user=user, defaults=money)


def estimate(client, content="Hello"):
    return client.post(reverse("conversations:estimate"), {"content": content}).json()


def test_what_sending_costs_is_said_where_nothing_is_limited_unless_costs_are_hidden(client, alice):
    assert estimate(client)["money"] == {"left": "", "most": "sending costs up to $0.03"}
    User.objects.filter(pk=alice.pk).update(shows_costs=False)
    assert estimate(client)["money"] == {"left": "", "most": ""}


def test_a_model_that_costs_nothing_is_free_and_one_without_a_price_unknown(client, alice, settings):
    settings.LANGUAGE_MODELS = PRICED.replace("input_usd=10 output_usd=20", "input_usd=0 output_usd=0")
    assert estimate(client)["money"]["most"] == "sending is free"
    settings.LANGUAGE_MODELS = PRICED.replace(" input_usd=10 output_usd=20", "")
    assert estimate(client)["money"]["most"] == "cost of sending: unknown"


def test_what_is_left_and_what_sending_costs_at_most_are_said(client, alice):
    limit(alice, money_per_day_usd=1)
    settle_at(open_row(alice, worst_usd=Decimal("0.5")), "0.58")
    assert estimate(client)["money"] == {
        "left": "$0.42 of $1.00 left until 00:00 UTC",
        "most": "sending costs up to $0.03",
    }


def test_what_may_be_looked_up_is_part_of_what_sending_costs(client, alice):
    limit(alice, money_per_day_usd=1)
    store_document(default_scenario(), ["Herons stand."])
    assert estimate(client)["money"]["most"] == "sending costs up to $0.04"


@pytest.mark.parametrize(("money_usd", "most"), [("1", "$0.43"), ("0.3", "$0.03")])
def test_what_may_follow_a_call_is_part_of_it_unless_the_money_is_too_little_for_tools(client, alice, money_usd, most):
    limit(alice, money_per_day_usd=Decimal(money_usd))
    Scenario.objects.filter(pk=default_scenario().pk).update(tools=["calculator"])
    assert estimate(client)["money"]["most"] == f"sending costs up to {most}"


def test_a_message_is_taken_if_the_money_is_enough_for_an_answer_without_tools(alice):
    Scenario.objects.filter(pk=default_scenario().pk).update(tools=["calculator"])
    limit(alice, money_per_day_usd=Decimal("0.03"))
    assert post(begin(alice), "Hello").created
    limit(alice, money_per_day_usd=Decimal("0.02"))
    with pytest.raises(ReplyTooExpensive):
        post(begin(alice), "Hello")


def test_what_could_not_be_paid_with_what_is_looked_up_is_not_stored(alice):
    limit(alice, money_per_day_usd="0.03")
    conversation = begin(alice)
    store_document(conversation, ["Herons stand."])
    with pytest.raises(ReplyTooExpensive):
        post(conversation, "Hello")
    Document.objects.get().delete()
    post(conversation, "Hello")


def test_what_is_held_back_is_not_left(client, alice):
    limit(alice, money_per_day_usd=1)
    open_row(alice, worst_usd=Decimal("0.25"))
    assert estimate(client)["money"]["left"] == "$0.75 of $1.00 left until 00:00 UTC"


def test_what_comes_back_when_a_reply_ends_is_no_problem_of_the_draft(client, alice):
    limit(alice, money_per_day_usd=1)
    open_row(alice, worst_usd=Decimal(1))
    answer = estimate(client)
    assert (answer["problem"], answer["money"]["left"]) == ("", "$0.00 of $1.00 left until 00:00 UTC")


@pytest.mark.parametrize("day", [2, 5])
def test_the_month_is_said_where_the_day_has_no_less(client, alice, day):
    limit(alice, money_per_day_usd=day, money_per_month_usd=2)
    left = estimate(client)["money"]["left"]
    assert re.fullmatch(r"\$2\.00 of \$2\.00 left until 1 [A-Z][a-z]{2} \d{4}, 00:00 UTC", left)


def test_what_the_site_has_left_is_no_ones_business(client, alice):
    SiteBudget.objects.create(money_per_day_usd=7)
    assert estimate(client)["money"] == {"left": "", "most": "sending costs up to $0.03"}


def test_what_cannot_be_paid_is_said_before_it_is_sent_with_the_time_by_the_readers_clock(client, alice):
    limit(alice, money_per_day_usd=1)
    settle_at(open_row(alice, worst_usd=Decimal(1)), 1)
    client.cookies["tz"] = "Asia/Shanghai"
    answer = estimate(client)
    assert answer["window"]
    assert answer["money"]["left"] == "$0.00 of $1.00 left until 08:00"
    tomorrow = Spending.objects.filter(period="day").first().begins_on + dt.timedelta(days=1)
    there = ReaderLocale("en", ZoneInfo("Asia/Shanghai"))
    resets_at = there.tell(dt.datetime.combine(tomorrow, dt.time(), dt.UTC))
    assert resets_at.endswith("08:00")
    assert answer["problem"].endswith(f"It resets at {resets_at}.")


def test_an_unknown_price_stays_unknown(client, alice, settings):
    settings.LANGUAGE_MODELS = "letters context_window=4096 encoding=o200k_base"
    limit(alice, money_per_day_usd=1)
    answer = estimate(client)
    assert answer["money"]["most"] == "cost of sending: unknown"
    assert answer["problem"].startswith("The price of this language model is not known")


def test_a_message_longer_than_the_persons_limit_is_said_before_it_is_sent(client, alice):
    limit(alice, message_tokens=2)
    assert estimate(client, "one two three")["problem"].startswith("Your message is 1 token too long.")
    assert not estimate(client, "one two")["problem"]


def test_who_may_not_send_is_told_before_writing(client, alice):
    limit(alice, messages_per_minute=0)
    assert estimate(client, "")["problem"] == "Your account can read here, but not send messages."


def test_a_page_without_scripts_says_what_is_left(client, alice):
    limit(alice, money_per_day_usd=1)
    assert "$1.00 of $1.00 left until 00:00 UTC" in client.get("/").text
    conversation = begin(alice)
    assert "$1.00 of $1.00 left until 00:00 UTC" in client.get(f"/c/{conversation.public_id}/").text


def test_the_preview_says_what_sending_costs(client, alice):
    limit(alice, money_per_day_usd=1)
    shown = client.post(reverse("conversations:preview"), {"content": "Hello"}).text
    assert "sending costs up to $0.03 · $1.00 of $1.00 left until 00:00 UTC" in shown


@pytest.mark.parametrize(("spent", "words"), [("1.001", "$0.99"), ("2", "$0.00"), ("5", "$0.00")])
def test_what_is_left_is_rounded_down_and_never_below_nothing(spent, words):
    allowance = Allowance("user", "day", TODAY, Decimal(2), Decimal(spent))
    assert money_left_sentence([allowance], ReaderLocale("en")) == f"{words} of $2.00 left until 00:00 UTC"


@pytest.mark.parametrize(
    ("zone", "day", "month"),
    [
        (dt.UTC, "00:00 UTC", "1 Mar 2024, 00:00 UTC"),
        (ZoneInfo("Asia/Shanghai"), "08:00", "1 Mar 2024, 08:00"),
        (ZoneInfo("America/New_York"), "19:00", "29 Feb 2024, 19:00"),
    ],
)
def test_when_there_is_more_again_is_said_by_the_readers_clock(zone, day, month):
    of_day = Allowance("user", "day", TODAY, Decimal(1))
    of_month = Allowance("user", "month", dt.date(2024, 2, 1), Decimal(1))
    assert money_left_sentence([of_day], ReaderLocale("en", zone)) == f"$1.00 of $1.00 left until {day}"
    assert money_left_sentence([of_month], ReaderLocale("en", zone)) == f"$1.00 of $1.00 left until {month}"
