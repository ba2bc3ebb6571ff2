"""Security events: sign-ins, failures, refused access, changes of factors and what admins did."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SecurityEventKind(models.TextChoices):
    SIGNED_IN = "signed_in", _("signed in")
    SIGNED_OUT = "signed_out", _("signed out")
    SIGNED_UP = "signed_up", _("signed up")
    SIGN_UP_REFUSED = "sign_up_refused", _("sign-up refused")
    SIGN_IN_FAILED = "sign_in_failed", _("sign-in failed")
    SIGN_IN_LIMITED = "sign_in_limited", _("sign-in limited")
    CODE_FAILED = "code_failed", _("second factor failed")
    GATE_ENTERED = "gate_entered", _("gate entered")
    GATE_FAILED = "gate_failed", _("gate password wrong")
    GATE_LIMITED = "gate_limited", _("gate limited")
    ACCESS_REFUSED = "access_refused", _("access refused")
    FACTOR_ADDED = "factor_added", _("second factor added")
    FACTOR_REMOVED = "factor_removed", _("second factor removed")
    CODES_RENEWED = "codes_renewed", _("recovery codes renewed")
    PASSWORD_CHANGED = "password_changed", _("password changed")
    PASSWORD_RESET = "password_reset", _("password reset")
    EMAIL_CHANGED = "email_changed", _("email address changed")
    SHARED = "shared", _("conversation shared")
    SHARE_REVOKED = "share_revoked", _("share revoked")
    HOLD_PLACED = "hold_placed", _("legal hold placed")
    HOLD_LIFTED = "hold_lifted", _("legal hold lifted")
    KEY_MADE = "key_made", _("API key made")
    KEY_REVOKED = "key_revoked", _("API key revoked")
    KEY_REFUSED = "key_refused", _("API key refused")
    WEBHOOK_SET = "webhook_set", _("webhook set or removed")
    CHANGED_BY_ADMIN = "changed_by_admin", _("changed by an admin")
    ADMIN_ACTION = "admin_action", _("admin action")


class SecurityEvent(models.Model):
    """A security event. Append-only: the database enforces it; only the sweep deletes rows, after `SECURITY_LOG_DAYS`.

    *user* is whom it is about: who acted, or whose account was tried. *network* is where the request came from, an
    IPv4 address or an IPv6 /64. Both are emptied when the account is deleted. *about* is a name from the code, such as
    a page or a kind of factor, never what a person typed.
    """

    at = models.DateTimeField(_("at"), auto_now_add=True, db_index=True)
    kind = models.CharField(_("event"), max_length=16, choices=SecurityEventKind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="security_events",
        verbose_name=_("user"),
    )
    network = models.CharField(_("network"), max_length=43, blank=True)
    about = models.CharField(_("about"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("security event")
        verbose_name_plural = _("security events")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.at:%Y-%m-%d %H:%M} UTC"
