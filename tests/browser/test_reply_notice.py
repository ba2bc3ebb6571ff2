"""A reply that took long is done while its page is hidden: the title says so, and the browser if it may."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .page_actions import composer, say, wait_until

# Chromium shows no notices without a screen: what it is asked to show is written down in its place.
NOTICES = """
window.noticed = [];
window.Notification = class extends EventTarget {
  static permission = "default";
  static async requestPermission() { return (Notification.permission = localStorage.answer ?? "granted"); }
  constructor(title, options) { super(); noticed.push([title, options.body]); }
  close() {}
};
if (localStorage["reply-notices"]) Notification.permission = localStorage.answer ?? "granted";
"""

DRAW_LIST_AGAIN = """() => new Promise((done) => {
  document.addEventListener("htmx:afterSettle", () => done(), { once: true });
  htmx.trigger(document.querySelector("[data-list]"), "reload");
})"""


@pytest.fixture
def watched(signed_in) -> Page:
    page = signed_in()
    page.add_init_script(NOTICES)
    page.reload()
    return page


def hide(page: Page, *, is_hidden: bool = True) -> None:
    page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def take_any_reply_for_long(page: Page) -> None:
    composer(page).wait_for()
    page.locator("[data-long-reply-seconds]").evaluate("e => { e.dataset.longReplySeconds = '0'; }")


def allow_notices(page: Page) -> None:
    page.goto("/account/")
    page.get_by_label("Notify me when a reply that took long is done").check()
    page.goto("/")


def test_the_table_of_contents_of_the_account_page_leads_to_each_section(watched):
    watched.goto("/account/")
    contents = watched.get_by_role("navigation", name="On this page").get_by_role("link")
    expect(contents.filter(has_text="In this browser")).to_be_visible()
    sections = watched.locator(".account-sections > .card:visible h2")
    assert contents.all_inner_texts() == sections.all_inner_texts()
    contents.filter(has_text="In this browser").click()
    expect(watched.get_by_role("region", name="In this browser")).to_be_in_viewport()


def test_the_title_is_marked_until_the_page_is_looked_at(watched):
    take_any_reply_for_long(watched)
    hide(watched)
    say(watched, "Count slowly to 4")
    wait_until(watched, lambda: watched.title().startswith("● "))
    assert watched.evaluate("noticed") == []
    hide(watched, is_hidden=False)
    wait_until(watched, lambda: watched.title().startswith("Count slowly to 4"))


def test_the_mark_stays_when_the_list_is_drawn_again(watched):
    take_any_reply_for_long(watched)
    hide(watched)
    say(watched, "Count slowly to 4")
    wait_until(watched, lambda: watched.title().startswith("● "))
    watched.evaluate(DRAW_LIST_AGAIN)
    assert watched.title().startswith("● Count slowly to 4")


def test_the_browser_says_it_where_that_was_allowed(watched):
    allow_notices(watched)
    take_any_reply_for_long(watched)
    hide(watched)
    say(watched, "Count slowly to 4")
    wait_until(watched, lambda: watched.evaluate("noticed.length"))
    assert watched.evaluate("noticed") == [["Count slowly to 4", "The reply is done."]]


def test_a_reply_that_was_quick_or_seen_says_nothing(watched):
    allow_notices(watched)
    composer(watched).wait_for()
    hide(watched)
    say(watched, "Hello there")
    hide(watched, is_hidden=False)
    take_any_reply_for_long(watched)
    say(watched, "Hello again")
    assert watched.evaluate("noticed") == []
    assert not watched.title().startswith("●")


def test_a_browser_that_refuses_is_said_to(watched):
    watched.evaluate("localStorage.answer = 'denied'")
    watched.goto("/account/")
    box = watched.get_by_label("Notify me when a reply that took long is done")
    box.click()
    expect(watched.get_by_text("This browser does not allow notices")).to_be_visible()
    expect(box).not_to_be_checked()


def test_what_another_app_shares_joins_what_was_typed(page):
    composer(page).fill("My own words")
    page.goto("/?shared_text=Read+this")
    expect(composer(page)).to_have_value("My own words\n\nRead this")
    page.reload()
    expect(composer(page)).to_have_value("My own words\n\nRead this")
