"""Ratings: what the owner of a conversation thinks of one of its replies."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

MOST_REMARK_CHARACTERS = 2_000


class Verdict(models.TextChoices):
    GOOD = "good", _("Good")
    BAD = "bad", _("Bad")


class Rating(models.Model):
    """The owner's *verdict* on *reply*, and a *remark* that may be blank. It can be changed and removed at any time.

    It belongs to the reply, whose requests have the record of what the language model saw. The remark is content: it is
    shown in a reading, and in the owner's export.
    """

    reply = models.OneToOneField(
        "conversations.Message",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="rating",
        verbose_name=_("reply"),
    )
    verdict = models.CharField(_("verdict"), max_length=4, choices=Verdict)
    remark = models.TextField(_("remark"), blank=True)
    rated_at = models.DateTimeField(_("rated at"))

    class Meta:
        verbose_name = _("rating")
        verbose_name_plural = _("ratings")
        indexes = [models.Index(fields=["verdict"], name="rating_verdict")]

    def __str__(self) -> str:
        """Its number, not its words: the admin may write it also for who may not read them."""
        return gettext("rating of message %(id)s") % {"id": self.pk}
