"""Secrets of second factors: not in clear in the database, and of no use under another key."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret, encrypt_secret
from tests.accounts.factors import SECRET, code_of, confirm, give_app


def test_what_is_sealed_comes_back_and_looks_different_each_time():
    assert decrypt_secret(encrypt_secret(SECRET)) == SECRET
    assert encrypt_secret(SECRET) != encrypt_secret(SECRET)
    assert SECRET not in encrypt_secret(SECRET)


def test_under_another_key_it_is_a_secret_that_no_one_knows(settings):
    sealed = encrypt_secret(SECRET)
    settings.SECRET_KEY = "another"
    assert SECRET != decrypt_secret(sealed) != decrypt_secret(sealed)
    assert len(decrypt_secret(sealed)) >= 32


@pytest.mark.parametrize("sealed", ["", SECRET, "ü", "gAAAA"])
def test_what_was_never_sealed_is_a_secret_that_no_one_knows(sealed):
    assert decrypt_secret(sealed) not in ("", sealed)


@pytest.mark.django_db
def test_the_database_has_no_secret_of_an_app_in_clear(ada):
    give_app(ada)
    assert SECRET not in str(Authenticator.objects.values())


@pytest.mark.django_db
def test_under_another_key_no_code_signs_in_and_no_page_breaks(settings, client, ada, sign_in):
    give_app(confirm(ada))
    settings.SECRET_KEY = "another"
    sign_in(client, ada.email)
    assert client.post("/accounts/2fa/authenticate/", {"code": code_of()}).status_code == 200
    assert not get_user(client).is_authenticated
