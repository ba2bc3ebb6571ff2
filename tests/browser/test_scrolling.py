"""Where a page stands: at the top while there is nothing to read, and still while older messages come in above."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from .page_actions import is_at_end, messages, say, wait_until

pytestmark = pytest.mark.moving
MAKE_LONG = """
from conversations.models import Conversation
from tests.admin.stored import say
conversation = Conversation.objects.get(public_id="{public_id}")
for number in range(40):
    say(conversation, "user", "question")
    say(conversation, "assistant", "answer")
"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
COUNT_MOVES = """scroller => {
  const { get, set } = Object.getOwnPropertyDescriptor(Element.prototype, "scrollTop");
  window.moves = 0;
  Object.defineProperty(scroller, "scrollTop", { get, set(top) { window.moves += 1; set.call(this, top); } });
}"""


def test_what_a_page_of_older_messages_needs_is_done_once_and_not_for_each_of_them(page: Page, site):
    say(page, "Hello")
    site.run(MAKE_LONG.format(public_id=page.url.split("/")[-2]))
    page.reload()
    expect(messages(page)).to_have_count(30)
    page.locator('[data-part="scroller"]').evaluate(COUNT_MOVES)
    messages(page).first.evaluate("message => message.scrollIntoView()")
    expect(messages(page)).to_have_count(60)
    page.evaluate(TWO_FRAMES)
    assert 0 < page.evaluate("window.moves") < 10


def test_a_page_without_messages_is_read_from_its_top(signed_in):
    page = signed_in(viewport={"width": 390, "height": 400})
    page.evaluate(TWO_FRAMES)
    scroller = page.locator('[data-part="scroller"]')
    assert scroller.evaluate("it => [it.scrollHeight > it.clientHeight, it.scrollTop]") == [True, 0]
    expect(page.get_by_role("button", name="Jump to the newest message")).to_be_hidden()


def stands_still(page: Page, part: Locator) -> bool:
    """Tell whether *part* is where it was, after two frames in which the page may follow what has come."""
    before = part.bounding_box()
    page.evaluate(TWO_FRAMES)
    return part.bounding_box() == before


def test_opening_what_was_thought_keeps_the_place(page: Page):
    for _ in range(2):
        say(page, "Please think about my holidays.")
    expect(page.get_by_role("button", name="Jump to the newest message")).to_be_hidden()
    line = messages(page).last.locator(".thinking-line")
    wait_until(page, lambda: is_at_end(page) and stands_still(page, line))
    before = line.bounding_box()
    line.click()
    expect(messages(page).last.locator("[data-thinking-text]")).to_be_visible()
    page.evaluate(TWO_FRAMES)
    page.evaluate(TWO_FRAMES)
    assert abs(line.bounding_box()["y"] - before["y"]) < 2
