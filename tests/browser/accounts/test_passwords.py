"""Accounts with a password: made, confirmed, forgotten, changed."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.people import PASSWORD

from .conftest import confirm_by_password, enter, password_fields, sign_out

NEW_PASSWORD = "another window, another seat"


def create_account(page: Page, email: str) -> None:
    """Fill in the form that *page* shows, and send it."""
    page.get_by_label("Email").fill(email)
    for field in password_fields(page):
        field.fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()


def test_a_new_person_signs_up_and_is_in_once_the_address_is_confirmed(visit, mails):
    page = visit("/accounts/signup/")
    create_account(page, "new@example.org")
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    page.goto(mails.link_for("new@example.org", about="Confirm"))
    page.get_by_role("button", name="Yes, it’s mine").click()
    page.wait_for_url("/")
    page.goto("/account/")
    expect(page.locator("#signing-in").get_by_text("new@example.org")).to_be_visible()


def test_a_link_that_was_opened_in_another_browser_confirms_too(visit, mails):
    page = visit("/accounts/signup/")
    create_account(page, "elsewhere@example.org")
    other = visit(mails.link_for("elsewhere@example.org", about="Confirm"))
    with other.expect_navigation():
        other.get_by_role("button", name="Yes, it’s mine").click()
    page.goto("/accounts/login/")
    enter(page, "elsewhere@example.org")
    page.wait_for_url("/")


def test_a_person_signs_in_and_out(signed_in, email):
    expect(signed_in.locator("#signing-in").get_by_text(email)).to_be_visible()
    sign_out(signed_in)
    signed_in.goto("/account/")
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Sign in")  # the test site has no admin


def test_a_wrong_password_signs_no_one_in(visit, email):
    page = visit("/accounts/login/")
    enter(page, email, "Wrong password")
    expect(page.get_by_role("alert")).to_contain_text("not correct")


def test_a_forgotten_password_is_replaced_by_mail(visit, email, mails):
    page = visit("/accounts/login/")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email").fill(email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    page.goto(mails.link_for(email, about="Reset your password"))
    for field in password_fields(page):
        field.fill(NEW_PASSWORD)
    page.get_by_role("button", name="Save password").click()
    page.get_by_role("link", name="Sign in").click()
    enter(page, email, NEW_PASSWORD)
    page.wait_for_url("/")


def test_a_changed_password_signs_out_everywhere_else(signed_in, email, visit):
    other = visit("/accounts/login/?next=/account/")
    enter(other, email)
    other.wait_for_url("/account/")
    signed_in.get_by_role("link", name="Change the password").click()
    expect(signed_in.get_by_role("button", name="Save password")).to_be_visible()
    current, *new = password_fields(signed_in)
    current.fill(PASSWORD)
    for field in new:
        field.fill(NEW_PASSWORD)
    signed_in.get_by_role("button", name="Save password").click()
    signed_in.wait_for_url("/account/")
    # The other page loads itself again once its connection is ended.
    expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")  # the test site has no admin


def test_a_new_address_counts_once_it_is_confirmed(signed_in, email, mails):
    page, new = signed_in, f"new-{email}"
    page.get_by_role("link", name="Change the email address").click()
    page.get_by_label("Email").fill(new)
    page.get_by_role("button", name="Send the link", exact=True).click()
    confirm_by_password(page)
    expect(page.get_by_text("New address", exact=True)).to_be_visible()
    page.goto(mails.link_for(new, about="Confirm"))
    with page.expect_navigation():
        page.get_by_role("button", name="Yes, it’s mine").click()
    page.goto("/account/")
    expect(page.locator("#signing-in").get_by_text(new)).to_be_visible()
