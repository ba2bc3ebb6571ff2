"""The list of a user's sessions on the account page, and ending them.

Sockets that were opened with a session close within a second after it ended: `find_session_users` runs that often.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from allauth.account.signals import password_changed, password_reset, password_set
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils import timezone

from chatsite.accounts.models import Session, User
from chatsite.accounts.sessions.session_store import belongs_to
from chatsite.accounts.sessions.user_agents import browser_name

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session as its user sees it. *handle* names it in forms, and signs no one in."""

    handle: str
    browser: str
    address: str | None
    began_at: dt.datetime
    last_seen_at: dt.datetime
    is_current: bool


def list_sessions(user: User, current: SessionBase) -> list[ListedSession]:
    """Return the valid sessions of *user*, the last used first; the *current* one before them."""
    stored = user.sessions.filter(expire_date__gt=timezone.now()).order_by("-last_seen_at")[:MOST_SHOWN]
    shown = [_shown(row, current) for row in stored if belongs_to(row, user)]
    return sorted(shown, key=lambda session: not session.is_current)


def _shown(row: Session, current: SessionBase) -> ListedSession:
    return ListedSession(
        handle=row.handle,
        browser=browser_name(row.user_agent),
        address=row.address,
        began_at=row.began_at,
        last_seen_at=row.last_seen_at,
        is_current=row.session_key == current.session_key,
    )


def ends_no_other_session(user: User, current: SessionBase, which: str) -> bool:
    """Return whether only the *current* session ends by *which*: a handle, or `all` where there is no other."""
    valid = user.sessions.filter(expire_date__gt=timezone.now())
    handles = {row.session_key: row.handle for row in valid if belongs_to(row, user)}
    own = handles.pop(current.session_key or "", None)
    return which == own or (which == "all" and not handles)


def end_session(user: User, handle: str) -> bool:
    """End the session of *user* with that handle, and return whether there was one."""
    key = next((row.session_key for row in user.sessions.defer("session_data") if row.handle == handle), None)
    if key:
        user.sessions.filter(session_key=key).delete()
    return key is not None


def end_other_sessions(user: User, current: SessionBase) -> int:
    """End all sessions of *user* but the *current* one. Returns how many there were."""
    ended, _ = user.sessions.exclude(session_key=current.session_key).delete()
    return ended


def end_all_sessions(*users: User) -> None:
    Session.objects.filter(user__in=users).delete()


def _end_outdated_sessions(*, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Delete the other sessions after a new password: it makes them invalid anyway."""
    end_other_sessions(user, request.session)


def connect_password_signals() -> None:
    for signal in (password_changed, password_set, password_reset):
        signal.connect(_end_outdated_sessions, dispatch_uid="end the other sessions")
