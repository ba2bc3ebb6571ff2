"""Notes as people write them: about themselves on the account page, and on a conversation in a dialog of its page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .page_actions import composer, replies, say


def legend(page: Page):
    return page.locator('[data-part="meter"] [data-legend="notes"]')


def test_notes_are_written_counted_and_seen(page):
    say(page, "My boat is eight metres long.")
    expect(legend(page)).to_be_hidden()
    opener = page.get_by_role("heading", level=1).get_by_role("button")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    dialog = page.locator("#small-dialog")
    field = dialog.get_by_role("textbox", name="Notes")
    expect(field).to_be_focused()
    field.fill("x" * 4_001)
    dialog.get_by_role("button", name="Save notes").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Notes may have 4,000 characters")
    expect(field).to_have_value("x" * 4_001)
    field.fill("The boat is called Kestrel.")
    dialog.get_by_role("button", name="Save notes").click()
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    expect(legend(page).locator("b")).not_to_have_text("")
    say(page, "How is the boat called?")
    expect(replies(page).last).to_contain_text("A note of yours says: “The boat is called Kestrel.”")
    replies(page).last.get_by_role("link", name="What the model saw").click()
    row = page.get_by_role("dialog", name="What the model saw").locator(".row-notes")
    expect(row).to_contain_text("The boat is called Kestrel.")


def test_what_is_said_about_oneself_goes_into_every_conversation(page):
    page.goto("/account/")
    page.get_by_role("textbox", name="About me").fill("My name is Ada.")
    page.get_by_role("region", name="Notes and recall").get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    expect(page.get_by_role("textbox", name="About me")).to_have_value("My name is Ada.")
    page.goto("/")
    composer(page).fill("What is my name?")
    expect(legend(page).locator("b")).not_to_have_text("")
    assert "Ada" in say(page, "What is my name?").inner_text()
