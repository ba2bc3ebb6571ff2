"""Passkeys, with an authenticator that the browser plays itself."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .conftest import enter, sign_out
from .passkey_actions import add_passkey, plug_in


def come_back_by_passkey(page: Page) -> None:
    """Sign out, and in again with the passkey alone."""
    sign_out(page)
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("/")


def test_a_passkey_signs_in_without_a_password(signed_in, email):
    plug_in(signed_in)
    add_passkey(signed_in)
    come_back_by_passkey(signed_in)
    signed_in.goto("/account/")
    expect(signed_in.locator("#signing-in").get_by_text(email)).to_be_visible()


def test_a_security_key_comes_after_the_password(signed_in, email):
    plug_in(signed_in, transport="usb", hasResidentKey=False, hasUserVerification=False, isUserVerified=False)
    add_passkey(signed_in, alone=False)
    sign_out(signed_in)
    signed_in.goto("/accounts/login/")
    enter(signed_in, email)
    signed_in.get_by_role("button", name="Use a passkey").click()
    signed_in.wait_for_url("/")


def test_a_passkey_confirms_that_it_is_you(signed_in, email):
    plug_in(signed_in)
    add_passkey(signed_in)
    come_back_by_passkey(signed_in)
    signed_in.goto("/accounts/2fa/recovery-codes/generate/")
    signed_in.get_by_role("link", name="Use a passkey").click()
    signed_in.get_by_role("button", name="Use a passkey").click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Make new recovery codes?")


def test_a_passkey_is_renamed_and_removed(signed_in):
    plug_in(signed_in)
    add_passkey(signed_in)
    signed_in.get_by_role("link", name="Manage the passkeys").click()
    signed_in.get_by_role("link", name="Rename Laptop").click()
    signed_in.get_by_label("Name", exact=True).fill("Old laptop")
    signed_in.get_by_role("button", name="Save the name").click()
    signed_in.get_by_role("link", name="Remove Old laptop").click()
    signed_in.get_by_role("button", name="Remove it").click()
    expect(signed_in.get_by_text("You have no passkeys.")).to_be_visible()


def test_who_says_no_to_the_browser_is_told_that_none_was_used(visit):
    page = visit("/accounts/login/")
    plug_in(page)  # which holds no passkey of this site
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("No passkey was used.")).to_be_visible()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_enabled()


def test_at_a_bare_address_it_says_why_there_are_none(site, visit, email):
    page = visit(site.address.replace("localhost", "127.0.0.1") + "/accounts/login/?next=/account/")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
    enter(page, email)
    expect(page.get_by_text(f"To use passkeys, open this site at {site.address}.")).to_be_visible()
