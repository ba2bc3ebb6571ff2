"""The language model in a browser: chosen by mouse and keyboard, on all pages, and for one reply alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .model_actions import LARGE, SMALL, opener, shown_model
from .page_actions import block_socket, composer, open_menu, replies, say, streaming, take_pictures

FORGET = """
from conversations.models import Conversation
Conversation.objects.filter(public_id="{public_id}").update(language_model="model-of-last-year")
"""


def choose(page, name):
    opener(page).click()
    page.get_by_role("menuitemradio", name=name).click()


def test_the_model_is_changed_in_mid_conversation_and_the_thread_says_where(page):
    say(page, "My name is Andrew")
    expect(shown_model(page)).to_have_text(SMALL)
    choose(page, LARGE)
    expect(shown_model(page)).to_have_text(LARGE)
    expect(opener(page)).to_be_focused()
    say(page, "What is my name?")
    expect(replies(page).last.locator(".model-line")).to_have_text(f"{LARGE} answers from here on")
    expect(page.locator(".model-line")).to_have_count(1)
    expect(page.locator("[data-part=meter]")).to_contain_text("of 30,768 tokens")
    page.reload()
    expect(shown_model(page)).to_have_text(LARGE)
    expect(page.locator("[data-role=assistant] .message-name")).to_have_text([SMALL, LARGE])


def test_a_choice_appears_on_other_pages(page):
    say(page, "My name is Andrew")
    other = page.context.new_page()
    other.goto(page.url)
    expect(shown_model(other)).to_have_text(SMALL)
    choose(page, LARGE)
    expect(shown_model(other)).to_have_text(LARGE)
    choose(other, SMALL)
    expect(shown_model(page)).to_have_text(SMALL)


def test_the_menu_is_used_by_keyboard(page):
    say(page, "My name is Andrew")
    opener(page).focus()
    page.keyboard.press("Enter")
    small, large = (page.get_by_role("menuitemradio", name=name) for name in (SMALL, LARGE))
    expect(small).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(large).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(small).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu", name="Language model")).to_be_hidden()
    expect(opener(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(small).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(shown_model(page)).to_have_text(LARGE)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_menu_is_seen_whole_in_light_and_dark(page, width, tmp_path):
    page.set_viewport_size({"width": width, "height": 800})
    say(page, "My name is Andrew")
    opener(page).click()
    page.get_by_role("menuitemradio", name="High", exact=True).click()
    expect(shown_model(page)).to_have_text(SMALL)
    expect(opener(page).locator(".model-effort")).to_have_text("High")
    opener(page).click()
    menu = page.get_by_role("menu", name="Language model")
    expect(menu.get_by_role("menuitemradio", name=SMALL)).to_be_focused()
    take_pictures(page, tmp_path / f"menu-{width}")
    box = menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert menu.evaluate(
        "each => [...each.querySelectorAll('*'), each].every(e => e.scrollWidth <= e.clientWidth + 1 "
        "|| getComputedStyle(e).display.startsWith('inline'))"
    )


def test_a_model_is_chosen_before_the_first_message(page):
    composer(page).fill("My name is Andrew")
    choose(page, LARGE)
    page.wait_for_url("**language_model=windowseat-demo-32k**")
    expect(composer(page)).to_have_value("My name is Andrew")
    say(page, "My name is Andrew")
    expect(replies(page).last.locator(".message-name")).to_have_text(LARGE)
    page.reload()
    expect(shown_model(page)).to_have_text(LARGE)


def test_a_model_is_chosen_without_a_socket_and_without_javascript(page, open_page):
    say(page, "My name is Andrew")
    block_socket(page)
    page.reload()
    choose(page, LARGE)
    expect(shown_model(page)).to_have_text(LARGE)
    plain = open_page(page.url, java_script_enabled=False, storage_state=page.context.storage_state())
    choose(plain, SMALL)
    expect(shown_model(plain)).to_have_text(SMALL)


def test_one_reply_is_regenerated_with_another_model(page):
    say(page, "My name is Andrew")
    open_menu(replies(page).last).get_by_role("menuitem", name="Regenerate with another model").click()
    page.get_by_role("dialog").get_by_role("button", name=LARGE).click()
    expect(replies(page).locator(".versions")).to_contain_text("2 of 2")
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).last.locator(".message-name")).to_have_text(LARGE)
    expect(shown_model(page)).to_have_text(SMALL)
    previous = page.get_by_role("button", name="Previous version")
    expect(previous).to_have_attribute("title", f"Previous version · {SMALL}")
    previous.click()
    expect(replies(page).last.locator(".message-name")).to_have_text(SMALL)


def test_a_model_that_is_gone_is_said_and_the_conversation_goes_on(page, site):
    say(page, "My name is Andrew")
    site.run(FORGET.format(public_id=re.search(r"/c/([0-9a-f-]{36})/", page.url)[1]))
    page.reload()
    expect(page.locator(".model-note")).to_have_text(
        f"“model-of-last-year” is not on offer to you here. {SMALL} answers in its place."
    )
    expect(say(page, "What is my name?")).to_contain_text("Andrew")
    choose(page, SMALL)
    expect(page.locator(".model-note")).to_have_count(0)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_menu_fits_every_width(signed_in, width):
    page = signed_in(viewport={"width": width, "height": 844})
    say(page, "My name is Andrew")
    opener(page).click()
    menu = page.get_by_role("menu", name="Language model")
    expect(menu).to_be_visible()
    menu.evaluate("e => Promise.all(e.getAnimations().map((each) => each.finished))")  # it rises into its place
    box = menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_sent_after_a_reply_by_another_model_is_followed(signed_in):
    page = signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for number in range(8):  # the window of the small model slides, that of the large one holds all
        say(page, f"paint the hull {number} " * 110)
    open_menu(replies(page).last).get_by_role("menuitem", name="Regenerate with another model").click()
    page.get_by_role("dialog").get_by_role("button", name=LARGE).click()
    expect(replies(page).last.locator(".message-name")).to_have_text(LARGE)
    expect(streaming(page)).to_have_count(0)
    composer(page).fill("and what is next? " * 40)
    page.get_by_role("button", name="Send", exact=True).tap()
    expect(replies(page)).to_have_count(9)
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).last).to_be_in_viewport()
    expect(page.get_by_role("button", name="Jump to the newest message")).to_be_hidden()
