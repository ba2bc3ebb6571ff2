"""From conversation to conversation: the thread changes, and the shell around it stays."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import (
    CONVERSATION_PATH,
    block_socket,
    choose_for_entry,
    composer,
    draft_kept,
    is_at_end,
    messages,
    say,
    scroller,
    stop_clock,
    wait_until,
    write,
)
from .picture_actions import CAT, attached_pictures, bring_pictures
from .sidebar_actions import has_not_been_loaded_again, heading, listed, new_conversation

LONG = "\n\n".join(f"Line {number} of a long message." for number in range(60))


@pytest.fixture
def two(page):
    """A page with two conversations that shows the second; it says when it is loaded as a new page."""
    say(page, "The first one")
    new_conversation(page)
    say(page, "The second one")
    # A list that comes while the pointer is pressed takes the link away from under it.
    expect(page.locator("[data-list]:not(.htmx-request) [data-entry]")).to_have_count(2)
    page.evaluate("window.stays = true")
    return page


def test_a_click_in_the_list_changes_the_thread_and_leaves_the_shell_standing(two):
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    expect(two).to_have_title("The first one · Windowseat")
    expect(messages(two)).to_have_count(2)
    expect(messages(two).first).to_contain_text("The first one")
    assert CONVERSATION_PATH.search(two.url)
    expect(listed(two, "The first one")).to_have_attribute("aria-current", "page")
    expect(listed(two, "The second one")).not_to_have_attribute("aria-current", "page")
    expect(composer(two)).to_be_focused()
    expect(two.locator('[data-part="announcer"]')).to_have_text("The first one")
    assert has_not_been_loaded_again(two)


def test_it_is_fetched_once_and_when_its_link_is_pressed(two):
    fetched = []
    two.on("request", lambda request: fetched.append(request.url) if "x-without-shell" in request.headers else None)
    stop_clock(two)  # what has come is fresh for two seconds
    listed(two, "The first one").hover()
    two.mouse.down()
    wait_until(two, lambda: fetched)
    expect(heading(two)).to_have_text("The second one")
    two.mouse.up()
    expect(heading(two)).to_have_text("The first one")
    assert len(fetched) == 1


def test_it_is_fetched_when_an_arrow_key_has_brought_the_focus_to_its_link(two):
    fetched = []
    two.on("request", lambda request: fetched.append(request.url) if "x-without-shell" in request.headers else None)
    listed(two, "The second one").focus()
    expect(listed(two, "The first one")).to_have_attribute("tabindex", "-1")  # the keys of the list have come
    stop_clock(two)  # what has come is fresh for two seconds
    two.keyboard.press("ArrowDown")
    expect(listed(two, "The first one")).to_be_focused()
    assert not fetched
    two.clock.run_for(100)  # for so long the focus rests there
    wait_until(two, lambda: fetched)
    expect(heading(two)).to_have_text("The second one")
    two.keyboard.press("Enter")
    expect(heading(two)).to_have_text("The first one")
    assert len(fetched) == 1


def test_a_press_that_is_no_click_shows_nothing(two):
    listed(two, "The first one").hover()
    two.mouse.down()
    composer(two).hover()
    two.mouse.up()
    new_conversation(two)
    listed(two, "The second one").click()
    expect(heading(two)).to_have_text("The second one")
    expect(messages(two).first).to_contain_text("The second one")


def test_what_was_fetched_by_a_long_press_is_fetched_again(two):
    fetched = []
    two.on("request", lambda request: fetched.append(request.url) if "x-without-shell" in request.headers else None)
    two.clock.install()
    listed(two, "The first one").hover()
    two.mouse.down()
    wait_until(two, lambda: fetched)
    two.clock.fast_forward(10_000)
    two.mouse.up()
    expect(heading(two)).to_have_text("The first one")
    assert len(fetched) == 2


def test_what_is_done_in_it_is_done_once_and_over_the_same_socket(two):
    sockets = []
    two.on("websocket", lambda socket: sockets.append(socket.url))
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    listed(two, "The second one").click()
    expect(heading(two)).to_have_text("The second one")
    say(two, "And once more")
    expect(messages(two)).to_have_count(4)
    expect(two.get_by_role("article").get_by_text("And once more", exact=True)).to_have_count(1)
    assert has_not_been_loaded_again(two)
    assert not sockets


def test_back_and_forward_show_what_was_shown_where_it_was_read(page):
    say(page, LONG)
    new_conversation(page)
    say(page, "The short one")
    listed(page, "Line 0 of a long message.").click()
    expect(heading(page)).to_have_text(re.compile("Line 0"))
    wait_until(page, lambda: is_at_end(page))
    scroller(page).evaluate("e => e.scrollTo(0, 300)")
    expect(page.get_by_role("button", name="Jump to the newest message")).to_be_visible()
    listed(page, "The short one").click()
    expect(heading(page)).to_have_text("The short one")
    page.go_back()
    expect(heading(page)).to_have_text(re.compile("Line 0"))
    wait_until(page, lambda: abs(scroller(page).evaluate("e => e.scrollTop") - 300) < 3)
    page.go_forward()
    expect(heading(page)).to_have_text("The short one")
    expect(listed(page, "The short one")).to_have_attribute("aria-current", "page")


def test_forward_before_the_way_back_has_come_gives_that_up(two):
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    href = listed(two, "The second one").get_attribute("href")
    held, given_up = [], []
    two.route(f"**{href}", lambda route: held.append(route))
    two.on("requestfailed", lambda request: given_up.append(request.url))
    two.go_back()
    wait_until(two, lambda: held)
    two.go_forward()
    wait_until(two, lambda: given_up)
    expect(heading(two)).to_have_text("The first one")
    expect(two.locator('[data-part="view"]')).not_to_have_attribute("aria-busy", "true")


def test_a_draft_stays_with_its_conversation(two):
    composer(two).fill("half a thought")
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    expect(composer(two)).to_have_value("")
    two.go_back()
    expect(composer(two)).to_have_value("half a thought")


def test_a_click_with_control_opens_a_page_of_its_own(two):
    with two.context.expect_page() as opened:
        listed(two, "The first one").click(modifiers=["ControlOrMeta"])
    expect(heading(opened.value)).to_have_text("The first one")
    expect(heading(two)).to_have_text("The second one")


def test_a_new_conversation_is_begun_without_a_new_page(two):
    two.get_by_role("link", name="New conversation").click()
    expect(heading(two)).to_have_text("New conversation")
    expect(two.get_by_role("link", name="New conversation")).to_have_attribute("aria-current", "page")
    say(two, "The third one")
    expect(heading(two)).to_have_text("The third one")
    expect(listed(two, "The third one")).to_have_attribute("aria-current", "page")
    assert CONVERSATION_PATH.search(two.url)
    two.go_back()
    expect(heading(two)).to_have_text("The second one")
    two.go_forward()
    expect(heading(two)).to_have_text("The third one")
    assert has_not_been_loaded_again(two)


def test_a_message_that_is_on_its_way_when_the_page_is_left_arrives_once(two):
    held = []
    two.route("**/messages/post/", lambda route: held.append(route))
    new_conversation(two)
    write(two, "On its way")
    wait_until(two, lambda: held)
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    address = two.url
    held[0].continue_()
    expect(listed(two, "On its way")).to_be_visible()
    assert two.url == address
    expect(heading(two)).to_have_text("The first one")
    wait_until(two, lambda: not any(draft_kept(two)))
    listed(two, "On its way").click()
    expect(messages(two)).to_have_count(2)


@pytest.fixture
def underway(two):
    """What is sent and has not reached the server; the page shows another new conversation, with a message begun."""
    held = []
    two.route("**/messages/post/", lambda route: held.append(route), times=1)
    new_conversation(two)
    write(two, "On its way")
    wait_until(two, lambda: held)
    two.get_by_role("link", name="New conversation").click()
    expect(composer(two)).to_have_value("")
    composer(two).fill("The next one")
    assert draft_kept(two) == ["On its way\n\nThe next one"]
    return held[0]


def test_what_was_sent_does_not_stand_in_the_field_of_the_next_new_conversation(two, underway):
    underway.continue_()
    expect(listed(two, "On its way")).to_be_visible()
    wait_until(two, lambda: draft_kept(two) == ["The next one"])
    expect(composer(two)).to_have_value("The next one")
    expect(heading(two)).to_have_text("New conversation")
    listed(two, "On its way").click()
    expect(messages(two)).to_have_count(2)
    expect(composer(two)).to_have_value("")
    new_conversation(two)
    expect(composer(two)).to_have_value("The next one")


def test_what_could_not_be_sent_stands_in_the_field_of_the_next_new_conversation(two, underway):
    underway.abort()
    expect(composer(two)).to_have_value("On its way\n\nThe next one")
    expect(two.get_by_role("alert")).to_contain_text("Can’t reach the server")
    assert draft_kept(two) == ["On its way\n\nThe next one"]
    composer(two).press("Enter")
    expect(messages(two)).to_have_count(2)
    expect(composer(two)).to_have_value("")
    wait_until(two, lambda: not any(draft_kept(two)))


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "lost"])
def test_a_message_is_sent_once_the_one_before_it_is_stored(two, underway, is_stored):
    posts = []
    two.on("request", lambda request: posts.append(request) if request.url.endswith("/messages/post/") else None)
    composer(two).press("Enter")
    expect(two.locator("form[aria-busy=true]")).to_have_count(1)
    assert not posts
    if is_stored:
        underway.continue_()
        expect(messages(two)).to_have_count(2)
        expect(composer(two)).to_have_value("")
        expect(listed(two, "On its way")).to_be_visible()
        expect(listed(two, "The next one")).to_be_visible()
        wait_until(two, lambda: not any(draft_kept(two)))
    else:
        underway.abort()
        expect(composer(two)).to_have_value("On its way\n\nThe next one")
        expect(two.get_by_role("alert")).to_contain_text("Can’t reach the server")
        expect(two.locator("form[aria-busy=true]")).to_have_count(0)
        assert not posts


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "lost"])
def test_what_was_sent_does_not_stand_where_one_comes_back_before_its_answer(two, is_stored):
    block_socket(two)
    two.reload()
    bring_pictures(two, "drop", cat=CAT)
    expect(attached_pictures(two)).to_have_count(1)
    held = []
    two.route("**/messages/post/", lambda route: held.append(route), times=1)
    write(two, "On its way")
    wait_until(two, lambda: held)
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    listed(two, "The second one").click()
    expect(heading(two)).to_have_text("The second one")
    expect(composer(two)).to_have_value("")
    expect(attached_pictures(two)).to_have_count(0)
    held[0].continue_() if is_stored else held[0].abort()
    if is_stored:
        expect(messages(two)).to_have_count(4)
        wait_until(two, lambda: not any(draft_kept(two)))
    else:
        expect(two.get_by_role("alert")).to_contain_text("Can’t reach the server")
    expect(composer(two)).to_have_value("" if is_stored else "On its way")
    expect(attached_pictures(two)).to_have_count(0 if is_stored else 1)


def test_the_last_of_two_clicks_counts(two):
    held = []
    first = listed(two, "The first one").get_attribute("href")
    two.route(f"**{first}", lambda route: held.append(route), times=1)
    listed(two, "The first one").click()
    wait_until(two, lambda: held)
    new_conversation(two)
    held[0].abort()
    expect(heading(two)).to_have_text("New conversation")
    assert has_not_been_loaded_again(two)


def test_a_server_that_cannot_be_reached_leaves_the_page_as_it_is(two):
    composer(two).fill("half a thought")
    address = two.url
    href = listed(two, "The first one").get_attribute("href")
    two.route(f"**{href}", lambda route: route.abort(), times=2)  # at the press, and again at the click
    listed(two, "The first one").click()
    expect(two.get_by_text("No connection: the conversation could not be opened.")).to_be_visible()
    expect(composer(two)).to_have_value("half a thought")
    assert two.url == address
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")


def test_who_is_signed_out_comes_to_the_sign_in(two):
    two.route_web_socket("**/ws/", lambda socket: None)
    two.context.clear_cookies()
    listed(two, "The first one").click()
    two.wait_for_url("**/login/**")


def test_another_conversation_is_renamed_and_the_shown_one_deleted_after_a_switch(two):
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    choose_for_entry(two, "The second one", "Rename")
    two.get_by_label("Title", exact=True).fill("Ferries")
    two.get_by_label("Title", exact=True).press("Enter")
    expect(listed(two, "Ferries")).to_be_visible()
    expect(heading(two)).to_have_text("The first one")
    expect(listed(two, "The first one")).to_have_attribute("aria-current", "page")
    choose_for_entry(two, "The first one", "Delete")
    expect(heading(two)).to_have_text("New conversation")
    expect(two.get_by_text("“The first one” is deleted.")).to_be_visible()


def test_what_a_conversation_listens_to_outside_of_itself_ends_with_it(two):
    """Else each key would act once more with each conversation that was shown. htmx takes its own away by itself."""
    two.evaluate("""() => {
      window.started = [];
      const add = EventTarget.prototype.addEventListener;
      for (const target of [document, window, document.body]) {
        target.addEventListener = function (type, listener, options) {
          window.started.push({ type, signal: options?.signal });
          add.call(target, type, listener, options);
        };
      }
    }""")
    listed(two, "The first one").click()
    expect(heading(two)).to_have_text("The first one")
    expect(composer(two)).to_be_focused()
    assert two.evaluate("(window.before = window.started.splice(0)).length") > 3
    listed(two, "The second one").click()
    expect(heading(two)).to_have_text("The second one")
    unended = (
        "before.filter(({ type, signal }) => type !== 'documents-changed' && !signal?.aborted).map(({ type }) => type)"
    )
    assert two.evaluate(unended) == []
