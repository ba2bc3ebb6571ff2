"""Usage, scenarios, documents and the account stand beside the list of conversations, which stays on the way."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .document_actions import add_documents
from .page_actions import (
    block_socket,
    choose_for_entry,
    composer,
    goto_and_listen,
    open_account_menu,
    say,
    wait_until,
    write,
)
from .sidebar_actions import has_not_been_loaded_again, heading, listed, new_conversation

PAGES = (
    ("Your usage", "/usage/"),
    ("Scenarios", "/scenarios/"),
    ("Saved prompts", "/account/prompts/"),
    ("Your account", "/account/"),
)
PHONE = {"width": 390, "height": 844}
UNENDED = "before.filter(e => e.type !== 'documents-changed' && !e.signal?.aborted).map(({ type }) => type)"
# Those of parts of the shell, which are fetched once they are used, stay.
SHEETS = """[...document.querySelectorAll('link[rel=stylesheet]:not([data-part=shell-styles])')]
  .map(({ href, media }) => `${href} ${media || 'all'}`)"""
NOTE_LISTENERS = """() => {
  window.started = [];
  const add = EventTarget.prototype.addEventListener;
  for (const target of [document, window, document.body]) {
    target.addEventListener = function (type, listener, options) {
      window.started.push({ type, signal: options?.signal });
      add.call(target, type, listener, options);
    };
  }
}"""


@pytest.fixture
def talking(page):
    """A page with one conversation; it says when it is loaded as a new page."""
    say(page, "The first one")
    page.evaluate("window.stays = true")
    return page


def go_to(page, name):
    open_account_menu(page)
    page.get_by_role("link", name=name, exact=True).click()
    expect(heading(page)).to_have_text(name)


def main(page):
    return page.get_by_role("main")


def test_a_page_takes_the_place_of_the_conversation_and_the_list_stays(talking):
    sockets = []
    talking.on("websocket", lambda socket: sockets.append(socket.url))
    for name, path in PAGES:
        go_to(talking, name)
        expect(talking).to_have_url(re.compile(f"{path}$"))
        expect(talking).to_have_title(f"{name} · Windowseat")
        expect(listed(talking, "The first one")).to_be_visible()
        expect(listed(talking, "The first one")).not_to_have_attribute("aria-current", "page")
        expect(main(talking)).to_be_focused()
        expect(talking.locator('[data-part="announcer"]')).to_have_text(name)
        open_account_menu(talking)
        expect(talking.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
        talking.keyboard.press("Escape")
    listed(talking, "The first one").click()
    expect(heading(talking)).to_have_text("The first one")
    expect(composer(talking)).to_be_focused()
    assert has_not_been_loaded_again(talking)
    assert not sockets


def test_back_and_forward_lead_through_pages_and_show_what_was_in_view(talking):
    go_to(talking, "Your account")
    talking.evaluate("scrollTo(0, 400)")
    go_to(talking, "Scenarios")
    assert talking.evaluate("scrollY") == 0
    talking.go_back()
    expect(heading(talking)).to_have_text("Your account")
    wait_until(talking, lambda: talking.evaluate("scrollY") == 400)
    talking.go_back()
    expect(heading(talking)).to_have_text("The first one")
    talking.go_forward()
    expect(heading(talking)).to_have_text("Your account")
    assert has_not_been_loaded_again(talking)


def test_what_was_in_view_is_kept_over_a_page_that_is_loaded(talking):
    talking.goto("/account/")
    talking.evaluate("scrollTo(0, 400)")
    talking.goto("/usage/")
    talking.go_back()
    expect(heading(talking)).to_have_text("Your account")
    wait_until(talking, lambda: talking.evaluate("scrollY") == 400)


def test_a_page_looks_after_a_click_as_it_does_when_it_is_loaded(talking):
    for name in ("Your account", "Scenarios", "Your usage"):
        go_to(talking, name)
    shown = talking.evaluate(SHEETS)
    talking.reload()
    expect(heading(talking)).to_have_text("Your usage")
    assert shown == talking.evaluate(SHEETS)


def test_a_form_and_its_drawings_work_after_a_click_and_again_after_the_next(talking):
    for reserve, prompt in (("1096", "3,000"), ("596", "3,500")):
        go_to(talking, "Scenarios")
        talking.get_by_role("link", name="New scenario").click()
        expect(heading(talking)).to_have_text("New scenario")
        talking.get_by_text("Advanced", exact=True).click()
        talking.get_by_label("Reply reserve, tokens").fill(reserve)
        expect(talking.get_by_text(f"tokens for the reply, {prompt} for what is sent")).to_be_visible()
    assert has_not_been_loaded_again(talking)
    talking.get_by_label("Name", exact=True).fill("Mine")
    talking.get_by_role("button", name="Save").click()
    expect(talking.get_by_text("“Mine” is saved.")).to_be_visible()
    expect(listed(talking, "The first one")).to_be_visible()


def test_the_documents_of_a_scenario_are_added_after_a_click_and_what_listens_there_ends(talking):
    talking.goto("/scenarios/new/")
    talking.get_by_label("Name", exact=True).fill("Mine")
    talking.get_by_role("button", name="Save").click()
    talking.evaluate(NOTE_LISTENERS)
    talking.get_by_role("link", name="Documents of Mine").click()
    expect(heading(talking)).to_have_text("Documents of “Mine”")
    add_documents(talking, ("ferry.txt", "The ferry leaves at nine."))
    expect(talking.get_by_role("listitem").filter(has_text="ferry.txt").get_by_text("Ready")).to_be_visible()
    assert talking.evaluate("(window.before = window.started.splice(0)).length") > 3
    listed(talking, "The first one").click()
    expect(heading(talking)).to_have_text("The first one")
    assert talking.evaluate(UNENDED) == []


def test_a_file_is_saved_and_leaves_the_page_as_it_is(talking):
    go_to(talking, "Your usage")
    with talking.expect_download() as download:
        talking.get_by_role("link", name="Days", exact=True).click()
    assert download.value.path().read_text(encoding="utf-8-sig").startswith("day,")
    expect(heading(talking)).to_have_text("Your usage")
    assert has_not_been_loaded_again(talking)


def test_a_page_whose_style_does_not_come_is_loaded_as_a_page(talking):
    talking.route("**/usage*.css", lambda route: route.abort(), times=1)
    go_to(talking, "Your usage")
    wait_until(talking, lambda: not has_not_been_loaded_again(talking))
    expect(listed(talking, "The first one")).to_be_visible()


def test_a_conversation_is_renamed_in_the_list_beside_a_page(talking):
    other = talking.context.new_page()
    goto_and_listen(other, "/scenarios/")
    go_to(talking, "Your usage")
    choose_for_entry(talking, "The first one", "Rename")
    talking.get_by_label("Title", exact=True).fill("Ferries")
    talking.get_by_label("Title", exact=True).press("Enter")
    expect(talking.get_by_label("Title", exact=True)).to_be_hidden()
    expect(listed(talking, "Ferries")).to_be_visible()
    expect(heading(talking)).to_have_text("Your usage")
    expect(listed(other, "Ferries")).to_be_visible()
    expect(other).to_have_title("Scenarios · Windowseat")


def test_the_list_is_asked_for_again_when_the_socket_comes_back(talking):
    reading = talking.context.new_page()
    unblock = block_socket(reading)
    reading.goto("/usage/")
    expect(listed(reading, "The first one")).to_be_visible()
    new_conversation(talking)
    say(talking, "The second one")
    expect(listed(reading, "The second one")).to_have_count(0)
    unblock()
    expect(listed(reading, "The second one")).to_be_visible()


def test_without_scripts_pages_stand_beside_the_list_too(talking, open_page):
    plain = open_page("/usage/", java_script_enabled=False, storage_state=talking.context.storage_state())
    expect(heading(plain)).to_have_text("Your usage")
    listed(plain, "The first one").click()
    expect(heading(plain)).to_have_text("The first one")


def test_on_a_phone_the_list_is_a_drawer_beside_a_page(signed_in):
    phone = signed_in(viewport=PHONE, has_touch=True, is_mobile=True)
    say(phone, "The first one")
    for path in ("/usage/", "/scenarios/", "/scenarios/new/", "/account/", "/account/prompts/"):
        phone.goto(path)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert phone.locator(".shell-page-header").bounding_box()["height"] <= 51
    expect(listed(phone, "The first one")).to_be_hidden()
    phone.get_by_role("button", name="Conversations").tap()
    listed(phone, "The first one").tap()
    expect(heading(phone)).to_have_text("The first one")
    expect(listed(phone, "The first one")).to_be_hidden()


def test_the_header_stays_in_view_and_the_list_beside_it(talking):
    talking.set_viewport_size({"width": 1280, "height": 500})
    go_to(talking, "Your account")
    talking.keyboard.press("End")
    wait_until(talking, lambda: talking.evaluate("scrollY") > 200)
    expect(heading(talking)).to_be_in_viewport()
    expect(listed(talking, "The first one")).to_be_in_viewport()


def test_a_reply_that_is_written_meanwhile_is_there_on_the_way_back(talking):
    write(talking, "count to 40")
    go_to(talking, "Your usage")
    listed(talking, "The first one").click()
    expect(talking.locator('[data-role="assistant"]').last).to_contain_text("40")
