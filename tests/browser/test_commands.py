"""`/` and `@` in the composer: lists that help, and never take what is typed."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from .document_actions import NOTES, add_documents, document_row
from .page_actions import composer, messages, replies, say, write
from .suggestion_actions import option, options


def type_in(page: Page, text: str) -> None:
    composer(page).press_sequentially(text)


def save_prompt(page: Page, name: str, content: str) -> None:
    page.goto("/account/prompts/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Text").fill(content)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name=name)).to_be_visible()


def test_a_slash_lists_commands_and_the_keyboard_goes_through_them(page):
    type_in(page, "/")
    expect(option(page, "New conversation")).to_be_visible()
    expect(page.locator('[data-part="announcer"]')).to_contain_text("Suggestions:")
    first, second = options(page).nth(0), options(page).nth(1)
    expect(first).to_have_attribute("aria-selected", "true")
    composer(page).press("ArrowDown")
    expect(second).to_have_attribute("aria-selected", "true")
    expect(composer(page)).to_have_attribute("aria-activedescendant", second.get_attribute("id"))
    composer(page).press("ArrowUp")
    composer(page).press("ArrowUp")
    expect(options(page).last).to_have_attribute("aria-selected", "true")
    expect(composer(page)).to_be_focused()
    expect(composer(page)).to_have_value("/")


def test_another_model_is_chosen_without_the_mouse(page):
    type_in(page, "/model")
    expect(option(page, "Language model and scenario")).to_be_visible()
    composer(page).press("Enter")
    expect(page.locator("#model-menu")).to_be_visible()
    page.get_by_role("menuitemradio", name="Demo (32k window)").press("Enter")
    expect(page.get_by_role("button", name="Language model: Demo (32k window)")).to_be_visible()


def test_a_command_is_taken_by_enter_and_leaves_the_rest_of_the_text(page):
    say(page, "My name is Andrew")
    composer(page).fill(" what is left")
    composer(page).press("Home")
    type_in(page, "/pin")
    expect(option(page, "Pin the last reply")).to_be_visible()
    composer(page).press("Enter")
    expect(replies(page).last).to_have_attribute("data-pinned", "")
    expect(composer(page)).to_have_value("what is left")
    expect(messages(page)).to_have_count(2)


def test_a_command_is_found_by_the_words_of_its_label_and_taken_by_a_click(page):
    type_in(page, "/tempo")
    option(page, "New temporary conversation").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Temporary conversation")


def test_escape_leaves_what_is_typed_and_enter_sends_it(page):
    type_in(page, "/new")
    expect(option(page, "New conversation")).to_be_visible()
    composer(page).press("Escape")
    expect(options(page)).to_have_count(0)
    type_in(page, "s")
    expect(options(page)).to_have_count(0)
    composer(page).press("Enter")
    expect(messages(page).first).to_contain_text("/news")


def test_what_follows_save_is_what_is_saved(page):
    type_in(page, "/save Answer in two sentences.")
    expect(option(page, "Save what is written as a prompt")).to_be_visible()
    composer(page).press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Text")).to_have_value("Answer in two sentences.")
    expect(messages(page)).to_have_count(0)


def test_what_follows_another_command_makes_it_a_message(page):
    write(page, "/new ideas for the journey")
    expect(messages(page).first).to_contain_text("/new ideas for the journey")


def test_what_no_command_fits_is_a_message(page):
    write(page, "/usr/bin/env is a path")
    expect(messages(page).first).to_contain_text("/usr/bin/env is a path")


def test_a_slash_within_a_message_is_a_slash(page):
    type_in(page, "either /new")
    composer(page).press("Enter")
    expect(messages(page).first).to_contain_text("either /new")


def test_shift_and_enter_make_a_new_line_while_the_list_is_open(page):
    type_in(page, "/new")
    expect(option(page, "New conversation")).to_be_visible()
    composer(page).press("Shift+Enter")
    expect(composer(page)).to_have_value("/new\n")
    expect(options(page)).to_have_count(0)


def test_stop_is_offered_only_while_a_reply_streams(page):
    type_in(page, "/stop")
    expect(options(page)).to_have_count(0)
    composer(page).fill("count slowly to 5000")
    composer(page).press("Enter")
    expect(replies(page)).to_have_count(1)
    type_in(page, "/stop")
    expect(option(page, "Stop the reply")).to_be_visible()
    composer(page).press("Tab")
    expect(replies(page).first).to_have_attribute("data-state", "stopped")
    expect(composer(page)).to_have_value("")


def test_a_saved_prompt_comes_into_the_field_and_is_not_sent(page):
    save_prompt(page, "Weekly report", "Sum up the week.\nIn five points.")
    page.goto("/")
    type_in(page, "/week")
    expect(option(page, "Weekly report")).to_be_visible()
    composer(page).press("Enter")
    expect(composer(page)).to_have_value("Sum up the week.\nIn five points.")
    expect(messages(page)).to_have_count(0)


def test_what_is_written_is_saved_as_a_prompt(page):
    composer(page).fill("Translate this for a child")
    composer(page).press("Home")
    type_in(page, "/save")
    expect(option(page, "Save what is written as a prompt")).to_be_visible()
    composer(page).press("Enter")
    dialog = page.locator("#small-dialog")
    expect(dialog.get_by_label("Text")).to_have_value("Translate this for a child")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_hidden()
    dialog.get_by_label("Name", exact=True).fill("For a child")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(composer(page)).to_have_value("Translate this for a child")
    page.goto("/account/prompts/")
    expect(page.get_by_role("link", name="For a child")).to_be_visible()


def test_saved_prompts_are_changed_and_deleted_on_their_page(page):
    save_prompt(page, "Weekly report", "Sum up the week.")
    page.get_by_role("link", name="Weekly report").click()
    page.get_by_label("Text").fill("Sum up the month.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".saved-prompt")).to_contain_text("Sum up the month.")
    page.get_by_role("button", name="Delete “Weekly report”").click()
    expect(page.locator(".saved-prompt")).to_have_count(0)


def test_another_scenario_is_chosen(page):
    page.goto("/")
    composer(page).fill(" and the text stays")
    composer(page).press("Home")
    type_in(page, "/with tools")
    expect(option(page, "With tools")).to_be_visible()
    composer(page).press("Enter")
    page.wait_for_url(re.compile(r"\?scenario=\d+"))
    expect(composer(page)).to_have_value("and the text stays")


def test_an_at_sign_lists_documents_and_the_reply_looks_in_that_one_alone(page):
    add_documents(page, NOTES, ("other.md", "# Other lights\n\nThe lighthouse of Sylt burns since 1856."))
    expect(document_row(page, "notes.md")).to_contain_text("Ready", ignore_case=True)
    expect(document_row(page, "other.md")).to_contain_text("Ready", ignore_case=True)
    type_in(page, "Since when does the lighthouse burn, see @no")
    expect(options(page)).to_have_count(1)
    expect(option(page, "notes.md")).to_be_visible()
    composer(page).press("Enter")
    expect(composer(page)).to_have_value("Since when does the lighthouse burn, see @notes.md ")
    composer(page).press("Enter")
    expect(replies(page).first).to_have_attribute("data-state", "complete")
    expect(replies(page).first).to_contain_text("1875")
    expect(replies(page).first).not_to_contain_text("1856")


def test_an_at_sign_within_a_word_is_part_of_it(page):
    add_documents(page, NOTES)
    expect(document_row(page, "notes.md")).to_contain_text("Ready", ignore_case=True)
    type_in(page, "write to anna@no")
    expect(options(page)).to_have_count(0)
