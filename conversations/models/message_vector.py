from __future__ import annotations

from django.db import models
from pgvector.django import HalfVectorField


class MessageVector(models.Model):
    """What a `MessagePassage` means, as a vector of length 1 from the embeddings model that the index names.

    Without an approximate index: a look-up reads the vectors of one conversation, and exactly.
    """

    pk = models.CompositePrimaryKey("conversation", "ordinal")
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    ordinal = models.PositiveIntegerField()
    embedding = HalfVectorField()

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.ordinal}"
