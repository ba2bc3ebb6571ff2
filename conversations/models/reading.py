"""Readings: on record who read another user's content, why, and which pages."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Reading(models.Model):
    """A reviewer's reason to read another user's content, and for how long it holds.

    Of one conversation, or of none where all were searched for words. Never edited, never deleted: the database sees to
    it. Who was read, and by whom, is kept as text where the account or the conversation is gone.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="readings",
        verbose_name=_("reviewer"),
    )
    reviewer_email = models.EmailField(_("reviewer"))
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.SET_NULL,
        null=True,
        related_name="readings",
        verbose_name=_("conversation"),
    )
    conversation_public_id = models.UUIDField(null=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("owner")
    )
    reason = models.CharField(_("reason"), max_length=500)
    began_at = models.DateTimeField(_("began at"), auto_now_add=True)
    ends_at = models.DateTimeField(_("ends at"))

    own_hits: list[SearchHit]  # one owner's, where `selectors.review.readings.readings_about` has put them

    class Meta:
        verbose_name = _("reading")
        verbose_name_plural = _("readings")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["reviewer", "conversation", "-ends_at"], name="reading_that_holds"),
            models.Index(fields=["owner", "-id"], name="reading_of_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer_email}, {self.began_at:%Y-%m-%d %H:%M} UTC"


class ReadWhat(models.TextChoices):
    THREAD = "thread", pgettext_lazy("read", "the thread")
    MESSAGE = "message", pgettext_lazy("read", "a message")
    CALL = "call", pgettext_lazy("read", "a tool call")
    PROMPT = "prompt", pgettext_lazy("read", "a request as it was sent")
    DOCUMENT = "document", pgettext_lazy("read", "the name of a document")
    PICTURE = "picture", pgettext_lazy("read", "a picture")
    SEARCH = "search", pgettext_lazy("read", "hits of a message search")
    EXPORT = "export", pgettext_lazy("read", "an export")


class ReadingStep(models.Model):
    """One page of words that was opened by a reading: *detail* says which, such as the positions of the messages."""

    reading = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="steps")
    what = models.CharField(max_length=10, choices=ReadWhat)
    detail = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.what} {self.detail}".strip()


class SearchHit(models.Model):
    """A conversation that a search for words led its reviewer to, and how often they stand in it."""

    reading = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="hits")
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    conversation_public_id = models.UUIDField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    count = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["reading", "conversation_public_id"], name="search_hit_one_each"),
        ]
        indexes = [models.Index(fields=["owner", "-reading"], name="search_hit_of_owner")]

    def __str__(self) -> str:
        return f"{self.conversation_public_id}: {self.count}"
