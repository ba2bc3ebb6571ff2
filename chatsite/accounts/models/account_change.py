"""What admins did to the ways into other people's accounts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .user import LowercaseEmailField, Role


class ChangeKind(models.TextChoices):
    ADDRESS = "address", _("email address changed")
    ROLE = "role", _("role changed")
    FACTORS = "factors", _("second factors removed")
    LINK = "link", _("password reset link sent")


class AccountChange(models.Model):
    """One change by which an admin could let themselves in, or give somebody more rights.

    Never edited, never deleted: the database sees to it. When the account goes, *user* and *detail* are forgotten; who
    did it stays, as text where that account is gone too. *detail* is the address before, or the role given.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="changes", verbose_name=_("user")
    )
    admin = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("admin")
    )
    admin_email = LowercaseEmailField(_("admin"))
    kind = models.CharField(_("change"), max_length=8, choices=ChangeKind)
    detail = models.CharField(max_length=254, blank=True)
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("change to an account")
        verbose_name_plural = _("changes to accounts")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["user", "-id"], name="change_of_account")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.at:%Y-%m-%d %H:%M} UTC"

    @property
    def detail_label(self) -> str:
        """Blank where there is none, or none any more."""
        return str(Role(self.detail).label) if self.kind == ChangeKind.ROLE and self.detail else self.detail
