"""Authenticator apps and recovery codes, and the admin behind them."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.accounts.factors import code_of, wrong_code
from tests.support.people import PASSWORD

from .conftest import confirm_by_password, enter, password_fields, sign_out


def set_up_app(page: Page) -> str:
    """Set one up from the account page; return its key."""
    page.get_by_role("link", name="Set up an authenticator app").click()
    confirm_by_password(page)
    key = page.get_by_label("Or type this key into the app").input_value()
    give_right_code(page, key, field="Authenticator code", button="Turn on")
    return key


def recovery_codes(page: Page) -> list[str]:
    return page.locator(".recovery-codes").inner_text().split()


def give_code(page: Page, code: str, *, field: str = "Code", button: str = "Sign in") -> None:
    page.get_by_label(field).fill(code)
    with page.expect_navigation():
        page.get_by_role("button", name=button, exact=True).click()


def give_right_code(page: Page, key: str, **form: str) -> None:
    """Type what the app shows, and once more if its half minute was over before the server saw it."""
    give_code(page, code_of(key), **form)
    if page.get_by_role("alert").filter(has_text="This code is wrong").is_visible():
        give_code(page, code_of(key), **form)


def test_an_app_is_set_up_and_asked_for(signed_in, email):
    key = set_up_app(signed_in)
    signed_in.get_by_role("link", name="I’ve saved them").click()
    expect(signed_in.get_by_text("10 left")).to_be_visible()
    sign_out(signed_in)
    signed_in.goto("/accounts/login/")
    enter(signed_in, email)
    give_code(signed_in, wrong_code(key))
    expect(signed_in.get_by_role("alert")).to_contain_text("This code is wrong")
    give_right_code(signed_in, key)
    signed_in.wait_for_url("/")


def test_the_key_is_a_picture_that_is_drawn(signed_in):
    signed_in.get_by_role("link", name="Set up an authenticator app").click()
    confirm_by_password(signed_in)
    picture = signed_in.get_by_role("img", name="QR code")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("img => img.naturalWidth") > 0


def test_recovery_codes_are_copied_and_saved_when_they_are_made_and_then_gone(signed_in):
    set_up_app(signed_in)
    codes = recovery_codes(signed_in)
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.get_by_role("button", name="Copy").click()
    expect(signed_in.get_by_role("button", name="Copied")).to_be_visible()
    assert signed_in.evaluate("navigator.clipboard.readText()").split() == codes
    with signed_in.expect_download() as saved:
        signed_in.get_by_role("link", name="Save as a file").click()
    assert saved.value.path().read_text().split() == codes
    signed_in.reload()
    expect(signed_in.get_by_text("can’t be shown again")).to_be_visible()


def test_a_recovery_code_lets_in_once(signed_in, email, visit):
    set_up_app(signed_in)
    code = recovery_codes(signed_in)[0]
    first, second = visit("/accounts/login/"), visit("/accounts/login/")
    enter(first, email)
    give_code(first, code)
    first.wait_for_url("/")
    enter(second, email)
    give_code(second, code)
    expect(second.get_by_role("alert")).to_contain_text("This code is wrong")


def test_an_app_is_turned_off_again(signed_in):
    set_up_app(signed_in)
    signed_in.get_by_role("link", name="I’ve saved them").click()
    signed_in.get_by_role("link", name="Turn off the authenticator app").click()
    signed_in.get_by_role("button", name="Turn off").click()
    expect(signed_in.get_by_text("has been turned off")).to_be_visible()
    expect(signed_in.get_by_text("left", exact=True)).to_have_count(0)


def test_who_turns_back_at_the_second_step_can_start_again(signed_in, email):
    set_up_app(signed_in)
    sign_out(signed_in)
    signed_in.goto("/accounts/login/")
    enter(signed_in, email)
    signed_in.get_by_role("button", name="Start over").click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Sign in")  # the test site has no admin


def test_the_first_admin_signs_up_and_enters_the_review_by_a_second_factor(site, visit):
    page = visit("/")
    page.goto(site.first_admin_link)
    page.get_by_label("Email").fill("grace@example.org")
    for field in password_fields(page):
        field.fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url("/")
    page.goto("/admin/")
    expect(page.get_by_role("heading", level=1)).to_have_text("First, set up a second factor")
    set_up_app(page)
    page.goto("/admin/")
    expect(page).to_have_url(f"{site.address}/admin/")
    expect(page.get_by_text("No language model has been asked yet")).to_be_visible()
