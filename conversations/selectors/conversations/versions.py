"""The versions of a message: those with the same parent, made by editing or regenerating."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Completion, Message


@dataclass(frozen=True, slots=True)
class Versions:
    """Which of the versions a message is: *number* of *count*, the oldest is 1. *previous* and *next* are ids.

    *previous_model* and *next_model* are the names of the language models that made these, if they are replies.
    """

    number: int
    count: int
    previous: int | None
    next: int | None
    previous_model: str = ""
    next_model: str = ""


def versions_of_messages(conversation_id: int, parents: Mapping[int, int | None]) -> dict[int, Versions]:
    """Return, by id, the versions of those messages that have others; *parents* maps each message to its parent.

    One statement for all. Steps of replies have no versions.
    """
    if not parents:
        return {}
    siblings: dict[int | None, dict[int, str]] = defaultdict(dict)
    for pk, parent_id, *models in _siblings(conversation_id, parents.values()):
        siblings[parent_id][pk] = models[0] or models[1]
    return {
        pk: _versions(pk, siblings[parent])
        for pk, parent in parents.items()
        if pk in siblings[parent] and len(siblings[parent]) > 1
    }


def model_of_version(reply: Message) -> str:
    """Return the name of the language model that made *reply*: the ledger's, and before its first request the run's."""
    last = Completion.objects.filter(reply=OuterRef("pk")).order_by("-id").values("language_model")[:1]
    made_by = Coalesce(Subquery(last), "run__language_model", "copied_model")
    return str(Message.objects.values_list(made_by, flat=True).get(pk=reply.pk))


def _siblings(conversation_id: int, parents: Collection[int | None]) -> list[tuple[Any, ...]]:
    ids = [parent for parent in parents if parent is not None]
    return _first_or_children.all(conversation_id, ids) if None in parents else _children.all(ids)


@compiled_queryset
def _children(parent_ids: list[int]) -> QuerySet[Message, tuple[Any, ...]]:
    return _columns_of(Q(parent__in=parent_ids))


@compiled_queryset
def _first_or_children(conversation_id: int, parent_ids: list[int]) -> QuerySet[Message, tuple[Any, ...]]:
    return _columns_of(Q(parent__in=parent_ids) | Q(parent=None, conversation=conversation_id))


def _columns_of(siblings: Q) -> QuerySet[Message, tuple[Any, ...]]:
    found = Message.objects.filter(siblings, step_of=None).order_by("pk")
    return found.values_list("pk", "parent_id", "run__language_model", "copied_model")


def _versions(pk: int, models: Mapping[int, str]) -> Versions:
    """Return it for one of the versions, whose *models* are given by their ids, oldest first."""
    siblings = list(models)
    index = siblings.index(pk)
    previous = siblings[index - 1] if index else None
    following = siblings[index + 1] if index + 1 < len(siblings) else None
    return Versions(
        number=index + 1,
        count=len(siblings),
        previous=previous,
        next=following,
        previous_model=models[previous] if previous else "",
        next_model=models[following] if following else "",
    )
