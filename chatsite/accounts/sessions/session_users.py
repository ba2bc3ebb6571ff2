"""The user of a session: one statement for any number of sessions, and Django's own `get_user` for the rest."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatsite.accounts.models import Session, User
from chatsite.postgres.compiled_query import CompiledQuery

from .session_store import TOUCH_INTERVAL, SessionStore

LIVE_SESSIONS = CompiledQuery(
    Session.objects.select_related("user"), "WHERE session_key = ANY(%s) AND expire_date > %s"
)


def find_session_user(session_key: str | None) -> AbstractBaseUser | AnonymousUser:
    """Return the user of the session, or an anonymous user."""
    store = SessionStore(session_key)
    key = store.session_key  # None where it can't be one
    return (find_session_users([key]).get(key) if key else None) or _django_user(store)


def _django_user(store: SessionStore) -> AbstractBaseUser | AnonymousUser:
    request = HttpRequest()
    request.session = store
    return get_user(request)


def find_session_users(session_keys: Collection[str]) -> dict[str, User]:
    """Return session key → user for sessions that are certainly valid; ask `find_session_user` about the others."""
    live = LIVE_SESSIONS.all(list(session_keys), timezone.now())
    return {session.session_key: session.user for session in live if session.user and belongs_to(session, session.user)}


def belongs_to(session: Session, user: User) -> bool:
    """Return whether *session* is of *user* and was begun with the present password, as `get_user` checks."""
    data = session.get_decoded()
    return (
        data.get(SESSION_KEY) == str(user.pk)
        and bool(data.get(BACKEND_SESSION_KEY))
        and constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )


def touch_sessions(session_keys: Collection[str]) -> None:
    """Store that these sessions are in use, at most once per interval: an open page counts as use."""
    now = timezone.now()
    stale = Session.objects.filter(session_key__in=session_keys, last_seen_at__lt=now - TOUCH_INTERVAL)
    stale.update(last_seen_at=now)
