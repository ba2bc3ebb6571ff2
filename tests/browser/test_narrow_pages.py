"""Narrow and low pages: a phone, a page enlarged five times, and tables that are wider than all of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .page_actions import CONVERSATION_PATH, composer, replies, say, scroller, wait_until

PHONE = {"width": 390, "height": 844}
ENLARGED_FIVE_TIMES = {"width": 256, "height": 160}
COLUMNS = 14
TABLE = "\n".join(
    f"|{'|'.join(cell for _ in range(COLUMNS))}|" for cell in ("Characteristics", "---", "incomprehensible")
)
REPLACE = """
from conversations.models import Message
Message.objects.filter(conversation__public_id="{conversation}", role="assistant").update(content={content!r})
"""


def say_and_get(page: Page, site, content: str) -> None:
    say(page, "Hello")
    conversation = CONVERSATION_PATH.search(page.url)[0].split("/")[2]
    site.run(REPLACE.format(conversation=conversation, content=content))
    page.reload()


def test_words_in_a_wide_table_are_not_cut(page, site):
    say_and_get(page, site, TABLE)
    cells = replies(page).locator("td")
    expect(cells).to_have_count(COLUMNS)
    # What is far off the screen has no lines yet.
    lines = "cell => { cell.scrollIntoView(); const words = document.createRange(); words.selectNodeContents(cell);"
    wait_until(page, lambda: cells.first.evaluate(lines + " return words.getClientRects().length; }") == 1)


def test_a_cell_of_one_endless_word_does_not_make_the_other_columns_unreachable(signed_in, site):
    page = signed_in(viewport=PHONE)
    say_and_get(page, site, f"|a|b|\n|---|---|\n|{'x' * 400}|short|")

    def last_ends_on_the_page():
        box = replies(page).locator("td").last.bounding_box()
        return box and box["x"] + box["width"] <= PHONE["width"]  # none while the reply is drawn again

    wait_until(page, last_ends_on_the_page)
    say_and_get(page, site, f"|a|b|c|\n|---|---|---|\n|{'x' * 400}|{'y' * 400}|short|")
    first = replies(page).last.locator("td").first
    wait_until(page, lambda: (box := first.bounding_box()) and box["width"] < PHONE["width"] * 2 / 3)


def test_more_than_a_line_of_text_gets_the_whole_width_of_a_phone(signed_in):
    page = signed_in(viewport=PHONE)
    beside = composer(page).bounding_box()["width"]
    composer(page).fill("one\ntwo")
    expect(page.locator(".composer")).to_have_class(re.compile(r"\bis-tall\b"))
    assert composer(page).bounding_box()["width"] > beside + 80
    composer(page).fill("")
    expect(page.locator(".composer")).not_to_have_class(re.compile(r"\bis-tall\b"))
    assert composer(page).bounding_box()["width"] == beside


def test_a_page_that_is_enlarged_five_times_shows_what_is_read_and_what_is_written(signed_in):
    page = signed_in(viewport=ENLARGED_FIVE_TIMES)
    say(page, "Hello")
    assert scroller(page).bounding_box()["height"] > ENLARGED_FIVE_TIMES["height"] * 0.4
    assert composer(page).bounding_box()["width"] > 100
    scroller(page).evaluate("element => { element.scrollTop = 0; }")
    newest = page.get_by_role("button", name="Jump to the newest message")
    expect(newest).to_be_visible()
    header = page.locator(".conversation-header").bounding_box()
    assert newest.bounding_box()["y"] > header["y"] + header["height"]
    newest.click()
    expect(newest).to_be_hidden()


@pytest.mark.parametrize("size", [(1280, 720), (1366, 650), (1280, 600), (390, 844)])
def test_a_conversation_that_has_not_begun_needs_no_scrolling(signed_in, size):
    page = signed_in(viewport=dict(zip(("width", "height"), size, strict=True)))
    expect(page.get_by_text("Connect a language model")).to_be_in_viewport(ratio=1)
    assert scroller(page).evaluate("e => e.scrollHeight - e.clientHeight") == 0
