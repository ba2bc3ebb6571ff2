"""The versions of a message: what was said in its place, before it and after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from conversations.models import Message


@dataclass(frozen=True, slots=True)
class Versions:
    """Which of the versions a message is: *number* of *count*, the oldest is 1. *previous* and *next* are ids."""

    number: int
    count: int
    previous: int | None
    next: int | None


def versions_of(messages: Collection[Message]) -> dict[int, Versions]:
    """Return, by id, the versions of those *messages* of one conversation that have others. One statement for all."""
    if not messages:
        return {}
    siblings: dict[int | None, list[int]] = defaultdict(list)
    for pk, parent_id in _siblings(messages).order_by("pk").values_list("pk", "parent_id"):
        siblings[parent_id].append(pk)
    return {
        message.pk: _versions(message.pk, siblings[message.parent_id])
        for message in messages
        if message.step_of_id is None and len(siblings[message.parent_id]) > 1
    }


def _siblings(messages: Collection[Message]) -> QuerySet[Message]:
    followed = {message.parent_id for message in messages}
    same_place = Q(parent__in=followed - {None})
    if None in followed:
        same_place |= Q(parent=None, conversation=next(iter(messages)).conversation_id)
    return Message.objects.filter(same_place, step_of=None)


def _versions(pk: int, siblings: list[int]) -> Versions:
    index = siblings.index(pk)
    return Versions(
        number=index + 1,
        count=len(siblings),
        previous=siblings[index - 1] if index else None,
        next=siblings[index + 1] if index + 1 < len(siblings) else None,
    )
