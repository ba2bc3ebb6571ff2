"""The admin's first page in a browser: an admin who is new to it finds what was spent, by whom, and on what."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from .admin_rows import SET_UP
from .page_actions import session_of

FAILED_CALL = """
from chatsite.accounts.models import User
from tests.admin.stored import make_conversation
from tests.support.tool_steps import add_call
reply = make_conversation(User.objects.get(email="carol@example.org")).head
add_call(reply, tool="shop__note", source="shop (127.0.0.1:9000)", state="refused", error_code="tool_refused")
"""


@pytest.fixture
def admin(site, signed_in) -> Page:
    page = signed_in()
    site.run(SET_UP.format(session=session_of(page)))
    page.goto("/admin/")
    return page


def users(page: Page) -> Locator:
    return page.get_by_role("region", name="Users")


def test_what_yesterday_cost_is_one_click_away(admin):
    admin.get_by_role("link", name="Yesterday", exact=True).click()
    expect(admin.locator(".card-value").first).to_have_text("$4.2575")
    expect(users(admin)).to_contain_text("dave@example.org")
    expect(users(admin)).not_to_contain_text("carol@example.org")


def test_who_spent_most_this_month_stands_first_and_leads_to_why(admin):
    admin.get_by_role("link", name="This month", exact=True).click()
    dearest = users(admin).locator("tbody tr").first
    expect(dearest).to_contain_text("carol@example.org")
    dearest.get_by_role("link", name="1 request").click()
    admin.locator("#result_list tbody a").first.click()
    expect(admin.get_by_text("$90.00")).to_be_visible()
    expect(admin.get_by_text("1,234")).to_be_visible()
    expect(admin.get_by_role("heading", name="Every entry, in the order sent")).to_be_visible()


def test_days_are_drawn_and_can_be_taken_along_as_a_file(admin):
    expect(admin.locator("canvas").first).to_be_visible()
    with admin.expect_download() as download:
        users(admin).get_by_role("link", name="CSV").click()
    rows = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert any("carol@example.org" in row and ",90.0000000000," in row for row in rows)


def test_a_user_who_chooses_day_has_it_on_a_device_in_night_too(admin):
    admin.emulate_media(color_scheme="dark")
    admin.evaluate("localStorage.setItem('adminTheme', '\"light\"')")  # as the admin's own switch keeps it
    admin.reload()
    expect(admin.locator("html")).to_have_class("light")
    expect(users(admin)).to_have_css("background-color", "rgb(255, 255, 255)")


def test_the_sentence_of_a_failed_call_does_not_stand_word_under_word(site, admin):
    site.run(FAILED_CALL)
    admin.set_viewport_size({"width": 1280, "height": 800})
    admin.goto("/admin/conversations/toolcall/")
    sentence = admin.locator("#result_list .field-shown_error").first
    expect(sentence).to_contain_text("not allowed")
    assert sentence.evaluate("each => each.offsetWidth") >= 200
