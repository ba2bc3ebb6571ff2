"""A conversation in which something can be recalled, and what is found in it."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone

from conversations.grounding.recall.recall_passages import recall_passages
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.portability.chat_history import ChatHistory

from .people import make_user

FILLER = "We talked about {} gardens, {} roofs and {} rivers in the evening."
SECRET = "My sister Ada lives in Bergen and keeps the lighthouse."


def talk(*contents, person="alice"):
    messages = [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]
    conversation = ChatHistory.from_openai(user=make_user(person), messages=messages).conversation
    index_conversation(conversation.pk)
    return conversation


def find_recalled(conversation, question="Where does my sister Ada keep the lighthouse?", **named):
    named.setdefault("before_position", 10_000)
    return recall_passages(conversation.pk, question, **{"now": timezone.now(), **named})


def talk_of(user, *contents, title="Lighthouses", days_ago=0):
    messages = [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]
    conversation = ChatHistory.from_openai(user=user, messages=messages).conversation
    conversation.title, conversation.last_active_at = title, timezone.now() - dt.timedelta(days=days_ago)
    conversation.save()
    index_conversation(conversation.pk)
    return conversation


def find_in_others(conversation, **named):
    return find_recalled(conversation, others_of=conversation.owner_id, **named)
