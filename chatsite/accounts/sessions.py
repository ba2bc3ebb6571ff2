"""Whose session it is now: of one as Django's middleware asks, of many with two statements."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from .models import Session, User
from .session_store import SEEN_AGAIN_AFTER, SessionStore


def user_of(session_key: str | None) -> AbstractBaseUser | AnonymousUser:
    request = HttpRequest()
    request.session = SessionStore(session_key)  # type: ignore[assignment]
    return get_user(request)


def users_of(session_keys: Collection[str]) -> dict[str, User]:
    """Return session key → user where that is beyond doubt; of the others ask `user_of`."""
    stored = Session.objects.filter(session_key__in=session_keys, expire_date__gt=timezone.now())
    sessions = {session.session_key: session.get_decoded() for session in stored}
    users = User.objects.in_bulk([session[SESSION_KEY] for session in sessions.values() if SESSION_KEY in session])
    by_id = {str(user_id): user for user_id, user in users.items()}
    return {
        key: user
        for key, session in sessions.items()
        if (user := by_id.get(session.get(SESSION_KEY, ""))) and is_of(session, user)
    }


def is_of(session: dict[str, str], user: User) -> bool:
    """Return whether *session* was begun with the user's present password, as `get_user` asks."""
    return bool(session.get(BACKEND_SESSION_KEY)) and constant_time_compare(
        session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()
    )


def see_again(session_keys: Collection[str]) -> None:
    """Write down that these sessions are in use, where they were last seen a while ago: a page that is open is used."""
    now = timezone.now()
    stale = Session.objects.filter(session_key__in=session_keys, last_seen_at__lt=now - SEEN_AGAIN_AFTER)
    stale.update(last_seen_at=now)
