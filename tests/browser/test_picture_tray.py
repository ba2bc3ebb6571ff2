"""The tray of pictures in the browser: messages that wait for it, what is said in it, and what it would send."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from tests.parsing.pictures import drawing, encoded, photo

from .page_actions import composer, messages, replies, say, wait_until
from .picture_actions import attached_pictures, bring_pictures

CAT = encoded(photo(), "JPEG")


def hold_upload(page: Page) -> list[Route]:
    held: list[Route] = []
    page.route(re.compile("/pictures/add/$"), lambda route: held.append(route), times=1)
    return held


def test_a_message_waits_for_its_picture_and_is_sent_by_itself(page):
    held = hold_upload(page)
    bring_pictures(page, "drop", cat=CAT)
    composer(page).fill("What is this?")
    composer(page).press("Enter")
    expect(page.locator("[data-note]")).to_have_text("Your message is sent as soon as its pictures are here.")
    expect(messages(page)).to_have_count(0)
    wait_until(page, lambda: held)
    held[0].continue_()
    expect(messages(page).first.get_by_role("img", name="cat.png")).to_be_visible()
    expect(composer(page)).to_have_value("")
    expect(page.locator("[data-note]")).to_be_hidden()


def test_a_picture_that_fails_meanwhile_keeps_the_message_and_says_why(page):
    held = hold_upload(page)
    bring_pictures(page, "drop", cat=CAT)
    composer(page).fill("What is this?")
    composer(page).press("Enter")
    wait_until(page, lambda: held)
    held[0].abort()
    expect(page.get_by_role("alert")).to_contain_text("A picture could not be added")
    expect(page.locator(".attached-problem")).to_contain_text("Can’t reach the server")
    expect(composer(page)).to_have_value("What is this?")
    expect(messages(page)).to_have_count(0)


def test_a_message_that_is_changed_meanwhile_is_not_sent_by_itself(page):
    held = hold_upload(page)
    bring_pictures(page, "drop", cat=CAT)
    composer(page).fill("What is")
    composer(page).press("Enter")
    composer(page).press_sequentially(" this")
    expect(page.locator("[data-note]")).to_be_hidden()
    wait_until(page, lambda: held)
    held[0].continue_()
    expect(attached_pictures(page)).to_have_count(1)
    expect(composer(page)).to_have_value("What is this")
    expect(messages(page)).to_have_count(0)


def test_that_too_many_were_chosen_is_not_said_of_the_next_message(page):
    bring_pictures(page, "drop", **{f"drawing{number}": encoded(drawing(40 + number, 30)) for number in range(21)})
    expect(attached_pictures(page)).to_have_count(20)
    expect(page.locator("[data-note]")).to_contain_text("A message can have 20 pictures")
    composer(page).press("Enter")
    expect(replies(page)).to_have_count(1)
    expect(page.locator('[data-part="picture-tray"]')).to_be_hidden()


def test_what_would_be_sent_has_the_pictures_of_the_tray(page):
    say(page, "Hello")
    bring_pictures(page, "drop", cat=CAT)
    expect(attached_pictures(page)).to_have_count(1)
    with page.expect_request(re.compile("/preview/")) as asked:
        page.locator('[data-part="preview"] .meter-text').click()
    assert re.search(r"pictures=\d+", asked.value.post_data or "")


def test_that_a_model_sees_no_pictures_follows_its_choice(page):
    """The two demo models see alike, so the answer of the server is given another word."""
    say(page, "Hello")
    bring_pictures(page, "drop", cat=CAT)
    expect(attached_pictures(page)).to_have_count(1)
    note = page.locator(".picture-tray [data-no-pictures]")

    def choose(name: str, said: str) -> None:
        def answer(route: Route) -> None:
            body = re.sub('data-no-pictures="[^"]*"', f'data-no-pictures="{said}"', route.fetch().text())
            route.fulfill(body=body, content_type="text/html")

        page.route(
            re.compile("/model/$"), lambda route: answer(route) if route.request.method == "GET" else route.fallback()
        )
        page.get_by_role("button", name="Language model:").click()
        page.get_by_role("menuitemradio", name=name).click()

    choose("Demo (32k window)", "It sees nothing.")
    expect(note).to_have_text("It sees nothing.")
    expect(note).to_be_visible()
    choose("Demo (4k window)", "")
    expect(note).to_be_hidden()
