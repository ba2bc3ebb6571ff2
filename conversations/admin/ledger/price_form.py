"""Form of a price: refuses nonsense with a sentence, and warns of what may be a slip."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from chatsite.names import isolate_name
from conversations.core.money.unit_prices import LARGEST_PRICE_USD, PRICE_DECIMALS
from conversations.models import Price
from conversations.models.price import today
from conversations.providers.catalog.language_models import language_models

TOO_MUCH = format_lazy(_("Nothing costs more than ${most} per million tokens."), most=f"{LARGEST_PRICE_USD:,}")
AMOUNT = {
    "required": _("Enter a price, or 0 if it costs nothing. Without a price the cost is unknown."),
    "invalid": _("Enter US dollars per million tokens, such as 0.15."),
    "min_value": _("A price can’t be below 0."),
    "max_value": TOO_MUCH,
    "max_digits": TOO_MUCH,
    "max_whole_digits": TOO_MUCH,
    "max_decimal_places": format_lazy(_("At most {decimals} decimals are kept."), decimals=PRICE_DECIMALS),
}
AMOUNTS = ("input_usd", "cached_input_usd", "cache_write_usd", "output_usd")


class LanguageModelWidget(UnfoldAdminTextInputWidget):
    """Offers the configured names, and takes any other: language models come and go."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        field = super().render(name, value, {**(attrs or {}), "list": "language-models"}, renderer)
        options = format_html_join("", '<option value="{}">', ((each,) for each in language_models()))
        return format_html('{}<datalist id="language-models">{}</datalist>', field, options)


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]  # it takes no argument when the site runs
    class Meta:
        model = Price
        fields = ("language_model", "valid_from", *AMOUNTS, "note")
        widgets = {
            "language_model": LanguageModelWidget,
            # Not a number field: its arrows would change a price by its 8th decimal.
            **dict.fromkeys(AMOUNTS, UnfoldAdminTextInputWidget({"inputmode": "decimal", "autocomplete": "off"})),
        }
        labels = {
            "input_usd": _("Input, US dollars"),
            "cached_input_usd": _("From the cache, US dollars"),
            "cache_write_usd": _("Written to the cache, US dollars"),
            "output_usd": _("Output, US dollars"),
        }
        help_texts = {
            "language_model": _("The name that the provider uses."),
            "valid_from": _("From the beginning of this day in UTC, until a later price begins."),
            "cached_input_usd": _(
                "Tokens that the provider read from its cache. Leave empty to price them as other input."
            ),
            "cache_write_usd": _(
                "Tokens that the provider bills for storing. Leave empty to price them as other input."
            ),
            "output_usd": _("Including reasoning."),
        }
        error_messages = {
            **dict.fromkeys(AMOUNTS, AMOUNT),
            "language_model": {"required": _("Enter the name of a language model.")},
            "__all__": {
                "unique_together": _("This language model already has a price from that day: change that one.")
            },
        }

    def warnings(self) -> list[str]:
        """Return warnings about a valid form: likely mistakes, and effects that it does not have."""
        name, valid_from = self.cleaned_data["language_model"], self.cleaned_data["valid_from"]
        found = []
        if name not in language_models():
            found.append(
                gettext("%(name)s is not configured on this site. The price is kept for when it is.")
                % {"name": isolate_name(name)}
            )
        if valid_from < today():
            found.append(
                gettext("That day is over. Requests already made keep their cost: prices are stored with each request.")
            )
        return found
