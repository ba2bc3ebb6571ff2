"""The whole thread of a conversation, page by page: as pages show it, and never all of it in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conversations.models import Conversation, Message

from .thread import ThreadMessage, thread_page_after

AT_ONCE = 100


def whole_thread(conversation: Conversation, *, last_position: int | None = None) -> Iterator[list[ThreadMessage]]:
    """Yield the messages of the active path, oldest first, some at a time; none behind *last_position*."""
    position = -1
    while messages := thread_page_after(conversation, position, limit=AT_ONCE).messages:
        kept = [each for each in messages if last_position is None or each.position <= last_position]
        if kept:
            yield kept
        if len(kept) < len(messages):
            return
        position = messages[-1].position


def sources_of_replies(messages: Sequence[ThreadMessage]) -> Mapping[int, tuple[str, ...]]:
    """Return the names of what each reply was sent passages of, in the order by which it cites them."""
    questions = {each.pk: each.parent_id for each in messages if each.grounding.included and each.parent_id}
    stored = dict(Message.objects.filter(pk__in=questions.values()).values_list("pk", "grounding")) if questions else {}
    return {
        each.pk: tuple(_source(stored.get(questions[each.pk], []), sent.number) for sent in each.grounding.included)
        for each in messages
        if each.pk in questions
    }


def _source(stored: Sequence[Mapping[str, str]], number: int) -> str:
    return stored[number - 1].get("source", "") if number <= len(stored) else ""
