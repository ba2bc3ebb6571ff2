"""The list of a user's own sessions on the account page: shown in words, ended one by one or all at once."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.test import Client
from django.utils import timezone

from chatsite.accounts.models import Session, User
from chatsite.accounts.sessions.session_store import find_session_users, touch_sessions

from .conftest import PASSWORD

pytestmark = pytest.mark.django_db
FIREFOX = {"HTTP_USER_AGENT": "Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0"}
PHONE = {"HTTP_USER_AGENT": "Mozilla/5.0 (iPhone) Version/26.0 Safari/604.1", "REMOTE_ADDR": "2001:db8::7"}
END = "/account/sessions/end/"


@pytest.fixture
def at_home(ada, sign_in) -> Client:
    """Where Ada has just reauthenticated."""
    client = signed_in(sign_in, ada, **FIREFOX)
    reauthenticate(client)
    return client


@pytest.fixture
def on_the_phone(ada, sign_in) -> Client:
    return signed_in(sign_in, ada, **PHONE)


def signed_in(sign_in, user: User, **where) -> Client:
    client = Client(**where)
    assert sign_in(client, user.email).status_code == 302
    return client


def reauthenticate(client: Client) -> None:
    assert client.post("/accounts/reauthenticate/", {"password": PASSWORD}).status_code == 302


def page_of(client: Client) -> str:
    return client.get("/account/").content.decode()


def handles_on(client: Client) -> list[str]:
    return re.findall(r'name="session" value="(\w{64})"', page_of(client))


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_each_is_shown_with_its_browser_and_its_address(at_home, on_the_phone):
    page = page_of(at_home)
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    assert "2001:db8::7" in page
    assert page.count("This session") == 1
    assert page.index("This session") < page.index("Safari on iPhone")


def test_no_key_of_a_session_is_on_the_page(at_home, on_the_phone):
    pages = page_of(at_home) + page_of(on_the_phone)
    assert not [key for key in Session.objects.values_list("session_key", flat=True) if key in pages]


def test_one_elsewhere_can_be_ended(at_home, on_the_phone):
    [handle] = handles_on(at_home)
    page = at_home.post(END, {"session": handle}, follow=True).content.decode()
    assert "Signed out of that session." in page
    assert (is_signed_in(at_home), is_signed_in(on_the_phone)) == (True, False)


def test_all_others_can_be_ended(at_home, on_the_phone):
    page = at_home.post(END, {"session": "others"}, follow=True).content.decode()
    assert "Signed out of 1 other session." in page
    assert (is_signed_in(at_home), is_signed_in(on_the_phone)) == (True, False)


def test_everywhere_is_here_too(at_home, on_the_phone, ada):
    response = at_home.post(END, {"session": "all"})
    assert response.headers["Location"] == "/accounts/login/"
    assert (is_signed_in(at_home), is_signed_in(on_the_phone)) == (False, False)
    assert not ada.sessions.exists()


def test_one_s_own_is_ended_like_any_other(at_home, ada):
    assert at_home.post(END, {"session": ada.sessions.get().handle}).headers["Location"] == "/accounts/login/"
    assert not is_signed_in(at_home)


@pytest.mark.parametrize("which", ["others", "all", "handle"])
def test_ending_other_sessions_asks_for_reauthentication(at_home, on_the_phone, which):
    if which == "handle":
        [which] = handles_on(on_the_phone)
    asked = on_the_phone.post(END, {"session": which}, follow=True).redirect_chain[-1][0]
    assert asked.startswith("/accounts/reauthenticate/")
    assert is_signed_in(at_home)
    page = on_the_phone.post(asked, {"password": PASSWORD}, follow=True).content.decode()
    assert "Choose again which sessions to sign out of." in page
    assert is_signed_in(at_home)
    on_the_phone.post(END, {"session": which})
    assert not is_signed_in(at_home)


@pytest.mark.parametrize("which", ["all", "handle"])
def test_signing_out_here_alone_asks_for_nothing(on_the_phone, ada, which):
    which = ada.sessions.get().handle if which == "handle" else which
    assert on_the_phone.post(END, {"session": which}).headers["Location"] == "/accounts/login/"
    assert not is_signed_in(on_the_phone)


@pytest.mark.parametrize(
    ("address", "form"), [("/accounts/logout/", {}), ("/account/sessions/end/", {"session": "all"})]
)
def test_a_browser_that_signs_out_is_asked_to_forget_what_it_stored(at_home, address, form):
    assert "Clear-Site-Data" not in at_home.get("/account/").headers
    assert at_home.post(address, form).headers["Clear-Site-Data"] == '"storage"'
    assert "Clear-Site-Data" not in at_home.get("/accounts/login/").headers


@pytest.mark.parametrize("stolen", ["handle", "session_key"])
def test_no_one_elses_is_ended_or_seen(at_home, sign_in, stolen):
    eve = Client(**PHONE)
    User.objects.create_user("eve@example.org", PASSWORD)
    assert sign_in(eve, "eve@example.org").status_code == 302
    reauthenticate(eve)
    session = Session.objects.get(user__email="ada@example.org")
    page = eve.post(END, {"session": getattr(session, stolen)}, follow=True).content.decode()
    assert "That session has already ended." in page
    assert "Firefox" not in page
    assert is_signed_in(at_home)


@pytest.mark.parametrize("nonsense", ["", "0", "\x00", "x" * 10_000, "' OR 1=1"])
def test_nonsense_ends_nothing(at_home, nonsense):
    assert at_home.post(END, {"session": nonsense}).status_code in (302, 400)
    assert is_signed_in(at_home)


def test_it_takes_a_token_and_a_post(ada, at_home, sign_in):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = at_home.cookies
    assert strict.post(END, {"session": "all"}).status_code == 403
    assert at_home.get(END, {"session": "all"}).headers["Location"] == "/account/"
    assert is_signed_in(at_home)


def test_a_new_password_ends_the_others(at_home, on_the_phone, ada):
    new = {"oldpassword": PASSWORD, "password1": "another row, 31C", "password2": "another row, 31C"}
    assert at_home.post("/accounts/password/change/", new).status_code == 302
    assert (is_signed_in(at_home), is_signed_in(on_the_phone)) == (True, False)
    assert ada.sessions.count() == 1


def test_a_session_goes_on_as_the_same_one_after_a_new_password(at_home, ada):
    began_at = ada.sessions.get().began_at
    new = {"oldpassword": PASSWORD, "password1": "another row, 31C", "password2": "another row, 31C"}
    at_home.post("/accounts/password/change/", new)
    assert (ada.sessions.get().began_at, "Firefox" in ada.sessions.get().user_agent) == (began_at, True)


def test_one_begun_with_an_older_password_is_not_shown(at_home, on_the_phone, ada):
    ada.refresh_from_db()
    ada.set_password("by the shell")
    ada.save()
    at_home.force_login(ada)
    assert "Safari on iPhone" not in page_of(at_home)


def test_it_is_written_down_once_a_minute_when_it_was_seen(at_home, ada):
    long_ago = timezone.now() - dt.timedelta(minutes=5)
    ada.sessions.update(last_seen_at=long_ago, address=None)
    is_signed_in(at_home)
    seen = ada.sessions.get()
    assert seen.last_seen_at > long_ago
    assert seen.address == "127.0.0.1"
    is_signed_in(at_home)
    assert ada.sessions.get().last_seen_at == seen.last_seen_at


def test_pages_that_stay_open_count_as_seen(at_home, on_the_phone, ada):
    long_ago = timezone.now() - dt.timedelta(minutes=5)
    ada.sessions.update(last_seen_at=long_ago)
    open_page, other = ada.sessions.order_by("began_at")
    touch_sessions([open_page.session_key])
    open_page.refresh_from_db()
    other.refresh_from_db()
    assert (open_page.last_seen_at > long_ago, other.last_seen_at) == (True, long_ago)


@pytest.mark.parametrize(
    "where",
    [{"REMOTE_ADDR": "", "HTTP_USER_AGENT": "x" * 10_000}, {"REMOTE_ADDR": "fe80::1%eth0"}, {"REMOTE_ADDR": "?"}],
)
def test_a_browser_s_nonsense_keeps_no_one_out(ada, where):
    client = Client(**where)
    client.force_login(ada)
    ada.sessions.update(last_seen_at=timezone.now() - dt.timedelta(minutes=5))
    assert is_signed_in(client)
    assert ada.sessions.get().last_seen_at > timezone.now() - dt.timedelta(minutes=1)


def test_a_session_without_a_person_is_no_ones(client):
    client.get("/accounts/login/")
    session = client.session
    session["theme"] = "dark"
    session.save()
    assert Session.objects.get().user is None


def test_the_sessions_of_a_deleted_account_are_gone(at_home, ada):
    key = ada.sessions.get().session_key
    ada.delete()
    assert find_session_users([key]) == {}
    assert not Session.objects.filter(session_key=key).exists()
