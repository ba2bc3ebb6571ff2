import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client

from chatsite.accounts.models import User
from tests.accounts.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, db, sign_in):
    User.objects.create_user("bob@example.org", PASSWORD)
    sign_in(client, "bob@example.org")
    return client


def ask_to_change_to(client, email):
    """Post the new address, and return where the page asks for the password."""
    return client.post("/accounts/email/", {"email": email, "action_add": ""}).headers["Location"]


def change_to(client, email):
    return client.post(ask_to_change_to(client, email), {"password": PASSWORD})


def test_a_new_address_counts_once_its_link_was_opened(signed_in, mailed_path):
    change_to(signed_in, "Robert@example.org")
    assert User.objects.get().email == "bob@example.org"
    signed_in.post(mailed_path())
    assert User.objects.get().email == "robert@example.org"


def test_the_page_shows_which_address_waits(signed_in):
    change_to(signed_in, "robert@example.org")
    assert "robert@example.org" in signed_in.get("/accounts/email/").content.decode()


def test_until_then_one_signs_in_with_the_old_address(signed_in, sign_in):
    change_to(signed_in, "robert@example.org")
    assert sign_in(Client(), "bob@example.org").status_code == 302


def test_a_change_can_be_taken_back(signed_in, mailed_path):
    change_to(signed_in, "robert@example.org")
    signed_in.post("/accounts/email/", {"email": "robert@example.org", "action_remove": ""})
    assert "no longer works" in signed_in.get(mailed_path()).content.decode()
    assert User.objects.get().email == "bob@example.org"


def test_two_people_can_change_before_they_ever_confirmed(signed_in, ada, sign_in):
    change_to(signed_in, "robert@example.org")
    other = Client()
    sign_in(other, ada.email)
    change_to(other, "lovelace@example.org")
    assert sorted(User.objects.values_list("email", flat=True)) == ["ada@example.org", "bob@example.org"]


def test_no_account_is_without_an_address(ada):
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.update(email="")


def test_an_address_of_someone_else_is_never_taken_over(signed_in, ada, mailed_path):
    change_to(signed_in, "ADA@example.org")
    assert sorted(User.objects.values_list("email", flat=True)) == ["ada@example.org", "bob@example.org"]


def test_changing_the_address_takes_the_password(signed_in):
    page = ask_to_change_to(signed_in, "robert@example.org")
    assert page.startswith("/accounts/reauthenticate/")
    assert "Incorrect password" in signed_in.post(page, {"password": "wrong"}).content.decode()
    assert not mail.outbox


def test_a_link_that_was_forged_says_that_it_is_used_up(client):
    assert "no longer works" in client.get("/accounts/confirm-email/forged/").content.decode()
