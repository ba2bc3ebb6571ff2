from __future__ import annotations

from django.contrib.postgres.search import SearchVectorField
from django.db import models


class MessagePassage(models.Model):
    """A piece of an older message that can be recalled: the characters *start* to *end* of its content.

    *ordinal* counts the passages along the active path, without gaps; *position* is the message's. *number* is its
    place among the *passages_in_message*, *place* that of its message in its *session*, since the last greeting. All
    count from 0. *search* holds the lexemes, *words* says how many words they stand for.
    *first_person_words* and *is_question* are those of the whole message.

    The columns that begin with *until* are sums over this passage and all before it: those of its session, those of the
    conversation, and those of the two roles. So an index can be cut off anywhere, and goes on from its last row.
    """

    pk = models.CompositePrimaryKey("conversation", "ordinal")
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    message = models.ForeignKey("conversations.Message", on_delete=models.CASCADE, related_name="+")
    ordinal = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    at = models.DateTimeField()
    number = models.PositiveIntegerField()
    passages_in_message = models.PositiveIntegerField()
    session = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    words = models.PositiveIntegerField()
    first_person_words = models.PositiveIntegerField()
    is_question = models.BooleanField()
    search = SearchVectorField()
    until_session_tokens = models.PositiveIntegerField()
    until_session_words = models.PositiveIntegerField()
    until_words = models.PositiveBigIntegerField()
    until_user_messages = models.PositiveIntegerField()
    until_user_tokens = models.PositiveBigIntegerField()
    until_assistant_messages = models.PositiveIntegerField()
    until_assistant_tokens = models.PositiveBigIntegerField()

    class Meta:
        indexes = [
            # Where the passages from a position on begin.
            models.Index(fields=["conversation", "position"], name="message_passage_position"),
            # What was said on a day that a question names.
            models.Index(fields=["conversation", "at"], name="message_passage_at"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.ordinal}"
