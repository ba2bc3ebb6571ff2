"""A reply that awaits approval says so wherever its owner is: in the list, in the tab, in other words."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .page_actions import goto_and_listen, lose_frames, say
from .tool_actions import ask_to_write_down, choose_all_tools, end_of

LONG_RESULT = """
from conversations.models import Conversation
from tests.support.tool_steps import add_call
add_call(Conversation.objects.get(public_id="{public_id}").head, "look", result="row\\n" * 5_000)
"""
WORDS = "Waiting for your approval"


@pytest.fixture
def talking(page: Page) -> Page:
    """The page of a conversation with all tools, in which nothing awaits approval yet."""
    return choose_all_tools(page)


@pytest.fixture
def reading(talking: Page) -> Page:
    """Another page of the same person, who reads another conversation."""
    other = talking.context.new_page()
    goto_and_listen(other, "/")
    say(other, "Something else")
    return other


def meter(page: Page) -> Locator:
    return page.locator('[data-part="meter"]')


def marked(page: Page) -> Locator:
    """Return the entries of the list that say that they wait."""
    return page.get_by_role("navigation", name="Conversations").get_by_role("link", name=WORDS)


def test_a_user_who_reads_another_conversation_is_told_which_one_awaits_approval_and_for_how_long(talking, reading):
    card = ask_to_write_down(talking)
    expect(marked(reading)).to_contain_text("call write_down with")
    expect(reading).to_have_title("(1) Something else · Windowseat")
    expect(reading.locator('[data-part="announcer"]')).to_contain_text("is waiting for your approval.")
    card.get_by_role("button", name="Allow", exact=True).click()
    expect(marked(reading)).to_have_count(0)
    expect(reading).to_have_title("Something else · Windowseat")


def test_the_page_itself_marks_its_conversation_too(talking):
    card = ask_to_write_down(talking)
    expect(marked(talking)).to_have_count(1)
    card.get_by_role("button", name="Don’t allow").click()
    end_of(talking)
    expect(marked(talking)).to_have_count(0)


def test_a_mark_that_was_missed_comes_with_the_next_snapshot(talking, reading):
    lose_frames(reading, "conversation.awaiting_approval")
    reading.reload()
    ask_to_write_down(talking)
    say(reading, "And another thing")
    expect(marked(reading)).to_have_count(1)


def test_a_mark_is_there_when_the_page_is_loaded_and_when_the_list_is_drawn_again(talking, reading):
    ask_to_write_down(talking)
    expect(marked(reading)).to_have_count(1)
    reading.reload()
    expect(reading).to_have_title("(1) Something else · Windowseat")
    with reading.expect_response("**/conversations/**"):
        reading.locator("[data-list]").evaluate("list => htmx.trigger(list, 'reload')")
    expect(marked(reading)).to_have_count(1)


def test_on_a_telephone_the_drawers_button_says_that_something_in_it_waits(talking, reading):
    reading.set_viewport_size({"width": 390, "height": 844})
    opener = reading.locator(".sidebar-opener")
    dot = "opener => getComputedStyle(opener, '::after').content"
    assert opener.evaluate(dot) == "none"
    ask_to_write_down(talking)
    expect(reading).to_have_title("(1) Something else · Windowseat")
    assert opener.evaluate(dot) != "none"


def test_the_meter_tells_of_the_version_that_awaits_approval_and_not_of_the_one_before(talking):
    ask_to_write_down(talking).get_by_role("button", name="Allow", exact=True).click()
    end_of(talking).get_by_role("button", name="Regenerate").click()
    expect(talking.locator("[data-awaiting-approval]")).to_be_visible()
    other = talking.context.new_page()
    other.goto(talking.url)
    expect(meter(other)).not_to_have_class(re.compile("is-unknown"))
    expect(meter(talking)).to_have_text(meter(other).inner_text(), use_inner_text=True)


def test_the_whole_of_a_long_result_is_saved(page, site):
    say(page, "Hello")
    site.run(LONG_RESULT.format(public_id=page.url.split("/")[-2]))
    page.reload()
    page.locator("details[data-call] > summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save it all as a text file").click()
    assert download.value.path().read_text() == "row\n" * 5_000
