"""Django's sessions in the database, for cookies from anybody: PostgreSQL refuses to look for a NUL."""

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore


class SessionStore(DatabaseStore):
    def _validate_session_key(self, key: str | None) -> bool:
        return super()._validate_session_key(key) and "\x00" not in str(key)
