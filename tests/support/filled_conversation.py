"""Store a conversation of many messages at once."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from random import Random

from conversations.models import Message

BEGAN = dt.datetime(2026, 9, 12, 8, tzinfo=dt.UTC)


def fill_conversation(conversation, count, *, random=None, with_steps=False):
    """Store *count* rows that alternate between the user and replies, some replies with steps before them."""
    random = random or Random(0)
    rows: list[Message] = []
    while len(rows) < count:
        rows.append(row(conversation, len(rows), "user", random))
        steps = random.choice([0, 0, 2]) if with_steps else 0
        question = len(rows) - 1
        for _ in range(steps):
            rows.append(row(conversation, len(rows), "assistant", random))
        reply = row(conversation, len(rows), "assistant", random)
        for step in rows[question + 1 :]:
            step.step_of = reply
        rows.append(reply)
    for before, after in pairwise(rows):
        after.parent = before
    for each in reversed(rows):  # the step of a reply names it
        each.pk = 10_000 + each.position
    Message.objects.bulk_create(sorted(rows, key=lambda each: each.step_of is not None))
    for each in rows:
        each.created_at = BEGAN + dt.timedelta(minutes=each.position)
    Message.objects.bulk_update(rows, ["created_at"])
    return list(conversation.messages.order_by("position"))


def row(conversation, position, role, random):
    tokens = random.choice([0, 3, 40, 9_000])
    pinned, excluded = random.random() < 0.05, random.random() < 0.05
    return Message(
        conversation=conversation,
        position=position,
        role=role,
        content_tokens=tokens,
        encoding="o200k_base",
        pinned=pinned,
        excluded=excluded,
    )
