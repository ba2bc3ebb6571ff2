"""Legal holds: an admin's order that a conversation, or all of a user's, is not permanently deleted."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class LegalHold(models.Model):
    """A hold on a *conversation* or on all of the *user*'s, in force until it is lifted.

    Who placed and who lifted it, when and why stay on record, as text where the account or the conversation is gone:
    the database refuses other changes, and a trigger refuses to delete what is held.
    """

    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.SET_NULL,
        null=True,
        related_name="legal_holds",
        verbose_name=_("conversation"),
    )
    conversation_public_id = models.UUIDField(null=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="legal_holds",
        verbose_name=_("user"),
    )
    is_of_user = models.BooleanField(default=False, editable=False)
    reason = models.CharField(_("reason"), max_length=500)
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("placed by")
    )
    placed_by_email = models.EmailField(_("placed by"))
    placed_at = models.DateTimeField(_("placed at"), auto_now_add=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("lifted by")
    )
    lifted_by_email = models.EmailField(_("lifted by"), blank=True, default="", db_default="")
    lifted_at = models.DateTimeField(_("lifted at"), null=True)

    class Meta:
        verbose_name = _("legal hold")
        verbose_name_plural = _("legal holds")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["conversation"], condition=Q(lifted_at=None), name="hold_on_conversation"),
            models.Index(fields=["user"], condition=Q(lifted_at=None), name="hold_on_user"),
        ]

    def __str__(self) -> str:
        return gettext("Legal hold %(id)s") % {"id": self.pk}
