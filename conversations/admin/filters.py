"""Filters whose choices stay few however much is stored."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, RelatedFieldListFilter, SimpleListFilter
from django.db.models import Exists, Field, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest

from conversations.models import Completion
from conversations.providers.language_models import language_models

Lookups = list[tuple[str, str]]
STOPPED = "stopped"  # the finish reason of a reply that its person stopped


class SiteScenarioFilter(RelatedFieldListFilter):
    """The scenarios of the site; those of single people are found by search."""

    def field_choices(self, field: Field, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        return field.get_choices(include_blank=False, ordering=("name",), limit_choices_to={"owner": None})


class LanguageModelFilter(SimpleListFilter):
    """The configured language models, and the one that is asked for though it no longer is configured."""

    title = "language model"
    parameter_name = "language_model"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        names = dict.fromkeys(language_models())
        if asked := request.GET.get(self.parameter_name):
            names[asked] = None
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        return self.only(queryset, self.value()) if self.value() else queryset

    def only(self, queryset: QuerySet[Model], language_model: str) -> QuerySet[Model]:
        return queryset.filter(language_model=language_model)


class UsedLanguageModelFilter(LanguageModelFilter):
    """Conversations for which the language model was ever asked."""

    def only(self, queryset: QuerySet[Model], language_model: str) -> QuerySet[Model]:
        asked = Completion.objects.filter(conversation=OuterRef("pk"), language_model=language_model)
        return queryset.filter(Exists(asked))


class ConditionFilter(SimpleListFilter):
    """Named conditions; an unknown name filters nothing."""

    conditions: dict[str, Q]

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        return [(name, name.capitalize()) for name in self.conditions]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        condition = self.conditions.get(self.value())
        return queryset.filter(condition) if condition else queryset


class ConversationStateFilter(ConditionFilter):
    title = "state"
    parameter_name = "state"
    conditions = {
        "in use": Q(deleted_at=None, archived=False),
        "archived": Q(deleted_at=None, archived=True),
        "deleted": Q(deleted_at__isnull=False),
        "streaming": Q(head__state="streaming"),
        "interrupted": Q(head__state="interrupted"),
        "failed": Q(head__state="failed"),
    }


class OutcomeFilter(ConditionFilter):
    title = "outcome"
    parameter_name = "outcome"
    conditions = {
        "succeeded": Q(ended_at__isnull=False, error_code="") & ~Q(finish_reason=STOPPED),
        "stopped": Q(ended_at__isnull=False, error_code="", finish_reason=STOPPED),
        "failed": ~Q(error_code=""),
        "unfinished": Q(ended_at=None),
    }


class CostFilter(ConditionFilter):
    title = "cost"
    parameter_name = "cost"
    conditions = {"known": Q(cost_usd__isnull=False), "unknown": Q(ended_at__isnull=False, cost_usd=None)}
