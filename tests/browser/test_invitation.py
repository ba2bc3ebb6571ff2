"""Invitations in a browser: an admin makes a link, and only the invited visitor makes an account by it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.sites import Site

PASSWORD = "a seat by the window, 12A"
MAKE_ADMIN = """
from chatsite.accounts.models import User
from tests.support.sockets import sign_in
email = "inviting@example.org"
print(sign_in(User.objects.filter(email=email).first() or User.objects.create_superuser(email)))
"""
TAKE_BACK = """
from django.utils import timezone
from chatsite.accounts.models import Invitation
Invitation.objects.filter(email="eve@example.net").update(revoked_at=timezone.now())
"""


@pytest.fixture
def admin_page(site: Site, open_page: Callable[..., Page]) -> Page:
    cookie = {"name": "sessionid", "value": site.run(MAKE_ADMIN), "domain": "127.0.0.1", "path": "/", "expires": -1}
    state = {"cookies": [cookie], "origins": []}
    return open_page("/admin/", storage_state=state, permissions=["clipboard-read", "clipboard-write"])


def test_a_user_who_is_invited_makes_an_account_and_the_link_is_used_up(site, admin_page, open_page):
    link = invite(admin_page, "ada@example.net")
    guest = open_page(link.removeprefix(site.address))
    expect(guest.get_by_text("You are invited as ada@example.net.")).to_be_visible()
    assert "#" not in guest.url
    sign_up(guest)
    expect(guest.get_by_role("textbox", name="Message")).to_be_visible()
    expect(guest.get_by_role("button", name="ada: account and site")).to_be_visible()

    late = open_page(link.removeprefix(site.address))
    expect(late.get_by_role("heading", name="This invitation has been used")).to_be_visible()
    admin_page.get_by_role("link", name="Back to invitations").click()
    expect(admin_page.get_by_role("row").filter(has_text="for the story")).to_contain_text("used")


def test_a_second_link_opened_in_the_tab_of_one_that_is_not_valid_is_taken(site, admin_page, open_page):
    link = invite(admin_page, "bob@example.net")
    guest = open_page("/invitation/#not-a-token")
    expect(guest.get_by_text("This link is not valid")).to_be_visible()
    guest.goto(link)
    expect(guest.get_by_text("You are invited as bob@example.net.")).to_be_visible()


def test_a_second_link_opened_in_the_tab_of_one_that_was_taken_back_is_taken(site, admin_page, open_page):
    old = invite(admin_page, "eve@example.net")
    site.run(TAKE_BACK)
    guest = open_page(old.removeprefix(site.address))
    expect(guest.get_by_role("heading", name="This invitation was revoked")).to_be_visible()
    guest.goto(invite(admin_page, "kim@example.net"))
    expect(guest.get_by_text("You are invited as kim@example.net.")).to_be_visible()


def invite(page: Page, email: str) -> str:
    """Return the link that the admin has copied."""
    page.get_by_role("link", name="Invitations").first.click()
    page.goto("/admin/accounts/invitation/add/")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Note").fill("for the story")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.get_by_label("Link of the invitation").input_value()
    return link


def sign_up(page: Page) -> None:
    expect(page.get_by_label("Email")).to_have_value("ada@example.net")
    expect(page.get_by_label("Email")).to_have_attribute("readonly", "")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
