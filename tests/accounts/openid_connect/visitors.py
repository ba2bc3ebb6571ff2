"""A visitor who signs in at the provider: there, the button, and back."""

from __future__ import annotations

import urllib.error
import urllib.request
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.test import Client

from chatsite.accounts.models import User

LOGIN = "/accounts/oidc/sso/login/"


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def leave(client: Client, **wanted: str) -> str:
    """Return the provider's address that the site sends the person to."""
    return client.post(LOGIN, wanted).context["redirect_to"]


def come_back(url: str) -> str:
    """Press the provider's button; return the address that it sends the person back to."""
    asked = urlsplit(url).query.encode()
    try:
        urllib.request.build_opener(NoRedirects).open(urllib.request.Request(url.partition("?")[0], asked))
    except urllib.error.HTTPError as answer:
        return urlsplit(answer.headers["Location"])._replace(scheme="", netloc="").geturl()
    raise AssertionError("the provider sent nobody back")


def sign_in_there(client: Client, **wanted: str):
    return client.get(come_back(leave(client, **wanted)))


def confirm_there(client: Client, page: str = "/account/export/"):
    """Go the way that *page* sends who has to show that it is still they, and come back."""
    url = client.get(page).headers["Location"]
    return client.get(come_back(client.post(url).context["redirect_to"]))


def confirm(user: User) -> User:
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user
