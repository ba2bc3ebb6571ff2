"""Conversations, replies and ledger rows as they lie in the database, for the admin's tests."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.budget import LanguageModel
from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import SlidingWindow
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Conversation, Message, Scenario
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums

LANGUAGE_MODEL = LanguageModel("letters", context_window_tokens=600, reply_reserve_tokens=100, encoding="letters")


def make_person(name: str, **fields: Any) -> User:
    """Store a user without a password: hashing one takes longer than most of these tests."""
    return User.objects.create_user(f"{name}@example.org", name=name.title(), **fields)


def make_scenario(name: str = "Plain", **fields: Any) -> Scenario:
    return Scenario.objects.get_or_create(name=name, defaults=fields)[0]


def make_conversation(owner: User, *, title: str = "A talk", turns: int = 1, **fields: Any) -> Conversation:
    """Store a conversation of *turns* questions with their replies, each reply with its completion."""
    fields.setdefault("last_active_at", timezone.now())
    conversation = Conversation.objects.create(owner=owner, scenario=make_scenario(), title=title, **fields)
    for turn in range(turns):
        say(conversation, "user", f"question {turn + 1}")
        make_completion(owner, reply=say(conversation, "assistant", f"answer {turn + 1}"))
    return conversation


def say(conversation: Conversation, role: str, content: str, **fields: Any) -> Message:
    """Store the next message of the active path."""
    head = conversation.head
    message = Message.objects.create(
        conversation=conversation,
        parent=head,
        position=head.position + 1 if head else 0,
        role=role,
        content=content,
        content_tokens=len(content),
        encoding="letters",
        **fields,
    )
    conversation.head = message
    conversation.save(update_fields=["head"])
    return message


def make_completion(
    user: User | None, *, reply: Message | None = None, at: dt.datetime | None = None, **fields: Any
) -> Completion:
    """Store a settled row of the ledger; its cost is 0.00125 US dollars unless *fields* say otherwise.

    The ledger's sums are brought up to it.
    """
    values: dict[str, Any] = {
        "language_model": "letters",
        "window": {},
        "estimated_input_tokens": 100,
        "input_tokens": 103,
        "cached_input_tokens": 40,
        "output_tokens": 7,
        "cost_usd": Decimal("0.00125"),
        "ended_at": timezone.now(),
        "conversation": reply.conversation if reply else None,
    }
    completion = Completion.objects.create(user=user, reply=reply, **values | fields)
    if at is not None:
        Completion.objects.filter(pk=completion.pk).update(created_at=at)
        completion.refresh_from_db()
    recompute_ledger_sums()
    return completion


def make_record() -> WindowRecord:
    """Return the record of a window with every kind of decision in it; one letter is one token."""

    def message(position: int, role: str, content: str, **fields: Any) -> HistoryMessage:
        return HistoryMessage(position, PromptMessage(role, content), len(content), id=1000 + position, **fields)

    turn = Turn(
        newest=message(9, "user", "n" * 20),
        system_prompt="s" * 10,
        grounding=[PromptPassage("g" * 10, "near.md", 0.9), PromptPassage("h. " * 40, "far.md", 0.5)],
        pins=[message(1, "user", "p" * 6)],
    )
    older = [
        message(8, "assistant", "a" * 12),
        message(7, "user", "x" * 5, excluded=True),
        message(6, "user", "b" * 8),
        message(5, "assistant", ""),
        message(4, "user", "c" * 300),
    ]
    policy = SlidingWindow(grounding_share=0.5)
    return compute_window(turn, older, language_model=LANGUAGE_MODEL, policy=policy, count_text=len).record
