"""Signing in at an identity provider, in both directions and back out."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .conftest import confirm_by_password, password_fields

BUTTON = "Team account"


def agree(page: Page) -> None:
    """Press the button on the provider's page."""
    page.get_by_role("heading", name="Provider").wait_for()
    page.get_by_role("button", name="Sign in").click()


def confirm_there(page: Page) -> None:
    """Answer the page that asks whether it is you by signing in at the provider once more."""
    expect(page.get_by_role("heading", name="Confirm it’s you")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    agree(page)


def test_a_new_person_signs_up_there_and_signs_in_again(visit, provider):
    provider("lin", name="Lin")
    for path in ("/accounts/signup/", "/accounts/login/"):
        page = visit(path)
        page.get_by_role("button", name=BUTTON).click()
        agree(page)
        page.wait_for_url("/")
        page.goto("/account/")
        expect(page.locator("#signing-in").get_by_text("lin@provider.example")).to_be_visible()


def test_an_account_is_connected_and_then_opened_from_there(signed_in, email, visit, provider):
    provider("connected")
    signed_in.get_by_role("link", name=f"Connect {BUTTON}").click()
    signed_in.get_by_role("button", name="Connect").click()
    agree(signed_in)
    confirm_by_password(signed_in)
    expect(signed_in.get_by_role("listitem")).to_contain_text("connected@provider.example")
    page = visit("/accounts/login/?next=/account/")
    page.get_by_role("button", name=BUTTON).click()
    agree(page)
    page.wait_for_url("/account/")
    expect(page.locator("#signing-in").get_by_text(email)).to_be_visible()


def test_who_turns_back_there_is_not_signed_in(visit, provider):
    provider("hesitant")
    page = visit("/accounts/login/")
    page.get_by_role("button", name=BUTTON).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in")


def test_a_provider_that_lies_signs_no_one_in(visit, provider):
    provider("liar", fault="wrong signature")
    page = visit("/accounts/login/")
    page.get_by_role("button", name=BUTTON).click()
    agree(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("That did not work")


def test_who_came_from_there_chooses_a_password_and_disconnects(visit, provider):
    provider("leaver")
    page = visit("/accounts/login/?next=/account/")
    page.get_by_role("button", name=BUTTON).click()
    agree(page)
    page.wait_for_url("/account/")
    page.get_by_role("link", name="Choose one").click()
    confirm_there(page)
    for field in password_fields(page):
        field.fill("another window, another seat")
    page.get_by_role("button", name="Save password").click()
    page.get_by_role("link", name=f"Manage {BUTTON}").click()
    page.get_by_role("button", name="Disconnect").click()
    confirm = page.get_by_role("heading", name="Confirm it’s you")
    expect(confirm.or_(page.get_by_text("Disconnected."))).to_be_visible()
    if confirm.is_visible():
        page.get_by_label("Password").fill("another window, another seat")
        page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Disconnected.")).to_be_visible()
