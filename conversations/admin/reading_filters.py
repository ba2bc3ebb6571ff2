"""Filters of the log of readings: by whoever read, by whoever was read, and by what it was."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from conversations.admin.filters import ConditionFilter, Lookups
from conversations.models import Reading

MOST_DIGITS = 18  # of an id


class PersonFilter(SimpleListFilter):
    """One person, by the id in the address."""

    def person_id(self) -> int | None:
        asked = self.value() or ""
        return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) <= MOST_DIGITS else None

    def queryset(self, request: HttpRequest, queryset: QuerySet[Reading]) -> QuerySet[Reading]:
        return queryset.filter(**{self.parameter_name: self.person_id()}) if self.value() else queryset


class ReviewerFilter(PersonFilter):
    """All who have ever read: few, whatever is stored."""

    title = _("reviewer")
    parameter_name = "reviewer"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        people = Reading.objects.exclude(reviewer=None).order_by("reviewer__email")
        return [(str(pk), email) for pk, email in people.values_list("reviewer", "reviewer__email").distinct()]


class OwnerFilter(PersonFilter):
    """The one whose readings are asked for: others are found by search."""

    title = _("owner")
    parameter_name = "owner"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        asked = request.GET.get(self.parameter_name, "")
        is_an_id = asked.isascii() and asked.isdecimal() and len(asked) <= MOST_DIGITS
        people = User.objects.filter(pk=int(asked)) if is_an_id else User.objects.none()
        return [(str(pk), email) for pk, email in people.values_list("pk", "email")]


class ReadKindFilter(ConditionFilter):
    title = _("kind")
    parameter_name = "kind"
    conditions = {
        "conversation": (_("One conversation"), Q(conversation_public_id__isnull=False)),
        "search": (_("Search of all"), Q(conversation_public_id=None)),
    }
