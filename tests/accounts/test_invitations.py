"""Invitations: used once, in time, by whom they are for."""

import datetime as dt
import hashlib

import pytest
from django.contrib.auth import get_user
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from chatsite.accounts.models import Invitation, User
from chatsite.accounts.sign_up import invitations
from tests.accounts.browsers import Browsers
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
PAGE, SIGN_UP = "/invitation/", "/accounts/signup/"


@pytest.fixture(autouse=True)
def _by_invitation(settings):
    settings.SIGN_UP = "invitation"


def invite(email: str = "") -> tuple[Invitation, str]:
    """Return an invitation and its token."""
    invitation = Invitation(email=email)
    return invitation, invitations.invite(invitation, days=7).partition("#")[2]


def follow(client: Client, token: str):
    """Do what the page's script does with what stands behind the #."""
    return client.post(PAGE, {"token": token})


def end(invitation: Invitation) -> None:
    Invitation.objects.filter(pk=invitation.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))


def said(response) -> str:
    return response.content.decode()


def test_the_link_leads_to_this_site_with_its_token_behind_the_hash(settings):
    address, _, token = invitations.invite(Invitation(), days=7).partition("#")
    assert address == f"{settings.SITE_URL}/invitation/"
    assert len(token) >= 43, "fewer than 256 bits"


def test_only_the_hash_of_the_token_is_stored():
    invitation, token = invite()
    assert invitation.token_hash == hashlib.sha256(token.encode()).hexdigest()


@pytest.mark.parametrize("policy", ["open", "domains", "invitation"])
def test_a_user_who_has_the_link_makes_one_account(client, settings, sign_up, policy):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = policy, ["example.net"]
    invitation, token = invite()
    assert follow(client, token).headers["Location"] == SIGN_UP
    assert "You are invited" in said(client.get(SIGN_UP))
    sign_up(client, "bob@example.org")
    invitation.refresh_from_db()
    assert invitation.used_by == get_user(client) == User.objects.get()
    assert abs(invitation.used_at - timezone.now()) < dt.timedelta(minutes=1)


def test_it_makes_no_one_special(client, sign_up):
    follow(client, invite()[1])
    sign_up(client, "bob@example.org")
    assert get_user(client).role == "user"


def test_it_works_once(client, sign_up):
    _, token = invite()
    early, late = Client(), Client()
    follow(early, token)
    follow(late, token)
    sign_up(early, "bob@example.org")
    assert "This invitation has been used" in said(sign_up(late, "eve@example.org"))
    assert follow(client, token).status_code == 410
    assert User.objects.count() == 1


def test_one_browser_uses_it_once(client, sign_up):
    follow(client, invite()[1])
    sign_up(client, "bob@example.org")
    client.post("/accounts/logout/")
    sign_up(client, "eve@example.org")
    assert User.objects.count() == 1


def test_the_address_it_is_for_is_filled_in_and_fixed(client):
    follow(client, invite("ada@example.org")[1])
    page = said(client.get(SIGN_UP))
    assert "You are invited as ada@example.org" in page
    field = page[page.index('name="email"') :].partition(">")[0]
    assert 'value="ada@example.org"' in field
    assert "readonly" in field


@pytest.mark.parametrize("policy", ["open", "invitation"])
def test_another_address_is_refused(client, settings, sign_up, policy):
    settings.SIGN_UP = policy
    invitation, token = invite("ada@example.org")
    follow(client, token)
    response = sign_up(client, "eve@example.org")
    assert response.context["form"].errors == {"email": ["This invitation is for ada@example.org."]}
    assert not User.objects.exists()
    assert Invitation.objects.get(used_at=None) == invitation


def test_the_address_it_is_for_is_compared_in_any_letter_case(client, sign_up):
    follow(client, invite("ADA@example.org")[1])
    sign_up(client, "Ada@Example.org")
    assert get_user(client).email == "ada@example.org"


def test_the_address_it_is_for_must_be_confirmed_all_the_same(client, settings, sign_up, mailed_path):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    follow(client, invite("ada@example.org")[1])
    assert sign_up(client, "ada@example.org").headers["Location"] == "/accounts/confirm-email/"
    assert not get_user(client).is_authenticated
    client.post(mailed_path())
    assert get_user(client).is_authenticated


def test_without_it_one_goes_on_by_the_policy(client, settings, sign_up):
    settings.SIGN_UP = "open"
    follow(client, invite("ada@example.org")[1])
    assert client.post("/invitation/decline/").headers["Location"] == SIGN_UP
    sign_up(client, "eve@example.org")
    assert get_user(client).email == "eve@example.org"
    assert not Invitation.objects.exclude(used_at=None).exists()


def test_declining_opens_nothing(client, sign_up):
    follow(client, invite("ada@example.org")[1])
    client.post("/invitation/decline/")
    sign_up(client, "eve@example.org")
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("change", "words"), [(end, "This invitation has expired"), (invitations.revoke, "was revoked")]
)
def test_what_is_over_is_refused_with_words(client, change, words):
    invitation, token = invite()
    change(invitation)
    response = follow(client, token)
    assert response.status_code == 410
    assert words in said(response)


@pytest.mark.parametrize(
    ("change", "words"), [(end, "This invitation has expired"), (invitations.revoke, "was revoked")]
)
def test_what_ends_meanwhile_is_refused_with_words(client, sign_up, change, words):
    invitation, token = invite()
    follow(client, token)
    change(invitation)
    assert words in said(sign_up(client, "bob@example.org"))
    assert not User.objects.exists()


def test_a_closed_site_refuses_it(client, settings, sign_up):
    _, token = invite()
    follow(client, token)
    settings.SIGN_UP = "closed"
    assert "Sign-up is closed" in said(sign_up(client, "bob@example.org"))
    assert "Sign-up is closed" in said(follow(Client(), token))
    assert not User.objects.exists()


def test_a_wrong_token_grants_nothing(client, sign_up):
    invitation, token = invite()
    for wrong in (token[:-1], token + "x", "ü", invitation.token_hash):
        assert follow(client, wrong).status_code == 404
    for wrong in ("", "\x00", "x" * 10_000):
        assert follow(client, wrong).status_code in (200, 400)
    sign_up(client, "eve@example.org")
    assert not User.objects.exists()


def test_a_person_with_an_account_is_told_so(client, ada):
    invitation, token = invite()
    client.force_login(ada)
    for response in (client.get(PAGE), follow(client, token)):
        assert "You already have an account" in said(response)
    assert Invitation.objects.get() == invitation
    assert invitation.is_open


def test_a_known_address_does_not_use_it_up(client, settings, ada, sign_up):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    invitation, token = invite()
    follow(client, token)
    assert sign_up(client, ada.email).headers["Location"] == "/accounts/confirm-email/"
    invitation.refresh_from_db()
    assert invitation.is_open


def test_a_new_link_ends_the_older_one_and_its_grants(client, sign_up):
    invitation, old = invite()
    follow(client, old)
    new = invitations.invite(invitation, days=7).partition("#")[2]
    sign_up(client, "eve@example.org")
    assert not User.objects.exists()
    assert follow(Client(), old).status_code == 404
    assert follow(Client(), new).status_code == 302


def test_a_new_link_opens_what_had_ended():
    invitation, _ = invite()
    end(invitation)
    invitations.invite(invitation, days=7)
    invitation.refresh_from_db()
    assert invitation.is_open


@pytest.mark.parametrize("field", ["used_at", "revoked_at"])
def test_no_new_link_is_made_for_what_was_used_or_revoked(field):
    invitation, _ = invite()
    Invitation.objects.update(**{field: timezone.now()})
    with pytest.raises(invitations.InvitationNotOpen):
        invitations.invite(invitation, days=7)


def test_what_was_used_is_not_revoked(client, sign_up):
    invitation, token = invite()
    follow(client, token)
    sign_up(client, "bob@example.org")
    assert not invitations.revoke(invitation)
    invitation.refresh_from_db()
    assert invitation.state == "used"


def test_that_it_was_used_outlives_the_account(client, sign_up):
    invitation, token = invite()
    follow(client, token)
    sign_up(client, "bob@example.org")
    User.objects.all().delete()
    invitation.refresh_from_db()
    assert (invitation.state, invitation.used_by) == ("used", None)
    assert follow(Client(), token).status_code == 410


def test_the_database_knows_no_one_who_used_it_on_no_day(ada):
    invite()
    with pytest.raises(IntegrityError), transaction.atomic():
        Invitation.objects.update(used_by=ada)


def test_the_token_is_taken_with_a_token_against_forgery():
    client = Client(enforce_csrf_checks=True)
    assert follow(client, invite()[1]).status_code == 403


def test_the_page_is_never_stored(client):
    assert "no-store" in client.get(PAGE).headers["Cache-Control"]


def test_the_first_admin_s_link_leaves_it_alone(client, sign_up):
    from chatsite.accounts.sign_up.first_admin import first_admin_url

    invitation, token = invite()
    follow(client, token)
    client.post("/first-admin/", {"token": first_admin_url().partition("#")[2]})
    sign_up(client, "ada@example.org")
    assert get_user(client).is_superuser
    invitation.refresh_from_db()
    assert invitation.is_open


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verification", ["optional", "mandatory"])
def test_of_two_at_once_one_makes_an_account(settings, sign_up, verification):
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    _, token = invite()
    people = {"bob@example.org": Client(), "eve@example.org": Client()}
    for browser in people.values():
        follow(browser, token)
    with Browsers() as browsers:
        with transaction.atomic():
            list(Invitation.objects.select_for_update())
            answers = [browsers.start(sign_up, browser, email) for email, browser in people.items()]
            wait_for_lock_waits(2)
        responses = [answer.result() for answer in answers]
    assert sorted(response.status_code for response in responses) == [200, 302]
    assert sum("This invitation has been used" in said(response) for response in responses) == 1
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_sign_up_that_waits_finds_it_revoked(client, sign_up):
    invitation, token = invite()
    follow(client, token)
    with Browsers() as browsers:
        with transaction.atomic():
            invitations.revoke(invitation)
            answer = browsers.start(sign_up, client, "bob@example.org")
            wait_for_lock_waits(1)
        assert "was revoked" in said(answer.result())
    assert not User.objects.exists()
