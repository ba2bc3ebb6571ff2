"""Web search as a user meets it: switched on in the composer, cited in the reply, and nothing asked once it is off.

A site of its own, because others have no web search: its SearXNG is a fake on the loopback.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.faults.databases import new_database
from tests.support.searxng import page as found_page
from tests.support.searxng import serve_searxng

from .conftest import TOKENS_PER_SECOND
from .page_actions import composer, replies, say, streaming, take_pictures, write
from .sites import running_site

QUESTION = "Where do grey herons stand in the evening?"
HERON = found_page("https://birds.example/heron", "Grey herons", "Grey herons stand in shallow water in the evening.")


@pytest.fixture(scope="module")
def searxng():
    with serve_searxng() as running:
        yield running


@pytest.fixture(scope="module")
def site(postgres, template, tmp_path_factory, searxng):
    folder = tmp_path_factory.mktemp("web-search")
    settings = {
        "DEMO_TOKENS_PER_SECOND": TOKENS_PER_SECOND,
        "MESSAGES_PER_MINUTE": 0,
        "WEB_SEARCH_URL": searxng.address,
        "WEB_SEARCH_SECONDS": 120,
    }
    with (
        new_database(postgres, template=template.name) as database,
        running_site(database, folder, **settings) as running,
    ):
        yield running


@pytest.fixture(autouse=True)
def answers(searxng):
    searxng.reset()
    searxng.results = [HERON]


def switch(page):
    return page.get_by_role("button", name="Search the web")


def is_on(page, on):
    expect(switch(page)).to_have_attribute("aria-pressed", "true" if on else "false")


def card(page):
    return page.get_by_role("dialog", name="Passage")


def test_switched_on_a_question_is_answered_with_pages_and_switched_off_nothing_is_asked(page, searxng):
    is_on(page, False)
    switch(page).click()
    is_on(page, True)
    reply = say(page, QUESTION)
    assert searxng.queries == [QUESTION]
    expect(reply.locator(".sources")).to_contain_text("Sources: 1 passage")
    reply.locator("[data-citation]").first.click()
    link = card(page).get_by_role("link", name="Grey herons")
    expect(link).to_have_attribute("href", "https://birds.example/heron")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    expect(card(page)).to_contain_text("birds.example")
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    page.keyboard.press("Escape")
    is_on(page, True)
    page.reload()
    is_on(page, True)
    switch(page).click()
    is_on(page, False)
    page.reload()
    is_on(page, False)
    say(page, "And where do white storks stand in the evening?")
    assert searxng.queries == [QUESTION]
    expect(replies(page).last.locator(".sources")).to_have_count(0)


def test_while_it_is_searched_the_page_says_so_also_after_a_reload(page, searxng, tmp_path):
    searxng.fault = "hang"
    switch(page).click()
    write(page, QUESTION)
    line = page.get_by_text("Searching the web …")
    expect(line).to_be_visible()
    expect(page.locator(".writing")).to_be_hidden()
    page.reload()
    expect(line).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        take_pictures(page, tmp_path / f"searching-{width}")
    searxng.released.set()
    expect(line).to_be_hidden()
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).last.locator("[data-content]")).not_to_be_empty()


def test_a_search_that_fails_is_said_in_one_quiet_sentence(page, searxng):
    searxng.fault = "status-503"
    switch(page).click()
    reply = say(page, QUESTION)
    sentence = "The web search could not be reached, so this was answered without it."
    expect(reply.locator(".sources")).to_contain_text(sentence)
    reply.locator("[data-action=inspect]").click()
    expect(page.locator("#inspector")).to_contain_text(sentence)


def test_it_is_switched_by_keyboard_and_typing_searches_nothing(page, searxng):
    composer(page).fill("Where do herons")
    switch(page).focus()
    page.keyboard.press("Space")
    is_on(page, True)
    with page.expect_response("**/estimate/") as estimated:
        composer(page).fill(QUESTION)
    assert estimated.value.ok
    assert searxng.requests == []


def test_without_scripts_a_box_begins_with_it_and_a_button_switches_it(open_page, site, searxng):
    cookie = {"name": "sessionid", "value": next(site.sessions), "domain": "127.0.0.1", "path": "/", "expires": -1}
    state = {"cookies": [cookie], "origins": []}
    page = open_page("/", storage_state=state, java_script_enabled=False)
    page.get_by_role("checkbox", name="Search the web").check()
    composer(page).fill(QUESTION)
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/c/**")
    searxng.wait_for_requests(1)
    is_on(page, True)
    composer(page).fill("Half a question")
    switch(page).click()
    is_on(page, False)
    expect(composer(page)).to_have_value("Half a question")
