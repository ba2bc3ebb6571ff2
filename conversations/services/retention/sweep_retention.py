"""Retention: tell owners in time, and move what was not touched for so many days to "Recently deleted".

Each batch is one transaction: it locks its conversations, passing over those that others hold, and asks again, with the
lock, what is to be done with them. So several processes may do this at once, and one that is killed has done nothing by
halves. A message that is being sent holds its conversation, and its touch is seen once that is free.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from conversations.live.fanout import publish_list_change
from conversations.models import Conversation
from conversations.selectors.conversations.conversation_list import HOLDS_NOTHING
from conversations.selectors.retention.deadlines import (
    IN_USE,
    TOUCHED_AT,
    UNDER_RETENTION,
    RetentionTerm,
    list_terms,
    notice_time,
    with_deadline,
)
from conversations.selectors.retention.holds import HELD
from conversations.services.conversations.deletion_state import mark_deleted

logger = logging.getLogger(__name__)
AT_ONCE = 500
MOST_BATCHES = 40  # of one kind in one sweep; the next sweep goes on

TOLD = Q(retention_ends_at__isnull=False)
NOT_TOLD = UNDER_RETENTION & Q(retention_ends_at=None)


@dataclass(frozen=True, slots=True)
class SweptRetention:
    """How many conversations got a date, lost it or got a later one, and were deleted."""

    told: int
    changed: int
    deleted: int


def sweep_retention() -> SweptRetention:
    """Bring told dates up to date, delete what is over, and give dates to what is due within the time of notice."""
    changed = _repeat(_bring_up_to_date)
    deleted = _repeat(_delete_what_is_over)
    told = sum(_repeat(partial(_tell, term)) for term in list_terms())
    if told or deleted:
        logger.info("retention: days of %d conversations were set, and %d were deleted", told, deleted)
    return SweptRetention(told=told, changed=changed, deleted=deleted)


def _repeat(do_batch: Callable[[], int]) -> int:
    total = 0
    for _batch in range(MOST_BATCHES):
        with transaction.atomic():
            done = do_batch()
        total += done
        if done < AT_ONCE:
            break
    return total


def _bring_up_to_date() -> int:
    """Take dates back that no longer follow from the rules, and move those that are later now. None becomes earlier.

    Where the date is taken back, its owner is told again before the conversation goes.
    """
    changed = Q(due_at=None) | HELD | Q(due_at__gt=F("retention_ends_at"))
    pks = _lock(with_deadline(Conversation.objects.filter(TOLD)).filter(changed))
    found = with_deadline(Conversation.objects.filter(TOLD, pk__in=pks)).filter(changed)
    later = found.filter(UNDER_RETENTION, ~HELD, due_at__lte=timezone.now() + notice_time())
    moved = [Conversation(pk=pk, retention_ends_at=due_at) for pk, due_at in later.values_list("pk", "due_at")]
    Conversation.objects.bulk_update(moved, ["retention_ends_at"])
    rest = found.exclude(pk__in=[each.pk for each in moved]).values_list("pk", flat=True)
    return len(moved) + Conversation.objects.filter(pk__in=list(rest)).update(retention_ends_at=None)


def _tell(term: RetentionTerm) -> int:
    """Set the dates of conversations that are due within the time of notice; each is that far away at least."""
    now, notice = timezone.now(), notice_time()
    touched_before = now + notice - dt.timedelta(days=term.days)
    untold = Conversation.objects.filter(NOT_TOLD, term.applies, ~HELD, ~HOLDS_NOTHING)
    pks = _lock(untold.alias(touched_at=TOUCHED_AT).filter(touched_at__lte=touched_before))
    found = with_deadline(Conversation.objects.filter(NOT_TOLD, ~HELD, pk__in=pks)).filter(due_at__lte=now + notice)
    rows = list(found.values_list("pk", "due_at", "owner_id", "public_id"))
    told = [Conversation(pk=pk, retention_ends_at=max(due_at, now + notice)) for pk, due_at, _, _ in rows if due_at]
    Conversation.objects.bulk_update(told, ["retention_ends_at"])
    told_of = defaultdict(list)
    for _pk, _due_at, owner_id, public_id in rows:
        told_of[owner_id].append(public_id)
    for owner_id, public_ids in told_of.items():
        transaction.on_commit(partial(publish_list_change, owner_id, public_ids))
    return len(told)


def _delete_what_is_over() -> int:
    """Move conversations to "Recently deleted" whose date has come, if nothing has touched, held or begun to use them.

    All pages of their owners are told.
    """
    now = timezone.now()
    over = UNDER_RETENTION & Q(retention_ends_at__lte=now)
    is_due = Q(due_at__lte=now) & ~HELD & ~IN_USE
    pks = _lock(with_deadline(Conversation.objects.filter(over)).filter(is_due))
    found = with_deadline(Conversation.objects.filter(over, pk__in=pks)).filter(is_due)
    deleted = list(found.only("public_id", "owner"))
    mark_deleted(deleted, by_retention=True)
    return len(deleted)


def _lock(conversations: QuerySet[Conversation]) -> list[int]:
    """Lock a batch until the transaction ends, without waiting for those that others have locked."""
    locked = conversations.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by("pk")
    return list(locked.values_list("pk", flat=True)[:AT_ONCE])
