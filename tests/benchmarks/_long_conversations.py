"""Conversations of any length that end with the same messages. Import it when Django is set up."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable
from dataclasses import replace

from django.db import connection
from django.db.models import Max

from chatsite.accounts.models import User
from conversations.core.window.compute_window import Window
from conversations.core.window.history import HistoryMessage
from conversations.models import Conversation, Message, Scenario
from conversations.services.conversations.conversations import start_conversation
from conversations.services.language_models.effective_policy import scenario_policy
from conversations.services.language_models.model_context import ModelContext, model_context
from conversations.services.windows.build_window import build_window, draft_message
from tests.benchmarks._peers import Asked
from tests.rendering.replies import REPLIES

ANSWERS = ["\n".join(pair) for pair in itertools.combinations(REPLIES, 2)]
QUESTIONS = [f"And what about point {number}, if the first two are settled?" for number in range(len(ANSWERS))]
CONTENTS = [content for turn in zip(ANSWERS, QUESTIONS, strict=True) for content in turn]  # newest first
QUESTION = "And what follows from that?"
SYSTEM_PROMPT = "You are a patient teacher. Explain one thing at a time, and say what you are not sure of."
ONE_QUERY = """
SELECT id, position, role, content, tool_calls, tool_call_id, content_tokens, encoding, excluded
FROM conversations_message WHERE conversation_id = %s AND active AND position < %s
ORDER BY position DESC LIMIT %s
"""
# Written by PostgreSQL itself, from each different content once: a million rows from Python would take many minutes.
FILL = """
INSERT INTO conversations_message (
    id, parent_id, conversation_id, position, active, role, content, content_tokens, encoding, grounding, tool_calls,
    tool_call_id, grounding_tokens, pinned, excluded, state, error_code, error_params, created_at
)
SELECT %(before_first)s + 1 + position, CASE WHEN position > 0 THEN %(before_first)s + position END, %(conversation)s,
       position, TRUE, CASE position %% 2 WHEN 0 THEN 'user' ELSE 'assistant' END, content, tokens, %(encoding)s,
       '[]', '[]', '', 0, FALSE, FALSE, 'complete', '', '{}', now()
FROM generate_series(0, %(size)s - 1) AS path (position)
JOIN unnest(%(contents)s::text[], %(tokens)s::int[]) WITH ORDINALITY AS said (content, tokens, number)
  ON number = 1 + (%(size)s - 1 - position) %% cardinality(%(contents)s::text[])
"""


class LongConversation:
    """A stored conversation of *size* messages that has a window already, about to be asked one more question."""

    def __init__(self, user: User, size: int) -> None:
        self._size = size
        self._conversation = start_conversation(user=user, public_id=uuid.uuid4())
        self._context = model_context(self._conversation.scenario)
        self._newest: HistoryMessage = draft_message(QUESTION, position=size, context=self._context)
        _fill(self._conversation, size, self._context)

    @property
    def id(self) -> int:
        return self._conversation.pk

    @property
    def context(self) -> ModelContext:
        return self._context

    def offer_tools(self, *names: str) -> None:
        """Let requests go with these tools: without any, no calls are in them."""
        scenario = Scenario.objects.create(name=f"With {names}", tools=list(names))
        self._conversation.scenario = scenario
        self._conversation.save(update_fields=["scenario"])

    def settle(self) -> None:
        """Keep the window's beginning for the next one, as the making of a reply does."""
        self._conversation.anchor_position = self.window().record.first_position
        self._conversation.save(update_fields=["anchor_position"])

    def window(self) -> Window:
        return build_window(self._conversation, self._newest)

    def fullest_window(self) -> Window:
        """Return the window without steps, full to the brim: the one that the peers make."""
        policy = replace(scenario_policy(self._conversation.scenario), low_water_share=1.0)
        return build_window(self._conversation, self._newest, policy=policy)

    def rows(self, count: int) -> list[tuple]:
        """Return the newest *count* messages as the driver does, with one statement that Django does not write."""
        with connection.cursor() as cursor:
            cursor.execute(ONE_QUERY, [self._conversation.pk, self._newest.position, count])
            return cursor.fetchall()

    def asked(self) -> Asked:
        """Return the same conversation with the same question, for those who have it in memory."""
        roles = ("user", "assistant")
        stored = [(roles[position % 2], _content(self._size, position)) for position in range(self._size)]
        messages = [*stored, ("user", QUESTION)]
        return Asked(SYSTEM_PROMPT, messages, self._context.language_model, self._context.count_text)


def make_conversations(sizes: tuple[int, ...]) -> dict[int, LongConversation]:
    """Return a conversation of each size, by its size, in a database that has had time to tidy up."""
    conversations = {size: make_long_conversation(size) for size in sizes}
    settle_all(conversations.values())
    return conversations


def settle_all(conversations: Iterable[LongConversation]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE conversations_message")
    for conversation in conversations:
        conversation.settle()


def make_long_conversation(size: int) -> LongConversation:
    Scenario.objects.get_or_create(name="Lessons", system_prompt=SYSTEM_PROMPT, offered=True, is_default=True)
    user, _ = User.objects.get_or_create(email="window@example.org")
    return LongConversation(user, size)


def _content(size: int, position: int) -> str:
    """The number of a message counts from the end, so that all conversations end the same."""
    return CONTENTS[(size - 1 - position) % len(CONTENTS)]


def _fill(conversation: Conversation, size: int, context: ModelContext) -> None:
    parameters = {
        "before_first": Message.objects.aggregate(newest=Max("pk"))["newest"] or 0,
        "conversation": conversation.pk,
        "size": size,
        "contents": CONTENTS,
        "tokens": [context.count_text(content) for content in CONTENTS],
        "encoding": context.language_model.encoding,
    }
    with connection.cursor() as cursor:
        cursor.execute(FILL, parameters)
