"""An invitation to make an account."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.names import isolate_name

from .user import LowercaseEmailField


class InvitationState(models.TextChoices):
    OPEN = "open", _("open")
    USED = "used", _("used")
    REVOKED = "revoked", _("revoked")
    ENDED = "ended", _("ended")


class Invitation(models.Model):
    """Allows one account to be made, once. Only the hash of its token is stored.

    *email* is the address that it is for; blank is for any.
    """

    token_hash = models.CharField(max_length=64, unique=True)
    email = LowercaseEmailField(_("email address"), blank=True, help_text=_("Leave empty for any address."))
    note = models.CharField(_("note"), max_length=200, blank=True, help_text=_("A note for admins: who it is for."))
    expires_at = models.DateTimeField(_("expires at"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("created by")
    )
    used_at = models.DateTimeField(_("used at"), null=True)
    used_by = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="invitation",
        verbose_name=_("used by"),
    )
    revoked_at = models.DateTimeField(_("revoked at"), null=True)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        ordering = ["-id"]
        constraints = [
            # When the account is deleted later, the day on which the invitation was used stays.
            models.CheckConstraint(condition=Q(used_by=None) | ~Q(used_at=None), name="invitation_used_by_has_its_day"),
        ]

    def __str__(self) -> str:
        return gettext("invitation for %(whom)s") % {"whom": isolate_name(self.email or gettext("any address"))}

    @property
    def state(self) -> InvitationState:
        if self.used_at:
            return InvitationState.USED
        if self.revoked_at:
            return InvitationState.REVOKED
        return InvitationState.OPEN if timezone.now() < self.expires_at else InvitationState.ENDED

    @property
    def is_open(self) -> bool:
        return self.state == InvitationState.OPEN

    def is_for(self, email: str) -> bool:
        return self.email in ("", email.lower())
