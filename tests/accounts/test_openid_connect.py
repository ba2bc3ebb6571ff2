"""Signing in at an identity provider that answers for real, on the loopback, rightly and wrongly."""

from __future__ import annotations

import logging
import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.auth import get_user
from django.test import Client

from chatsite.accounts.models import User
from chatsite.accounts.sign_up.first_admin import first_admin_url
from chatsite.single_sign_on import social_providers
from tests.accounts.browsers import Browsers
from tests.accounts.conftest import PASSWORD
from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider, person, running_identity_provider

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/oidc/sso/login/"


@pytest.fixture(scope="module")
def running():
    with running_identity_provider() as provider:
        yield provider


@pytest.fixture
def provider(running, settings) -> IdentityProvider:
    running.person, running.fault = person("ada", "ada@example.org", name="Ada"), ""
    running.requests.clear()
    settings.OIDC_SERVER_URL = running.address
    settings.SOCIALACCOUNT_PROVIDERS = social_providers(
        server_url=running.address, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, name="Team"
    )
    return running


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


def confirm(user: User) -> User:
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user


def test_the_provider_is_asked_with_pkce_a_state_and_a_nonce(client, provider):
    asked = parse_qs(urlsplit(leave(client)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert all(len(asked[name][0]) >= 16 for name in ("state", "nonce", "code_challenge"))
    assert asked["redirect_uri"] == ["http://testserver/accounts/oidc/sso/login/callback/"]


def test_the_visitor_can_add_nothing_to_what_is_asked(client, provider):
    crafted = urlencode({"auth_params": "redirect_uri=https://evil.example", "scope": "admin"})
    asked = parse_qs(urlsplit(client.post(f"{LOGIN}?{crafted}").context["redirect_to"]).query)
    assert asked["redirect_uri"] == ["http://testserver/accounts/oidc/sso/login/callback/"]
    assert set(asked["scope"][0].split()) == {"openid", "email", "profile"}


def test_a_new_person_gets_an_account_with_the_address_that_the_provider_vouches_for(client, provider):
    assert sign_in_there(client).headers["Location"] == "/"
    ada = get_user(client)
    assert (ada.email, ada.name, ada.role, ada.has_usable_password()) == ("ada@example.org", "Ada", "user", False)
    assert EmailAddress.objects.get().verified


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


def test_no_token_of_the_provider_is_kept(client, provider):
    sign_in_there(client)
    assert not SocialToken.objects.exists()
    assert SocialAccount.objects.get().extra_data == {"email": "ada@example.org", "name": "Ada"}


def test_signing_in_goes_on_to_where_the_person_wanted_to_go(client, provider):
    assert sign_in_there(client, next="/account/").headers["Location"] == "/account/"


def test_signing_in_never_leads_to_another_site(client, provider):
    assert sign_in_there(client, next="https://evil.example/").headers["Location"] == "/"


@pytest.mark.parametrize(
    "fault",
    [
        "wrong signature", "no signature", "secret signature", "wrong nonce", "wrong issuer", "wrong audience",
        "expired", "userinfo of another",
    ],
)  # fmt: skip
def test_a_token_that_is_not_right_signs_nobody_in(client, provider, fault, caplog):
    provider.fault = fault
    with caplog.at_level(logging.WARNING):
        response = sign_in_there(client)
    assert response.status_code == 401
    assert "could not tell us who you are" in response.content.decode()
    assert "access token" not in caplog.text
    assert not User.objects.exists()


@pytest.mark.parametrize("fault", ["down", "nonsense", "slow"])
def test_a_provider_that_is_away_is_no_error_of_ours(client, provider, settings, fault):
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 0.2
    provider.fault = fault
    response = client.post(LOGIN)
    assert response.status_code == 401
    assert "could not tell us who you are" in response.content.decode()


@pytest.mark.parametrize("fault", ["down", "nonsense", "slow"])
def test_a_provider_that_goes_away_meanwhile_is_no_error_of_ours(client, provider, settings, fault):
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 0.2
    back = come_back(leave(client))
    provider.fault = fault
    assert client.get(back).status_code == 401


def test_who_turns_back_at_the_provider_is_told_that_nothing_has_changed(client, provider):
    provider.fault = "access_denied"
    response = client.get(sign_in_there(client).headers["Location"])
    assert "You have not signed in" in response.content.decode()


def test_a_state_of_another_browser_is_refused(client, provider):
    back = come_back(leave(client))
    assert Client().get(back).status_code == 401
    assert not User.objects.exists()


def test_a_way_back_works_once(client, provider):
    back = come_back(leave(client))
    client.get(back)
    client.logout()
    assert client.get(back).status_code == 401


def test_what_is_not_in_the_token_is_asked_for(client, provider):
    provider.fault = "email in userinfo"
    sign_in_there(client)
    assert get_user(client).email == "ada@example.org"
    assert "/userinfo" in provider.requests


def test_a_person_without_an_address_is_asked_for_one(client, provider):
    provider.person = person("ada")
    page = sign_in_there(client).headers["Location"]
    assert "Which one shall your account have?" in client.get(page).content.decode()
    client.post(page, {"email": "ada@example.org"})
    assert get_user(client).email == "ada@example.org"
    assert not EmailAddress.objects.get().verified


# Accounts that are there already


def test_a_vouched_for_address_opens_the_account_that_has_confirmed_it(client, provider, ada):
    confirm(ada)
    sign_in_there(client)
    assert get_user(client) == ada
    assert get_user(client).check_password(PASSWORD)
    assert SocialAccount.objects.get().user == ada


@pytest.mark.parametrize("verified", [False, None, "false", "", 0, "yes"])
def test_an_address_that_nobody_vouches_for_opens_no_account(client, provider, ada, verified):
    confirm(ada)
    provider.person = person("mallory", ada.email, verified=verified)
    sign_in_there(client)
    assert not get_user(client).is_authenticated
    assert not SocialAccount.objects.exists()


def test_an_account_that_somebody_made_with_the_victims_address_keeps_nothing_of_theirs(
    client, provider, sign_up, sign_in
):
    attacker = Client()
    sign_up(attacker, "ada@example.org")
    squatted = get_user(attacker)
    SocialAccount.objects.create(user=squatted, provider="sso", uid="of the attacker")
    EmailAddress.objects.create(user=squatted, email="attacker@example.org", verified=False)
    sign_in_there(client)
    assert get_user(client).email == "ada@example.org"
    assert not get_user(attacker).is_authenticated
    sign_in(attacker, "ada@example.org")
    assert not get_user(attacker).is_authenticated
    assert [address.email for address in EmailAddress.objects.all()] == ["ada@example.org"]
    assert SocialAccount.objects.get().uid != "of the attacker"


def test_an_account_that_waits_to_change_to_the_victims_address_is_not_opened(client, provider):
    mallory = confirm(User.objects.create_user("mallory@example.org", PASSWORD))
    EmailAddress.objects.create(user=mallory, email="ada@example.org", verified=False)
    sign_in_there(client)
    assert get_user(client).email == "ada@example.org"
    assert get_user(client) != mallory
    assert not EmailAddress.objects.filter(user=mallory, email="ada@example.org").exists()


def test_staff_who_have_not_confirmed_their_address_are_not_opened_by_it(client, provider, ada):
    User.objects.update(role="admin")
    response = sign_in_there(client)
    assert response.status_code == 403
    assert "Confirm the address first" in response.content.decode()
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_an_address_that_was_never_confirmed_takes_no_second_factor_away(client, provider, ada):
    Authenticator.objects.create(user=ada, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    assert sign_in_there(client).status_code == 403
    assert Authenticator.objects.exists()


@pytest.mark.parametrize("known", [True, False])
def test_a_deactivated_account_stays_shut(client, provider, ada, known):
    confirm(ada)
    if known:
        sign_in_there(Client())
    User.objects.update(is_active=False)
    assert sign_in_there(client).headers["Location"] == "/accounts/inactive/"
    assert not get_user(client).is_authenticated


def test_an_account_with_a_second_factor_asks_for_it_here_too(client, provider, ada):
    confirm(ada)
    Authenticator.objects.create(user=ada, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    assert sign_in_there(client).headers["Location"] == "/accounts/2fa/authenticate/"
    assert not get_user(client).is_authenticated


def test_staff_who_come_from_there_need_a_second_factor_of_this_site(client, provider, settings, ada):
    settings.STAFF_SECOND_FACTOR = True
    User.objects.update(role="reviewer")
    confirm(ada)
    sign_in_there(client)
    assert client.get("/admin/").headers["Location"] == "/account/second-factor/"


@pytest.mark.django_db(transaction=True)
def test_a_new_person_in_two_windows_at_once_gets_one_account(provider):
    ways_back = [(browser, come_back(leave(browser))) for browser in (Client(), Client(), Client())]
    with Browsers() as browsers:
        answers = [future.result() for future in [browsers.start(client.get, url) for client, url in ways_back]]
    assert {answer.status_code for answer in answers} <= {302, 401}
    assert (User.objects.count(), SocialAccount.objects.count()) == (1, 1)


# Sign-up by the site's policy


def test_where_sign_up_is_closed_nobody_new_comes_in(client, provider, settings):
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


# Connecting


def test_a_person_connects_and_disconnects_it(client, provider, ada, sign_in):
    sign_in(client, ada.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    provider.person = person("somebody", "elsewhere@example.org")
    sign_in_there(client, process="connect")
    connection = SocialAccount.objects.get(user=ada)
    assert "elsewhere@example.org" in client.get("/accounts/3rdparty/").content.decode()
    client.post("/accounts/3rdparty/", {"account": connection.pk})
    assert not SocialAccount.objects.exists()


def test_connecting_asks_whether_it_is_you(client, provider, ada, sign_in):
    sign_in(client, ada.email)
    assert sign_in_there(client, process="connect").headers["Location"] == "/accounts/reauthenticate/"
    assert not SocialAccount.objects.exists()


def test_the_only_way_in_is_not_disconnected(client, provider):
    sign_in_there(client)
    response = client.post("/accounts/3rdparty/", {"account": SocialAccount.objects.get().pk})
    assert "Choose a password first" in response.content.decode()
    assert SocialAccount.objects.exists()


def test_what_another_account_is_connected_to_stays_with_it(client, provider, ada, sign_in):
    confirm(ada)
    sign_in_there(Client())
    bob = User.objects.create_user("bob@example.org", PASSWORD)
    sign_in(client, bob.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    sign_in_there(client, process="connect")
    assert SocialAccount.objects.get().user == ada
