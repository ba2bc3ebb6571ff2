"""One's own account in a real browser: where one is signed in, all that one has as a file, and the way out."""

from __future__ import annotations

import json
import re
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from tests.support.people import PASSWORD

from .conftest import enter

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0"


@pytest.fixture
def elsewhere(visit, email) -> Page:
    """The same person's conversation, open in another browser."""
    page = visit("/accounts/login/", user_agent=FIREFOX)
    enter(page, email)
    page.wait_for_url("/")
    return page


def confirm(page: Page) -> None:
    """Show once more, by the password, that it is you."""
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def test_signing_out_elsewhere_closes_the_page_that_is_open_there(elsewhere, signed_in):
    session = signed_in.get_by_role("listitem").filter(has_text="Firefox on Linux")
    session.get_by_role("button", name="Sign out").click()
    confirm(signed_in)
    session.get_by_role("button", name="Sign out").click()
    expect(signed_in.get_by_text("Signed out of that session.")).to_be_visible()
    expect(signed_in.get_by_text("Firefox on Linux")).to_have_count(0)
    elsewhere.wait_for_url(re.compile("/accounts/login/"))


def test_signing_out_everywhere_leads_to_the_sign_in(elsewhere, signed_in):
    signed_in.evaluate("localStorage.setItem('a draft', 'not sent')")
    signed_in.get_by_role("button", name="Sign out everywhere", exact=True).click()
    confirm(signed_in)
    signed_in.get_by_role("button", name="Sign out everywhere", exact=True).click()
    signed_in.wait_for_url("/accounts/login/")
    assert signed_in.evaluate("localStorage.length") == 0
    elsewhere.wait_for_url(re.compile("/accounts/login/"))


def test_name_language_and_costs_are_saved_together(signed_in):
    signed_in.get_by_label("Name", exact=True).fill("Ada")
    signed_in.get_by_label("Show costs").uncheck()
    signed_in.get_by_role("combobox", name="Language").select_option("zh-hans")
    signed_in.get_by_role("button", name="Save", exact=True).click()
    expect(signed_in.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(signed_in.locator("#id_shows_costs")).not_to_be_checked()
    expect(signed_in.locator("#id_name")).to_have_value("Ada")


def test_everything_comes_as_one_file_once_the_password_is_given(signed_in, email, tmp_path):
    signed_in.get_by_role("link", name="Export everything").click()
    confirm(signed_in)
    with signed_in.expect_download() as download:
        signed_in.get_by_role("button", name="Download the file").click()
    download.value.save_as(tmp_path / "all.zip")
    archive = ZipFile(tmp_path / "all.zip")
    assert archive.testzip() is None
    assert json.loads(archive.read("account.json"))["email"] == email


def test_an_account_is_deleted_once_its_address_is_typed(elsewhere, signed_in, email, mails):
    signed_in.get_by_role("link", name="Delete the account").last.click()
    confirm(signed_in)
    signed_in.get_by_label("Type your email address").fill("somebody@example.org")
    signed_in.get_by_role("button", name="Delete the account permanently").click()
    expect(signed_in.get_by_text("This is not this account’s email address.")).to_be_visible()
    signed_in.get_by_label("Type your email address").fill(email)
    signed_in.get_by_role("button", name="Delete the account permanently").click()
    signed_in.wait_for_url("/account/deleted/")
    expect(signed_in.get_by_role("heading", name="Goodbye")).to_be_visible()
    elsewhere.wait_for_url(re.compile("/accounts/login/"))
    assert "has been deleted" in mails.wait_for(email, about="deleted").get_content()
