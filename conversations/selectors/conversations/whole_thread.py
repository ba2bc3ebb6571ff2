"""The whole thread of a conversation, page by page: as pages show it, and never all of it in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conversations.models import Conversation, Message

from .thread import ThreadMessage, thread_page_after
from .tool_calls import CallRow

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


def written_text(message: ThreadMessage) -> str:
    """Return what a person wrote, or the language model in all steps of a reply, as it was written."""
    texts = (*(step.text for step in message.steps.stored), message.content)
    return "\n\n".join(text for text in texts if text.strip())


def written_reasoning(message: ThreadMessage) -> str:
    """Return what pages show of what was thought in all steps of a reply."""
    thoughts = (*(step.reasoning for step in message.steps.stored), message.reasoning)
    return "\n\n".join(thought.text for thought in thoughts if thought)


def reasoning_seconds(message: ThreadMessage) -> float:
    thoughts = (*(step.reasoning for step in message.steps.stored), message.reasoning)
    return sum(thought.seconds for thought in thoughts if thought)


def calls_of(message: ThreadMessage) -> list[CallRow]:
    return [*(call for step in message.steps.stored for call in step.calls), *message.steps.calls]
