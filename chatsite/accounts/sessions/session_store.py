"""Session store (`SESSION_ENGINE`): sessions in the database, with user, address, browser and time last seen.

A session is loaded at every request, so its row is at hand, and updating it costs a statement once a minute.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.utils import timezone

from chatsite.accounts.models import Session

if TYPE_CHECKING:
    DatabaseStore = db.SessionStore[Session]
else:
    DatabaseStore = db.SessionStore

TOUCH_INTERVAL = dt.timedelta(minutes=1)
# Kept while a session goes on with the same user, also under a new key, as after a change of the password.
KEPT_FIELDS = ("began_at", "last_seen_at", "address", "user_agent")


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
        self._row = super()._get_session_from_db()  # type: ignore[misc]  # not in Django's stubs
        return self._row

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
