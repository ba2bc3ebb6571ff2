import pytest
from django.contrib.auth import get_user
from django.core.cache import cache
from django.test import Client

from tests.accounts.conftest import PASSWORD

pytestmark = pytest.mark.django_db


def test_a_person_signs_in_with_any_letter_case(client, ada, sign_in):
    assert sign_in(client, "ADA@Example.org").headers["Location"] == "/"
    assert get_user(client) == ada


def test_a_wrong_password_and_an_unknown_address_look_the_same(ada, sign_in):
    pages = [sign_in(Client(), email, "wrong password").content.decode() for email in (ada.email, "x@example.org")]
    assert all("not correct" in page for page in pages)


def test_signing_in_goes_on_to_where_the_person_wanted_to_go(client, ada):
    data = {"login": ada.email, "password": PASSWORD, "next": "/account/"}
    assert client.post("/accounts/login/", data).headers["Location"] == "/account/"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x"])
def test_signing_in_never_leads_to_another_site(client, ada, elsewhere):
    data = {"login": ada.email, "password": PASSWORD, "next": elsewhere}
    assert client.post("/accounts/login/", data).headers["Location"] == "/"


def test_signing_out_takes_a_post(client, ada):
    client.force_login(ada)
    assert client.get("/accounts/logout/").status_code == 200
    assert get_user(client) == ada
    client.post("/accounts/logout/")
    assert not get_user(client).is_authenticated


def test_a_session_gets_a_new_key_at_sign_in(client, ada, sign_in):
    client.get("/first-admin/")
    session = client.session
    session["seen"] = True
    session.save()
    sign_in(client, ada.email)
    assert client.session.session_key != session.session_key


def test_a_request_without_its_token_is_refused_in_our_look(ada):
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": ada.email, "password": PASSWORD})
    assert response.status_code == 403
    assert "open for too long" in response.content.decode()


def test_a_deactivated_account_can_not_sign_in(client, ada, sign_in):
    ada.is_active = False
    ada.save()
    assert sign_in(client, ada.email).headers["Location"] == "/accounts/inactive/"
    assert "deactivated" in client.get("/accounts/inactive/").content.decode()


def test_switching_an_account_off_ends_its_sessions(client, ada):
    client.force_login(ada)
    ada.is_active = False
    ada.save()
    assert client.get("/account/").headers["Location"].startswith("/accounts/login/")


def test_the_sixth_try_from_one_address_is_refused_even_with_the_right_password(ada, sign_in):
    for _ in range(5):
        sign_in(Client(), ada.email, "wrong password")
    client = Client()
    assert "Too many attempts" in sign_in(client, ada.email).content.decode()
    assert not get_user(client).is_authenticated


def test_one_address_gets_ten_wrong_tries_whatever_accounts_it_tries(client, ada, sign_in):
    for number in range(10):
        sign_in(client, f"person{number}@example.org", "wrong password")
    assert "Too many attempts" in sign_in(client, ada.email).content.decode()


@pytest.mark.parametrize(
    "header", ["HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_FORWARDED", "HTTP_CF_CONNECTING_IP"]
)
def test_a_forged_header_does_not_evade_the_limit(client, ada, sign_in, header):
    for number in range(10):
        sign_in(client, f"person{number}@example.org", "wrong", **{header: f"198.51.100.{number}"})
    response = sign_in(client, ada.email, **{header: "198.51.100.77"})
    assert "Too many attempts" in response.content.decode()


def test_another_address_is_not_limited_by_it(client, ada, sign_in):
    for number in range(11):
        sign_in(client, f"person{number}@example.org", "wrong password")
    other = Client(REMOTE_ADDR="203.0.113.9")
    sign_in(other, ada.email)
    assert get_user(other) == ada


def test_more_than_thirty_tries_a_minute_get_the_page_for_too_many(client, sign_in):
    codes = [sign_in(client, "x@example.org", "wrong password").status_code for _ in range(31)]
    assert codes == [200] * 30 + [429]


def test_more_than_twenty_sign_ups_a_minute_get_the_page_for_too_many(client, sign_up):
    responses = [sign_up(client, "not an address") for _ in range(21)]
    assert [response.status_code for response in responses] == [200] * 20 + [429]
    assert "Too many attempts" in responses[-1].content.decode()


def test_many_addresses_do_not_push_the_limits_out_of_the_cache(ada):
    """Those of allauth, which are counted there."""
    reset = {"path": "/accounts/password/reset/", "data": {"email": ada.email}}
    for number in range(5):
        Client(REMOTE_ADDR=f"198.51.100.{number}").post(**reset)
    cache.set_many({f"attempts:{number}": 1 for number in range(1_000)})
    assert Client().post(**reset).status_code == 429


def test_the_admin_signs_in_where_everyone_does(client):
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"


def test_the_admins_own_sign_in_form_is_gone(client, ada):
    ada.role = "reviewer"
    ada.save()
    client.post("/admin/login/", {"username": ada.email, "password": PASSWORD})
    assert not get_user(client).is_authenticated


def test_a_person_who_is_not_staff_may_not_open_the_admin(client, ada):
    client.force_login(ada)
    assert client.get("/admin/", follow=True).status_code == 403
