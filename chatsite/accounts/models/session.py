"""Sessions, with user, address, browser and time last seen."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from .user import User


class Session(AbstractBaseSession):
    """Django's session, with its user and where it was last seen.

    *user* is None while no one is signed in; deleting the account deletes its sessions. *session_key* is a secret that
    only the cookie holds; pages name a session by its *handle*.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="sessions")
    began_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=300, blank=True)

    objects: ClassVar[BaseSessionManager[Self]] = BaseSessionManager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")

    @classmethod
    def get_session_store_class(cls) -> Any:
        from chatsite.accounts.sessions.session_store import SessionStore

        return SessionStore

    @property
    def handle(self) -> str:
        """Public id of the session: HMAC of its key, which can't be reversed."""
        return salted_hmac("chatsite.accounts.models.session", self.session_key, algorithm="sha256").hexdigest()
