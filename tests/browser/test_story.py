"""The main job, as a person does it: sign up, talk, look into the window, review."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.support.people import PASSWORD

from .page_actions import (
    CONVERSATION_PATH,
    composer,
    content_of,
    messages,
    open_account_menu,
    replies,
    say,
    streaming,
    wait_until,
    write,
)

pytestmark = pytest.mark.moving
WITHOUT_AN_ADMIN = "from chatsite.accounts.models import User; User.objects.update(role='user')"


def test_a_new_person_signs_up_says_their_name_and_is_quoted(open_page):
    page = open_page("/accounts/signup/")
    page.get_by_label("Email").fill("andrew@example.org")
    give_password(page)
    say(page, "My name is Andrew")
    expect(say(page, "What is my name?")).to_contain_text("Andrew")
    expect(page).to_have_url(CONVERSATION_PATH)
    expect(page.get_by_role("heading", level=1)).to_have_text("My name is Andrew")


def give_password(page):
    """Fill every field for it, send the form, and wait for the page of a new conversation."""
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.locator("main button[type=submit]").click()
    page.wait_for_url("/")


def test_a_new_conversation_joins_the_list_under_today(page):
    say(page, "Packing for Lisbon")
    listed = page.get_by_role("navigation").get_by_role("link", name="Packing for Lisbon", exact=True)
    expect(listed).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("heading", name="Today")).to_be_visible()


def test_a_reply_arrives_rendered_with_code_that_can_be_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reply = say(page, "show me markdown")
    code = reply.locator(".code-block").first
    code.get_by_role("button", name="Copy").click()
    expect(code.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == code.locator("code").inner_text()
    reply.get_by_role("button", name="Copy").last.click()
    expect(page.locator('[data-part="announcer"]')).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "```" in copied
    assert code.locator("code").inner_text() in copied


def test_a_second_tab_sees_the_same(page):
    say(page, "My name is Andrew")
    second = page.context.new_page()
    second.goto(page.url)
    write(second, "What is my name?")
    for tab in (page, second):
        expect(messages(tab)).to_have_count(4)
        expect(replies(tab).last).to_contain_text("Andrew")
        expect(streaming(tab)).to_have_count(0)
    assert content_of(replies(page).last) == content_of(replies(second).last)


def test_everything_is_there_in_another_browser_on_another_day(page, open_page):
    say(page, "My name is Andrew")
    other = open_page(page.url, storage_state=page.context.storage_state())
    expect(messages(other)).to_have_count(2)


def test_the_inspector_shows_each_message_that_the_model_saw(page):
    say(page, "My name is Andrew")
    say(page, "What is my name?").get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel.locator(".row")).to_have_count(3)
    expect(panel.locator(".row-newest")).to_contain_text("What is my name?")
    expect(panel).to_contain_text("Input tokens: provider’s count")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_the_thread_goes_on_beside_the_inspector(page):
    reply = say(page, "My name is Andrew")
    link = reply.get_by_role("link", name="What the model saw")
    link.click()
    panel, conversations = page.locator("#inspector"), page.get_by_role("navigation", name="Conversations")
    expect(panel.locator(".row-newest")).to_be_visible()
    expect(conversations).to_be_hidden()
    panel.locator("[data-go-to]").first.click()
    expect(messages(page).first).to_be_focused()
    composer(page).fill("What is my name?")
    expect(panel).to_be_visible()
    page.locator("[data-part=preview] .meter-text").click()  # true until the next letter: nothing is typed beside it
    expect(page.get_by_role("dialog", name="What would be sent now")).to_be_visible()
    assert panel.evaluate("panel => panel.matches(':modal')")
    page.keyboard.press("Escape")
    link.click()
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(link).to_be_focused()
    expect(conversations).to_be_visible()


def test_the_inspector_opens_only_once_its_styles_are_there(page):
    shown = [say(page, "My name is Andrew"), say(page, "What is my name?")]
    held = []
    page.route("**/bundles/window*.css", lambda route: held.append(route))
    page.evaluate(
        "() => { window.filled = new Set(); document.addEventListener('htmx:afterSettle', "
        "({ detail }) => { detail.target.id === 'inspector-body' && filled.add(detail.xhr) }) }"
    )
    for number, reply in enumerate(shown, 1):
        reply.get_by_role("link", name="What the model saw").click()
        wait_until(page, lambda number=number: page.evaluate("filled.size") == number)
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel).to_be_hidden()
    assert len(held) == 1
    held[0].continue_()
    expect(panel).to_be_visible()
    expect(panel.locator(".row")).to_have_count(3)


def test_the_first_admin_finds_the_conversation_in_the_review(site, open_page):
    site.run(WITHOUT_AN_ADMIN)
    page = open_page(site.first_admin_link)
    page.get_by_label("Email").fill("admin@example.org")
    give_password(page)
    say(page, "A conversation to review")
    open_account_menu(page)
    page.get_by_role("link", name="Review the site").click()
    page.goto("/admin/conversations/conversation/")
    page.get_by_role("link", name=re.compile("^Conversation [0-9a-f]{8}")).first.click()
    expect(page.get_by_text("A conversation to review").first).to_be_visible()
