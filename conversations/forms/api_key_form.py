"""The form that makes an API key: its name, what it may do and use, and its own limits."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from chatsite.names import clean_name
from conversations.core.errors import ScenarioNotFound
from conversations.models import ApiScope, Scenario
from conversations.models.scenario import scenario_name
from conversations.selectors.conversations.scenarios import find_scenario, list_scenarios
from conversations.services.api.api_keys import KeyBounds
from conversations.services.language_models.model_choice import offered_models

MOST_NAME_CHARACTERS = 80
MOST_DAYS = 3_650
DAYS = 90
SCOPES = (
    (ApiScope.CHAT.value, _("Ask language models, and begin and continue conversations")),
    (ApiScope.READ.value, _("Read and search all of your conversations, and read your usage")),
    (ApiScope.MANAGE.value, _("Delete conversations, and replace what programs noted on them")),
)
WHOLE_NUMBER = forms.TextInput({"inputmode": "numeric"})
AMOUNT = forms.TextInput({"inputmode": "decimal"})


class ApiKeyForm(forms.Form):
    """A key of *user*, to be made."""

    name = forms.CharField(label=_("Name"), max_length=MOST_NAME_CHARACTERS, help_text=_("Where the key is used."))
    days = forms.IntegerField(
        label=_("Days until it ends"),
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        initial=DAYS,
        widget=WHOLE_NUMBER,
        help_text=_("Leave empty for a key that does not end by itself."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=SCOPES,
        initial=[ApiScope.CHAT.value],
        widget=forms.CheckboxSelectMultiple,
    )
    scenario = forms.TypedChoiceField(
        label=_("Scenario"),
        required=False,
        coerce=int,
        empty_value=None,
        help_text=_(
            "Its system prompt, model parameters and window policy hold for all that the key asks, and the key sees "
            "only conversations of this scenario."
        ),
    )
    language_models = forms.MultipleChoiceField(
        label=_("Language models"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "A program names a model as it stands at the right. Tick none for all, or for that of the scenario."
        ),
    )
    requests_per_minute = forms.IntegerField(
        label=_("Requests per minute"), required=False, min_value=1, max_value=100_000, widget=WHOLE_NUMBER
    )
    money_per_day_usd = forms.DecimalField(
        label=_("US dollars per day"),
        required=False,
        min_value=Decimal(0),
        max_digits=10,
        decimal_places=2,
        widget=AMOUNT,
    )
    money_per_month_usd = forms.DecimalField(
        label=_("US dollars per month"),
        required=False,
        min_value=Decimal(0),
        max_digits=10,
        decimal_places=2,
        widget=AMOUNT,
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        scenarios = [(each.pk, scenario_name(each.name)) for each in list_scenarios(user)]
        self.fields["scenario"].choices = [("", _("None")), *scenarios]  # type: ignore[attr-defined]
        models = [(each.name, each.label) for each in offered_models(user)]
        self.fields["language_models"].choices = models  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name = clean_name(self.cleaned_data["name"])
        if not name:
            raise ValidationError(_("Enter a name that can be seen."))
        return name

    def clean_scenario(self) -> Scenario | None:
        chosen: int | None = self.cleaned_data["scenario"]
        if chosen is None:
            return None
        try:
            return find_scenario(self._user, chosen)
        except ScenarioNotFound as error:
            raise ValidationError(str(error)) from error

    def bounds(self) -> KeyBounds:
        """Return what the valid form says."""
        given = self.cleaned_data
        days: int | None = given["days"]
        return KeyBounds(
            scopes=given["scopes"],
            scenario=given["scenario"],
            language_models=given["language_models"],
            requests_per_minute=given["requests_per_minute"],
            money_per_day_usd=given["money_per_day_usd"],
            money_per_month_usd=given["money_per_month_usd"],
            ends_at=timezone.now() + dt.timedelta(days=days) if days else None,
        )
