"""Conversations of any length that end with the same messages. Import it when Django is set up."""

from __future__ import annotations

import itertools
import uuid

from django.db import connection
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.history import HistoryMessage
from conversations.core.window import Window
from conversations.models import Conversation, Message
from conversations.services.build_window import build_window, draft_message
from conversations.services.conversations import start_conversation
from conversations.services.language import language_of
from tests.rendering.replies import REPLIES

ANSWERS = ["\n".join(pair) for pair in itertools.combinations(REPLIES, 2)]
QUESTIONS = [f"And what about point {number}, if the first two are settled?" for number in range(len(ANSWERS))]
CONTENTS = [content for turn in zip(ANSWERS, QUESTIONS, strict=True) for content in turn]  # newest first
ROWS_AT_ONCE = 5_000
ONE_QUERY = """
SELECT id, position, role, content, tool_calls, tool_call_id, content_tokens, encoding, excluded
FROM conversations_message WHERE conversation_id = %s AND active AND position < %s
ORDER BY position DESC LIMIT %s
"""


class LongConversation:
    """A stored conversation of *size* messages, about to be asked one more question."""

    def __init__(self, user: User, size: int) -> None:
        self._conversation = start_conversation(user=user, public_id=uuid.uuid4())
        _fill(self._conversation, size)
        language = language_of(self._conversation.scenario)
        self._newest: HistoryMessage = draft_message("And what follows from that?", position=size, language=language)

    def window(self) -> Window:
        return build_window(self._conversation, self._newest)

    def rows(self, count: int) -> list[tuple]:
        """Return the newest *count* messages as the driver does, with one statement that Django does not write."""
        with connection.cursor() as cursor:
            cursor.execute(ONE_QUERY, [self._conversation.pk, self._newest.position, count])
            return cursor.fetchall()


def make_conversations(sizes: tuple[int, ...]) -> dict[int, LongConversation]:
    """Return a conversation of each size, by its size, in a database that has had time to tidy up."""
    user = User.objects.create_user("window@example.org")
    conversations = {size: LongConversation(user, size) for size in sizes}
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE conversations_message")
    return conversations


def _fill(conversation: Conversation, size: int) -> None:
    """Store the path; the number of a message counts from the end, so that all conversations end the same."""
    language = language_of(conversation.scenario)
    tokens = [language.count_text(content) for content in CONTENTS]
    newest_id = Message.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    first_id = newest_id + 1
    rows = (
        Message(
            id=first_id + position,
            parent_id=first_id + position - 1 if position else None,
            conversation=conversation,
            position=position,
            role="assistant" if position % 2 else "user",
            content=CONTENTS[(size - 1 - position) % len(CONTENTS)],
            content_tokens=tokens[(size - 1 - position) % len(CONTENTS)],
            encoding=language.language_model.encoding,
            created_at=timezone.now(),
        )
        for position in range(size)
    )
    Message.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
