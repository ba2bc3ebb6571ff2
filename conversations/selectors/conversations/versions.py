"""The versions of a message: those with the same parent, made by editing or regenerating."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

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
    found = _siblings(conversation_id, set(parents.values())).order_by("pk")
    for pk, parent_id, *models in found.values_list("pk", "parent_id", "run__language_model", "copied_model"):
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


def _siblings(conversation_id: int, parents: set[int | None]) -> QuerySet[Message]:
    same_parent = Q(parent__in=parents - {None})
    if None in parents:
        same_parent |= Q(parent=None, conversation=conversation_id)
    return Message.objects.filter(same_parent, step_of=None)


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
