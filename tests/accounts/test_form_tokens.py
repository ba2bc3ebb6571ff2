"""Tokens of forms: of strings that are as random as Django's, made of one call."""

from __future__ import annotations

from collections import Counter

from django.middleware import csrf
from django.test import RequestFactory

from chatsite.accounts.security import form_tokens
from chatsite.accounts.security.form_tokens import CHARACTERS, LENGTH, random_string


def test_the_site_uses_them_and_django_takes_them():
    request = RequestFactory().get("/")
    token = csrf.get_token(request)
    assert csrf._get_new_csrf_string is random_string
    assert csrf._does_token_match(token, request.META["CSRF_COOKIE"])
    assert not csrf._does_token_match(token, random_string())


def test_no_character_is_likelier_than_another():
    strings = [random_string() for _ in range(4_000)]
    assert {len(string) for string in strings} == {LENGTH}
    assert len({*strings}) == len(strings)
    counts = Counter("".join(strings))
    assert set(counts) == set(CHARACTERS)
    expected = len(strings) * LENGTH / len(CHARACTERS)  # 2,065, and 45 are one standard deviation
    assert all(abs(count - expected) < 7 * 45 for count in counts.values())


def test_a_string_takes_one_call(monkeypatch):
    asked = []
    monkeypatch.setattr(form_tokens.secrets, "token_bytes", lambda count: asked.append(count) or bytes(count))
    assert random_string() == CHARACTERS[0] * LENGTH
    assert len(asked) == 1


def test_bytes_that_would_make_some_characters_likelier_are_left_out(monkeypatch):
    given = iter([b"\xff\xfe\x00", b"\xf8" + b"\xf7" * LENGTH])
    monkeypatch.setattr(form_tokens.secrets, "token_bytes", lambda _count: next(given))
    assert random_string() == CHARACTERS[0] + CHARACTERS[-1] * (LENGTH - 1)
