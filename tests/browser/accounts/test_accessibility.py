"""axe-core finds nothing serious on the pages of keys, passkeys and second factors, light or dark, wide or narrow."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.axe_faults import assert_none, faults_of
from tests.support.axe import find_faults

from .conftest import confirm_by_password
from .passkey_actions import add_passkey, plug_in

PAGES_OF_SIGNING_IN = (
    "/accounts/2fa/webauthn/",
    "/accounts/2fa/webauthn/add/",
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/recovery-codes/",
    "/accounts/email/",
    "/accounts/password/change/",
    "/account/export/",
)


def test_keys_and_the_webhook_of_one(signed_in):
    assert_none(faults_of(signed_in, ("/account/keys/", "/account/keys/new/")))  # the second asks whether it is you
    confirm_by_password(signed_in)
    assert_none(find_faults(signed_in, "the form of a key"))
    signed_in.get_by_label("Name", exact=True).fill("Editor")
    signed_in.get_by_role("button", name="Make the key").click()
    expect(signed_in.get_by_role("heading", name="Your new API key")).to_be_visible()
    assert_none(find_faults(signed_in, "a key that was just made"))
    assert_none(faults_of(signed_in, ("/account/keys/",)))
    signed_in.get_by_role("link", name="Webhook of “Editor”").click()
    signed_in.get_by_label("Address").fill("https://receiver.invalid/told")
    signed_in.get_by_role("button", name="Make the webhook").click()
    expect(signed_in.locator("#webhook-secret")).to_be_visible()
    signed_in.get_by_role("button", name="Send a test event").click()
    expect(signed_in.locator(".webhook-event")).to_have_count(1)
    assert_none(find_faults(signed_in, "a webhook"))


def test_passkeys_and_second_factors(signed_in):
    plug_in(signed_in)
    add_passkey(signed_in)
    assert_none(faults_of(signed_in, PAGES_OF_SIGNING_IN))
    signed_in.goto("/accounts/2fa/webauthn/")
    signed_in.get_by_role("link", name=re.compile("Rename|Remove")).first.click()
    signed_in.wait_for_url(re.compile("/(edit|remove)/$"))
    assert_none(find_faults(signed_in, "a passkey that is changed"))
