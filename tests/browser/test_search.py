"""Search by keyboard alone: the palette over all conversations, and find in one beyond what is on the page."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from .long_conversations import make_long
from .model_actions import LARGE, SMALL
from .model_actions import shown_model as shown_model
from .page_actions import begin_another, composer, messages, say, wait_until

MESSAGES = 400


def palette(page: Page):
    return page.get_by_role("dialog", name="Search and commands")


def field(page: Page):
    return palette(page).get_by_role("combobox")


def options(page: Page):
    return palette(page).get_by_role("option")


def find_field(page: Page):
    return page.get_by_role("searchbox", name="Find in this conversation")


def highlighted(page: Page, name: str) -> list[str]:
    return page.evaluate("name => [...(CSS.highlights.get(name) ?? [])].map(String)", name)


def test_the_palette_leads_by_keyboard_to_a_message_of_another_conversation(page):
    say(page, "The lighthouse keeper is called Ada")
    asked = page.url
    begin_another(page)
    say(page, "My name is Andrew")
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()
    page.keyboard.type("lighthous")
    expect(options(page).first).to_contain_text("The lighthouse keeper")  # the title
    expect(options(page).nth(1).locator("mark")).to_have_text("lighthouse")
    expect(field(page)).to_have_attribute("aria-activedescendant", "palette-hit-0")
    expect(palette(page).get_by_role("status")).to_have_text(re.compile(r"result"))
    page.keyboard.press("ArrowDown")
    expect(options(page).nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(asked)
    expect(palette(page)).to_be_hidden()
    expect(find_field(page)).to_have_value("lighthous")
    expect(messages(page).first).to_be_in_viewport()
    wait_until(page, lambda: "lighthouse" in highlighted(page, "found-here"))
    page.keyboard.press("Escape")
    expect(find_field(page)).to_have_count(0)
    expect(composer(page)).to_be_focused()
    assert highlighted(page, "found") == []


def test_the_palette_runs_commands_and_says_what_it_does_not_understand(page):
    say(page, "My name is Andrew")
    page.get_by_role("link", name="Search").click()
    page.keyboard.type("colour:red")
    expect(palette(page).locator(".found-note-line")).to_contain_text("is no filter")
    expect(options(page)).to_have_text([f"Ask {model}: colour:red" for model in (SMALL, LARGE)])
    page.keyboard.press("Escape")
    expect(palette(page)).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()  # it has its value before it is shown
    expect(field(page)).to_have_value("colour:red")
    page.keyboard.press("Control+a")
    page.keyboard.type("what would be sent")
    page.keyboard.press("Enter")
    expect(palette(page)).to_be_hidden()
    expect(page.get_by_role("dialog", name=re.compile("sent"))).to_be_visible()


def test_what_the_palette_offers_to_begin_is_begun(page):
    say(page, "My name is Andrew")
    page.keyboard.press("Control+k")
    page.keyboard.type("When does the ferry leave?")
    expect(palette(page).locator(".found-none")).to_contain_text("Nothing was found")
    expect(options(page)).to_have_text([f"Ask {model}: When does the ferry leave?" for model in (SMALL, LARGE)])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(messages(page)).to_have_count(0)
    expect(composer(page)).to_have_value("When does the ferry leave?")
    expect(shown_model(page)).to_have_text(LARGE)
    composer(page).press("Enter")
    expect(messages(page).first).to_contain_text("When does the ferry leave?")
    for typed, taken in (("4k", SMALL), ("32k", LARGE)):
        take(page, typed, f"Begin with “{taken}”")
        expect(shown_model(page)).to_have_text(taken)
    take(page, "with tools", "Begin with “With tools”")
    expect(page.locator(".model-scenario")).to_have_text("With tools")
    take(page, "temporary", "New temporary conversation")
    expect(page.get_by_role("link", name="Not temporary")).to_be_visible()


def take(page: Page, typed: str, named: str) -> None:
    """Choose in the palette what has *named* among what is found for *typed*."""
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()
    field(page).fill(typed)
    options(page).filter(has_text=named).first.click()
    expect(palette(page)).to_be_hidden()


def test_find_in_a_conversation_reaches_what_is_not_on_the_page(page, site):
    say(page, "My name is Andrew")
    make_long(site, page, messages=MESSAGES)
    page.reload()
    say(page, "What is my name?")
    composer(page).focus()
    page.keyboard.press("Control+f")
    expect(find_field(page)).to_be_focused()
    page.keyboard.type("number 12")  # 12, and 120 to 129
    count = page.locator("[data-find-count]")
    expect(count).to_have_text("11 of 11")
    expect(page.locator('[data-position="129"]')).to_be_in_viewport()
    wait_until(page, lambda: "129" in highlighted(page, "found-here"))
    assert len(page.locator('[data-layer="hits"]').get_attribute("d").split("M")) > 2
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("10 of 11")
    expect(page.locator('[data-position="128"]')).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(count).to_have_text("1 of 11")
    expect(page.locator('[data-position="12"]')).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(find_field(page)).to_have_count(0)
    expect(composer(page)).to_be_focused()
    assert page.locator('[data-layer="hits"]').get_attribute("d") == ""
    begin_another(page)
    page.keyboard.press("Control+k")
    field(page).fill("number ")  # at once: between letters what the first ones find may stand, and be replaced
    hits = palette(page).locator("[data-message]")
    expect(hits).to_have_count(3)
    count = palette(page).locator(".found-count")
    expect(count).to_have_text("3 hits, and more")
    options(page).filter(has_text="More in").click()
    expect(hits).to_have_count(23)
    expect(hits.nth(3)).to_have_attribute("aria-selected", "true")
    expect(count).to_have_text("3 hits, and more")  # of the group, not of this conversation
    assert len(set(hits.evaluate_all("hits => hits.map(({ dataset }) => dataset.message)"))) == 23
