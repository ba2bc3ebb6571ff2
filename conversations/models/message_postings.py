from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

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

    *owner* is the conversation's. One row of each lexeme of an owner *is_listed*, so that what they search for is
    compared with each of their different words once. Two may be at times, when two processes index at once.
    """

    pk = models.CompositePrimaryKey("conversation", "lexeme", "chunk")
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    # Not checked: it is the conversation's, which is. So indexing never waits for work on the user's row.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    lexeme = models.CharField(max_length=400, db_collation="C")
    chunk = models.PositiveIntegerField()
    entries = models.BinaryField()
    earlier = models.PositiveIntegerField()
    is_listed = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            # Where a word is in all conversations of an owner. A key that is there often is stored once.
            models.Index(fields=["owner", "lexeme"], name="message_postings_owner"),
            # The different words of an owner.
            models.Index(fields=["owner", "lexeme"], condition=Q(is_listed=True), name="message_postings_listed"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.lexeme} ({self.chunk})"
