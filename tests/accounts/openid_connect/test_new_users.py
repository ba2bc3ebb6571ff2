"""People who have no account here yet, and whether the site's policy lets them have one."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user
from django.test import Client

from chatsite.accounts.models import User
from chatsite.accounts.sign_up.first_admin import first_admin_url
from chatsite.configuration.single_sign_on import social_providers
from tests.accounts.browsers import Browsers
from tests.support.identity_provider import CLIENT_ID, CLIENT_SECRET, person, running_identity_provider

from .visitors import come_back, confirm, leave, sign_in_there

pytestmark = pytest.mark.django_db


def test_a_new_person_gets_an_account_with_the_address_that_the_provider_vouches_for(client, provider):
    assert sign_in_there(client).headers["Location"] == "/"
    ada = get_user(client)
    assert (ada.email, ada.name, ada.role, ada.has_usable_password()) == ("ada@example.org", "Ada", "user", False)
    assert EmailAddress.objects.get().verified


def test_of_the_name_that_the_provider_gives_what_can_be_seen_is_kept(client, provider):
    provider.person = person("ada", "ada@example.org", name="\u202eAda\u2069\n L\u200b" + "x" * 200)
    sign_in_there(client)
    name = get_user(client).name
    assert name.startswith("Ada Lxx")
    assert len(name) == 150


def test_the_same_person_comes_back_to_the_same_account_whatever_the_address_is_now(client, provider):
    sign_in_there(client)
    provider.person = person("ada", "lovelace@example.org")
    sign_in_there(other := Client())
    assert get_user(other) == get_user(client)
    assert User.objects.count() == 1


def test_another_provider_with_the_same_subjects_opens_no_account(client, provider, settings):
    sign_in_there(client)
    with running_identity_provider(person=person("ada", "mallory@example.org")) as another:
        settings.SOCIALACCOUNT_PROVIDERS = social_providers(
            server_url=another.address, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, name="Other"
        )
        sign_in_there(other := Client())
    assert get_user(other).email == "mallory@example.org"


def test_a_person_without_an_address_is_asked_for_one(client, provider):
    provider.person = person("ada")
    page = sign_in_there(client).headers["Location"]
    assert "Which address should your account have?" in client.get(page).content.decode()
    client.post(page, {"email": "ada@example.org"})
    assert get_user(client).email == "ada@example.org"
    assert not EmailAddress.objects.get().verified


@pytest.mark.django_db(transaction=True)
def test_a_new_person_in_two_windows_at_once_gets_one_account(provider):
    ways_back = [(browser, come_back(leave(browser))) for browser in (Client(), Client(), Client())]
    with Browsers() as browsers:
        answers = [future.result() for future in [browsers.start(client.get, url) for client, url in ways_back]]
    assert {answer.status_code for answer in answers} <= {302, 401}
    assert (User.objects.count(), SocialAccount.objects.count()) == (1, 1)


# The site's policy


def test_where_sign_up_is_closed_no_one_new_comes_in(client, provider, settings):
    settings.SIGN_UP = "closed"
    assert "closed" in sign_in_there(client).content.decode().lower()
    assert not User.objects.exists()


def test_where_sign_up_is_closed_who_has_an_account_comes_in(client, provider, settings, ada):
    settings.SIGN_UP = "closed"
    confirm(ada)
    sign_in_there(client)
    assert get_user(client) == ada


def test_an_address_of_another_domain_is_refused(client, provider, settings):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = "domains", ["example.com"]
    sign_in_there(client)
    assert not User.objects.exists()


def test_an_address_that_is_typed_in_is_held_to_the_policy_too(client, provider, settings):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = "domains", ["example.com"]
    provider.person = person("ada")
    client.post(sign_in_there(client).headers["Location"], {"email": "ada@example.org"})
    assert not User.objects.exists()


def test_the_first_admin_may_come_from_there(client, provider, settings):
    settings.SIGN_UP = "closed"
    client.post("/first-admin/", {"token": first_admin_url().partition("#")[2]})
    provider.person = person("ada", "ada@example.org", verified=False)
    sign_in_there(client)
    assert (get_user(client).role, EmailAddress.objects.get().verified) == ("admin", True)
