"""Summaries: the versions of what is kept of messages that have left the window."""

from __future__ import annotations

from django.db import models


class Summary(models.Model):
    """One version of a conversation's summary, by its *number* from 1. Its text never changes.

    It stands for *messages* messages of the active path before position *covers_before*, the last of which is
    *last_message*: while that is on the path, so is all before it. *tokens* are those of its message in a prompt,
    beyond the chat format's overhead, in *encoding*. A *language_model* wrote it, or its owner, who *edited* the one
    before. It is *stale* once a message that it stands for is excluded, and *undone* once its owner has gone back to
    the one before: neither is ever sent or gone on from again.
    """

    conversation = models.ForeignKey("conversations.Conversation", on_delete=models.CASCADE, related_name="summaries")
    number = models.PositiveIntegerField()
    text = models.TextField()
    tokens = models.PositiveIntegerField()
    encoding = models.CharField(max_length=50)
    covers_before = models.PositiveIntegerField()
    messages = models.PositiveIntegerField()
    last_message = models.ForeignKey("conversations.Message", on_delete=models.CASCADE, related_name="+")
    language_model = models.CharField(max_length=200, blank=True)
    edited = models.BooleanField(default=False)
    stale = models.BooleanField(default=False)
    undone = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["conversation", "number"], name="summary_number")]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.number}"
