"""Without the socket, and without JavaScript: the page still loads, sends and follows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import block_socket, composer, messages, replies, say, write


@pytest.fixture
def page_without_socket(page):
    block_socket(page)
    page.reload()
    return page


def test_a_conversation_goes_on_without_the_socket_and_the_page_says_so(page_without_socket):
    page = page_without_socket
    say(page, "My name is Andrew")
    expect(say(page, "What is my name?")).to_contain_text("Andrew")
    expect(page.get_by_text("No live connection right now")).to_be_visible()


def test_the_socket_is_used_again_once_it_connects(page):
    unblock_socket = block_socket(page)
    page.reload()
    expect(page.get_by_text("No live connection right now")).to_be_visible()
    unblock_socket()
    expect(page.get_by_text("No live connection right now")).to_be_hidden()
    expect(say(page, "My name is Andrew")).to_contain_text("quote")


def test_without_any_connection_the_page_says_so_until_it_is_back(page):
    say(page, "My name is Andrew")
    block_socket(page)
    page.route("**/c/**", lambda route: route.abort() if route.request.resource_type == "fetch" else route.continue_())
    page.reload()
    expect(page.get_by_text("No connection to the server")).to_be_visible()
    write(page, "What is my name?")
    expect(page.get_by_text("Can’t reach the server")).to_be_visible()
    page.unroute("**/c/**")
    expect(page.get_by_text("No live connection right now")).to_be_visible()
    expect(page.get_by_text("Can’t reach the server")).to_be_hidden()
    expect(composer(page)).to_have_value("What is my name?")


def test_a_new_conversation_without_any_connection_says_so_too(page):
    block_socket(page)
    page.route("**/estimate/", lambda route: route.abort())
    page.reload()
    expect(page.get_by_text("No connection to the server")).to_be_visible()


@pytest.fixture
def page_without_script(page, open_page):
    return open_page("/", java_script_enabled=False, storage_state=page.context.storage_state())


def test_a_message_is_sent_and_its_reply_followed_without_javascript(page_without_script):
    page = page_without_script
    composer(page).fill("My name is Andrew")
    page.get_by_role("button", name="Send").click()
    expect(messages(page)).to_have_count(2)
    expect(page.locator('[data-role="assistant"][data-state="complete"]')).to_contain_text("quote")


def test_a_refused_message_stays_in_the_form_without_javascript(page_without_script):
    page = page_without_script
    composer(page).fill("window " * 5_000)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("tokens too long")
    expect(composer(page)).to_have_value("window " * 5_000)


def test_the_window_is_a_page_of_its_own_without_javascript(page_without_script):
    page = page_without_script
    composer(page).fill("My name is Andrew")
    page.get_by_role("button", name="Send").click()
    replies(page).get_by_role("link", name="What the model saw").click()
    expect(page.get_by_role("heading", name="What the model saw")).to_be_visible()
    expect(page.locator(".row-newest")).to_contain_text("My name is Andrew")
