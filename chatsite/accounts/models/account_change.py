"""Changes by which an admin could have opened a user's account."""

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
    """A change by which an admin could sign in as the user, or give them more rights.

    Append-only: the database enforces it. When the account is deleted, *user* and *detail* are emptied; the admin
    stays, as *admin_email* if that account is deleted too. *detail* is the previous address, or the role given.
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
        """The detail for a reader; blank if there is none, or none any more."""
        return str(Role(self.detail).label) if self.kind == ChangeKind.ROLE and self.detail else self.detail
