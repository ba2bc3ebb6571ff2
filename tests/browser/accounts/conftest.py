"""A site with everything switched on that accounts can have: mail, single sign-on, a second factor for staff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accounts.mail_server import MailServer, running_mail_server
from tests.browser.sites import Site, running_site
from tests.faults.databases import Database, new_database
from tests.support.identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    IdentityProvider,
    person,
    running_identity_provider,
)
from tests.support.people import PASSWORD

MAKE_PEOPLE = f"""
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from chatsite.accounts.models import User
password = make_password("{PASSWORD}")
for number in range(40):
    user = User.objects.create(email=f"person{{number}}@example.org", password=password)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    print(user.email)
"""


@pytest.fixture(scope="package")
def mails() -> Iterator[MailServer]:
    with running_mail_server() as server:
        yield server


@pytest.fixture(scope="package")
def running_provider() -> Iterator[IdentityProvider]:
    with running_identity_provider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: IdentityProvider) -> Callable[..., IdentityProvider]:
    """Choose who signs in at the provider, and what it does wrong."""

    def choose(subject: str, *, fault: str = "", **claims: object) -> IdentityProvider:
        running_provider.person = person(subject, f"{subject}@provider.example", **claims)
        running_provider.fault = fault
        return running_provider

    return choose


@pytest.fixture(scope="package")
def site(
    postgres: Database,
    template: Database,
    tmp_path_factory: pytest.TempPathFactory,
    mails: MailServer,
    running_provider: IdentityProvider,
) -> Iterator[Site]:
    """By its name: passkeys are made for one. The browsers' addresses are believed, so each has its own limits."""
    settings = {
        "SMTP_URL": mails.url,
        "TRUSTED_PROXIES": "127.0.0.1",
        "STAFF_SECOND_FACTOR": "on",
        "OIDC_SERVER_URL": running_provider.address,
        "OIDC_CLIENT_ID": CLIENT_ID,
        "OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "OIDC_NAME": "Team account",
    }
    folder = tmp_path_factory.mktemp("accounts")
    with (
        new_database(postgres, template=template.name) as database,
        running_site(database, folder, host="localhost", **settings) as running,
    ):
        yield running


@pytest.fixture(scope="package")
def addresses(site: Site) -> Iterator[str]:
    """People who have an account and confirmed their address, one for each test."""
    return iter(site.run(MAKE_PEOPLE).split())


@pytest.fixture
def email(addresses: Iterator[str]) -> str:
    return next(addresses)


numbers = count(1)


@pytest.fixture
def visit(open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Open a page in a browser of its own, which comes from an address of its own."""

    def open_one(path: str = "/", **options: object) -> Page:
        return open_page(path, extra_http_headers={"X-Forwarded-For": f"198.51.100.{next(numbers)}"}, **options)

    return open_one


@pytest.fixture
def signed_in(visit: Callable[..., Page], email: str) -> Page:
    """The account page of a person who has just signed in by password."""
    page = visit("/accounts/login/?next=/account/")
    enter(page, email)
    page.wait_for_url("/account/")
    return page


def enter(page: Page, email: str, password: str = PASSWORD) -> None:
    """Fill in the sign-in form that *page* shows, and send it."""
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def password_fields(page: Page) -> list[Locator]:
    """Return the fields of the form that *page* is about to show, one after the other."""
    fields = page.locator("input[type=password]")
    expect(fields.last).to_be_visible()
    return fields.all()


def confirm_by_password(page: Page) -> None:
    """Answer the page that asks whether it is you."""
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(lambda url: urlsplit(url).path in ("/", "/accounts/login/"))
