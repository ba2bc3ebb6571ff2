"""`manage.py retention [--days N] [--owner EMAIL] [--apply]`: which conversations go when.

Nothing is changed without `--apply`.
"""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Greatest, Now
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.management.database_command import DatabaseCommand
from conversations.models import Conversation
from conversations.models.retention_rule import MOST_DAYS
from conversations.selectors.retention.deadlines import (
    IN_USE,
    UNDER_RETENTION,
    RetentionTerm,
    list_terms,
    notice_time,
    with_deadline,
)
from conversations.selectors.retention.holds import HELD
from conversations.services.retention.sweep_retention import sweep_retention

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    from conversations.selectors.retention.deadlines import Deadline

    class ListedColumns(Deadline):
        goes_at: dt.datetime
        is_used: bool

    DatedConversation = WithAnnotations[Conversation, ListedColumns]

MOST_ROWS = 500
COLUMNS = "{:<36}  {:<9}  {:<30}  {:>5}  {:<10}  {:<10}  {}"
HEADINGS = COLUMNS.format("CONVERSATION", "SCENARIO", "OWNER", "DAYS", "TOUCHED", "GOES", "STATE")


class Command(DatabaseCommand):
    help = "Show which conversations retention deletes, and when. Nothing is changed, unless --apply is given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days", type=_days, default=30, metavar="N", help="those that go within so many days; by default 30"
        )
        parser.add_argument("--owner", metavar="EMAIL", help="only conversations of this user")
        parser.add_argument("--apply", action="store_true", help="do now what the worker does every few minutes")

    def handle(self, *, days: int, owner: str | None, apply: bool, **options: Any) -> None:
        if apply:
            if owner:
                raise CommandError("--apply is for the whole site: leave --owner out.")
            swept = sweep_retention()
            self.stdout.write(f"{swept.told} got a date, {swept.changed} another one or none, {swept.deleted} deleted.")
        user = _find_user(owner) if owner else None
        for line in retention_lines(days=days, owner=user):
            self.stdout.write(line)


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_DAYS):
        raise ArgumentTypeError(f"a whole number up to {MOST_DAYS}, not {text!r}")
    return int(text)


def _find_user(email: str) -> User:
    if (user := User.objects.filter(email__iexact=email).first()) is None:
        raise CommandError(f"There is no user {email}.")
    return user


def retention_lines(*, days: int, owner: User | None = None) -> Iterator[str]:
    """Yield the rules, then what goes within *days*, then what legal holds keep. No titles: those are content."""
    terms = list(list_terms())
    yield from _rule_lines(terms)
    yield ""
    there = (
        Conversation.objects.filter(UNDER_RETENTION, owner=owner)
        if owner
        else Conversation.objects.filter(UNDER_RETENTION)
    )
    dated = with_deadline(there.filter(~HELD)).filter(due_at__isnull=False).select_related("owner")
    # Where no date is told, the one that the worker would tell now.
    date = Greatest("due_at", Coalesce("retention_ends_at", Now() + notice_time()))
    soon = dated.annotate(goes_at=date, is_used=IN_USE).filter(goes_at__lte=timezone.now() + dt.timedelta(days=days))
    yield from _conversation_lines(soon, days)
    held = there.filter(HELD)
    yield f"{held.count()} conversations are kept by legal holds."


def _rule_lines(terms: list[RetentionTerm]) -> Iterator[str]:
    if not terms:
        yield "No rule: RETENTION_DAYS is 0, and the admin has none for a role or a scenario. Nothing goes."
        return
    yield "Rules, of which the shortest that applies counts:"
    for term in terms:
        yield f"  {term.name}: {term.days} days without a touch"
    restorable = settings.DELETED_CONVERSATION_DAYS
    yield f"Owners are told {notice_time().days} days before, and can restore for {restorable} days after."


def _conversation_lines(soon: QuerySet[DatedConversation], days: int) -> Iterator[str]:
    total = soon.count()
    yield f"{total} conversations go within {days} days, if nothing touches them:"
    if not total:
        return
    yield HEADINGS
    for each in soon.order_by("goes_at", "pk")[:MOST_ROWS]:
        touched = max(each.last_active_at, each.kept_at or each.last_active_at)
        state = "told" if each.retention_ends_at else "not told"
        yield COLUMNS.format(
            str(each.public_id),
            each.scenario_id,
            each.owner.email,
            each.retention_days,
            f"{touched:%Y-%m-%d}",
            f"{each.goes_at:%Y-%m-%d}",
            f"{state}, in use" if each.is_used else state,
        )
    if total > MOST_ROWS:
        yield f"and {total - MOST_ROWS} more"
