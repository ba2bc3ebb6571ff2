import hashlib

import pytest
from django.contrib.auth import get_user
from django.db import IntegrityError, transaction
from django.test import Client

from chatsite.accounts.models import FirstAdminLink, User
from chatsite.accounts.sign_up.first_admin import first_admin_url, holds_grant
from tests.accounts.browsers import Browsers
from tests.accounts.conftest import PASSWORD
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
CLAIM = "/first-admin/claim/"
SIGN_UP = "/accounts/signup/?next=%2Ffirst-admin%2Fclaim%2F"


def token_of(url: str) -> str:
    return url.partition("#")[2]


def visit(client: Client, token: str):
    """Do what the page's script does with what stands behind the #."""
    return client.post("/first-admin/", {"token": token})


@pytest.fixture
def token(db) -> str:
    return token_of(first_admin_url())


@pytest.fixture
def admin(ada) -> User:
    ada.role = "admin"
    ada.save()
    return ada


def test_the_link_leads_to_this_site_with_its_token_behind_the_hash(settings):
    address, _, token = first_admin_url().partition("#")
    assert address == f"{settings.SITE_URL}/first-admin/"
    assert len(token) >= 43, "fewer than 256 bits"


def test_only_the_hash_of_the_token_is_stored(token):
    assert FirstAdminLink.objects.get().token_hash == hashlib.sha256(token.encode()).hexdigest()


def test_the_account_made_through_the_link_is_the_admin(client, token, sign_up):
    assert visit(client, token).headers["Location"] == SIGN_UP
    sign_up(client, "ada@example.org")
    ada = get_user(client)
    assert (ada.email, ada.is_staff, ada.is_superuser) == ("ada@example.org", True, True)


def test_the_sign_up_page_says_who_one_becomes(client, token):
    visit(client, token)
    assert "becomes the site’s administrator" in client.get(SIGN_UP).content.decode()


def test_it_works_while_sign_up_is_closed_and_mail_is_not_set_up(client, token, settings, sign_up):
    settings.SIGN_UP, settings.ACCOUNT_EMAIL_VERIFICATION = "closed", "mandatory"
    visit(client, token)
    sign_up(client, "ada@example.org")
    assert get_user(client).is_superuser


def test_the_token_works_once(client, token, sign_up):
    visit(client, token)
    sign_up(client, "ada@example.org")
    late = Client()
    assert visit(late, token).status_code == 410
    sign_up(late, "bob@example.org")
    assert not get_user(late).is_staff


def test_a_wrong_token_grants_nothing(client, token, sign_up):
    for wrong in ("", token[:-1], token + "x", "ü", "\x00", "x" * 10_000):
        assert visit(client, wrong).status_code == 200
    sign_up(client, "bob@example.org")
    assert not get_user(client).is_staff


def test_the_stored_hash_is_no_token(client, token):
    visit(client, FirstAdminLink.objects.get().token_hash)
    assert not holds_grant(client.session)


def test_a_new_link_ends_the_older_one(client, token):
    visit(client, token)
    newer = token_of(first_admin_url())
    assert not holds_grant(client.session)
    assert visit(client, token).status_code == 200
    assert visit(client, newer).status_code == 302


def test_no_link_is_made_while_there_is_an_admin(admin):
    assert first_admin_url() is None
    assert not FirstAdminLink.objects.exists()


def test_a_link_is_dead_as_soon_as_an_admin_came_another_way(client, token, admin, sign_up):
    assert client.get("/first-admin/").status_code == 410
    assert visit(client, token).status_code == 410


def test_a_grant_is_dead_as_soon_as_an_admin_came_another_way(client, token, sign_up):
    visit(client, token)
    User.objects.create_superuser("ada@example.org", PASSWORD)
    response = sign_up(client, "bob@example.org")
    assert not get_user(client).is_staff
    assert response.status_code == 302


def test_a_site_whose_admins_are_all_switched_off_can_be_had_back(admin):
    admin.is_active = False
    admin.save()
    assert first_admin_url() is not None


def test_a_person_who_is_signed_in_is_asked_before_becoming_the_admin(client, token, ada):
    client.force_login(ada)
    assert visit(client, token).headers["Location"] == CLAIM
    assert ada.email in client.get(CLAIM).content.decode()
    assert not get_user(client).is_staff
    client.post(CLAIM)
    assert get_user(client).is_superuser


def test_a_person_can_sign_in_on_the_way(client, token, ada, sign_in):
    visit(client, token)
    sign_in(client, ada.email)
    client.post(CLAIM)
    assert get_user(client).is_superuser


def test_without_the_link_the_confirmation_does_nothing(client, token, ada):
    client.force_login(ada)
    assert client.get(CLAIM).status_code == 410
    assert client.post(CLAIM).status_code == 410
    assert not get_user(client).is_staff


def test_the_confirmation_takes_a_token_against_forgery(token, ada):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    assert client.post(CLAIM).status_code == 403


def test_the_database_keeps_one_link_only(token):
    with pytest.raises(IntegrityError), transaction.atomic():
        FirstAdminLink.objects.create(singleton=False, token_hash="")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("policy", ["open", "closed"])
def test_of_two_sign_ups_with_the_link_at_once_one_is_the_admin(settings, sign_up, policy):
    settings.SIGN_UP = policy
    token = token_of(first_admin_url())
    people = {"ada@example.org": Client(), "bob@example.org": Client()}
    for client in people.values():
        visit(client, token)
    with Browsers() as browsers:
        with transaction.atomic():
            FirstAdminLink.objects.select_for_update().get()
            answers = [browsers.start(sign_up, client, email) for email, client in people.items()]
            wait_for_lock_waits(2)
        assert all(answer.result().status_code in (200, 302) for answer in answers)
    assert User.objects.admins().count() == 1
    assert User.objects.count() == (2 if policy == "open" else 1)


@pytest.mark.django_db(transaction=True)
def test_of_two_confirmations_at_once_one_makes_an_admin():
    token = token_of(first_admin_url())
    clients = [Client(), Client()]
    for number, client in enumerate(clients):
        client.force_login(User.objects.create_user(f"person{number}@example.org"))
        visit(client, token)
    with Browsers() as browsers:
        with transaction.atomic():
            FirstAdminLink.objects.select_for_update().get()
            answers = [browsers.start(client.post, CLAIM) for client in clients]
            wait_for_lock_waits(2)
        assert sorted(answer.result().status_code for answer in answers) == [302, 410]
    assert User.objects.admins().count() == 1


def test_the_sign_in_page_says_where_the_link_of_a_new_site_is(client, token):
    page = client.get("/accounts/login/").text
    assert "This site has no admin yet. Open the link printed in the terminal." in page
    assert "Welcome back" not in page


def test_the_sign_in_page_of_a_site_with_an_admin_says_nothing_of_it(client, token, admin):
    page = client.get("/accounts/login/").text
    assert "no admin yet" not in page
    assert "Welcome back" in page
