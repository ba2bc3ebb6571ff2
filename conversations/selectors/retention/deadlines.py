"""Retention: which rules apply to a conversation, and when it is due to be deleted because it was not touched.

The rules are the site's `RETENTION_DAYS`, that of the owner's role and that of the scenario: the shortest counts. A
conversation is due so many days after it was last touched: last active, or kept, restored or imported. It goes no
earlier than at the moment that its owner has been told, `Conversation.retention_ends_at`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from django.conf import settings
from django.db.models import (
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Greatest, Least, Now

from chatsite.accounts.models import User
from conversations.models import Conversation, ConversationImport, ExportLease, Message, Reading, RetentionRule
from conversations.models.conversation_import import ImportState

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class Deadline(TypedDict):
        retention_days: int | None
        due_at: dt.datetime | None

    DatedConversation = WithAnnotations[Conversation, Deadline]

TOUCHED_AT = Greatest("last_active_at", "kept_at")
# Those that retention is about: temporary ones have a moment of their own.
UNDER_RETENTION = Q(deleted_at=None, temporary_until=None)
# Being answered, read by a reviewer, exported by its owner, or imported: none of these is deleted now.
IN_USE = (
    Q(Exists(Message.objects.filter(conversation=OuterRef("pk"), state="streaming")))
    | Q(Exists(Reading.objects.filter(conversation=OuterRef("pk"), ends_at__gt=Now())))
    | Q(Exists(ExportLease.objects.filter(user=OuterRef("owner_id"), ends_at__gt=Now())))
    | Q(Exists(ConversationImport.objects.filter(owner=OuterRef("owner_id"), state=ImportState.RUNNING)))
)


@dataclass(frozen=True, slots=True)
class RetentionTerm:
    """*days* without a touch, of conversations that meet the condition *applies*. *name* says which rule it is."""

    name: str
    days: int
    applies: Q


def notice_time() -> dt.timedelta:
    """Return how long before its deletion an owner is told, at least."""
    return dt.timedelta(days=settings.RETENTION_NOTICE_DAYS)


def list_terms() -> Iterator[RetentionTerm]:
    """Return the rules of the site, of roles and of scenarios."""
    if settings.RETENTION_DAYS:
        yield RetentionTerm("site", settings.RETENTION_DAYS, Q())
    for rule in RetentionRule.objects.all():
        if rule.role:
            yield RetentionTerm(f"role {rule.role}", rule.days, Q(owner__role=rule.role))
        else:
            yield RetentionTerm(f"scenario {rule.scenario_id}", rule.days, Q(scenario_id=rule.scenario_id))


def rules_for(user: User) -> tuple[int | None, list[RetentionRule]]:
    """Return the days of the user's conversations, if there is a rule for all of them, and the rules of scenarios.

    Of those only the ones that shorten it, of scenarios that are offered to all.
    """
    of_role = RetentionRule.objects.filter(role=user.role).values_list("days", flat=True).first()
    days = min((each for each in (settings.RETENTION_DAYS, of_role) if each), default=None)
    scenarios = RetentionRule.objects.filter(scenario__offered=True).select_related("scenario").order_by("days", "pk")
    return days, [rule for rule in scenarios if days is None or rule.days < days]


def with_deadline(conversations: QuerySet[Conversation]) -> QuerySet[DatedConversation]:
    """Add *retention_days*, of the shortest rule that applies, and *due_at*; both None where no rule does."""
    rules = RetentionRule.objects.values("days")
    days: list[Any] = [
        Subquery(rules.filter(role=OuterRef("owner__role")), output_field=IntegerField()),
        Subquery(rules.filter(scenario=OuterRef("scenario_id")), output_field=IntegerField()),
    ]
    if settings.RETENTION_DAYS:
        days.append(Value(settings.RETENTION_DAYS, output_field=IntegerField()))
    time = ExpressionWrapper(F("retention_days") * Value(dt.timedelta(days=1)), output_field=DurationField())
    due = ExpressionWrapper(TOUCHED_AT + time, output_field=DateTimeField())
    return conversations.annotate(retention_days=Least(*days)).annotate(due_at=due)
