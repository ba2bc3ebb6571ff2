"""The list of conversations: rename, delete and undo."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import begin_another, choose_for_entry, composer, goto_and_listen, messages, say, wait_until


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def test_a_conversation_is_renamed(page):
    say(page, "My name is Andrew")
    choose_for_entry(page, "My name is Andrew", "Rename")
    page.get_by_label("Title", exact=True).fill("Names")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Names")
    expect(listed(page, "Names")).to_be_visible()


def test_other_pages_show_a_new_title_at_once(page):
    say(page, "The first one")
    begin_another(page)
    say(page, "The second one")
    other = page.context.new_page()
    goto_and_listen(other, page.url)
    expect(other.get_by_role("heading", level=1)).to_have_text("The second one")
    for title, new in (("The second one", "Ferries"), ("The first one", "Trains")):
        choose_for_entry(page, title, "Rename")
        page.get_by_label("Title", exact=True).fill(new)
        page.get_by_label("Title", exact=True).press("Enter")
        expect(listed(other, new)).to_be_visible()
    expect(other.get_by_role("heading", level=1)).to_have_text("Ferries")
    expect(other).to_have_title("Ferries · Windowseat")


def test_renaming_another_conversation_leaves_this_one_as_it_is(page):
    say(page, "The first one")
    begin_another(page)
    say(page, "The second one")
    composer(page).fill("half a thought")
    choose_for_entry(page, "The first one", "Rename")
    page.get_by_label("Title", exact=True).fill("Names")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(listed(page, "Names")).to_be_visible()
    expect(page.get_by_label("Title", exact=True)).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text("The second one")
    expect(composer(page)).to_have_value("half a thought")


def test_a_blank_title_is_refused_in_the_dialog(page):
    say(page, "My name is Andrew")
    choose_for_entry(page, "My name is Andrew", "Rename")
    page.get_by_label("Title", exact=True).fill("   ")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(page.get_by_role("alert").filter(has_text="that can be seen")).to_be_visible()
    expect(page.get_by_label("Title", exact=True)).to_be_visible()
    expect(listed(page, "My name is Andrew")).to_be_visible()


def test_renaming_is_given_up_with_escape(page):
    say(page, "My name is Andrew")
    choose_for_entry(page, "My name is Andrew", "Rename")
    expect(page.get_by_label("Title", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Title", exact=True)).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text("My name is Andrew")


def test_a_deleted_conversation_is_brought_back(page):
    say(page, "My name is Andrew")
    choose_for_entry(page, "My name is Andrew", "Delete")
    expect(listed(page, "My name is Andrew")).to_have_count(0)
    expect(messages(page)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(messages(page)).to_have_count(2)
    expect(listed(page, "My name is Andrew")).to_be_visible()


def test_deleting_another_conversation_leaves_this_one_as_it_is(page):
    say(page, "The first one")
    begin_another(page)
    say(page, "The second one")
    composer(page).fill("half a thought")
    choose_for_entry(page, "The first one", "Delete")
    expect(page.get_by_text("“The first one” is deleted.")).to_be_visible()
    expect(listed(page, "The first one")).to_have_count(0)
    expect(composer(page)).to_have_value("half a thought")


def test_a_note_goes_by_itself_but_not_from_under_the_pointer(page):
    say(page, "My name is Andrew")
    choose_for_entry(page, "My name is Andrew", "Delete")
    note = page.locator(".toast")
    expect(note).to_be_visible()
    leaving(note, "(animation) => animation.updatePlaybackRate(1e-6)")  # it must not go while the test looks at it
    assert leaving(note, "({ effect }) => effect.getTiming().delay") == [10_000]
    note.hover()
    assert leaving(note, "({ playState }) => playState") == ["paused"]
    leaving(note, "(animation) => animation.finish()")
    expect(note).to_have_count(0)


def leaving(note, ask):
    """Ask the animation with which a note goes away."""
    return note.evaluate(f"note => note.getAnimations().filter(a => a.animationName === 'toast-leave').map(({ask}))")


@pytest.fixture
def phone(signed_in):
    return signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


def open_actions(phone, title):
    phone.get_by_role("button", name="Conversations").tap()
    phone.get_by_role("button", name=f"Actions for “{title}”").tap()


def test_a_conversation_is_renamed_with_a_finger(phone):
    say(phone, "My name is Andrew")
    open_actions(phone, "My name is Andrew")
    phone.get_by_role("menuitem", name="Rename").tap()
    phone.get_by_label("Title", exact=True).fill("Names")
    phone.get_by_role("button", name="Rename", exact=True).tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Names")


def test_another_conversation_is_deleted_with_a_finger_and_can_be_brought_back(phone):
    say(phone, "The first one")
    phone.goto("/")
    say(phone, "The second one")
    open_actions(phone, "The first one")
    phone.get_by_role("menuitem", name="Delete").tap()
    phone.get_by_role("button", name="Undo").tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("The first one")


def test_a_title_from_right_to_left_changes_no_other_word(page):
    """Isolated, by two invisible characters, so that its sign stays behind it and the rest of the sentence in order."""
    isolated = "\u2068שלום!\u2069"
    say(page, "My name is Andrew")
    choose_for_entry(page, "My name is Andrew", "Rename")
    page.get_by_label("Title", exact=True).fill("\u202eשלום!\u2069")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(page).to_have_title(f"{isolated} · Windowseat")
    expect(listed(page, "שלום!")).to_have_count(1)
    page.get_by_role("button", name=f"Actions for “{isolated}”", exact=True).press("Enter")
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_text(f"“{isolated}” is deleted.")).to_be_visible()


def test_a_new_title_outlasts_a_list_that_was_asked_for_before(page):
    say(page, "The first one")
    other = page.context.new_page()
    goto_and_listen(other, "/usage/")
    held = []
    other.route("**/conversations/?current=*", lambda route: held.append((route, route.fetch())))
    other.evaluate("() => document.querySelector('[data-list]').dispatchEvent(new Event('reload'))")
    wait_until(other, lambda: held)
    choose_for_entry(page, "The first one", "Rename")
    page.get_by_label("Title", exact=True).fill("Another one")
    page.get_by_label("Title", exact=True).press("Enter")
    renamed = other.get_by_role("link", name="Another one", exact=True)
    expect(renamed).to_be_visible()
    [(route, answer)] = held
    assert "The first one" in answer.text()
    route.fulfill(response=answer)
    expect(other.locator("[data-list].htmx-request")).to_have_count(0)
    expect(renamed).to_be_visible()
