"""A page that was left open for days: its dates are true, and it knows that the site has been updated since."""

from __future__ import annotations

import datetime as dt
import re

from playwright.sync_api import Request, expect

from .page_actions import composer, messages, say, wait_until
from .sidebar_actions import listed

WEEK = dt.timedelta(days=7)
LIST = "/conversations/?current="


def test_its_times_name_the_day_and_the_list_is_asked_for_again(page):
    page.clock.install()
    page.reload()
    asked: list[Request] = []
    answered: list[Request] = []
    page.on("request", lambda request: asked.append(request) if LIST in request.url else None)
    page.on("requestfinished", lambda request: answered.append(request) if LIST in request.url else None)
    say(page, "My name is Andrew")
    expect(listed(page, "My name is Andrew")).to_be_visible()
    wait_until(page, lambda: len(answered) == len(asked))  # what is asked for meanwhile goes with the answer
    said_at = messages(page).first.locator("time").first
    clock = said_at.text_content() or ""
    asked.clear()
    page.clock.fast_forward(int(WEEK.total_seconds() * 1_000))
    expect(said_at).not_to_have_text(clock)
    expect(said_at).to_contain_text(clock)  # "27 Nov, 10:39"
    wait_until(page, lambda: asked)
    expect(composer(page)).to_be_editable()
    expect(say(page, "What is my name?")).to_contain_text("Andrew")
    page.clock.fast_forward(int(50 * WEEK.total_seconds() * 1_000))
    expect(said_at).to_have_text(re.compile(r"\b20\d\d$"))  # "27 Nov 2026"


def test_what_it_needs_of_a_site_that_was_updated_is_told_with_a_way_out(page):
    say(page, "My name is Andrew")
    composer(page).fill("Not sent yet")
    page.route("**/plain_text*.js", lambda route: route.fulfill(status=404))
    messages(page).first.hover()
    messages(page).first.get_by_role("button", name="Copy", exact=True).click(modifiers=["Shift"])
    toasts = page.get_by_role("status")
    expect(toasts.filter(has_text="The site has been updated since this page was opened.")).to_be_visible()
    page.unroute("**/plain_text*.js")
    page.get_by_role("button", name="Load again").click()
    expect(composer(page)).to_have_value("Not sent yet")
    expect(page.get_by_role("button", name="Load again")).to_have_count(0)
