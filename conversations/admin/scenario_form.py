"""What a scenario may say: checked as a whole, refused in words."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.forms.fields import InvalidJSONInput
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from conversations.core.errors import PolicyFailed
from conversations.models import Scenario
from conversations.models.scenario import POLICY_FIELDS
from conversations.providers.language_models import language_models
from conversations.window_policies import make_policy, policy_choices

# The window, the tools and the ledger decide about these; as sampling they would make the record untrue.
RESERVED = {
    "functions",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "prompt_cache_key",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
    "user",
}
AT_LEAST_1 = MinValueValidator(1)
LIMITS = {
    "last_messages": [AT_LEAST_1],
    "cap_tokens": [AT_LEAST_1],
    "message_cap_tokens": [AT_LEAST_1],
    "reply_reserve_tokens": [AT_LEAST_1],
    "low_water_share": [MinValueValidator(0), MaxValueValidator(1)],
    "grounding_share": [MinValueValidator(0), MaxValueValidator(1)],
}


class SamplingField(forms.JSONField):
    """A JSON object that PostgreSQL can store and a provider may be sent."""

    def bound_data(self, data: str | None, initial: Any) -> Any:
        """Give the text back as it was written: what is wrong with it may not survive being parsed."""
        return initial if self.disabled else InvalidJSONInput(data or "")

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except RecursionError:
            raise ValidationError("This is nested too deeply.") from None

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value in self.empty_values:
            return
        if not isinstance(value, dict):
            raise ValidationError('Write a JSON object, such as {"temperature": 0.2}.')
        if reserved := sorted(RESERVED & value.keys()):
            raise ValidationError(f"Windowseat sets these itself: {', '.join(reserved)}.")
        self._check_storable(value)

    def _check_storable(self, value: dict[str, Any]) -> None:
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
            text.encode()
        except ValueError:
            raise ValidationError("Numbers must be finite, and text must be text.") from None
        if "\\u0000" in text:
            raise ValidationError("Text must not contain NUL characters.")


class ScenarioForm(forms.ModelForm):
    language_model = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    policy_name = forms.ChoiceField(label="Window policy", widget=UnfoldAdminSelectWidget)
    sampling = SamplingField(
        required=False,
        initial=dict,
        help_text='Sent to the provider as it is, such as {"temperature": 0.2}.',
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
    )

    class Meta:
        model = Scenario
        fields = (
            "name",
            "system_prompt",
            "language_model",
            "sampling",
            "offered",
            "is_default",
            "owner",
            "policy_name",
            "low_water_share",
            "last_messages",
            "cap_tokens",
            "message_cap_tokens",
            "reply_reserve_tokens",
            "grounding_share",
            "skip_oversized",
        )
        labels = {
            "offered": "Offered to everyone",
            "is_default": "The default",
            "last_messages": "Messages kept",
            "cap_tokens": "Prompt cap, tokens",
            "message_cap_tokens": "Message cap, tokens",
            "reply_reserve_tokens": "Reply reserve, tokens",
            "low_water_share": "Low-water mark",
            "grounding_share": "Share for grounding",
            "skip_oversized": "Skip what is too large",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "language_model" in self.fields:  # without the right to change there are no fields
            self.fields["language_model"].choices = language_model_choices(self.instance.language_model)
            self.fields["policy_name"].choices = policy_name_choices(self.instance.policy_name)
        for name in LIMITS.keys() & self.fields.keys():
            self.fields[name].validators.extend(LIMITS[name])

    def clean_sampling(self) -> dict[str, Any]:
        return self.cleaned_data["sampling"] or {}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self._check_default(cleaned)
        if all(name in cleaned for name in ("policy_name", *POLICY_FIELDS)):
            self._check_policy(cleaned)
        return cleaned

    def _check_default(self, cleaned: dict[str, Any]) -> None:
        if cleaned.get("owner") and (cleaned.get("is_default") or cleaned.get("offered")):
            self.add_error("owner", "A scenario of one person can't be everyone's. Take the owner or the offer away.")
        if "is_default" in self.changed_data and not cleaned.get("is_default"):
            self.add_error("is_default", "New conversations need a default: choose another scenario as it instead.")

    def _check_policy(self, cleaned: dict[str, Any]) -> None:
        """Let the core judge the fields together, and show its answer at the field that it names."""
        try:
            make_policy(cleaned["policy_name"], {name: cleaned[name] for name in POLICY_FIELDS})
        except PolicyFailed as error:
            self.add_error("policy_name", error.detail)
        except ValueError as error:
            named = str(error).split(maxsplit=1)[0]
            self.add_error(named if named in self.fields else "policy_name", str(error).replace("_", " ").capitalize())

    def _get_validation_exclusions(self) -> set[str]:
        """Leave out the constraint that there is one default: saving unsets the old one first."""
        return super()._get_validation_exclusions() | {"is_default"}


def language_model_choices(current: str) -> list[tuple[str, str]]:
    """Return the configured names, and *current* though it no longer is one of them."""
    choices = {"": "The site's default"} | {name: name for name in language_models()}
    if current not in choices:
        choices[current] = f"{current} (not configured)"
    return list(choices.items())


def policy_name_choices(current: str) -> list[tuple[str, str]]:
    """Return what may be chosen, and *current* though the settings no longer name it."""
    choices = dict(policy_choices())
    return list(({current: current} | choices if current not in choices else choices).items())
