"""The map: the whole conversation at the edge, and a way to any place of it by pointer, by keyboard and by name."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .long_conversations import make_long
from .page_actions import messages, replies, say, wait_until
from .shown_positions import is_whole, shown_positions

MESSAGES = 400
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


# Where the rows and marks of the map are, from its top, by layer.
BANDS = """map => {
  const at = {lit: Number(map.querySelector("[data-lit]").getAttribute("y"))};
  for (const layer of map.querySelectorAll("[data-layer]")) {
    const path = layer.getAttribute("d") ?? "";
    at[layer.dataset.layer] = [...path.matchAll(/M[-.0-9]+ ([.0-9]+)/g)].map(([, y]) => Number(y));
  }
  return at;
}"""


INDEXED = """
SELECT NOT EXISTS (SELECT FROM conversations_pathchange change WHERE change.conversation_id = conversation.id)
FROM conversations_conversation conversation WHERE public_id = %s
"""


def conversation_id(page: Page) -> str:
    return page.url.rstrip("/").rpartition("/")[2]


def strip(page: Page):
    return page.get_by_role("slider", name="Place in the conversation")


@pytest.fixture
def mapped(page: Page, site) -> Page:
    say(page, "My name is Andrew")
    page.locator('[data-position="0"]').focus()
    page.keyboard.press("Shift+Tab")
    wait_until(page, lambda: site.database.value(INDEXED, conversation_id(page)))  # so that it is recalled
    make_long(site, page, messages=MESSAGES)
    page.reload()
    say(page, "What is my name?")
    expect(strip(page)).to_be_visible()
    expect(strip(page)).to_have_attribute("aria-valuetext", re.compile(f"message {MESSAGES + 2} of {MESSAGES + 2}"))
    return page


def press_at(page: Page, share: float) -> None:
    box = strip(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + share * box["height"])
    page.mouse.down()
    page.mouse.up()


def test_a_short_conversation_has_no_map(page):
    say(page, "My name is Andrew")
    expect(strip(page)).to_have_count(0)


def test_pressing_it_leads_to_messages_that_are_not_on_the_page(mapped):
    press_at(mapped, 0.5)
    wait_until(mapped, lambda: min(shown_positions(mapped)) < 200 < max(shown_positions(mapped)))
    assert is_whole(shown_positions(mapped))
    wait_until(mapped, lambda: 150 < int(strip(mapped).get_attribute("aria-valuenow")) < 250)
    press_at(mapped, 0)
    expect(mapped.locator('[data-position="0"]')).to_be_in_viewport()
    press_at(mapped, 1)
    expect(messages(mapped).last).to_be_in_viewport()


def test_dragging_tells_where_one_is_and_the_thread_follows(mapped):
    box = strip(mapped).bounding_box()
    x = box["x"] + 10
    mapped.mouse.move(x, box["y"] + box["height"] - 4)
    mapped.mouse.down()
    mapped.mouse.move(x, box["y"] + 0.25 * box["height"], steps=5)
    expect(mapped.locator("[data-bubble-number]")).to_have_text(re.compile(rf"message \d+ of {MESSAGES + 2}"))
    wait_until(mapped, lambda: min(shown_positions(mapped)) < 120)
    mapped.mouse.up()
    expect(mapped.locator("[data-map-bubble]")).to_be_hidden()


def test_keys_lead_to_messages_screens_and_ends(mapped):
    strip(mapped).focus()
    mapped.keyboard.press("Home")
    expect(strip(mapped)).to_have_attribute("aria-valuenow", "1")
    mapped.keyboard.press("ArrowDown")
    expect(strip(mapped)).to_have_attribute("aria-valuenow", "2")
    mapped.keyboard.press("ArrowUp")
    expect(strip(mapped)).to_have_attribute("aria-valuenow", "1")
    mapped.keyboard.press("PageDown")
    wait_until(mapped, lambda: int(strip(mapped).get_attribute("aria-valuenow")) > 2)
    mapped.keyboard.press("End")
    expect(replies(mapped).last).to_be_in_viewport()
    mapped.keyboard.press("Home")
    expect(strip(mapped)).to_have_attribute("aria-valuenow", "1")
    mapped.keyboard.press("Enter")
    expect(mapped.locator('[data-position="0"]')).to_be_focused()


def test_marks_are_listed_and_keys_lead_from_one_to_the_next(mapped):
    strip(mapped).focus()
    mapped.keyboard.press("Home")
    mapped.locator('[data-position="4"]').focus()
    mapped.keyboard.press("p")
    expect(mapped.locator('[data-position="4"]')).to_have_attribute("data-mark", "pinned")
    expect(mapped.locator('[data-part="announcer"]')).to_contain_text("always sent from now on")  # the server has it
    mapped.reload()
    listed = mapped.get_by_role("complementary", name="Map of the conversation").get_by_role(
        "link", name=re.compile("Pinned")
    )
    expect(listed).to_have_count(1)
    strip(mapped).focus()
    mapped.keyboard.press("[")
    expect(strip(mapped)).to_have_attribute("aria-valuetext", re.compile("message 5 of .*Pinned"))
    mapped.keyboard.press("End")
    expect(replies(mapped).last).to_be_in_viewport()
    listed.evaluate("link => link.click()")
    expect(mapped.locator('[data-position="4"]')).to_be_focused()


def test_a_date_and_the_line_are_places_to_go_to(mapped):
    mapped.get_by_role("button", name="Go to …").click()
    mapped.get_by_role("button", name="The line").click()
    expect(mapped.locator("[data-horizon]")).to_be_focused()
    mapped.get_by_role("button", name="Go to …").click()
    mapped.get_by_label("A date").fill("2020-01-01")
    mapped.get_by_role("button", name="Go", exact=True).click()
    expect(mapped.locator('[data-position="0"]')).to_be_focused()


def test_the_wheel_over_it_scrolls_the_thread(mapped):
    before = int(strip(mapped).get_attribute("aria-valuenow"))
    strip(mapped).hover()
    mapped.mouse.wheel(0, -1_500)
    wait_until(mapped, lambda: int(strip(mapped).get_attribute("aria-valuenow")) < before)


def test_its_bands_say_what_is_in_view_and_what_is_recalled_pinned_or_excluded(mapped):
    replies(mapped).last.focus()
    mapped.keyboard.press("x")
    expect(replies(mapped).last).to_have_attribute("data-mark", "excluded")
    strip(mapped).focus()
    mapped.keyboard.press("Home")
    mapped.locator('[data-position="4"]').focus()
    mapped.keyboard.press("p")
    expect(mapped.locator('[data-position="4"]')).to_have_attribute("data-mark", "pinned")
    for band in ("out", "recalled", "pinned", "pinned-signs", "excluded", "in"):
        expect(mapped.locator(f'[data-layer="{band}"]')).to_have_attribute("d", re.compile("M"))
    bands = mapped.locator(".map").evaluate(BANDS)
    assert max(bands["out"] + bands["recalled"] + bands["pinned"]) < bands["lit"] <= min(bands["in"])
    assert len(bands["pinned"]) == len(bands["pinned-signs"]) == len(bands["excluded"]) == 1
    assert bands["lit"] < bands["excluded"][0]


def test_on_a_phone_the_ring_unfolds_it_with_the_figures_and_gives_the_focus_back(site, signed_in):
    page = signed_in(**PHONE)
    say(page, "My name is Andrew")
    make_long(site, page, messages=MESSAGES)
    page.reload()
    ring = page.locator("[data-part=preview]")
    expect(page.locator("[data-part=map]:not([hidden])")).to_be_attached()
    expect(strip(page)).to_have_count(0)
    ring.locator(".meter-ring").tap()
    expect(strip(page)).to_be_focused()
    expect(page.locator("[data-map-figures]")).to_have_text(re.compile(r"^[\d,]+ of 3,596 tokens"))
    page.keyboard.press("Escape")
    expect(ring).to_be_focused()
    expect(strip(page)).to_have_count(0)


def test_it_is_drawn_with_few_elements(mapped):
    assert mapped.locator(".map *").count() < 90
