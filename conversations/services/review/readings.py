"""Readings: a reviewer opens another user's conversation, with a reason, for a while, each page on record.

A *reading* is of one conversation, or a search of all for words, which shows numbers and no words. It holds for half an
hour, for the reviewer who opened it. Nothing edits or deletes one: the database refuses it.

What stays when accounts go: the reviewer's address as it was then, the reason, the times and the conversation's public
id. Of the owner nothing stays but that: readings of a deleted user name no owner.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ReadingDisabled, ReadingRefused, ReasonRequired
from conversations.core.text.reading_reason import clean_reason
from conversations.models import Conversation, Reading, ReadWhat, SearchHit
from conversations.selectors.review.content_search import Hits
from conversations.selectors.review.readings import reading_that_holds

HOLDS_FOR = dt.timedelta(minutes=30)
RIGHT = "conversations.view_conversation"
MOST_DETAIL = 200
HOLD = "SELECT id FROM {table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


def open_reading(reviewer: User, conversation: Conversation | None, reason: str) -> Reading:
    """Put on record that *reviewer* reads *conversation*, or searches all for words, and why.

    Raises `ReadingRefused`, and `ReasonInvalid` for a reason that says nothing.
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
    """Return the reading by which *reviewer* sees the content of *conversation* now; None if it is their own.

    Raises `ReadingDisabled`, `ReasonRequired`, or `ReadingRefused` for who reviews no more.
    """
    if conversation.owner_id == reviewer.pk:
        return None
    require_reviewer(reviewer)
    reading = reading_that_holds(reviewer, conversation)
    if reading is None:
        raise ReasonRequired
    return reading


def require_reviewer(reviewer: User) -> None:
    """Raise `ReadingRefused` unless *reviewer* may read what others wrote; `ReadingDisabled` if the site has none."""
    if settings.CONVERSATION_READING == "off":
        raise ReadingDisabled
    if not reviewer.has_perm(RIGHT):
        raise ReadingRefused


@transaction.atomic
def log_hits(reading: Reading, hits: Iterable[Hits]) -> None:
    """Put on record, for the owners, where a search led, before that is shown. One's own conversations are not.

    Who or what is deleted at this instant is not named, as in older rows. Locks go in the order of everybody: people
    first.
    """
    others = [hit for hit in hits if hit.conversation.owner_id != reading.reviewer_id]
    owners = _held(User, {hit.conversation.owner_id for hit in others})
    conversations = _held(Conversation, {hit.conversation.pk for hit in others})
    found = [
        SearchHit(
            reading=reading,
            conversation_id=conversations.get(hit.conversation.pk),
            conversation_public_id=hit.conversation.public_id,
            owner_id=owners.get(hit.conversation.owner_id),
            count=hit.count,
        )
        for hit in others
    ]
    SearchHit.objects.bulk_create(found, ignore_conflicts=True)


def _held(model: type[Model], keys: Collection[int]) -> dict[int, int]:
    """Return those *keys* whose rows are there, each by itself, locked against deletion until the transaction ends.

    Django has no name for the lock: the one of a foreign key, for which nothing but a deletion waits.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD.format(table=model._meta.db_table), [list(keys)])
        return {key: key for (key,) in cursor.fetchall()}


def log_step(reading: Reading | None, what: ReadWhat, detail: str = "") -> None:
    """Put on record what is shown by *reading*, before it is shown. One's own conversation has none."""
    if reading is not None:
        reading.steps.create(what=what, detail=detail[:MOST_DETAIL])
