"""Every page of allauth is drawn by a template of ours: all of its addresses are walked, in every state of a person."""

from __future__ import annotations

import re
from pathlib import Path

import allauth
import pytest
from allauth.account.models import EmailConfirmationHMAC
from allauth.mfa.models import Authenticator
from django.template import engines
from django.template.loader import get_template
from django.test import Client
from django.test.signals import template_rendered
from django.urls import URLPattern, get_resolver

from chatsite.accounts.models import User
from chatsite.configuration.single_sign_on import social_providers
from chatsite.folders import TEMPLATES
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import confirm, give_app
from tests.support.inline_code import INLINE

# Of the quiet pages, and of those within the shell.
STYLES = re.compile(r"(?:css/tokens|bundles/conversation)\.css")

pytestmark = pytest.mark.django_db
OURS = TEMPLATES
THEIRS = Path(allauth.__file__).parent / "templates"
# Switched off: sign-in by mailed codes, phones, passkeys before there is an account, browsers to trust.
OFF = re.compile(r"code\.html|phone|passkey|signup_form|trust|login_code|account/email\.html|snippets|verified_email")


def allauth_patterns(patterns: list | None = None, prefix: str = "/") -> dict[str, str]:
    """Return name → address of everything under /accounts/."""
    found = {}
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            found[pattern.name] = address
        elif address.startswith("/accounts/"):
            found |= allauth_patterns(pattern.url_patterns, address)
    return {name: address for name, address in found.items() if address.startswith("/accounts/")}


@pytest.fixture
def drawn(settings) -> list[str]:
    """The files of the templates that are rendered from now on."""
    provider = {"server_url": "https://id.example.org", "client_id": "us", "client_secret": "s", "name": "Team"}
    settings.OIDC_SERVER_URL, settings.SOCIALACCOUNT_PROVIDERS = provider["server_url"], social_providers(**provider)
    files: list[str] = []

    def note(template, **_):
        if template.origin:
            files.append(template.origin.name)

    template_rendered.connect(note)
    yield files
    template_rendered.disconnect(note)


def fill(address: str, user: User) -> str:
    """Put something in the place of an address's parameters."""
    passkey = Authenticator.objects.filter(user=user, type="webauthn").first()
    key = EmailConfirmationHMAC.create(user.emailaddress_set.first()).key
    address = address.replace("<slug:provider_id>", "sso").replace("<int:pk>", str(passkey.pk if passkey else 0))
    address = address.replace("^confirm-email/(?P<key>[-:\\w]+)/$", f"confirm-email/{key}/")
    return re.sub(r"\^password.*", "password/reset/key/1-abc/", address)


def people(user: User):
    """Yield a browser in each of the states that pages differ by."""
    yield Client()
    halfway = Client()
    halfway.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    yield halfway
    inside = Client()
    inside.force_login(user)
    yield inside
    confirmed = Client()
    confirmed.force_login(user)
    confirmed.post("/accounts/reauthenticate/", {"password": PASSWORD})
    yield confirmed


@pytest.mark.parametrize("has_app", [True, False])
def test_no_address_of_allauth_shows_its_bare_page(ada, drawn, has_app):
    confirm(ada)
    if has_app:
        give_app(ada)
    assert len(allauth_patterns()) > 25
    for browser in people(ada):
        for name, address in allauth_patterns().items():
            response = browser.get(fill(address, ada), follow=True)
            assert response.status_code in (200, 401, 403, 404), (name, address, response.status_code)
            if response["Content-Type"].startswith("text/html"):
                assert STYLES.search(response.content.decode()), name
                assert not re.search(INLINE, response.content.decode()), name
    pages = {Path(file) for file in drawn if file.endswith(".html")}
    bare = {page for page in pages if THEIRS in page.parents and not page.name.startswith("base")}
    assert not bare


def test_every_page_that_allauth_has_is_one_of_ours_or_off():
    names = {
        str(file.relative_to(THEIRS))
        for app in ("account", "mfa", "socialaccount")
        for file in (THEIRS / app).rglob("*.html")
    }
    pages = [name for name in names if not OFF.search(name) and "/base" not in name and name != "mfa/index.html"]
    assert len(pages) > 20
    theirs = [name for name in pages if OURS not in Path(get_template(name).origin.name).parents]
    assert not theirs


def test_every_message_of_second_factors_and_connections_is_ours():
    names = [
        str(file.relative_to(THEIRS))
        for app in ("mfa", "socialaccount")
        for file in (THEIRS / app / "messages").iterdir()
    ]
    assert len(names) >= 9
    assert all(OURS in Path(engines["django"].get_template(name).template.origin.name).parents for name in names)
