"""Reading a long conversation anywhere: what is near is on the page, what is far off is not, and the end goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .long_conversations import make_long
from .page_actions import messages, say, scroller, wait_until, write
from .shown_positions import is_whole, shown_positions

MESSAGES = 400
MOST_ON_A_PAGE = 220  # of any conversation: above and below what is read, a piece that has come, and the newest
ID_AT = """
from conversations.models import Message
print(Message.objects.get(conversation__public_id="{public_id}", position={position}).pk)
"""


@pytest.fixture
def long_page(page: Page, site) -> Page:
    say(page, "My name is Andrew")
    make_long(site, page, messages=MESSAGES)
    page.reload()
    expect(messages(page)).to_have_count(30)
    return page


def open_at(page: Page, site, position: int) -> None:
    """Open the conversation at a message, by the address that leads to it."""
    path = page.url.split("#")[0]
    message = site.run(ID_AT.format(public_id=path.rstrip("/").rpartition("/")[2], position=position)).strip()
    page.goto("about:blank")
    page.goto(f"{path}#message-{message}")
    expect(page.locator(f'[data-position="{position}"]')).to_be_in_viewport()


def jump(page: Page):
    return page.get_by_role("button", name="Jump to the newest message")


def test_an_address_leads_to_a_message_that_is_far_from_the_end(long_page, site):
    open_at(long_page, site, 100)
    assert is_whole(shown_positions(long_page))
    assert MESSAGES - 1 not in shown_positions(long_page)
    expect(jump(long_page)).to_be_visible()


def test_from_a_place_one_gets_back_to_the_newest_message(long_page, site):
    open_at(long_page, site, 100)
    jump(long_page).click()
    expect(messages(long_page).last).to_be_in_viewport()
    wait_until(
        long_page, lambda: is_whole(shown_positions(long_page)) and shown_positions(long_page)[-1] == MESSAGES - 1
    )


def test_a_message_that_is_sent_from_a_place_is_shown_at_the_end(long_page, site):
    open_at(long_page, site, 100)
    write(long_page, "What is my name?")
    wait_until(long_page, lambda: shown_positions(long_page)[-1] == MESSAGES + 1)
    assert is_whole(shown_positions(long_page))
    expect(messages(long_page).last).to_be_in_viewport()


def test_what_others_say_meanwhile_does_not_move_who_reads_at_a_place(long_page, site):
    open_at(long_page, site, 100)
    before = long_page.locator('[data-position="100"]').bounding_box()
    other = long_page.context.new_page()
    other.goto(long_page.url.split("#")[0])
    say(other, "What is my name?")
    expect(long_page.locator(f'[data-position="{MESSAGES + 1}"][data-state="complete"]')).to_be_attached()
    assert long_page.locator('[data-position="100"]').bounding_box() == before
    jump(long_page).click()
    expect(messages(long_page).last).to_be_in_viewport()
    assert is_whole(shown_positions(long_page))


def test_scrolling_from_end_to_end_and_back_keeps_few_messages_on_the_page(long_page):
    seen: list[int] = []

    def go(step: int, until: int) -> None:
        def is_there() -> bool:
            scroller(long_page).evaluate(f"e => e.scrollBy(0, {step})")
            seen.append(messages(long_page).count())
            assert is_whole(shown_positions(long_page))
            return until in shown_positions(long_page)

        wait_until(long_page, is_there)

    go(-1_500, 0)
    go(1_500, MESSAGES - 1)
    assert max(seen) < MOST_ON_A_PAGE
    scroller(long_page).evaluate("e => e.scrollTo(0, e.scrollHeight)")
    expect(jump(long_page)).to_be_hidden()
    assert say(long_page, "What is my name?")


def test_a_version_far_from_the_end_is_edited_where_it_stands(long_page, site):
    open_at(long_page, site, 100)
    article = long_page.locator('[data-position="100"]')
    article.focus()
    long_page.keyboard.press("Alt+ArrowDown")
    long_page.keyboard.press("Alt+ArrowUp")
    long_page.keyboard.press("e")
    long_page.get_by_role("textbox", name="Your message").fill("My name is Boris")
    long_page.keyboard.press("Control+Enter")
    wait_until(long_page, lambda: shown_positions(long_page)[-1] == 101)
    assert is_whole(shown_positions(long_page))


def test_without_scripts_pages_lead_in_both_directions(long_page, open_page):
    page = open_page(
        f"{long_page.url}messages/?at=100",
        java_script_enabled=False,
        storage_state=long_page.context.storage_state(),
    )
    assert messages(page).first.get_attribute("data-position") == "90"
    page.get_by_role("link", name="Newer messages").click()
    expect(page.locator('[data-position="120"]')).to_be_visible()
    page.get_by_role("link", name="Older messages").click()
    expect(page.locator('[data-position="119"]')).to_be_visible()
