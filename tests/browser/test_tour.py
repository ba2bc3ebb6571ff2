"""The tour on the demo model's empty page: a message leaves the window, and is recalled, by three presses."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .page_actions import composer, replies, streaming

MOST_SECONDS = 20  # for all of it
TOKENS_PER_SECOND = 40  # of the demo model, unless a site says otherwise: these tests' site is ten times as fast


def press_next(page: Page, name: str) -> None:
    before = replies(page).count()
    stop = page.get_by_role("region", name="See how the window works").get_by_role("button", name=name)
    expect(stop).to_have_attribute("aria-disabled", "false")
    stop.click()
    expect(replies(page)).to_have_count(before + 1)
    expect(streaming(page)).to_have_count(0)


@pytest.mark.parametrize(
    "viewport", [{"width": 1280, "height": 800}, {"width": 390, "height": 844}], ids=["wide", "phone"]
)
def test_a_name_leaves_the_window_and_comes_back_by_three_presses(signed_in, viewport):
    page = signed_in(viewport=viewport)
    press_next(page, "My name is Anna.")
    composer(page).fill("Half a sentence")
    press_next(page, "Fill the window")
    expect(page.get_by_role("separator", name="no longer sees anything above")).to_be_attached()
    press_next(page, "What is my name?")
    expect(replies(page).last).to_contain_text("Your name is Anna: recalled message 1")
    expect(page.get_by_text("It was recalled for your question")).to_be_visible()
    figures = "".join(replies(page).locator(".figures").all_text_contents())
    written = sum(int(tokens.replace(",", "")) for tokens in re.findall(r"([\d,]+) out", figures))
    assert 0 < written < MOST_SECONDS * TOKENS_PER_SECOND
    expect(composer(page)).to_have_value("Half a sentence")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("It was recalled for your question")).to_have_count(0)


def test_it_works_in_chinese(signed_in):
    page = signed_in(locale="zh-CN")
    for number in range(3):
        stop = page.locator('[data-action="tour"]').nth(number)
        expect(stop).to_have_attribute("aria-disabled", "false")
        stop.click()
        expect(replies(page)).to_have_count(number + 1)
        expect(streaming(page)).to_have_count(0)
    expect(replies(page).last).to_contain_text("你叫Anna。见回忆起的")


def test_only_the_next_stop_can_be_pressed(page):
    for name in ("Fill the window", "What is my name?"):
        page.get_by_role("button", name=name).click(force=True)
    expect(page.get_by_role("heading", name="Where to?")).to_be_visible()
    expect(replies(page)).to_have_count(0)


def test_a_tour_whose_script_does_not_come_leaves_no_dead_buttons(page):
    page.route("**/bundles/tour*", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("region", name="See how the window works")).to_have_count(0)
    expect(composer(page)).to_be_editable()


def test_the_tour_goes_on_by_keyboard(page):
    introduction = page.get_by_role("button", name="My name is Anna.")
    expect(introduction).to_have_attribute("aria-disabled", "false")  # the script of the tour has come
    introduction.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Fill the window")).to_be_focused()
