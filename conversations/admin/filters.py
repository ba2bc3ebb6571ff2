"""Filters of the admin's lists, whose choices stay few however much is stored."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, RelatedFieldListFilter, SimpleListFilter
from django.db.models import Exists, Field, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from conversations.core.tools.tool_spec import BUILT_IN, OWN
from conversations.models import Completion, Rating
from conversations.providers.catalog.language_models import language_models

Lookups = list[tuple[str, str]]
STOPPED = "stopped"  # the finish reason of a reply that its owner stopped


class SiteScenarioFilter(RelatedFieldListFilter):
    """The scenarios of the site; those of single people are found by search."""

    def field_choices(self, field: Field[Any, Any], request: HttpRequest, model_admin: ModelAdmin[Any]) -> Any:
        return field.get_choices(include_blank=False, ordering=("name",), limit_choices_to={"owner": None})


class LanguageModelFilter(SimpleListFilter):
    """The configured language models, and the one that is asked for though it no longer is configured."""

    title = _("language model")
    parameter_name = "language_model"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        names = dict.fromkeys(language_models())
        if asked := request.GET.get(self.parameter_name):
            names[asked] = None
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        name = self.value()
        return self.only(queryset, name) if name else queryset

    def only(self, queryset: QuerySet[Model], language_model: str) -> QuerySet[Model]:
        return queryset.filter(language_model=language_model)


class UsedLanguageModelFilter(LanguageModelFilter):
    """Conversations for which the language model was ever asked."""

    def only(self, queryset: QuerySet[Model], language_model: str) -> QuerySet[Model]:
        asked = Completion.objects.filter(conversation=OuterRef("pk"), language_model=language_model)
        return queryset.filter(Exists(asked))


class ConditionFilter(SimpleListFilter):
    """Conditions by their names in the address, each with what it is called; an unknown name filters nothing."""

    conditions: dict[str, tuple[Promise, Q | Exists]]

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Lookups:
        return [(name, str(label)) for name, (label, _condition) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        name = self.value()
        return queryset.filter(self.conditions[name][1]) if name in self.conditions else queryset


class ConversationStateFilter(ConditionFilter):
    title = _("state")
    parameter_name = "state"
    conditions = {
        "in use": (_("In use"), Q(deleted_at=None, archived=False)),
        "temporary": (_("Temporary"), Q(deleted_at=None, temporary_until__isnull=False)),
        "archived": (_("Archived"), Q(deleted_at=None, archived=True)),
        "deleted": (_("Deleted"), Q(deleted_at__isnull=False)),
        "streaming": (_("Streaming"), Q(head__state="streaming")),
        "interrupted": (_("Interrupted"), Q(head__state="interrupted")),
        "failed": (_("Failed"), Q(head__state="failed")),
    }


class RatingFilter(ConditionFilter):
    """Replies by what their owner thinks of them. A remark is content, but that there is one is none."""

    title = _("rating")
    parameter_name = "rating"
    conditions = {
        "good": (_("Good"), Q(rating__verdict="good")),
        "bad": (_("Bad"), Q(rating__verdict="bad")),
        "remark": (_("With a remark"), Q(rating__isnull=False) & ~Q(rating__remark="")),
    }


class RatedConversationFilter(ConditionFilter):
    """Conversations by the ratings in them."""

    title = _("rating")
    parameter_name = "rating"
    conditions = {
        name: (label, Exists(Rating.objects.filter(condition, reply__conversation=OuterRef("pk"))))
        for name, (label, condition) in {
            "good": (_("Some good"), Q(verdict="good")),
            "bad": (_("Some bad"), Q(verdict="bad")),
            "remark": (_("With a remark"), ~Q(remark="")),
        }.items()
    }


class OutcomeFilter(ConditionFilter):
    title = _("outcome")
    parameter_name = "outcome"
    conditions = {
        "succeeded": (_("Succeeded"), Q(ended_at__isnull=False, error_code="") & ~Q(finish_reason=STOPPED)),
        "stopped": (_("Stopped"), Q(ended_at__isnull=False, error_code="", finish_reason=STOPPED)),
        "failed": (_("Failed"), ~Q(error_code="")),
        "unfinished": (_("Unfinished"), Q(ended_at=None)),
    }


class ToolSourceFilter(ConditionFilter):
    """MCP servers by their kind only: there may be many, and they come and go."""

    title = _("source")
    parameter_name = "source"
    conditions = {
        "built-in": (_("Built in"), Q(source=BUILT_IN)),
        "own": (_("The site’s own"), Q(source=OWN)),
        "mcp": (_("MCP servers"), ~Q(source__in=("", BUILT_IN, OWN))),
        "unknown": (_("Unknown tools"), Q(source="")),
    }


class CostFilter(ConditionFilter):
    title = _("cost")
    parameter_name = "cost"
    conditions = {
        "known": (_("Known"), Q(cost_usd__isnull=False)),
        "unknown": (_("Unknown"), Q(ended_at__isnull=False, cost_usd=None)),
    }
