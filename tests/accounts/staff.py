"""Staff and their browsers."""

from __future__ import annotations

from django.test import Client

from chatsite.accounts.models import User


def make_admin(email: str) -> User:
    return User.objects.create_superuser(email)


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
