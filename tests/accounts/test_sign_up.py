import pytest
from django.contrib.auth import get_user
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from tests.accounts.browsers import Browsers
from tests.accounts.conftest import PASSWORD
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db


def test_a_new_person_is_signed_in_and_is_no_one_special(client, sign_up):
    assert sign_up(client, "bob@example.org").headers["Location"] == "/"
    bob = get_user(client)
    assert (bob.email, bob.is_staff, bob.is_superuser) == ("bob@example.org", False, False)


def test_other_ways_in_are_set_off_only_where_there_are_some():
    """Browsers take passkeys at localhost; they are for who has an account, so signing up has none to offer."""
    browser = Client(SERVER_NAME="localhost")
    assert 'class="other-ways"' in browser.get(reverse("account_login")).content.decode()
    assert 'class="other-ways"' not in browser.get(reverse("account_signup")).content.decode()


@pytest.mark.parametrize(("smtp_url", "is_said"), [("", False), ("smtp://mail.example.org", True)])
def test_a_mail_is_said_to_be_sent_only_where_it_is(client, settings, sign_up, smtp_url, is_said):
    settings.SMTP_URL = smtp_url
    sign_up(client, "bob@example.org")
    assert ("We sent a link to bob@example.org" in client.get(reverse("account")).content.decode()) is is_said


def test_a_mail_that_fails_is_not_said_to_be_sent(client, settings, sign_up, unused_tcp_port):
    settings.ACCOUNT_EMAIL_VERIFICATION, settings.SMTP_URL = "mandatory", "smtp://mail.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", unused_tcp_port
    page = client.get(sign_up(client, "bob@example.org").headers["Location"]).content.decode()
    assert "The email could not be sent" in page
    assert "We sent" not in page


def test_the_very_first_person_does_not_become_the_admin_without_the_link(client, sign_up):
    sign_up(client, "bob@example.org")
    assert not User.objects.admins().exists()


def test_no_one_can_post_themselves_into_the_staff(client):
    data = {"email": "eve@example.org", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/signup/", {**data, "role": "admin", "token": "x"})
    assert not User.objects.get().is_staff


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\u2066"])
def test_an_address_with_characters_that_can_not_be_seen_is_refused(client, sign_up, sign):
    answer = sign_up(client, f"bob@exa{sign}mple.org")
    assert "Enter a valid email address." in answer.content.decode()
    assert not User.objects.exists()


def test_an_address_is_kept_in_lower_case(client, sign_up):
    sign_up(client, "Bob@Example.ORG")
    assert User.objects.get().email == "bob@example.org"


def test_letter_case_makes_no_second_account(client, ada, sign_up):
    response = sign_up(client, "ADA@example.org")
    assert "already registered" in response.content.decode()
    assert User.objects.count() == 1


@pytest.mark.parametrize("spelling", ["ADA@EXAMPLE.ORG", "Ada@example.org"])
def test_a_person_is_found_by_any_spelling_of_the_address(ada, spelling):
    assert User.objects.get(email=spelling) == ada


def test_the_database_refuses_a_second_spelling(ada):
    rows = User.objects.filter(pk=User.objects.create_user("bob@example.org").pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(email="ADA@example.org")


@pytest.mark.parametrize("password", ["short", "1234567890", "ada@example.org", "password123"])
def test_a_weak_password_makes_no_account(client, sign_up, password):
    assert sign_up(client, "ada@example.org", password).status_code == 200
    assert not User.objects.exists()


@pytest.mark.parametrize("email", ["", "ada", "ada@", "ada@example.org\x00", "a" * 300 + "@example.org", "\ud800@b.de"])
def test_a_bad_address_makes_no_account(client, sign_up, email):
    email = email.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert sign_up(client, email).status_code == 200
    assert not User.objects.exists()


def test_a_closed_site_says_so_and_makes_no_account(client, settings, sign_up):
    settings.SIGN_UP = "closed"
    assert "Sign-up is closed" in client.get("/accounts/signup/").content.decode()
    assert "Sign-up is closed" in sign_up(client, "bob@example.org").content.decode()
    assert not User.objects.exists()


def test_a_closed_site_offers_no_sign_up_where_people_sign_in(client, settings):
    settings.SIGN_UP = "closed"
    assert "/accounts/signup/" not in client.get("/accounts/login/").content.decode()


def test_with_mail_an_account_waits_until_its_address_is_confirmed(client, settings, sign_up, mailed_path):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert sign_up(client, "bob@example.org").headers["Location"] == "/accounts/confirm-email/"
    assert not get_user(client).is_authenticated
    client.post(mailed_path())
    assert get_user(client).email == "bob@example.org"


def test_with_mail_a_known_address_looks_like_a_new_one(client, settings, ada, sign_up):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    known, new = sign_up(client, ada.email), sign_up(Client(), "new@example.org")
    assert (known.status_code, known.headers["Location"]) == (new.status_code, new.headers["Location"])
    assert "already" in mail.outbox[0].body


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verification", ["optional", "mandatory"])
def test_of_two_sign_ups_for_one_address_at_once_one_wins(settings, sign_up, verification):
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    with Browsers() as browsers:
        with transaction.atomic():
            User.objects.create_user("bob@example.org", PASSWORD)
            slower = browsers.start(sign_up, Client(), "Bob@example.org")
            wait_for_lock_waits(1)
        response = slower.result()
    assert (response.status_code == 302) is (verification == "mandatory")
    assert User.objects.count() == 1
