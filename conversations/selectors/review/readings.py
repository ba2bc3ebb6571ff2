"""Readings: who has read which conversation, when and why."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Conversation, Reading, ReadingStep, SearchHit


def reading_that_holds(reviewer: User, conversation: Conversation) -> Reading | None:
    """Return the newest reading of *conversation* by *reviewer* whose time is not over."""
    return Reading.objects.filter(reviewer=reviewer, conversation=conversation, ends_at__gt=timezone.now()).first()


def search_that_holds(reviewer: User, public_id: uuid.UUID) -> Reading | None:
    """Return the reading with that id, if it is a search of *reviewer*'s whose time is not over."""
    searches = Reading.objects.filter(reviewer=reviewer, conversation_public_id=None, ends_at__gt=timezone.now())
    return searches.filter(public_id=public_id).first()


def reason_given(reviewer: User, public_id: uuid.UUID) -> str:
    """Return the reason that *reviewer* gave for a reading of theirs; nothing if there is no such reading."""
    return Reading.objects.filter(reviewer=reviewer, public_id=public_id).values_list("reason", flat=True).first() or ""


def readings_of(conversation: Conversation) -> QuerySet[Reading]:
    """Return who has read *conversation*, or found it by its words, newest first, with all that each was shown."""
    return _readings_about(conversation=conversation).prefetch_related("steps")


def searched_words(reading: Reading) -> str:
    """Return what a search was for."""
    step: ReadingStep = reading.steps.earliest("pk")
    return step.detail


@dataclass(frozen=True, slots=True)
class OwnersPage:
    """Readings of one user's conversations, newest first; *next_before* is the id that the next page begins below.

    A search has, as its `own_hits`, those of the user's conversations that it found.
    """

    readings: Sequence[Reading]
    next_before: int | None


def readings_of_owner(owner: User, *, before: int | None, limit: int) -> OwnersPage:
    """Return the newest *limit* readings of the user's conversations, of those with an id below *before*.

    Searches of all conversations that led to one of theirs are among them.
    """
    older = Q(pk__lt=before) if before else Q()
    found = list(readings_about(owner).filter(older).order_by("-pk")[: limit + 1])
    shown = found[:limit]
    return OwnersPage(shown, shown[-1].pk if len(found) > limit else None)


def readings_about(owner: User) -> QuerySet[Reading]:
    """Return the readings of *owner*'s conversations and the searches that found one, each with what was shown."""
    hits = SearchHit.objects.filter(owner=owner).select_related("conversation")
    readings = _readings_about(owner=owner).select_related("conversation")
    own_hits: Prefetch[Any] = Prefetch("hits", hits, to_attr="own_hits")
    return readings.prefetch_related("steps", own_hits)


def _readings_about(**whose: Any) -> QuerySet[Reading]:
    """Return the readings, and the searches with hits, of one conversation or one owner: by an index each."""
    read = Reading.objects.filter(**whose).order_by().values("pk")
    found = SearchHit.objects.filter(**whose).order_by().values("reading")
    return Reading.objects.filter(pk__in=read.union(found))


def newest_reading(conversation: Conversation) -> Reading | None:
    """Return the last reading or search that found *conversation*, if the site shows them to owners."""
    return _newest_of_conversation.first(conversation.pk) if settings.READINGS_SHOWN_TO_OWNERS else None


@compiled_queryset
def _newest_of_conversation(conversation_id: int) -> QuerySet[Reading]:
    return _readings_about(conversation=conversation_id).order_by("-pk")[:1]
