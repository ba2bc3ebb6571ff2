"""Scenarios: the settings of conversations, the only part of them that admins edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db import transaction
from django.db.models import Case, F, ForeignKey, Q, QuerySet, Value, When
from django.forms import ModelForm
from django.forms.widgets import Script
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import LargeListAdmin
from conversations.admin.filters import LanguageModelFilter
from conversations.admin.object_ids import id_in
from conversations.admin.scenarios.scenario_form import AdminScenarioForm
from conversations.admin.state_labels import LINK_CLASS
from conversations.models import Scenario
from conversations.templatetags import figures

NAME_OF_THE_SITES = Case(When(owner=None, then="name"), default=Value(""))


class OwnerWidget(AutocompleteSelect):
    """A list of users that ignores values which are no ids: Django's own asks the database for them, and fails."""

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> Any:
        ids = [each for each in value if id_in(str(each)) is not None]
        return super().optgroups(name, ids, attr)


@admin.register(Scenario)
class ScenarioAdmin(LargeListAdmin):
    form = AdminScenarioForm
    list_display = ["shown_name", "shown_language_model", "policy_name", "offered", "is_default", "owner", "created_at"]
    list_filter = ["offered", "is_default", "policy_name", LanguageModelFilter, ("owner", admin.EmptyFieldListFilter)]
    search_fields = ["owner__email"]
    search_help_text = _("The name of one of the site’s, or its owner’s email address")
    list_select_related = ["owner"]
    autocomplete_fields = ["owner"]
    actions = None
    readonly_fields = ["documents"]
    warn_unsaved_form = True
    fieldsets = [
        (None, {"fields": ["name", "system_prompt", "language_model", "effort", "sampling"]}),
        (_("Tools"), {"fields": ["tools"]}),
        (_("Documents"), {"fields": ["documents", "web_search"]}),
        (_("Who may use it"), {"fields": ["offered", "is_default", "owner"]}),
        (
            _("Window policy"),
            {
                "description": _("How the window is chosen when a conversation is longer than the budget."),
                "fields": [
                    "policy_name",
                    "low_water_share",
                    "last_messages",
                    "cap_tokens",
                    "message_cap_tokens",
                    "reply_reserve_tokens",
                    "grounding_share",
                    "recall_share",
                    "summary_cap_tokens",
                    "skip_oversized",
                    "pictures_only_with_question",
                ],
            },
        ),
    ]

    class Media:
        css = {"all": ["css/tool_choice.css"]}
        js = [Script("js/admin/scenario_form.js", type="module")]

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        widget = OwnerWidget(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs | {"widget": widget})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Scenario]:
        """Return the site's scenarios by name, and users' own after them by id."""
        rows: QuerySet[Scenario] = (
            super().get_queryset(request).order_by(F("owner").asc(nulls_first=True), NAME_OF_THE_SITES, "pk")
        )
        return rows

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Scenario], search_term: str
    ) -> tuple[QuerySet[Scenario], bool]:
        found = Q(owner=None, name__icontains=search_term) | Q(owner__email__icontains=search_term)
        return queryset.filter(found), False

    @display(description=_("name"))
    def shown_name(self, scenario: Scenario) -> SafeString:
        return format_html("<bdi>{}</bdi>", scenario)

    def get_fieldsets(self, request: HttpRequest, obj: Scenario | None = None) -> Any:
        """Hide the texts of a user's own scenario, which are private; its numbers are shown."""
        fieldsets = super().get_fieldsets(request, obj)
        if _is_someone_elses(request, obj):
            return [(None, {"fields": ["language_model"]}), *fieldsets[1:]]
        return fieldsets

    def has_change_permission(self, request: HttpRequest, obj: Scenario | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _is_someone_elses(request, obj)

    @display(description=_("searched for each question"))
    def documents(self, scenario: Scenario) -> SafeString | str:
        """Their count and a link: for the site's scenarios to the page where an admin adds more."""
        if not scenario.pk:
            return gettext("Save the scenario first, then add documents to it.")
        if scenario.owner_id is None:
            url, label = (
                reverse("conversations:scenario_documents", args=[scenario.pk]),
                gettext("View, add and delete"),
            )
        else:
            query = {"scenario": scenario.pk}
            url, label = reverse("admin:conversations_document_changelist", query=query), gettext("What they are")
        count = figures.count(scenario.documents.count())
        return format_html('{} · <a class="{}" href="{}">{}</a>', count, LINK_CLASS, url, label)

    @display(description=_("language model"), ordering="language_model")
    def shown_language_model(self, scenario: Scenario) -> str:
        return scenario.language_model or gettext("the site’s default")

    def has_delete_permission(self, request: HttpRequest, obj: Scenario | None = None) -> bool:
        is_free = obj is None or not (_is_someone_elses(request, obj) or _is_used(obj))
        return super().has_delete_permission(request, obj) and is_free

    def save_model(self, request: HttpRequest, obj: Scenario, form: ModelForm[Any], change: Any) -> None:
        with transaction.atomic():
            if obj.is_default:
                _unset_other_defaults(obj)
            super().save_model(request, obj, form, change)


def _is_someone_elses(request: HttpRequest, scenario: Scenario | None) -> bool:
    return scenario is not None and scenario.owner_id not in (None, request.user.pk)


def _is_used(scenario: Scenario) -> bool:
    return scenario.is_default or scenario.conversations.exists() or scenario.completions.exists()


def _unset_other_defaults(scenario: Scenario) -> None:
    """Two admins who choose a default at the same time wait for each other here, and the later one wins."""
    list(Scenario.objects.select_for_update().filter(owner=None).order_by("pk").values_list("pk"))
    Scenario.objects.filter(is_default=True).exclude(pk=scenario.pk).update(is_default=False)
