"""Limits and the site's budget in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.decorators import display

from chatsite.accounts.admin.base_admin import EditConflictAdmin, OneRowAdmin
from chatsite.accounts.admin.limits_form import EVERYONE, FIELD_TEXTS, ROLES, LimitsForm, SiteBudgetForm, format_figure
from chatsite.accounts.limits import LIMITS, inherited_limits
from chatsite.accounts.models import Limits, Role, SiteBudget, User

RULE = _("Empty fields take the wider limit: the role’s, then the site’s, then the settings’. 0 allows nothing.")
MONEY = ["money_per_day_usd", "money_per_month_usd"]
COUNTS = [name for name in LIMITS if name not in MONEY]


@admin.register(Limits)
class LimitsAdmin(EditConflictAdmin):
    form = LimitsForm
    list_display = ["whose", "what"]
    list_filter = [("user", admin.EmptyFieldListFilter), "role"]
    list_select_related = ["user"]
    list_per_page = 50
    search_fields = ["user__email"]
    search_help_text = _("A user’s email address")
    empty_value_display = "–"
    fieldsets = [
        (_("Sending"), {"description": RULE, "fields": COUNTS}),
        (_("Spending"), {"fields": MONEY}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Limits]:
        rows: QuerySet[Limits] = super().get_queryset(request)
        return rows.order_by(F("user__email").asc(nulls_first=True), F("role").asc(nulls_first=True))

    @display(description=_("applies to"))
    def whose(self, limits: Limits) -> str:
        if limits.user:
            return limits.user.email
        return str(ROLES[Role(limits.role)] if limits.role else EVERYONE)

    @display(description=_("limits"))
    def what(self, limits: Limits) -> str | None:
        """Return all that the row says, such as `Messages a minute: 30 · US dollars a day: 0.5`."""
        said = {FIELD_TEXTS[name][0]: getattr(limits, name) for name in LIMITS}
        return (
            " · ".join(f"{label}: {format_figure(value)}" for label, value in said.items() if value is not None) or None
        )

    def get_fieldsets(self, request: HttpRequest, obj: Limits | None = None) -> list[Any]:
        return [(_("Applies to"), {"fields": ["whose"] if obj else ["role"]}), *super().get_fieldsets(request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: Limits | None = None) -> list[str]:
        return ["whose"] if obj else []


class InheritingFormSet(BaseInlineFormSet):  # type: ignore[type-arg]  # at run time it takes none
    """Passes the user to its form, so that the form knows what new limits would inherit."""

    instance: User

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "inherited": inherited_limits(Limits(user=self.instance))}


class PersonalLimits(StackedInline):
    """A user's own limits, on the page of that user."""

    model = Limits
    form = LimitsForm
    formset = InheritingFormSet
    verbose_name = _("this user’s own limits")
    verbose_name_plural = _("this user’s own limits")
    fieldsets = [(None, {"fields": [*COUNTS, *MONEY]})]
    can_delete = False
    hide_title = True
    max_num = 1


@admin.register(SiteBudget)
class SiteBudgetAdmin(OneRowAdmin):
    form = SiteBudgetForm
    fieldsets = [
        (
            None,
            {
                "description": _(
                    "The most that all users together may spend. Leave empty for no limit; 0 allows nothing."
                ),
                "fields": MONEY,
            },
        )
    ]
