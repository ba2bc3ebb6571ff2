from __future__ import annotations

from django.db import models


class MessageIndex(models.Model):
    """How far the messages of a conversation are indexed.

    Everything on the active path before *next_position* is, as passages with the ordinals 0 to *passages* - 1.
    *encoding* is that of the passages' tokens, *search_language* that of their lexemes.
    """

    conversation = models.OneToOneField(
        "conversations.Conversation", on_delete=models.CASCADE, primary_key=True, related_name="message_index"
    )
    next_position = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0)
    encoding = models.CharField(max_length=50)
    search_language = models.CharField(max_length=63)

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.passages}"
