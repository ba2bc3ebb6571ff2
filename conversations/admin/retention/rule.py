"""Retention rules: after how many days conversations of a role or a scenario are deleted, if nothing touches them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chatsite.accounts.admin.base_admin import EditConflictAdmin
from conversations.admin.base_admin import LargeListAdmin
from conversations.models import RetentionRule, Scenario


class RetentionRuleForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    """A rule is no shorter than the time of notice, or owners could not be told in time."""

    class Meta:
        model = RetentionRule
        fields = ("role", "scenario", "days")
        help_texts = {
            "role": _("All conversations of users with this role."),
            "scenario": _("All conversations that have this scenario now, of all users."),
            "days": _(
                "After so many days without a message, one that is not kept by its owner is deleted. A shorter rule "
                "also applies to older conversations, once their owners have been told."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "scenario" in self.fields:
            self.fields["scenario"].queryset = Scenario.objects.filter(owner=None).order_by("name")  # type: ignore[attr-defined]

    def clean_days(self) -> int:
        days: int = self.cleaned_data["days"]
        fewest = settings.RETENTION_NOTICE_DAYS
        if days < fewest:
            words = ngettext(
                "Owners are told %(count)d day before (RETENTION_NOTICE_DAYS): no rule is shorter than that.",
                "Owners are told %(count)d days before (RETENTION_NOTICE_DAYS): no rule is shorter than that.",
                fewest,
            )
            raise forms.ValidationError(words % {"count": fewest})
        return days

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if bool(cleaned.get("role")) == bool(cleaned.get("scenario")):
            raise forms.ValidationError(_("Choose a role or a scenario, one of them."))
        return cleaned


@admin.register(RetentionRule)
class RetentionRuleAdmin(EditConflictAdmin, LargeListAdmin):
    form = RetentionRuleForm
    list_display = ["applies_to", "days"]
    list_before_template = "admin/conversations/retentionrule/_site.html"
    list_select_related = ["scenario"]
    actions = None
    fieldsets = [(_("Applies to"), {"fields": ["role", "scenario"]}), (None, {"fields": ["days"]})]

    def get_queryset(self, request: HttpRequest) -> QuerySet[RetentionRule]:
        rows: QuerySet[RetentionRule] = super().get_queryset(request)
        return rows.order_by(F("role").asc(nulls_last=True), "scenario__name", "pk")

    @display(description=_("applies to"))
    def applies_to(self, rule: RetentionRule) -> SafeString | str:
        if rule.scenario:
            return format_html(gettext("the scenario <bdi>{}</bdi>"), rule.scenario)
        return gettext("the role %(role)s") % {"role": rule.get_role_display()}

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        context = {
            "site_days": settings.RETENTION_DAYS,
            "notice_days": settings.RETENTION_NOTICE_DAYS,
            "restorable_days": settings.DELETED_CONVERSATION_DAYS,
        }
        return super().changelist_view(request, context | (extra_context or {}))
