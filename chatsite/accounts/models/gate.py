"""The gate: its mode, passwords and entries."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.names import isolate_name


class GateMode(models.TextChoices):
    OFF = "off", _("off")
    SHARED = "shared", _("one password for everyone")
    PERSONAL = "personal", _("one password per user")


class Gate(models.Model):
    """The site's gate: at most one row; without one the gate is off.

    *seats* is how many users are admitted at once, None without a cap. *contact* says whom to ask for a password.
    """

    singleton = models.BooleanField(primary_key=True, default=True, editable=False)
    mode = models.CharField(max_length=8, choices=GateMode, default=GateMode.OFF)
    seats = models.PositiveIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(1_000_000)], help_text=_("Leave empty for no limit.")
    )
    contact = models.CharField(
        max_length=200, blank=True, help_text=_("Contact for the password, such as Ada, ada@example.org.")
    )

    class Meta:
        verbose_name = _("gate")
        verbose_name_plural = _("gate")
        constraints = [
            models.CheckConstraint(condition=Q(singleton=True), name="gate_is_only_one"),
            models.CheckConstraint(condition=Q(mode__in=GateMode), name="gate_mode_is_known"),
        ]

    def __str__(self) -> str:
        return gettext("gate: %(mode)s") % {"mode": self.get_mode_display()}


class GatePassword(models.Model):
    """A gate password: the one for all if *user* is None, else that user's own.

    *version* changes whenever the password does, and shuts out users who entered with an older one.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="gate_password"
    )
    hash = models.CharField(max_length=128)
    version = models.UUIDField(default=uuid.uuid4)
    set_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("gate password")
        constraints = [
            models.UniqueConstraint(models.Value(1), condition=Q(user=None), name="gate_password_for_all_is_only_one"),
        ]

    def __str__(self) -> str:
        return gettext("gate password of %(whom)s") % {"whom": isolate_name(self.user or gettext("everyone"))}


class GateEntry(models.Model):
    """A user who gave the right password, with the *version* that it had.

    Without *seated_at* all seats were taken: the user waits, in the order of *unlocked_at*.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="gate_entry")
    version = models.UUIDField()
    unlocked_at = models.DateTimeField()
    seated_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["unlocked_at"], condition=Q(seated_at=None), name="gate_entry_waiting")]

    def __str__(self) -> str:
        return f"{self.user} {'inside' if self.seated_at else 'waiting'}"
