"""Reading what other people wrote: with a reason, for a while, and each page of it on record.

A *reading* is of one conversation, or a search of all for words, which shows numbers and no words. It holds for half an
hour, for the reviewer who opened it. Nothing edits or deletes one: the database refuses it.

What stays when accounts go: the reviewer's address as it was then, the reason, the times and the conversation's public
id. Of the owner nothing stays but that: a deleted person's readings are nobody's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ReadingOff, ReadingRefused, ReasonRequired
from conversations.core.reasons import clean_reason
from conversations.models import Conversation, Reading, ReadWhat, SearchHit
from conversations.selectors.readings import reading_that_holds
from conversations.selectors.word_search import Hits

HOLDS_FOR = dt.timedelta(minutes=30)
RIGHT = "conversations.view_conversation"
MOST_DETAIL = 200


def open_reading(reviewer: User, conversation: Conversation | None, reason: str) -> Reading:
    """Put on record that *reviewer* reads *conversation*, or searches all for words, and why.

    Raises `ReadingRefused`, and `ReasonUnfit` for a reason that says nothing.
    """
    require_reviewer(reviewer)
    return Reading.objects.create(
        reviewer=reviewer,
        reviewer_email=reviewer.email,
        conversation=conversation,
        conversation_public_id=conversation.public_id if conversation else None,
        owner_id=conversation.owner_id if conversation else None,
        reason=clean_reason(reason),
        ends_at=timezone.now() + HOLDS_FOR,
    )


@transaction.atomic
def open_search(reviewer: User, words: str, reason: str) -> Reading:
    """Put on record that *reviewer* searches everybody's conversations for *words*. Raises as `open_reading` does."""
    reading = open_reading(reviewer, None, reason)
    log_step(reading, ReadWhat.SEARCH, words)
    return reading


def require_reading(reviewer: User, conversation: Conversation) -> Reading | None:
    """Return the reading by which *reviewer* sees the words of *conversation* now; None if it is their own.

    Raises `ReadingOff`, `ReasonRequired`, or `ReadingRefused` for who reviews no more.
    """
    if conversation.owner_id == reviewer.pk:
        return None
    require_reviewer(reviewer)
    reading = reading_that_holds(reviewer, conversation)
    if reading is None:
        raise ReasonRequired
    return reading


def require_reviewer(reviewer: User) -> None:
    """Raise `ReadingRefused` unless *reviewer* may read what others wrote; `ReadingOff` if nobody may."""
    if settings.CONVERSATION_READING == "off":
        raise ReadingOff
    if not reviewer.has_perm(RIGHT):
        raise ReadingRefused


def log_hits(reading: Reading, hits: Iterable[Hits]) -> None:
    """Put on record, for the owners, where a search led, before that is shown. One's own conversations are not."""
    found = [
        SearchHit(
            reading=reading,
            conversation=hit.conversation,
            conversation_public_id=hit.conversation.public_id,
            owner_id=hit.conversation.owner_id,
            count=hit.count,
        )
        for hit in hits
        if hit.conversation.owner_id != reading.reviewer_id
    ]
    SearchHit.objects.bulk_create(found, ignore_conflicts=True)


def log_step(reading: Reading | None, what: ReadWhat, detail: str = "") -> None:
    """Put on record what is shown by *reading*, before it is shown. One's own conversation has none."""
    if reading is not None:
        reading.steps.create(what=what, detail=detail[:MOST_DETAIL])
