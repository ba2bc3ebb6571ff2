"""Conversations that ask, and those in which a reply is written, stand on top of the list, wherever their owner is."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import ENDLESS, goto_and_listen, hold_frames, lose_frames, say, streaming, wait_until, write
from .sidebar_actions import heading, listed, new_conversation
from .tool_actions import ask_to_write_down, choose_all_tools, end_of


@pytest.fixture
def two(page):
    """A page that shows the older of two conversations, whose replies can be long, and no pointer over its list."""
    page.goto("/?language_model=windowseat-demo-32k")
    say(page, "The older one")
    new_conversation(page)
    say(page, "The newer one")
    listed(page, "The older one").click()
    expect(heading(page)).to_have_text("The older one")
    page.get_by_role("main").hover()
    return page


@pytest.fixture
def reading(two):
    """Another page of the same person, which shows no conversation."""
    other = two.context.new_page()
    goto_and_listen(other, "/usage/")
    expect(order(other)).to_have_text(["The newer one", "The older one"])
    return other


def stop(page):
    page.get_by_role("button", name="Stop the reply").click()


def order(page):
    return page.locator(".entry:visible [data-entry-title]")


def under(page, name):
    group = page.locator(".list-group").filter(has=page.get_by_role("heading", name=name, exact=True))
    return group.locator(":visible[data-entry-title]")


def test_while_a_reply_is_written_its_conversation_stands_on_top_and_then_first_of_today(two, reading):
    write(two, ENDLESS)
    for page in (two, reading):
        expect(under(page, "Writing")).to_have_text("The older one")
        expect(under(page, "Today")).to_have_text("The newer one")
        expect(page.get_by_role("link", name="The older one A reply is being written")).to_be_visible()
    stop(two)
    for page in (two, reading):
        expect(page.get_by_role("heading", name="Writing", exact=True)).to_have_count(0)
        expect(under(page, "Today")).to_have_text(["The older one", "The newer one"])


def test_it_is_there_when_the_page_is_loaded(two):
    write(two, ENDLESS)
    expect(streaming(two)).to_have_count(1)
    two.goto("/usage/")
    expect(under(two, "Writing")).to_have_text("The older one")


def test_a_conversation_begun_on_another_page_comes_to_the_top(two, reading):
    new_conversation(two)
    write(two, ENDLESS)
    expect(under(reading, "Writing")).to_have_text(ENDLESS)


def test_nothing_moves_under_the_pointer(two, reading):
    listed(reading, "The newer one").hover()
    write(two, ENDLESS)
    expect(reading.get_by_role("link", name="The older one A reply is being written")).to_be_visible()
    expect(order(reading)).to_have_text(["The newer one", "The older one"])
    reading.get_by_role("main").hover()
    expect(under(reading, "Writing")).to_have_text("The older one")
    listed(reading, "The newer one").hover()
    stop(two)
    expect(listed(reading, "The older one")).to_be_visible()
    expect(under(reading, "Writing")).to_have_text("The older one")
    reading.get_by_role("main").hover()
    expect(under(reading, "Today")).to_have_text(["The older one", "The newer one"])


def test_the_focus_stays_at_an_entry_that_moves(two, reading):
    listed(reading, "The older one").focus()
    write(two, ENDLESS)
    expect(under(reading, "Writing")).to_have_text("The older one")
    expect(reading.get_by_role("link", name="The older one A reply is being written")).to_be_focused()


def test_an_end_that_was_missed_comes_with_the_next_snapshot(two, reading):
    lose_frames(reading, "conversation.writing")
    reading.goto("/")
    say(reading, "Something else")
    write(two, ENDLESS)
    expect(streaming(two)).to_have_count(1)
    say(reading, "And another thing")
    expect(under(reading, "Writing")).to_have_text("The older one")
    stop(two)
    expect(streaming(two)).to_have_count(0)
    say(reading, "And the last")
    expect(reading.get_by_role("heading", name="Writing", exact=True)).to_have_count(0)


def test_one_whose_begin_was_missed_stands_where_it_was_begun_once_it_has_ended(two, reading):
    lose_frames(reading, "conversation.writing")
    reading.goto("/")
    say(reading, "Something else")
    expect(under(reading, "Today")).to_have_text(["Something else", "The newer one", "The older one"])
    write(two, ENDLESS)
    expect(streaming(two)).to_have_count(1)
    say(reading, "And another thing")
    expect(under(reading, "Writing")).to_have_text("The older one")
    stop(two)
    expect(streaming(two)).to_have_count(0)
    say(reading, "And the last")
    expect(under(reading, "Today")).to_have_count(3)
    titles = under(reading, "Today").all_inner_texts()
    assert titles.index("The older one") < titles.index("The newer one")


def test_a_list_that_was_asked_for_before_the_end_does_not_bring_it_back(two, reading):
    write(two, ENDLESS)
    expect(under(reading, "Writing")).to_have_text("The older one")
    held = []
    reading.route("**/conversations/**", lambda route: held.append((route, route.fetch())))
    reading.evaluate("htmx.trigger(document.querySelector('[data-list]'), 'reload')")
    wait_until(reading, lambda: held)
    stop(two)
    expect(under(reading, "Today")).to_have_text(["The older one", "The newer one"])
    route, answer = held.pop()
    with reading.expect_event("requestfinished"):
        route.fulfill(response=answer)
    reading.unroute("**/conversations/**")
    expect(under(reading, "Today")).to_have_text(["The older one", "The newer one"])


def test_one_that_asks_stands_above_and_goes_on_as_one_that_is_written(page):
    choose_all_tools(page)
    reading = page.context.new_page()
    goto_and_listen(reading, "/usage/")
    card = ask_to_write_down(page)
    for each in (page, reading):
        expect(under(each, "Waiting for your approval")).to_have_count(1)
        expect(each.get_by_role("heading", name="Writing", exact=True)).to_have_count(0)
    hold = hold_frames(reading, "conversation.writing")
    reading.reload()
    expect(under(reading, "Waiting for your approval")).to_have_count(1)
    card.get_by_role("button", name="Allow", exact=True).click()
    end_of(page)
    hold()
    for each in (page, reading):
        expect(each.get_by_role("heading", name="Waiting for your approval", exact=True)).to_have_count(0)
        expect(each.get_by_role("heading", name="Writing", exact=True)).to_have_count(0)
        expect(under(each, "Today")).to_have_count(1)


def test_the_sign_stands_still_where_nothing_is_to_move(signed_in):
    page = signed_in(reduced_motion="reduce")
    write(page, ENDLESS)
    sign = page.locator("[data-entry-writing]:visible")
    expect(sign).to_have_count(1)
    assert sign.evaluate("sign => getComputedStyle(sign).animationName") == "none"
