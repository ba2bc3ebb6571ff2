"""What a user does with passkeys: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import Page

from .conftest import confirm_by_password

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def plug_in(page: Page, **changes: object) -> None:
    """Give the page's browser a device that makes passkeys, and a person who agrees."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": {**AUTHENTICATOR, **changes}})


def add_passkey(page: Page, *, name: str = "Laptop", alone: bool = True) -> None:
    page.get_by_role("link", name="Add a passkey").click()
    confirm_by_password(page)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Sign in with it alone").set_checked(alone)
    page.get_by_role("button", name="Add passkey").click()
    page.get_by_role("link", name="I’ve saved them").click()
