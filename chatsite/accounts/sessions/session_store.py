"""Session store (`SESSION_ENGINE`): sessions in the database, with user, address, browser and time last seen.

A session is loaded with its user at every request, by one statement. So its row is at hand, and updating it costs one
more once a minute. Open sockets load none: one statement finds the users of any number of sessions. Those of whom it is
not certain are left to Django's `get_user`.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.sessions.backends import db
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatsite.accounts.models import Session, User
from chatsite.postgres.compiled_query import CompiledQuery

if TYPE_CHECKING:
    DatabaseStore = db.SessionStore[Session]
else:
    DatabaseStore = db.SessionStore

TOUCH_INTERVAL = dt.timedelta(minutes=1)
# Kept while a session goes on with the same user, also under a new key, as after a change of the password.
KEPT_FIELDS = ("began_at", "last_seen_at", "address", "user_agent")
# A session is valid as long as neither its content nor the password changes, so both are compared by one hash: of
# accounts_session AS session and accounts_user AS person.
FINGERPRINT = "sha256(convert_to(session.session_data || ' ' || person.password, 'UTF8'))"
FINGERPRINTS = f"""
SELECT session.session_key, person.id, {FINGERPRINT}
FROM accounts_session AS session JOIN accounts_user AS person ON person.id = session.user_id
WHERE session.session_key = ANY(%s) AND session.expire_date > %s
"""  # noqa: S608  # nothing in it comes from outside
WITH_USER = Session.objects.select_related("user")
LIVE_SESSION = CompiledQuery(WITH_USER, "WHERE session_key = %s AND expire_date > %s")
LIVE_SESSIONS = CompiledQuery(WITH_USER, "WHERE session_key = ANY(%s) AND expire_date > %s")


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """Address and browser of a request."""

    address: str | None
    user_agent: str

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> ClientInfo:
        """Read them from a request's `META`, cut to what the columns hold."""
        user_agent = meta.get("HTTP_USER_AGENT", "").replace("\x00", "")
        longest = Session._meta.get_field("user_agent").max_length
        return cls(_clean_address(meta.get("REMOTE_ADDR", "")), user_agent[:longest])


def _clean_address(raw: str) -> str | None:
    try:
        return str(ipaddress.ip_address(raw.partition("%")[0]))
    except ValueError:
        return None


class SessionStore(DatabaseStore):
    """Django's store with our rows. *client* is set for the session of a request."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self.client: ClientInfo | None = None
        self._row: Session | None = None

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def _validate_session_key(self, key: str | None) -> bool:
        is_valid: bool = super()._validate_session_key(key)  # type: ignore[misc]  # not in Django's stubs
        return is_valid and "\x00" not in str(key)  # which PostgreSQL refuses to look for

    def _get_session_from_db(self) -> Session | None:
        self._row = LIVE_SESSION.first(self.session_key, timezone.now())
        if self._row is None:
            self._session_key = None  # as Django's store does: another is made if one is needed
        return self._row

    def find_user(self) -> User | None:
        """Return the user of the session, who was loaded with it; None where it is not certain that it is theirs."""
        data = self._get_session()  # type: ignore[attr-defined]  # not in Django's stubs
        row = self._row
        if row is None or not Session._meta.get_field("user").is_cached(row):
            return None
        return row.user if row.user and row.user.is_active and _data_belongs_to(data, row.user) else None

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = super().create_model_instance(data)
        row.user_id = Session._meta.get_field("user").to_python(data.get(SESSION_KEY))
        if self._row and self._row.user_id == row.user_id:
            for name in KEPT_FIELDS:
                setattr(row, name, getattr(self._row, name))
        if self.client:
            _set_last_seen(row, self.client)
        self._row = row
        return row

    def touch(self) -> None:
        """Store when and where the session was seen, at most once per interval. Loads nothing."""
        row = self._row
        if row and row.user_id and self.client and row.last_seen_at < timezone.now() - TOUCH_INTERVAL:
            _set_last_seen(row, self.client)
            seen = {name: getattr(row, name) for name in ("last_seen_at", "address", "user_agent")}
            Session.objects.filter(pk=row.pk).update(**seen)


def _set_last_seen(row: Session, client: ClientInfo) -> None:
    row.last_seen_at = timezone.now()
    row.address, row.user_agent = client.address, client.user_agent


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


class ValidSessions:
    """Sessions that were found valid, to be asked about again and again: only what has changed is decoded again."""

    def __init__(self) -> None:
        self._fingerprints: dict[str, bytes] = {}

    def find_user_ids(self, session_keys: Collection[str]) -> dict[str, int]:
        """Return session key → user id for those of *session_keys* that are valid now; others are forgotten."""
        with connection.cursor() as cursor:
            cursor.execute(FINGERPRINTS, [list(session_keys), timezone.now()])
            found = {key: (user_id, bytes(fingerprint)) for key, user_id, fingerprint in cursor.fetchall()}
        changed = [key for key, (_, fingerprint) in found.items() if self._fingerprints.get(key) != fingerprint]
        refused = set(changed) - find_session_users(changed).keys() if changed else set()
        valid = {key: row for key, row in found.items() if key not in refused}
        self._fingerprints = {key: fingerprint for key, (_, fingerprint) in valid.items()}
        return {key: user_id for key, (user_id, _) in valid.items()}

    def fingerprint_of(self, session_key: str | None) -> bytes | None:
        """Return the fingerprint with which the session was valid when it was asked about last."""
        return self._fingerprints.get(session_key) if session_key else None


def belongs_to(session: Session, user: User) -> bool:
    """Return whether *session* is of *user* and was begun with the present password, as `get_user` checks."""
    return _data_belongs_to(SessionStore().decode(session.session_data), user)


def _data_belongs_to(data: Mapping[str, Any], user: User) -> bool:
    """Return whether a session's *data* is of *user*, begun with the present password."""
    return (
        data.get(SESSION_KEY) == str(user.pk)
        and data.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
        and constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )


def touch_sessions(session_keys: Collection[str]) -> None:
    """Store that these sessions are in use, at most once per interval: an open page counts as use."""
    now = timezone.now()
    stale = Session.objects.filter(session_key__in=session_keys, last_seen_at__lt=now - TOUCH_INTERVAL)
    stale.update(last_seen_at=now)
