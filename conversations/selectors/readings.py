"""Who has read what, when and why."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.models import Conversation, Reading, ReadingStep


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
    """Return who has read *conversation*, newest first, with all that each was shown."""
    return Reading.objects.filter(conversation=conversation).prefetch_related("steps")


def searched_words(reading: Reading) -> str:
    """Return what a search was for."""
    step: ReadingStep = reading.steps.earliest("pk")
    return step.detail


@dataclass(frozen=True, slots=True)
class OwnersPage:
    """Readings of one person's conversations, newest first; *next_before* is the id that the next page begins below."""

    readings: Sequence[Reading]
    next_before: int | None


def readings_of_owner(owner: User, *, before: int | None, limit: int) -> OwnersPage:
    """Return the newest *limit* readings of the person's conversations, of those with an id below *before*."""
    older = Q(pk__lt=before) if before else Q()
    found = list(
        Reading.objects.filter(older, owner=owner)
        .select_related("conversation")
        .prefetch_related("steps")
        .order_by("-pk")[: limit + 1]
    )
    shown = found[:limit]
    return OwnersPage(shown, shown[-1].pk if len(found) > limit else None)


def newest_reading(conversation: Conversation) -> Reading | None:
    """Return when somebody else last read *conversation*, where the site shows its owner; else nothing."""
    return Reading.objects.filter(conversation=conversation).first() if settings.READINGS_SHOWN_TO_OWNERS else None
