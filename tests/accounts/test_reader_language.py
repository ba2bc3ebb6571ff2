"""Which language a person reads: their choice, the cookie, the browser; and the switch between them."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core import mail
from django.urls import reverse

from chatsite.accounts.preferences.reader_language import known_language
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
SIGN_IN = "/accounts/login/"
CHINESE, ENGLISH = 'lang="zh-hans"', 'lang="en"'


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def switch(client, language="zh-hans", **fields):
    return client.post(reverse("language"), {"language": language, **fields})


def html_of(response):
    return response.content.decode()[:200]


def test_a_page_is_in_the_language_that_the_browser_asks_for(client):
    answer = client.get(SIGN_IN, headers={"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"})
    assert CHINESE in html_of(answer)
    assert answer["Content-Language"] == "zh-hans"
    assert {"Accept-Language", "Cookie"} <= {name.strip() for name in answer["Vary"].split(",")}


def test_a_password_is_refused_in_the_reader_s_language(client):
    data = {"email": "mei@example.org", "password1": "123", "password2": "123"}
    page = client.post("/accounts/signup/", data, headers={"accept-language": "zh-CN"}).content.decode()
    assert "密码太短" in page
    assert "too short" not in page


def test_a_person_has_a_name_of_people_in_chinese(client, alice):
    page = client.get("/account/", headers={"accept-language": "zh-CN"}).content.decode()
    assert "名字" in page
    assert "名称" not in page


def test_the_switch_is_remembered_by_the_browser_of_who_is_signed_out(client):
    switch(client)
    assert CHINESE in html_of(client.get(SIGN_IN, headers={"accept-language": "en"}))
    cookie = client.cookies[settings.LANGUAGE_COOKIE_NAME]
    assert cookie["samesite"] == "Lax"
    assert cookie["httponly"]


def test_the_switch_is_remembered_by_the_account_on_every_other_browser(client, alice):
    switch(client)
    client.cookies.pop(settings.LANGUAGE_COOKIE_NAME)
    assert CHINESE in html_of(client.get("/account/", headers={"accept-language": "en"}))


def test_the_choice_in_the_account_counts_more_than_the_cookie(client, alice):
    switch(client)
    type(alice).objects.update(language="en")
    assert ENGLISH in html_of(client.get("/account/"))


def test_the_choice_in_the_account_is_known_without_the_database_once_the_user_was_read(
    client, alice, django_assert_num_queries
):
    alice.language = "zh-hans"
    alice.save()
    request = client.get("/account/", headers={"accept-language": "en"}).wsgi_request
    with django_assert_num_queries(0):
        assert known_language(request) == "zh-hans"


@pytest.mark.parametrize("stored", ["xx", "zh", "../en"])
def test_a_language_that_the_site_no_longer_has_is_no_ones_choice(client, alice, stored):
    type(alice).objects.update(language=stored)
    assert ENGLISH in html_of(client.get("/account/"))


@pytest.mark.parametrize("language", ["", "de", "zh-hans\x00", "x" * 5_000])
def test_only_what_is_offered_can_be_chosen(client, language):
    assert switch(client, language).status_code == 400
    assert settings.LANGUAGE_COOKIE_NAME not in client.cookies


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("/scenarios/?a=1", "/scenarios/?a=1"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("/\\elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_the_switch_stays_on_this_site(client, wanted, shown):
    assert switch(client, next=wanted).url == shown


def test_a_get_switches_nothing(client):
    assert client.get(reverse("language"), {"language": "zh-hans"}).status_code == 405


@pytest.mark.parametrize("path", [SIGN_IN, "/accounts/signup/?next=/scenarios/", "/nowhere/"])
def test_every_page_leads_back_to_itself(client, path):
    assert f'name="next" value="{path}"' in client.get(path).content.decode()


def test_what_a_form_answers_leads_back_to_the_page_of_the_form(client):
    answer = client.post(SIGN_IN, {"login": "nobody"}, headers={"referer": f"http://testserver{SIGN_IN}?next=/a/"})
    assert f'name="next" value="{SIGN_IN}?next=/a/"' in answer.content.decode()


def test_a_referer_from_elsewhere_leads_nowhere(client):
    answer = client.post(SIGN_IN, {"login": "nobody"}, headers={"referer": "https://elsewhere.example/accounts/"})
    assert 'name="next" value="/"' in answer.content.decode()


def test_an_address_that_no_one_can_have_is_refused_in_the_readers_language(client):
    answer = client.get("/?a=%00", headers={"accept-language": "zh-CN"})
    assert answer.status_code == 400
    assert "无法读取此请求" in answer.content.decode()


def test_a_mail_is_in_the_language_of_who_gets_it(client, alice):
    type(alice).objects.update(language="zh-hans")
    client.logout()
    client.post("/accounts/password/reset/", {"email": alice.email}, headers={"accept-language": "en"})
    assert "密码" in mail.outbox[0].subject + mail.outbox[0].body
