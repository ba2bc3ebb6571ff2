"""The header of a conversation: its title with a menu, one pill for what answers, and little room taken."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .model_actions import SMALL
from .page_actions import HeldAnswers, composer, messages, say

MOST_OF_A_PHONE = 140  # pixels of 844 for the header and what one writes in


def title(page: Page):
    return page.get_by_role("heading", level=1).get_by_role("button")


def test_the_title_opens_what_can_be_done_with_the_conversation(page):
    expect(title(page)).to_be_disabled()
    say(page, "My name is Andrew")
    title(page).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Title", exact=True).fill("Names")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(title(page)).to_have_text("Names")
    title(page).click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(messages(page)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(messages(page)).to_have_count(2)


def test_its_menu_is_used_by_keyboard(page):
    say(page, "My name is Andrew")
    title(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Move to a folder")).to_be_focused()
    page.keyboard.press("Escape")
    expect(title(page)).to_be_focused()


def test_its_menu_is_whole_at_once_and_keeps_the_focus_when_what_it_shows_has_changed(page):
    say(page, "My name is Andrew")
    other = page.context.new_page()
    other.goto(page.url)
    places = HeldAnswers(page, "/place/")
    title(page).press("Enter")
    expect(page.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    title(other).click()
    other.get_by_role("menuitem", name="Star", exact=True).click()
    places.wait_for("Unstar")
    places.let_newest_come()
    expect(page.get_by_role("menuitem", name="Unstar")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Move to a folder")).to_be_focused()


def test_what_is_chosen_before_the_menu_has_been_asked_for_again_is_done_with_its_note(page):
    say(page, "My name is Andrew")
    places = HeldAnswers(page, "/place/")
    title(page).press("Enter")
    places.wait_for("Archive")
    archived = HeldAnswers(page, "/archive/")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/place/")):  # its answer would take
        page.get_by_role("menuitem", name="Archive").press("Enter")  # the form away that waits for its own
    archived.wait_for("Undo")
    archived.let_newest_come()
    expect(page.locator("#toasts").get_by_role("button", name="Undo")).to_be_visible()
    places.wait_for("Take out of the archive")
    places.let_newest_come()
    title(page).press("Enter")
    expect(page.get_by_role("menuitem", name="Take out of the archive")).to_be_visible()


def test_what_answers_is_one_button_with_one_menu(page):
    page.get_by_role("button", name="Language model:").click()
    menu = page.get_by_role("menu", name="Language model and scenario")
    expect(menu.get_by_role("group", name="Language models").get_by_role("menuitemradio")).not_to_have_count(0)
    chosen = menu.get_by_role("group", name="Scenarios").get_by_role("menuitemradio", checked=True)
    expect(chosen).to_contain_text("Plain conversation")
    expect(menu.get_by_role("menuitemradio", name=SMALL)).to_be_focused()  # only then do its keys work
    page.keyboard.press("End")
    expect(menu.get_by_role("menuitem", name="New scenario")).to_be_focused()


def test_the_tools_of_a_scenario_are_listed_from_its_menu(page):
    page.get_by_role("button", name="Language model:").click()
    page.get_by_role("menuitemradio", name="With tools").click()
    page.get_by_role("button", name="Scenario: With tools").click()
    page.get_by_role("menuitem", name="tools that it may call").click()
    expect(page.get_by_role("dialog", name="Tools")).to_be_visible()
    expect(page.get_by_role("menu", name="Language model and scenario")).to_be_hidden()


@pytest.fixture
def phone(signed_in) -> Page:
    return signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


def test_on_a_phone_header_and_composer_leave_the_screen_to_the_thread(phone):
    say(phone, "My name is Andrew")
    header, dock = (phone.locator(name).bounding_box() for name in (".conversation-header", ".composer-dock"))
    assert header["height"] + dock["height"] <= MOST_OF_A_PHONE
    title(phone).tap()
    phone.get_by_role("menuitem", name="Cost of this conversation").tap()
    expect(phone.get_by_role("dialog", name="Cost of this conversation")).to_be_visible()


@pytest.mark.parametrize("width", [280, 320, 390, 768, 1280])
def test_it_is_one_row_however_long_names_are(signed_in, width):
    page = signed_in(viewport={"width": width, "height": 800})
    composer(page).fill("A question with a title that is far too long for the header of any phone")
    composer(page).press("Enter")
    expect(page.locator("[data-role=assistant][data-state=complete]")).to_have_count(1)
    assert page.locator(".conversation-header").bounding_box()["height"] <= 53
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
