"""Sessions in the database, each with whose it is and where it was last seen.

A session is loaded at every request, so its row is at hand, and seeing it again costs a statement once a minute.
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

SEEN_AGAIN_AFTER = dt.timedelta(minutes=1)
# What stays while a session goes on as the same person's, also under a new key, as after a change of the password.
KEPT = ("began_at", "last_seen_at", "address", "user_agent")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Where a request comes from."""

    address: str | None
    user_agent: str

    @classmethod
    def of(cls, headers_and_address: dict[str, Any]) -> Visitor:
        """Read them from a request's `META`. No browser's nonsense is more than the columns can hold."""
        user_agent = headers_and_address.get("HTTP_USER_AGENT", "").replace("\x00", "")
        longest = Session._meta.get_field("user_agent").max_length
        return cls(_clean_address(headers_and_address.get("REMOTE_ADDR", "")), user_agent[:longest])


def _clean_address(raw: str) -> str | None:
    try:
        return str(ipaddress.ip_address(raw.partition("%")[0]))
    except ValueError:
        return None


class SessionStore(DatabaseStore):
    """Django's, whose rows are ours. *visitor* is who asks, where that is known."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self.visitor: Visitor | None = None
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
            for name in KEPT:
                setattr(row, name, getattr(self._row, name))
        if self.visitor:
            _see(row, self.visitor)
        self._row = row
        return row

    def see_again(self) -> None:
        """Write down where somebody's session was seen, if the last time is a while ago. Nothing is loaded for it."""
        row = self._row
        if row and row.user_id and self.visitor and row.last_seen_at < timezone.now() - SEEN_AGAIN_AFTER:
            _see(row, self.visitor)
            seen = {name: getattr(row, name) for name in ("last_seen_at", "address", "user_agent")}
            Session.objects.filter(pk=row.pk).update(**seen)


def _see(row: Session, visitor: Visitor) -> None:
    row.last_seen_at = timezone.now()
    row.address, row.user_agent = visitor.address, visitor.user_agent
