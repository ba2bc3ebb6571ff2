"""What is left of a person's money, on the page: quiet while there is enough, and clear when there is not."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import composer, replies, say, write
from .tool_actions import calls_in, choose_all_tools

# The largest reply costs 60 cents here, whatever its language model, so one cent more is money for one reply.
SET_UP = """
from decimal import Decimal
from chatsite.accounts.sessions.session_store import SessionStore
from chatsite.accounts.models import Limits
from conversations.models import Price
from conversations.providers.catalog.language_models import default_language_model
demo = default_language_model().language_model
output_usd = round(Decimal("0.6") * 1_000_000 / demo.reply_reserve_tokens, 8)
Price.objects.get_or_create(language_model=demo.name, defaults={{"input_usd": 0, "output_usd": output_usd}})
user = SessionStore("{session}").get("_auth_user_id")
Limits.objects.update_or_create(user_id=user, defaults={{"money_per_day_usd": "{money}"}})
"""


def set_money(site, page, money):
    [session] = [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "sessionid"]
    site.run(SET_UP.format(session=session, money=money))
    page.reload()


def left(page):
    return page.locator("[data-money-left]")


def most(page):
    return page.locator("[data-money-most]")


def problem(page):
    return page.locator("[data-problem]")


@pytest.fixture(autouse=True, scope="module")
def _nothing_costs_anything_afterwards(site):
    yield
    site.run("from conversations.models import Price; Price.objects.all().delete()")


def test_where_nothing_is_limited_nothing_is_said_to_be_left(page):
    composer(page).fill("How much is this?")
    expect(page.locator("span[data-if-content]")).to_be_visible()
    expect(left(page)).to_be_hidden()
    expect(most(page)).to_be_hidden()


def test_what_is_left_is_said_and_follows_each_reply(site, page):
    set_money(site, page, 2)
    expect(left(page)).to_have_text(re.compile(r"^\$2\.00 of \$2\.00 left until \d\d:\d\d"))
    composer(page).fill("How much is this?")
    expect(most(page)).to_have_text("sending costs up to $0.60")
    say(page, "How much is this?")
    expect(left(page)).to_have_text(re.compile(r"^\$1\.\d\d of \$2\.00 left until "))
    expect(most(page)).to_be_hidden()


def test_money_that_is_used_up_is_said_with_the_time_before_anything_is_sent(site, signed_in):
    page = signed_in(timezone_id="Asia/Shanghai")
    set_money(site, page, "0.601")
    say(page, "The only one")
    expect(left(page)).to_have_text(re.compile(" left until 08:00$"))
    expect(problem(page)).to_have_text(re.compile(r"It resets at (\d+ \w{3} \d{4}, )?08:00\.$"))
    write(page, "One more")
    expect(page.get_by_role("alert")).to_have_text(re.compile(r"^Your remaining allowance for today .* 08:00\.$"))
    expect(composer(page)).to_have_value("One more")
    expect(replies(page)).to_have_count(1)


def test_without_scripts_too(site, signed_in):
    page = signed_in(java_script_enabled=False)
    set_money(site, page, "0.5")
    expect(left(page)).to_have_text(re.compile(r"^\$0\.50 of \$0\.50 left until 00:00 UTC$"))
    composer(page).fill("Too dear")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_have_text(
        re.compile("^This reply may cost more than the limit for a whole day or month")
    )
    expect(composer(page)).to_have_value("Too dear")


def test_money_for_an_answer_and_not_for_tools_gets_an_answer_and_says_so(site, page):
    set_money(site, page, "0.65")
    choose_all_tools(page)
    reply = say(page, "what is 17 × 23?")
    expect(calls_in(reply)).to_have_count(0)
    expect(reply).to_contain_text("the remaining allowance did not cover the possible cost")
