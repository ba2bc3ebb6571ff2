from __future__ import annotations

from django.db import models


class PathChange(models.Model):
    """The active path of a conversation has changed from *position* on, and its index of messages has not yet.

    Stored in the transaction of the change, deleted in the one that indexes it. Rows are only added, so those who write
    messages never wait for each other or for the index. A row may outlive its conversation for a moment: the database
    does not check it, or storing the end of a reply could fail the deletion of an account.
    """

    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    position = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.position}"
