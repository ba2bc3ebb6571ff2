"""What has the focus goes with a list, a note or a button: then the focus goes on to where the user goes on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .document_actions import add_documents
from .page_actions import (
    ask_for_menu,
    choose_for_entry,
    composer,
    replies,
    say,
    scroller,
    streaming,
    wait_until,
    write,
)
from .sidebar_actions import listed, make_conversations, new_conversation

SCROLL_TOP = "list => list.scrollTop"
DRAW_AGAIN = """async ([before, after, isBackward, extended]) => {
  const { rememberSelection } = await import(document.body.dataset.selectedText);
  const [old, fresh] = [before, after].map((html) => {
    const article = document.createElement("article");
    article.innerHTML = `<div data-content>${html}</div>`;
    return article;
  });
  document.body.append(old);
  const ends = [[old.querySelector("b").firstChild, 0], [old.querySelector("li"), 1]];
  const [from, to] = isBackward ? ends.reverse() : ends;
  getSelection().setBaseAndExtent(...from, ...to);
  const selectAgain = rememberSelection(old);
  old.replaceWith(fresh);
  selectAgain(fresh);
  extended && getSelection().modify("extend", extended, "character");
  const text = getSelection().toString();
  fresh.remove();
  return text;
}"""
TWO_BLOCKS = "<p>One <b>two</b></p><ul><li>three</li></ul>"


@pytest.fixture
def two(page):
    say(page, "Ferries to Reine")
    new_conversation(page)
    say(page, "Bread with caraway")
    return page


@pytest.fixture
def many(page, site):
    """More conversations than a page of the list has."""
    say(page, "Ferries to Reine")
    make_conversations(site, page, 70)
    page.reload()
    expect(listed(page, "Old 69")).to_be_visible()
    return page


def the_list(page):
    return page.locator("[data-list]")


def press_in_entry_menu(page, title, item):
    """Open the menu of an entry by keyboard, and choose from it."""
    listed(page, title).focus()
    expect(page.locator('[data-entry][tabindex="-1"]').first).to_be_attached()  # the keys of the list have come
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    page.get_by_role("menuitem", name=item, exact=True).press("Enter")


def test_a_note_that_is_closed_or_undone_by_keyboard(two):
    choose_for_entry(two, "Ferries to Reine", "Archive")
    two.get_by_role("button", name="Undo").press("Enter")
    expect(listed(two, "Ferries to Reine")).to_be_visible()
    expect(composer(two)).to_be_focused()
    choose_for_entry(two, "Ferries to Reine", "Archive")
    two.locator("#toasts").get_by_role("button", name="Close").press("Enter")
    expect(composer(two)).to_be_focused()


def test_notes_come_into_a_region_that_is_there_or_they_are_not_read_out(two):
    region = two.locator("#toasts").element_handle()
    choose_for_entry(two, "Ferries to Reine", "Archive")
    expect(two.get_by_role("button", name="Undo")).to_be_visible()
    assert "Ferries to Reine" in region.inner_text()
    choose_for_entry(two, "Bread with caraway", "Archive")
    expect(two.locator("#toasts")).to_contain_text("Bread with caraway")
    assert "Bread with caraway" in region.inner_text()


def test_what_is_renamed_or_moved_by_keyboard_has_the_focus_again(two):
    press_in_entry_menu(two, "Ferries to Reine", "Rename")
    two.get_by_label("Title", exact=True).fill("Ferries")
    two.keyboard.press("Enter")
    expect(listed(two, "Ferries")).to_be_focused()
    press_in_entry_menu(two, "Ferries", "Move to a folder")
    two.get_by_role("textbox", name="Name of a new folder").fill("Work")
    two.keyboard.press("Enter")
    expect(two.locator(".list-folder").get_by_role("link", name="Ferries", exact=True)).to_be_focused()


def test_a_note_above_the_composer_that_goes_when_its_button_is_pressed(two):
    two.locator(".title-open").click()
    two.get_by_role("menuitem", name="Archive").press("Enter")
    two.locator("#archived-note").get_by_role("button").press("Enter")
    expect(listed(two, "Bread with caraway")).to_be_visible()
    expect(composer(two)).to_be_focused()


def test_the_way_to_the_newest_goes_when_it_is_pressed(page):
    say(page, "count slowly to 12")
    page.set_viewport_size({"width": 1000, "height": 300})
    jump = page.locator('[data-part="jump"]')
    scroller(page).evaluate("e => { e.scrollTop = 0; }")
    expect(jump).to_be_visible()
    jump.press("Enter")
    expect(jump).to_be_hidden()
    expect(composer(page)).to_be_focused()


def test_a_reply_that_ends_takes_the_button_along_that_stops_it(page):
    write(page, "count slowly to 12")
    page.get_by_role("button", name="Stop the reply").focus()
    expect(streaming(page)).to_have_count(0)
    expect(composer(page)).to_be_focused()


def test_a_click_on_nothing_leaves_the_focus_nowhere(two):
    composer(two).focus()
    two.locator(".sidebar-head").click(position={"x": 200, "y": 5})
    two.evaluate("new Promise(resolve => setTimeout(() => setTimeout(resolve)))")
    assert two.evaluate("document.activeElement === document.body")


def test_the_menu_of_an_entry_stays_with_it_when_the_list_changes(two):
    other = two.context.new_page()
    other.goto(two.url)
    listed(two, "Ferries to Reine").focus()
    ask_for_menu(two, "Ferries to Reine")
    two.get_by_role("menuitem", name="Star", exact=True).press("ArrowDown")
    expect(two.get_by_role("menuitem", name="Move to a folder")).to_be_focused()
    choose_for_entry(other, "Bread with caraway", "Star")
    expect(two.locator('[data-kind="starred"] .entry')).to_have_count(1)
    scroller(two).dispatch_event("scroll")  # as for a reply that streams
    expect(two.get_by_role("menuitem", name="Move to a folder")).to_be_focused()
    two.keyboard.press("Escape")
    expect(two.get_by_role("button", name="Actions for “Ferries to Reine”")).to_be_focused()


def test_a_dialog_gives_the_focus_back_to_an_entry_that_was_drawn_again(two):
    other = two.context.new_page()
    other.goto(two.url)
    press_in_entry_menu(two, "Ferries to Reine", "Rename")
    title = two.get_by_label("Title", exact=True)
    expect(title).to_be_focused()
    for titles in (["Bread with caraway"], ["Bread with caraway", "Ferries to Reine"]):
        choose_for_entry(other, titles[-1], "Star")
        expect(two.locator('[data-kind="starred"] .entry')).to_have_count(len(titles))
    expect(title).to_be_focused()
    two.keyboard.press("Escape")
    expect(listed(two, "Ferries to Reine")).to_be_focused()


def test_a_menu_that_comes_late_does_not_take_the_focus_from_the_field(two):
    ask_for_menu(two, "Ferries to Reine")
    expect(two.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    two.keyboard.press("Escape")  # what it needs has come
    held = []
    two.route("**/actions/*", lambda route: held.append((route, route.fetch())))
    listed(two, "Ferries to Reine").focus()
    ask_for_menu(two, "Ferries to Reine")
    composer(two).press_sequentially("And ")
    wait_until(two, lambda: held)
    route, answer = held.pop()
    with two.expect_response("**/actions/*"):
        route.fulfill(response=answer)
    two.evaluate("fetch('/healthz')")
    two.keyboard.type("stars")
    expect(composer(two)).to_have_value("And stars")


def test_a_list_that_is_replaced_stays_where_it_was_scrolled_to(many):
    other = many.context.new_page()
    other.goto(many.url)
    the_list(many).evaluate("list => { list.scrollTop = 400; }")
    choose_for_entry(other, "Old 69", "Star")
    expect(many.locator('[data-kind="starred"] .entry')).to_have_count(1)
    assert the_list(many).evaluate(SCROLL_TOP) == 400


def test_a_list_that_has_been_read_on_is_as_long_when_it_is_replaced(many):
    other = many.context.new_page()
    other.goto(many.url)
    listed(many, "Old 20").scroll_into_view_if_needed()
    expect(listed(many, "Old 0")).to_be_attached()
    listed(many, "Old 0").scroll_into_view_if_needed()
    place = the_list(many).evaluate(SCROLL_TOP)
    choose_for_entry(other, "Old 69", "Archive")
    expect(listed(many, "Old 69")).to_have_count(0)
    assert the_list(many).evaluate(SCROLL_TOP) <= place
    expect(listed(many, "Old 0")).to_be_in_viewport()
    choose_for_entry(many, "Old 1", "Rename")
    many.get_by_label("Title", exact=True).fill("One of old")
    many.get_by_role("button", name="Rename", exact=True).click()
    expect(listed(many, "One of old")).to_be_in_viewport()


def test_a_list_of_a_few_more_than_its_first_part_is_whole_when_it_is_replaced(page, site):
    say(page, "Ferries to Reine")
    make_conversations(site, page, 54)
    page.reload()
    listed(page, "Old 6").scroll_into_view_if_needed()
    expect(listed(page, "Ferries to Reine")).to_be_attached()
    the_list(page).evaluate("list => { list.scrollTop = 0; }")  # else its end asks for the rest again
    other = page.context.new_page()
    other.goto(page.url)
    choose_for_entry(other, "Old 53", "Star")
    expect(page.locator('[data-kind="starred"] .entry')).to_have_count(1)
    assert page.locator("[data-list] .entry").count() == 55


def test_more_of_the_list_that_comes_while_its_link_has_the_focus(many):
    entries = many.locator("[data-list] .entry")
    shown = entries.count()
    listed(many, "Old 69").focus()
    expect(many.locator('[data-entry][tabindex="-1"]').first).to_be_attached()  # the keys of the list have come
    many.locator(".list-more a").focus()
    expect(listed(many, "Old 0")).to_be_attached()
    expect(entries.nth(shown).get_by_role("link")).to_be_focused()


def test_the_link_to_more_of_the_list_keeps_the_focus_when_the_list_comes_again(many):
    many.route(re.compile("before="), lambda _route: None)  # more of it is on its way, and does not come
    listed(many, "Old 69").focus()
    expect(many.locator('[data-entry][tabindex="-1"]').first).to_be_attached()  # the keys of the list have come
    link = many.locator(".list-more a")
    link.focus()
    before = link.element_handle()
    the_list(many).dispatch_event("reload")  # as what the socket tells of has it
    before.wait_for_element_state("hidden")
    expect(link).to_be_focused()


def test_documents_keep_the_focus_when_they_are_drawn_again_and_deleted(page):
    say(page, "Hello there")
    add_documents(page, ("a.md", "# A\n\nOne."), ("b.md", "# B\n\nTwo."))
    chip = page.locator(".documents-summary")
    expect(chip).to_have_text("2 documents")
    chip.focus()
    with page.expect_response("**/documents/?folded=true"):
        page.evaluate("dispatchEvent(new Event('focus'))")
    page.evaluate("fetch('/healthz')")
    expect(chip).to_be_focused()
    chip.press("Enter")
    panel = page.locator("#documents-panel")
    for left in (1, 0):
        panel.locator('[data-action="ask-to-delete"]').first.press("Enter")
        panel.get_by_role("button", name="Delete", exact=True).press("Enter")
        expect(panel.locator("[data-document]")).to_have_count(left)
        expect(panel.locator(":focus")).to_have_count(1)


def test_entries_do_not_move_in_the_drawer_of_a_phone(signed_in):
    phone = signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    say(phone, "Ferries to Reine")
    phone.goto("/")
    say(phone, "Bread with caraway")
    other = phone.context.new_page()
    other.goto("/")
    write(other, "count slowly to 12")
    expect(streaming(other)).to_have_count(1)
    phone.get_by_role("button", name="Conversations").tap()
    writing = phone.locator('[data-kind="writing"] .entry')
    expect(writing).to_have_count(1)
    expect(streaming(other)).to_have_count(0)
    expect(phone.locator("[data-entry-writing]:not([hidden])")).to_have_count(0)
    expect(writing).to_have_count(1)
    phone.keyboard.press("Escape")
    expect(writing).to_have_count(0)


def test_the_sheet_of_a_message_works_when_its_message_was_drawn_again(signed_in):
    phone = signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    say(phone, "Ferries to Reine")
    say(phone, "Bread with caraway")  # the last reply has a row of buttons
    reply = replies(phone).first
    reply.get_by_role("button", name="Actions").tap()
    good = phone.locator("#message-sheet [data-twin=rate-good]")
    expect(good).to_be_visible()
    reply.evaluate("article => article.replaceWith(article.cloneNode(true))")  # as a snapshot does
    good.tap()
    expect(reply.locator("[data-action=rate-good]")).to_have_attribute("aria-pressed", "true")


def test_a_button_of_the_archive_keeps_the_focus_when_its_list_changes(two):
    choose_for_entry(two, "Ferries to Reine", "Archive")
    expect(two.get_by_role("button", name="Undo")).to_be_visible()
    archive = two.context.new_page()
    archive.goto("/conversations/archived/")
    take_out = archive.get_by_role("button", name="Take “Ferries to Reine” out of the archive")
    take_out.focus()
    choose_for_entry(two, "Bread with caraway", "Archive")
    expect(archive.locator(".kept-conversation")).to_have_count(2)
    expect(take_out).to_be_focused()


def select_in(words, first, last):
    """Select some characters of an element as a pointer would, once the page keeps what is selected."""
    words.click()
    words.page.evaluate("import(document.body.dataset.selectedText).then(() => undefined)")
    words.evaluate(
        "(words, [first, last]) => getSelection().setBaseAndExtent(words.firstChild, first, words.firstChild, last)",
        [first, last],
    )


def selected_in_a_reply(page):
    script = "reply => reply.contains(getSelection().anchorNode) ? getSelection().toString() : 'not in the reply'"
    return replies(page).last.evaluate(script)


def test_what_is_selected_in_a_reply_stays_selected_when_the_reply_ends(page):
    write(page, "count slowly to 25")
    words = streaming(page).get_by_text("1, 2, 3")
    words.wait_for()
    select_in(words, 3, 7)
    expect(streaming(page)).to_have_count(0)
    assert selected_in_a_reply(page) == "2, 3"


def test_what_is_selected_in_a_block_stays_selected_when_the_server_has_drawn_it(page):
    write(page, "show me markdown slowly")
    words = streaming(page).locator("[data-tail] p").get_by_text("This text is")
    words.wait_for()
    select_in(words, 0, 9)
    expect(streaming(page).locator("[data-blocks]")).to_contain_text("This text is")
    assert selected_in_a_reply(page) == "This text"


@pytest.mark.parametrize(
    ("drawn_again", "selected"),
    [
        ("<p>One <b>two</b></p>\n<ul>\n<li>three</li>\n</ul>", "two\n\nthree"),
        ("<p>One <b>two</b></p><ul><li>three and more</li></ul>", "two\n\nthree"),
        ("<p>Another two</p><ul><li>three</li></ul>", ""),
        ("", ""),
    ],
)
def test_what_is_selected_is_found_again_between_other_blanks(page, drawn_again, selected):
    assert page.evaluate(DRAW_AGAIN, [TWO_BLOCKS, drawn_again, False, ""]) == selected


def test_what_is_selected_backwards_is_extended_from_the_same_end_when_it_is_drawn_again(page):
    assert page.evaluate(DRAW_AGAIN, [TWO_BLOCKS, TWO_BLOCKS, True, "backward"]) == " two\n\nthree"
    assert page.evaluate(DRAW_AGAIN, [TWO_BLOCKS, TWO_BLOCKS, False, "backward"]) == "two\n\nthre"
