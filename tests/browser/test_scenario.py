"""Choosing a scenario, before a conversation begins and while it goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import choose_scenario, composer, draft_kept, say, wait_until, write
from .sidebar_actions import listed

OFFER = "from conversations.models import Scenario; Scenario.objects.create(name='Translator', offered=True)"
WITHDRAW = "from conversations.models import Scenario; Scenario.objects.filter(name='Translator').update(offered=False)"

OFFER_TOOLS = (
    "from conversations.models import Scenario; Scenario.objects.filter(name='With tools').update(offered={offered})"
)


@pytest.fixture
def page_with_choice(site, page):
    site.run(OFFER)
    page.reload()
    yield page
    site.run(WITHDRAW)


@pytest.fixture
def page_without_choice(site, page):
    site.run(OFFER_TOOLS.format(offered=False))
    page.reload()
    yield page
    site.run(OFFER_TOOLS.format(offered=True))


def chosen(page):
    """Return the name of the scenario that the header shows."""
    return page.locator(".model-scenario")


def test_a_scenario_is_chosen_before_the_first_message_and_afterwards(page_with_choice):
    page = page_with_choice
    composer(page).fill("My name is Andrew")
    choose_scenario(page, "Translator")
    page.wait_for_url("**/?scenario=*")
    expect(composer(page)).to_have_value("My name is Andrew")
    say(page, "My name is Andrew")
    page.reload()
    expect(chosen(page)).to_have_text("Translator")
    choose_scenario(page, "Plain conversation")
    expect(chosen(page)).to_have_text("Plain conversation")
    expect(page.locator('[data-part="announcer"]')).to_have_text("Scenario: Plain conversation")


def test_another_tab_shows_the_scenario_that_was_chosen(page_with_choice):
    page = page_with_choice
    say(page, "My name is Andrew")
    other = page.context.new_page()
    other.goto(page.url)
    expect(chosen(other)).to_have_text("Plain conversation")
    choose_scenario(page, "Translator")
    expect(chosen(other)).to_have_text("Translator")


def test_a_scenario_is_chosen_right_after_the_first_message(page_with_choice):
    page = page_with_choice
    say(page, "My name is Andrew")
    choose_scenario(page, "Translator")
    expect(chosen(page)).to_have_text("Translator")
    expect(page.get_by_role("heading", level=1)).to_have_text("My name is Andrew")


def test_what_is_on_its_way_when_a_scenario_is_chosen_does_not_stand_in_the_field_again(page_with_choice):
    page = page_with_choice
    held = []
    page.route("**/messages/post/", lambda route: held.append(route), times=1)
    write(page, "My name is Andrew")
    wait_until(page, lambda: held)
    choose_scenario(page, "Translator")
    page.wait_for_url("**/?scenario=*")
    expect(composer(page)).to_have_value("")
    held[0].continue_()
    expect(listed(page, "My name is Andrew")).to_be_visible()
    expect(composer(page)).to_have_value("")
    expect(chosen(page)).to_have_text("Translator")
    wait_until(page, lambda: not any(draft_kept(page)))


def test_a_scenario_is_chosen_without_javascript(page_with_choice, open_page):
    page = open_page("/", java_script_enabled=False, storage_state=page_with_choice.context.storage_state())
    choose_scenario(page, "Translator")
    composer(page).fill("My name is Andrew")
    page.get_by_role("button", name="Send").click()
    expect(chosen(page)).to_have_text("Translator")


def test_a_question_that_is_suggested_stands_in_the_composer(page):
    choose_scenario(page, "With tools")
    page.get_by_role("button", name="What is 17 × 23?").click()
    expect(composer(page)).to_have_value("What is 17 × 23?")
    expect(composer(page)).to_be_focused()


def test_where_there_is_one_scenario_nothing_is_to_be_chosen(page_without_choice):
    page = page_without_choice
    expect(composer(page)).to_be_visible()
    page.get_by_role("button", name="Language model:").click()
    offered = page.get_by_role("group", name="Scenarios")
    expect(offered.get_by_role("menuitem", name="New scenario")).to_be_visible()
    expect(offered.get_by_role("menuitemradio")).to_have_count(0)


def test_the_name_of_the_scenario_that_comes_with_the_site_is_shown_whole(page):
    expect(chosen(page)).to_have_text("Plain conversation")
    assert chosen(page).evaluate("each => each.scrollWidth <= each.clientWidth")
