from __future__ import annotations

from django.db import models


class MessageIndex(models.Model):
    """How far the messages of a conversation are indexed.

    Everything on the active path before *next_position* is, as passages with the ordinals 0 to *passages* - 1.
    *encoding* is that of the passages' tokens, *search_language* that of their lexemes.

    The first *embedded_passages* of them have their vectors of the *embedding_model*, unless they may not be sent. The
    next ones are asked for after *embed_after*: a process is at it until then, or it has failed *embed_attempt* times.
    """

    conversation = models.OneToOneField(
        "conversations.Conversation", on_delete=models.CASCADE, primary_key=True, related_name="message_index"
    )
    next_position = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0)
    encoding = models.CharField(max_length=50)
    search_language = models.CharField(max_length=63)
    embedding_model = models.CharField(max_length=200, blank=True)
    embedded_passages = models.PositiveIntegerField(default=0)
    embed_after = models.DateTimeField(null=True)
    embed_attempt = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(
                models.F("embed_after").asc(nulls_first=True),
                condition=models.Q(embedded_passages__lt=models.F("passages")),
                name="message_index_to_embed",
            )
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.passages}"
