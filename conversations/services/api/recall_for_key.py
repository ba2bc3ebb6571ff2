"""Find for a program what recall would find for a question, before it is asked.

A key with a scenario recalls nothing of other conversations.
"""

from __future__ import annotations

from dataclasses import dataclass

from conversations.core.api.recall_request import RecallRequest
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.models import ApiKey, Conversation
from conversations.services.grounding.recall import recall_for_draft
from conversations.services.language_models.model_context import conversation_context
from conversations.services.windows.build_window import build_window, draft_message

from .key_access import find_conversation_of_key, scenario_of_key


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of an older message, and the conversation that it is in."""

    conversation: Conversation
    passage: RecalledPassage


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """What recall finds, best first; *error* is the code of why nothing could be found."""

    passages: list[FoundPassage]
    has_more: bool
    error: str = ""


def recall_for_key(key: ApiKey, request: RecallRequest) -> FoundPassages:
    """Find what recall would find if *request* were asked now. Raises `ConversationNotFound`, or a `PromptError`."""
    scenario_of_key(key)
    conversation = find_conversation_of_key(key, request.conversation)
    context, head = conversation_context(conversation), conversation.head
    draft = draft_message(request.question, position=head.position + 1 if head else 0, context=context)
    record = build_window(conversation, draft).record
    if not record.recall.limit_tokens:
        return FoundPassages([], has_more=False)
    found = recall_for_draft(
        conversation,
        request.question,
        before_position=record.first_position,
        limit_tokens=record.recall.limit_tokens,
    )
    others = Conversation.objects.in_bulk({each.conversation for each in found.passages if each.conversation})
    here = [
        FoundPassage(there, each)
        for each in found.passages
        if (there := others.get(each.conversation) if each.conversation else conversation)
    ]
    return FoundPassages(here[: request.limit], len(here) > request.limit, found.error)
