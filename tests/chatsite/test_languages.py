"""A page is in one language as a whole, whatever the catalogs of the libraries could translate of it."""

from __future__ import annotations

import re

import pytest

from tests.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
CHINESE = re.compile(r"[\u3000-\u9fff]")
LANGUAGES = ["zh-CN", "zh-Hans", "de"]


@pytest.fixture
def alice(client):
    user = make_user("alice", role="admin")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    post(begin(user), "Hello")
    return user


def is_whole(page):
    text = page.content.decode()
    return page["Content-Language"] == "en" and '<html lang="en"' in text and not CHINESE.search(text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/nowhere"])
def test_a_strangers_page_is_not_half_translated(client, path, language):
    assert is_whole(client.get(path, headers={"accept-language": language}))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", ["/", "/conversations/", "/account/", "/admin/", "/admin/accounts/user/"])
def test_the_page_of_somebody_signed_in_is_not_half_translated(client, alice, path, language):
    page = client.get(path, headers={"accept-language": language})
    assert page.status_code == 200
    assert is_whole(page)
