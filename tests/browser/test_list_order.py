"""Star and archive: in the menu of an entry, in that of the title, by keyboard, in other tabs, without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import begin_another, choose_for_entry, composer, goto_and_listen, open_account_menu, say, wait_until
from .sidebar_actions import make_conversations

LIST = "**/conversations/?current=*"


def is_list(asked):
    return "/conversations/?current=" in asked.url


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def group(page, kind):
    return page.locator(f'[data-kind="{kind}"]')


def starred(page):
    return group(page, "starred").locator("[data-entry-title]")


@pytest.fixture
def changes(two):
    """Another page of the same person, which awaits no list, and what its socket is told of changes of the list."""
    other = two.context.new_page()
    told = []

    def note(payload):
        if '"list.changed"' in payload:
            told.append(payload)

    other.on("websocket", lambda socket: socket.on("framereceived", note))
    goto_and_listen(other, "/usage/")
    choose_for_entry(two, "Ferries to Reine", "Star")
    wait_until(other, lambda: told)
    expect(starred(other)).to_have_count(1)  # else the next change is missed in this list, and another one comes later
    choose_for_entry(two, "Ferries to Reine", "Unstar")
    wait_until(other, lambda: len(told) == 2)
    expect(starred(other)).to_have_count(0)
    told.clear()
    return other, told


@pytest.fixture
def two(page):
    say(page, "Ferries to Reine")
    begin_another(page)
    say(page, "Bread with caraway")
    return page


@pytest.mark.parametrize("is_archived", [True, False])
def test_a_conversation_in_no_list_brings_one_once_it_goes_on(page, site, is_archived):
    """It is in the archive, or older than the fifty that a list begins with."""
    say(page, "Ferries to Reine")
    if is_archived:
        page.locator(".title-open").click()
        page.get_by_role("menuitem", name="Archive").press("Enter")
    else:
        make_conversations(site, page, 50)
    expect(listed(page, "Ferries to Reine")).to_have_count(int(not is_archived))
    asked = []
    page.on("request", lambda request: asked.append(request) if is_list(request) else None)
    with page.expect_websocket() as opened:
        page.reload()
    opened.value.wait_for_event("framereceived", lambda frame: '"conversation.snapshot"' in frame)
    page.evaluate("fetch('/healthz')")
    expect(listed(page, "Ferries to Reine")).to_have_count(0)
    assert not asked
    say(page, "And back?")
    expect(page.locator("[data-list] [data-entry-title]").first).to_have_text("Ferries to Reine")


def test_stars_and_the_archive_show_in_all_tabs_and_a_message_brings_a_conversation_back(two):
    other = two.context.new_page()
    goto_and_listen(other, two.url)
    choose_for_entry(two, "Ferries to Reine", "Star")
    for page in (two, other):
        expect(group(page, "starred").get_by_role("link", name="Ferries to Reine", exact=True)).to_be_visible()
    choose_for_entry(two, "Bread with caraway", "Archive")
    expect(two.get_by_text("“Bread with caraway” is archived.")).to_be_visible()
    for page in (two, other):
        expect(listed(page, "Bread with caraway")).to_have_count(0)
        expect(page.get_by_text("A message brings it back into the list.")).to_be_visible()
    two.get_by_role("button", name="Undo").click()
    expect(listed(other, "Bread with caraway")).to_be_visible()
    expect(other.get_by_text("A message brings it back into the list.")).to_have_count(0)
    other.get_by_role("button", name="Bread with caraway", exact=True).click()
    other.get_by_role("menuitem", name="Archive").click()
    expect(listed(two, "Bread with caraway")).to_have_count(0)
    open_account_menu(two)
    two.get_by_role("link", name="Archive").click()
    expect(two.get_by_role("main").get_by_role("link", name="Bread with caraway")).to_be_visible()
    say(other, "And butter")
    expect(listed(two, "Bread with caraway")).to_be_visible()
    expect(two.get_by_text("Nothing is archived.")).to_be_visible()


ENDS = {
    "answered": lambda route, answer: route.fulfill(response=answer),
    "refused": lambda route, _: route.fulfill(status=500),
    "lost": lambda route, _: route.abort(),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_what_changes_while_the_list_is_on_its_way_is_asked_for_once_more(two, changes, end):
    other, told = changes
    held, asked = [], []
    other.route(LIST, lambda route: held.append((route, route.fetch())), times=1)
    other.on("request", lambda request: asked.append(request) if is_list(request) else None)
    for count, title in enumerate(("Ferries to Reine", "Bread with caraway"), 1):
        choose_for_entry(two, title, "Star")
        wait_until(other, lambda count=count: len(told) == count and held)
    end(*held[0])
    expect(starred(other)).to_have_text(["Bread with caraway", "Ferries to Reine"])
    assert len(asked) == 2


@pytest.mark.parametrize("end", [ENDS["refused"], ENDS["lost"]], ids=["refused", "lost"])
def test_a_list_that_did_not_come_is_asked_for_at_the_next_change(two, changes, end):
    other, _ = changes
    other.route(LIST, lambda route: end(route, None), times=1)
    with other.expect_event("requestfailed" if end is ENDS["lost"] else "response", is_list):
        choose_for_entry(two, "Ferries to Reine", "Star")
    choose_for_entry(two, "Bread with caraway", "Star")
    expect(starred(other)).to_have_text(["Bread with caraway", "Ferries to Reine"])


def test_a_list_that_is_overtaken_by_another_is_asked_for_again(two, changes):
    """An answer finds its place taken where another has come before it."""
    other, told = changes
    posted, lists = [], []
    other.route(LIST, lambda route: lists.append((route, route.fetch())), times=1)
    other.route("**/star/", lambda route: posted.append((route, route.fetch())), times=1)
    choose_for_entry(other, "Ferries to Reine", "Star")
    wait_until(other, lambda: posted)
    choose_for_entry(two, "Bread with caraway", "Star")
    wait_until(other, lambda: len(told) == 2)
    route, answer = posted.pop()
    route.fulfill(response=answer)
    expect(starred(other)).to_have_text(["Ferries to Reine"])
    wait_until(other, lambda: lists)
    route, answer = lists.pop()
    route.fulfill(response=answer)
    expect(starred(other)).to_have_text(["Bread with caraway", "Ferries to Reine"])


def test_what_is_changed_here_comes_with_the_answer_alone(two, changes):
    other, told = changes
    posted, asked = [], []
    other.route("**/star/", lambda route: posted.append((route, route.fetch())), times=1)
    other.on("request", lambda request: asked.append(request) if is_list(request) else None)
    choose_for_entry(other, "Ferries to Reine", "Star")
    wait_until(other, lambda: posted and told)
    route, answer = posted.pop()
    route.fulfill(response=answer)
    expect(starred(other)).to_have_text(["Ferries to Reine"])
    choose_for_entry(two, "Bread with caraway", "Star")
    expect(starred(other)).to_have_text(["Bread with caraway", "Ferries to Reine"])
    assert len(asked) == 1


def test_by_keyboard_alone(two):
    composer(two).focus()
    listed(two, "Bread with caraway").focus()
    expect(listed(two, "Ferries to Reine")).to_have_attribute("tabindex", "-1")  # the keys of the list have come
    two.keyboard.press("ArrowDown")
    expect(listed(two, "Ferries to Reine")).to_be_focused()
    two.keyboard.press("ArrowRight")
    two.keyboard.press("Enter")
    expect(two.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    two.keyboard.press("Enter")
    expect(group(two, "starred").get_by_role("link", name="Ferries to Reine", exact=True)).to_be_focused()
    two.keyboard.press("ArrowRight")
    two.keyboard.press("Enter")
    expect(two.get_by_role("menuitem", name="Unstar")).to_be_focused()
    two.keyboard.press("a")
    expect(two.get_by_role("menuitem", name="Archive")).to_be_focused()
    two.keyboard.press("Enter")
    expect(listed(two, "Ferries to Reine")).to_have_count(0)
    expect(listed(two, "Bread with caraway")).to_be_focused()


def test_without_javascript(two, open_page):
    plain = open_page("/", java_script_enabled=False, storage_state=two.context.storage_state())
    listed(plain, "Ferries to Reine").hover()
    plain.get_by_role("button", name="Actions for “Ferries to Reine”").click()
    plain.get_by_role("menuitem", name="Archive").click()
    expect(plain.get_by_text("A message brings it back into the list.")).to_be_visible()
    plain.goto("/conversations/archived/")
    plain.get_by_role("button", name="Take “Ferries to Reine” out of the archive").click()
    expect(plain.get_by_text("Nothing is archived.")).to_be_visible()
    expect(listed(plain, "Ferries to Reine")).to_be_visible()


def bring_list(other, two):
    """Have a list come to *other* by a change in *two*."""
    with other.expect_response(is_list):
        choose_for_entry(two, "Ferries to Reine", "Star")
    other.evaluate("fetch('/healthz')")


@pytest.fixture
def with_tools(changes):
    """The other page, in which what is done with the list has come."""
    other, _ = changes
    listed(other, "Bread with caraway").focus()
    expect(other.locator('[data-entry][tabindex="-1"]').first).to_be_attached()
    return other


def test_a_list_that_comes_while_an_entry_is_pressed_leaves_it_its_click(two, with_tools):
    listed(with_tools, "Bread with caraway").hover()
    with_tools.mouse.down()
    bring_list(with_tools, two)
    with_tools.mouse.up()
    expect(with_tools.get_by_role("heading", level=1)).to_have_text("Bread with caraway")
    expect(starred(with_tools)).to_have_text(["Ferries to Reine"])


def test_a_list_that_comes_while_an_entry_is_dragged_leaves_it_where_it_is_dropped(two, with_tools):
    listed(with_tools, "Bread with caraway").hover()
    with_tools.mouse.down()
    listed(with_tools, "Ferries to Reine").hover()
    bring_list(with_tools, two)
    expect(starred(with_tools)).to_have_count(0)
    with_tools.locator(".new-conversation").hover()
    with_tools.mouse.up()
    expect(starred(with_tools)).to_have_text(["Ferries to Reine"])
