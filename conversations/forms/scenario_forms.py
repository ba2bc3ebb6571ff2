"""Forms of scenarios: one as its owner and the admin edit it, and the upload of a scenario file."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from chatsite.names import isolate_name
from conversations.forms.tool_choice import ToolsField
from conversations.models import Scenario
from conversations.models.scenario import POLICY_FIELDS
from conversations.providers.catalog.language_models import default_language_model, language_models
from conversations.services.language_models.model_choice import is_offered
from conversations.services.language_models.prices import all_unit_prices
from conversations.services.language_models.sampling import check_levels, check_sampling
from conversations.services.scenarios.scenario_file import MOST_BYTES
from conversations.services.scenarios.scenario_settings import check_scenario
from conversations.window_policies import policy_choices
from conversations.wording.model_labels import EFFORT_LABELS
from conversations.wording.money_amounts import price_label

# What only one built-in policy asks for; pages show it only with that one, or with a policy of the site's own.
MATTERS_TO = {
    "low_water_share": "sliding",
    "recall_share": "sliding",
    "summary_cap_tokens": "sliding",
    "skip_oversized": "sliding",
    "last_messages": "last-n-messages",
}
NO_LIMIT = {
    "invalid": _("Enter a whole number, such as 4096, or leave this empty."),
    "min_value": _("Enter at least 1, or leave this empty for the default."),
    "max_value": _("No language model has room for this many tokens."),
}
PART = dict.fromkeys(
    ("invalid", "min_value", "max_value", "max_digits", "max_decimal_places", "max_whole_digits"),
    _("Enter a number from 0 to 1 with at most two decimals, such as 0.5."),
)
DIGITS = forms.TextInput({"inputmode": "numeric"})  # a number field would lose what it can't read
DECIMAL = forms.TextInput({"inputmode": "decimal"})


class LinesField(forms.CharField):
    """Text as it was typed, blanks included; a form sends two characters for the end of a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class SamplingField(forms.JSONField):
    """A JSON object that PostgreSQL can store and a provider may be sent."""

    def bound_data(self, data: str | None, initial: Any) -> Any:
        """Give the text back as it was written: what is wrong with it may not survive being parsed."""
        return initial if self.disabled else InvalidJSONInput(data or "")

    def to_python(self, value: Any) -> Any:
        try:
            parsed = super().to_python(value)
        except RecursionError:
            raise ValidationError(_("This is nested too deeply.")) from None
        except ValidationError:
            raise
        except ValueError:  # a whole number with more digits than Python reads
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None
        check_levels(parsed)
        return parsed

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value not in self.empty_values:
            check_sampling(value)


class ScenarioForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    """The settings of a conversation, judged together by `check_scenario`. *instance* has its owner already."""

    system_prompt = LinesField(
        label=_("Instructions"),
        required=False,
        widget=forms.Textarea({"rows": 7}),
        help_text=_("Sent before every message: who the language model should be and how it should answer."),
    )
    language_model = forms.ChoiceField(label=_("Language model"), required=False)
    effort = forms.ChoiceField(
        label=_("How hard it thinks"),
        required=False,
        help_text=_("For language models that accept it. Each conversation may choose its own."),
    )
    sampling = SamplingField(
        label=_("Model parameters (JSON)"),
        required=False,
        initial=dict,
        error_messages={"invalid": _('This is not JSON. Enter an object, such as {"temperature": 0.2}.')},
        widget=forms.Textarea({"rows": 2, "spellcheck": "false"}),
        help_text=_('Sent to the provider as is, such as {"temperature": 0.2}.'),
    )
    tools = ToolsField()
    policy_name = forms.ChoiceField(label=_("Window policy"), widget=forms.RadioSelect)
    field_order = (
        "name",
        "system_prompt",
        "language_model",
        "effort",
        "tools",
        "web_search",
        "policy_name",
        "low_water_share",
        "last_messages",
        "reply_reserve_tokens",
        "cap_tokens",
        "message_cap_tokens",
        "grounding_share",
        "recall_share",
        "summary_cap_tokens",
        "skip_oversized",
        "pictures_only_with_question",
        "sampling",
    )

    class Meta:
        model = Scenario
        fields = (
            *("name", "system_prompt", "language_model", "effort", "sampling", "tools", "web_search"),
            *("policy_name", *POLICY_FIELDS),
        )
        labels = {
            "web_search": _("Web search"),
            "last_messages": _("Messages to keep"),
            "cap_tokens": _("Longest prompt, tokens"),
            "message_cap_tokens": _("Longest message, tokens"),
            "reply_reserve_tokens": _("Reply reserve, tokens"),
            "low_water_share": _("Fill after sliding"),
            "grounding_share": _("Share for passages"),
            "recall_share": _("Share for recall"),
            "summary_cap_tokens": _("Longest summary, tokens"),
            "skip_oversized": _("Skip messages that are too large"),
            "pictures_only_with_question": _("Send pictures only with their question"),
        }
        error_messages = {
            "name": {"required": _("A scenario needs a name.")},
            "cap_tokens": NO_LIMIT,
            "message_cap_tokens": NO_LIMIT,
            "reply_reserve_tokens": NO_LIMIT,
            "last_messages": {
                "invalid": _("Enter a whole number, such as 20."),
                "min_value": _("Enter at least 1: the newest message is always sent."),
                "max_value": _("No conversation has this many messages."),
            },
            "grounding_share": PART,
            "recall_share": PART,
            "summary_cap_tokens": {
                "invalid": _("Enter a whole number, such as 1000, or 0 for none."),
                "min_value": _("Enter a whole number, such as 1000, or 0 for none."),
                "max_value": _("No language model has room for this many tokens."),
            },
            "low_water_share": {**PART, "min_value": _("Enter a number above 0, such as 0.7.")},
        }
        widgets = {
            "last_messages": DIGITS,
            "cap_tokens": DIGITS,
            "message_cap_tokens": DIGITS,
            "reply_reserve_tokens": DIGITS,
            "summary_cap_tokens": DIGITS,
            "low_water_share": DECIMAL,
            "grounding_share": DECIMAL,
            "recall_share": DECIMAL,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "language_model" in self.fields:  # without the right to change there are no fields
            self._offer("language_model", language_model_choices(self._stored("language_model"), self.instance.owner))
            self._offer("effort", effort_choices(self._stored("effort")))
            self._offer("policy_name", policy_name_choices(self._stored("policy_name")))
            cast(ToolsField, self.fields["tools"]).offer_tools(self.instance)
        if "web_search" in self.fields:  # of another user's scenario the admin changes nothing of it
            self.fields["web_search"].required = False  # left out, it stays as it is

    @property
    def offers_web_search(self) -> bool:
        """Whether there is a choice: a site without a web search has none."""
        return bool(settings.WEB_SEARCH_URL)

    @property
    def opens_advanced(self) -> bool:
        """Whether one of the settings that few people need is not its default, or is wrong."""
        defaults = Scenario()
        return any(
            name in self.errors or getattr(self.instance, name) != getattr(defaults, name)
            for name in ("policy_name", *POLICY_FIELDS, "sampling")
        )

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    def clean_sampling(self) -> dict[str, Any]:
        return self.cleaned_data["sampling"] or {}

    def _stored(self, column: str) -> str:
        return getattr(self.instance, column) if self.instance.pk else ""

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # Django's stubs leave it out
        if self.errors:
            return
        try:
            check_scenario(self.instance)
        except ValidationError as error:
            for field, problems in error.error_dict.items():
                self.add_error(field if field in self.fields else None, problems)


class ScenarioFileForm(forms.Form):
    """A scenario's file, or its text: what could not be read of a file is shown as text, to be mended."""

    file = forms.FileField(
        required=False, label=_("File"), widget=forms.FileInput({"accept": ".json,application/json"})
    )
    text = LinesField(
        required=False,
        label=_("Or paste its text"),
        max_length=MOST_BYTES,
        widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        """Leave what is to be read as *raw*."""
        cleaned = super().clean() or self.cleaned_data
        if file := cleaned.get("file"):
            cleaned["raw"] = file.read(MOST_BYTES + 1)
        elif text := cleaned.get("text"):
            cleaned["raw"] = text.encode(errors="surrogatepass")
        elif not self.errors:
            raise ValidationError(_("Choose a file or paste its text."))
        return cleaned


def effort_choices(stored: str) -> list[tuple[str, str]]:
    """Return the efforts that any model on offer accepts; which of them the chosen one does is checked with it."""
    accepted = {effort for model in language_models().values() for effort in model.abilities.efforts}
    return [(each, str(label)) for each, label in EFFORT_LABELS.items() if each in accepted | {"", stored}]


def language_model_choices(stored: str, owner: User | None = None) -> list[tuple[str, str]]:
    """Return the names on offer with today's prices, and the one that is stored though it is no longer on offer."""
    prices = all_unit_prices(timezone.now())
    offered = [model for model in language_models().values() if is_offered(model, owner)]
    labels = {model.name: f"{model.label} · {price_label(prices[model.name])}" for model in offered}
    default = _("The site’s default: %(model)s") % {"model": isolate_name(labels[default_language_model().name])}
    choices = {"": default} | labels
    if stored not in choices:
        choices[stored] = _("%(name)s (not configured)") % {"name": isolate_name(stored)}
    return list(choices.items())


def policy_name_choices(stored: str) -> list[tuple[str, str]]:
    """Return what may be chosen, and what is stored though the settings no longer name it."""
    choices = dict(policy_choices())
    return list(({stored: stored} | choices if stored and stored not in choices else choices).items())
