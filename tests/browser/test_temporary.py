"""A temporary conversation: begun by a switch, marked, not listed, and kept if its owner wants it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from .page_actions import CONVERSATION_PATH, composer, draft_kept, messages, say


def begin(page: Page, content: str = "Just for tonight") -> None:
    page.get_by_role("link", name="Temporary conversation").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Temporary conversation")
    say(page, content)
    page.wait_for_url(CONVERSATION_PATH)


def sign(page: Page):
    return page.locator('[data-part="temporary"]')


def listed(page: Page):
    return page.get_by_role("navigation").locator("[data-entry]")


def test_it_says_when_it_is_deleted_and_is_in_no_list(page):
    begin(page)
    expect(sign(page)).to_contain_text(re.compile(r"Temporary\s+deleted tomorrow at \d"))
    expect(listed(page)).to_have_count(0)
    page.reload()
    expect(sign(page)).to_contain_text(re.compile(r"Temporary\s+deleted tomorrow at \d"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Temporary conversation")
    expect(page).to_have_title(re.compile("Temporary conversation"))
    expect(listed(page)).to_have_count(0)


def test_it_is_found_again_by_its_address(page):
    begin(page)
    address = page.url
    page.goto("/")
    page.goto(address)
    expect(messages(page).first).to_contain_text("Just for tonight")


def test_it_can_be_kept_and_is_like_any_other_then(page):
    begin(page)
    page.get_by_role("button", name="Keep this conversation").click()
    expect(sign(page)).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text("Just for tonight")
    expect(listed(page)).to_have_count(1)


def test_it_is_kept_by_a_command_too(page):
    begin(page)
    composer(page).press_sequentially("/keep")
    expect(page.get_by_role("option", name="Keep this conversation")).to_be_visible()
    composer(page).press("Enter")
    expect(sign(page)).to_have_count(0)


def test_one_that_is_not_begun_can_be_an_ordinary_one_after_all(page):
    page.get_by_role("link", name="Temporary conversation").click()
    expect(sign(page)).to_contain_text("deleted 24 hours after your first message")
    expect(page.get_by_role("button", name="Keep this conversation")).to_be_hidden()
    page.get_by_role("link", name="Not temporary").click()
    expect(sign(page)).to_have_count(0)
    say(page, "An ordinary one")
    expect(listed(page)).to_have_count(1)


def test_what_is_typed_in_it_stays_in_no_browser(page):
    begin(page)
    composer(page).fill("a secret")
    page.reload()
    expect(composer(page)).to_have_value("a secret")
    assert "a secret" not in draft_kept(page)


def test_once_it_is_over_its_address_leads_nowhere(page, site):
    begin(page)
    public_id = page.url.rstrip("/").rpartition("/")[2]
    site.run(
        "from django.utils import timezone; from conversations.models import Conversation; "
        f"Conversation.objects.filter(public_id='{public_id}').update(temporary_until=timezone.now())"
    )
    assert page.goto(page.url).status == 404


def test_it_is_begun_and_kept_without_a_script(signed_in):
    page = signed_in(java_script_enabled=False)
    page.get_by_role("link", name="Temporary conversation").click()
    composer(page).fill("Without a script")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(sign(page)).to_contain_text(re.compile(r"deleted on \d"))
    expect(listed(page)).to_have_count(0)
    page.get_by_role("button", name="Keep this conversation").click()
    expect(listed(page)).to_have_count(1)


def test_a_scenario_that_is_chosen_leaves_it_temporary(page):
    page.get_by_role("link", name="Temporary conversation").click()
    expect(sign(page)).to_be_visible()
    composer(page).press_sequentially("/with tools")
    expect(page.get_by_role("listbox", name="Suggestions").get_by_role("option", name="With tools")).to_be_visible()
    composer(page).press("Enter")
    expect(page.get_by_role("button", name="Scenario: With tools")).to_be_visible()
    assert "temporary=true" in page.url
    expect(sign(page)).to_be_visible()
