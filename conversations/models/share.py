"""Shares: a copy of a conversation up to a message, which others may read by a link."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.names import NameField

from .message import MessageState
from .revocable import Revocable


class Share(Revocable, models.Model):
    """A snapshot of *conversation*: what was chosen of it is in `SharedMessage`, and stays as it is.

    Who has the token of its link reads it. It is found by *token_digest*, the SHA-256 of the token in hexadecimal;
    *sealed_token* is the token encrypted, so that its owner can copy the link again. It is over from *ends_at* on, or
    once it was revoked, and can't be read while its conversation is deleted or its owner is not admitted.

    *title* and *owner_name*, which may be blank, are shown. *shows_…* say what was chosen. *answered_by* names the
    language models of its replies, *window_tokens* is the context window of the last of them, where windows are shown.
    *opened* counts how often its first page was opened by others; of who opened it nothing is kept. *size_bytes* is
    what its text takes as the database keeps it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="shares", verbose_name=_("conversation")
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares", verbose_name=_("owner")
    )
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    sealed_token = models.TextField(editable=False)
    title = NameField(_("title"), max_length=200, blank=True)
    owner_name = NameField(max_length=100, blank=True)
    shows_windows = models.BooleanField(_("window records"), default=False)
    shows_system_prompt = models.BooleanField(_("system prompt"), default=False)
    shows_documents = models.BooleanField(_("words of documents"), default=False)
    shows_pictures = models.BooleanField(_("pictures"), default=False)
    shows_tools = models.BooleanField(_("tool calls"), default=False)
    shows_reasoning = models.BooleanField(_("thinking"), default=False)
    message_count = models.PositiveIntegerField(_("messages"))
    size_bytes = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)
    last_said_at = models.DateTimeField()
    answered_by = models.JSONField(default=list)
    window_tokens = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ends_at = models.DateTimeField(_("ends at"), null=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True)
    opened = models.PositiveIntegerField(_("opened"), default=0, db_default=0)

    class Meta:
        verbose_name = _("share")
        verbose_name_plural = _("shares")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["owner", "-id"], name="share_of_owner")]

    def __str__(self) -> str:
        """Its number, not its title: the admin writes it on every page, also for who may not read it."""
        return gettext("Share %(id)s") % {"id": self.pk}


class SharedMessage(models.Model):
    """A message of a share, by its *number* from 1: words and numbers that were chosen, and nothing else.

    A reply is one message with its steps: *content* is what was said in all of them. *said_at* is when it was said.
    *calls*, *reasoning*, *sources*, *picture_ids* and *window* are empty where they were not chosen;
    *hidden_pictures* counts those that are not shown. *window* has the record as `core.window.shared_window` makes it,
    and the tokens that were reported.
    *content_tokens* are counted in *encoding*, as a message of a conversation.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="messages")
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    made_by = models.CharField(max_length=200, blank=True)
    content = models.TextField(blank=True)
    content_tokens = models.PositiveIntegerField(default=0)
    encoding = models.CharField(max_length=50)
    state = models.CharField(max_length=12, choices=MessageState, default=MessageState.COMPLETE)
    finish_reason = models.CharField(max_length=50, blank=True)
    said_at = models.DateTimeField()
    reasoning = models.TextField(blank=True)
    reasoning_seconds = models.FloatField(default=0)
    calls = models.JSONField(default=list)
    sources = models.JSONField(default=list)
    picture_ids = ArrayField(models.BigIntegerField(), default=list)
    hidden_pictures = models.PositiveIntegerField(default=0)
    window = models.JSONField(null=True)

    class Meta:
        verbose_name = "shared message"
        constraints = [models.UniqueConstraint(fields=["share", "number"], name="shared_message_number")]
        indexes = [
            # In whose passages a document is that is being deleted.
            GinIndex(
                fields=["sources"],
                opclasses=["jsonb_path_ops"],
                condition=~Q(sources=[]),
                name="shared_message_sources",
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.number} of share {self.share_id}"
