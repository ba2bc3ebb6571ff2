"""Whose session it is now: one statement, for any number of them, and Django's own way where that leaves a doubt."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatsite.accounts.models import Session, User
from chatsite.postgres.compiled_query import CompiledQuery

from .session_store import SEEN_AGAIN_AFTER, SessionStore

LASTING = CompiledQuery(Session.objects.select_related("user"), "WHERE session_key = ANY(%s) AND expire_date > %s")


def user_of(session_key: str | None) -> AbstractBaseUser | AnonymousUser:
    """Return whose session it is, or an anonymous user."""
    store = SessionStore(session_key)
    key = store.session_key  # None where it can't be one
    return (users_of([key]).get(key) if key else None) or _as_django_asks(store)


def _as_django_asks(store: SessionStore) -> AbstractBaseUser | AnonymousUser:
    request = HttpRequest()
    request.session = store
    return get_user(request)


def users_of(session_keys: Collection[str]) -> dict[str, User]:
    """Return session key → user where that is beyond doubt; of the others ask `user_of`."""
    sessions = LASTING.all(list(session_keys), timezone.now())
    return {session.session_key: session.user for session in sessions if session.user and is_of(session, session.user)}


def is_of(session: Session, user: User) -> bool:
    """Return whether *session* was begun with the user's present password, as `get_user` asks."""
    said = session.get_decoded()
    return (
        said.get(SESSION_KEY) == str(user.pk)
        and bool(said.get(BACKEND_SESSION_KEY))
        and constant_time_compare(said.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )


def see_again(session_keys: Collection[str]) -> None:
    """Write down that these sessions are in use, where they were last seen a while ago: a page that is open is used."""
    now = timezone.now()
    stale = Session.objects.filter(session_key__in=session_keys, last_seen_at__lt=now - SEEN_AGAIN_AFTER)
    stale.update(last_seen_at=now)
