"""What can be done with a message: its row of actions, its menu, and its sheet on touch screens."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .page_actions import composer, messages, open_menu, replies, say, wait_until

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# From the last word of each message to the next: to its head, or to the bubble of one's own.
GAPS = """last => {
  const articles = [...last.parentElement.querySelectorAll("[data-message]")];
  const [prose, head] = [".prose", ".message-head"].map(each => articles.map(one => one.querySelector(each)));
  return articles.slice(1).map((one, index) => {
    const begin = one.dataset.role === "user" ? prose[index + 1] : head[index + 1];
    return Math.round(begin.getBoundingClientRect().top - prose[index].getBoundingClientRect().bottom);
  });
}"""
CLOCK = r"\d{1,2}:\d\d( [AP]M)?"


def announced(page):
    return page.locator('[data-part="announcer"]')


def clipboard(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.fixture
def talk(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    say(page, "show me markdown")
    say(page, "My name is *Andrew*")
    return page


def test_an_article_is_named_once_by_who_and_when_and_whether_the_model_sees_it(talk):
    for article, who in ((messages(talk).first, "You"), (replies(talk).last, "Demo .4k window.")):
        expect(article).to_have_accessible_name(re.compile(rf"^{who}, {CLOCK}, In view$"))
    expect(replies(talk).last.get_by_role("heading", level=2)).to_have_text(re.compile("Demo"))


def test_a_reply_is_copied_as_markdown_and_with_shift_as_plain_text(talk):
    copy = replies(talk).first.get_by_role("button", name="Copy").last
    replies(talk).first.hover()
    copy.click()
    expect(announced(talk)).to_have_text("Copied")
    expect(copy).to_have_class(re.compile("is-done"))
    expect(copy).not_to_have_class(re.compile("is-done"))
    markdown = clipboard(talk)
    copy.click(modifiers=["Shift"])
    expect(copy).to_have_class(re.compile("is-done"))
    assert "```" in markdown
    assert clipboard(talk) != markdown
    assert not re.search(r"```|\*\*|^#", clipboard(talk), re.MULTILINE)
    assert replies(talk).first.locator("code").first.inner_text().strip() in clipboard(talk)


def test_an_own_message_is_copied_as_it_was_written(talk):
    own = messages(talk).nth(2)
    own.hover()
    own.get_by_role("button", name="Copy").click()
    expect(announced(talk)).to_have_text("Copied")
    assert clipboard(talk) == "My name is *Andrew*"


def test_the_last_reply_has_its_row_and_the_others_when_they_are_pointed_at(talk):
    talk.mouse.move(0, 0)
    expect(replies(talk).last.locator(".actions")).to_have_css("opacity", "1")
    expect(replies(talk).last.locator(".figures")).to_have_css("opacity", "1")
    expect(replies(talk).first.locator(".actions")).to_have_css("opacity", "0")
    expect(replies(talk).first.get_by_role("button", name="More", exact=True)).to_have_count(1)
    spoken = replies(talk).first.aria_snapshot()
    assert re.search(r"\d in\b", spoken), spoken
    assert re.search(r"\d out\b", spoken), spoken
    replies(talk).first.hover()
    expect(replies(talk).first.locator(".actions")).to_have_css("opacity", "1")
    expect(replies(talk).first.locator(".message-facts")).to_have_css("opacity", "1")
    talk.mouse.move(0, 0)
    expect(replies(talk).first.locator(".actions")).to_have_css("opacity", "0")
    replies(talk).first.get_by_role("button", name="More", exact=True).focus()
    expect(replies(talk).first.locator(".actions")).to_have_css("opacity", "1")


def test_nothing_moves_when_the_row_of_a_reply_appears(talk):
    replies(talk).last.hover()
    replies(talk).first.hover()
    talk.mouse.move(0, 0)
    before = messages(talk).nth(2).bounding_box()
    replies(talk).first.hover()
    assert messages(talk).nth(2).bounding_box() == before


def test_there_are_32_pixels_between_turns(talk):
    assert messages(talk).last.evaluate(GAPS) == [32, 32, 32]


def test_links_to_what_the_model_saw_are_told_apart(talk):
    links = talk.get_by_role("link", name=re.compile(f"^What the model saw for the reply of {CLOCK}$"))
    expect(links).to_have_count(2)


def test_the_menu_is_walked_by_keys_and_its_focus_goes_back(talk):
    more = replies(talk).last.get_by_role("button", name="More", exact=True)
    more.focus()
    talk.keyboard.press("Enter")
    items = replies(talk).last.locator('[role^="menuitem"]:visible')
    expect(items.first).to_be_focused()
    talk.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    talk.keyboard.press("Home")
    talk.keyboard.press("e")
    expect(replies(talk).last.get_by_role("menuitemcheckbox", name="Exclude")).to_be_focused()
    talk.keyboard.press("Escape")
    expect(more).to_be_focused()
    expect(replies(talk).last.get_by_role("menu")).to_be_hidden()


def test_pinning_by_the_menu_is_kept(talk):
    reply = replies(talk).last
    open_menu(reply).get_by_role("menuitemcheckbox", name="Pin").click()
    expect(announced(talk)).to_contain_text("Pinned")
    expect(reply).to_have_attribute("data-mark", "pinned")
    expect(open_menu(reply).get_by_role("menuitemcheckbox", name="Pin")).to_have_attribute("aria-checked", "true")


def test_the_menu_leads_to_what_the_model_saw(talk):
    open_menu(replies(talk).first).get_by_role("menuitem", name="What the model saw").click()
    expect(talk.get_by_role("dialog", name="What the model saw")).to_be_visible()


def test_with_shift_or_an_arrow_regenerate_asks_by_which_model(talk):
    regenerate = replies(talk).last.get_by_role("button", name="Regenerate")
    regenerate.click(modifiers=["Shift"])
    expect(talk.get_by_role("heading", name="Regenerate with")).to_be_visible()
    talk.keyboard.press("Escape")
    regenerate.focus()
    talk.keyboard.press("ArrowRight")
    expect(talk.get_by_role("heading", name="Regenerate with")).to_be_visible()


def test_on_a_phone_a_sheet_offers_what_the_row_does(signed_in):
    page = signed_in(**PHONE)
    say(page, "My name is Andrew")
    say(page, "What is my name?")
    expect(replies(page).last.locator(".actions")).to_be_visible()
    for button in replies(page).last.locator(".actions .action:visible, .window-link").all():
        box = button.bounding_box()
        assert box
        assert box["width"] >= 38
        assert round(box["height"], 2) >= 36
    first = replies(page).first
    expect(first.locator(".actions")).to_be_hidden()
    first.get_by_role("button", name="Actions").tap()
    sheet = page.get_by_role("dialog", name="Demo (4k window)")
    expect(sheet.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    expect(sheet.get_by_role("button", name="Regenerate", exact=True)).to_have_count(0)  # only the last can be
    sheet.get_by_role("button", name="Pin").tap()
    expect(sheet).to_be_hidden()
    expect(first).to_have_attribute("data-mark", "pinned")
    messages(page).first.get_by_role("button", name="Actions").tap()
    page.get_by_role("dialog", name="You").get_by_role("button", name="Edit").tap()
    expect(page.get_by_role("form", name="Edit your message")).to_be_visible()


def test_what_a_row_offers_works_without_javascript(talk, open_page):
    plain = open_page(talk.url, java_script_enabled=False, storage_state=talk.context.storage_state())
    reply = replies(plain).last
    words = reply.locator("[data-content]").inner_text()
    reply.get_by_role("button", name="More", exact=True).click()
    expect(plain.get_by_role("blockquote")).to_contain_text(words[:20])
    plain.get_by_role("menuitemcheckbox", name="Pin").click()
    expect(replies(plain).last).to_have_attribute("data-mark", "pinned")
    plain.get_by_role("button", name="More", exact=True).last.click()
    expect(plain.get_by_role("menuitemcheckbox", name="Pin")).to_have_attribute("aria-checked", "true")
    plain.get_by_role("link", name="Cancel").click()
    expect(plain.get_by_role("button", name="Copy")).to_have_count(0)


def test_a_rating_is_pressed_explained_and_taken_back(talk):
    reply = replies(talk).last
    good = reply.get_by_role("button", name="Good reply")
    good.click()
    expect(good).to_have_attribute("aria-pressed", "true")
    remark = talk.get_by_role("textbox", name="What makes it so?")
    expect(remark).to_be_focused()
    remark.fill("It knows my name.")
    talk.get_by_role("button", name="Save").click()
    expect(announced(talk)).to_have_text("Your remark is kept.")
    expect(remark).to_be_hidden()
    talk.reload()
    expect(good).to_have_attribute("aria-pressed", "true")
    open_menu(reply).get_by_role("menuitem", name="Remark on your rating").click()
    expect(remark).to_have_value("It knows my name.")
    talk.keyboard.press("Escape")
    reply.get_by_role("button", name="Bad reply").click()
    expect(good).to_have_attribute("aria-pressed", "false")
    talk.keyboard.press("Escape")
    reply.get_by_role("button", name="Bad reply").click()
    expect(announced(talk)).to_have_text("Your rating is removed.")
    talk.reload()
    expect(reply.locator('[aria-pressed="true"]')).to_have_count(0)


def test_who_writes_on_while_a_rating_is_on_its_way_is_left_there(talk):
    held = []
    talk.route("**/rating/", lambda route: held.append(route))
    replies(talk).last.get_by_role("button", name="Good reply").click()
    wait_until(talk, lambda: held)
    composer(talk).press_sequentially("and ")
    held[0].continue_()
    expect(talk.get_by_role("textbox", name="What makes it so?")).to_be_visible()
    talk.keyboard.type("then")
    expect(composer(talk)).to_have_value("and then")


def test_a_rating_that_does_not_arrive_is_taken_back(talk):
    talk.route("**/rating/", lambda route: route.abort())
    good = replies(talk).last.get_by_role("button", name="Good reply")
    good.click()
    expect(talk.get_by_text("Can’t reach the server")).to_be_visible()
    expect(good).to_have_attribute("aria-pressed", "false")


def test_a_branch_goes_on_by_itself(talk):
    before = talk.url
    open_menu(replies(talk).first).get_by_role("menuitem", name="Branch from here").click()
    expect(talk).not_to_have_url(before)
    expect(messages(talk)).to_have_count(2)
    expect(talk.get_by_role("heading", level=1)).to_contain_text("(branch)")
    expect(replies(talk).last.locator(".message-name")).to_have_text("Demo (4k window)")
    expect(replies(talk).last.get_by_role("link", name="What the model saw")).to_have_count(0)
    say(talk, "And now?")
    talk.goto(before)
    expect(messages(talk)).to_have_count(4)


def test_tokens_and_cost_are_under_every_reply_if_that_is_wanted(talk):
    back = talk.url
    talk.goto("/account/")
    talk.get_by_label("Show tokens and cost under every reply").check()
    with talk.expect_navigation():
        talk.get_by_role("button", name="Save").first.click()
    talk.goto(back)
    talk.mouse.move(0, 0)
    for facts in replies(talk).locator(".message-facts").all():
        expect(facts).to_have_css("opacity", "1")
