"""What a person sees of costs: under replies, in the header, on a page of their own; and how they hide them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import composer, open_account_menu, replies, say

PRICED = """
from conversations.models import Price
from conversations.providers.catalog.language_models import default_language_model
name = default_language_model().language_model.name
Price.objects.get_or_create(language_model=name, defaults={"input_usd": 10, "output_usd": 20})
"""


@pytest.fixture(autouse=True, scope="module")
def _priced(site):
    site.run(PRICED)
    yield
    site.run("from conversations.models import Price; Price.objects.all().delete()")


def figures(page):
    return page.locator(".figures")


def so_far(page):
    return page.locator(".costs-open")


def switch(page, name):
    so_far(page).click()
    page.get_by_role("button", name=name).click()


def test_each_reply_tells_its_cost_and_the_header_all_of_them(page):
    say(page, "Good morning")
    expect(figures(page)).to_have_text(re.compile(r"\d+ in\s.*\d+ out\s.*\$0\.0", re.DOTALL))
    first = so_far(page).inner_text()
    say(page, "And now?")
    expect(so_far(page)).not_to_have_text(first)
    expect(figures(page)).to_have_count(2)


def test_the_panel_of_costs_closes_when_the_focus_leaves_it(page):
    say(page, "Good morning")
    so_far(page).press("Enter")
    panel = page.get_by_role("dialog", name="Cost of this conversation")
    expect(panel).to_be_visible()
    page.get_by_role("button", name="Hide costs").focus()
    expect(panel).to_be_visible()
    composer(page).focus()
    expect(panel).to_be_hidden()


def test_the_panel_of_costs_does_not_lie_over_what_the_model_saw(page):
    say(page, "Good morning")
    page.get_by_role("link", name="What the model saw").click()
    window = page.get_by_role("dialog", name="What the model saw")
    expect(window).to_be_visible()
    so_far(page).click()
    panel = page.get_by_role("dialog", name="Cost of this conversation")
    expect(panel).to_be_visible()
    edges = panel.bounding_box(), window.bounding_box()
    assert edges[0]["x"] + edges[0]["width"] <= edges[1]["x"]


def test_costs_are_hidden_and_shown_again_without_leaving_the_page(page):
    say(page, "Good morning")
    page.evaluate("() => { window.isSame = true; }")
    switch(page, "Hide costs")
    expect(figures(page)).to_have_count(0)
    expect(so_far(page)).not_to_contain_text("$")
    expect(page.get_by_role("button", name="Show costs")).to_be_focused()
    expect(say(page, "And now?").locator(".figures")).to_have_count(0)
    switch(page, "Show costs")
    expect(figures(page)).to_have_count(2)
    assert page.evaluate("() => window.isSame")


def test_without_scripts_the_panel_opens_and_the_switch_works(signed_in):
    page = signed_in(java_script_enabled=False)
    page.get_by_role("textbox", name="Message").fill("Good morning")
    page.get_by_role("button", name="Send").click()
    expect(figures(page)).to_have_count(1)
    switch(page, "Hide costs")
    expect(replies(page)).to_have_count(1)
    expect(figures(page)).to_have_count(0)


def test_the_page_of_usage_leads_to_the_conversation_and_is_reached_by_keyboard(page):
    say(page, "How much is the fish?")
    open_account_menu(page)
    page.get_by_role("link", name="Your usage").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your usage")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Cost by day: "))).to_be_visible()
    table = page.get_by_role("region", name="By conversation")
    expect(table.get_by_role("row", name=re.compile("^Total"))).to_contain_text("$0.0")
    table.get_by_role("link", name="How much is the fish?").click()
    expect(replies(page)).to_have_count(1)


def test_days_are_chosen_by_link_and_by_date(page):
    say(page, "Good morning")
    page.goto("/usage/")
    page.get_by_role("link", name="Yesterday").click()
    expect(page.get_by_text("No usage in these days.")).to_be_visible()
    page.get_by_label("From").fill("2026-01-01")
    page.get_by_label("to", exact=True).fill("2026-01-31")
    page.get_by_role("button", name="Show").first.click()
    expect(page).to_have_url(re.compile(r"from=2026-01-01&to=2026-01-31"))
    expect(page.get_by_label("From")).to_have_value("2026-01-01")


def test_a_table_is_saved_as_a_file(page):
    say(page, "Good morning")
    page.goto("/usage/")
    with page.expect_download() as download:
        page.get_by_role("link", name="Conversations", exact=True).click()
    assert "Good morning," in download.value.path().read_text(encoding="utf-8-sig")
