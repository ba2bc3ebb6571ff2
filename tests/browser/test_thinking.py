"""Thinking on the page: a line with a clock while it lasts, its text folded, and how long it took afterwards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .page_actions import (
    content_of,
    hold_frames,
    lose_frames,
    replies,
    say,
    streaming,
    take_pictures,
    wait_until,
    write,
)

LONG = "Please think long about my holidays."  # longer than the demo model has room for
SLOW = f"{LONG} Slowly."
SHORT = "Please think about my holidays."


def thinking(reply: Locator) -> Locator:
    return reply.locator("details[data-thinking]:not([hidden])")


def seconds_of(line: Locator) -> int:
    shown = re.search(r"(\d+) s", line.locator("[data-thinking-clock]").inner_text())
    return int(shown[1]) if shown else 0


@pytest.fixture
def thinks(page: Page) -> Locator:
    """The line of a reply that thinks now, for some time."""
    write(page, SLOW)
    line = thinking(replies(page).last)
    expect(line.locator("summary")).to_contain_text("Thinking …")
    return line


def test_the_line_counts_and_its_text_is_folded_until_it_is_opened(page, thinks):
    wait_until(page, lambda: seconds_of(thinks) >= 2)
    text = thinks.locator("[data-thinking-text]")
    expect(text).to_be_hidden()
    expect(page.locator(".writing")).to_be_hidden()
    thinks.locator("summary").click()
    expect(text).to_contain_text("I am to think about this")
    text.evaluate("box => { box.style.maxHeight = '3rem'; box.scrollTop = box.scrollHeight; }")
    before = len(text.inner_text())
    wait_until(page, lambda: len(text.inner_text()) > before + 100)
    assert text.evaluate("box => box.scrollTop > 0 && box.scrollHeight - box.scrollTop - box.clientHeight < 2")


def test_a_page_that_is_reloaded_in_the_middle_goes_on_with_text_and_clock(page, thinks):
    wait_until(page, lambda: seconds_of(thinks) >= 3)
    page.reload()
    line = thinking(streaming(page))
    expect(line.locator("summary")).to_contain_text("Thinking …")
    assert seconds_of(line) >= 2  # what is saved may be half a second old
    expect(line.locator("[data-thinking-text]")).to_contain_text("I am to think about this")


def test_afterwards_it_says_how_long_it_took_and_stays_open_for_who_reads_it(page):
    write(page, SHORT)
    line = thinking(replies(page).last)
    line.locator("summary").click()
    expect(streaming(page)).to_have_count(0)
    expect(line.locator("summary")).to_have_text(re.compile(r"Thought for \d+ s · \d+ tokens"))
    expect(line).to_have_attribute("open", "")
    expect(line.locator("[data-thinking-text]")).to_contain_text("That is all there is.")
    assert "That is all there is." not in content_of(replies(page).last)
    page.reload()
    expect(thinking(replies(page).last).locator("summary")).to_have_text(re.compile(r"Thought for \d+ s · \d+ tokens"))


@pytest.mark.parametrize("width", [1280, 390])
def test_its_line_is_seen_in_light_and_dark_while_it_lasts_and_afterwards(page, width, tmp_path: Path):
    page.set_viewport_size({"width": width, "height": 800})
    write(page, LONG)
    line = thinking(replies(page).last)
    expect(line.locator("summary")).to_contain_text("Thinking …")
    wait_until(page, lambda: seconds_of(line) >= 1)
    take_pictures(page, tmp_path / f"folded-{width}")
    line.locator("summary").click()
    expect(line.locator("[data-thinking-text]")).to_contain_text("I am to think about this")
    take_pictures(page, tmp_path / f"open-{width}")
    expect(streaming(page)).to_have_count(0)
    expect(line.locator("summary")).to_have_text(re.compile(r"Thought for \d+ s · [\d,]+ tokens"))
    line.locator("summary").click()
    expect(line.locator("[data-thinking-text]")).to_be_hidden()
    line.scroll_into_view_if_needed()
    take_pictures(page, tmp_path / f"afterwards-{width}")


def test_a_reply_without_thinking_has_no_line(page):
    expect(thinking(say(page, "Hello"))).to_have_count(0)


def test_a_screen_reader_is_told_once(page):
    page.evaluate(
        """() => {
          window.said = [];
          const region = document.querySelector('[data-part="announcer"]');
          new MutationObserver(() => window.said.push(region.textContent)).observe(region, { childList: true });
        }"""
    )
    say(page, LONG)
    said = page.evaluate("window.said")
    assert [sentence for sentence in said if "is thinking" in sentence] == ["The model is thinking."]
    assert page.locator("[data-thinking-clock]").first.get_attribute("aria-hidden") == "true"
    assert page.locator("[data-thinking] [aria-live], [data-thinking] [role=status]").count() == 0


@pytest.mark.parametrize("kind", ["reply.reasoning", "reply.delta"])
def test_what_is_lost_heals(page, kind):
    say(page, "Hello")
    lose_frames(page, kind)
    page.reload()
    reply = say(page, SHORT)
    thinking(reply).locator("summary").click()
    another = page.context.new_page()
    another.goto(page.url)
    thinking(replies(another).last).locator("summary").click()
    wait_until(page, lambda: reply.inner_text() == replies(another).last.inner_text())


def test_what_comes_late_is_taken_where_it_belongs(page):
    say(page, "Hello")
    let_come = hold_frames(page, "reply.reasoning")
    page.reload()
    write(page, SHORT)
    let_come()
    expect(replies(page)).to_have_count(2)
    expect(replies(page).last).to_have_attribute("data-state", "complete")
    text = thinking(replies(page).last).locator("[data-thinking-text]").text_content()
    assert text.startswith("I am to think")
    assert text.endswith("what comes closest.")


def test_the_room_that_was_used_up_is_said_and_doubled_in_one_press(page):
    write(page, LONG)
    thinking(replies(page).last).locator("summary").click()
    expect(streaming(page)).to_have_count(0)
    reply = replies(page).last
    expect(reply).to_contain_text("used all 500 tokens of the reply reserve for thinking")
    expect(thinking(reply).locator("[data-thinking-text]")).to_be_visible()
    reply.get_by_role("button", name="Answer again with room for 1,000 tokens").click()
    expect(replies(page).last).to_have_attribute("data-state", "complete")
    expect(thinking(replies(page).last).locator("summary")).to_contain_text("Thought for")
    assert content_of(replies(page).last)


def test_stopped_while_it_thinks_it_keeps_what_it_has(page, thinks):
    wait_until(page, lambda: seconds_of(thinks) >= 2)
    page.locator('[data-part="stop"]').click()
    expect(streaming(page)).to_have_count(0)
    line = thinking(replies(page).last)
    expect(line.locator("summary")).to_contain_text("Thought for")
    assert len(line.locator("[data-thinking-text]").text_content()) > 50


def test_live_thoughts_follow_their_newest_line_until_the_reader_goes_up(page, thinks):
    thinks.locator("summary").click()
    text = thinks.locator("[data-thinking-text]")
    text.evaluate("box => { box.style.maxHeight = '4rem'; }")
    at_end = (
        "box => box.scrollHeight > box.clientHeight + 40 && box.scrollHeight - box.scrollTop - box.clientHeight < 3"
    )
    wait_until(page, lambda: text.evaluate(at_end))
    # The browser tells of it with the next frame, before which another thought may come.
    text.evaluate("box => { box.scrollTop = 0; box.dispatchEvent(new Event('scroll')); }")
    before = len(text.text_content())
    wait_until(page, lambda: len(text.text_content()) > before + 40)
    assert text.evaluate("box => box.scrollTop") == 0
