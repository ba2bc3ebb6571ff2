"""A scenario in the admin: its settings as for its owner, and who may use it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from conversations.forms import scenario_forms


class AdminScenarioForm(scenario_forms.ScenarioForm):
    system_prompt = scenario_forms.LinesField(
        label=_("System prompt"), required=False, widget=UnfoldAdminTextareaWidget({"rows": 10})
    )
    language_model = forms.ChoiceField(label=_("Language model"), required=False, widget=UnfoldAdminSelectWidget)
    effort = forms.ChoiceField(label=_("How hard it thinks"), required=False, widget=UnfoldAdminSelectWidget)
    policy_name = forms.ChoiceField(label=_("Window policy"), widget=UnfoldAdminSelectWidget)
    sampling = scenario_forms.SamplingField(
        label=_("Model parameters (JSON)"),
        required=False,
        initial=dict,
        error_messages={"invalid": _('This is not JSON. Enter an object, such as {"temperature": 0.2}.')},
        help_text=_('Sent to the provider as is, such as {"temperature": 0.2}.'),
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
    )

    class Meta(scenario_forms.ScenarioForm.Meta):
        fields = (*scenario_forms.ScenarioForm.Meta.fields, "offered", "is_default", "owner")
        labels = scenario_forms.ScenarioForm.Meta.labels | {
            "offered": _("Offered to everyone"),
            "is_default": _("Default"),
        }
        widgets = {}  # the theme's own

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("owner") and (cleaned.get("is_default") or cleaned.get("offered")):
            self.add_error(
                "owner", _("A user’s own scenario can’t be offered to everyone. Remove the owner or the offer.")
            )
        if "is_default" in self.changed_data and not cleaned.get("is_default"):
            self.add_error(
                "is_default", _("New conversations need a default: make another scenario the default instead.")
            )
        return cleaned

    def _get_validation_exclusions(self) -> set[str]:
        """Leave out the constraint that there is one default: saving unsets the old one first."""
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]  # Django's, not documented
        return excluded | {"is_default"}
