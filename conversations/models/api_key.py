"""API keys: what a program shows at `/v1` in place of a sign-in."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.names import NameField

from .revocable import Revocable


class ApiScope(models.TextChoices):
    """What a key may do."""

    CHAT = "chat", _("ask language models")
    READ = "read", _("read all conversations and usage")
    MANAGE = "manage", _("change and delete conversations")


class ApiKey(Revocable, models.Model):
    """A key with which programs act for its *owner*, within its own limits and the owner's.

    Its text is `wsk_PUBLIC_SECRET`. It is shown once: *public_part* finds the row, and of the secret only its SHA-256,
    *secret_digest*, is stored. *scopes* say what it may do. *language_models* are the names of those that it may use;
    empty is all that are on offer to the owner. With a *scenario* its instructions and window policy hold for all
    requests; *is_bound* stays when that scenario is deleted, and then the key opens nothing. It is over from *ends_at*
    on, or once it was revoked. *last_used_at* is right to a minute.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys", verbose_name=_("owner")
    )
    name = NameField(_("name"), max_length=80)
    public_part = models.CharField(max_length=16, unique=True, editable=False)
    secret_digest = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(models.CharField(max_length=10, choices=ApiScope), verbose_name=_("scopes"))
    scenario = models.ForeignKey(
        "conversations.Scenario",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("scenario"),
    )
    is_bound = models.BooleanField(default=False)
    language_models = ArrayField(
        models.CharField(max_length=200), default=list, blank=True, verbose_name=_("language models")
    )
    requests_per_minute = models.PositiveIntegerField(_("requests per minute"), null=True, blank=True)
    money_per_day_usd = models.DecimalField(
        _("US dollars per day"), max_digits=10, decimal_places=2, null=True, blank=True
    )
    money_per_month_usd = models.DecimalField(
        _("US dollars per month"), max_digits=10, decimal_places=2, null=True, blank=True
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ends_at = models.DateTimeField(_("ends at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["owner", "-id"], name="api_key_of_owner")]

    def __str__(self) -> str:
        """Its number, not its name: a person typed that."""
        return gettext("API key %(id)s") % {"id": self.pk}

    @property
    def scope_labels(self) -> list[str]:
        """What it may do, for people."""
        return [str(ApiScope(scope).label) for scope in self.scopes]

    @property
    def beginning(self) -> str:
        """The part of its text that is no secret, by which its owner tells it from others."""
        return f"wsk_{self.public_part}_…"
