"""Who may make an account by each policy, and what the others are told."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user
from django.core import mail
from django.test import Client

from chatsite.accounts.models import User
from chatsite.accounts.sign_up.sign_up_policy import may_sign_up
from tests.accounts.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def _by_domain(settings):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = "domains", ["example.org", "bücher.example"]
    settings.ACCOUNT_EMAIL_VERIFICATION, settings.SMTP_URL = "mandatory", "smtp://mail.example.org"


def said(response) -> str:
    return response.content.decode()


@pytest.mark.usefixtures("_by_domain")
@pytest.mark.parametrize(
    "email", ["bob@example.org", "BOB@EXAMPLE.ORG", "bob@bücher.example", "b@xn--bcher-kva.example"]
)
def test_an_address_at_a_listed_domain_makes_an_account(client, sign_up, email):
    assert sign_up(client, email).headers["Location"] == "/accounts/confirm-email/"
    assert User.objects.count() == 1


@pytest.mark.usefixtures("_by_domain")
@pytest.mark.parametrize(
    "email", ["bob@evil.example", "bob@sub.example.org", "bob@example.org.evil.example", "bob@notexample.org",
              '"bob@example.org"@evil.example', "bob@evil.example\n@example.org", "bob@buecher.example"],
)  # fmt: skip
def test_an_address_elsewhere_makes_none(client, sign_up, email):
    assert sign_up(client, email).status_code == 200
    assert not User.objects.exists()


@pytest.mark.usefixtures("_by_domain")
def test_the_page_says_which_domains(client):
    assert "Only email addresses at example.org or bücher.example can have an account." in said(
        client.get("/accounts/signup/")
    )


@pytest.mark.usefixtures("_by_domain")
def test_a_refusal_does_not_tell_whether_there_is_an_account(client, sign_up):
    User.objects.create_user("bob@evil.example")
    known, unknown = (sign_up(client, f"{name}@evil.example").context["form"].errors for name in ("bob", "eve"))
    assert known == unknown == {"email": ["Only email addresses at example.org or bücher.example can have an account."]}


@pytest.mark.usefixtures("_by_domain")
def test_a_known_address_at_a_listed_domain_looks_like_a_new_one(client, ada, sign_up):
    known, new = sign_up(client, ada.email), sign_up(Client(), "new@example.org")
    assert (known.status_code, known.headers["Location"]) == (new.status_code, new.headers["Location"])


@pytest.mark.usefixtures("_by_domain")
def test_an_account_is_not_used_before_its_address_is_confirmed(client, sign_up, sign_in, mailed_path):
    sign_up(client, "boss@example.org")
    sign_in(client, "boss@example.org")
    assert not get_user(client).is_authenticated
    client.post(mailed_path())
    assert get_user(client).is_authenticated


@pytest.mark.usefixtures("_by_domain")
def test_an_unconfirmed_address_is_not_changed_for_one_that_can_be_confirmed(client, sign_up, sign_in):
    sign_up(client, "boss@example.org")
    sign_in(client, "boss@example.org")
    client.post("/accounts/email/", {"email": "eve@evil.example", "action_add": ""})
    assert list(EmailAddress.objects.values_list("email", flat=True)) == ["boss@example.org"]
    assert {to for message in mail.outbox for to in message.to} == {"boss@example.org"}


def test_by_invitation_no_one_else_makes_an_account(client, settings, sign_up):
    settings.SIGN_UP = "invitation"
    assert "by invitation only" in said(client.get("/accounts/signup/"))
    assert "by invitation only" in said(sign_up(client, "bob@example.org"))
    assert not User.objects.exists()


@pytest.mark.parametrize(("policy", "is_offered"), [("open", 1), ("domains", 1), ("invitation", 0), ("closed", 0)])
def test_sign_up_is_offered_where_an_address_is_enough(client, settings, policy, is_offered):
    settings.SIGN_UP = policy
    assert said(client.get("/accounts/login/")).count("/accounts/signup/") == is_offered


@pytest.mark.parametrize(
    ("policy", "expected"), [("open", True), ("domains", False), ("invitation", False), ("closed", False)]
)
def test_other_ways_to_sign_up_ask_the_same_function(client, settings, policy, expected):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = policy, ["example.org"]
    assert may_sign_up(client.session, "eve@evil.example") is expected
    assert may_sign_up(client.session, "") is expected


def test_a_person_who_has_an_account_signs_in_whatever_the_policy(client, settings, ada, sign_in):
    for settings.SIGN_UP in ("domains", "invitation", "closed"):
        assert sign_in(Client(), ada.email, PASSWORD).status_code == 302
