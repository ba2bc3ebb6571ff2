"""Filters of the log of readings: by reviewer, by owner, and by kind."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from conversations.admin.filters import ConditionFilter, Lookups
from conversations.admin.object_ids import id_in
from conversations.models import Reading


class PersonFilter(SimpleListFilter):
    """One user, by the id in the address."""

    def has_output(self) -> bool:
        """Keep a filter without choices, or Django would list all readings for a user who does not exist."""
        return super().has_output() or self.value() is not None

    def queryset(self, request: HttpRequest, queryset: QuerySet[Reading]) -> QuerySet[Reading]:
        asked = self.value()
        if not asked:
            return queryset
        person_id = id_in(asked)
        name = str(self.parameter_name)
        # None would ask for the readings of deleted users.
        return queryset.none() if person_id is None else queryset.filter(**{name: person_id})


class ReviewerFilter(PersonFilter):
    """All reviewers who have ever read: few, however much is stored."""

    title = _("reviewer")
    parameter_name = "reviewer"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        people = Reading.objects.exclude(reviewer=None).order_by("reviewer__email")
        return [(str(pk), email) for pk, email in people.values_list("reviewer", "reviewer__email").distinct()]


class OwnerFilter(PersonFilter):
    """The owner in the address: others are found by search."""

    title = _("owner")
    parameter_name = "owner"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        user_id = id_in(request.GET.get(self.parameter_name, ""))
        people = User.objects.filter(pk=user_id) if user_id is not None else User.objects.none()
        return [(str(pk), email) for pk, email in people.values_list("pk", "email")]


class ReadKindFilter(ConditionFilter):
    title = _("kind")
    parameter_name = "kind"
    conditions = {
        "conversation": (_("One conversation"), Q(conversation_public_id__isnull=False)),
        "search": (_("Search of all"), Q(conversation_public_id=None)),
    }
