from __future__ import annotations

from django.db import models

CHUNK_PASSAGES = 2_048
EVERY_PASSAGE = ""  # stands in place of a lexeme
BEGINS_MESSAGE, BEGINS_SESSION = 1, 2


class MessagePostings(models.Model):
    """The passages of a conversation that have a *lexeme*, among those of one *chunk* of `CHUNK_PASSAGES` ordinals.

    *entries* holds four bytes for each of them, in the order of their ordinals: the ordinal within the chunk (unsigned,
    16 bits, little-endian), how often the passage has the lexeme, and how many words it has (8 bits each).

    All passages have the lexeme `EVERY_PASSAGE`; their entries there hold, in place of how often, whether they are the
    first of a message or of a session. So a look-up knows the shape of the whole conversation from a few rows.

    *earlier* counts the entries of the lexeme in the chunks before, so its last row says how many passages have it.
    """

    pk = models.CompositePrimaryKey("conversation", "lexeme", "chunk")
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    lexeme = models.CharField(max_length=400, db_collation="C")
    chunk = models.PositiveIntegerField()
    entries = models.BinaryField()
    earlier = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.lexeme} ({self.chunk})"
